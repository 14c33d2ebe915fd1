/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source of events: the running kernel, capture files, or a list made by a test. Events come in
 * order of time, numbered as in a file: each system call is an enter event and an exit event,
 * whether the driver sent one record or two.
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
struct scap_redact; /* redact/redact.h */

/* A set of system calls by number (x86_64 and 32-bit), and of other events by type. */
struct scap_calls {
	uint64_t bits[2][8];
	uint64_t events[32]; /* by EVT_INDEX */
	uint32_t unknown; /* also calls that have no name here */
};

/* Adds the call or event named @name to the set, or removes it with @remove. Returns -ENOENT if
 * there is no such name. */
int scap_calls_set(struct scap_calls *calls, const char *name, int remove);
void scap_calls_set_all(struct scap_calls *calls);
/* Adds a type to a set of types: bits by EVT_INDEX. */
void scap_types_add(uint64_t *types, unsigned int type);
/* Sets the calls to those that produce events of @types (such a set), as enter or exit. */
void scap_calls_set_types(struct scap_calls *calls, const uint64_t *types);
/* Calls @fn for each name that scap_calls_set accepts, some more than once. */
void scap_calls_each_name(void (*fn)(void *ctx, const char *name), void *ctx);

/*
 * Selects what a live capture records, in the kernel. A task is selected if it matches every list
 * that is given. The capture also has the calls that change the state of threads and files; these
 * events carry SCAP_EVT_F_STATE_ONLY. Lists are borrowed until scap_open returns.
 */
struct scap_select {
	const struct scap_calls *calls; /* NULL: all */
	const int32_t *pids; /* PIDs: all threads of these processes */
	size_t n_pids;
	uint32_t pids_to_come; /* a PID need not exist yet, and may be reused after its process
				  ended */
	const int32_t *tids; /* TIDs; they need not exist yet */
	size_t n_tids;
	uint32_t descendants; /* and all descendants of these processes */
	const char *const *comms; /* comm of the thread or of its process */
	size_t n_comms;
	const uint32_t *uids; /* effective UIDs */
	size_t n_uids;
	uint32_t uids_apart; /* also tasks of other user namespaces, whatever their UIDs */
	const char *const *cgroups; /* paths in the cgroup2 hierarchy; descendants are included */
	size_t n_cgroups;
	uint32_t failed_only; /* only calls with a result below 0 */
	uint32_t no_calls; /* records no calls, whatever @calls says, so that calls cost nothing.
			      Threads are then known by forks, execs, names and ends alone: users,
			      directories and files are as they were at the last of these, or at the
			      start */
	uint32_t files; /* keep track of open files, also where no call shows them */
	uint32_t peers; /* and of the peers of all sockets that calls show */
	const char *const *suppress; /* Excludes processes with these names, and their descendants.
					A process that execs is checked again by its new name; a
					descendant stays excluded. */
	size_t n_suppress;
};

/* Bytes kept of the data on sockets whose local or remote port is in the range. Unix sockets have
 * port 0. */
struct scap_snap_port {
	uint16_t from, to;
	uint32_t snaplen;
};

/* Stack samples, recorded as events of the capture. Takes samples of the tasks that scap_select
 * selects, whatever calls it selects. Lists are borrowed until scap_open returns. */
struct scap_sampler_opts {
	size_t sz; /* sizeof(struct scap_sampler_opts); new fields go last */
	uint64_t period_ns; /* sampling period of each CPU's clock, at least 250,000; 0: no samples
			       by the clock */
	uint32_t depth; /* maximum number of user frames, up to STACK_USER_MAX; 0: 128 */
	uint32_t no_kernel, no_user; /* leave out these stacks */
	uint32_t off_cpu; /* sample threads that leave the CPU, once they are back */
	uint64_t off_min_ns; /* only if they were off the CPU for at least this long */
	uint32_t page_faults; /* sample at page faults */
	uint32_t threshold; /* percentage of the intervals in which samples are taken; 0: all */
	uint64_t interval_ns; /* 0: one minute */
	const char *const *tracepoints; /* kernel tracepoints to sample at, such as sched_wakeup */
	size_t n_tracepoints;
	const char *session; /* name of the session: one sampler at a time per name; NULL: the
				default name */
	uint32_t parts; /* deliver samples and their deferred stacks separately */
	uint32_t maps; /* also deliver events of code mappings, so that frames can be named */
	uint32_t frame_pointers; /* unwind by frame pointers alone, without unwind tables */
	size_t tables_sz; /* maximum size of unwind tables in bytes; 0: 64 MiB */
	uint32_t calls; /* sample at the end of each call that is recorded and shown */
};

