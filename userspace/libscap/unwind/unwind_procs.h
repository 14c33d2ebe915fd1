/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which code each process has mapped, in memory where the driver looks it up by process. A state of
 * a process's mappings is written as a whole, and never changes: what comes next has a place and a
 * number of its own. Children have their parent's until one of the two changes.
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

/*
 * What has happened, and when. A process's own records may come out of order with those of others:
 * what is older than its exec, or than the time at which its mappings were read, is no news.
 * Nothing is written before unwind_procs_publish. Each: 0 or -ENOMEM.
 */
int unwind_procs_map(struct unwind_procs *ps, const struct code_map *m, uint64_t boot_ns);
int unwind_procs_exec(struct unwind_procs *ps, uint32_t pid, uint64_t boot_ns);
int unwind_procs_fork(struct unwind_procs *ps, uint32_t pid, uint32_t parent, uint64_t boot_ns);
void unwind_procs_exit(struct unwind_procs *ps, uint32_t pid, uint64_t boot_ns);

/* Forgets processes that ended a while ago, threads and all. Now and then. */
void unwind_procs_sweep(struct unwind_procs *ps, uint64_t boot_ns);

/* Steps of work that each new process gets, with what it inherits by forks; by default
 * UNWIND_PROCESS_WORK_MAX. */
void unwind_procs_bound_work(struct unwind_procs *ps, uint64_t steps);

/* Reads what /proc has of @pid, in place of what was known. @boot_ns is now. */
int unwind_procs_scan(struct unwind_procs *ps, uint32_t pid, uint64_t boot_ns);

/* Writes what has changed. */
void unwind_procs_publish(struct unwind_procs *ps, uint64_t boot_ns);

/*
 * Where tables found no room: takes those away that are used least, and tries again once their room
 * can be used. 1: there is more to do, call again in UNWIND_RETRY_MS.
 */
int unwind_procs_make_room(struct unwind_procs *ps, uint64_t boot_ns);
#define UNWIND_RETRY_MS 600

/* The driver's entry; -ENOENT: nothing is known of @pid. */
int unwind_procs_find(const struct unwind_procs *ps, struct unwind_process *out, uint32_t pid);

/*
 * The mappings that @pid had at @boot_ns, as the driver would have them, into @to: how many.
 * -ENOENT: nothing is known of it; -ESRCH: it was another program then. What has since taken
 * another's place hides that.
 */
int unwind_procs_at(struct unwind_map *to, size_t max, const struct unwind_procs *ps, uint32_t pid,
		    uint64_t boot_ns);

struct unwind_procs_stats {
	uint64_t n, n_maps; /* processes, their mappings */
	uint64_t n_refused; /* had too many mappings, or found no room */
	uint64_t n_too_much; /* processes whose files would have taken more work than one gets */
};
void unwind_procs_stats(const struct unwind_procs *ps, struct unwind_procs_stats *st);

#endif /* SCAP_UNWIND_UNWIND_PROCS_H */
