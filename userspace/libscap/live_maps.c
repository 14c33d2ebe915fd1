/* SPDX-License-Identifier: Apache-2.0 */
#include "live_maps.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "event_build.h"
#include "events.h"
#include "map_event.h"

#define RING_PAGES 64 /* of data in each buffer, a power of two */
#define PID_LIMIT (1u << 22)
#define N_FORKS 1024 /* children of processes that nothing is known of; a power of two */
#define EVENT_MAX MAP_EVENT_MAX

struct map_ring {
	int fd;
	unsigned int cpu;
	struct perf_event_mmap_page *page;
	uint64_t pos, head; /* read and not yet given back; complete at the last refresh */
	union perf_record {
		struct perf_event_header hdr;
		uint8_t raw[1 << 16]; /* hdr.size is a u16 */
	} rec; /* the first record, in one piece */
	int has_rec;
	union {
		struct ppm_evt_hdr hdr;
		uint8_t raw[EVENT_MAX];
	} event;
};

struct fork {
	uint32_t pid, parent;
};

struct live_maps {
	struct scap_log log;
	struct map_ring **rings;
	unsigned int n;
	size_t page_sz, data_sz;
	uint64_t known[PID_LIMIT / 64]; /* by process: its mappings are in the stream */
	struct fork forks[N_FORKS];
	unsigned int n_forks;
	uint8_t *waiting; /* events, one behind the other */
	size_t waiting_len, waiting_sz, waiting_at;
};

