/* SPDX-License-Identifier: Apache-2.0 */
/* The rings of a live capture, one for each CPU or for several, and the doorbell that wakes their
 * reader. A late CPU, which comes online during the capture, gets its ring then. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "live/live_driver.h"

static const struct ring_ops *const ring_kinds[RING_KIND_MAX] = {
	[RING_PERF] = &ring_perf_ops,
	[RING_RINGBUF] = &ring_ringbuf_ops,
	[RING_ARRAY] = &ring_array_ops,
};

const struct ring_ops *live_ring_ops(int kind)
{
	return ring_kinds[kind];
}

/* Creates what @cpu's ring needs besides its header, and puts it into the driver's map; array:
 * @map_fd. */
static int open_kind_fd(struct live_driver *d, uint32_t cpu, int map_fd)
{
	const uint32_t at = cpu / d->cpus_per_ring;
	int map, fd;

	if (d->kind == RING_ARRAY)
		return map_fd;
	if (d->kind_fds[at] >= 0) /* shared with a neighbour */
		return d->kind_fds[at];
	fd = ring_kinds[d->kind]->create(cpu, d->ring_sz);
	if (fd < 0)
		return fd;
	d->kind_fds[at] = fd;
	map = bpf_map__fd(d->kind == RING_PERF ? d->skel->maps.perf_rings
					       : d->skel->maps.ringbuf_rings);
	return bpf_map_update_elem(map, &at, &fd, BPF_ANY) ? -errno : fd;
}

/* Rings that the driver does not have yet. It is shown many at once, since the kernel waits for all
 * CPUs, some 10 ms, whenever a map of maps changes. */
#define NEW_RINGS 64

struct new_rings {
	uint32_t cpus[NEW_RINGS];
	int maps[NEW_RINGS]; /* owned */
	unsigned int n;
};

static int show_one_by_one(struct live_driver *d, const struct new_rings *r)
{
	int err = 0;

	for (unsigned int i = 0; i < r->n && !err; i++)
		err = bpf_map_update_elem(bpf_map__fd(d->skel->maps.rings), &r->cpus[i],
					  &r->maps[i], BPF_ANY);
	return err ? -errno : 0;
}

static int show_rings(struct live_driver *d, struct new_rings *r)
{
	uint32_t n = r->n;
	int err = 0;

	if (r->n < 2 ||
	    bpf_map_update_batch(bpf_map__fd(d->skel->maps.rings), r->cpus, r->maps, &n, NULL))
		err = show_one_by_one(d, r);
	while (r->n)
		close(r->maps[--r->n]);
	return err;
}

/* Opens the ring of @cpu over @map_fd. Returns -ENODEV if the CPU is offline, which the kind perf
 * needs online. */
static int open_ring_of(struct live_driver *d, uint32_t cpu, int map_fd)
{
	struct ring **ring = &d->rings[d->n_rings];
	int fd = open_kind_fd(d, cpu, map_fd), err;

	if (fd < 0)
		return fd;
	err = ring_open(ring, ring_kinds[d->kind], cpu, d->ring_sz, map_fd, fd,
			d->skel->bss->slots);
	if (err)
		return err;
	if (d->shared)
		ring_share(*ring, &d->shared[cpu / d->cpus_per_ring]);
	d->n_rings++;
	CPU_SET(cpu, &d->have_ring);
	return 0;
}

int live_has_ring(const struct live_driver *d, unsigned int cpu)
{
	return CPU_ISSET(cpu, &d->have_ring);
}

static int open_ring(struct live_driver *d, uint32_t cpu, struct new_rings *r)
{
	int map_fd = d->first_map, err;

	if (cpu >= d->n_cpus || live_has_ring(d, cpu))
		return 0;
	d->first_map = -1;
	if (map_fd < 0)
		map_fd = ring_map_create(d->kind, d->ring_sz);
	if (map_fd < 0)
		return map_fd;
	err = open_ring_of(d, cpu, map_fd);
	if (err) {
		close(map_fd);
		return err;
	}
	r->cpus[r->n] = cpu;
	r->maps[r->n++] = map_fd;
	return r->n < NEW_RINGS ? 0 : show_rings(d, r);
}

