/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of containers, by ID. Each process counts as one use; unused containers are kept for a
 * while in a ring of fixed size, so that memory is bounded by what runs. cgroup paths and container
 * events describe them.
 */
#ifndef SINSP_CONTAINER_CONTAINERS_H
#define SINSP_CONTAINER_CONTAINERS_H

#include "container_json.h"
#include "container_match.h"
#include "memory/intern.h"
#include "state.h"

/* Texts are interned, "" if unknown. */
struct sinsp_container {
	const char *id; /* 12 hexadecimal digits, or a name */
	const char *full_id; /* all 64 digits; "" for a name */
	const char *name, *image;
	const char *image_id, *image_repo, *image_tag, *image_digest;
	const char *ip;
	const char *pod_uid; /* pod UID */
	const char *labels; /* "key=value", each with a NUL */
	const char *pod_labels; /* of its pod, the same */
	const char *mounts; /* SINSP_MOUNT_TEXTS for each, each with a NUL */
	const char *probes[SINSP_PROBE_MAX]; /* program and arguments, each ended by a NUL */
	int8_t privileged; /* -1: unknown */
	enum sinsp_container_type type;
	uint32_t uid; /* the user who runs it without root; SINSP_NO_UID: the system */

	uint32_t refs; /* processes and other users */
	uint16_t place; /* in the ring of unused ones, if refs is 0 */
	uint8_t has_event; /* from a container event */
	uint8_t requested; /* it is or was in the list of new containers */
	uint8_t owned; /* a path or an answer told uid and full_id */
	uint8_t overruled; /* a user's process has the ID of a container of the system, which is
			      another entry */
	struct sinsp_container *next; /* next in the bucket */
	struct sinsp_container *next_new;
};

#define SINSP_CONTAINERS_RETIRED 256 /* unused containers that are kept */
#define SINSP_CONTAINERS_CACHE 64

struct sinsp_containers {
	struct sinsp_strings *strings;
	struct sinsp_container **buckets;
	uint32_t n_buckets, n; /* a power of two; includes unused ones */
	struct sinsp_container *retired[SINSP_CONTAINERS_RETIRED];
	uint32_t next_retired;
	/* Cache by the address of the text of cgroups: these are interned, and few. */
	struct sinsp_container_cached {
		const char *cgroups; /* NULL: free */
		struct sinsp_container *container; /* NULL: the host */
	} cache[SINSP_CONTAINERS_CACHE];
	/* Containers without an event, for a look-up: sinsp_containers_next_new removes them. */
	uint8_t collects_new;
	struct sinsp_container *first_new;
};

int sinsp_containers_init(struct sinsp_containers *cs, struct sinsp_strings *strings);
void sinsp_containers_fini(struct sinsp_containers *cs);

/* Returns the container of an interned text of cgroups, NULL for the host. The caller owns one use
 * of it (end with put). */
struct sinsp_container *sinsp_containers_by_cgroups(struct sinsp_containers *cs,
						    const char *cgroups);
/* Ends a use. NULL is allowed. */
void sinsp_container_put(struct sinsp_containers *cs, struct sinsp_container *c);

/* Applies a container event. Returns NULL if it is invalid. The caller owns one use. */
struct sinsp_container *sinsp_containers_apply_event(struct sinsp_containers *cs, const char *json,
						     size_t len);

/* Removes a container from the new ones and returns it; NULL: none left. The caller owns one
 * use. */
struct sinsp_container *sinsp_containers_next_new(struct sinsp_containers *cs);

/* Returns whether an answer about the container @full_id of the user @uid (SINSP_NO_UID: the
 * system) is to be applied: a user can run a process with the ID of another's container, and answer
 * for it. If so, notes that an event of it follows: it needs no look-up. */
int sinsp_containers_expect(struct sinsp_containers *cs, const char *id, const char *full_id,
			    uint32_t uid);

/* Return the value of a label, of the container or of its pod; NULL if there is none. */
const char *sinsp_container_label(const struct sinsp_container *c, const char *key);
const char *sinsp_container_pod_label(const struct sinsp_container *c, const char *key);

/* Kubernetes' labels, which each engine gives a container, or saker by the runtime's files. */
#define SINSP_LABEL_POD_NAME "io.kubernetes.pod.name"
#define SINSP_LABEL_POD_UID "io.kubernetes.pod.uid"
#define SINSP_LABEL_NAMESPACE "io.kubernetes.pod.namespace"

/* Returns "docker", "lxc"... as sysdig names it. */
const char *sinsp_container_type_name(enum sinsp_container_type type);

#endif /* SINSP_CONTAINER_CONTAINERS_H */
