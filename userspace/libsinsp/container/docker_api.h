/* SPDX-License-Identifier: Apache-2.0 */
/* What docker's API, which podman has too, says of a container, as a container event. */
#ifndef SINSP_CONTAINER_DOCKER_API_H
#define SINSP_CONTAINER_DOCKER_API_H

#include <stddef.h>

#include "container_match.h"

/* Calls @fn with the id, all 64 digits, of each container in the answer to /containers/json, of
 * which the rest may be missing. */
void sinsp_docker_each(const char *json, size_t len, void (*fn)(void *ctx, const char *id),
		       void *ctx);

/* The answer to /containers/ID/json, read. */
struct sinsp_docker_answer;

/* 0; -EBADMSG: it is no such answer; -ENOMEM. The caller owns *out (end with free). */
int sinsp_docker_answer_new(struct sinsp_docker_answer **out, const char *json, size_t len);
void sinsp_docker_answer_free(struct sinsp_docker_answer *a);

/* What the beginning of an answer to /containers/json tells of the first container in it, of which
 * the rest may be missing: the text of a container event with its name and image. The caller owns
 * it; NULL: it is not about the container @full_id, or has no name before it ends. */
char *sinsp_docker_listed_event(const char *json, size_t len, const char *id, const char *full_id,
				enum sinsp_container_type type);

/* The id of the container's image, "sha256:" and digits, fit for a path; "": it has none. */
const char *sinsp_docker_answer_image(const struct sinsp_docker_answer *a);

/* Adds the answer to /images/ID/json: names and digests. One that is no answer adds nothing. */
void sinsp_docker_answer_add_image(struct sinsp_docker_answer *a, const char *json, size_t len);

/* The text of the container event. The caller owns it; NULL: no memory. */
char *sinsp_docker_answer_event(const struct sinsp_docker_answer *a, const char *id,
				enum sinsp_container_type type);

#endif /* SINSP_CONTAINER_DOCKER_API_H */
