// SPDX-License-Identifier: Apache-2.0
/* The counterpart of send_enter and put_pointed of the driver, by the same rows, for values in the
 * memory of another process. */
#include "live/raw_call.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>

#include "event/event_table.h"
#include "event/ia32_table.h"
#include "event/raw_enter.h"
#include "shared/config.h"
#include "shared/convert.h"

#define N_ARGS 6
#define NS_PER_S 1000000000ull
#define DATA_MAX 80 /* maximum bytes of a buffer, whatever the snaplen */

/* A record under construction: lengths grow from the front, values behind them. */
struct raw_writer {
	struct rec_hdr *rec;
	uint8_t *lens, *p, *end;
	struct remote_memory *mem; /* NULL: none */
	const uint64_t *args; /* in the order of the row */
	int ia32;
	int full;
};

static void put(struct raw_writer *w, const void *bytes, size_t len)
{
	const uint16_t l16 = (uint16_t)len;

	if ((size_t)(w->end - w->p) < len) {
		w->full = 1;
		return;
	}
	memcpy(w->lens, &l16, sizeof(l16));
	w->lens += sizeof(l16);
	if (len)
		memcpy(w->p, bytes, len);
	w->p += len;
}

static uint64_t arg_of(const struct raw_writer *w, unsigned int i)
{
	return i < N_ARGS ? w->args[i] : 0;
}

/* Reads all @len bytes, or none. Returns 0 if all were read. */
static int read_whole(const struct raw_writer *w, void *to, uint64_t addr, size_t len)
{
	return addr && w->mem && remote_memory_read(w->mem, to, addr, len) == len;
}

static void put_path(struct raw_writer *w, uint64_t addr)
{
	char text[ARG_PATH_MAX];
	const size_t n = addr && w->mem ? remote_memory_read(w->mem, text, addr, sizeof(text)) : 0;
	const size_t len = strnlen(text, n);

	put(w, text, len < n ? len + 1 : 0); /* unknown without its end */
}

#define BYTES_MAX 512 /* maximum that put_bytes copies */

static void put_bytes(struct raw_writer *w, uint64_t addr, int64_t len, size_t max)
{
	uint8_t bytes[BYTES_MAX];
	size_t n = len < 0 ? 0 : (uint64_t)len < max ? (size_t)len : max;

	if (n > sizeof(bytes))
		n = sizeof(bytes);
	put(w, bytes, read_whole(w, bytes, addr, n) ? n : 0);
}

