/* SPDX-License-Identifier: Apache-2.0 */
#include "sampling/perf_sideband.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ring/perf_buffer.h"

#define DATA_PAGES 64 /* a power of two */

struct code_ring {
	int fd;
	int ids_fd; /* an event that writes mappings with build IDs into the same buffer; -1 */
	uint64_t ids_id; /* its id, which ends its records */
	struct perf_buffer ring;
	uint64_t pos, head; /* position of what is read and not given back; of what is complete at
			       the last refresh */
	union {
		struct perf_event_header hdr;
		uint8_t raw[1 << 16]; /* hdr.size is a u16 */
	} buf; /* the record at pos, contiguous */
	struct code_record rec; /* its content */
	int has_rec;
	struct code_map with_id; /* the last one that came with a build ID; no length: none */
};

/* Follows the body of each record. */
struct record_tail {
	uint64_t boot_ns, id;
};

/* Opens an event with the same records as the other one, except that a mapping has a build ID where
 * the other's has device and inode. The rest is not used. */
static void open_ids(struct code_ring *r, const struct perf_event_attr *attr, unsigned int cpu)
{
	struct perf_event_attr a = *attr;

	a.build_id = 1;
	a.comm = a.comm_exec = a.task = 0;
	a.wakeup_watermark = UINT32_MAX;
	r->ids_fd = (int)syscall(SYS_perf_event_open, &a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (r->ids_fd < 0)
		return;
	if (!ioctl(r->ids_fd, PERF_EVENT_IOC_ID, &r->ids_id) &&
	    !ioctl(r->ids_fd, PERF_EVENT_IOC_SET_OUTPUT, r->fd))
		return;
	close(r->ids_fd);
	r->ids_fd = -1;
}

int code_ring_open(struct code_ring **out, unsigned int cpu, int flags)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER,
		.sample_period = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_BOOTTIME,
		.watermark = 1,
		.wakeup_watermark = flags & CODE_RING_WAKES ? 1 : UINT32_MAX,
	};
	struct code_ring *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->ids_fd = -1;
	r->fd = (int)syscall(SYS_perf_event_open, &a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	err = r->fd < 0 ? -errno
			: perf_buffer_map(&r->ring, r->fd,
					  DATA_PAGES * (size_t)sysconf(_SC_PAGESIZE));
	if (err) {
		code_ring_close(r);
		return err;
	}
	if (flags & CODE_RING_BUILD_IDS)
		open_ids(r, &a, cpu);
	*out = r;
	return 0;
}

void code_ring_close(struct code_ring *r)
{
	if (!r)
		return;
	perf_buffer_unmap(&r->ring);
	if (r->ids_fd >= 0)
		close(r->ids_fd);
	if (r->fd >= 0)
		close(r->fd);
	free(r);
}

int code_ring_fd(const struct code_ring *r)
{
	return r->fd;
}

/* Copies the record at pos into r->buf. Returns 0 if there is none. */
static int load_record(struct code_ring *r)
{
	struct perf_event_header h;

	if (r->head == r->pos)
		return 0;
	perf_buffer_copy(&r->ring, r->pos, &h, sizeof(h));
	if (h.size < sizeof(h) + sizeof(struct record_tail) || h.size > r->head - r->pos) {
		r->pos = r->head; /* invalid: the next record cannot be found */
		return 0;
	}
	perf_buffer_copy(&r->ring, r->pos, r->buf.raw, h.size);
	return 1;
}

/* Position of the tail. */
static size_t body_end(const struct code_ring *r)
{
	return r->buf.hdr.size - sizeof(struct record_tail);
}

struct mmap2_record {
	struct perf_event_header hdr;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	union {
		struct {
			uint32_t maj, min;
			uint64_t ino, ino_generation;
		};
		struct {
			uint8_t build_id_len, reserved[3];
			uint8_t build_id[CODE_BUILD_ID_MAX];
		};
	};
	uint32_t prot, flags;
};

static int is_same_map(const struct code_map *a, const struct mmap2_record *m)
{
	return a->length == m->len && a->pid == m->pid && a->addr == m->addr &&
	       a->offset == m->pgoff;
}

/*
 * Without a build ID, because the file has none or it is not in memory, it equals the other record.
 */
static void keep_id(struct code_ring *r)
{
	struct mmap2_record m;

	r->with_id = (struct code_map){0};
	if (r->buf.hdr.type != PERF_RECORD_MMAP2 || body_end(r) < sizeof(m) ||
	    !(r->buf.hdr.misc & PERF_RECORD_MISC_MMAP_BUILD_ID))
		return;
	memcpy(&m, r->buf.raw, sizeof(m));
	if (m.build_id_len > CODE_BUILD_ID_MAX)
		return;
	r->with_id =
		(struct code_map){.pid = m.pid, .addr = m.addr, .length = m.len, .offset = m.pgoff};
	r->with_id.build_id_len = m.build_id_len;
	memcpy(r->with_id.build_id, m.build_id, m.build_id_len);
}

