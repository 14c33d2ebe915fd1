/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Shared by the driver and libscap, besides records: settings (written by libscap before load,
 * constant afterwards), the layout of the rings, and counters. */
#ifndef DRIVER_SHARED_CONFIG_H
#define DRIVER_SHARED_CONFIG_H

#include "shared/record.h"

#define DRV_MAX_CPUS 1024
#define DRV_MAX_EVENTS 2048 /* rows of events, see EVT_INDEX */
#define DRV_MAX_NR 512 /* system call numbers, a power of two */

/* Programs that continue where a filler ends. They have a tail call map of their own, since an
 * index into the map of fillers is a number that any caller can pass. */
enum drv_follower {
	DRV_FOLLOWER_PASSED, /* of recvmsg and recvmmsg: the passed descriptors */
	DRV_FOLLOWER_MAX
};
#define DRV_REC_MAX 65504u /* maximum size of a record: the limit of a perf ring */
#define RING_SLACK (132u * 1024) /* room for a record that starts at the end, and one more */
#define RING_SZ_MIN (256u << 10)
#define RING_SZ_MAX (1u << 28)
#define SCRATCH_SZ (64u * 1024) /* maximum offset of a record in the scratch */
#define DRV_SNAPLEN_MAX 65000u /* plus the largest record without it: DRV_REC_MAX */
#define DRV_MAX_SNAP_PORTS 16
#define DRV_SAMPLING_MAX 128u

enum ring_kind { RING_PERF, RING_RINGBUF, RING_ARRAY, RING_KIND_MAX };

/* A bit for each system call by number: x86_64 and 32-bit. */
struct drv_calls {
	u64 bits[2][DRV_MAX_NR / 64];
};

/* A task is selected if it matches every enabled criterion. */
enum drv_tasks {
	DRV_TASKS_MARKED = 1 << 0, /* its process has the mark DRV_MARK_SELECTED */
	DRV_TASKS_COMM = 1 << 1, /* its comm, or that of its process, is listed */
	DRV_TASKS_UID = 1 << 2, /* its effective UID is listed */
	DRV_TASKS_CGROUP = 1 << 3, /* it is in a listed cgroup or in a descendant of one */
	DRV_TASKS_INHERIT = 1 << 4, /* children inherit the mark DRV_MARK_SELECTED */
	DRV_TASKS_THREADS = 1 << 6, /* its TID has the mark DRV_MARK_THREAD */
	DRV_TASKS_SUPPRESS = 1 << 5, /* its process is not suppressed */
};
#define DRV_TASKS_MARKS                                                                            \
	(DRV_TASKS_MARKED | DRV_TASKS_SUPPRESS |                                                   \
	 DRV_TASKS_THREADS) /* criteria that need marks    \ */

/* Bytes kept of the data on sockets with a port in the range; unix sockets have port 0. */
struct drv_snap_port {
	u16 from, to;
	u32 snaplen;
};

/* Marks of a process, in a map. */
enum drv_mark {
	DRV_MARK_SELECTED = 1 << 0,
	DRV_MARK_SUPPRESSED = 1 << 1, /* it descends from a suppressed process: permanent */
	DRV_MARK_NAMED = 1 << 2, /* it has a suppressed name: until its next exec */
	DRV_MARK_REPORTED = 1 << 3, /* its start was recorded, so its end is, too */
	DRV_MARK_THREAD = 1 << 5, /* the thread with this TID is selected */
	DRV_MARK_LASTS = 1 << 4, /* belongs to the number, not to the process that has it now */
	DRV_MARK_DYING = 1 << 6, /* the process has ended: until its last switch */
};

#define DRV_MARKS_SUPPRESS (DRV_MARK_SUPPRESSED | DRV_MARK_NAMED)

#define DRV_MAX_MARKS 65536 /* maximum number of marked processes */
#define DRV_MAX_LISTED 1024 /* maximum number of names, and of UIDs */
#define DRV_MAX_CGROUPS 16

/* Which task switches are recorded. */
enum drv_switches {
	DRV_SWITCHES_NONE,
	DRV_SWITCHES_SELECTED, /* from selected tasks */
	DRV_SWITCHES_ALL, /* and from others, for the state: when a selected task began to run */
};

/* Arguments that tracepoints of TCP have on this kernel. */
enum drv_tcp_args {
	DRV_TCP_RESET_REASON = 1 << 0, /* tcp_send_reset: since 6.10 */
	DRV_TCP_DROP_SOCK = 1 << 1, /* kfree_skb, the receiving socket: since 6.11 */
};

/* Names of the kernel's reasons, as its BTF has them, for the programs of TCP. */
#define DRV_TCP_REASONS 256 /* of each kind */
#define DRV_TCP_REASON_SZ 32

enum drv_tcp_reasons { DRV_TCP_DROP, DRV_TCP_RESET, DRV_TCP_REASON_KINDS };

struct drv_tcp_reason {
	char name[DRV_TCP_REASON_SZ];
};

