/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON text of container events, with the keys that sysdig gave it. */
#ifndef SINSP_CONTAINER_CONTAINER_JSON_H
#define SINSP_CONTAINER_CONTAINER_JSON_H

#include <stddef.h>

#include "container_match.h"

struct cJSON;

/* Each node of a tree takes some thirty times the two bytes that may stand for it. */
#define SINSP_CONTAINER_JSON_MAX (256 * 1024)

/* Commands that a container is asked by how it is. */
enum sinsp_probe {
	SINSP_PROBE_HEALTH,
	SINSP_PROBE_LIVENESS,
	SINSP_PROBE_READINESS,
	SINSP_PROBE_MAX /* none of them */
};

/* Of a mount there are five texts: source, destination, mode, "true" if it can be written, else
 * "false", propagation. */
#define SINSP_MOUNT_TEXTS 5

struct sinsp_told_list {
	char *p; /* texts, each with its NUL */
	size_t len;
};

/* What a text says, "" where it says nothing. Text is borrowed until fini. */
struct sinsp_container_told {
	const char *id;
	enum sinsp_container_type type;
	const char *name, *image, *image_id, *image_repo, *image_tag, *image_digest, *ip;
	struct sinsp_told_list labels; /* "key=value" */
	struct sinsp_told_list mounts;
	struct sinsp_told_list probes[SINSP_PROBE_MAX]; /* program and arguments */
	int8_t privileged; /* -1: it does not say */
	struct cJSON *tree;
};

/* 0; -EBADMSG: it is not what a container event holds; -ENOMEM. A trailing NUL is fine. */
int sinsp_container_json_read(struct sinsp_container_told *out, const char *json, size_t len);
void sinsp_container_told_fini(struct sinsp_container_told *told);

/* {"container":{...}} with the keys that sysdig expects, and nothing in most of them; NULL: no
 * memory. The caller owns it (cJSON_Delete). *@container is inside. */
struct cJSON *sinsp_container_json_new(struct cJSON **container, const char *id,
				       enum sinsp_container_type type, const char *name);
/* Of a container of which no more than its name is known. The caller owns it; NULL: no memory. */
char *sinsp_container_json_of_name(const char *id, enum sinsp_container_type type);

/* Text of an object's member, "" if it has none. NULL @object is fine. */
const char *sinsp_json_text(const struct cJSON *object, const char *key);

#endif /* SINSP_CONTAINER_CONTAINER_JSON_H */
