/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fd table: descriptor -> struct sinsp_fd. At most 96 bytes per descriptor in a process with
 * five, table included. Tables are copied on write, chunk by chunk: a fork costs the same however
 * many descriptors there are.
 */
#ifndef SINSP_STATE_FD_TABLE_H
#define SINSP_STATE_FD_TABLE_H

#include "fd.h"
#include "memory/intern.h"
#include "memory/slab.h"

#define SINSP_FILES_MAX (1 << 20) /* of one process: the default limit of Linux */
/* Limits for all processes, about 400 MB: a small capture could require any amount. */
#define SINSP_FILES_TOTAL_MAX (4 << 20)
#define SINSP_PLACES_TOTAL_MAX (8 << 20)

/* Called when the last descriptor of an open socket with a connection is gone. */
typedef void (*sinsp_file_end_fn)(void *ctx, struct sinsp_open_file *file);

/* Memory of all fd tables. */
struct sinsp_fd_mem {
	struct sinsp_slab fds, fds_with_ends, chunks, tables, files;
	sinsp_file_end_fn file_end; /* NULL: none */
	void *file_end_ctx;
	struct sinsp_strings *strings;
	uint64_t n_places; /* in large tables */
	uint64_t n_refused; /* changes dropped for lack of room */
};

void sinsp_fd_mem_init(struct sinsp_fd_mem *mem, struct sinsp_strings *strings);
void sinsp_fd_mem_fini(struct sinsp_fd_mem *mem);

#define SINSP_CHUNK_FILES 8
#define SINSP_KEYS_DENSE (1 << 17) /* keys below have a place of their own */

/* Eight neighbouring descriptors. */
struct sinsp_fd_chunk {
	uint32_t refs; /* tables that share it: written only by a single owner */
	uint32_t n;
	int64_t key; /* num / SINSP_CHUNK_FILES */
	struct sinsp_fd *fds[SINSP_CHUNK_FILES];
};

/* Open addressing by key; a small key has its own place, if free. */
struct sinsp_fd_table {
	uint32_t refs; /* sinsp_files that share it, copied on write */
	uint32_t n, n_chunks;
	uint32_t n_places; /* 0 or a power of two */
	struct sinsp_fd_chunk **places, *only; /* only: the place of a table of one chunk */
};

/* The descriptors of a process, counted: threads and processes may share them (CLONE_FILES). */
struct sinsp_files {
	uint32_t refs;
	uint32_t partial; /* /proc has more, not read yet */
	struct sinsp_fd_table *table; /* NULL: empty */
};

struct sinsp_files *sinsp_files_new(void); /* NULL: no memory */
struct sinsp_files *sinsp_files_ref(struct sinsp_files *f);
void sinsp_files_put(struct sinsp_fd_mem *mem, struct sinsp_files *f);
/* Returns a copy that changes separately, or NULL. */
struct sinsp_files *sinsp_files_copy(const struct sinsp_files *f);

static inline uint32_t sinsp_files_count(const struct sinsp_files *f)
{
	return f->table ? f->table->n : 0;
}

const struct sinsp_fd *sinsp_files_search(const struct sinsp_files *f, int64_t num);
static inline const struct sinsp_fd *sinsp_files_find(const struct sinsp_files *f, int64_t num)
{
	const int64_t key = num >> 3;
	const struct sinsp_fd_chunk *c;

	if (f && f->table && (uint64_t)key < SINSP_KEYS_DENSE && key < f->table->n_places) {
		c = f->table->places[key];
		if (!c)
			return NULL;
		if (c->key == key)
			return c->fds[num % SINSP_CHUNK_FILES];
	}
	return sinsp_files_search(f, num);
}
/* Returns descriptor @num for writing, valid until the next change. NULL: none, no memory, or no
 * room. */
struct sinsp_fd *sinsp_files_edit(struct sinsp_fd_mem *mem, struct sinsp_files *f, int64_t num);
/* Like sinsp_files_edit, with room for the two ends of a socket. */
struct sinsp_fd *sinsp_files_edit_socket(struct sinsp_fd_mem *mem, struct sinsp_files *f,
					 int64_t num);
/* Adds descriptor @num of @type (enum scap_fd_type) with the name "", or clears it. NULL: no
 * memory, no room, or an invalid number. */
struct sinsp_fd *sinsp_files_add(struct sinsp_fd_mem *mem, struct sinsp_files *f, int64_t num,
				 unsigned int type);
void sinsp_files_remove(struct sinsp_fd_mem *mem, struct sinsp_files *f, int64_t num);
/* Removes the descriptors for which @drop returns nonzero. */
void sinsp_files_sweep(struct sinsp_fd_mem *mem, struct sinsp_files *f,
		       int (*drop)(const struct sinsp_fd *fd, void *ctx), void *ctx);
/* Calls @fn for all, in no order; @fn must not change tables. */
void sinsp_files_each(const struct sinsp_files *f, void (*fn)(const struct sinsp_fd *fd, void *ctx),
		      void *ctx);

void sinsp_fd_set_name(struct sinsp_fd_mem *mem, struct sinsp_fd *fd, const char *p, size_t len);
/* Sets the name, followed by the path given to open if that is another text. */
void sinsp_fd_set_names(struct sinsp_fd_mem *mem, struct sinsp_fd *fd, const char *name, size_t len,
			const char *given, size_t given_len);
/* Copies all of @src except its number; the ends if @dst has them. */
void sinsp_fd_copy(struct sinsp_fd_mem *mem, struct sinsp_fd *dst, const struct sinsp_fd *src);

#endif /* SINSP_STATE_FD_TABLE_H */