/*
 * The kernel writes both records of a mapping one after the other, that of the newer event first.
 */
static void add_id(struct code_ring *r, const struct mmap2_record *m)
{
	if (is_same_map(&r->with_id, m)) {
		r->rec.map.build_id_len = r->with_id.build_id_len;
		memcpy(r->rec.map.build_id, r->with_id.build_id, CODE_BUILD_ID_MAX);
	}
	r->with_id = (struct code_map){0};
}

static int take_map(struct code_ring *r)
{
	const char *path = (const char *)r->buf.raw + sizeof(struct mmap2_record);
	struct mmap2_record m;

	if (body_end(r) < sizeof(m))
		return 0;
	memcpy(&m, r->buf.raw, sizeof(m));
	if (!(m.prot & PROT_EXEC))
		return 0;
	r->buf.raw[body_end(r)] = '\0'; /* skip the time, already read */
	if (strcmp(path, "//anon") == 0)
		path = "";
	r->rec.type = CODE_MAP;
	r->rec.pid = m.pid;
	r->rec.map = (struct code_map){
		.pid = m.pid,
		.addr = m.addr,
		.length = m.len,
		.offset = m.pgoff,
		.prot = m.prot,
		.major = m.maj,
		.minor = m.min,
		.ino = m.ino,
		.ino_gen = m.ino_generation,
		.path = path,
		.path_len = strlen(path),
	};
	add_id(r, &m);
	return 1;
}

struct task_record {
	struct perf_event_header hdr;
	uint32_t pid, ppid, tid, ptid;
};

static int take_task(struct code_ring *r)
{
	struct task_record t;

	if (body_end(r) < sizeof(t))
		return 0;
	memcpy(&t, r->buf.raw, sizeof(t));
	r->rec.pid = t.pid;
	r->rec.parent = t.ppid;
	if (r->buf.hdr.type == PERF_RECORD_EXIT) {
		r->rec.type = CODE_EXIT;
		return t.pid == t.tid;
	}
	r->rec.type = CODE_FORK;
	return t.pid != t.ppid; /* else a thread */
}

struct comm_record {
	struct perf_event_header hdr;
	uint32_t pid, tid;
};

static int take_exec(struct code_ring *r)
{
	struct comm_record c;
	size_t len;

	if (!(r->buf.hdr.misc & PERF_RECORD_MISC_COMM_EXEC) || body_end(r) < sizeof(c))
		return 0;
	memcpy(&c, r->buf.raw, sizeof(c));
	r->rec.type = CODE_EXEC;
	r->rec.pid = c.pid;
	len = strnlen((const char *)r->buf.raw + sizeof(c), body_end(r) - sizeof(c));
	if (len > sizeof(r->rec.comm) - 1)
		len = sizeof(r->rec.comm) - 1;
	memcpy(r->rec.comm, r->buf.raw + sizeof(c), len);
	return 1;
}

struct lost_record {
	struct perf_event_header hdr;
	uint64_t id, n_lost;
};

static int take_lost(struct code_ring *r)
{
	struct lost_record l;

	if (body_end(r) < sizeof(l))
		return 0;
	memcpy(&l, r->buf.raw, sizeof(l));
	r->rec.type = CODE_LOST;
	r->rec.n_lost = l.n_lost;
	return 1;
}

/* Parses the record; returns 0 if it is not needed. */
static int take_record(struct code_ring *r)
{
	struct record_tail tail;

	memcpy(&tail, r->buf.raw + body_end(r), sizeof(tail));
	r->rec = (struct code_record){.boot_ns = tail.boot_ns};
	if (r->ids_fd >= 0 && tail.id == r->ids_id && r->buf.hdr.type != PERF_RECORD_LOST) {
		keep_id(r);
		return 0;
	}
	switch (r->buf.hdr.type) {
	case PERF_RECORD_MMAP2:
		return take_map(r);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return take_task(r);
	case PERF_RECORD_COMM:
		return take_exec(r);
	case PERF_RECORD_LOST:
		return take_lost(r);
	}
	return 0;
}

void code_ring_refresh(struct code_ring *r)
{
	r->head = perf_buffer_head(&r->ring);
}

const struct code_record *code_ring_peek(struct code_ring *r)
{
	while (!r->has_rec && load_record(r)) {
		r->has_rec = take_record(r);
		if (!r->has_rec)
			r->pos += r->buf.hdr.size;
	}
	return r->has_rec ? &r->rec : NULL;
}

void code_ring_pop(struct code_ring *r)
{
	if (r->has_rec)
		r->pos += r->buf.hdr.size;
	r->has_rec = 0;
}

void code_ring_release(struct code_ring *r)
{
	perf_buffer_release(&r->ring, r->pos);
}
