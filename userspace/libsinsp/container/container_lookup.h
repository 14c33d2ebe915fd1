/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks docker and podman for the names of containers, in a thread of its own: whoever asks
 * never waits. What is asked, what is answered, and how often, are bounded; what fails is
 * tried again a few times, ever more seldom, and then given up.
 */
#ifndef SINSP_CONTAINER_CONTAINER_LOOKUP_H
#define SINSP_CONTAINER_CONTAINER_LOOKUP_H

#include <stddef.h>
#include <stdint.h>

#include "container_match.h"

struct sinsp_lookup;

struct sinsp_lookup_opts {
	size_t sz;
	const char *socket; /* asked about every container; NULL: where docker and podman listen */
	void (*on_start)(void); /* called first in the thread; NULL: nothing is to be done there */
	int timeout_ms; /* of a question; 0: 2000 */
	int retry_ms; /* before the second try, four times as long before the next; 0: 1000 */
};

/*
 * Asks about the system's containers that run already, of its own accord: begun before a capture,
 * their names are there when it begins. 0 or a negative errno.
 */
int sinsp_lookup_new(struct sinsp_lookup **out, const struct sinsp_lookup_opts *opts);
/* Ends a question that is under way. NULL is fine. */
void sinsp_lookup_free(struct sinsp_lookup *l);

/* Whether there is anybody to ask about containers of this type. */
int sinsp_lookup_knows(enum sinsp_container_type type);

/* 0, also if it is being asked about; -EAGAIN: too many are. @uid: who runs it, SINSP_NO_UID: the
 * system. */
int sinsp_lookup_ask(struct sinsp_lookup *l, enum sinsp_container_type type, uint32_t uid,
		     const char *id, const char *full_id);

struct sinsp_lookup_result {
	struct sinsp_lookup_result *next;
	char *json; /* of a container event; NULL: nothing was found out */
	char id[13]; /* of the container in it */
	char *note; /* what a person may want to know; NULL: nothing */
	int is_warning; /* the note is of a server that the person named */
};

/* What was found out since, the oldest first; NULL: nothing. Costs a load when there is nothing.
 * The caller owns each (end with result_free). */
struct sinsp_lookup_result *sinsp_lookup_take(struct sinsp_lookup *l);
void sinsp_lookup_result_free(struct sinsp_lookup_result *r);

#endif /* SINSP_CONTAINER_CONTAINER_LOOKUP_H */