int live_open_rings(struct live_driver *d)
{
	struct new_rings r = {.n = 0};
	int err = 0, shown;

	for (uint32_t cpu = 0; cpu < d->n_cpus && !err; cpu++) {
		if (CPU_ISSET(cpu, &d->online))
			err = open_ring(d, cpu, &r);
		if (err == -ENODEV) /* the CPU has just gone offline */
			err = 0;
		else if (err)
			scap_fail(&d->log, err, "cannot create the ring of CPU %u: %s", cpu,
				  strerror(-err));
	}
	shown = show_rings(d, &r);
	if (err || !shown)
		return err;
	return scap_fail(&d->log, shown, "cannot give the driver its rings: %s", strerror(-shown));
}

void live_expect_cpu(struct live_driver *d, unsigned int cpu)
{
	struct new_rings r = {.n = 0};
	int err = open_ring(d, cpu, &r) ?: show_rings(d, &r);

	if (!err || err == -ENODEV || d->ring_refused)
		return;
	d->ring_refused = 1;
	scap_say(&d->log, SCAP_LOG_WARN, "cannot create a ring for CPU %u, which came online: %s%s",
		 cpu, strerror(-err),
		 d->kind == RING_PERF ? "; use --ring array or --ring ringbuf" : "");
}

void live_follow_cpus(struct live_driver *d, const cpu_set_t *online)
{
	for (uint32_t cpu = 0; cpu < d->n_cpus; cpu++)
		if (CPU_ISSET(cpu, online))
			live_expect_cpu(d, cpu);
}

void live_close_bell(struct live_driver *d)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (d->bell)
		munmap(d->bell, page);
	if (d->bell_end)
		munmap(d->bell_end, page);
}

/* Maps one page of the doorbell; NULL: refused. */
static void *map_bell(const struct live_driver *d, int prot, off_t at)
{
	void *p = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), prot, MAP_SHARED, live_bell_fd(d), at);

	return p == MAP_FAILED ? NULL : p;
}

int live_open_bell(struct live_driver *d)
{
	d->bell = map_bell(d, PROT_READ | PROT_WRITE, 0);
	if (d->bell)
		d->bell_end = map_bell(d, PROT_READ, (off_t)sysconf(_SC_PAGESIZE));
	if (d->bell_end)
		return 0;
	return scap_fail(&d->log, -errno, "cannot create the wake-up ring: %s", strerror(errno));
}

unsigned int live_n_cpus(const struct live_driver *d)
{
	return d->n_cpus;
}

unsigned int live_n_rings(const struct live_driver *d)
{
	return d->n_rings;
}

struct ring *live_ring(struct live_driver *d, unsigned int i)
{
	return d->rings[i];
}

const char *live_ring_kind(const struct live_driver *d)
{
	return ring_kinds[d->kind]->name;
}

int live_bell_fd(const struct live_driver *d)
{
	return bpf_map__fd(d->skel->maps.bell);
}

/* The doorbell has only empty records: advancing the consumer silences it. */
static void silence_bell(struct live_driver *d)
{
	__atomic_store_n((uint64_t *)d->bell,
			 __atomic_load_n((const uint64_t *)d->bell_end, __ATOMIC_ACQUIRE),
			 __ATOMIC_RELEASE);
}

int live_wait(struct live_driver *d, int timeout_ms)
{
	struct pollfd p = {.fd = live_bell_fd(d), .events = POLLIN};
	int n = poll(&p, 1, timeout_ms);

	if (n < 0)
		return -errno;
	if (n > 0)
		silence_bell(d);
	return n;
}
