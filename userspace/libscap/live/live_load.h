/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the driver into the kernel, attaches its programs, and lends out its rings. */
#ifndef SCAP_LIVE_LIVE_LOAD_H
#define SCAP_LIVE_LIVE_LOAD_H

#include <sched.h>

#include "live/program_rows.h"
#include "ring/ring.h"

struct live_driver;
struct live_sampler;
struct live_unwind;

struct live_opts {
	size_t sz; /* sizeof(struct live_opts) */
	int ring_kind; /* enum ring_kind + 1; 0: the default */
	size_t ring_sz; /* bytes per ring, a power of two; 0: 8 MiB */
	uint32_t snaplen; /* 0: 80 */
	uint32_t wake_sz; /* bytes unread in a ring that ring the doorbell; 0: an eighth of it */
	int page_faults, switches; /* record them */
	const struct scap_snap_port *snap_ports;
	size_t n_snap_ports;
	uint32_t sampling; /* 0: everything */
	const struct scap_select *select; /* NULL: everything. Borrowed until live_attach returns */
	uint32_t cpus_per_ring; /* 0: 1; more is for ringbuf, which it makes the default */
	const struct scap_sampler_opts
		*sampler; /* NULL: no samples. Borrowed until live_load returns */
	int only_samples; /* no calls, and nothing else: not even what the state needs */
	int record_self; /* also record the calls of this process (tests) */
	unsigned int first_cpus; /* only as many have a ring at the start; 0: all (tests) */
	const char *refuse_load, *refuse_attach; /* the program of this name is refused (tests) */
};

/* Loads, without attaching: nothing is recorded yet. 0 or a negative errno after saying why. */
int live_load(struct live_driver **out, const struct live_opts *opts, const struct scap_log *log);

/* From here on calls are recorded. 0 or a negative errno. */
int live_attach(struct live_driver *d);

/* Optional programs that the capture wants and the kernel does not take, after live_attach; each
 * was said, too. Borrowed until live_close. */
unsigned int live_missing(const struct live_driver *d, const struct program_missing **out);

/* Instructions that the verifier processed for the program; 0: it is not loaded. */
unsigned int live_program_insns(const struct live_driver *d, const struct program_row *row);

/* For scap_scan_opts: an open iterator over threads, which the caller closes, or a negative errno.
 * After live_attach. */
int live_task_rows(const struct live_driver *d);

/* The same over the threads that are on a CPU, of a capture of switches; also after live_detach. */
int live_running_rows(const struct live_driver *d);

/* The same, of struct stuck_row, over the threads that are in a call and on no CPU, of those that
 * are selected. */
int live_stuck_rows(const struct live_driver *d);

/* Who waits already is sampled from here on, if waits are sampled. After live_attach, before the
 * sampler starts. */
void live_begin_waits(struct live_driver *d);

/* 1: processes were chosen by number, and none of them, or with descendants of these, lives. */
int live_nobody_left(const struct live_driver *d);

/* The sampler, of a capture with one; else NULL. Borrowed until live_close. It is not started. */
struct live_sampler *live_sampler_of(const struct live_driver *d);
/* Its unwind tables; NULL: it walks without. */
struct live_unwind *live_unwind_of(const struct live_driver *d);

/* Nothing is recorded any more; what the rings hold stays. May be called twice. */
void live_detach(struct live_driver *d);

/* Detaches and frees, the rings included. NULL is fine. */
void live_close(struct live_driver *d);

/* @cpu is about to come online: it gets its ring, if its kind can be had before. */
void live_expect_cpu(struct live_driver *d, unsigned int cpu);

/* Each CPU that is online and has no ring gets one. */
void live_follow_cpus(struct live_driver *d, const cpu_set_t *online);

/* CPUs that are possible, and so rings at most. */
unsigned int live_n_cpus(const struct live_driver *d);

/* Rings by index, borrowed until live_close. Those of CPUs that come online follow at the end. */
unsigned int live_n_rings(const struct live_driver *d);
struct ring *live_ring(struct live_driver *d, unsigned int i);

/* "array", "ringbuf" or "perf". */
const char *live_ring_kind(const struct live_driver *d);

/* Sleeps until a ring whose reader is asleep holds wake_sz bytes, or for timeout_ms; the caller
 * has set the rings asleep. 1 rung, 0 timeout, -EINTR. */
int live_wait(struct live_driver *d, int timeout_ms);

/* The doorbell, for callers that poll more than it: readable when rung. live_wait empties it. */
int live_bell_fd(const struct live_driver *d);

/* Sums over CPUs, with what CPUs without a ring lost. */
void live_counters(const struct live_driver *d, struct drv_counters *sum);

/* Records that a CPU without a ring lost. */
uint64_t live_n_no_ring(const struct live_driver *d, unsigned int cpu);
int live_has_ring(const struct live_driver *d, unsigned int cpu);

/* Calls and events that sampling left out. */
uint64_t live_n_unsampled(const struct live_driver *d);

/* Time in and runs of all programs, where the kernel counts them (kernel.bpf_stats_enabled);
 * else 0. */
void live_bpf_stats(const struct live_driver *d, uint64_t *run_ns, uint64_t *run_cnt);

/*
 * The ends of calls, of a capture of everything: as the kernel counts the runs of their hook, and
 * as the driver accounts for them, records meant to be sent and calls left out. Once detached the
 * two are the same, if the kernel has counted since before live_attach; if not, runs are 0.
 */
void live_exits(const struct live_driver *d, uint64_t *runs, uint64_t *accounted);

#endif /* SCAP_LIVE_LIVE_LOAD_H */
