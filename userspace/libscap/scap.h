/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source of events: the running kernel, capture files, or a test's own list.
 * Events come in the order of time, numbered as they are in a file: each system
 * call is an enter and an exit, whether its record was one or two.
 */
#ifndef SCAP_SCAP_H
#define SCAP_SCAP_H

#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "event/event_table.h"
#include "log.h"
#include "shared/record.h"
#include "state.h"

struct scap; /* one open source; used by one thread at a time */

/* A set of system calls by number, of x86_64 and of 32-bit programs, and of other events by id. */
struct scap_calls {
	uint64_t bits[2][8];
	uint64_t events[32]; /* by EVT_INDEX */
	uint32_t unknown; /* calls that have no name here, too */
};

/* Adds, or with @remove takes out, the call, or the event that is no call, of that name.
 * -ENOENT: there is none. */
int scap_calls_set(struct scap_calls *calls, const char *name, int remove);
void scap_calls_set_all(struct scap_calls *calls);
/* Those that events of @types, bits by EVT_INDEX, come from: their enters or exits. */
void scap_calls_set_types(struct scap_calls *calls, const uint64_t *types);
/* Calls @fn for each name that scap_calls_set knows, some more than once. */
void scap_calls_each_name(void (*fn)(void *ctx, const char *name), void *ctx);

/*
 * What a live capture is to record, decided in the kernel. A task is meant if each list that
 * is given has it. Beside what is asked for, the capture has the calls that change what is known of
 * threads and files, with SCAP_EVT_F_STATE_ONLY. Lists are borrowed until scap_open returns.
 */
struct scap_select {
	const struct scap_calls *calls; /* NULL: all */
	const int32_t *pids; /* processes, all their threads */
	size_t n_pids;
	uint32_t pids_to_come; /* they need not be there yet, and one that ends may come again */
	const int32_t *tids; /* threads; they need not be there yet */
	size_t n_tids;
	uint32_t descendants; /* of these processes too */
	const char *const *comms; /* names of threads or of their processes */
	size_t n_comms;
	const uint32_t *uids; /* effective users */
	size_t n_uids;
	uint32_t uids_apart; /* tasks of other user namespaces, too, whatever their users */
	const char *const *cgroups; /* paths in the cgroup2 hierarchy, what is below included */
	size_t n_cgroups;
	uint32_t failed_only; /* calls whose result is below 0 */
	uint32_t no_calls; /* none, whatever @calls says: they cost nothing then. Threads are known
			      by their forks, execs, names and ends; what else they change of
			      themselves, users, directories, files, is as it was at the last of
			      these, or at the start */
	uint32_t files; /* which files are open is to be known, also where no call shows it */
	uint32_t peers; /* and whom sockets of all tasks speak with, where calls show sockets */
	const char *const *suppress; /* nothing is recorded of processes of these names and of their
					descendants; a process whose name changes at an exec is one
					or no longer one, a descendant always */
	size_t n_suppress;
};

/* Bytes kept of what goes through a socket whose own or other port is in the range. */
struct scap_snap_port {
	uint16_t from, to;
	uint32_t snaplen;
};

/*
 * Stacks to be sampled, as events of the capture. Of the tasks that scap_select means, whichever
 * calls it names. Lists are borrowed until scap_open returns.
 */
struct scap_sampler_opts {
	size_t sz; /* sizeof(struct scap_sampler_opts); new fields go last */
	uint64_t period_ns; /* of each CPU's clock, 250,000 or more; 0: not by the clock */
	uint32_t depth; /* user frames at most, to STACK_USER_MAX; 0: 128 */
	uint32_t no_kernel, no_user; /* without these stacks */
	uint32_t off_cpu; /* where threads leave the CPU, when they are back */
	uint64_t off_min_ns; /* that were away for so long at least */
	uint32_t page_faults; /* at page faults */
	uint32_t threshold; /* percent of the intervals that are sampled; 0: all */
	uint64_t interval_ns; /* 0: a minute */
	const char *const *tracepoints; /* at these of the kernel, as in sched_wakeup */
	size_t n_tracepoints;
	const char *session; /* there is one sampler at a time of each name; NULL: the usual one */
	uint32_t parts; /* samples and what comes of them later as they are, not joined */
	uint32_t maps; /* events of mappings of code, too, so that frames can be named */
	uint32_t frame_pointers; /* walk by these alone, without unwind tables */
	size_t tables_sz; /* bytes of unwind tables at most; 0: 64 MiB */
};

