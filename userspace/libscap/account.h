/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounting: who used the machine, by process, by cgroup and on the node, counted by programs in
 * the kernel that are independent of a capture. docs/accounting.md describes how.
 *
 * open --> read ... --> close
 *
 * All values are 64-bit totals since the accounting was opened. They never decrease while their
 * owner exists, and no reader resets them. What a process used before its end stays in its cgroup,
 * what a cgroup used before its end stays in the node. Times are ns, sizes bytes. An unknown value
 * is never 0: see scap_account_state. One thread uses a handle at a time.
 */
#ifndef SCAP_ACCOUNT_H
#define SCAP_ACCOUNT_H

#include <stddef.h>
#include <stdint.h>

#include "log.h"

struct scap_account;

/* Counters of a process, a cgroup, or the node: driver/account.def. */
enum scap_account_id {
#define ACCT(id, ...) SCAP_ACCT_##id,
#include "account.def"
	SCAP_ACCT_MAX
};

enum scap_account_unit { SCAP_ACCT_COUNT, SCAP_ACCT_NS, SCAP_ACCT_BYTES };

struct scap_account_row {
	const char *name; /* [a-z_]+, without a unit */
	enum scap_account_unit unit;
	const char *help; /* a sentence without a full stop */
};

/* One row per counter, in the order of enum scap_account_id. */
extern const struct scap_account_row scap_account_rows[SCAP_ACCT_MAX];

/* Parts that cost time in the hooks of the kernel; what is in no part costs nothing there. */
enum scap_account_part {
	SCAP_ACCT_CPUS = 1 << 0, /* busy and idle time of each CPU, switches */
	SCAP_ACCT_WAKEUP = 1 << 1,
	SCAP_ACCT_SOFTIRQ = 1 << 2,
	SCAP_ACCT_CACHE = 1 << 3, /* page cache */
	SCAP_ACCT_NET = 1 << 4, /* bytes of sockets, retransmits, resets */
	SCAP_ACCT_BLOCK = 1 << 5, /* block devices */
	SCAP_ACCT_CALLS = 1 << 6, /* system calls by number, per cgroup */
	SCAP_ACCT_ALL = (1 << 7) - 1,
	SCAP_ACCT_COUNTERS = 1 << 7, /* hardware counters: the option counters sets it */
};

struct scap_account_opts {
	size_t sz; /* sizeof(struct scap_account_opts); new fields go last */
	uint32_t parts; /* enum scap_account_part; 0: none of them */
	/* A mounted cgroup hierarchy, v2 or v1 with a controller. NULL: the only one if it is v2;
	 * on hybrid machines cpuacct, since container runtimes put processes there. */
	const char *cgroup_mount;
	uint32_t max_processes; /* 0: 65536 */
	uint32_t max_cgroups; /* 0: 8192 */
	uint32_t max_calls; /* pairs of a cgroup and a system call; 0: 65536 */
	scap_log_fn log; /* NULL: silent */
	void *log_ctx;
	/* Hardware counters: "all", or a list as "cpu_cycles,cache_misses". A row may have another
	 * source, of the PMU's own names: "cpu_cycles=software:cpu-clock". NULL: none. */
	const char *counters;
	const char *refuse; /* for tests: the program that the kernel is made to refuse */
};

/* Returns whether @spec, as in the option counters, names only counters that there are. Whether this
 * machine has them, and the sources, is another question. */
int scap_account_knows_counters(const char *spec);

/*
 * Loads the programs and begins to count. Needs what a capture needs: root, or CAP_BPF,
 * CAP_PERFMON and CAP_SYS_PTRACE; BTF. A program that the kernel refuses costs its own counters
 * only, and is reported once as a warning. Returns 0, or -errno with *out untouched and the reason
 * logged. opts may be NULL. Later reads need CAP_BPF only.
 */
int scap_account_open(struct scap_account **out, const struct scap_account_opts *opts);

/* Detaches the programs and frees all. NULL is allowed. */
void scap_account_close(struct scap_account *a);

enum scap_account_support { SCAP_ACCT_SUPPORTED, SCAP_ACCT_NOT_SUPPORTED, SCAP_ACCT_OFF };

/* Returns whether a counter is counted. *why (may be NULL) is a sentence fragment if it is not:
 * "the kernel has no tracepoint sock_send_length"; borrowed until close. OFF: its part was not
 * requested. The values of a counter that is not supported are 0, and must not be shown. */
enum scap_account_support scap_account_state(const struct scap_account *a, enum scap_account_id id,
					     const char **why);

/* The same of a part as a whole: CPUS, SOFTIRQ, BLOCK, CALLS have no counters of processes. */
enum scap_account_support scap_account_part_state(const struct scap_account *a,
						  enum scap_account_part part, const char **why);

/* Time of a counter: it shares its hardware with others while it does not run. */
struct scap_account_counter {
	enum scap_account_id id;
	uint64_t enabled_ns, running_ns; /* of all CPUs */
};

