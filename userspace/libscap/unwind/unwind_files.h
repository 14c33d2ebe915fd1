/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind tables of files, in memory that the driver reads: one per content, however many processes,
 * containers and names a file has. An unused table stays until its room is needed; if there is
 * still no room, the least recently used table is evicted.
 */
#ifndef SCAP_UNWIND_UNWIND_FILES_H
#define SCAP_UNWIND_UNWIND_FILES_H

#include "interp/interp_file.h"
#include "objfile/elf_file.h"
#include "unwind/kept_files.h"
#include "unwind/unwind_pool.h"

struct unwind_files;
struct unwind_file; /* reference-counted */

/* A part of a table in one chunk: the rows from one offset in the file to another. */
struct unwind_piece {
	uint32_t from, to;
	uint32_t place, n;
	uint32_t first_page, n_pages, shift; /* of the index after them */
};

/* A mapping whose file is needed, and how to open it. */
struct unwind_source {
	uint32_t pid; /* a process that has it mapped */
	uint64_t start, end; /* where */
	uint64_t ino; /* of the path; 0: no file */
	uint32_t dev; /* as in mappings */
	const char *path; /* in the process's root */
	uint64_t *work; /* remaining work limit of the process; NULL: no limit */
};

int unwind_files_new(struct unwind_files **out, struct unwind_pool *pool);
void unwind_files_free(struct unwind_files *fs);
/* Also keeps opened files in @k, borrowed. */
void unwind_files_use_kept(struct unwind_files *fs, struct kept_files *k);
/* Calls is_stopped regularly while a table is built, and aborts if it returns not 0. */
void unwind_files_stop_by(struct unwind_files *fs, int (*is_stopped)(void *ctx), void *ctx);

/*
 * Returns the file, with its table if there is room; the caller puts it. 0 with *out NULL: it has
 * no table. -ESRCH: unreachable. -EDQUOT: exceeds the remaining limit of the process; another
 * process may still have it.
 */
int unwind_file_get(struct unwind_files *fs, struct unwind_file **out,
		    const struct unwind_source *src, uint64_t now_ns);
struct unwind_file *unwind_file_ref(struct unwind_file *f);
void unwind_file_put(struct unwind_file *f);

/* Returns the interpreter in the file; NULL: none. */
const struct interp_file *unwind_file_interp(const struct unwind_file *f);

/* Marks the file as used: a stack of a process that mapped it was walked. */
void unwind_file_used(struct unwind_file *f, uint64_t now_ns);
/* Returns whether its table did not fit, and should get room. */
int unwind_file_needs_room(const struct unwind_file *f);
/* Gives up: it gets no table. */
void unwind_file_stop_retrying(struct unwind_file *f);
/* Reserves room that was made for the table of @f; NULL: for any. */
void unwind_files_reserve(struct unwind_files *fs, const struct unwind_file *f);
/* Room became free: all tables that did not fit are tried again. Returns 0 if there are none. */
int unwind_files_retry_all(struct unwind_files *fs);
/* Returns the size of its rows with the index, whether they fit or not. */
uint64_t unwind_file_sz(const struct unwind_file *f);

/* Returns the number of parts of its table, by offset; 0: it has no rows. -ENOSPC: they did not
 * fit, or exceeded the work limit (unwind_work.h). */
int unwind_file_pieces(const struct unwind_file *f, const struct unwind_piece **v);

/*
 * Evicts a table in favour of that of @incoming: one that no process uses, else the least recently
 * used one, if @incoming was used later: what is sampled all the time stays. Returns 1: processes
 * use it, whose mappings must be rewritten at once. 0: none does. -ENOENT: there is no other table.
 * The room can be taken once running walks have ended: unwind_pool_settle.
 */
int unwind_files_evict(struct unwind_files *fs, const struct unwind_file *incoming,
		       uint64_t now_ns);
/* Returns the bytes free for tables. */
size_t unwind_files_room(const struct unwind_files *fs);
/* Returns the bytes of all tables that may be evicted. */
size_t unwind_files_evictable(const struct unwind_files *fs, const struct unwind_file *incoming);

struct unwind_files_stats {
	uint64_t n_files, n_rows; /* files with a table; rows of all tables */
	uint64_t n_evicted, n_no_room;
	uint64_t n_unreadable; /* could not be opened, or are damaged */
	uint64_t n_too_much; /* exceeded the work limit of a file */
	uint64_t n_unsupported; /* interpreters of a version that is not supported */
	char unsupported[48]; /* language and version of the last one */
	uint64_t n_steps; /* work for building tables */
	uint64_t build_ns; /* time for building tables */
};
void unwind_files_stats(const struct unwind_files *fs, struct unwind_files_stats *st);

#endif /* SCAP_UNWIND_UNWIND_FILES_H */