static int open_event(unsigned int cpu)
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
		.wakeup_watermark = UINT32_MAX, /* nobody sleeps on it */
	};
	int fd = (int)syscall(SYS_perf_event_open, &a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_ring(struct live_maps *m, unsigned int cpu)
{
	int fd = open_event(cpu);
	struct map_ring *r;
	void *p;

	if (fd == -ENODEV) /* it is offline */
		return 0;
	if (fd < 0)
		return fd;
	p = mmap(NULL, m->page_sz + m->data_sz, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	r = p == MAP_FAILED ? NULL : calloc(1, sizeof(*r));
	if (!r) {
		int err = p == MAP_FAILED ? -errno : -ENOMEM;

		if (p != MAP_FAILED)
			munmap(p, m->page_sz + m->data_sz);
		close(fd);
		return err;
	}
	r->fd = fd;
	r->cpu = cpu;
	r->page = p;
	m->rings[m->n++] = r;
	return 0;
}

int live_maps_open(struct live_maps **out, const struct scap_log *log)
{
	const int n_cpus = libbpf_num_possible_cpus();
	struct live_maps *m = calloc(1, sizeof(*m));
	int err = n_cpus < 0 ? n_cpus : 0;

	if (!m)
		return -ENOMEM;
	m->log = *log;
	m->page_sz = (size_t)sysconf(_SC_PAGESIZE);
	m->data_sz = RING_PAGES * m->page_sz;
	m->rings = calloc(n_cpus > 0 ? (size_t)n_cpus : 1, sizeof(struct map_ring *));
	if (!m->rings)
		err = -ENOMEM;
	for (int cpu = 0; cpu < n_cpus && !err; cpu++) {
		err = open_ring(m, (unsigned int)cpu);
		if (err)
			scap_fail(log, err, "the mappings of programs, on CPU %d: %s", cpu,
				  strerror(-err));
	}
	if (err) {
		live_maps_close(m);
		return err;
	}
	*out = m;
	return 0;
}

void live_maps_revive(struct live_maps *m, unsigned int cpu)
{
	for (unsigned int i = 0; i < m->n; i++) {
		struct map_ring *r = m->rings[i];
		const int fd = r->cpu == cpu ? open_event(cpu) : -1;
		void *p;

		if (fd < 0)
			continue;
		p = mmap(NULL, m->page_sz + m->data_sz, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (p == MAP_FAILED) {
			close(fd);
			continue;
		}
		munmap(r->page, m->page_sz + m->data_sz);
		close(r->fd);
		r->fd = fd;
		r->page = p;
		r->pos = r->head = 0;
		r->has_rec = 0;
	}
}

void live_maps_close(struct live_maps *m)
{
	if (!m)
		return;
	for (unsigned int i = 0; i < m->n; i++) {
		munmap(m->rings[i]->page, m->page_sz + m->data_sz);
		close(m->rings[i]->fd);
		free(m->rings[i]);
	}
	free(m->rings);
	free(m->waiting);
	free(m);
}

unsigned int live_maps_n(const struct live_maps *m)
{
	return m->n;
}

unsigned int live_maps_cpu(const struct live_maps *m, unsigned int i)
{
	return m->rings[i]->cpu;
}

void live_maps_refresh(struct live_maps *m, unsigned int i)
{
	struct map_ring *r = m->rings[i];

	r->head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

/* @len bytes of the ring from @pos on, which may go round its end. */
static void copy_out(const struct live_maps *m, const struct map_ring *r, uint64_t pos, void *to,
		     size_t len)
{
	const uint8_t *data = (const uint8_t *)r->page + m->page_sz;
	const size_t at = pos & (m->data_sz - 1), first = m->data_sz - at;

	memcpy(to, data + at, len < first ? len : first);
	if (len > first)
		memcpy((uint8_t *)to + first, data, len - first);
}

/* The first record, whole. 0: there is none. */
static int load_record(struct live_maps *m, struct map_ring *r)
{
	struct perf_event_header h;

	if (r->has_rec || r->head == r->pos)
		return r->has_rec;
	copy_out(m, r, r->pos, &h, sizeof(h));
	if (h.size < sizeof(h) + sizeof(uint64_t) || h.size > r->head - r->pos) {
		r->pos = r->head; /* no kernel writes that: what follows cannot be found */
		return 0;
	}
	copy_out(m, r, r->pos, r->rec.raw, h.size);
	r->has_rec = 1;
	return 1;
}

uint64_t live_maps_key(struct live_maps *m, unsigned int i)
{
	struct map_ring *r = m->rings[i];
	uint64_t ns;

	if (!load_record(m, r))
		return UINT64_MAX;
	memcpy(&ns, r->rec.raw + r->rec.hdr.size - sizeof(ns), sizeof(ns));
	return ns;
}

void live_maps_pop(struct live_maps *m, unsigned int i)
{
	struct map_ring *r = m->rings[i];

	if (r->has_rec) /* else the buffer is another since */
		r->pos += r->rec.hdr.size;
	r->has_rec = 0;
}

void live_maps_release(struct live_maps *m, unsigned int i)
{
	struct map_ring *r = m->rings[i];

	__atomic_store_n(&r->page->data_tail, r->pos, __ATOMIC_RELEASE);
}

/* ---- records as events ---- */

static int is_known(const struct live_maps *m, uint32_t pid)
{
	return pid < PID_LIMIT && m->known[pid / 64] >> (pid % 64) & 1;
}

static void set_known(struct live_maps *m, uint32_t pid, int known)
{
	const uint64_t bit = 1ull << (pid % 64);

	if (pid >= PID_LIMIT)
		return;
	if (known)
		m->known[pid / 64] |= bit;
	else
		m->known[pid / 64] &= ~bit;
}

/* Text of the record at @at, within what is before the time. */
static size_t text_len(const struct map_ring *r, size_t at)
{
	const size_t end = r->rec.hdr.size - sizeof(uint64_t);

	return at < end ? strnlen((const char *)r->rec.raw + at, end - at) : 0;
}

struct mmap2_record {
	struct perf_event_header hdr;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
	char filename[];
};

static const struct ppm_evt_hdr *mmap_event(struct map_ring *r, uint64_t ns)
{
	struct mmap2_record rec;
	struct code_map map;

	if (r->rec.hdr.size < sizeof(rec) + sizeof(ns))
		return NULL;
	memcpy(&rec, r->rec.raw, sizeof(rec));
	if (!(rec.prot & PROT_EXEC))
		return NULL;
	map = (struct code_map){
		.pid = rec.pid,
		.addr = rec.addr,
		.length = rec.len,
		.offset = rec.pgoff,
		.prot = rec.prot,
		.major = rec.maj,
		.minor = rec.min,
		.ino = rec.ino,
		.ino_gen = rec.ino_generation,
		.path = (const char *)r->rec.raw + sizeof(rec),
		.path_len = text_len(r, sizeof(rec)),
	};
	/* As /proc has it: no file, no name. */
	if (map.path_len == 6 && memcmp(map.path, "//anon", 6) == 0)
		map.path_len = 0;
	map_event_build(r->event.raw, ns, &map);
	return &r->event.hdr;
}

struct task_record {
	struct perf_event_header hdr;
	uint32_t pid, ppid, tid, ptid;
};

static const struct ppm_evt_hdr *fork_event(struct live_maps *m, struct map_ring *r, uint64_t ns)
{
	struct task_record rec;
	int64_t pid, parent;
	const struct evt_value values[] = {{&pid, sizeof(pid)}, {&parent, sizeof(parent)}};

	if (r->rec.hdr.size < sizeof(rec) + sizeof(ns))
		return NULL;
	memcpy(&rec, r->rec.raw, sizeof(rec));
	pid = rec.pid;
	parent = rec.ppid;
	if (rec.pid == rec.ppid) /* a thread */
		return NULL;
	set_known(m, rec.pid, is_known(m, rec.ppid));
	if (!is_known(m, rec.ppid))
		m->forks[m->n_forks++ & (N_FORKS - 1)] = (struct fork){rec.pid, rec.ppid};
	scap_evt_build(r->event.raw, EVENT_MAX, EVT_MAP_FORK_E, ns, rec.pid, values, 2);
	return &r->event.hdr;
}

struct comm_record {
	struct perf_event_header hdr;
	uint32_t pid, tid;
	char comm[];
};

static const struct ppm_evt_hdr *exec_event(struct live_maps *m, struct map_ring *r, uint64_t ns)
{
	struct comm_record rec;
	char comm[16] = "";
	size_t len;
	int64_t pid;
	struct evt_value values[] = {{&pid, sizeof(pid)}, {comm, 0}};

	if (!(r->rec.hdr.misc & PERF_RECORD_MISC_COMM_EXEC) ||
	    r->rec.hdr.size < sizeof(rec) + sizeof(ns))
		return NULL;
	memcpy(&rec, r->rec.raw, sizeof(rec));
	pid = rec.pid;
	len = text_len(r, sizeof(rec));
	memcpy(comm, r->rec.raw + sizeof(rec), len < sizeof(comm) - 1 ? len : sizeof(comm) - 1);
	values[1].len = (uint16_t)(strlen(comm) + 1);
	set_known(m, rec.pid, 1); /* what it had is gone, and what it gets is told */
	scap_evt_build(r->event.raw, EVENT_MAX, EVT_MAP_EXEC_E, ns, rec.pid, values, 2);
	return &r->event.hdr;
}

/* The kernel had no room for records: whose mappings they told of is not known, so those that /proc
 * still has are read again. */
static const struct ppm_evt_hdr *lost_event(struct live_maps *m, struct map_ring *r, uint64_t ns)
{
	static const char reason[] = "mappings of programs: the buffer was full";
	const uint32_t cpu = r->cpu;
	uint64_t n;
	const struct evt_value values[] = {
		{&cpu, sizeof(cpu)}, {&n, sizeof(n)}, {reason, sizeof(reason)}};

	if (r->rec.hdr.size < sizeof(struct perf_event_header) + 2 * sizeof(n) + sizeof(ns))
		return NULL;
	memcpy(&n, r->rec.raw + sizeof(struct perf_event_header) + sizeof(n), sizeof(n));
	memset(m->known, 0, sizeof(m->known));
	scap_evt_build(r->event.raw, EVENT_MAX, EVT_LOST_E, ns, UINT64_MAX, values, 3);
	return &r->event.hdr;
}

const struct ppm_evt_hdr *live_maps_event(struct live_maps *m, unsigned int i)
{
	struct map_ring *r = m->rings[i];
	const uint64_t ns = live_maps_key(m, i);

	if (!r->has_rec)
		return NULL;
	switch (r->rec.hdr.type) {
	case PERF_RECORD_MMAP2:
		return mmap_event(r, ns);
	case PERF_RECORD_FORK:
		return fork_event(m, r, ns);
	case PERF_RECORD_COMM:
		return exec_event(m, r, ns);
	case PERF_RECORD_LOST:
		return lost_event(m, r, ns);
	default:
		return NULL;
	}
}

/* ---- what /proc has ---- */

static int wait_event(struct live_maps *m, const struct ppm_evt_hdr *hdr)
{
	const size_t need = m->waiting_len + hdr->len;
	uint8_t *p;

	if (need > m->waiting_sz) {
		p = realloc(m->waiting, need + need / 2);
		if (!p)
			return -ENOMEM;
		m->waiting = p;
		m->waiting_sz = need + need / 2;
	}
	memcpy(m->waiting + m->waiting_len, hdr, hdr->len);
	m->waiting_len = need;
	return 0;
}

/* The mappings of @pid, for process @as. -ENOENT: it has ended, or has none. */
static int read_maps(struct live_maps *m, uint32_t pid, uint32_t as)
{
	char name[32], *line = NULL;
	union {
		struct ppm_evt_hdr hdr;
		uint8_t raw[MAP_EVENT_MAX];
	} event;
	int err = -ENOENT;
	size_t sz = 0;
	ssize_t len;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	f = fopen(name, "re");
	if (!f)
		return -ENOENT;
	while ((err == -ENOENT || !err) && (len = getline(&line, &sz, f)) > 0) {
		struct code_map map;

		if (line[len - 1] == '\n')
			line[len - 1] = '\0';
		if (map_event_parse(line, as, &map))
			continue;
		map_event_build(event.raw, 0, &map);
		err = wait_event(m, &event.hdr);
	}
	free(line);
	fclose(f);
	return err;
}

static uint32_t parent_of(const struct live_maps *m, uint32_t pid)
{
	for (unsigned int i = 0; i < N_FORKS && i < m->n_forks; i++) {
		const struct fork *f = &m->forks[(m->n_forks - 1 - i) & (N_FORKS - 1)];

		if (f->pid == pid)
			return f->parent;
	}
	return 0;
}

void live_maps_need(struct live_maps *m, uint32_t pid)
{
	uint32_t parent;

	if (!pid || pid >= PID_LIMIT || is_known(m, pid))
		return;
	set_known(m, pid, 1); /* whether it can be read or not: not once for each sample */
	if (read_maps(m, pid, pid) != -ENOENT)
		return;
	parent = parent_of(m, pid);
	if (parent)
		read_maps(m, parent, pid);
}

void live_maps_forget(struct live_maps *m, uint32_t pid)
{
	set_known(m, pid, 0);
}

const struct ppm_evt_hdr *live_maps_next(struct live_maps *m)
{
	const struct ppm_evt_hdr *hdr = (const void *)(m->waiting + m->waiting_at);

	if (m->waiting_at == m->waiting_len) {
		m->waiting_at = m->waiting_len = 0;
		return NULL;
	}
	m->waiting_at += hdr->len;
	return hdr;
}
