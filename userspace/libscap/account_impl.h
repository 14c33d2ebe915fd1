/* SPDX-License-Identifier: Apache-2.0 */
/* Accounting: what the files that load the programs and read their maps share. */
#ifndef SCAP_ACCOUNT_IMPL_H
#define SCAP_ACCOUNT_IMPL_H

#include <sched.h>

#include "account.h"
#include "shared/account_maps.h"

struct account_bpf;
struct live_progs;

enum {
	ACCOUNT_N_PROGRAMS = 0
#define PROG(name, ...) +1
#include "account_programs.def"
};

/* A program of account_programs.def. */
struct account_program {
	uint32_t part; /* 0: always loaded */
	int missing; /* 0, or why it does not run: -ENOENT: no hook; else the kernel's error */
	char why[96];
};

/* As perf_event_open identifies a counter. */
struct account_event {
	uint32_t type;
	uint64_t config;
};

/* Entries of a hash map, as a batch returns them. */
struct account_batch {
	void *keys, *values;
	uint32_t n, room;
};

struct scap_account {
	struct account_bpf *skel;
	struct live_progs *progs;
	struct scap_log log;
	uint32_t parts;
	struct account_program programs[ACCOUNT_N_PROGRAMS]; /* in the order of their rows */
	const struct acct_cpu *cpus; /* mapped */
	uint32_t n_cpus; /* possible ones */
	uint64_t began_ns;
	uint32_t counters; /* bit i: the row SCAP_ACCT_CYCLES + i is counted */
	const char *no_counter[ACCT_COUNTERS]; /* why the row is not counted */
	struct account_event counter_events[ACCT_COUNTERS];
	int *counter_fds; /* n_cpus * ACCT_COUNTERS; -1: none */
	cpu_set_t counter_cpus; /* that were online at the last read */
	struct scap_account_counter closed_times[ACCT_COUNTERS]; /* of CPUs that went offline */
	uint64_t reference_hz;
	struct scap_account_counter counter_times[ACCT_COUNTERS];
	uint64_t retired[SCAP_ACCT_MAX]; /* of cgroups that are not listed any more */
	uint64_t folded_ns; /* when the last fold began */
	uint64_t n_stale; /* processes whose end was not seen */
	int has_told_losses;
	struct account_batch processes, cgroups, calls, disks, cgroup_io;
	struct scap_account_snapshot snapshot; /* owns its arrays */
	struct scap_account_cgroup *old_cgroups; /* of the snapshot before, without texts */
	uint32_t n_old_cgroups;
};

/* Finds the hierarchy whose cgroups count. *controller: NULL for v2, else a name of v1 in buf.
 * Returns 0, or -errno after reporting it. */
int account_hierarchy(const char **controller, char *buf, size_t sz, const char *mount,
		      const struct scap_log *log);

/* Runs the iterator that folds all tasks. Returns 0 or -errno. */
int account_fold(const struct scap_account *a);

/* Opens the counters of @spec on each CPU (account_counters.c). Returns 0, or -errno after
 * reporting it: a counter that the machine lacks is no error. */
int account_counters_open(struct scap_account *a, const char *spec);
/* Gives them to the programs, which are loaded. */
int account_counters_start(const struct scap_account *a);
/* Credits running tasks, and reads the times of the counters. */
void account_counters_read(struct scap_account *a);
void account_counters_close(struct scap_account *a);

void account_free_snapshot(struct scap_account *a);

#endif /* SCAP_ACCOUNT_IMPL_H */
