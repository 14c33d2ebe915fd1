/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An open file, and a table of them: fd number -> struct sinsp_fd. At most 96 bytes each,
 * the table's slot included.
 */
#ifndef SINSP_STATE_FD_H
#define SINSP_STATE_FD_H

#include <stddef.h>
#include <stdint.h>

#include "intern.h"
#include "scap.h"
#include "slab.h"

enum sinsp_fd_flags {
	SINSP_FD_F_SERVER = 1 << 0, /* our end accepted the connection */
	SINSP_FD_F_CLIENT = 1 << 1, /* our end made it */
	SINSP_FD_F_CLOEXEC = 1 << 2,
	SINSP_FD_F_CONNECTED = 1 << 3,
	SINSP_FD_F_CONNECT_PENDING = 1 << 4,
	SINSP_FD_F_CONNECT_FAILED = 1 << 5,
	SINSP_FD_F_CLOSING = 1 << 6, /* a close was entered and has not returned */
	SINSP_FD_F_REOPENED = 1 << 7, /* made while that close went on: it is not what closes */
};

struct sinsp_tuple {
	uint8_t sip[16], dip[16]; /* network order; IPv4 in the first four; a listening socket has
				     sip, sport */
	uint16_t sport, dport;
};

struct sinsp_fd {
	int64_t num;
	uint64_t ino;
	const char *name; /* interned, "" if none; as sysdig's %fd.name */
	union {
		struct sinsp_tuple tuple; /* inet sockets */
		struct {
			uint64_t unix_src, unix_dst;
		};
		int64_t pid; /* of a pidfd */
	};
	uint32_t open_flags; /* PPM_O_* */
	uint32_t dev;
	uint8_t type; /* enum scap_fd_type; 0: unknown */
	uint8_t l4proto;
	uint16_t flags; /* enum sinsp_fd_flags */
	uint32_t mode;
};

/* The letter sysdig prints before a name: f file, d directory, 4t 6u ... sockets, p pipe, u unix.
 */
const char *sinsp_fd_typechar(const struct sinsp_fd *fd);

/* PPM_O_*: values of the format. */
#define SINSP_O_DIRECTORY (1 << 10)
#define SINSP_O_CLOEXEC (1 << 12)

/* What tables of files take their memory from. */
struct sinsp_fd_mem {
	struct sinsp_slab fds;
	struct sinsp_strings *strings;
	uint64_t n_refused; /* files, or copies of tables, that there was no room for */
};

#define SINSP_FILES_MAX (1 << 20) /* files of one process: what Linux allows by default */
/* Files of all processes, some 400 MB: each fork copies a table, so that a small capture could
 * ask for any amount. */
#define SINSP_FILES_TOTAL_MAX (4 << 20)

#define SINSP_FILES_DENSE 4096

/* Open addressing by number; below SINSP_FILES_DENSE a number is its own slot, if free. Counted:
 * processes may share. */
struct sinsp_files {
	uint32_t refs;
	uint32_t n, n_slots; /* n_slots: 0 or a power of two */
	struct sinsp_fd **slots;
};

struct sinsp_files *sinsp_files_new(void); /* NULL: no memory */
struct sinsp_files *sinsp_files_ref(struct sinsp_files *f);
void sinsp_files_put(struct sinsp_fd_mem *mem, struct sinsp_files *f);
/* A table of its own with the same files; NULL: no memory, or too many. */
struct sinsp_files *sinsp_files_copy(struct sinsp_fd_mem *mem, const struct sinsp_files *f);

struct sinsp_fd *sinsp_files_search(const struct sinsp_files *f, int64_t num);
static inline struct sinsp_fd *sinsp_files_find(const struct sinsp_files *f, int64_t num)
{
	struct sinsp_fd *fd;

	if (f && (uint64_t)num < SINSP_FILES_DENSE && (uint64_t)num < f->n_slots) {
		fd = f->slots[num];
		if (!fd || fd->num == num)
			return fd;
	}
	return sinsp_files_search(f, num);
}
/* The file @num, emptied if there was one: name "", type 0. NULL: no memory, or too many. */
struct sinsp_fd *sinsp_files_add(struct sinsp_fd_mem *mem, struct sinsp_files *f, int64_t num);
void sinsp_files_remove(struct sinsp_fd_mem *mem, struct sinsp_files *f, int64_t num);
/* Removes those for which @drop says so. */
void sinsp_files_sweep(struct sinsp_fd_mem *mem, struct sinsp_files *f,
		       int (*drop)(const struct sinsp_fd *fd, void *ctx), void *ctx);

void sinsp_fd_set_name(struct sinsp_fd_mem *mem, struct sinsp_fd *fd, const char *p, size_t len);
/* All of @src but its number. */
void sinsp_fd_copy(struct sinsp_fd_mem *mem, struct sinsp_fd *dst, const struct sinsp_fd *src);

#endif /* SINSP_STATE_FD_H */
