/* SPDX-License-Identifier: Apache-2.0 */
/* A file descriptor of a process, and the two ends of one that is a socket. */
#ifndef SINSP_STATE_FD_H
#define SINSP_STATE_FD_H

#include <stddef.h>
#include <stdint.h>

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

struct sinsp_conn; /* requests/conn.h */

/* An open socket, which all descriptors made of it share: those of dup, fork and pidfd_getfd. A
 * descriptor from /proc or from a message has one of its own. */
struct sinsp_open_file {
	uint32_t refs; /* descriptors */
	uint8_t imported; /* it existed before its descriptor was seen */
	struct sinsp_conn *conn; /* the requests on it; NULL: none, or not followed */
	struct sinsp_open_file *next; /* the next one of that connection */
	uint64_t opened_for; /* id of the request that its thread served at connect; 0: none */
};

struct sinsp_fd_with_ends {
	struct sinsp_fd fd;
	union sinsp_fd_ends ends;
	struct sinsp_connect connect;
	struct sinsp_open_file *file; /* NULL: a pidfd, or no memory */
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

/* Returns the open socket; NULL: the descriptor is not a socket. */
static inline struct sinsp_open_file *sinsp_fd_file(const struct sinsp_fd *fd)
{
	return fd->has_ends ? ((const struct sinsp_fd_with_ends *)fd)->file : NULL;
}

/* Returns NULL for a descriptor that is not a socket. */
static inline const struct sinsp_connect *sinsp_fd_connect(const struct sinsp_fd *fd)
{
	return fd->has_ends ? &((const struct sinsp_fd_with_ends *)fd)->connect : NULL;
}

/* The same for writing. */
static inline struct sinsp_connect *sinsp_fd_edit_connect(struct sinsp_fd *fd)
{
	return fd->has_ends ? &((struct sinsp_fd_with_ends *)fd)->connect : NULL;
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
#define SINSP_O_FIFO (1 << 30)

/* Returns the path given to open, else the name. */
const char *sinsp_fd_given_name(const struct sinsp_fd *fd, size_t *len);
/* Swaps source and destination of a socket. */
void sinsp_fd_swap_ends(struct sinsp_fd *fd);

#endif /* SINSP_STATE_FD_H */
