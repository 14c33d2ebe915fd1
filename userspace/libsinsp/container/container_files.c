/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats: the OCI runtime specification (config.json: "annotations"); containerd's
 * pkg/cri/annotations; cri-o's pkg/annotations; containers/storage (containers.json). The texts are
 * those of whoever made the pod.
 */
#include "container_files.h"

#include <cjson/cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "container_json.h"
#include "container_parts.h"
#include "containers.h"

enum { NAMESPACES_MAX = 64 };

#define BIT(type) (1u << SINSP_CT_##type)

#define CONTAINERD_KEYS "io.kubernetes.cri."
#define CRIO_KEYS "io.kubernetes.cri-o."

/* "%n": each folder there, one for each of containerd's namespaces; "%i": the ID. */
static const struct place {
	unsigned int types;
	int is_list; /* of all containers */
	const char *path;
	const char *others; /* what annotations begin with that another runtime writes */
} places[] = {
	{BIT(CONTAINERD) | BIT(CRI), 0,
	 "/run/containerd/io.containerd.runtime.v2.task/%n/%i/config.json", CRIO_KEYS},
	{BIT(CONTAINERD) | BIT(CRI), 0,
	 "/run/k3s/containerd/io.containerd.runtime.v2.task/%n/%i/config.json", CRIO_KEYS},
	{BIT(CRIO) | BIT(CRI), 0,
	 "/run/containers/storage/overlay-containers/%i/userdata/config.json", CONTAINERD_KEYS},
	{BIT(CRIO) | BIT(CRI), 0,
	 "/var/lib/containers/storage/overlay-containers/%i/userdata/config.json", CONTAINERD_KEYS},
	{BIT(PODMAN), 1, "/var/lib/containers/storage/overlay-containers/containers.json", NULL},
	{BIT(PODMAN), 1, "/var/lib/containers/storage/vfs-containers/containers.json", NULL},
	{BIT(PODMAN), 1, "/var/lib/containers/storage/btrfs-containers/containers.json", NULL},
};

/* Annotations that become labels of kubernetes' names, as engines with an API give them. */
static const struct {
	const char *annotation, *label;
} names[] = {
	{"io.kubernetes.cri.sandbox-name", SINSP_LABEL_POD_NAME},
	{"io.kubernetes.cri.sandbox-namespace", SINSP_LABEL_NAMESPACE},
	{"io.kubernetes.cri.sandbox-uid", SINSP_LABEL_POD_UID},
	{"io.kubernetes.cri.container-name", "io.kubernetes.container.name"},
};

/* Where the name and the image of a container are, the first that is there. */
static const char *const name_keys[] = {"io.kubernetes.cri.container-name",
					"io.kubernetes.container.name", "nerdctl/name"};
static const char *const image_keys[] = {"io.kubernetes.cri.image-name",
					 "io.kubernetes.cri-o.ImageName"};

int container_files_support(enum sinsp_container_type type)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		if (places[i].types & 1u << type)
			return 1;
	return 0;
}

/* ---- files ---- */

/* Reads a file that only root can write. */
static int read_whole(char **out, size_t *len, const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	ssize_t n = 0;
	int err = 0;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 1 : -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_uid || st.st_mode & (S_IWGRP | S_IWOTH))
		err = -EPERM;
	else if (st.st_size > CONTAINER_FILE_MAX)
		err = -EFBIG;
	else if (!(*out = malloc((size_t)st.st_size + 1)))
		err = -ENOMEM;
	while (!err && *len < (size_t)st.st_size &&
	       (n = read(fd, *out + *len, (size_t)st.st_size - *len)) > 0)
		*len += (size_t)n;
	err = n < 0 ? -errno : err;
	close(fd);
	if (err)
		free(*out);
	return err;
}

static int read_json(cJSON **tree, const char *path)
{
	char *text = NULL;
	size_t len = 0;
	int err = read_whole(&text, &len, path);

	if (err)
		return err;
	*tree = cJSON_ParseWithLength(text, len);
	free(text);
	return *tree ? 0 : -EBADMSG;
}

/* ---- events ---- */

static const char *first_of(const cJSON *object, const char *const *keys, size_t n)
{
	const char *text = "";

	for (size_t i = 0; i < n && !*text; i++)
		text = container_text(object, keys[i]);
	return text;
}

static int is_sandbox(const cJSON *annotations)
{
	return !strcmp(container_text(annotations, "io.kubernetes.cri.container-type"),
		       "sandbox") ||
	       !strcmp(container_text(annotations, "io.kubernetes.cri-o.ContainerType"), "sandbox");
}

/* The labels that cri-o has as one text of JSON. */
static void add_labels_in(cJSON *to, size_t *room, const char *json)
{
	cJSON *labels = cJSON_Parse(json);

	container_add_labels(to, room, labels);
	cJSON_Delete(labels);
}

static void add_labels(cJSON *c, const cJSON *annotations)
{
	cJSON *to = cJSON_AddObjectToObject(c, "labels");
	size_t room = CONTAINER_LABELS_SZ;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *text = container_text(annotations, names[i].annotation);

		if (*text)
			container_add_label(to, &room, names[i].label, text);
	}
	add_labels_in(to, &room, sinsp_json_text(annotations, "io.kubernetes.cri-o.Labels"));
	container_add_labels(to, &room, annotations);
}

static char *print(cJSON *root, cJSON *c, const char *image, const char *image_id,
		   const char *digest)
{
	char *text;

	container_add_image(c, image, image_id, digest);
	cJSON_AddStringToObject(c, "ip", "0.0.0.0");
	text = cJSON_PrintUnformatted(root);
	cJSON_Delete(root);
	return text;
}