struct scap_account_process {
	uint32_t pid; /* in the first PID namespace */
	char comm[16]; /* with a NUL */
	uint64_t start_ns; /* CLOCK_BOOTTIME of its start: with pid the identity of the process */
	uint64_t cgroup; /* id of its present cgroup */
	uint64_t n[SCAP_ACCT_MAX];
};

struct scap_account_cgroup {
	uint64_t id; /* number of its directory, unique while it exists */
	/* Path from the mount, "/" for the root. NULL: it was gone before its first read; then only
	 * its name is known. Both are borrowed as the snapshot. */
	const char *path;
	const char *name; /* last part of the path */
	int is_gone; /* the directory was removed; it is in one snapshot more, then only in the node
		      */
	uint64_t n[SCAP_ACCT_MAX];
};

#define SCAP_ACCT_SOFTIRQS 10 /* vectors: HI, TIMER, NET_TX, ... */

/* Names of the vectors as /proc/softirqs has them. */
extern const char *const scap_account_softirqs[SCAP_ACCT_SOFTIRQS];

struct scap_account_cpu {
	uint32_t cpu;
	int is_online;
	uint64_t busy_ns,
		idle_ns; /* wall time, current slice included; interrupts belong to both */
	uint64_t switches; /* to another task */
	struct {
		uint64_t n, ns;
	} softirqs[SCAP_ACCT_SOFTIRQS];
};

struct scap_account_call {
	uint64_t cgroup;
	uint32_t nr; /* number of the call; with SCAP_ACCT_IA32 of the 32-bit table */
	uint64_t n, n_failed; /* ended; of these with an error */
};
#define SCAP_ACCT_IA32 0x80000000u

/* Bucket i of a histogram: at most 2^i us, and not in a bucket before. The last: the rest. */
#define SCAP_ACCT_BUCKETS 26

enum scap_account_io {
	SCAP_ACCT_IO_READ,
	SCAP_ACCT_IO_WRITE,
	SCAP_ACCT_IO_OTHER,
	SCAP_ACCT_IO_MAX
};

struct scap_account_disk {
	uint32_t major, minor; /* of the disk, not of a partition */
	struct {
		uint64_t n, bytes, errors; /* completed requests */
		uint64_t ns; /* sum of times from issue to completion */
		uint64_t buckets[SCAP_ACCT_BUCKETS]; /* their sum is n less those issued before open
						      */
	} io[SCAP_ACCT_IO_MAX];
};

/* Requests of block devices that were for a cgroup. */
struct scap_account_cgroup_io {
	uint64_t cgroup;
	enum scap_account_io operation;
	uint64_t ns; /* sum of times from issue to completion */
	uint64_t buckets[SCAP_ACCT_BUCKETS];
};

/* What was not counted. All of it is also told by the log, once. */
struct scap_account_losses {
	uint64_t processes; /* found no room in the table of processes: counted in their cgroup only
			     */
	uint64_t cgroups; /* additions for cgroups that found no room: in the node only */
	uint64_t calls, requests; /* found no room */
	uint64_t tasks; /* ended without having been added: the kernel had no memory for them */
	uint64_t missed; /* runs of programs that the kernel skipped: hooks are short of these */
};

struct scap_account_snapshot {
	uint64_t at_ns; /* CLOCK_BOOTTIME */
	uint64_t began_ns; /* of the open */
	uint64_t node[SCAP_ACCT_MAX]; /* exactly the sum of all cgroups that there are and were */
	const struct scap_account_process *processes; /* by PID, ascending */
	uint32_t n_processes;
	const struct scap_account_cgroup *cgroups; /* by id, ascending */
	uint32_t n_cgroups;
	const struct scap_account_cpu *cpus; /* each possible CPU that was online since open */
	uint32_t n_cpus;
	const struct scap_account_call *calls; /* by cgroup and number */
	uint32_t n_calls;
	const struct scap_account_disk *disks;
	uint32_t n_disks;
	const struct scap_account_cgroup_io *cgroup_io; /* by cgroup and operation */
	uint32_t n_cgroup_io;
	const struct scap_account_counter *counters; /* those that are supported */
	uint32_t n_counters;
	/* Rate of cpu_reference_cycles while a CPU runs; 0: it or cpu_cycles is not counted. */
	uint64_t reference_hz;
	struct scap_account_losses losses;
	uint64_t read_ns; /* what this read took */
};

/*
 * Adds up what is running, and returns 0 with *out, or -errno with *out untouched. The snapshot is
 * borrowed: it stays until the next read or close. A thread that runs at the time is counted up to
 * the kernel's last tick on its CPU (at most 10 ms ago). Kernel threads are processes; the idle
 * task is not. A process that has ended is not among the processes.
 */
int scap_account_read(struct scap_account *a, const struct scap_account_snapshot **out);

/* Returns the average frequency in Hz of the CPUs while an owner ran between two snapshots, by its
 * totals in them; 0: unknown. @was NULL: since the accounting was opened. */
uint64_t scap_account_frequency(const uint64_t *was, const uint64_t *now, uint64_t reference_hz);

#endif /* SCAP_ACCOUNT_H */
