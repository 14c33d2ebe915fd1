/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of the driver and of its programs. */
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "live/live_driver.h"

/* Runs that the kernel skipped because the program was already running on that CPU: the driver
 * never saw them. Programs that take samples are counted separately; what tls_call does not send,
 * the return of the function sends. */
static uint64_t n_missed(const struct live_driver *d)
{
	struct bpf_program *p;
	uint64_t n = 0;

	bpf_object__for_each_program(p, d->skel->obj)
	{
		struct bpf_prog_info info = {0};
		uint32_t len = sizeof(info);

		if (!live_is_sample(p) && p != d->skel->progs.tls_call && bpf_program__fd(p) >= 0 &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &len))
			n += info.recursion_misses;
	}
	return n;
}

unsigned int live_program_insns(const struct live_driver *d, const struct program_row *row)
{
	const struct bpf_program *p = bpf_object__find_program_by_name(d->skel->obj, row->name);
	struct bpf_prog_info info = {0};
	uint32_t len = sizeof(info);

	if (!live_is_present(d, p) || bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &len))
		return 0;
	return info.verified_insns;
}

static void ring_sums(const struct live_driver *d, struct drv_sums *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (unsigned int i = 0; i < d->n_rings; i++)
		ring_counters(d->rings[i], sum);
}

uint64_t live_n_no_ring(const struct live_driver *d, unsigned int cpu)
{
	return __atomic_load_n(&d->skel->bss->slots[cpu].n_no_ring, __ATOMIC_RELAXED);
}

void live_counters(const struct live_driver *d, struct drv_sums *sum)
{
	const uint64_t missed = n_missed(d);
	uint64_t lost = 0;

	ring_sums(d, sum);
	for (unsigned int i = 0; i < DRV_MAX_CPUS; i++) {
		sum->other.n_filtered +=
			__atomic_load_n(&d->skel->bss->slots[i].n_filtered, __ATOMIC_RELAXED);
		lost += live_n_no_ring(d, i);
	}
	sum->n.seen += lost;
	sum->other.lost[DRV_DROP_NO_RING][LOST_OTHER] += lost;
	sum->n.seen += missed;
	sum->other.lost[DRV_DROP_MISSED][LOST_OTHER] += missed;
}

uint64_t live_n_suppressed(const struct live_driver *d)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < DRV_MAX_CPUS; i++)
		n += __atomic_load_n(&d->skel->bss->slots[i].n_suppressed, __ATOMIC_RELAXED);
	return n;
}

uint64_t live_n_unsampled(const struct live_driver *d)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < DRV_MAX_CPUS; i++)
		n += __atomic_load_n(&d->skel->bss->slots[i].n_unsampled, __ATOMIC_RELAXED);
	return n;
}

void live_bpf_stats(const struct live_driver *d, uint64_t *run_ns, uint64_t *run_cnt)
{
	struct bpf_program *p;

	*run_ns = 0;
	*run_cnt = 0;
	bpf_object__for_each_program(p, d->skel->obj)
	{
		struct bpf_prog_info info = {0};
		uint32_t len = sizeof(info);

		if (bpf_program__fd(p) < 0 ||
		    bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &len))
			continue;
		*run_ns += info.run_time_ns;
		*run_cnt += info.run_cnt;
	}
}

void live_exits(const struct live_driver *d, uint64_t *runs, uint64_t *accounted)
{
	struct bpf_prog_info info = {0};
	uint32_t len = sizeof(info);
	struct drv_sums c;

	*runs = 0;
	if (!bpf_obj_get_info_by_fd(bpf_program__fd(d->skel->progs.sys_exit), &info, &len))
		*runs = info.run_cnt;
	ring_sums(d, &c);
	*accounted = c.n.seen - c.n.n_enters - c.n.n_others;
	for (unsigned int i = 0; i < DRV_MAX_CPUS; i++)
		*accounted +=
			__atomic_load_n(&d->skel->bss->slots[i].n_unrecorded, __ATOMIC_RELAXED);
}
