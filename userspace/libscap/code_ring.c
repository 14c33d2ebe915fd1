/* SPDX-License-Identifier: Apache-2.0 */
#include "code_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define DATA_PAGES 64 /* a power of two */

struct code_ring {
	int fd;
	struct perf_event_mmap_page *page;
	size_t page_sz, data_sz;
	uint64_t pos, head; /* read and not yet given back; complete at the last refresh */
	union {
		struct perf_event_header hdr;
		uint8_t raw[1 << 16]; /* hdr.size is a u16 */
	} buf; /* the record at pos, in one piece */
	struct code_record rec; /* what it says */
	int has_rec;
};

int code_ring_open(struct code_ring **out, unsigned int cpu, int wakes)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
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
		.wakeup_watermark = wakes ? 1 : UINT32_MAX,
	};
	struct code_ring *r = calloc(1, sizeof(*r));
	int err = 0;

	if (!r)
		return -ENOMEM;
	r->page_sz = (size_t)sysconf(_SC_PAGESIZE);
	r->data_sz = DATA_PAGES * r->page_sz;
	r->fd = (int)syscall(SYS_perf_event_open, &a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (r->fd < 0) {
		err = -errno;
	} else {
		r->page = mmap(NULL, r->page_sz + r->data_sz, PROT_READ | PROT_WRITE, MAP_SHARED,
			       r->fd, 0);
		if (r->page == MAP_FAILED) {
			err = -errno;
			r->page = NULL;
		}
	}
	if (err) {
		code_ring_close(r);
		return err;
	}
	*out = r;
	return 0;
}

void code_ring_close(struct code_ring *r)
{
	if (!r)
		return;
	if (r->page)
		munmap(r->page, r->page_sz + r->data_sz);
	if (r->fd >= 0)
		close(r->fd);
	free(r);
}

int code_ring_fd(const struct code_ring *r)
{
	return r->fd;
}

/* @len bytes from @pos on, which may go round the end. */
static void copy_out(const struct code_ring *r, uint64_t pos, void *to, size_t len)
{
	const uint8_t *data = (const uint8_t *)r->page + r->page_sz;
	const size_t at = pos & (r->data_sz - 1), first = r->data_sz - at;

	memcpy(to, data + at, len < first ? len : first);
	if (len > first)
		memcpy((uint8_t *)to + first, data, len - first);
}

/* Brings the record at pos into r->buf. 0: there is none. */
static int load_record(struct code_ring *r)
{
	struct perf_event_header h;

	if (r->head == r->pos)
		return 0;
	copy_out(r, r->pos, &h, sizeof(h));
	if (h.size < sizeof(h) + sizeof(uint64_t) || h.size > r->head - r->pos) {
		r->pos = r->head; /* no kernel writes that: what follows cannot be found */
		return 0;
	}
	copy_out(r, r->pos, r->buf.raw, h.size);
	return 1;
}

/* What is before the time, which ends each record. */
static size_t body_end(const struct code_ring *r)
{
	return r->buf.hdr.size - sizeof(uint64_t);
}

struct mmap2_record {
	struct perf_event_header hdr;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
};

static int take_map(struct code_ring *r)
{
	const char *path = (const char *)r->buf.raw + sizeof(struct mmap2_record);
	struct mmap2_record m;

	if (body_end(r) < sizeof(m))
		return 0;
	memcpy(&m, r->buf.raw, sizeof(m));
	if (!(m.prot & PROT_EXEC))
		return 0;
	r->buf.raw[body_end(r)] = '\0'; /* over the time, which has been read */
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

/* 0: it is none that anybody asks for. */
static int take_record(struct code_ring *r)
{
	r->rec = (struct code_record){0};
	memcpy(&r->rec.boot_ns, r->buf.raw + body_end(r), sizeof(r->rec.boot_ns));
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
	r->head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
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
	__atomic_store_n(&r->page->data_tail, r->pos, __ATOMIC_RELEASE);
}
