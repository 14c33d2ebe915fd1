/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fd table: descriptor -> struct sinsp_fd. At most 96 bytes per descriptor in a process with
 * five, table included. Tables are copied on write, chunk by chunk: a fork costs the same however
 * many descriptors there are.
 */
#ifndef SINSP_STATE_FD_H
#define SINSP_STATE_FD_H

#include <stddef.h>
#include <stdint.h>

#include "memory/intern.h"
#include "memory/slab.h"
#include "scap.h"

enum sinsp_fd_flags {
	SINSP_FD_F_SERVER = 1 << 0, /* the local end accepted the connection */
	SINSP_FD_F_CLIENT = 1 << 1, /* the local end connected */
	SINSP_FD_F_CLOEXEC = 1 << 2,
	SINSP_FD_F_CONNECTED = 1 << 3,
	SINSP_FD_F_CONNECT_PENDING = 1 << 4,
	SINSP_FD_F_CONNECT_FAILED = 1 << 5,
	SINSP_FD_F_CLOSING = 1 << 6, /* a close entered and did not return yet */
	SINSP_FD_F_REOPENED = 1 << 7, /* reused while that close ran */
	SINSP_FD_F_RESYNCED = 1 << 8, /* read from /proc, ahead of the events */
	SINSP_FD_F_GIVEN = 1 << 9, /* the path given to open follows the NUL of the name */
};

/* PENDING with CONNECTED: SO_ERROR was 0, which also holds while the connect continues. */
#define SINSP_FD_CONNECT_STATES                                                                    \
	(SINSP_FD_F_CONNECTED | SINSP_FD_F_CONNECT_PENDING | SINSP_FD_F_CONNECT_FAILED)

struct sinsp_tuple {
	uint8_t sip[16], dip[16]; /* network order; IPv4 in the first four; a listening socket has
				     sip and sport only */
	uint16_t sport, dport;
};

struct sinsp_fd {
	const char *name; /* interned, "" if none; as sysdig's %fd.name */
	uint64_t ino;
	uint64_t as_of_ns; /* time at which it is known to be correct; 0: the beginning */
	int32_t num;
	uint32_t open_flags; /* PPM_O_* */
	uint32_t dev;
	uint8_t type; /* enum scap_fd_type; 0: unknown */
	uint8_t l4proto;
	uint16_t flags : 15; /* enum sinsp_fd_flags */
	uint16_t has_ends : 1; /* part of a struct sinsp_fd_with_ends */
};

/* Members for sockets and pidfds only. */
union sinsp_fd_ends {
	struct sinsp_tuple tuple; /* inet sockets */
	struct {
		uint64_t unix_src, unix_dst;
	};
	uint64_t pid; /* of a pidfd */
};

/* Outcome of the last connect, which may come long after the call. */
struct sinsp_connect {
	uint64_t begin_ns; /* of the first call; 0: unknown */
	uint64_t latency_ns; /* until an event showed the outcome */
	uint16_t error; /* 0: success */
	uint8_t known; /* the outcome is known */
	uint8_t has_latency;
};

struct sinsp_fd_with_ends {
	struct sinsp_fd fd;
	union sinsp_fd_ends ends;
	struct sinsp_connect connect;
};

/* Returns the ends; all zero for a descriptor without. */
static inline const union sinsp_fd_ends *sinsp_fd_ends(const struct sinsp_fd *fd)
{
	static const union sinsp_fd_ends none;

	return fd->has_ends ? &((const struct sinsp_fd_with_ends *)fd)->ends : &none;
}

static inline const struct sinsp_tuple *sinsp_fd_tuple(const struct sinsp_fd *fd)
{
	return &sinsp_fd_ends(fd)->tuple;
}

/* Returns NULL for a descriptor that is not a socket. */
static inline const struct sinsp_connect *sinsp_fd_connect(const struct sinsp_fd *fd)
{
	return fd->has_ends ? &((const struct sinsp_fd_with_ends *)fd)->connect : NULL;
}

/* @state: the connect flags from now on; 0 after AF_UNSPEC. */
static inline void sinsp_fd_set_connect_state(struct sinsp_fd *fd, unsigned int state)
{
	fd->flags &= ~SINSP_FD_CONNECT_STATES;
	fd->flags |= state;
}

/* Returns the ends for writing. NULL: the descriptor was not added or edited as a socket or
 * pidfd. */
static inline union sinsp_fd_ends *sinsp_fd_edit_ends(struct sinsp_fd *fd)
{
	return fd->has_ends ? &((struct sinsp_fd_with_ends *)fd)->ends : NULL;
}

/* Returns the letter that sysdig prints before a name: f file, d directory, 4t 6u sockets ... */
const char *sinsp_fd_typechar(const struct sinsp_fd *fd);
/* Returns "file", "ipv4" ... as sysdig's %fd.type; NULL: unknown. */
const char *sinsp_fd_typename(const struct sinsp_fd *fd);

/* PPM_O_*: values of the format. */
#define SINSP_O_RDONLY (1 << 0)
#define SINSP_O_WRONLY (1 << 1)
#define SINSP_O_DIRECTORY (1 << 10)
#define SINSP_O_TMPFILE (1 << 13)
#define SINSP_O_CLOEXEC (1 << 12)
#define SINSP_O_UPPER_LAYER (1 << 15)
#define SINSP_O_LOWER_LAYER (1 << 16)

#define SINSP_FILES_MAX (1 << 20) /* of one process: the default limit of Linux */
/* Of all processes, about 400 MB, and places in hash tables: a small capture could require any
 * amount. */
#define SINSP_FILES_TOTAL_MAX (4 << 20)
#define SINSP_PLACES_TOTAL_MAX (8 << 20)

/* Memory of all fd tables. */
struct sinsp_fd_mem {
	struct sinsp_slab fds, fds_with_ends, chunks, tables;
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
/* As sinsp_files_edit, with room for the two ends of a socket. */
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
/* Returns the path given to open, else the name. */
const char *sinsp_fd_given_name(const struct sinsp_fd *fd, size_t *len);
/* Swaps source and destination of a socket. */
void sinsp_fd_swap_ends(struct sinsp_fd *fd);
/* Copies all of @src except its number; the ends if @dst has them. */
void sinsp_fd_copy(struct sinsp_fd_mem *mem, struct sinsp_fd *dst, const struct sinsp_fd *src);

#endif /* SINSP_STATE_FD_H */
