/* SPDX-License-Identifier: Apache-2.0 */
#include "testing/dual_sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "clock.h"
#include "packed_object.h"
#include "ring/perf_buffer.h"
#include "shared/ia32.h"
#include "shared/sampler.h"
#include "shared/unwind_table.h"
#include "unwind/live_unwind.h"

#include "unwind_selftest_bpf.skel.h"

#define DATA_PAGES 4096 /* size of each CPU's buffer, a power of two */
#define STACK_SZ 65528
#define N_BUCKETS 1024 /* results that wait for their sample */
#define NEAR_NS 100000ull /* a result and its sample come from one interrupt */
#define TABLES_WAIT_MS 5000

/* ax bx cx dx si di bp sp ip, r8 to r15: bits of perf's numbering. */
#define REGS_MASK 0xff01ffull

struct cpu_ring {
	int fd;
	struct perf_buffer ring;
	struct bpf_link *link;
};

struct result {
	struct result *next;
	struct unwind_selftest r;
};

struct dual_sampler {
	struct dual_sampler_opts o;
	struct unwind_selftest_bpf *skel;
	struct live_unwind *unwind;
	struct ring_buffer *results;
	struct cpu_ring *cpus;
	unsigned int n_cpus;
	struct result *waiting[N_BUCKETS];
	uint8_t *record; /* for 64 KiB and more */
	uint64_t n_lost;
};

static int keep_result(void *ctx, void *data, size_t sz)
{
	struct dual_sampler *d = ctx;
	struct result *w, **at;

	if (sz < sizeof(w->r))
		return 0;
	w = malloc(sizeof(*w));
	if (!w)
		return -ENOMEM;
	memcpy(&w->r, data, sizeof(w->r));
	w->next = NULL;
	for (at = &d->waiting[w->r.tid % N_BUCKETS]; *at; at = &(*at)->next)
		;
	*at = w;
	return 0;
}

/* Ticks that a CPU could not take follow one another directly: then they differ by place. */
static int is_same(const struct unwind_selftest *r, const struct dual_sample *s)
{
	return r->tid == s->tid && r->ns - s->ns + NEAR_NS < 2 * NEAR_NS &&
	       (!r->n || STACK_ADDR(r->frames[0]) == s->regs[DUAL_IP]);
}

/* Returns the result of the interrupt that took the sample; the caller frees it. */
static struct result *take_result(struct dual_sampler *d, const struct dual_sample *s)
{
	struct result **at = &d->waiting[s->tid % N_BUCKETS];

	while (*at) {
		struct result *w = *at;

		/* The event reads its time before the program runs. */
		if (is_same(&w->r, s)) {
			*at = w->next;
			return w;
		}
		if (s->ns > w->r.ns + 10000000000ull) { /* its sample was lost */
			*at = w->next;
			free(w);
			continue;
		}
		at = &w->next;
	}
	return NULL;
}

/* Reads the fields of a sample: tid, time, cpu, registers, stack. Returns 0 if it is none. */
static int parse_sample(struct dual_sample *s, const uint8_t *rec, size_t sz)
{
	/* ax bx cx dx si di bp sp ip r8.. by DWARF number */
	static const uint8_t dwarf[DUAL_REGS] = {0, 3, 2,  1,  4,  5,  6,  7, 16,
						 8, 9, 10, 11, 12, 13, 14, 15};
	const size_t head = sizeof(struct perf_event_header) + 8 + 8 + 8 + 8;
	size_t at = head;
	uint64_t abi, n, stack_sz;

	if (sz < head)
		return 0;
	memcpy(&s->pid, rec + 8, 4);
	memcpy(&s->tid, rec + 12, 4);
	memcpy(&s->ns, rec + 16, 8);
	memcpy(&abi, rec + 32, 8);
	if (abi != PERF_SAMPLE_REGS_ABI_64 || sz - at < DUAL_REGS * 8 + 8)
		return 0;
	for (int i = 0; i < DUAL_REGS; i++, at += 8)
		memcpy(&s->regs[dwarf[i]], rec + at, 8);
	memcpy(&n, rec + at, 8);
	at += 8;
	if (!n || n > sz - at || sz - at - n < 8)
		return 0;
	s->stack = rec + at;
	memcpy(&stack_sz, rec + at + n, 8);
	s->stack_sz = stack_sz < n ? stack_sz : n;
	return 1;
}

static void take_sample(struct dual_sampler *d, const uint8_t *rec, size_t sz)
{
	struct dual_sample s;
	struct result *w;

	if (!parse_sample(&s, rec, sz))
		return;
	ring_buffer__consume(d->results);
	w = take_result(d, &s);
	if (!w) {
		d->n_lost++;
		return;
	}
	s.ours = &w->r;
	d->o.take(d->o.ctx, &s);
	free(w);
}

