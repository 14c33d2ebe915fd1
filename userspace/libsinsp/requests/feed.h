/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of connections. */
#ifndef SINSP_REQUESTS_FEED_H
#define SINSP_REQUESTS_FEED_H

#include "conn.h"

/* Feeds @total bytes that were written (@out) or read, of which the first @captured are at @p. */
void conn_feed(struct sinsp_conn *c, int out, const uint8_t *p, size_t captured, uint64_t total);

#endif /* SINSP_REQUESTS_FEED_H */
