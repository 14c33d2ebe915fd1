/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of threads and what its threads own. Open addressing by tid with the last
 * answer remembered; pointers to threads stay valid until the thread is removed.
 */
#ifndef SINSP_STATE_THREADS_H
#define SINSP_STATE_THREADS_H

#include "container/containers.h"
#include "fd.h"
#include "process.h"
#include "thread.h"

#define SINSP_THREADS_MAX (1 << 20) /* some 700 MB; Linux allows 4 million at most */

#define SINSP_DEAD_MAX 1024 /* a power of two; 1 MiB at most */
#define SINSP_ENDED_MAX 2048 /* a power of two; threads that end while one clone goes on */

struct sinsp_threads {
	struct sinsp_thread_slot {
		int64_t tid;
		struct sinsp_thread *t; /* NULL: free */
	} * slots;
	uint64_t seed; /* captures say any number as a tid */
	uint32_t n, n_slots; /* n_slots is a power of two */
	int64_t last_tid;
	struct sinsp_thread *last;
	struct sinsp_slab threads, procs, fses, saved;
	struct sinsp_fd_mem fds;
	struct sinsp_strings strings;
	struct sinsp_containers containers;
	uint64_t n_refused; /* threads that the table had no room for */
	struct sinsp_ended {
		int64_t tid;
		uint64_t ns;
	} ended[SINSP_ENDED_MAX]; /* the last ones, a ring */
	uint32_t n_ended;
	struct sinsp_thread_slot dead[SINSP_DEAD_MAX]; /* the last ones, a ring */
	uint32_t n_dead;
	struct sinsp_files *no_files; /* of the dead */
};

int sinsp_threads_init(struct sinsp_threads *tt);
void sinsp_threads_fini(struct sinsp_threads *tt);

struct sinsp_thread *sinsp_threads_lookup(struct sinsp_threads *tt, int64_t tid);

static inline struct sinsp_thread *sinsp_threads_find(struct sinsp_threads *tt, int64_t tid)
{
	return tid == tt->last_tid && tt->last ? tt->last : sinsp_threads_lookup(tt, tid);
}

/*
 * A new thread in a process that its main thread, made as a stand-in if need be, brings
 * in; with the main thread's directory, and its files if @share_files, else with none. @tid must
 * not be in the table. NULL: no memory, or the table is full.
 */
struct sinsp_thread *sinsp_threads_add(struct sinsp_threads *tt, int64_t tid, int64_t pid,
				       int share_files);
/* A thread of which nothing is known: "<NA>". */
struct sinsp_thread *sinsp_threads_add_stand_in(struct sinsp_threads *tt, int64_t tid);

/*
 * The thread ended. A main thread with others stays until they have ended too. Its children
 * go to @reaper, or, if that is not in the table, to its process or to nobody.
 */
void sinsp_threads_end(struct sinsp_threads *tt, struct sinsp_thread *t, int64_t reaper);
/*
 * A thread that ended and is in no table any more: it still runs until the kernel has taken down
 * what it had. With what was known of it, but without files. NULL: none with this tid, or too
 * many ended since.
 */
struct sinsp_thread *sinsp_threads_find_dead(const struct sinsp_threads *tt, int64_t tid);
/* Their tids may be others' by now. */
void sinsp_threads_forget_dead(struct sinsp_threads *tt);
/* Its end was not seen, and its tid is somebody else's now. Takes a main thread's whole process. */
void sinsp_threads_replace(struct sinsp_threads *tt, struct sinsp_thread *t);
/* All threads of the process but @t, which becomes its main thread. */
void sinsp_threads_end_siblings(struct sinsp_threads *tt, struct sinsp_thread *t);

/* Remembers that @tid ended, and tells whether it did at @since_ns or later. */
void sinsp_threads_note_end(struct sinsp_threads *tt, int64_t tid, uint64_t ns);
int sinsp_threads_has_ended(const struct sinsp_threads *tt, int64_t tid, uint64_t since_ns);

/* Keeps a copy of an enter event until its exit. */
void sinsp_thread_save_enter(struct sinsp_threads *tt, struct sinsp_thread *t,
			     const struct ppm_evt_hdr *evt);
/* NULL: none was kept. */
const struct ppm_evt_hdr *sinsp_thread_saved_enter(const struct sinsp_thread *t);
void sinsp_thread_free_enter(struct sinsp_threads *tt, struct sinsp_thread *t); /* there is one */
static inline void sinsp_thread_drop_enter(struct sinsp_threads *tt, struct sinsp_thread *t)
{
	if (t->saved)
		sinsp_thread_free_enter(tt, t);
}

/* NUL-separated "subsys=path" texts, which say what container the process is in too. */
void sinsp_process_set_cgroups(struct sinsp_threads *tt, struct sinsp_process *p, const char *text,
			       size_t len);

void sinsp_thread_set_comm(struct sinsp_threads *tt, struct sinsp_thread *t, const char *p,
			   size_t len);

#endif /* SINSP_STATE_THREADS_H */
