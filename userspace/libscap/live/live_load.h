/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the driver into the kernel, attaches its programs, and lends out its rings. */
#ifndef SCAP_LIVE_LIVE_LOAD_H
#define SCAP_LIVE_LIVE_LOAD_H

#include <sched.h>

#include "live/program_rows.h"
#include "ring/ring.h"

struct live_driver;
struct live_sampler;
struct live_tls;
struct live_unwind;

struct live_opts {
	size_t sz; /* sizeof(struct live_opts) */
	int ring_kind; /* enum ring_kind + 1; 0: default */
	size_t ring_sz; /* bytes per ring, a power of two; 0: 8 MiB */
	uint32_t snaplen; /* 0: 80 */
	uint32_t wake_sz; /* unread bytes in a ring that ring the doorbell; 0: an eighth of its size
			   */
	int page_faults, switches, wakeups, tcp; /* record these */
	const struct scap_snap_port *snap_ports;
	size_t n_snap_ports;
	uint32_t sampling; /* 0: everything */
	const struct scap_select *select; /* NULL: everything. Borrowed until live_attach returns */
	uint32_t cpus_per_ring; /* 0: 1; more needs ringbuf, and makes it the default */
	const struct scap_sampler_opts
		*sampler; /* NULL: no samples. Borrowed until live_load returns */
	int only_samples; /* no calls at all, not even those that the state needs */
	int tls; /* record the plaintext of TLS connections */
	int record_self; /* also record the calls of this process (tests) */
	unsigned int first_cpus; /* only this many CPUs have a ring at the start; 0: all (tests) */
	const char *refuse_load, *refuse_attach; /* name of a program that is refused (tests) */
};

/* Loads without attaching: nothing is recorded yet. Returns 0, or a negative errno after reporting
 * the reason. */
int live_load(struct live_driver **out, const struct live_opts *opts, const struct scap_log *log);

/* Attaches: from here on calls are recorded. Returns 0, or a negative errno after reporting the
 * reason. */
int live_attach(struct live_driver *d);

/* Returns the optional programs that the capture needs and the kernel refused, after live_attach;
 * each was also reported. Borrowed until live_close. */
unsigned int live_missing(const struct live_driver *d, const struct program_missing **out);

/* Returns the number of instructions that the verifier processed for the program; 0: not loaded. */
unsigned int live_program_insns(const struct live_driver *d, const struct program_row *row);

/* Opens an iterator over threads for scap_scan_opts. Returns a descriptor owned by the caller, or a
 * negative errno. After live_attach. */
int live_task_rows(const struct live_driver *d);

/* The same over the files of the thread @tid, for scap_scan_opts. @driver: a struct live_driver. */
int live_file_rows(void *driver, uint32_t tid);

/* The same over running threads, in a capture of switches; also after live_detach. */
int live_running_rows(const struct live_driver *d);

/* The same over selected threads that are in a call and not running, as struct call_under_way. */
int live_calls_under_way(const struct live_driver *d);

/* Starts waits for threads that are already waiting, if waits are sampled. After live_attach,
 * before the sampler starts. */
void live_begin_waits(struct live_driver *d);

/* Returns 1 if processes were selected by PID and none of them (or, with descendants, of these)
 * lives. */
int live_nobody_left(const struct live_driver *d);

/* Returns the sampler, not started; NULL: the capture has none. Borrowed until live_close. */
struct live_sampler *live_sampler_of(const struct live_driver *d);
/* Returns its unwind tables; NULL: it walks without. */
struct live_unwind *live_unwind_of(const struct live_driver *d);

/* Returns what follows TLS libraries; NULL: not requested. */
struct live_tls *live_tls_of(const struct live_driver *d);

/* Stops recording; the rings keep their contents. May be called twice. */
void live_detach(struct live_driver *d);

/* Detaches and frees everything, rings included. NULL is allowed. */
void live_close(struct live_driver *d);

/* Prepares the ring of @cpu, which is about to come online, if its kind allows that. */
void live_expect_cpu(struct live_driver *d, unsigned int cpu);

/* Gives each online CPU without a ring one. */
void live_follow_cpus(struct live_driver *d, const cpu_set_t *online);

/* Returns the number of possible CPUs, the maximum number of rings. */
unsigned int live_n_cpus(const struct live_driver *d);

/*
 * Returns rings by index, borrowed until live_close. Rings of CPUs that come online are appended.
 */
unsigned int live_n_rings(const struct live_driver *d);
struct ring *live_ring(struct live_driver *d, unsigned int i);

/* "array", "ringbuf" or "perf". */
const char *live_ring_kind(const struct live_driver *d);

/* Sleeps until a ring whose reader is asleep has wake_sz unread bytes, or for timeout_ms; the
 * caller has set the rings asleep. Returns 1 if the doorbell rang, 0 at the timeout, or -EINTR. */
int live_wait(struct live_driver *d, int timeout_ms);

/* Returns the doorbell's descriptor, for callers that poll others too: readable when it rang.
 * live_wait empties it. */
int live_bell_fd(const struct live_driver *d);

/* Returns sums over CPUs, including what CPUs without a ring lost. */
void live_counters(const struct live_driver *d, struct drv_sums *sum);

/* Returns the number of records that a CPU without a ring lost. */
uint64_t live_n_no_ring(const struct live_driver *d, unsigned int cpu);
int live_has_ring(const struct live_driver *d, unsigned int cpu);

/* Returns the number of calls and events excluded by sampling. */
uint64_t live_n_unsampled(const struct live_driver *d);
uint64_t live_n_suppressed(const struct live_driver *d);

/* Returns run time and run count of all programs, if the kernel counts them
 * (kernel.bpf_stats_enabled); else 0. */
void live_bpf_stats(const struct live_driver *d, uint64_t *run_ns, uint64_t *run_cnt);

/*
 * Returns the number of ended calls, in a capture of everything: runs of the hook as the kernel
 * counts them, and the driver's count of records to be sent and filtered calls. After detaching
 * both are equal, if the kernel has counted since before live_attach; if not, runs are 0.
 */
void live_exits(const struct live_driver *d, uint64_t *runs, uint64_t *accounted);

#endif /* SCAP_LIVE_LIVE_LOAD_H */
