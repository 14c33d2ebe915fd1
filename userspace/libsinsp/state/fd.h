/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An open file, and a table of them: fd number -> struct sinsp_fd. At most 96 bytes each in a
 * process with five, one of them a socket, the table included. Tables are copied when they are
 * changed, piece by piece: a fork costs the same however many files there are.
 */
#ifndef SINSP_STATE_FD_H
#define SINSP_STATE_FD_H

#include <stddef.h>
#include <stdint.h>

#include "memory/intern.h"
#include "memory/slab.h"
#include "scap.h"

enum sinsp_fd_flags {
	SINSP_FD_F_SERVER = 1 << 0, /* our end accepted the connection */
	SINSP_FD_F_CLIENT = 1 << 1, /* our end made it */
	SINSP_FD_F_CLOEXEC = 1 << 2,
	SINSP_FD_F_CONNECTED = 1 << 3,
	SINSP_FD_F_CONNECT_PENDING = 1 << 4,
	SINSP_FD_F_CONNECT_FAILED = 1 << 5,
	SINSP_FD_F_CLOSING = 1 << 6, /* a close was entered and has not returned */
	SINSP_FD_F_REOPENED = 1 << 7, /* made while that close went on: it is not what closes */
	SINSP_FD_F_RESYNCED = 1 << 8, /* learnt from /proc: not before events of that time came */
	SINSP_FD_F_GIVEN = 1 << 9, /* behind its name's NUL is what it was called when opened */
};

/* Pending and connected: SO_ERROR was 0, which is so until the outcome is there, too. */
#define SINSP_FD_CONNECT_STATES                                                                    \
	(SINSP_FD_F_CONNECTED | SINSP_FD_F_CONNECT_PENDING | SINSP_FD_F_CONNECT_FAILED)

struct sinsp_tuple {
	uint8_t sip[16], dip[16]; /* network order; IPv4 in the first four; a listening socket has
				     sip, sport */
	uint16_t sport, dport;
};

struct sinsp_fd {
	const char *name; /* interned, "" if none; as sysdig's %fd.name */
	uint64_t ino;
	uint64_t as_of_ns; /* what it is, was so then; 0: from the beginning */
	int32_t num;
	uint32_t open_flags; /* PPM_O_* */
	uint32_t dev;
	uint8_t type; /* enum scap_fd_type; 0: unknown */
	uint8_t l4proto;
	uint16_t flags : 15; /* enum sinsp_fd_flags */
	uint16_t has_ends : 1; /* it lies in a struct sinsp_fd_with_ends */
};

/* What most files do not have, and have no room for. */
union sinsp_fd_ends {
	struct sinsp_tuple tuple; /* inet sockets */
	struct {
		uint64_t unix_src, unix_dst;
	};
	uint64_t pid; /* of a pidfd */
};

/* The outcome of a socket's last connect, which may come long after the call. */
struct sinsp_connect {
	uint64_t begin_ns; /* of the first call; 0: not known */
	uint64_t latency_ns; /* from there until the process learnt the outcome */
	uint16_t error; /* 0: it succeeded */
	uint8_t known; /* the outcome is */
	uint8_t has_latency;
};

struct sinsp_fd_with_ends {
	struct sinsp_fd fd;
	union sinsp_fd_ends ends;
	struct sinsp_connect connect;
};

/* All zero for a file that has none. */
static inline const union sinsp_fd_ends *sinsp_fd_ends(const struct sinsp_fd *fd)
{
	static const union sinsp_fd_ends none;

	return fd->has_ends ? &((const struct sinsp_fd_with_ends *)fd)->ends : &none;
}

static inline const struct sinsp_tuple *sinsp_fd_tuple(const struct sinsp_fd *fd)
{
	return &sinsp_fd_ends(fd)->tuple;
}

/* NULL: the file is no socket. */
static inline const struct sinsp_connect *sinsp_fd_connect(const struct sinsp_fd *fd)
{
	return fd->has_ends ? &((const struct sinsp_fd_with_ends *)fd)->connect : NULL;
}

/* @state is what is true of its connect from now on, 0 of one that was dissolved. */
static inline void sinsp_fd_set_connect_state(struct sinsp_fd *fd, unsigned int state)
{
	fd->flags &= ~SINSP_FD_CONNECT_STATES;
	fd->flags |= state;
}

/* To be changed: those of a file that was added as a socket or pidfd, or is edited as a socket. */
static inline union sinsp_fd_ends *sinsp_fd_edit_ends(struct sinsp_fd *fd)
{
	return fd->has_ends ? &((struct sinsp_fd_with_ends *)fd)->ends : NULL;
}

/* The letter that sysdig prints before a name: f file, d directory, 4t 6u ... sockets, p pipe. */
const char *sinsp_fd_typechar(const struct sinsp_fd *fd);
/* "file", "ipv4" ... as sysdig's %fd.type; NULL: not known. */
const char *sinsp_fd_typename(const struct sinsp_fd *fd);

