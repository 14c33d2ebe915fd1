/* SPDX-License-Identifier: Apache-2.0 */
/* Datagram sockets: a connection for each peer. */
#ifndef SINSP_REQUESTS_DATAGRAM_H
#define SINSP_REQUESTS_DATAGRAM_H

#include "conn.h"

/* Returns whether the descriptor is a datagram socket that is followed. */
int datagram_is(const struct sinsp_fd *fd);
/* Returns the connection of the socket with the peer of the call; NULL: the peer is unknown, or
 * there is no memory. */
struct sinsp_conn *datagram_conn(struct sinsp_requests *rs, const struct sinsp_evt *evt,
				 const struct sinsp_fd *fd, int out);
/* Feeds the datagrams of the call, @total bytes in all. Ends requests that were not answered in
 * time, and the connection if its protocol is unknown. */
void datagram_feed(struct sinsp_conn *c, const struct sinsp_evt *evt, int out, const uint8_t *p,
		   size_t captured, uint64_t total);
/* Ends the connections of the socket. */
void datagram_end(struct sinsp_open_file *file, const char *why);

#endif /* SINSP_REQUESTS_DATAGRAM_H */
