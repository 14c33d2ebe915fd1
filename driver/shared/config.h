/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What driver and libscap share beside the records: settings (written by libscap
 * before load, constant after), the layout of the rings, and the counters.
 */
#ifndef DRIVER_SHARED_CONFIG_H
#define DRIVER_SHARED_CONFIG_H

#include "shared/record.h"

#define DRV_MAX_CPUS 1024
#define DRV_MAX_EVENTS 2048 /* rows of events, see EVT_INDEX */
#define DRV_MAX_NR 512 /* system call numbers, a power of two */

/* Programs that continue where a filler ends. They have a map of their own: an index into that of
 * the fillers is a number that any caller can give. */
enum drv_follower {
	DRV_FOLLOWER_PASSED, /* of recvmsg and recvmmsg: the files that were passed */
	DRV_FOLLOWER_MAX
};
#define DRV_REC_MAX 65504u /* no record is longer: what a perf ring can take */
#define RING_SLACK (132u * 1024) /* a record that starts last and one more */
#define RING_SZ_MIN (256u << 10)
#define RING_SZ_MAX (1u << 28)
#define SCRATCH_SZ (64u * 1024) /* where records made in the scratch may begin */
#define DRV_SNAPLEN_MAX 65000u /* with the most that any record has beside: DRV_REC_MAX */
#define DRV_MAX_SNAP_PORTS 16
#define DRV_SAMPLING_MAX 128u

enum ring_kind { RING_PERF, RING_RINGBUF, RING_ARRAY, RING_KIND_MAX };

/* A bit for each system call, by its number: of x86_64, and of 32-bit programs. */
struct drv_calls {
	u64 bits[2][DRV_MAX_NR / 64];
};

/* A task is meant if each of these that is set says so. */
enum drv_tasks {
	DRV_TASKS_MARKED = 1 << 0, /* its process has the mark DRV_MARK_MEANT */
	DRV_TASKS_COMM = 1 << 1, /* its name, or its process's, is listed */
	DRV_TASKS_UID = 1 << 2, /* its effective user is listed */
	DRV_TASKS_CGROUP = 1 << 3, /* it is in a listed cgroup, or in one below */
	DRV_TASKS_INHERIT = 1 << 4, /* children get their parent's mark DRV_MARK_MEANT */
	DRV_TASKS_THREADS = 1 << 6, /* its own number has the mark DRV_MARK_THREAD */
	DRV_TASKS_SUPPRESS = 1 << 5, /* nor is it of a process with the marks of suppression */
};
#define DRV_TASKS_MARKS                                                                            \
	(DRV_TASKS_MARKED | DRV_TASKS_SUPPRESS | DRV_TASKS_THREADS) /* need marks                  \
								     */

/* Bytes kept of what goes through sockets one of whose ports is in the range. */
struct drv_snap_port {
	u16 from, to;
	u32 snaplen;
};

/* By process, in a map. */
enum drv_mark {
	DRV_MARK_MEANT = 1 << 0,
	DRV_MARK_SUPPRESSED = 1 << 1, /* it descends from one of a suppressed name: for good */
	DRV_MARK_NAMED = 1 << 2, /* it has such a name: until it executes something else */
	DRV_MARK_TOLD = 1 << 3, /* it was recorded before, so is its end */
	DRV_MARK_THREAD = 1 << 5, /* the thread of this number is meant */
	DRV_MARK_LASTS = 1 << 4, /* of the number, not of the process that has it now */
	DRV_MARK_DYING = 1 << 6, /* of a process that ended, until its last switch */
};

#define DRV_MARKS_SUPPRESS (DRV_MARK_SUPPRESSED | DRV_MARK_NAMED)

#define DRV_MAX_MARKS 65536 /* processes with a mark at a time */
#define DRV_MAX_LISTED 1024 /* names, users */
#define DRV_MAX_CGROUPS 16

/* Which task switches are recorded. */
enum drv_switches {
	DRV_SWITCHES_NONE,
	DRV_SWITCHES_MEANT, /* from tasks that are meant */
	DRV_SWITCHES_ALL, /* and from others, for the state: when a task that is meant began to run
			   */
};

