/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the bytes that an event moved, and the files it read and wrote. Flags of events mark reads
 * and writes; other calls have rows below. */
#include "evt_io.h"

#include <pthread.h>
#include <string.h>

#include "event/event_table.h"
#include "evt_param.h"
#include "fd.h"
#include "info.h"

enum { BOTH = SINSP_IO_READ | SINSP_IO_WRITE };

/* Calls that move bytes from file to file, without a buffer. in_first: the event's descriptor is
 * the one that is read. */
static const struct mover {
	uint8_t ends, in_first;
} movers[EVT_INDEX_MAX] = {
	[EVT_SENDFILE_X] = {BOTH, 0},
	[EVT_COPY_FILE_RANGE_X] = {BOTH, 0},
	[EVT_SPLICE_X] = {BOTH, 1},
	[EVT_INDEX(EVT_TEE_X)] = {BOTH, 1},
};

/* Directions by io_uring operation. The second file of SPLICE and TEE is not recorded. */
static const uint8_t io_uring_ends[UINT8_MAX + 1] = {
	[1] = SINSP_IO_READ,   [2] = SINSP_IO_WRITE, /* READV, WRITEV */
	[4] = SINSP_IO_READ,   [5] = SINSP_IO_WRITE, /* READ_FIXED, WRITE_FIXED */
	[9] = SINSP_IO_WRITE,  [10] = SINSP_IO_READ, /* SENDMSG, RECVMSG */
	[22] = SINSP_IO_READ,  [23] = SINSP_IO_WRITE, /* READ, WRITE */
	[26] = SINSP_IO_WRITE, [27] = SINSP_IO_READ, /* SEND, RECV */
	[30] = BOTH,           [33] = BOTH, /* SPLICE, TEE */
	[47] = SINSP_IO_WRITE, [48] = SINSP_IO_WRITE, /* SEND_ZC, SENDMSG_ZC */
	[49] = SINSP_IO_READ,  [58] = SINSP_IO_READ, /* READ_MULTISHOT, RECV_ZC */
	[60] = SINSP_IO_READ,  [61] = SINSP_IO_WRITE, /* READV_FIXED, WRITEV_FIXED */
};

enum { KERNEL_MSG_PEEK = 2 };
/* Modes of fallocate that reserve nothing: PUNCH_HOLE, COLLAPSE_RANGE, INSERT_RANGE. */
enum { FALLOCATE_FREES = 0x2 | 0x8 | 0x20 };

static uint64_t number_in(const struct scap_param *v)
{
	if (!v->len)
		return 0;
	return v->len >= 8 ? get_u64(v->p) : v->len >= 4 ? get_u32(v->p) : v->p[0];
}

static uint64_t number(const struct sinsp_evt *evt, const char *name)
{
	const struct scap_param *v = evt_param(evt, name);

	return v ? number_in(v) : 0;
}

/* Returns whether vmsplice writes to a pipe: unless its descriptor is the read end. */
static uint8_t vmsplice_ends(const struct sinsp_fd *fd)
{
	const uint32_t mode = fd ? fd->open_flags & (SINSP_O_RDONLY | SINSP_O_WRONLY) : 0;

	return mode == SINSP_O_RDONLY ? SINSP_IO_READ : SINSP_IO_WRITE;
}

/* By exit event: the directions of a call on a single file. */
static const uint8_t plain_ends[EVT_INDEX_MAX] = {
#define IO(category, flags)                                                                        \
	((category) == EC_IO_READ && (flags)&EF_READS_FROM_FD   ? SINSP_IO_READ                    \
	 : (category) == EC_IO_WRITE && (flags)&EF_WRITES_TO_FD ? SINSP_IO_WRITE                   \
								: 0)
#define EVT(id, sym, name, category, flags, ...) [EVT_INDEX(id)] = (id)&1 ? IO(category, flags) : 0,
#include "events.def"
#undef EVT
#undef IO
};

static uint8_t ends_of(const struct sinsp_evt *evt)
{
	const unsigned int id = evt->info->id;

	if (evt_is_enter(id))
		return 0;
	switch (id) {
	case EVT_VMSPLICE_X:
		return vmsplice_ends(evt->fd);
	case EVT_IOCTL_X: /* only FICLONE has a length */
		return evt_param(evt, "len") ? BOTH : 0;
	case EVT_FALLOCATE_X:
		return number(evt, "mode") & FALLOCATE_FREES ? 0 : SINSP_IO_WRITE;
	case EVT_IO_URING_COMPLETE_X:
		return io_uring_ends[number(evt, "op") & UINT8_MAX];
	default:
		return plain_ends[evt_index(id)] ?: movers[evt_index(id)].ends;
	}
}

