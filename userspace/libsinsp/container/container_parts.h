/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a container event, of texts that others wrote: each is bounded. */
#ifndef SINSP_CONTAINER_CONTAINER_PARTS_H
#define SINSP_CONTAINER_CONTAINER_PARTS_H

#include <stddef.h>

struct cJSON;

/* A longer text is not used: cut, it would be another one. */
#define CONTAINER_TEXT_MAX 1024
#define CONTAINER_LABELS_SZ 32768

/* Returns whether @text is 64 hexadecimal digits. */
int container_is_digest(const char *text);

/* Returns the text of an object's member; "": it has none, or a longer one. */
const char *container_text(const struct cJSON *object, const char *key);

/* Returns where the repository of "host:port/name:tag@digest" ends; 0: it is an ID. */
size_t container_repo_len(const char *image);

/* Adds the members of an image. @id without "sha256:", @digest with it; "": unknown. */
void container_add_image(struct cJSON *to, const char *image, const char *id, const char *digest);

/* Adds the texts in @labels to the object @to, as long as there is *room. */
void container_add_labels(struct cJSON *to, size_t *room, const struct cJSON *labels);
/* Adds one. Of labels of one name the first counts. */
void container_add_label(struct cJSON *to, size_t *room, const char *key, const char *text);

#endif /* SINSP_CONTAINER_CONTAINER_PARTS_H */