struct scap_open_opts {
	size_t sz; /* sizeof(struct scap_open_opts); new fields go last */
	const char *const *paths; /* capture files, NULL-terminated, read one after the other; "-":
				     standard input; NULL: the live kernel */
	scap_log_fn log; /* NULL: silent */
	void *log_ctx;
	int ring_kind; /* live: enum ring_kind + 1; 0: default */
	size_t ring_sz; /* live: bytes per ring, a power of two; 0: 8 MiB */
	uint32_t snaplen; /* live: bytes kept of each I/O buffer; 0: 80 */
	uint32_t no_environ; /* live: leave environments out of the initial state */
	uint32_t page_faults; /* live: record page faults */
	uint32_t switches; /* live: record task switches; 2: also those from tasks that are not
			      selected, with SCAP_EVT_F_STATE_ONLY */
	const struct scap_select *select; /* live: NULL: everything */
	const struct scap_snap_port
		*snap_ports; /* live: overrides snaplen for these ports; the largest value counts */
	size_t n_snap_ports;
	uint32_t sampling; /* live: record only 1/sampling of each second, except calls that change
			      state; a power of two up to 128; 0: everything */
	uint32_t cpus_per_ring; /* live: number of CPUs that share a ring, UINT32_MAX: all; 0: 1.
				   More than 1 needs rings of the kind ringbuf, and makes them the
				   default */
	uint32_t no_users; /* live: leave users and groups out of the initial state */
	const struct scap_sampler_opts *sampler; /* live: NULL: no stack samples */
	uint32_t wakeups; /* live: record wake-ups of selected tasks; 2: with
			     SCAP_EVT_F_STATE_ONLY, unless selected by name */
	uint32_t tcp; /* live: record events of TCP */
	uint32_t tls; /* live: record the plaintext of TLS connections */
	uint32_t nap_ms; /* live: an event may wait for so long, then many are read at once; 0: 5 */
	struct scap_redact *redact; /* values that are overwritten; NULL: none. Borrowed until
				       scap_close */
	uint32_t one_thread; /* file: do not read and unpack it ahead on a second thread. With it
				only the process that opened the source may use it, not a child */
	uint64_t from_ns; /* file: only events from this time on matter. If there is one path and
			     the file has an index, reading begins at the last checkpoint before. 0:
			     the beginning */
};

/* Opens a source. Returns 0, or a negative errno with *out untouched. opts may be NULL: live,
 * defaults. */
int scap_open(struct scap **out, const struct scap_open_opts *opts);

/* Ends the capture and frees everything that @s lent out. NULL is allowed. */
void scap_close(struct scap *s);

#define SCAP_NEW_SECTION 2

/*
 * Returns 1 with an event in *evt; 0 if timeout_ms passed without one; SCAP_NEW_SECTION when the
 * next file, or the next part of a concatenated file, begins and scap_state() is new; -ENODATA at
 * the end of the last file or of a stopped capture; another negative errno on failure, after all
 * events before it were delivered.
 */
int scap_next(struct scap *s, struct scap_evt *evt, int timeout_ms);

/* Works as scap_next, and also splits the event as scap_evt_params does. For files this is nearly
 * free, since the reader checks the lengths anyway. */
int scap_next_split(struct scap *s, struct scap_evt *evt, struct scap_params *params,
		    int timeout_ms);

/*
 * Injects a copy of an event before the next event of the source, with the time of that one; at the
 * end of the source, with the time of the last event. A source without any event ends without it.
 * Returns 0 or -ENOMEM.
 */
int scap_inject(struct scap *s, const struct ppm_evt_hdr *hdr);

/* Live: detaches the driver; scap_next delivers what is left in the rings, then -ENODATA.
 * Async-signal-unsafe. */
int scap_stop(struct scap *s);

/* Live: returns whether processes were selected by PID and all of them have ended (with
 * descendants: these, too). From then on only the state of other processes is recorded. */
int scap_is_over(const struct scap *s);