/* PPM_O_*: values of the format. */
#define SINSP_O_RDONLY (1 << 0)
#define SINSP_O_WRONLY (1 << 1)
#define SINSP_O_DIRECTORY (1 << 10)
#define SINSP_O_TMPFILE (1 << 13)
#define SINSP_O_CLOEXEC (1 << 12)
#define SINSP_O_UPPER_LAYER (1 << 15)
#define SINSP_O_LOWER_LAYER (1 << 16)

#define SINSP_FILES_MAX (1 << 20) /* files of one process: what Linux allows by default */
/* Files of all processes, some 400 MB, and places for them: a small capture could ask for any
 * amount. */
#define SINSP_FILES_TOTAL_MAX (4 << 20)
#define SINSP_PLACES_TOTAL_MAX (8 << 20)

/* What tables of files take their memory from. */
struct sinsp_fd_mem {
	struct sinsp_slab fds, fds_with_ends, chunks, tables;
	struct sinsp_strings *strings;
	uint64_t n_places; /* of large tables */
	uint64_t n_refused; /* changes of tables that there was no room for */
};

void sinsp_fd_mem_init(struct sinsp_fd_mem *mem, struct sinsp_strings *strings);
void sinsp_fd_mem_fini(struct sinsp_fd_mem *mem);

#define SINSP_CHUNK_FILES 8
#define SINSP_KEYS_DENSE                                                                           \
	(1 << 17) /* keys that are their own home: of all numbers up to a million */

/* Files of neighbouring numbers. */
struct sinsp_fd_chunk {
	uint32_t refs; /* tables that have it: it is changed only by a table that has it alone */
	uint32_t n;
	int64_t key; /* num / SINSP_CHUNK_FILES */
	struct sinsp_fd *fds[SINSP_CHUNK_FILES];
};

/* Open addressing by key; a small key is its own place, if free. */
struct sinsp_fd_table {
	uint32_t refs; /* files that have it; as above */
	uint32_t n, n_chunks;
	uint32_t n_places; /* 0 or a power of two */
	struct sinsp_fd_chunk **places, *only; /* only: the places of a table of one */
};

/* The files of a process. Counted: processes may share them, as after CLONE_FILES. */
struct sinsp_files {
	uint32_t refs;
	uint32_t partial; /* there are more, in /proc */
	struct sinsp_fd_table *table; /* NULL: no files */
};

struct sinsp_files *sinsp_files_new(void); /* NULL: no memory */
struct sinsp_files *sinsp_files_ref(struct sinsp_files *f);
void sinsp_files_put(struct sinsp_fd_mem *mem, struct sinsp_files *f);
/* The same files, to be changed apart; NULL: no memory. */
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
/* The file @num, to be changed; the pointer holds until the next change. NULL: there is none, no
 * memory, or no room. */
struct sinsp_fd *sinsp_files_edit(struct sinsp_fd_mem *mem, struct sinsp_files *f, int64_t num);
/* The same with ends: what comes of it is a socket. */
struct sinsp_fd *sinsp_files_edit_socket(struct sinsp_fd_mem *mem, struct sinsp_files *f,
					 int64_t num);
/* The file @num, emptied if there was one, of @type (enum scap_fd_type) and with name "". NULL: no
 * memory, too many, or no number of a file. */
struct sinsp_fd *sinsp_files_add(struct sinsp_fd_mem *mem, struct sinsp_files *f, int64_t num,
				 unsigned int type);
void sinsp_files_remove(struct sinsp_fd_mem *mem, struct sinsp_files *f, int64_t num);
/* Removes those for which @drop says so. */
void sinsp_files_sweep(struct sinsp_fd_mem *mem, struct sinsp_files *f,
		       int (*drop)(const struct sinsp_fd *fd, void *ctx), void *ctx);
/* All of them, in no order; @fn changes no table. */
void sinsp_files_each(const struct sinsp_files *f, void (*fn)(const struct sinsp_fd *fd, void *ctx),
		      void *ctx);

void sinsp_fd_set_name(struct sinsp_fd_mem *mem, struct sinsp_fd *fd, const char *p, size_t len);
/* The name, and behind it what the call that opened it was given, if that is another text. */
void sinsp_fd_set_names(struct sinsp_fd_mem *mem, struct sinsp_fd *fd, const char *name, size_t len,
			const char *given, size_t given_len);
/* As it was given; its name, where nothing else is known. */
const char *sinsp_fd_given_name(const struct sinsp_fd *fd, size_t *len);
/* Source and destination of a socket change places. */
void sinsp_fd_swap_ends(struct sinsp_fd *fd);
/* All of @src but its number; its ends if @dst has room for them. */
void sinsp_fd_copy(struct sinsp_fd_mem *mem, struct sinsp_fd *dst, const struct sinsp_fd *src);

#endif /* SINSP_STATE_FD_H */
