/* SPDX-License-Identifier: Apache-2.0 */
/* The loaded driver: what the files that load, attach and read it share. */
#ifndef SCAP_LIVE_LIVE_DRIVER_H
#define SCAP_LIVE_LIVE_DRIVER_H

#include <sched.h>

#include "live/kernel_version.h"
#include "live/live_load.h"
#include "live/live_progs.h"
#include "live/live_select.h"
#include "objfile/helper_process.h"
#include "ring/ring_impl.h"
#include "shared/config.h"
#include "shared/ia32.h"
#include "shared/sampler.h"
#include "unwind/running.h"

#include "driver.skel.h"

struct live_driver {
	struct driver *skel;
	struct live_progs *progs;
	struct scap_log log;
	int kind; /* enum ring_kind */
	size_t ring_sz;
	unsigned int n_cpus; /* possible CPUs */
	unsigned int n_first; /* one more than the highest CPU that is online at the start */
	unsigned int n_rings;
	struct ring **rings; /* in the order in which their CPUs came online */
	cpu_set_t online; /* at the start */
	cpu_set_t have_ring;
	int first_map; /* descriptor of the first ring, created before the load; -1: its ring has it
			*/
	int ring_refused; /* that a CPU gets no ring was reported */
	unsigned int cpus_per_ring;
	struct ring_shared *shared; /* by index of kind_fds; NULL: none */
	int *kind_fds; /* perf events by CPU, or ring buffers; -1: none */
	void *bell, *bell_end; /* ring of the doorbell: the pages with its consumer's and its
				  producer's position */
	const struct scap_select *select; /* from live_opts, until it is attached */
	struct live_sampler *sampler; /* NULL: none */
	struct live_unwind *unwind; /* NULL: no tables */
	int with_tls; /* requested */
	struct chosen_procs chosen; /* borrowed until live_attach returns, as select */
	struct live_tls *tls; /* NULL: none */
	struct live_select_maps select_maps;
	struct helper stacks; /* reads the stacks of threads that wait at the start */
	const char *refuse_attach; /* from live_opts */
	struct bpf_program *fillers[DRV_MAX_NR]; /* by call; NULL: none */
	struct program_missing *missing; /* room for all of them */
	unsigned int n_missing;
};

/* Before 6.4 task storage may allocate memory while the scheduler's lock is held. */
static inline int kernel_is_6_4(void)
{
	return scap_kernel_is_at_least(6, 4);
}

/* Warnings of libbpf (live_error.c): collected from here on instead of printed. */
void live_collect_warnings(void);
/* Reports @err with the first of them, and returns it. */
int live_fail_libbpf(const struct scap_log *log, int err, const char *what);

/* Settings of the driver before it is loaded (live_config.c). Each returns 0 or a negative errno;
 * live_check_opts and live_set_sampler have reported it. */
int live_check_opts(const struct live_opts *o, const struct scap_log *log);
void live_set_config(struct live_driver *d, const struct live_opts *o, int self_tgid);
int live_set_sampler(struct live_driver *d, const struct live_opts *o);
int live_set_maps(struct live_driver *d, const struct live_opts *o);
/* Returns our PID as the driver sees it, or a negative errno. */
int live_self_tgid(void);

/* The programs that the capture needs (program_choice.c). */
int live_choose_programs(struct live_driver *d, const struct live_opts *o);
int live_fill_dispatch_table(struct live_driver *d);
void live_note_missing(struct live_driver *d, const struct bpf_program *p, int err);
void live_note_refused(struct live_driver *d);
int live_is_filler(const struct bpf_program *p);
int live_is_sample(const struct bpf_program *p);
int live_is_uprobe(const struct bpf_program *p);
int live_is_present(const struct live_driver *d, const struct bpf_program *p);

/* Events of TCP (live_tcp.c). Those that return int: 0 or a negative errno, or yes and no. */
uint32_t live_tcp_args(const struct live_driver *d); /* enum drv_tcp_args */
int live_set_tcp_maps(struct live_driver *d, int on);
int live_is_tcp(const struct bpf_program *p);
int live_is_wanted_tcp(const struct live_driver *d, const struct bpf_program *p);
void live_set_tcp_reasons(struct live_driver *d);

/* The rings and their doorbell (live_rings.c). Each returns 0, or a negative errno after reporting
 * it. */
int live_open_rings(struct live_driver *d);
int live_open_bell(struct live_driver *d);
void live_close_bell(struct live_driver *d);
const struct ring_ops *live_ring_ops(int kind); /* enum ring_kind */

/* Attaches the hook that marks helpers of saker (live_attach.c). */
int live_attach_own(struct live_driver *d);

/* Runs an iterator over all threads (live_iterators.c). */
void live_run_iterator(const struct bpf_link *link);

#endif /* SCAP_LIVE_LIVE_DRIVER_H */