/*
 * Live: returns the time, since the epoch, from which events count. Older ones came while the
 * capture was set up: calls that were still under way then come with SCAP_EVT_F_BEFORE. 0: all
 * events count.
 */
uint64_t scap_begin_ns(const struct scap *s);

/* Live: returns the time that an event of now has. It does not go back when the realtime clock is
 * set back, which intervals between events need. 0: a file. */
uint64_t scap_now_ns(const struct scap *s);

/* What reading from a checkpoint skipped. */
struct scap_skipped {
	uint64_t n_events; /* that take a number */
	uint64_t first_ns; /* time of the first event of the capture; 0: unknown */
};
/* File, opened with from_ns: returns whether its events are known to be in the order of time. */
int scap_in_order(const struct scap *s);
/* File: returns what from_ns skipped; NULL: nothing. Borrowed until the next file. */
const struct scap_skipped *scap_skipped(const struct scap *s);
/* File: returns whether bytes that were read have another checksum than when they were written, or
 * the first block of a section is lost, which was logged. Reading goes on behind them. */
int scap_is_damaged(const struct scap *s);

/* Returns threads, files and users as they were when the source began. Borrowed until the next
 * section or scap_state_drop. */
const struct scap_state *scap_state(const struct scap *s);
/* Overwrites what the options of the source say in a state that was read beside it. */
void scap_redact_beside(const struct scap *s, const struct scap_state *st);
/* Frees the state after its import; scap_state is empty until the next section. */
void scap_state_drop(struct scap *s);

/* A thread that runs on a CPU. */
struct scap_running {
	uint64_t tid;
	uint32_t cpu;
	uint64_t ran_ns, at_ns; /* its CPU time as the kernel counts it, and when it was read */
};

/*
 * Live, with switches: reports the threads that run at this moment. Returns their number, or a
 * negative errno; -ENODATA if this is no live capture with switches. Borrowed until the next call.
 */
int scap_running(struct scap *s, const struct scap_running **out);

/* Returns the part of the files that was read so far, 0..1; live: 0. */
double scap_progress(const struct scap *s);

/* Counters of one CPU: seen == delivered + the sum of dropped_by. */
struct scap_cpu_stats {
	uint64_t cpu;
	uint64_t n_seen, n_records;
	uint64_t dropped_by[8];
};

struct scap_stats {
	uint64_t n_events; /* delivered, including enters that were made from exits */
	uint64_t n_records; /* records taken from rings or files */
	uint64_t n_seen; /* live: records that the driver tried to send */
	uint64_t n_dropped; /* live: sum of dropped_by */
	uint64_t dropped_by[8]; /* by enum drv_drop */
	uint64_t n_clamped; /* events whose time was moved forward to keep the order */
	uint64_t n_no_enter; /* exits without a known enter */
	uint64_t n_storage_fail;
	uint64_t n_bad_record;
	uint64_t n_self; /* calls of saker itself, not recorded */
	uint64_t bpf_run_ns; /* live, if the kernel counts it; else 0 */
	uint64_t bpf_run_cnt;
	const char *ring_kind; /* live: "array", "ringbuf", "perf"; else NULL */
	uint64_t n_unsampled; /* live: calls and events excluded by --sampling */
	uint64_t n_filtered; /* live: calls and events filtered in the kernel */
	uint64_t n_suppressed; /* live: of these, calls of suppressed processes */
	uint64_t
		n_unmarked; /* live: processes for which the selection of descendants had no room */
	uint64_t n_exit_runs; /* live: calls that ended, if the kernel counts them; else 0 */
	uint64_t n_exits; /* live: calls that the driver accounts for: without a selection the same
			     number, once stopped */
	/*
	 * Counters of the CPUs that saw any event. Includes all reasons of dropped_by except
	 * DRV_DROP_MISSED, which the kernel counts for all CPUs together. Borrowed from the source
	 * until the next scap_stats or scap_next; NULL: not known.
	 */
	const struct scap_cpu_stats *cpus;
	uint64_t n_cpus;
};

/* Runs of the programs that take samples: runs == samples + dropped + filtered. */
struct scap_sampler_counts {
	uint64_t n_runs, n_samples, n_dropped, n_filtered;
	uint64_t filtered_by[8]; /* by enum sample_filter */
};

