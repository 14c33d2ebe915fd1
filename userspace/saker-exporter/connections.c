/* SPDX-License-Identifier: Apache-2.0 */
#include "connections.h"

#include <stddef.h>
#include <sys/socket.h>

void connections_init(struct connections *cs)
{
	pthread_mutex_init(&cs->lock, NULL);
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		cs->v[i].fd = -1;
}

struct connection *connections_add(struct connections *cs, int fd, uint64_t now_ns)
{
	struct connection *c = NULL;

	pthread_mutex_lock(&cs->lock);
	for (size_t i = 0; i < CONNECTIONS_MAX && !c; i++)
		if (cs->v[i].fd < 0)
			c = &cs->v[i];
	if (c)
		*c = (struct connection){fd, now_ns};
	pthread_mutex_unlock(&cs->lock);
	return c;
}

void connections_restart(struct connections *cs, struct connection *c, uint64_t now_ns)
{
	if (!c)
		return;
	pthread_mutex_lock(&cs->lock);
	c->since_ns = now_ns;
	pthread_mutex_unlock(&cs->lock);
}

void connections_remove(struct connections *cs, struct connection *c)
{
	if (!c)
		return;
	pthread_mutex_lock(&cs->lock);
	c->fd = -1;
	pthread_mutex_unlock(&cs->lock);
}

unsigned int connections_check(struct connections *cs, uint64_t now_ns)
{
	unsigned int n = 0;

	pthread_mutex_lock(&cs->lock);
	for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
		struct connection *c = &cs->v[i];

		if (c->fd < 0 || now_ns < c->since_ns + CONNECTION_NS)
			continue;
		shutdown(c->fd, SHUT_RDWR);
		n++;
	}
	pthread_mutex_unlock(&cs->lock);
	return n;
}