static int drain(struct dual_sampler *d, struct cpu_ring *c, uint64_t until_ns)
{
	struct perf_event_header h;
	uint64_t head = perf_buffer_head(&c->ring);
	int n = 0;

	while (c->ring.page->data_tail != head) {
		perf_buffer_copy(&c->ring, c->ring.page->data_tail, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > head - c->ring.page->data_tail)
			break;
		perf_buffer_copy(&c->ring, c->ring.page->data_tail, d->record, h.size);
		perf_buffer_release(&c->ring, c->ring.page->data_tail + h.size);
		if (h.type == PERF_RECORD_SAMPLE)
			take_sample(d, d->record, h.size);
		else if (h.type == PERF_RECORD_LOST)
			d->n_lost++;
		n++;
		if (clock_now_ns() > until_ns)
			break;
	}
	return n;
}

void dual_sampler_step(struct dual_sampler *d, int timeout_ms)
{
	const struct timespec nap = {.tv_nsec = 5000000};
	const uint64_t until = clock_now_ns() + (uint64_t)timeout_ms * 1000000;

	while (clock_now_ns() < until) {
		int n = 0;

		for (unsigned int i = 0; i < d->n_cpus; i++)
			n += drain(d, &d->cpus[i], until);
		if (!n)
			nanosleep(&nap, NULL);
	}
}

uint64_t dual_sampler_lost(const struct dual_sampler *d)
{
	return d->n_lost + d->skel->bss->n_selftest_lost;
}

/* ---- its beginning and end ---- */

static int open_cpu(struct dual_sampler *d, unsigned int cpu)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = d->o.hz,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = REGS_MASK,
		.sample_stack_user = STACK_SZ,
		.use_clockid = 1,
		.clockid = CLOCK_BOOTTIME,
		.disabled = 1,
	};
	struct cpu_ring *c = &d->cpus[d->n_cpus];
	int err;

	c->fd = (int)syscall(SYS_perf_event_open, &a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (c->fd < 0)
		return errno == ENODEV ? 0 : -errno;
	d->n_cpus++;
	err = perf_buffer_map(&c->ring, c->fd, DATA_PAGES * (size_t)sysconf(_SC_PAGESIZE));
	if (err)
		return err;
	c->link = bpf_program__attach_perf_event(d->skel->progs.unwind_selftest, c->fd);
	return c->link ? 0 : -errno;
}

static int load(struct dual_sampler *d)
{
	struct drv_sampler_config *c;
	int err;

	d->skel = PACKED_OBJECT_OPEN(unwind_selftest_bpf, NULL);
	if (!d->skel)
		return -errno;
	c = (struct drv_sampler_config *)&d->skel->rodata->sampler_cfg;
	c->tables = 1;
	d->skel->rodata->selftest_root = d->o.root;
	bpf_map__set_max_entries(d->skel->maps.unwind_caches, (uint32_t)libbpf_num_possible_cpus());
	err = unwind_selftest_bpf__load(d->skel);
	if (err)
		return err;
	d->results =
		ring_buffer__new(bpf_map__fd(d->skel->maps.selftest_results), keep_result, d, NULL);
	if (!d->results)
		return -errno;
	return live_unwind_open(&d->unwind,
				&(struct live_unwind_maps){
					.chunks = bpf_map__fd(d->skel->maps.unwind_chunks),
					.procs = bpf_map__fd(d->skel->maps.unwind_processes),
					.interps = -1,
					.copies = -1,
				},
				&(struct live_unwind_opts){
					.chosen = {(const int32_t *)&d->o.root, d->o.root != 0},
				},
				&d->o.log);
}

int dual_sampler_open(struct dual_sampler **out, const struct dual_sampler_opts *opts)
{
	const int n = libbpf_num_possible_cpus();
	struct dual_sampler *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return -ENOMEM;
	d->o = *opts;
	d->record = malloc(1 << 16);
	d->cpus = calloc(n > 0 ? (size_t)n : 1, sizeof(*d->cpus));
	err = d->record && d->cpus ? load(d) : -ENOMEM;
	if (!err)
		live_unwind_wait(d->unwind, TABLES_WAIT_MS);
	for (int cpu = 0; cpu < n && !err; cpu++)
		err = open_cpu(d, (unsigned int)cpu);
	for (unsigned int i = 0; i < d->n_cpus && !err; i++) {
		/* Attached, it still waits to be released. */
		err = syscall(SYS_ioctl, d->cpus[i].fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
	}
	if (err) {
		dual_sampler_close(d);
		return err;
	}
	*out = d;
	return 0;
}

void dual_sampler_close(struct dual_sampler *d)
{
	if (!d)
		return;
	for (unsigned int i = 0; d->cpus && i < d->n_cpus; i++) {
		bpf_link__destroy(d->cpus[i].link);
		perf_buffer_unmap(&d->cpus[i].ring);
		close(d->cpus[i].fd);
	}
	live_unwind_close(d->unwind);
	ring_buffer__free(d->results);
	unwind_selftest_bpf__destroy(d->skel);
	for (unsigned int i = 0; i < N_BUCKETS; i++) {
		while (d->waiting[i]) {
			struct result *w = d->waiting[i];

			d->waiting[i] = w->next;
			free(w);
		}
	}
	free(d->cpus);
	free(d->record);
	free(d);
}
