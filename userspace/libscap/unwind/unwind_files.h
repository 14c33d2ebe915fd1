/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwind tables of files, in memory that the driver reads: one for each content, however many
 * processes, containers and names it has. A table that nobody uses stays until its room is needed;
 * of those in use, when there is no more room, the one goes that was least recently asked for.
 */
#ifndef SCAP_UNWIND_UNWIND_FILES_H
#define SCAP_UNWIND_UNWIND_FILES_H

#include "objfile/elf_file.h"
#include "unwind/kept_files.h"
#include "unwind/unwind_pool.h"

struct unwind_files;
struct unwind_file; /* counted */

/* A part of a table that lies in one chunk: the rows from one offset in the file to another. */
struct unwind_piece {
	uint32_t from, to;
	uint32_t place, n;
	uint32_t first_page, n_pages, shift; /* of the index behind them */
};

/* Who is asked for, as a mapping says: how to open it. */
struct unwind_source {
	uint32_t pid; /* a process that has it mapped */
	uint64_t start, end; /* where */
	uint64_t ino; /* of the path; 0: there is no file */
	uint32_t dev; /* as mappings tell it */
	const char *path; /* in the process's root */
	uint64_t *work; /* steps that are left of what is done for the process; NULL: any number */
};

int unwind_files_new(struct unwind_files **out, struct unwind_pool *pool);
void unwind_files_free(struct unwind_files *fs);
/* What is opened is also kept in @k, borrowed. */
void unwind_files_keep(struct unwind_files *fs, struct kept_files *k);
/* Calls this now and then while a table is made, and leaves it unmade when that is not 0. */
void unwind_files_stop_by(struct unwind_files *fs, int (*is_stopped)(void *ctx), void *ctx);

/*
 * The file, with its table if there is room. NULL in *out and 0: nothing that has a table. -ESRCH:
 * it cannot be reached any more. -EDQUOT: what is left for the process is not enough, and another
 * process may have it still. The caller puts it.
 */
int unwind_file_get(struct unwind_files *fs, struct unwind_file **out,
		    const struct unwind_source *src, uint64_t now_ns);
struct unwind_file *unwind_file_ref(struct unwind_file *f);
void unwind_file_put(struct unwind_file *f);

/* A stack was walked of a process that has it. */
void unwind_file_used(struct unwind_file *f, uint64_t now_ns);
/* Its table found no room, and should have some. */
int unwind_file_wants(const struct unwind_file *f);
/* There is none for it. */
void unwind_file_gives_up(struct unwind_file *f);
/* Room was made for the table of @f, and is for no other; NULL: for any. */
void unwind_files_reserve(struct unwind_files *fs, const struct unwind_file *f);
/* Room came free: all that found none want some again. 0: there are none. */
int unwind_files_want_again(struct unwind_files *fs);
/* Bytes that its rows take with their index, whether there is room for them or not. */
uint64_t unwind_file_sz(const struct unwind_file *f);

/* Its table's parts, by offset; 0: it has no rows. -ENOSPC: there was no room for them, or they
 * would have taken too much work (unwind_work.h). */
int unwind_file_pieces(const struct unwind_file *f, const struct unwind_piece **v);

/*
 * Takes a table away for that of @wants: one that no process has, else that which was used least
 * recently, if that is longer ago than @wants was: what is sampled all the time stays. 1: processes
 * have it, whose mappings must be written anew at once. 0: none has. -ENOENT: there is no other
 * table. The room can be taken when walks are over: unwind_pool_settle.
 */
int unwind_files_evict(struct unwind_files *fs, const struct unwind_file *wants, uint64_t now_ns);
/* Bytes that are free for tables. */
size_t unwind_files_room(const struct unwind_files *fs);
/* Bytes of all that may go so. */
size_t unwind_files_evictable(const struct unwind_files *fs, const struct unwind_file *wants);

struct unwind_files_stats {
	uint64_t n_files, n_rows; /* with a table; of all tables */
	uint64_t n_evicted, n_no_room;
	uint64_t n_unreadable; /* could not be opened, or are damaged */
	uint64_t n_too_much; /* would have taken more work than a file gets */
	uint64_t n_steps; /* work of making tables */
	uint64_t build_ns; /* time for making tables */
};
void unwind_files_stats(const struct unwind_files *fs, struct unwind_files_stats *st);

#endif /* SCAP_UNWIND_UNWIND_FILES_H */
