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
	union {
		struct perf_event_header hdr;
		uint8_t raw[1 << 16]; /* hdr.size is a u16 */
	} rec;
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

/* Brings a record into r->rec and gives its room back. 0: there is none. */
static int load_news(struct code_ring *r)
{
	const uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = r->page->data_tail;
	struct perf_event_header h;

	if (head == tail)
		return 0;
	copy_out(r, tail, &h, sizeof(h));
	if (h.size < sizeof(h) + sizeof(uint64_t) || h.size > head - tail) {
		/* No kernel writes that: what follows cannot be found. */
		__atomic_store_n(&r->page->data_tail, head, __ATOMIC_RELEASE);
		return 0;
	}
	copy_out(r, tail, r->rec.raw, h.size);
	__atomic_store_n(&r->page->data_tail, tail + h.size, __ATOMIC_RELEASE);
	return 1;
}

struct mmap2_record {
	struct perf_event_header hdr;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
};

struct task_record {
	struct perf_event_header hdr;
	uint32_t pid, ppid, tid, ptid;
};

static int take_map(struct code_ring *r, struct code_record *rec)
{
	const size_t end = r->rec.hdr.size - sizeof(uint64_t);
	const char *path = (const char *)r->rec.raw + sizeof(struct mmap2_record);
	struct mmap2_record m;

	if (end < sizeof(m))
		return 0;
	memcpy(&m, r->rec.raw, sizeof(m));
	r->rec.raw[end] = '\0'; /* over the time, which has been read */
	rec->type = CODE_MAP;
	rec->pid = m.pid;
	rec->map = (struct code_map){
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
	return m.prot & PROT_EXEC;
}

static int take_task(struct code_ring *r, struct code_record *rec)
{
	struct task_record t;

	if (r->rec.hdr.size < sizeof(t))
		return 0;
	memcpy(&t, r->rec.raw, sizeof(t));
	rec->pid = t.pid;
	rec->parent = t.ppid;
	if (r->rec.hdr.type == PERF_RECORD_EXIT) {
		rec->type = CODE_EXIT;
		return t.pid == t.tid;
	}
	rec->type = CODE_FORK;
	return t.pid != t.ppid; /* else a thread */
}

static int take_exec(struct code_ring *r, struct code_record *rec)
{
	if (!(r->rec.hdr.misc & PERF_RECORD_MISC_COMM_EXEC) ||
	    r->rec.hdr.size < sizeof(struct perf_event_header) + sizeof(uint32_t))
		return 0;
	memcpy(&rec->pid, r->rec.raw + sizeof(struct perf_event_header), sizeof(rec->pid));
	rec->type = CODE_EXEC;
	return 1;
}

static int take_record(struct code_ring *r, struct code_record *rec)
{
	switch (r->rec.hdr.type) {
	case PERF_RECORD_MMAP2:
		return take_map(r, rec);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return take_task(r, rec);
	case PERF_RECORD_COMM:
		return take_exec(r, rec);
	case PERF_RECORD_LOST:
		rec->type = CODE_LOST;
		return 1;
	}
	return 0;
}

int code_ring_next(struct code_ring *r, struct code_record *rec)
{
	while (load_news(r)) {
		*rec = (struct code_record){0};
		memcpy(&rec->boot_ns, r->rec.raw + r->rec.hdr.size - sizeof(rec->boot_ns),
		       sizeof(rec->boot_ns));
		if (take_record(r, rec))
			return 1;
	}
	return 0;
}
