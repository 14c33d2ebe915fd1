/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections: a socket, or a datagram socket and one of its peers, with its two streams, the
 * protocol that was recognised, and its open requests. The limits are documented in
 * docs/requests.md.
 */
#ifndef SINSP_REQUESTS_CONN_H
#define SINSP_REQUESTS_CONN_H

#include "nesting.h"
#include "protocol.h"
#include "requests.h"
#include "state/inspector.h"

#define CONNS_MAX (1u << 16)
#define CONN_OPEN_MAX 4096 /* requests, of a protocol that answers them in their order */
#define CONN_MEMORY_MAX (64ull << 20) /* buffers, states and requests of all connections */
#define CONN_IDLE_NS 10000000000ull /* ends responses without a known end */
#define CONNS_KEPT 256 /* of datagrams, without an open request */
#define CONN_LOOKS_MAX 32 /* attempts to recognise the protocol */
#define TLS_BUCKETS 256 /* a power of two */

/* The ends of a connection as its socket sees them. */
struct conn_key {
	uint16_t family, local_port, remote_port, is_udp;
	uint8_t local[16], remote[16]; /* addresses; of unix sockets the kernel's identity */
};

/* A TLS connection as its process has it. */
struct tls_key {
	uint64_t ssl; /* its address; 0: none */
	int64_t pid;
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
	uint64_t begin_ns, end_ns;
	int64_t tid, fd;
	uint64_t missing; /* bytes that were not captured */
	uint8_t out; /* the bytes are written */
	uint8_t datagram;
};

/* Bytes of a call, or of one of its messages. */
struct conn_bytes {
	const uint8_t *p;
	size_t captured;
	uint64_t total;
	const struct scap_param *tuple; /* ends of the message; empty: it has none of its own */
	uint32_t n_others; /* messages behind this one that were not captured */
	uint64_t others; /* their bytes */
};

struct sinsp_conn {
	struct sinsp_requests *rs;
	struct sinsp_open_file *files; /* sockets of this connection; of datagrams only one */
	struct sinsp_conn *next_peer, *prev_peer; /* of the same datagram socket */
	struct sinsp_conn **kept; /* its place in the table of these; NULL: none */
	struct sinsp_conn *next_by_key, *next_by_tls, *newer, *older;
	struct tls_key tls; /* by which it is found as long as its socket is unknown */
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
	struct request *unpaired; /* those before it are paired (nesting.c); NULL: all are */
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
	uint8_t plain; /* the bytes are plaintext of TLS: those of the socket are ignored */
	uint8_t rest; /* the server's bytes are skipped up to the next ones of the client */
};

struct sinsp_requests {
	struct sinsp *s;
	struct sinsp_conn **by_key; /* hashed */
	struct sinsp_conn *by_tls[TLS_BUCKETS]; /* those without a socket; hashed */
	struct sinsp_conn *newest, *oldest;
	struct sinsp_conn *kept[CONNS_KEPT]; /* NULL: no longer */
	uint32_t n_kept; /* in all */
	struct sinsp_slab requests;
	struct req_nesting nesting;
	struct sinsp_requests_stats stats;
	uint64_t seed;
	uint64_t now_ns; /* time of the last event */
	uint64_t sweep_at_ns;
	uint64_t used; /* memory */
	uint64_t num; /* of the last request */
};

/* ---- the table ---- */

/* Returns whether the descriptor is one of IPv4 or IPv6. */
int conn_is_inet(const struct sinsp_fd *fd);
/* Sets the ends of a socket; family 0: unknown. */
void conn_make_key(struct conn_key *key, const struct sinsp_fd *fd);
/* Returns the connection with these ends; NULL. */
struct sinsp_conn *conn_find(const struct sinsp_requests *rs, const struct conn_key *key);
void conn_add_key(struct sinsp_conn *c);
/* Removes the connection from the table, if it is there. */
void conn_remove_key(struct sinsp_conn *c);
/* The same by the address of a connection of TLS, as long as its socket is unknown. */
struct sinsp_conn *conn_find_tls(struct sinsp_requests *rs, const struct tls_key *key);
void conn_add_tls(struct sinsp_conn *c, const struct tls_key *key);
void conn_remove_tls(struct sinsp_conn *c);
/* Returns the other end, if it is on this machine and was seen; NULL. */
struct sinsp_conn *conn_peer(const struct sinsp_conn *c);

/* In the order of use: adds as the newest, removes, makes the newest. */
void conn_link(struct sinsp_conn *c);
void conn_unlink(struct sinsp_conn *c);
void conn_touch(struct sinsp_conn *c);

/* Counts memory that is used, or freed (negative), without evicting others: see conn_use. */
static inline void conn_count(struct sinsp_conn *c, int64_t bytes)
{
	c->used += (uint64_t)bytes;
	c->rs->used += (uint64_t)bytes;
}

static inline void conn_release(struct sinsp_conn *c, int64_t bytes)
{
	conn_count(c, -bytes);
}

#endif /* SINSP_REQUESTS_CONN_H */
