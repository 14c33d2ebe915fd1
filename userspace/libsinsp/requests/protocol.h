/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a protocol implements, and what it may call. A protocol is one file with the functions of
 * its row, and one line in protocols.def. It sees one connection as two streams of bytes, from the
 * client and from the server, whichever of them is watched; it turns them into requests.
 *
 * The bytes are hostile, and captures cut them. A protocol reads p[0] to p[n - 1] only, keeps no
 * pointer to them, and does at most O(n) work for n bytes.
 */
#ifndef SINSP_REQUESTS_PROTOCOL_H
#define SINSP_REQUESTS_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>

#include "request.h"

struct sinsp_conn;

/* A message whose beginning needs more bytes than this counts as cut. */
#define REQ_BUFFER_MAX (16 << 10)
/* A stream whose first bytes are fewer than this may be undecided: REQ_MAYBE. */
#define REQ_MATCH_MAX 256
/* Open requests of a protocol whose messages name them: each message searches all of them. */
#define REQ_SEARCHED_MAX 256

/* Which end sent the bytes. */
enum req_from { REQ_CLIENT, REQ_SERVER, REQ_UNKNOWN };

/* Bytes at which a call of one of the streams began; the first bytes, or those in the middle of a
 * connection. */
struct req_look {
	const uint8_t *p;
	size_t n;
	enum req_from from;
	uint8_t by_port; /* a port of the connection is one of the protocol's */
	uint8_t datagram; /* all bytes of one message */
	uint8_t cut; /* more bytes followed, and were not captured */
};

enum req_match {
	REQ_NO,
	REQ_MAYBE, /* too few bytes to decide */
	REQ_IS_REQUEST, /* it is, and the client sent these bytes */
	REQ_IS_RESPONSE, /* it is, and the server sent them */
};

enum req_parse_flags {
	REQ_F_CUT = 1 << 0, /* the bytes behind these were not captured: use what is here, now */
	REQ_F_SEARCH = 1 << 1, /* bytes before these were lost: these begin a call, and perhaps a
				  message */
	REQ_F_DATAGRAM = 1 << 2, /* a whole datagram */
};

/* Results of parse besides the number of bytes that were consumed. */
enum {
	REQ_MORE = 0, /* the bytes are the beginning of something: call again with more */
	REQ_LOST = -1, /* no message begins here, or its end is unknown: drop the rest of the
			  call's bytes, and search */
	REQ_SWITCHED = -2, /* req_switch was called: the new protocol parses these bytes */
};

struct req_protocol {
	const char *name; /* request.proto */
	const uint16_t *ports; /* usual ports of servers, a hint; ends with 0 */
	size_t state_sz; /* of its state of a connection, which begins with zeros */
	uint8_t streams, datagrams; /* whether it runs over these */
	uint16_t open_max; /* open requests of a connection, of a protocol that searches them for
			      each message; 0: CONN_OPEN_MAX */

	/*
	 * Returns whether the bytes are of this protocol. REQ_NO unless that is quite certain: most
	 * connections are of other protocols. With by_port weaker signs are enough.
	 */
	enum req_match (*match)(const struct req_look *look);

	/*
	 * Parses the message, or part of one, at the beginning of the @n bytes, n > 0. Returns the
	 * number of bytes consumed, 1 to n, or one of the results above. Called again for the rest.
	 */
	int (*parse)(struct sinsp_conn *c, enum req_from from, const uint8_t *p, size_t n,
		     unsigned int flags);

	/* @n further datagrams of @bytes in all were sent in the same call, and not captured; NULL:
	 * nothing to do. */
	void (*unseen)(struct sinsp_conn *c, enum req_from from, uint32_t n, uint64_t bytes);
	/* Bytes of the stream were lost; NULL: nothing to do. */
	void (*lost)(struct sinsp_conn *c, enum req_from from);
	/* Frees what the state owns; NULL: nothing. */
	void (*fini)(void *state);
};

#define PROTOCOL(symbol) extern const struct req_protocol req_##symbol;
#include "protocols.def"
#undef PROTOCOL

/* Returns the protocol's state of the connection. */
void *req_state(struct sinsp_conn *c);
/* Counts bytes that the state owns besides (negative: no longer). They count as freed by fini. */
void req_use(struct sinsp_conn *c, int64_t bytes);

/*
 * Adds a request that begins with the message which parse is called for, and makes that message the
 * request's: its bytes count for it, up to the next req_begin. It is the last of the open ones.
 * NULL: no memory, or too many.
 */
struct request *req_begin(struct sinsp_conn *c);
/* Makes the message from the client part of the open request @r; NULL: of none. */
void req_continue(struct sinsp_conn *c, struct request *r);

/* As req_continue or req_answer, by who sent the message. */
void req_belong(struct sinsp_conn *c, enum req_from from, struct request *r);

/* Adds a one-way message from the server, to which the bytes from the server belong from here on.
 */
struct request *req_push(struct sinsp_conn *c);
/* Removes an open request that turned out to be none. */
void req_cancel(struct sinsp_conn *c, struct request *r);
/* Returns the request that the current bytes of @from belong to; NULL: none. */
struct request *req_message(struct sinsp_conn *c, enum req_from from);

/* Return the first open request; the last; the one with @id; the next behind @r. NULL: none. */
struct request *req_first(struct sinsp_conn *c);
struct request *req_last(struct sinsp_conn *c);
struct request *req_find(struct sinsp_conn *c, uint64_t id);
/* Returns the first one that is not one-way. */
struct request *req_first_waiting(struct sinsp_conn *c);
struct request *req_next(struct request *r);

/* Makes the message from the server part of the response to @r; NULL: of none. */
void req_answer(struct sinsp_conn *c, struct request *r);
/* The same for a message before the response, as HTTP's 100: the response has not begun. */
void req_answer_early(struct sinsp_conn *c, struct request *r);

/* The rest of the response to @r cannot be followed, as a part was lost: all that the server sends
 * belongs to it, until the client sends again, which ends @r. Other open requests are lost then. */
void req_answer_rest(struct sinsp_conn *c, struct request *r);

/* Marks all open requests as truncated: what most protocols do, or begin with, where bytes were
 * lost. */
void req_lost(struct sinsp_conn *c, enum req_from from);

/* Ends @r with the last byte of the message, with all that req_skip skips. @r is valid until parse
 * returns. */
void req_end(struct sinsp_conn *c, struct request *r, enum req_from from);
/* Ends @r with the last byte that was counted for it. */
void req_end_now(struct sinsp_conn *c, struct request *r);

#define REQ_SKIP_ALL UINT64_MAX /* up to the end of the connection */
/*
 * Skips the @n bytes behind those that parse consumes: the rest of the message, which need not be
 * captured.
 */
void req_skip(struct sinsp_conn *c, enum req_from from, uint64_t n);

/* Gives the connection to another protocol, from the bytes on that parse was called for, or that
 * follow those it consumes. NULL: to none, nothing more is parsed. */
void req_switch(struct sinsp_conn *c, const struct req_protocol *to);

#endif /* SINSP_REQUESTS_PROTOCOL_H */
