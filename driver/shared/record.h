/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Records: what the driver sends to libscap, one per system call or other event, in the ring of the
 * CPU that it ran on.
 *
 * The record of a finished call is its exit event with all parameters, including those of the
 * enter, and the time of the enter. If the task was switched out during the call, its enter was
 * sent earlier as a record of its own (raw enter).
 *
 * Keys (rec_key) ascend within a ring: between the enter and the exit record of a call no other
 * record of that CPU is older than the enter, because any program that emits one in between sends
 * the open enter first (writer.bpf.h). The exception is the exit of a call whose raw enter was
 * dropped: it stands for both, and is older than the records before it. The merge delivers it where
 * it lies, with the time of its predecessor for its enter, flagged and counted, so that time does
 * not run backwards.
 */
#ifndef DRIVER_SHARED_RECORD_H
#define DRIVER_SHARED_RECORD_H

#include "shared/types.h"

/* The same on disk and in rings; followed by u16 lens[nparams] (u32 for events with
 * EF_LARGE_PAYLOAD), then the parameters one after the other, unaligned. */
struct ppm_evt_hdr {
	u64 ts; /* ns: since the epoch on disk, boot clock in rings */
	u64 tid; /* (u64)-1: no thread */
	u32 len; /* of header, lengths and parameters */
	u16 type;
	u32 nparams;
} __attribute__((packed));

enum rec_flags {
	REC_F_RAW_ENTER = 1 << 0, /* a raw enter: see below */
	REC_F_BLOCKED = 1 << 1, /* raw enter: the task blocked; else it was preempted */
	REC_F_ENTER_SENT = 1 << 2, /* exit: its raw enter was sent before */
	REC_F_IA32 = 1 << 3, /* nr is the number of a 32-bit call */
	REC_F_STATE_ONLY = 1 << 4, /* not requested: recorded for the state */
	REC_F_CHANGED = 1 << 5, /* exit: the memory of an argument changed during the call */
};

/* Bits of the flags: the number of writers that this record's writer interrupted on its CPU. It may
 * have been sent before their records, which are older; ring_peek restores the order. */
#define REC_LEVEL_SHIFT 12
#define REC_LEVEL(flags) ((flags) >> REC_LEVEL_SHIFT & 3)

#define REC_NR_NONE 0xffff

/*
 * evt of a raw enter: ts is the time of the enter, type the type of the enter event, nparams 6 or
 * 7: the six arguments as u64, then, for pointers to text or an address in the row of syscalls.def,
 * the bytes there.
 *
 * exit and exit_group never return: their only record is a raw enter of the generic event, BLOCKED,
 * sent at the enter. The driver fills in the code and number of the generic exit event, also for
 * 32-bit calls (ID by ppm_sc.def, nativeID the number in their own table).
 */
struct rec_hdr {
	u16 len; /* of the whole record with this header; a multiple of 8 */
	u16 cpu;
	u16 flags; /* REC_F_* */
	u16 nr; /* system call number; REC_NR_NONE: not a call, or a larger number */
	u64 enter_ns; /* boot clock at sys_enter; 0: unknown */
	struct ppm_evt_hdr evt;
} __attribute__((packed));

/* Returns the time that orders a record in its ring: that of the earliest event it stands for. */
static inline u64 rec_key(const struct rec_hdr *r)
{
	return r->enter_ns && !(r->flags & (REC_F_ENTER_SENT | REC_F_RAW_ENTER)) ? r->enter_ns
										 : r->evt.ts;
}

#endif /* DRIVER_SHARED_RECORD_H */
