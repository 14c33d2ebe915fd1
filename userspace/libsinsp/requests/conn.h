/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections: a socket with its two streams, the protocol that was recognised, and its open
 * requests. The limits are documented in docs/requests.md.
 */
#ifndef SINSP_REQUESTS_CONN_H
#define SINSP_REQUESTS_CONN_H

#include "protocol.h"
#include "requests.h"
#include "state/inspector.h"

#define CONNS_MAX (1u << 16)
#define CONN_OPEN_MAX 4096 /* requests */
#define CONN_MEMORY_MAX (64ull << 20) /* buffers, states and requests of all connections */
#define CONN_IDLE_NS 10000000000ull /* ends responses without a known end */
#define CONN_LOOKS_MAX 32 /* attempts to recognise the protocol */

/* The ends of a connection as its socket sees them. */
struct conn_key {
	uint16_t family, local_port, remote_port, is_udp;
	uint8_t local[16], remote[16]; /* addresses; of unix sockets the kernel's identity */
};

struct req_stream {
	uint8_t *buf; /* the beginning of a message; NULL: none */
	uint32_t n, cap;
	uint64_t begin_ns; /* of its first byte */
	uint64_t skip;
	struct request *message; /* whose bytes these are; NULL: none */
	uint8_t lost; /* searching for the beginning of a message */
};

/* The call that moves the bytes. */
struct conn_call {
	uint64_t begin_ns, end_ns, peer;
	int64_t tid, fd;
	uint8_t out; /* the bytes are written */
	uint8_t datagram;
};

struct sinsp_conn {
	struct sinsp_requests *rs;
	struct sinsp_open_file *files; /* sockets of this connection */
	struct sinsp_conn *next_by_key, *newer, *older;
	struct conn_key key; /* family 0: unknown */
	const char *path; /* interned: of a unix socket */
	const char
		*peer_name; /* interned: of the process at the other end, which has closed; NULL */
	int64_t peer_pid; /* its PID */
	const struct req_protocol *proto; /* NULL: not recognised */
	void *state; /* owned */
	int64_t state_used; /* bytes that the state owns besides */
	struct req_stream streams[2]; /* by enum req_from */
	struct request *first, *last;
	struct conn_call now; /* the current call, or the last one */
	uint64_t used; /* part of the limit of memory */
	uint32_t n_open;
	uint8_t client; /* the watched socket is the client's; assumed unless role_known */
	uint8_t role_known;
	uint8_t is_tcp, is_unix, is_udp;
	uint8_t looks; /* attempts to recognise the protocol */
	uint8_t opaque; /* nothing more is parsed */
	uint8_t is_generic; /* the protocol is generic, for lack of another */
	uint8_t switched;
	uint8_t rest; /* the server's bytes are skipped up to the next ones of the client */
};

struct sinsp_requests {
	struct sinsp *s;
	struct sinsp_conn **by_key; /* hashed */
	struct sinsp_conn *newest, *oldest;
	struct sinsp_slab requests;
	struct sinsp_requests_stats stats;
	uint64_t seed;
	uint64_t now_ns; /* time of the last event */
	uint64_t sweep_at_ns;
	uint64_t used; /* memory */
	uint64_t num; /* of the last request */
};

/* conn.c */
/* Returns the connection of the socket; NULL: it is not followed, or there is no memory. */
struct sinsp_conn *conn_of(struct sinsp_requests *rs, const struct sinsp_fd *fd);
/* Returns a number for the other end of the datagram socket. */
uint64_t conn_peer_hash(const struct sinsp_conn *c, const struct sinsp_fd *fd);
/* Returns the other end, if it is on this machine and was seen; NULL. */
struct sinsp_conn *conn_peer(const struct sinsp_conn *c);
void conn_touch(struct sinsp_conn *c);
/* Ends all open requests: with the error @why, or those whose response may end here, without. */
void conn_end_requests(struct sinsp_conn *c, const char *why);
void conn_free(struct sinsp_conn *c, const char *why);
/* Counts memory; evicts others if it exceeds the limit. */
void conn_use(struct sinsp_conn *c, int64_t bytes);

/* feed.c */
/* Feeds @total bytes that were written (@out) or read, of which the first @captured are at @p. */
void conn_feed(struct sinsp_conn *c, int out, const uint8_t *p, size_t captured, uint64_t total);
void conn_set_protocol(struct sinsp_conn *c, const struct req_protocol *to);
void conn_drop_streams(struct sinsp_conn *c);
/* Ends those whose response has no known end. */
void conn_end_open(struct sinsp_conn *c);

/* match.c */
/* Returns whether the bytes that follow may show the protocol. */
int conn_is_undecided(const struct sinsp_conn *c, enum req_from from);
/* Finds the protocol by bytes at the beginning of a call, and who sent them. Returns whether more
 * bytes are needed. */
int conn_recognise(struct sinsp_conn *c, enum req_from *from, const uint8_t *p, size_t n, int cut);

/* record.c */
/* Makes the event of a request, and frees it. */
void req_emit(struct sinsp_conn *c, struct request *r);
void req_drop(struct sinsp_conn *c, struct request *r);

#endif /* SINSP_REQUESTS_CONN_H */