/* Puts text of @len bytes without a NUL, and adds one. */
static void put_text(struct raw_writer *w, uint64_t addr, int32_t len)
{
	char text[ARG_PATH_MAX];
	const size_t n = len < 0 ? 0 : (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1;

	if (len < 0 || (n && !read_whole(w, text, addr, n))) {
		put(w, NULL, 0);
		return;
	}
	text[n] = '\0';
	put(w, text, n + 1);
}

#define SELECT_WORDS 16u

struct fd_item {
	int64_t fd;
	uint16_t flags;
} __attribute__((packed));

/* Puts the first ARG_POLLFDS_MAX descriptors in the sets of a select, as an fdlist. */
static void put_select_fds(struct raw_writer *w)
{
	static const uint16_t flags[] = {PPM_POLLIN, PPM_POLLOUT, PPM_POLLPRI};
	const int32_t nfds = (int32_t)w->args[0];
	struct {
		uint16_t n;
		struct fd_item item[ARG_POLLFDS_MAX];
	} __attribute__((packed)) list = {0};
	uint64_t word[3];

	for (int32_t fd = 0; fd < nfds && (uint32_t)fd < SELECT_WORDS * 64; fd++) {
		uint16_t in = 0;

		for (unsigned int k = 0; k < 3; k++) {
			const uint64_t at = w->args[1 + k];

			if (fd % 64 == 0 && !read_whole(w, &word[k], at ? at + (uint32_t)fd / 8 : 0,
							sizeof(word[k])))
				word[k] = 0;
			in |= word[k] >> fd % 64 & 1 ? flags[k] : 0;
		}
		if (in)
			list.item[list.n++] = (struct fd_item){fd, in};
		if (list.n == ARG_POLLFDS_MAX)
			break;
	}
	put(w, &list, sizeof(list.n) + list.n * sizeof(list.item[0]));
}

static int iovec_sum(const struct raw_writer *w, uint64_t addr, uint64_t count, uint64_t *sum)
{
	struct iovec v[ARG_IOVEC_MAX];

	if (count > ARG_IOVEC_MAX)
		count = ARG_IOVEC_MAX;
	*sum = 0;
	if (count && !read_whole(w, v, addr, count * sizeof(*v)))
		return 0;
	for (uint64_t i = 0; i < count; i++)
		*sum += v[i].iov_len;
	return 1;
}

static int read_pair(const struct raw_writer *w, uint64_t addr, uint64_t unit_ns, uint64_t *ns)
{
	uint64_t at[2];

	if (!read_whole(w, at, addr, sizeof(at)))
		return 0;
	*ns = at[0] * NS_PER_S + at[1] * unit_ns;
	return 1;
}

/* Puts a time to set: tv_nsec may mean now, or unchanged. */
static int read_utime(const struct raw_writer *w, uint64_t addr, uint64_t *ns)
{
	struct timespec at;

	if (!read_whole(w, &at, addr, sizeof(at)))
		return 0;
	*ns = (uint64_t)at.tv_sec * NS_PER_S + (uint64_t)at.tv_nsec;
	if ((uint64_t)at.tv_nsec >= UTIME_OMIT)
		*ns = at.tv_nsec == UTIME_OMIT ? ABSTIME_OMIT : ABSTIME_NOW;
	return 1;
}

/* Puts a field of struct open_how or io_uring_params. */
static int read_how(const struct raw_writer *w, unsigned int kind, uint64_t addr, uint64_t *v)
{
	uint64_t how[3] = {0};

	if (!read_whole(w, how, addr, kind == ARG_URING_FLAGS ? 2 * sizeof(*how) : sizeof(how)))
		return 0;
	switch (kind) {
	case ARG_HOW_FLAGS:
		*v = convert_open_flags((u32)how[0]);
		break;
	case ARG_HOW_MODE:
		*v = convert_open_mode((u32)how[0], (u32)how[1]);
		break;
	case ARG_HOW_RESOLVE:
		*v = convert_openat2_resolve((u32)how[2]);
		break;
	default:
		*v = convert_uring_flags((u32)how[1]);
	}
	return 1;
}

static int read_number(const struct raw_writer *w, uint64_t addr, size_t len, uint64_t *v)
{
	*v = 0;
	return read_whole(w, v, addr, len);
}

/* Reads the number that a row points to. Returns 0 if it is unknown. */
static int number_at(const struct raw_writer *w, const struct call_row *row, uint64_t *v)
{
	const uint64_t addr = arg_of(w, row->arg), at = addr ? addr + row->off : 0;
	struct msghdr m;
	int32_t s;

	switch (row->kind) {
	case ARG_INOUT64:
	case ARG_IN_LONG:
	case ARG_SIGSET:
		return read_number(w, addr, sizeof(*v), v);
	case ARG_IOVEC:
		return iovec_sum(w, addr, arg_of(w, row->arg + 1u), v);
	case ARG_MSGHDR:
		return read_whole(w, &m, addr, sizeof(m)) &&
		       iovec_sum(w, (uintptr_t)m.msg_iov, m.msg_iovlen, v);
	case ARG_U16_AT:
		return read_number(w, at, sizeof(uint16_t), v);
	case ARG_U32_AT:
	case ARG_SAME_U32_AT:
		return read_number(w, at, sizeof(uint32_t), v);
	case ARG_S32_AT:
		if (!read_whole(w, &s, at, sizeof(s)))
			return 0;
		*v = (uint64_t)(int64_t)s;
		return 1;
	case ARG_HOW_FLAGS:
	case ARG_HOW_MODE:
	case ARG_HOW_RESOLVE:
	case ARG_URING_FLAGS:
		return read_how(w, row->kind, addr, v);
	case ARG_U64_VIA:
		return read_number(w, at, sizeof(*v), v) && read_number(w, *v, sizeof(*v), v);
	case ARG_SECONDS_AT:
		if (!read_number(w, at, sizeof(*v), v))
			return 0;
		*v *= NS_PER_S;
		return 1;
	case ARG_UTIME_AT:
		return read_utime(w, at, v);
	case ARG_U64_AT:
	case ARG_SAME_U64_AT:
	case ARG_LIMIT_AT:
	case ARG_SAME_LIMIT_AT:
		return read_number(w, at, sizeof(*v), v);
	case ARG_INOUT_TIMESPEC:
		return read_pair(w, addr, 1, v);
	case ARG_TIMESPEC_AT:
	case ARG_INOUT_TIMESPEC_AT:
	case ARG_SAME_TIMESPEC_AT:
		return read_pair(w, at, 1, v);
	case ARG_TIMEVAL_AT:
	case ARG_INOUT_TIMEVAL_AT:
	case ARG_SAME_TIMEVAL_AT:
		return read_pair(w, at, 1000, v);
	}
	return 0;
}

/* Arrays, whose layout differs for 32-bit callers. */
static void put_array(struct raw_writer *w, const struct call_row *row)
{
	const uint64_t addr = arg_of(w, row->arg);
	uint64_t n;

	switch (row->kind) {
	case ARG_SELECT_FDS:
		put_select_fds(w);
		return;
	case ARG_LIST:
		n = row->count == ONE ? 1 : arg_of(w, row->count);
		put_bytes(w, addr, (n < ARG_LIST_MAX ? n : ARG_LIST_MAX) * row->off, ARG_LIST_MAX);
		return;
	case ARG_ARRAY:
		put_bytes(w, addr,
			  (int64_t)(int32_t)arg_of(w, LEN_ARG(row->off)) * LEN_SIZE(row->off),
			  ARG_ARRAY_MAX);
		return;
	}
	put(w, NULL, 0);
}

/* Puts the value that row @row points to, as put_pointed of the driver does. Numbers of a 32-bit
 * caller have another layout, and are unknown. */
static void put_pointed(struct raw_writer *w, const struct call_row *row)
{
	const uint64_t addr = arg_of(w, row->arg), beside = arg_of(w, row->arg + 1u);
	uint64_t v;

	if (!row_holds(row, arg_of(w, row->when_arg)))
		put(w, NULL, 0);
	else if (row->kind == ARG_PATH)
		put_path(w, addr ? addr + row->off : 0);
	else if (row->kind == ARG_SOCKADDR)
		put_bytes(w, addr, (int32_t)beside, ARG_SOCKADDR_MAX);
	else if (row->kind == ARG_POLLFDS)
		put_bytes(w, addr, (int64_t)(uint32_t)beside * sizeof(struct pollfd),
			  ARG_POLLFDS_MAX * sizeof(struct pollfd));
	else if (row->kind == ARG_TEXT)
		put_text(w, addr, (int32_t)beside);
	else if (row->kind == ARG_BYTES)
		put_bytes(w, addr ? addr + row->off : 0,
			  beside < DATA_MAX ? (int64_t)beside : DATA_MAX, DATA_MAX);
	else if (!w->ia32 && arg_is_bytes(row->kind))
		put_array(w, row);
	else if (!w->ia32 && number_at(w, row, &v))
		put(w, &v, sizeof(v));
	else
		put(w, NULL, 0);
}

/* Finds the row that decodes the call of @row, its arguments in the order of that row, and its
 * enter event. Returns REC_NR_NONE if there is none. */
static unsigned int decode(const struct call_under_way *row, uint64_t args[N_ARGS],
			   unsigned int *type)
{
	const struct ia32_call *c;

	memcpy(args, row->args, N_ARGS * sizeof(*args));
	*type = EVT_SYSCALL_E;
	if (row->nr >= DRV_MAX_NR)
		return REC_NR_NONE;
	if (!(row->flags & UNDER_WAY_F_IA32)) {
		*type = scap_syscall_exit_type(row->nr) & ~1u;
		return row->nr;
	}
	c = &scap_ia32_calls()[row->nr];
	if (c->row == REC_NR_NONE || scap_ia32_arrange(c, args))
		return REC_NR_NONE;
	*type = (c->event ? c->event : scap_syscall_exit_type(c->row)) & ~1u;
	return c->row;
}

int scap_raw_call(void *buf, size_t buf_sz, const struct call_under_way *row,
		  struct remote_memory *mem)
{
	const struct call_row *carried[EVT_MAX_PARAMS];
	uint64_t args[N_ARGS];
	unsigned int type;
	const unsigned int nr = decode(row, args, &type);
	const unsigned int n = scap_raw_carried(nr, carried, EVT_MAX_PARAMS);
	struct raw_writer w = {
		.rec = buf,
		.lens = (uint8_t *)buf + sizeof(*w.rec),
		.end = (uint8_t *)buf + buf_sz - 8,
		.mem = mem,
		.args = args,
		.ia32 = row->flags & UNDER_WAY_F_IA32,
	};

	if (buf_sz < RAW_CALL_MAX)
		return -ENOSPC;
	w.p = w.lens + (N_ARGS + n) * sizeof(uint16_t);
	for (unsigned int i = 0; i < N_ARGS; i++)
		put(&w, &args[i], sizeof(args[i]));
	for (unsigned int i = 0; i < n; i++)
		put_pointed(&w, carried[i]);
	if (w.full)
		return -ENOSPC;
	*w.rec = (struct rec_hdr){
		.len = (uint16_t)((w.p - (uint8_t *)buf + 7) & ~7),
		.cpu = (uint16_t)row->cpu,
		.flags = REC_F_RAW_ENTER | (w.ia32 ? REC_F_IA32 : 0) |
			 (row->flags & UNDER_WAY_F_SLEEPS ? REC_F_BLOCKED : 0),
		.nr = row->nr,
		.evt = {row->at_ns, row->tid, (uint32_t)(w.p - (uint8_t *)&w.rec->evt),
			(uint16_t)type, N_ARGS + n},
	};
	return w.rec->len;
}