/* A sandbox has the name of its pod. */
static int event_of_config(char **json, const cJSON *config, enum sinsp_container_type type,
			   const char *id)
{
	const cJSON *annotations = cJSON_GetObjectItemCaseSensitive(config, "annotations");
	const char *name = first_of(annotations, name_keys, sizeof(name_keys) / sizeof(*name_keys));
	const char *image =
		first_of(annotations, image_keys, sizeof(image_keys) / sizeof(*image_keys));
	cJSON *c, *root;

	if (!cJSON_IsObject(config))
		return -EBADMSG;
	if (is_sandbox(annotations))
		name = first_of(annotations,
				(const char *const[]){"io.kubernetes.cri.sandbox-name",
						      SINSP_LABEL_POD_NAME},
				2);
	root = sinsp_container_json_new(&c, id, type, *name ? name : id);
	if (!root)
		return -ENOMEM;
	cJSON_AddBoolToObject(c, "is_pod_sandbox", is_sandbox(annotations));
	add_labels(c, annotations);
	*json = print(root, c, image, "", strchr(image, '@') ? strchr(image, '@') + 1 : "");
	return *json ? 0 : -ENOMEM;
}

/* {"id": ..., "names": [...], "image": ID, "metadata": "{\"image-name\": ...}"} */
static int event_of_listed(char **json, const cJSON *entry, enum sinsp_container_type type,
			   const char *id)
{
	const cJSON *all = cJSON_GetObjectItemCaseSensitive(entry, "names");
	const char *name = cJSON_GetStringValue(cJSON_GetArrayItem(all, 0));
	const char *image_id = container_text(entry, "image");
	cJSON *metadata = cJSON_Parse(sinsp_json_text(entry, "metadata")), *c, *root;

	if (!name || strlen(name) > CONTAINER_TEXT_MAX)
		name = id;
	root = sinsp_container_json_new(&c, id, type, name);
	if (root)
		*json = print(root, c, container_text(metadata, "image-name"),
			      container_is_digest(image_id) ? image_id : "", "");
	cJSON_Delete(metadata);
	return root && *json ? 0 : -ENOMEM;
}

static int event_of_list(char **json, const cJSON *list, enum sinsp_container_type type,
			 const char *id, const char *full_id)
{
	const cJSON *entry;

	cJSON_ArrayForEach(entry, list)
	{
		if (!strcmp(sinsp_json_text(entry, "id"), full_id))
			return event_of_listed(json, entry, type, id);
	}
	return 1;
}

/* CRI-O copies the annotations of a pod, which whoever makes it writes: those of its own are
 * CRI-O's, those of another runtime are the pod's. */
static void remove_others(const cJSON *config, const char *prefix)
{
	cJSON *annotations = cJSON_GetObjectItemCaseSensitive(config, "annotations"), *next;

	for (cJSON *a = annotations ? annotations->child : NULL; a; a = next) {
		next = a->next;
		if (a->string && !strncmp(a->string, prefix, strlen(prefix)))
			cJSON_Delete(cJSON_DetachItemViaPointer(annotations, a));
	}
}

static int event_of_file(char **json, const struct place *at, const char *path,
			 enum sinsp_container_type type, const char *id, const char *full_id)
{
	cJSON *tree;
	int err = read_json(&tree, path);

	if (err)
		return err;
	if (at->others)
		remove_others(tree, at->others);
	err = at->is_list ? event_of_list(json, tree, type, id, full_id)
			  : event_of_config(json, tree, type, id);
	cJSON_Delete(tree);
	return err;
}

/* ---- places ---- */

/* Writes the path with its namespace and ID. Returns 0, or 1 if it is too long. */
static int fill_path(char path[PATH_MAX], const char *root, const char *form, const char *space,
		     const char *full_id)
{
	size_t n = (size_t)snprintf(path, PATH_MAX, "%s", root);

	for (const char *p = form; *p; p++) {
		const char *part = NULL;

		if (n + 1 >= PATH_MAX)
			return 1;
		if (p[0] == '%')
			part = *++p == 'n' ? space : full_id;
		if (part)
			n += (size_t)snprintf(path + n, PATH_MAX - n, "%s", part);
		else
			path[n++] = *p;
	}
	if (n >= PATH_MAX)
		return 1;
	path[n] = 0;
	return 0;
}

/* Tries each namespace. */
static int event_of_spaces(char **json, const struct place *at, const char *root,
			   enum sinsp_container_type type, const char *id, const char *full_id)
{
	const char *cut = strstr(at->path, "/%n");
	char path[PATH_MAX];
	struct dirent *e;
	int err = 1, n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%s%.*s", root, (int)(cut - at->path), at->path);
	d = opendir(path);
	while (d && err == 1 && n < NAMESPACES_MAX && (e = readdir(d))) {
		if (*e->d_name == '.')
			continue;
		n++;
		if (!fill_path(path, root, at->path, e->d_name, full_id))
			err = event_of_file(json, at, path, type, id, full_id);
	}
	if (d)
		closedir(d);
	return err;
}

int container_files_event(char **json, const char *root, enum sinsp_container_type type,
			  const char *id, const char *full_id)
{
	char path[PATH_MAX];
	int err = 1;

	if (!container_is_digest(full_id))
		return 1;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && err == 1; i++) {
		if (!(places[i].types & 1u << type))
			continue;
		if (strstr(places[i].path, "%n"))
			err = event_of_spaces(json, &places[i], root, type, id, full_id);
		else if (!fill_path(path, root, places[i].path, "", full_id))
			err = event_of_file(json, &places[i], path, type, id, full_id);
	}
	return err;
}
