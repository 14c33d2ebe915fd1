/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections of the server with their deadlines. libmicrohttpd ends a connection that is silent;
 * one that sends or takes a byte now and then would last for ever. Here each has CONNECTION_NS for
 * a complete response, from its begin or the last response on.
 */
#ifndef SAKER_EXPORTER_CONNECTIONS_H
#define SAKER_EXPORTER_CONNECTIONS_H

#include <pthread.h>
#include <stdint.h>

#define CONNECTION_NS 30000000000ull

enum { CONNECTIONS_MAX = 16 };

struct connections {
	pthread_mutex_t
		lock; /* of the table: the server's thread changes it, any thread checks it */
	struct connection {
		int fd; /* -1: free */
		uint64_t since_ns;
	} v[CONNECTIONS_MAX];
};

void connections_init(struct connections *cs);
/* Returns the place of a new connection; NULL: none is free. */
struct connection *connections_add(struct connections *cs, int fd, uint64_t now_ns);
/* A response was sent completely. NULL is allowed. */
void connections_restart(struct connections *cs, struct connection *c, uint64_t now_ns);
/* Before the socket is closed. NULL is allowed. */
void connections_remove(struct connections *cs, struct connection *c);
/* Shuts down those whose time is over. Returns their number. */
unsigned int connections_check(struct connections *cs, uint64_t now_ns);

#endif /* SAKER_EXPORTER_CONNECTIONS_H */