/* const volatile in BPF: the verifier removes the code of what is switched off. */
struct drv_config {
	u32 self_tgid; /* PID of saker itself, never recorded; 0: none */
	u32 ring_kind; /* enum ring_kind */
	u32 ring_sz; /* bytes of data per ring, a power of two */
	u32 snaplen; /* bytes kept of each I/O buffer */
	u32 snaplen_max; /* the larger of snaplen and those of ports */
	u32 n_snap_ports;
	struct drv_snap_port snap_ports[DRV_MAX_SNAP_PORTS];
	u32 cpus_per_ring; /* more than 1: ringbuf only */
	u32 wake_sz; /* ring the doorbell if the reader naps and this many bytes are unread */
	u32 want_unknown; /* record calls with unknown numbers */
	u32 switches; /* enum drv_switches */
	u32 wakeups; /* enum drv_switches: also record wake-ups, and for the state the calls that
			all selected tasks are in at the start */
	u32 calls; /* system calls are hooked; else forks and execs come from the scheduler's
		      tracepoints */
	u32 io_cqe_at; /* completions of io_uring come as a pointer (since 6.16), not as values */
	u32 tcp_args; /* enum drv_tcp_args */
	u32 task_storage; /* calls of sleeping tasks are kept in task storage; else in a hash map */
	s64 epoch_offset; /* added to the boot clock gives the time since the epoch, as of load */
	struct drv_calls want; /* all recorded calls: shown, or for the state */
	u64 want_any[DRV_MAX_NR / 64]; /* the same for both kinds */
	struct drv_calls show; /* calls that were requested, of selected tasks */
	struct drv_calls state; /* calls that the state of selected tasks needs */
	struct drv_calls
		other; /* calls of other tasks that are recorded for the state; a subset of state */
	u64 other_any[DRV_MAX_NR / 64]; /* the same for both kinds */
	u64 show_events[DRV_MAX_EVENTS /
			64]; /* by EVT_INDEX: events that were requested besides calls */
	u32 state_only; /* some recorded events were not requested */
	u32 failed_only; /* only failed calls are requested */
	u32 uids_apart; /* tasks of other user namespaces are selected, whatever their UIDs */
	u32 tasks; /* DRV_TASKS_*: the enabled criteria; 0: all tasks are selected */
	u32 n_cgroups;
	struct drv_calls keeps; /* calls that sampling never leaves out */
	u32 shed; /* reserve the last part of a ring for events that change state */
	u32 sampling; /* record only this part of each second: 1/sampling; 0: all of it */
};

/* Reasons why a record was not delivered: symbol, sentence. The numbers are in files: only append
 * rows. */
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

#define DRV_DROP_ROOM 8 /* at least DRV_DROP_MAX; a power of two */

/*
 * How full a ring may be for a record to be accepted, in eighths: waits and data transfers, the
 * most frequent calls, are refused first, then everything else that does not change the state of
 * threads and files.
 */
#define DRV_SHED_FIRST 6
#define DRV_SHED_NEXT 7

/* Kinds of lost records. The kinds before LOST_OTHER change the state of threads or files; each has
 * a parameter of LOST_E, in this order. */
enum drv_lost {
	LOST_CLONE,
	LOST_EXEC,
	LOST_EXIT,
	LOST_OPEN, /* anything that creates a descriptor */
	LOST_CLOSE,
	LOST_STATE, /* any other change of state */
	LOST_OTHER,
	LOST_ROOM = 8,
};

/* When records were lost for one reason. first_ns: the first since ring_hdr.reported_ns. */
struct drv_lost_span {
	u64 first_ns;
	u64 last_ns;
};

/* Counts of records, per CPU, written by that CPU only. seen == records + sum(lost). */
struct drv_counts {
	u64 seen; /* records that the driver tried to send */
	u64 records; /* records that were sent */
	u64 n_enters; /* of those seen: raw enters */
	u64 n_others; /* of these: records that are not calls */
};

/* Other counters, per CPU, written by that CPU only. */
struct drv_counters {
	u64 lost[DRV_DROP_ROOM][LOST_ROOM]; /* by enum drv_drop and enum drv_lost */
	struct drv_lost_span lost_at[DRV_DROP_ROOM];
	u64 n_saved; /* exits whose task was switched out after the enter */
	u64 n_no_enter; /* exits without an enter, but of clone in a child: latency unknown */
	u64 n_storage_fail; /* enters that could not be saved at a task switch */
	u64 n_self; /* calls of saker itself, not recorded */
	u64 n_filtered; /* filtered; see also struct drv_slot */
	u64 n_unmarked; /* processes whose mark did not fit */
} __attribute__((aligned(128)));

/* Sums over nesting levels and CPUs, made by libscap. */
struct drv_sums {
	struct drv_counts n;
	struct drv_counters other;
	u64 n_bad_record;
};

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
	RING_NAPS, /* the reader looks soon: ring the doorbell only when wake_sz bytes are unread */
	RING_SLEEPS, /* ring the doorbell at the next record */
};

#define DRV_LEVELS 4 /* of nested writers: a call, a fault in it, an interrupt, an NMI */

