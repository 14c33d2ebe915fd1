/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON text of container events, with sysdig's keys. */
#ifndef SINSP_CONTAINER_CONTAINER_JSON_H
#define SINSP_CONTAINER_CONTAINER_JSON_H

#include <stddef.h>

#include "container_match.h"

struct cJSON;

/* maximum size: a node of the tree takes some thirty times its two bytes of text */
#define SINSP_CONTAINER_JSON_MAX (256 * 1024)

/* Health checks: commands that test a container. */
enum sinsp_probe {
	SINSP_PROBE_HEALTH,
	SINSP_PROBE_LIVENESS,
	SINSP_PROBE_READINESS,
	SINSP_PROBE_MAX /* none of them */
};

/* Texts of a mount: source, destination, mode, "true" or "false": writable, propagation. */
#define SINSP_MOUNT_TEXTS 5

struct sinsp_json_list {
	char *p; /* texts, each with a NUL */
	size_t len;
};

/* Parsed text; "" for what it lacks. Borrowed until fini. */
struct sinsp_container_info {
	const char *id;
	enum sinsp_container_type type;
	const char *name, *image, *image_id, *image_repo, *image_tag, *image_digest, *ip;
	struct sinsp_json_list labels, pod_labels; /* "key=value" */
	struct sinsp_json_list mounts;
	struct sinsp_json_list probes[SINSP_PROBE_MAX]; /* program and arguments */
	int8_t privileged; /* -1: missing */
	struct cJSON *tree;
};

/* Parses it. Returns 0; -EBADMSG: not the text of a container event; -ENOMEM. A trailing NUL is
 * allowed. */
int sinsp_container_json_read(struct sinsp_container_info *out, const char *json, size_t len);
void sinsp_container_info_fini(struct sinsp_container_info *info);

/* Returns {"container":{...}} with sysdig's keys, most of them empty; NULL: no memory. The caller
 * owns it (cJSON_Delete). *@container is inside. */
struct cJSON *sinsp_container_json_new(struct cJSON **container, const char *id,
				       enum sinsp_container_type type, const char *name);
/* Returns the text for a container of which only the name is known. The caller owns it; NULL: no
 * memory. */
char *sinsp_container_json_of_name(const char *id, enum sinsp_container_type type);

/* Returns the text of an object's member, "" if it has none. NULL @object is allowed. */
const char *sinsp_json_text(const struct cJSON *object, const char *key);

#endif /* SINSP_CONTAINER_CONTAINER_JSON_H */