/* Unwind tables of the running programs. */
struct scap_unwind_stats {
	uint64_t n_processes, n_mappings;
	uint64_t n_refused; /* mappings that did not fit */
	uint64_t n_tables, n_rows; /* unwind tables of files; processes share the table of a file */
	uint64_t n_evicted; /* tables that were evicted for others */
	uint64_t n_no_room; /* tables that did not fit */
	uint64_t n_unreadable; /* files that cannot be read or are damaged */
	uint64_t n_too_much; /* files whose tables would have exceeded the work limit of a file */
	uint64_t n_processes_too_much; /* processes whose files together would have exceeded the
					  work limit of a process */
	uint64_t n_unsupported; /* interpreters of a version without a walker: native frames only */
	char unsupported[48]; /* language and version of the last one */
	uint64_t build_ns; /* time spent building them */
	uint64_t used_sz, sz; /* bytes used, and size of the memory shared with the driver */
	uint64_t ends[32]; /* stacks that waited for unwind tables, by enum stack_end */
};

struct scap_sampler_stats {
	uint64_t n_runs, n_samples, n_dropped, n_filtered; /* sums over all reasons */
	uint64_t n_due; /* ticks of the sampling clocks that were due while these were on. The
			   kernel may stop the clock of an idle CPU: there the ticks that came count
			   as due */
	uint64_t n_missed; /* of these: ticks that ran no program */
	uint64_t n_kernel_runs; /* ticks counted by the kernel, if it counts them; else 0 */
	struct scap_sampler_counts by_reason[8]; /* by enum sample_reason */
	uint64_t ends[32]; /* user stacks by enum stack_end, as the driver's walk ended */
	uint64_t n_copied; /* of these: kept until their tables were built, then walked */
	uint64_t
		n_not_copied; /* tables were missing, but the stack was not kept for lack of room */
	uint64_t n_copies_refused; /* tables were missing, but the limit of kept stacks per state of
				  the process was reached */
	uint64_t n_later; /* user stacks deferred to the return to user mode */
	uint64_t n_finished, n_finish_dropped, n_not_later;
	uint64_t n_unsaved; /* threads that left the CPU when there was no room for their stack */
	uint64_t n_rules; /* frames unwound by tables */
	uint64_t n_searched; /* of these: searched in the tables, since the cache had no rule */
	uint64_t n_lone; /* deferred stacks without a sample */
	uint64_t n_never; /* samples whose deferred stack never came */
	uint64_t period_ns, interval_ns; /* settings */
	uint32_t depth, threshold; /* threshold 0: always */
	struct scap_unwind_stats unwind;
};

/* Live, with a sampler; else returns -ENODATA. */
int scap_sampler_stats(const struct scap *s, struct scap_sampler_stats *st);

/*
 * Opens a file with code that a live capture with samples has seen, by the device and inode of its
 * mapping, even if all processes that mapped it have ended. Returns a descriptor owned by the
 * caller, or -ENOENT.
 */
int scap_open_code(const struct scap *s, uint32_t dev, uint64_t ino);

/* Returns the text of a reason; NULL after the last. */
const char *scap_sample_filter_reason(unsigned int reason);

/*
 * Returns the counters in the trailer of a file written by saker: 0, or -ENODATA if there is none.
 */
int scap_stats(const struct scap *s, struct scap_stats *st);

/* Adds the counters of @st to @sum, except those of single CPUs. */
void scap_stats_add(struct scap_stats *sum, const struct scap_stats *st);

const char *
scap_drop_reason(unsigned int reason); /* Returns the text of a reason; NULL after the last. */
/* Returns the reason that most records were lost for. */
unsigned int scap_main_drop_reason(const struct scap_stats *st);

/* A feature of the kernel that saker uses if it is there. */
struct scap_capability {
	const char *name;
	const char *sentence; /* what it is used for */
	int have; /* 1 yes, 0 no */
	int used; /* 1: a live capture, or a replay, uses it */
	const char *why; /* why it is missing, and what is used instead; NULL: nothing to add */
};
/* Returns language and versions of an interpreter whose functions stacks have, in storage that the
 * next call reuses; NULL after the last. */
const char *scap_interpreter(unsigned int i);
/* Probes all features, at the first call: that takes a second or more. Returns the number of rows;
 * *rows is static storage. */
int scap_capabilities(const struct scap_capability **rows);

#endif /* SCAP_SCAP_H */
