/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The containers that processes are in, by id. Each process counts once for its own; those
 * without processes are kept for a while in a ring of fixed size, so that memory is bounded
 * by what runs. What is known of one comes from cgroup paths, and from container events.
 */
#ifndef SINSP_CONTAINER_CONTAINERS_H
#define SINSP_CONTAINER_CONTAINERS_H

#include "container_json.h"
#include "container_match.h"
#include "memory/intern.h"
#include "state.h"

/* Text is interned, "" where it is not known. */
struct sinsp_container {
	const char *id; /* 12 hexadecimal digits, or a name */
	const char *full_id; /* all 64 digits; "" for a name */
	const char *name, *image;
	const char *image_id, *image_repo, *image_tag, *image_digest;
	const char *ip;
	const char *pod_uid; /* of kubernetes */
	const char *labels; /* "key=value", each with its NUL */
	const char *mounts; /* SINSP_MOUNT_TEXTS for each, each with its NUL */
	const char *probes[SINSP_PROBE_MAX]; /* program and arguments, each with its NUL */
	int8_t privileged; /* -1: not known */
	enum sinsp_container_type type;
	uint32_t uid; /* the user who runs it without root; SINSP_NO_UID: the system */

	uint32_t refs; /* processes, and whoever else holds it */
	uint16_t place; /* in the ring of retired ones, when refs is 0 */
	uint8_t told; /* by a container event */
	uint8_t asked; /* it is in the list of new ones, or was */
	struct sinsp_container *next; /* of its bucket */
	struct sinsp_container *next_new;
};

#define SINSP_CONTAINERS_RETIRED 256 /* containers without processes that are kept */
#define SINSP_CONTAINERS_CACHE 64

struct sinsp_containers {
	struct sinsp_strings *strings;
	struct sinsp_container **buckets;
	uint32_t n_buckets, n; /* a power of two; retired ones included */
	struct sinsp_container *retired[SINSP_CONTAINERS_RETIRED];
	uint32_t next_retired;
	/* What a text of cgroups means, by its address: they are interned, and few. */
	struct sinsp_container_cached {
		const char *cgroups; /* NULL: free */
		struct sinsp_container *container; /* NULL: the host */
	} cache[SINSP_CONTAINERS_CACHE];
	/* Containers that no event told of, to be asked about: taken by sinsp_containers_new. */
	uint8_t want_new;
	struct sinsp_container *first_new;
};

int sinsp_containers_init(struct sinsp_containers *cs, struct sinsp_strings *strings);
void sinsp_containers_fini(struct sinsp_containers *cs);

/* The container of an interned text of cgroups, NULL for the host. The caller owns one count of
 * it (end with put). */
struct sinsp_container *sinsp_containers_of(struct sinsp_containers *cs, const char *cgroups);
/* NULL is fine. */
void sinsp_container_put(struct sinsp_containers *cs, struct sinsp_container *c);

/* Takes over what a container event says. NULL: it is not one. The caller owns one count. */
struct sinsp_container *sinsp_containers_tell(struct sinsp_containers *cs, const char *json,
					      size_t len);

/* A container that nobody asked about yet; NULL: none is left. The caller owns one count. */
struct sinsp_container *sinsp_containers_new(struct sinsp_containers *cs);

/* An event that tells of the container @id is on its way: it need not be asked about. */
void sinsp_containers_expect(struct sinsp_containers *cs, const char *id);

/* Value of a label, NULL if it has none of that name. */
const char *sinsp_container_label(const struct sinsp_container *c, const char *key);

/* "docker", "lxc"... as sysdig says it. */
const char *sinsp_container_type_name(enum sinsp_container_type type);

#endif /* SINSP_CONTAINER_CONTAINERS_H */
