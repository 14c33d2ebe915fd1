/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP server, with a thread of its own that has no capabilities. */
#ifndef SAKER_EXPORTER_SERVER_H
#define SAKER_EXPORTER_SERVER_H

#include "exporter_options.h"
#include "page.h"

struct server;

/* Reads the files of TLS and authentication and binds the address, which may need privileges.
 * Returns 0 with *out owned by the caller, or a negative errno after reporting the reason. Borrows
 * @o. */
int server_new(struct server **out, const struct exporter_options *o);
/* Reads the files only. Returns 0, or a negative errno after reporting the reason. */
int server_check(const struct exporter_options *o);
/* Begins to serve. Borrows @ps and @front. Returns as server_new. */
int server_start(struct server *s, struct pages *ps, const char *front);
/* Prints the address. */
void server_say_where(const struct server *s);
/* Serves by other options from now on; their files are read again. Borrows @o. Returns 0; or a
 * negative errno after reporting the reason, with *s as it was. Connections that are
 * open go on for some seconds. */
int server_replace(struct server **s, const struct exporter_options *o);
/* Called now and then by the thread that captures: it is alive. Ends connections that take too
 * long. */
void server_tick(struct server *s, uint64_t now_ns);
/* Stops serving, and closes all connections. NULL is allowed. */
void server_free(struct server *s);

#endif /* SAKER_EXPORTER_SERVER_H */
