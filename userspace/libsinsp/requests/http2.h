/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP/2 on a connection that began with HTTP/1. */
#ifndef SINSP_REQUESTS_HTTP2_H
#define SINSP_REQUESTS_HTTP2_H

#include "protocol.h"

/* The server's message switches to HTTP/2 ("Upgrade: h2c"): @r becomes the request of stream 1, and
 * is answered there. */
void http2_upgrade(struct sinsp_conn *c, struct request *r);

#endif /* SINSP_REQUESTS_HTTP2_H */
