/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What runtimes write about a container in files: the bundle's config.json of containerd and CRI-O,
 * whose annotations have the names of pod, container and image, and podman's list of its storage.
 * So these names need no server.
 */
#ifndef SINSP_CONTAINER_CONTAINER_FILES_H
#define SINSP_CONTAINER_CONTAINER_FILES_H

#include "container_match.h"

#define CONTAINER_FILE_MAX                                                                         \
	(4 << 20) /* of a list of all containers; a config.json has some 20 KiB */

/* Returns whether runtimes of this type have such files. */
int container_files_support(enum sinsp_container_type type);

/*
 * Sets *json to the text of a container event, owned by the caller. @root: path before those of the
 * runtimes; "": none. @full_id: 64 hexadecimal digits. Returns 0; 1: there is no file with this
 * container, yet; or a negative errno: -EPERM, it can be written by others; -EFBIG; -EBADMSG.
 */
int container_files_event(char **json, const char *root, enum sinsp_container_type type,
			  const char *id, const char *full_id);

#endif /* SINSP_CONTAINER_CONTAINER_FILES_H */
