/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What the driver hands to libscap: one record per system call or other event,
 * in the ring of the CPU where it was emitted.
 *
 * A record of a finished call is its exit event with all parameters, the enter's
 * included, and the time of the enter. When the calling task was switched out
 * inside the call, its enter was sent ahead as a record of its own (raw enter).
 *
 * Within one ring the keys (rec_key) ascend: between a call's enter and its exit
 * record no other record of that CPU is older than the enter, because whoever
 * emits one in between sends the open enter first (writer.bpf.h). The exception is
 * the exit of a call whose raw enter was dropped: it stands for both, and is older than
 * what came before it. The merge takes it where it lies and its enter at the time of its
 * predecessor, flagged and counted, so that events do not go back in time.
 */
#ifndef DRIVER_SHARED_RECORD_H
#define DRIVER_SHARED_RECORD_H

#ifndef __bpf__
#include <stdint.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
#endif

/* On disk and in rings alike; followed by u16 lens[nparams] (u32 for events with
 * EF_LARGE_PAYLOAD), then the parameters back to back without alignment. */
struct ppm_evt_hdr {
	u64 ts; /* ns: since the epoch on disk, boot clock in rings */
	u64 tid; /* (u64)-1: no thread */
	u32 len; /* of header, lens and parameters */
	u16 type;
	u32 nparams;
} __attribute__((packed));

enum rec_flags {
	REC_F_RAW_ENTER = 1 << 0, /* an enter sent ahead: see below */
	REC_F_BLOCKED = 1 << 1, /* raw enter: the task went to sleep, was not only preempted */
	REC_F_ENTER_SENT = 1 << 2, /* exit: its raw enter was delivered to a ring before */
	REC_F_IA32 = 1 << 3, /* nr is a 32-bit call's number */
	REC_F_STATE_ONLY = 1 << 4, /* not asked for: it keeps the state right */
	REC_F_CHANGED = 1 << 5, /* exit: memory that the call was given says something else now */
};

/* Bits of the flags: how many writers of its CPU the record's interrupted. It may have been sent
 * before theirs, which are older; ring_peek puts them in order. */
#define REC_LEVEL_SHIFT 12
#define REC_LEVEL(flags) ((flags) >> REC_LEVEL_SHIFT & 3)

#define REC_NR_NONE 0xffff

/*
 * A raw enter's evt: ts is the time of the enter, type the enter event's id, nparams
 * 6 or 7: the six arguments as u64, then, where the row in syscalls.def names a
 * pointer to text or an address, the bytes it pointed to.
 *
 * exit and exit_group never return: their only record is a raw enter of the generic event,
 * BLOCKED, sent at the enter itself. The generic exit event has the code and number filled in
 * by the driver, 32-bit calls included (ID by ppm_sc.def, nativeID the number in their own table).
 */
struct rec_hdr {
	u16 len; /* of the whole record, this header included, a multiple of 8 */
	u16 cpu;
	u16 flags; /* REC_F_* */
	u16 nr; /* number of the system call; REC_NR_NONE: not a call, or a larger number */
	u64 enter_ns; /* boot clock at sys_enter; 0: not known */
	struct ppm_evt_hdr evt;
} __attribute__((packed));

/* The time that orders a record in its ring: the earliest event it stands for. */
static inline u64 rec_key(const struct rec_hdr *r)
{
	return r->enter_ns && !(r->flags & (REC_F_ENTER_SENT | REC_F_RAW_ENTER)) ? r->enter_ns
										 : r->evt.ts;
}

#endif /* DRIVER_SHARED_RECORD_H */
