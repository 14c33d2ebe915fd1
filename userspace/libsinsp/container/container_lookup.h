/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Container lookup: queries docker and podman for the names of containers, and reads those of
 * containerd, CRI-O and podman in their files (container_files.h), in its own thread, so that
 * callers never wait. Requests, answers and rate are bounded; a failed query is retried a few
 * times, at growing intervals.
 */
#ifndef SINSP_CONTAINER_CONTAINER_LOOKUP_H
#define SINSP_CONTAINER_CONTAINER_LOOKUP_H

#include <stddef.h>
#include <stdint.h>

#include "container_match.h"

struct sinsp_lookup;

struct sinsp_lookup_opts {
	size_t sz;
	const char
		*socket; /* queried about every container; NULL: the sockets of docker and podman */
	void (*on_start)(void); /* called first in the thread; NULL: none */
	const char *cri; /* socket of the runtime for Kubernetes, queried for labels of pods; NULL:
			    none */
	const char *root; /* before the paths of runtimes' files and of the default sockets; NULL:
			     nothing */
	int timeout_ms; /* of a query; 0: 2000 */
	int retry_ms; /* before the first retry, four times as long before the next; 0: 1000 */
};

/* Starts the thread, which first queries the running containers of the system, so that the names of
 * those that run before the capture are known. Returns 0, or -errno with *out untouched. */
int sinsp_lookup_new(struct sinsp_lookup **out, const struct sinsp_lookup_opts *opts);
/* Aborts a query in progress. NULL is allowed. */
void sinsp_lookup_free(struct sinsp_lookup *l);

/* Returns whether there is a server, or files, for containers of this type. */
int sinsp_lookup_supports(enum sinsp_container_type type);

/* Requests a look-up. Returns 0, also if one is pending; -EAGAIN: too many are. @uid: the user who
 * runs it, SINSP_NO_UID: the system. */
int sinsp_lookup_request(struct sinsp_lookup *l, enum sinsp_container_type type, uint32_t uid,
			 const char *id, const char *full_id);

struct sinsp_lookup_result {
	struct sinsp_lookup_result *next;
	char *json; /* of a container event; NULL: nothing was found */
	char id[13], full_id[65]; /* of the container in it */
	uint32_t uid; /* as requested: whose server answered */
	char *note; /* a note for the user; NULL: none */
	int is_warning; /* the note is about a server that the user named */
};

/* Returns the list of results since the last call, oldest first; NULL: none, which costs one load.
 * The caller owns each (end with result_free). */
struct sinsp_lookup_result *sinsp_lookup_results(struct sinsp_lookup *l);
void sinsp_lookup_result_free(struct sinsp_lookup_result *r);

#endif /* SINSP_CONTAINER_CONTAINER_LOOKUP_H */
