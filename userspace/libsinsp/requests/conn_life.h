/* SPDX-License-Identifier: Apache-2.0 */
/* The life of connections, of their protocol, and of their requests. */
#ifndef SINSP_REQUESTS_CONN_LIFE_H
#define SINSP_REQUESTS_CONN_LIFE_H

#include "conn.h"

/* Returns the connection of a stream socket; NULL: it is not followed, or there is no memory. */
struct sinsp_conn *conn_of(struct sinsp_requests *rs, const struct sinsp_fd *fd);
/* Returns a new connection of the socket with the ends @key, which no open file has yet; NULL
 * without memory. */
struct sinsp_conn *conn_new(struct sinsp_requests *rs, const struct sinsp_fd *fd,
			    struct sinsp_open_file *file, const struct conn_key *key);
void conn_free(struct sinsp_conn *c, const char *why);
/* Counts memory; evicts others if it exceeds the limit. */
void conn_use(struct sinsp_conn *c, int64_t bytes);

/* Ends all open requests: with the error @why, or those whose response may end here, without. */
void conn_end_requests(struct sinsp_conn *c, const char *why);
/* Ends those whose response has no known end. */
void conn_end_open(struct sinsp_conn *c);

void conn_set_protocol(struct sinsp_conn *c, const struct req_protocol *to);
void conn_drop_buffer(struct sinsp_conn *c, struct req_stream *s);
void conn_drop_streams(struct sinsp_conn *c);

#endif /* SINSP_REQUESTS_CONN_LIFE_H */