struct scap_open_opts {
	size_t sz; /* sizeof(struct scap_open_opts); new fields go last */
	const char *const *paths; /* capture files, NULL-terminated, read one after the other; "-":
				     standard input; NULL: the live kernel */
	scap_log_fn log; /* NULL: silent */
	void *log_ctx;
	int ring_kind; /* live: enum ring_kind + 1; 0: the default */
	size_t ring_sz; /* live: bytes per ring, a power of two; 0: 8 MiB */
	uint32_t snaplen; /* live: bytes kept of each I/O buffer; 0: 80 */
	uint32_t no_environ; /* live: leave environments out of the initial state */
	uint32_t page_faults; /* live: record page faults */
	uint32_t switches; /* live: record task switches; 2: those from tasks that are not meant,
			      too, with SCAP_EVT_F_STATE_ONLY */
	const struct scap_select *select; /* live: NULL: everything */
	const struct scap_snap_port *snap_ports; /* live: instead of snaplen; the most counts */
	size_t n_snap_ports;
	uint32_t sampling; /* live: of each second only 1/sampling, but for what changes state; a
			      power of two up to 128; 0: all */
	uint32_t cpus_per_ring; /* live: CPUs that share a ring, UINT32_MAX: all; 0: 1. More than 1
				   is for rings of the kind ringbuf, and makes them the default */
	uint32_t no_users; /* live: leave users and groups out of the initial state */
	const struct scap_sampler_opts *sampler; /* live: NULL: no stacks are sampled */
};

/* 0, or a negative errno with *out untouched. opts may be NULL: live, defaults. */
int scap_open(struct scap **out, const struct scap_open_opts *opts);

/* Ends the capture and frees everything @s lent out. NULL is fine. */
void scap_close(struct scap *s);

#define SCAP_NEW_SECTION 2

/*
 * 1 with an event in *evt; 0 if timeout_ms passed without one; SCAP_NEW_SECTION when a
 * concatenated or next file begins and scap_state() is new; -ENODATA at the end of the
 * last file or of a stopped capture; another negative errno on failure, after every
 * event before it was delivered.
 */
int scap_next(struct scap *s, struct scap_evt *evt, int timeout_ms);

/* The same with the event split, as by scap_evt_params: of a file that costs next to nothing, since
 * its lengths are looked at in any case. */
int scap_next_split(struct scap *s, struct scap_evt *evt, struct scap_params *params,
		    int timeout_ms);

/*
 * Puts a copy of an event into the stream, ahead of the source's next one and with its time; at the
 * end of the source, with the time of the last. A source without events ends without it. 0 or
 * -ENOMEM.
 */
int scap_inject(struct scap *s, const struct ppm_evt_hdr *hdr);

/* Live: detach the driver; scap_next goes on with what the rings hold, then -ENODATA.
 * Async-signal-unsafe. */
int scap_stop(struct scap *s);

/* Live: were processes chosen by number, and have all of them, and with descendants all of these,
 * ended? Then only the state of others is still recorded. */
int scap_is_over(const struct scap *s);

/* Live: since the epoch, from when on events count. What is older came while the capture was set
 * up: what of it had not ended by then comes with SCAP_EVT_F_BEFORE. 0: from the first on. */
uint64_t scap_begin_ns(const struct scap *s);

/* Threads, files, users as they were when the source began. Borrowed until the next section
 * or scap_state_drop. */
const struct scap_state *scap_state(const struct scap *s);
/* Frees the state once it was taken over; until the next section scap_state is empty. */
void scap_state_drop(struct scap *s);

/* A thread that is on a CPU. */
struct scap_running {
	uint64_t tid;
	uint32_t cpu;
	uint64_t ran_ns, at_ns; /* the kernel's count of its time on CPUs, and when that was so */
};

/* Live, with switches: those that the kernel runs at this moment; how many, or a negative errno.
 * Borrowed until the next call. Nothing else: -ENODATA. */
int scap_running(struct scap *s, const struct scap_running **out);

/* Share of the files read so far, 0..1; live: 0. */
double scap_progress(const struct scap *s);

/* The account of one CPU: seen == delivered + the sum of dropped_by. */
struct scap_cpu_stats {
	uint64_t cpu;
	uint64_t n_seen, n_records;
	uint64_t dropped_by[8];
};