/*
 * Where the writers and the reader of a CPU's ring are, for every kind of ring. Writers on one CPU
 * nest (a page fault or a sample inside a filler) and never run concurrently. Positions are bytes
 * since the start and only grow. Beside the CPU's open call, in the memory page that each call
 * touches anyway.
 */
struct ring_ends {
	/* Written by the driver. */
	u64 head; /* array: everything below is complete; load-acquire in libscap */
	u64 resv; /* everything below is reserved by writers; other kinds: is sent */
	u64 nest; /* writers in progress */
	u64 n_lost; /* lost records of all reasons: when it changes, read the counters */
	u64 scratch; /* other kinds than array: bytes in use by writers in progress */
	u64 n_bad_record; /* records in which a filler put the wrong number of parameters */
	u64 pad[2];
	struct drv_counts counts[DRV_LEVELS]; /* by depth of nesting, so that no lock is needed */
	/* Written by libscap. */
	u64 tail; /* everything below is read: store-release */
	u64 asleep; /* enum ring_sleep; the driver sets RING_AWAKE when it rings the doorbell */
	u64 pad1[6];
};

/*
 * The first page of each CPU's ring, for every kind of ring. In the `array` kind the records follow
 * this page: the place of a position is the position masked with ring_sz - 1, and RING_SLACK after
 * the last place keeps every record contiguous. In the other kinds this room is the scratch in
 * which a record is built, and positions only count unread bytes.
 */
struct ring_hdr {
	u64 reported_ns[DRV_DROP_ROOM]; /* by reason: losses up to this time; written by libscap */
	u64 pad[8];
	struct drv_counters counters[DRV_LEVELS]; /* by depth of nesting */
	u64 pad1[112];
};

#ifndef __bpf__
_Static_assert(sizeof(struct ring_hdr) == 4096, "a ring's header is one page");
#endif

enum call_state {
	CALL_NONE,
	CALL_OPEN, /* entered; no enter record was sent */
	CALL_SENT, /* entered; a raw enter was sent */
	CALL_NO_ENTER, /* at the exit: the enter is unknown */
	CALL_BORN, /* the same on the child's side of clone: args[0] has the flags, for all kinds */
};

/* A system call between its enter and its exit. */
struct drv_call {
	u64 ts; /* boot clock at enter */
	u16 nr; /* selects the row of syscalls.def; REC_NR_NONE: none */
	u16 raw_nr; /* number as the caller passed it: differs for a 32-bit call */
	u16 state; /* enum call_state */
	u16 flags; /* REC_F_IA32, REC_F_CHANGED, enum call_flags */
	u64 args[6]; /* in the order of the row */
	u64 inout[4]; /* numbers that the call may overwrite: inout.bpf.h */
	u32 snaplen; /* bytes of its data to copy, set at its exit if cfg.n_snap_ports */
	u32 pad;
};

/* Flags in addition to those of a record. */
enum call_flags {
	CALL_F_INOUT = 1 << 8, /* inout[0] is valid; the next bit: inout[1], and so on */
	CALL_F_SAME = 1 << 12, /* it writes to the memory that it reads */
	CALL_F_COMPAT = 1 << 13, /* the caller's structures are 32-bit */
	CALL_F_TIME64 = 1 << 14, /* except times */
	CALL_F_GUARDED = 1 << 15, /* its paths were copied: guard.bpf.h */
	CALL_F_OWN =
		CALL_F_INOUT * 0xf | CALL_F_SAME | CALL_F_COMPAT | CALL_F_TIME64 | CALL_F_GUARDED,
};

/*
 * The call that is open on a CPU. While task is set, call.ts is a lower bound for the keys of all
 * records that this CPU still has to send for it; libscap reads it for the watermark of the merge.
 * The enter writes task before ts (an old ts only makes libscap wait), and the exit clears task
 * after the record is published.
 */
struct drv_slot {
	u64 task; /* address of the task; 0: none */
	struct drv_call call;
	u64 scratch; /* for the exit's filler: widen() in args.bpf.h */
	u64 sel_task; /* the task that sel belongs to; 0: none */
	u32 sel; /* enum task_sel */
	u32 sel_saved; /* a saved call of it is in storage */
	u64 sel_renamed; /* n_renamed when sel was computed */
	u64 n_filtered; /* filtered calls */
	u64 overtaken; /* another record was written while the call was being set up */
	u64 n_unrecorded; /* exits on this CPU without a record: of saker itself, or filtered */
	u64 tid; /* of the task */
	u64 other; /* the current task, if it is known not to be of saker itself */
	u64 before; /* resv plus one while the exit's record has no place yet; 0: not in an exit */
	u64 n_unsampled; /* calls and events excluded by --sampling */
	u64 n_no_ring; /* records lost before the CPU, which came online, had a ring */
	u64 n_suppressed; /* of the filtered calls: those of suppressed processes */
	u64 passed_for; /* the task whose call fill_passed continues; 0: another one ran since */
	struct ring_ends ring __attribute__((aligned(64)));
} __attribute__((aligned(128)));

#endif /* DRIVER_SHARED_CONFIG_H */
