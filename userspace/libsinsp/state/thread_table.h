/* SPDX-License-Identifier: Apache-2.0 */
/* The thread table: threads by TID, with open addressing and a cache of the last lookup. Pointers
 * to threads stay valid until the thread is removed. */
#ifndef SINSP_STATE_THREAD_TABLE_H
#define SINSP_STATE_THREAD_TABLE_H

#include "container/containers.h"
#include "fd.h"
#include "process.h"
#include "thread.h"

#define SINSP_THREADS_MAX (1 << 20) /* about 700 MB; the maximum of Linux is 4 million */

#define SINSP_DEAD_MAX 1024 /* a power of two; at most 1 MiB */
#define SINSP_ENDED_MAX 2048 /* a power of two; threads that end during one clone */

struct sinsp_threads {
	struct sinsp_thread_slot {
		int64_t tid;
		struct sinsp_thread *t; /* NULL: free */
	} * slots;
	uint64_t seed; /* against captures with chosen TIDs */
	uint32_t n, n_slots; /* n_slots is a power of two */
	int64_t last_tid;
	struct sinsp_thread *last;
	struct sinsp_slab threads, procs, fses, saved, cpu_uses;
	struct sinsp_fd_mem fds;
	struct sinsp_strings strings;
	struct sinsp_containers containers;
	uint64_t n_refused; /* threads dropped for lack of room */
	struct sinsp_ended {
		int64_t tid;
		uint64_t ns;
	} ended[SINSP_ENDED_MAX]; /* ring of the last ones */
	uint32_t n_ended;
	struct sinsp_thread_slot dead[SINSP_DEAD_MAX]; /* ring of the last ones */
	uint32_t n_dead;
	struct sinsp_files *no_files; /* of dead threads */
};

int sinsp_threads_init(struct sinsp_threads *tt);
void sinsp_threads_fini(struct sinsp_threads *tt);

struct sinsp_thread *sinsp_threads_lookup(struct sinsp_threads *tt, int64_t tid);

static inline struct sinsp_thread *sinsp_threads_find(struct sinsp_threads *tt, int64_t tid)
{
	return tid == tt->last_tid && tt->last ? tt->last : sinsp_threads_lookup(tt, tid);
}

/*
 * Adds a thread, and its main thread as a stand-in if it is unknown. The thread shares the
 * directory of the main thread, and its descriptors if @share_files. @tid must not be in the table.
 * NULL: no memory, or the table is full.
 */
struct sinsp_thread *sinsp_threads_add(struct sinsp_threads *tt, int64_t tid, int64_t pid,
				       int share_files);
/* Adds a thread that is unknown; its name is "<NA>". */
struct sinsp_thread *sinsp_threads_add_stand_in(struct sinsp_threads *tt, int64_t tid);

/* Ends a thread. A main thread stays until the other threads of its process end. Children go to
 * @reaper, else to another thread of the process, else to none. */
void sinsp_threads_end(struct sinsp_threads *tt, struct sinsp_thread *t, int64_t reaper);
/* Returns an ended thread, which the kernel may still run: with its state, without descriptors.
 * NULL: none with this TID, or too many ended since. */
struct sinsp_thread *sinsp_threads_find_dead(const struct sinsp_threads *tt, int64_t tid);
/* Drops the ended threads: after a loss their TIDs may be reused. */
void sinsp_threads_drop_dead(struct sinsp_threads *tt);
/* Removes a thread whose TID was reused, with its whole process if it is a main thread. */
void sinsp_threads_replace(struct sinsp_threads *tt, struct sinsp_thread *t);
/* Ends all threads of the process except @t, which becomes its main thread. */
void sinsp_threads_end_siblings(struct sinsp_threads *tt, struct sinsp_thread *t);

/* Records that @tid ended; the second returns whether it did at @since_ns or later. */
void sinsp_threads_note_end(struct sinsp_threads *tt, int64_t tid, uint64_t ns);
int sinsp_threads_has_ended(const struct sinsp_threads *tt, int64_t tid, uint64_t since_ns);

/* Keeps a copy of an enter event until its exit. */
void sinsp_thread_save_enter(struct sinsp_threads *tt, struct sinsp_thread *t,
			     const struct ppm_evt_hdr *evt);
/* Returns NULL if none was saved. */
const struct ppm_evt_hdr *sinsp_thread_saved_enter(const struct sinsp_thread *t);
/* Takes out the event that is saved instead of an enter, for the caller to free. */
struct sinsp_saved_enter *sinsp_thread_take_saved(struct sinsp_thread *t);
/* Notes that a file has it; returns whether that was noted. */
void sinsp_thread_note_written(struct sinsp_thread *t);
int sinsp_saved_is_written(const struct sinsp_saved_enter *saved);
/* @saved may be NULL. */
void sinsp_saved_free(struct sinsp_threads *tt, struct sinsp_saved_enter *saved);

/* An enter event must be saved. */
void sinsp_thread_free_enter(struct sinsp_threads *tt, struct sinsp_thread *t);
static inline void sinsp_thread_drop_enter(struct sinsp_threads *tt, struct sinsp_thread *t)
{
	if (t->saved)
		sinsp_thread_free_enter(tt, t);
}

/* Sets "subsys=path" texts, separated by NULs, and the container that they belong to. */
void sinsp_process_set_cgroups(struct sinsp_threads *tt, struct sinsp_process *p, const char *text,
			       size_t len);

void sinsp_thread_set_comm(struct sinsp_threads *tt, struct sinsp_thread *t, const char *p,
			   size_t len);

#endif /* SINSP_STATE_THREAD_TABLE_H */
