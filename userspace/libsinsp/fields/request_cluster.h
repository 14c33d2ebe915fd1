/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters of requests: paths and statements without the parts that differ from one request to the
 * next. */
#ifndef SINSP_FIELDS_REQUEST_CLUSTER_H
#define SINSP_FIELDS_REQUEST_CLUSTER_H

#include <stddef.h>

/* Both write at most @len bytes to @out, no more than the text has, and return how many. */

/* "/a/123/b?x=1" -> a path with an asterisk for each segment that looks like an identifier, and
 * without its query. */
size_t request_route(char *out, const char *text, size_t len);
/* "SELECT * FROM t WHERE id = 5" -> the statement with ? for each literal, and with single spaces.
 * A list of literals is one. */
size_t request_query(char *out, const char *text, size_t len);

#endif /* SINSP_FIELDS_REQUEST_CLUSTER_H */