struct scap_stats {
	uint64_t n_events; /* delivered, enters made of exits included */
	uint64_t n_records; /* taken from rings or files */
	uint64_t n_seen; /* live: records the driver meant to send */
	uint64_t n_dropped; /* live: sum of dropped_by */
	uint64_t dropped_by[8]; /* by enum drv_drop */
	uint64_t n_clamped; /* events whose time was moved up to keep the order */
	uint64_t n_no_enter; /* exits whose enter is not known */
	uint64_t n_storage_fail;
	uint64_t n_bad_record;
	uint64_t n_self; /* calls of saker itself, left out */
	uint64_t bpf_run_ns; /* live, where the kernel counts it; else 0 */
	uint64_t bpf_run_cnt;
	const char *ring_kind; /* live: "array", "ringbuf", "perf"; else NULL */
	uint64_t n_unsampled; /* live: calls and events excluded by --sampling */
	uint64_t n_filtered; /* live: calls and events left out because nobody asked for them */
	uint64_t n_unmarked; /* live: processes that a selection by descent had no room for */
	uint64_t n_exit_runs; /* live: calls that ended, where the kernel counts; else 0 */
	uint64_t n_exits; /* live: those that the driver accounts for: without a selection the same,
			     once stopped */
	/* Of CPUs that saw anything, with all that dropped_by counts but DRV_DROP_MISSED, which the
	 * kernel counts for all CPUs together. Borrowed from the source until the next scap_stats
	 * or scap_next; NULL: not known. */
	const struct scap_cpu_stats *cpus;
	uint64_t n_cpus;
};

/* What became of each run of the programs that sample: runs == samples + dropped + filtered. */
struct scap_sampler_counts {
	uint64_t n_runs, n_samples, n_dropped, n_filtered;
	uint64_t filtered_by[8]; /* by enum sample_filter */
};

/* Unwind tables of the programs that run. */
struct scap_unwind_stats {
	uint64_t n_processes, n_mappings;
	uint64_t n_refused; /* mappings for which there was no room */
	uint64_t n_tables, n_rows; /* of files; one table for all who have it */
	uint64_t n_evicted; /* tables that made room for others */
	uint64_t n_no_room; /* that found none */
	uint64_t n_unreadable; /* files that could not be reached, or are damaged */
	uint64_t n_too_much; /* files whose tables would have taken more work than a file gets */
	uint64_t n_processes_too_much; /* processes whose files together would have */
	uint64_t build_ns; /* time for making them */
	uint64_t used_sz, sz; /* bytes: used, and of the memory that the driver has for them */
	uint64_t ends[32]; /* of stacks that waited for unwind tables, by enum stack_end */
};

struct scap_sampler_stats {
	uint64_t n_runs, n_samples, n_dropped, n_filtered; /* of all reasons */
	uint64_t n_due; /* ticks of the clocks, by the time for which they were on; of a CPU that is
			   idle the kernel may let it sleep, and due is what came */
	uint64_t n_missed; /* of them: that made no program run */
	uint64_t n_kernel_runs; /* of the clock, as the kernel counts them, where it does; else 0 */
	struct scap_sampler_counts by_reason[8]; /* by enum sample_reason */
	uint64_t ends[32]; /* of user stacks, by enum stack_end, as they were at once */
	uint64_t n_cold; /* of them: kept until their tables were there, and walked then */
	uint64_t n_not_cold; /* tables were missing, but they were not kept, for want of room */
	uint64_t n_cold_spent; /* the same: as many had been of that state of the process */
	uint64_t n_later; /* user stacks to be finished later */
	uint64_t n_finished, n_finish_dropped, n_not_later;
	uint64_t n_unsaved; /* threads that left the CPU without room for their stack */
	uint64_t n_rules; /* of frames, by unwind tables */
	uint64_t n_searched; /* of them: in the tables, as no stack of late had the frame */
	uint64_t n_lone; /* stacks that came later and for no sample */
	uint64_t n_never; /* samples whose stack was to come and did not */
	uint64_t period_ns, interval_ns; /* settings */
	uint32_t depth, threshold; /* threshold 0: all of the time */
	struct scap_unwind_stats unwind;
};

/* Live, with a sampler; else -ENODATA. */
int scap_sampler_stats(const struct scap *s, struct scap_sampler_stats *st);

/*
 * A file with code of a live capture that samples, by the device and the inode that its mapping
 * had, although those who had it mapped have ended, and nobody else sees it: a descriptor that the
 * caller owns; -ENOENT.
 */
int scap_open_code(const struct scap *s, uint32_t dev, uint64_t ino);

/* A sentence; NULL past the last. */
const char *scap_sample_filter_reason(unsigned int reason);

/* For files written by saker: the counters of their last block. 0, or -ENODATA if the source has
 * none. */
int scap_stats(const struct scap *s, struct scap_stats *st);

/* Adds the counters of @st, but those of single CPUs, to @sum's. */
void scap_stats_add(struct scap_stats *sum, const struct scap_stats *st);

const char *scap_drop_reason(unsigned int reason); /* a sentence; NULL past the last */

/* What the kernel offers, one row per capability. */
struct scap_capability {
	const char *name;
	const char *sentence; /* what it is used for */
	int have; /* 1 yes, 0 no */
	int used; /* 1 a live capture uses it */
	const char *why; /* why it is missing, what is used instead; NULL: nothing to say */
};
/* Number of rows; *rows is static storage, probed anew at each call. */
int scap_capabilities(const struct scap_capability **rows);

#endif /* SCAP_SCAP_H */