int sinsp_io_moves(const struct scap_event_info *info)
{
	switch (info->id) {
	case EVT_VMSPLICE_X:
	case EVT_IOCTL_X:
	case EVT_FALLOCATE_X:
	case EVT_IO_URING_COMPLETE_X:
		return 1;
	}
	return movers[evt_index(info->id)].ends || plain_ends[evt_index(info->id)];
}

/* By event: the index of the parameter msg_flags; -1: it has none. */
static int8_t msg_flags[EVT_INDEX_MAX];

static void find_msg_flags(void)
{
	evt_param_find_all(msg_flags, "msg_flags");
}

/* Returns whether a call that reads leaves the bytes to be read again. */
static int peeks(const struct sinsp_evt *evt)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int8_t at;

	pthread_once(&once, find_msg_flags);
	at = msg_flags[evt_index(evt->info->id)];
	return at >= 0 && (unsigned int)at < evt->params.n &&
	       number_in(&evt->params.v[at]) & KERNEL_MSG_PEEK;
}

/* Counts the bytes of a call. Returns 0 if it failed, or peeked. The result may also be a number of
 * messages, or 0 for FICLONE. */
static int count_bytes(const struct sinsp_evt *evt, uint64_t *n)
{
	const unsigned int id = evt->info->id;
	int64_t res;

	if (!sinsp_evt_result(evt, &res) || res < 0)
		return 0;
	*n = (uint64_t)res;
	if (id == EVT_SENDMMSG_X || id == EVT_RECVMMSG_X)
		*n = number(evt, "size");
	if (id == EVT_IOCTL_X)
		*n = number(evt, "len");
	return plain_ends[evt_index(id)] != SINSP_IO_READ || !peeks(evt);
}

uint8_t sinsp_evt_io_bytes(const struct sinsp_evt *evt, uint8_t wanted, uint64_t *n_bytes)
{
	uint8_t ends = ends_of(evt) & wanted;
	uint64_t n;

	if (evt->io_end && !evt->io_whole)
		ends &= evt->io_end;
	if (!ends || !count_bytes(evt, &n))
		return 0;
	*n_bytes = n;
	return ends;
}

int sinsp_evt_io(const struct sinsp_evt *evt, struct sinsp_io *io)
{
	const int in_first = evt->io_end ? evt->io_end == SINSP_IO_READ
					 : movers[evt_index(evt->info->id)].in_first;
	uint64_t n;
	const uint8_t ends = sinsp_evt_io_bytes(evt, BOTH, &n);
	/* The descriptor of the event is one of two files, or the only one. */
	const int of_two = ends == BOTH;

	if (!ends)
		return 0;
	*io = (struct sinsp_io){.n_bytes = n, .ends = ends, .in_num = -1, .out_num = -1};
	if (evt->info->id == EVT_FALLOCATE_X)
		io->n_reserved = number(evt, "len");
	if (io->ends & SINSP_IO_READ) {
		io->in = of_two && !in_first ? evt->other_fd : evt->fd;
		io->in_num = of_two && !in_first ? evt->other_fdnum : evt->fdnum;
	}
	if (io->ends & SINSP_IO_WRITE) {
		io->out = of_two && in_first ? evt->other_fd : evt->fd;
		io->out_num = of_two && in_first ? evt->other_fdnum : evt->fdnum;
	}
	return 1;
}

int sinsp_evt_split(const struct sinsp_evt *evt, struct sinsp_evt ends[2])
{
	struct sinsp_io io;

	if (!evt->info || ends_of(evt) != BOTH || !sinsp_evt_io(evt, &io) || io.ends != BOTH)
		return 0;
	ends[0] = ends[1] = *evt;
	ends[0].fd = ends[1].other_fd = io.in;
	ends[0].fdnum = ends[1].other_fdnum = io.in_num;
	ends[0].io_end = SINSP_IO_READ;
	ends[1].fd = ends[0].other_fd = io.out;
	ends[1].fdnum = ends[0].other_fdnum = io.out_num;
	ends[1].io_end = SINSP_IO_WRITE;
	return 1;
}
