/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code mappings of each process, in memory where the driver finds them by PID. A state of a
 * process's mappings is written as a whole and never changes: the next state has its own place and
 * number. Children share their parent's until one of the two changes.
 */
#ifndef SCAP_UNWIND_UNWIND_PROCS_H
#define SCAP_UNWIND_UNWIND_PROCS_H

#include "sampling/map_event.h"
#include "unwind/unwind_files.h"

struct unwind_procs;

/* @map is the driver's map of processes; -1: none. Borrows @pool and @files. */
int unwind_procs_new(struct unwind_procs **out, struct unwind_pool *pool,
		     struct unwind_files *files, int map);
void unwind_procs_free(struct unwind_procs *ps);
/* Also writes what the driver needs to walk interpreters, to its map @map; -1: none. */
void unwind_procs_write_interps(struct unwind_procs *ps, int map);

/*
 * Changes, with their times. Records of a process may be out of order with those of others:
 * anything older than its exec, or than the time at which its mappings were read, is ignored.
 * Nothing is written before unwind_procs_publish. Each returns 0 or -ENOMEM.
 */
int unwind_procs_map(struct unwind_procs *ps, const struct code_map *m, uint64_t boot_ns);
int unwind_procs_exec(struct unwind_procs *ps, uint32_t pid, uint64_t boot_ns);
int unwind_procs_fork(struct unwind_procs *ps, uint32_t pid, uint32_t parent, uint64_t boot_ns);
void unwind_procs_exit(struct unwind_procs *ps, uint32_t pid, uint64_t boot_ns);

/* Removes processes that ended a while ago, with all their threads. Call regularly. */
void unwind_procs_sweep(struct unwind_procs *ps, uint64_t boot_ns);

/* Sets the work limit of each new process, including what it inherits by forks; default
 * UNWIND_PROCESS_WORK_MAX. */
void unwind_procs_bound_work(struct unwind_procs *ps, uint64_t steps);

/* Replaces the mappings of @pid by those in /proc. @boot_ns is now. */
int unwind_procs_scan(struct unwind_procs *ps, uint32_t pid, uint64_t boot_ns);

/* Writes what has changed. */
void unwind_procs_publish(struct unwind_procs *ps, uint64_t boot_ns);

/* If tables did not fit: evicts the least used ones, and retries once their room is available.
 * Returns 1 if there is more to do: call again in UNWIND_RETRY_MS. */
int unwind_procs_make_room(struct unwind_procs *ps, uint64_t boot_ns);
#define UNWIND_RETRY_MS 600

int unwind_procs_has(const struct unwind_procs *ps, uint32_t pid); /* known, with or without code */

/* Returns the driver's entry; -ENOENT: @pid is unknown. */
int unwind_procs_find(const struct unwind_procs *ps, struct unwind_process *out, uint32_t pid);

/*
 * Writes the mappings that @pid had at @boot_ns to @to, in the driver's layout. Returns their
 * number; -ENOENT: unknown; -ESRCH: it was another program then. A later mapping hides the one it
 * replaced.
 */
int unwind_procs_at(struct unwind_map *to, size_t max, const struct unwind_procs *ps, uint32_t pid,
		    uint64_t boot_ns);

struct unwind_procs_stats {
	uint64_t n, n_maps; /* processes, and their mappings */
	uint64_t n_refused; /* too many mappings, or they did not fit */
	uint64_t n_too_much; /* processes whose files exceeded the work limit of a process */
};
void unwind_procs_stats(const struct unwind_procs *ps, struct unwind_procs_stats *st);

#endif /* SCAP_UNWIND_UNWIND_PROCS_H */
