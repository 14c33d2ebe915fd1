/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections whose plaintext is known: from the first event of TLS on, only its events have the
 * bytes of the connection, and those of the socket are ignored. A connection of which the socket is
 * not known yet is found by its address in the memory of the process.
 */
#ifndef SINSP_REQUESTS_TLS_CONN_H
#define SINSP_REQUESTS_TLS_CONN_H

#include "conn.h"

/* Returns whether the event has plaintext of TLS. */
int tls_is_plain(const struct sinsp_evt *evt);

/* Returns the connection of such an event, @fd is its socket or NULL; NULL: it is not followed, or
 * there is no memory. */
struct sinsp_conn *tls_conn_of(struct sinsp_requests *rs, const struct sinsp_evt *evt,
			       const struct sinsp_fd *fd);

#endif /* SINSP_REQUESTS_TLS_CONN_H */
