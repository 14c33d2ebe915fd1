/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What accounting keeps in the kernel: account.bpf.c writes it, libscap reads it. Each value is
 * written by atomic additions only, except those of one CPU, which only that CPU writes.
 */
#ifndef DRIVER_SHARED_ACCOUNT_MAPS_H
#define DRIVER_SHARED_ACCOUNT_MAPS_H

#include "shared/counter_delta.h"
#include "shared/types.h"

enum acct_id {
#define ACCT(id, ...) ACCT_##id,
#include "account.def"
	ACCT_MAX
};

#define ACCT_FIRST_HOOK ACCT_THREADS /* before: what the kernel counts in the task */
#define ACCT_FIRST_COUNTER ACCT_CYCLES
#define ACCT_COUNTERS (ACCT_MAX - ACCT_FIRST_COUNTER)
#define ACCT_SOFTIRQS 10
#define ACCT_BUCKETS 26
#define ACCT_PATH_SZ 512
#define ACCT_NAME_SZ 256
#define ACCT_NO_SUBSYS (-1)

/* Settings, written before load. */
struct acct_config {
	u64 began_ns; /* CLOCK_BOOTTIME; tasks that are older begin with what they have */
	s32 subsys; /* the cgroup of this subsystem counts; ACCT_NO_SUBSYS: that of v2 */
	u32 task_storage; /* the kernel's is safe here: Linux 6.4 */
	u32 counters; /* bit i: the counter i is opened */
};

/* Of a process, by PID. */
struct acct_process {
	u64 start_ns; /* CLOCK_BOOTTIME: another process has another one */
	u64 cgroup;
	u64 seen_ns; /* CLOCK_BOOTTIME when it was last known to exist */
	char comm[16];
	u64 n[ACCT_MAX];
};

/* Of a cgroup, by the number of its directory. */
struct acct_cgroup {
	u64 n[ACCT_MAX];
	u32 is_named; /* path is complete */
	u32 is_gone; /* the directory was removed */
	char path[ACCT_PATH_SZ + ACCT_NAME_SZ]; /* with a NUL; see write_path */
};

/* Of a CPU. seq is odd while the times are written. */
struct acct_cpu {
	u64 seq;
	u64 since_ns; /* when the current task was switched in; 0: unknown */
	u64 busy_ns, idle_ns; /* before since_ns */
	u64 switches;
	u32 is_idle; /* the current task is the idle task */
	u32 vector; /* of the softirq that began at softirq_ns */
	u64 softirq_ns; /* 0: none */
	u64 offline_ns; /* when it went offline last; 0: never */
	struct {
		u64 n, ns;
	} softirqs[ACCT_SOFTIRQS];
	u64 unused[3]; /* fill the cache line */
} __attribute__((aligned(64)));

/* The last readings of the counters of a CPU. */
struct acct_counters {
	struct counter_reading seen[ACCT_COUNTERS];
};

#define ACCT_IA32 0x80000000u

struct acct_call_key {
	u64 cgroup;
	u32 nr;
	u32 zero;
};

struct acct_call {
	u64 n, n_failed;
};

enum { ACCT_IO_READ, ACCT_IO_WRITE, ACCT_IO_OTHER, ACCT_IO_MAX };

struct acct_disk_key {
	u32 major, minor;
};

struct acct_disk {
	struct {
		u64 n, bytes, errors, ns;
		u64 buckets[ACCT_BUCKETS];
	} io[ACCT_IO_MAX];
};

/* Requests of a cgroup. */
struct acct_cgroup_io_key {
	u64 cgroup;
	u32 op;
	u32 zero;
};

struct acct_cgroup_io {
	u64 ns;
	u64 buckets[ACCT_BUCKETS];
};

struct acct_losses {
	u64 processes, cgroups, calls, requests, tasks;
};

#endif /* DRIVER_SHARED_ACCOUNT_MAPS_H */