/* const volatile in BPF: the verifier drops what a setting switches off. */
struct drv_config {
	u32 self_tgid; /* saker's own process, never recorded; 0: none */
	u32 ring_kind; /* enum ring_kind */
	u32 ring_sz; /* bytes of data per ring, a power of two */
	u32 snaplen; /* bytes kept of each I/O buffer */
	u32 snaplen_max; /* the most of snaplen and those of ports */
	u32 n_snap_ports;
	struct drv_snap_port snap_ports[DRV_MAX_SNAP_PORTS];
	u32 cpus_per_ring; /* more than 1: ringbuf only */
	u32 wake_sz; /* doorbell once this many bytes wait unread and the reader naps */
	u32 want_unknown; /* record calls with numbers that no table has */
	u32 switches; /* enum drv_switches */
	u32 calls; /* system calls are hooked; else the scheduler tells of forks and execs */
	u32 io_cqe_at; /* io_uring's completions come by pointer (since 6.16), not as values */
	u32 task_storage; /* calls of sleeping tasks are kept in task storage, else in a hash */
	s64 epoch_offset; /* added to the boot clock gives the time since the epoch, at load */
	struct drv_calls want; /* what is recorded at all: show and state */
	u64 want_any[DRV_MAX_NR / 64]; /* the same of either kind */
	struct drv_calls show; /* what was asked for, of tasks that are meant */
	struct drv_calls state; /* what the state of tasks that are meant needs */
	struct drv_calls other; /* what of other tasks is recorded for the state; part of state */
	u64 other_any[DRV_MAX_NR / 64]; /* the same of either kind */
	u64 show_events[DRV_MAX_EVENTS / 64]; /* by EVT_INDEX: what was asked for beside calls */
	u32 state_only; /* some of what is recorded was not asked for */
	u32 failed_only; /* only calls that failed are meant */
	u32 uids_apart; /* tasks of other user namespaces are meant, whatever their users */
	u32 tasks; /* DRV_TASKS_*: how tasks are chosen; 0: all are meant */
	u32 n_cgroups;
	struct drv_calls keeps; /* calls that sampling never leaves out */
	u32 shed; /* a ring that fills up is kept for what changes state */
	u32 sampling; /* of each second only this part is recorded: 1/sampling; 0: all of it */
};

/* Why a record was not delivered. One row per reason: symbol, sentence. The numbers are in
 * files: rows are only appended. */
#define DRV_DROP_REASONS(X)                                                                        \
	X(RING_FULL, "the ring was full")                                                          \
	X(TOO_BIG, "the record exceeded the maximum size")                                         \
	X(NO_RING, "the CPU had no ring")                                                          \
	X(NESTED, "the nesting limit of the CPU was exceeded")                                     \
	X(REFUSED, "the output helper failed")                                                     \
	X(MISSED, "the program was already active on that CPU")                                    \
	X(SHED, "the ring was nearly full")

enum drv_drop {
#define X(sym, text) DRV_DROP_##sym,
	DRV_DROP_REASONS(X)
#undef X
		DRV_DROP_MAX
};

#define DRV_DROP_ROOM 8 /* DRV_DROP_MAX at most; a power of two */

/*
 * How full a ring may be for a record to get in, in eighths: what waits and moves data most often
 * first makes way, then all else that changes nothing of what is known of threads and files.
 */
#define DRV_SHED_FIRST 6
#define DRV_SHED_NEXT 7

/* What a lost record would have told. What comes before LOST_OTHER changes what is known of
 * threads or their files; each has a parameter of LOST_E, in this order. */
enum drv_lost {
	LOST_CLONE,
	LOST_EXEC,
	LOST_EXIT,
	LOST_OPEN, /* anything that makes a descriptor */
	LOST_CLOSE,
	LOST_STATE, /* anything else that changes what is known */
	LOST_OTHER,
	LOST_ROOM = 8,
};

/* When records were lost for one reason. first_ns is that of the first since ring_hdr.told_ns. */
struct drv_lost_span {
	u64 first_ns;
	u64 last_ns;
};

/* Per CPU, written by that CPU only. seen == records + sum(lost). */
struct drv_counters {
	u64 seen; /* records the driver meant to send */
	u64 records; /* records sent */
	u64 n_enters; /* of those seen: raw enters */
	u64 n_others; /* of those seen: what is no call */
	u64 lost[DRV_DROP_ROOM][LOST_ROOM]; /* by enum drv_drop and enum drv_lost */
	struct drv_lost_span lost_at[DRV_DROP_ROOM];
	u64 n_saved; /* exits whose task was switched out since the enter */
	u64 n_no_enter; /* exits without: latency unknown */
	u64 n_storage_fail; /* an enter could not be saved at a task switch */
	u64 n_bad_record; /* a filler put another number of parameters than its event has */
	u64 n_self; /* calls of saker itself, left out */
	u64 n_filtered; /* left out because nobody asked for them; see also struct drv_slot */
	u64 n_unmarked; /* processes whose mark found no room */
} __attribute__((aligned(128)));

/* Records lost for one reason. */
static inline u64 drv_dropped(const struct drv_counters *c, unsigned int why)
{
	u64 n = 0;

	for (unsigned int i = 0; i <= LOST_OTHER; i++)
		n += c->lost[why][i];
	return n;
}

