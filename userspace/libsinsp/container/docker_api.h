/* SPDX-License-Identifier: Apache-2.0 */
/* Converts answers of the docker API, which podman has, too, to container events. */
#ifndef SINSP_CONTAINER_DOCKER_API_H
#define SINSP_CONTAINER_DOCKER_API_H

#include <stddef.h>

#include "container_match.h"

/* Calls @fn with the full ID of each container in the answer to /containers/json, which may be
 * truncated. */
void sinsp_docker_each(const char *json, size_t len, void (*fn)(void *ctx, const char *id),
		       void *ctx);

/* The parsed answer to /containers/ID/json. */
struct sinsp_docker_answer;

/* Returns 0; -EBADMSG: not such an answer; -ENOMEM. The caller owns *out (end with free). */
int sinsp_docker_answer_new(struct sinsp_docker_answer **out, const char *json, size_t len);
void sinsp_docker_answer_free(struct sinsp_docker_answer *a);

/*
 * Parses the first container in the beginning of an answer to /containers/json: returns the text of
 * a container event with its name and image. The caller owns it; NULL: it is not the container
 * @full_id, or it ends before the name.
 */
char *sinsp_docker_listed_event(const char *json, size_t len, const char *id, const char *full_id,
				enum sinsp_container_type type);

/* Returns the ID of the container's image, "sha256:" and digits, safe in a path; "": none. */
const char *sinsp_docker_answer_image(const struct sinsp_docker_answer *a);

/* Adds names and digests from the answer to /images/ID/json. An invalid answer adds nothing. */
void sinsp_docker_answer_add_image(struct sinsp_docker_answer *a, const char *json, size_t len);

/* Returns the text of the container event. The caller owns it; NULL: no memory. */
char *sinsp_docker_answer_event(const struct sinsp_docker_answer *a, const char *id,
				enum sinsp_container_type type);

#endif /* SINSP_CONTAINER_DOCKER_API_H */
