/* SPDX-License-Identifier: Apache-2.0 */
/* Datagram sockets: a connection for each peer. */
#ifndef SINSP_REQUESTS_DATAGRAM_H
#define SINSP_REQUESTS_DATAGRAM_H

#include "conn.h"

/* Returns whether the descriptor is a datagram socket that is followed. */
int datagram_is(const struct sinsp_fd *fd);
/* Returns the connection of the socket with the peer that @tuple names, which may be empty: then
 * with that of the descriptor. NULL: the peer is unknown, or there is no memory. */
struct sinsp_conn *datagram_conn(struct sinsp_requests *rs, const struct scap_param *tuple,
				 const struct sinsp_fd *fd, int out);
/* Feeds a datagram, and what is known of others of its call that were not captured. Ends requests
 * that were not answered in time, and the connection if its protocol is unknown. */
void datagram_feed(struct sinsp_conn *c, int out, const struct conn_bytes *bytes);
/* Ends the connections of the socket. */
void datagram_end(struct sinsp_open_file *file, const char *why);

#endif /* SINSP_REQUESTS_DATAGRAM_H */