enum ring_sleep {
	RING_AWAKE,
	RING_NAPS, /* will look soon: the doorbell only when wake_sz bytes wait */
	RING_SLEEPS, /* the doorbell at the next record */
};

/*
 * The page that each CPU's ring begins with, whatever its kind. Writers of one CPU nest
 * (a page fault or a sample inside a filler) and are never concurrent. Positions are
 * bytes since the start and only grow. The `array` kind has its records right after this
 * page: a position masked with ring_sz - 1 gives the place, and RING_SLACK after the last
 * place keeps every record in one piece. For the other kinds that room is the scratch
 * in which the record is made, and positions only say how much waits to be read.
 */
#define DRV_LEVELS 4 /* of nested writers: a call, a fault in it, an interrupt, an NMI */

struct ring_hdr {
	/* Written by the driver. */
	u64 head; /* array: all below is complete; load-acquire in libscap */
	u64 resv; /* all below is given out to writers; other kinds: is sent */
	u64 nest; /* writers at work */
	u64 n_lost; /* records lost, whatever the reason: when it moves, look at the counters */
	u64 scratch; /* other kinds than array: bytes in use by writers at work */
	u64 pad0[11];
	/* Written by libscap. */
	u64 tail; /* all below is read: store-release */
	u64 asleep; /* enum ring_sleep; the driver, when it rings, makes it RING_AWAKE */
	u64 told_ns[DRV_DROP_ROOM]; /* by reason: what was lost until then is noted */
	u64 pad1[6];
	struct drv_counters
		counters[DRV_LEVELS]; /* by depth of nesting, so that no lock is needed */
	u64 pad2[96];
};

#ifndef __bpf__
_Static_assert(sizeof(struct ring_hdr) == 4096, "a ring's header is one page");
#endif

enum call_state {
	CALL_NONE,
	CALL_OPEN, /* entered, its enter not sent */
	CALL_SENT, /* entered, its enter sent as a raw enter */
	CALL_NO_ENTER, /* at its exit, the enter is not known */
	CALL_BORN, /* the same on the child's side of clone: args[0] are the flags, for all kinds */
};

/* A system call between its enter and its exit. */
struct drv_call {
	u64 ts; /* boot clock at enter */
	u16 nr; /* whose row in syscalls.def decodes it; REC_NR_NONE: none */
	u16 raw_nr; /* as the caller gave it: not the same for a 32-bit call */
	u16 state; /* enum call_state */
	u16 flags; /* REC_F_IA32, REC_F_CHANGED, enum call_flags */
	u64 args[6]; /* as the row expects them */
	u64 kept[4]; /* numbers that the call may overwrite: kept.bpf.h */
};

/* Beside those of a record. */
enum call_flags {
	CALL_F_KEPT = 1 << 8, /* kept[0] is known; the next bit: kept[1] is, and so on */
	CALL_F_SAME = 1 << 12, /* it writes where it reads */
	CALL_F_COMPAT = 1 << 13, /* the caller's structures are 32-bit ones */
	CALL_F_TIME64 = 1 << 14, /* but for times */
	CALL_F_GUARDED = 1 << 15, /* its paths were copied: guard.bpf.h */
	CALL_F_OWN =
		CALL_F_KEPT * 0xf | CALL_F_SAME | CALL_F_COMPAT | CALL_F_TIME64 | CALL_F_GUARDED,
};

/*
 * The call that is open on a CPU. While task is set, call.ts bounds from below the key of
 * any record this CPU has still to send for it; libscap reads it for the watermark of the
 * merge. On enter task is written before ts (an old ts only makes libscap wait), and on
 * exit it is cleared after the record is published.
 */
struct drv_slot {
	u64 task; /* address of the task; 0: none */
	struct drv_call call;
	u64 scratch; /* of the filler of the exit */
	u64 sel_task; /* the task that sel is about; 0: none */
	u32 sel; /* enum task_sel */
	u32 sel_saved; /* it has a call in storage */
	u64 sel_renamed; /* n_renamed when sel was found out */
	u64 n_filtered; /* calls left out because nobody asked for them */
	u32 snaplen; /* for the data of the call that ends, where ports matter */
	u32 overtaken; /* another record was made while the call was being noted */
	u64 n_left_out; /* exits on this CPU that made no record: saker's own, or not wanted */
	u64 tid; /* of the task */
	u64 before; /* resv plus one while the exit's record has no place yet; 0: not at an exit */
	u64 n_unsampled; /* calls and events excluded by --sampling */
	u64 n_no_ring; /* records lost before the CPU, which came online, had a ring */
	u64 passed_for; /* the task whose call fill_passed follows; 0: another has run since */
} __attribute__((aligned(128)));

#endif /* DRIVER_SHARED_CONFIG_H */
