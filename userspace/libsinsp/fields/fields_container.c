/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of the container of an event's thread. Outside of containers id, name and type are "host";
 * without known cgroups they have no value. Facts from a container event have no value until one
 * came.
 */
#include <errno.h>
#include <fnmatch.h>

#include "container/containers.h"
#include "field_rows.h"
#include "process.h"
#include "thread.h"

/* Variants of rows: facts of a container or a mount. */
enum {
	TEXT_ID,
	TEXT_FULL_ID,
	TEXT_NAME,
	TEXT_IMAGE,
	TEXT_IMAGE_ID,
	TEXT_IMAGE_REPO,
	TEXT_IMAGE_TAG,
	TEXT_IMAGE_DIGEST,
	TEXT_IP,
};
enum { POD_NAME, POD_UID, POD_NAMESPACE };
enum { OF_CONTAINER, OF_POD };
enum { MOUNT_SOURCE, MOUNT_DEST, MOUNT_MODE, MOUNT_RDWR, MOUNT_PROPAGATION, MOUNT_WHOLE };

static const struct sinsp_container *container_of(const struct sinsp_eval *e)
{
	return e->evt->thread ? sinsp_thread_container(e->evt->thread) : NULL;
}

static int is_on_host(const struct sinsp_eval *e)
{
	return e->evt->thread && sinsp_thread_is_on_host(e->evt->thread);
}

static int text_or_none(struct sinsp_value *v, const char *text)
{
	return *text ? field_str(v, text) : 0;
}

static int get_text(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	const struct sinsp_container *c = container_of(e);
	const unsigned int variant = f->row->variant;

	(void)more;
	if (is_on_host(e) && (variant == TEXT_ID || variant == TEXT_NAME))
		return field_str(v, "host");
	if (!c)
		return 0;
	switch (variant) {
	case TEXT_ID:
		return text_or_none(v, c->id);
	case TEXT_FULL_ID:
		return text_or_none(v, c->full_id);
	case TEXT_NAME:
		return text_or_none(v, c->name);
	case TEXT_IMAGE:
		return text_or_none(v, c->image);
	case TEXT_IMAGE_ID:
		return text_or_none(v, c->image_id);
	case TEXT_IMAGE_REPO:
		return text_or_none(v, c->image_repo);
	case TEXT_IMAGE_TAG:
		return text_or_none(v, c->image_tag);
	case TEXT_IMAGE_DIGEST:
		return text_or_none(v, c->image_digest);
	default:
		return text_or_none(v, strcmp(c->ip, "0.0.0.0") ? c->ip : "");
	}
}

static int get_type(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	const struct sinsp_container *c = container_of(e);

	(void)f, (void)more;
	if (is_on_host(e))
		return field_str(v, "host");
	return c ? field_str(v, sinsp_container_type_name(c->type)) : 0;
}

static int get_privileged(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			  const struct sinsp_value **more)
{
	const struct sinsp_container *c = container_of(e);

	(void)f, (void)more;
	return c && c->privileged >= 0 ? field_u(v, (uint64_t)c->privileged) : 0;
}

/* ---- mounts ---- */

struct mount {
	const char *texts[SINSP_MOUNT_TEXTS];
};

static const char *next_mount(struct mount *m, const char *p)
{
	for (int i = 0; i < SINSP_MOUNT_TEXTS; i++, p += strlen(p) + 1)
		m->texts[i] = p;
	return p;
}

/* Writes source:destination:mode:rdwr:propagation. */
static int keep_whole(struct sinsp_eval *e, struct sinsp_value *v, const char *p, const char *end,
		      char between)
{
	char *to = sinsp_eval_alloc(e, (size_t)(end - p));

	if (!to)
		return -ENOMEM;
	field_mem(v, to, (size_t)(end - p) - 1);
	memcpy(to, p, (size_t)(end - p));
	for (unsigned int n = 1; p < end; p++, to++)
		if (!*p)
			*to = n++ % SINSP_MOUNT_TEXTS ? ':' : between;
	return 1;
}

static int get_mounts(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	const struct sinsp_container *c = container_of(e);
	size_t len;

	(void)f, (void)more;
	if (!c || !c->has_event)
		return 0;
	len = sinsp_str_len(c->mounts);
	return len ? keep_whole(e, v, c->mounts, c->mounts + len, ',') : field_str(v, "");
}

/* Finds mount [N], or the first whose source (for container.mount.source, whose destination)
 * matches [PATTERN]. */
static int get_mount(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	const struct sinsp_container *c = container_of(e);
	const unsigned int variant = f->row->variant;
	const int by = variant == MOUNT_SOURCE ? MOUNT_DEST : MOUNT_SOURCE;
	const char *p, *next, *end;
	struct mount m;
	int64_t n = 0;

	(void)more;
	if (!c)
		return 0;
	end = c->mounts + sinsp_str_len(c->mounts);
	for (p = c->mounts; p < end; p = next, n++) {
		next = next_mount(&m, p);
		if (f->has_index ? n != f->index : !!fnmatch(f->arg, m.texts[by], 0))
			continue;
		return variant == MOUNT_WHOLE ? keep_whole(e, v, p, next, 0)
					      : field_str(v, m.texts[variant]);
	}
	return 0;
}

/* ---- labels and health checks ---- */

static int get_label(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	const struct sinsp_container *c = container_of(e);

	(void)more;
	if (!c)
		return 0;
	return field_str(v, f->row->variant == OF_POD ? sinsp_container_pod_label(c, f->arg)
						      : sinsp_container_label(c, f->arg));
}

/* Joins the texts of a list with @between. */
static int keep_list(struct sinsp_eval *e, struct sinsp_value *v, const char *list, char between)
{
	const size_t n = sinsp_str_len(list);
	char *p = sinsp_eval_alloc(e, n);

	if (!p)
		return -ENOMEM;
	memcpy(p, list, n);
	for (size_t i = 0; i + 1 < n; i++)
		if (!p[i])
			p[i] = between;
	return field_mem(v, p, n - 1);
}

/* The pod of the container. Its UID is in the path of the cgroup, too. */
static int get_pod(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	static const char *const labels[] = {[POD_NAME] = SINSP_LABEL_POD_NAME,
					     [POD_UID] = SINSP_LABEL_POD_UID,
					     [POD_NAMESPACE] = SINSP_LABEL_NAMESPACE};
	const struct sinsp_container *c = container_of(e);
	const char *text = c ? sinsp_container_label(c, labels[f->row->variant]) : NULL;

	(void)more;
	if (!text && c && f->row->variant == POD_UID)
		return text_or_none(v, c->pod_uid);
	return text ? field_str(v, text) : 0;
}

static int get_labels(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	const struct sinsp_container *c = container_of(e);
	const char *labels = !c ? "" : f->row->variant == OF_POD ? c->pod_labels : c->labels;

	(void)more;
	return *labels ? keep_list(e, v, labels, ',') : 0;
}

static int get_probe(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	const struct sinsp_container *c = container_of(e);

	(void)more;
	if (!c || !c->has_event)
		return 0;
	if (!*c->probes[f->row->variant])
		return field_str(v, "NONE");
	return keep_list(e, v, c->probes[f->row->variant], ' ');
}

/* clang-format off */
#define ROW(name, type, cost, flags, variant, get, help)                                           \
	{name, FIELD_##type, FIELD_FMT_DEC, FIELD_COST_##cost, flags, variant, get, help, NULL}
#define WHICH (FIELD_F_ARG_NEEDED | FIELD_F_ARG_INDEX | FIELD_F_ARG_KEY)

static const struct sinsp_field_row rows[] = {
	ROW("container.id", STR, STATE, 0, TEXT_ID, get_text,
	    "first 12 digits of the container ID, or the name of a container without one; host "
	    "outside of containers"),
	ROW("container.full_id", STR, STATE, 0, TEXT_FULL_ID, get_text,
	    "all 64 digits of the container ID"),
	ROW("container.name", STR, STATE, 0, TEXT_NAME, get_text,
	    "name of the container; host outside of containers"),
	ROW("container.image", STR, STATE, 0, TEXT_IMAGE, get_text,
	    "image of the container, such as nginx:1.25"),
	ROW("container.image.id", STR, STATE, 0, TEXT_IMAGE_ID, get_text, "image ID"),
	ROW("container.type", STR, STATE, 0, 0, get_type,
	    "container runtime, such as docker or podman; host outside of containers"),
	ROW("container.privileged", BOOL, STATE, 0, 0, get_privileged,
	    "true if the container is privileged"),
	ROW("container.mounts", STR, TEXT, 0, 0, get_mounts,
	    "mounts of the container, separated by commas, each as "
	    "source:destination:mode:writable:propagation"),
	ROW("container.mount", STR, TEXT, WHICH, MOUNT_WHOLE, get_mount,
	    "one mount, by number or by a pattern of its source, as in container.mount[0] and "
	    "container.mount[/usr/*]"),
	ROW("container.mount.source", PATH, SEARCH, WHICH, MOUNT_SOURCE, get_mount,
	    "source of one mount, by number or by a pattern of its destination"),
	ROW("container.mount.dest", PATH, SEARCH, WHICH, MOUNT_DEST, get_mount,
	    "destination of one mount, by number or by a pattern of its source"),
	ROW("container.mount.mode", STR, SEARCH, WHICH, MOUNT_MODE, get_mount,
	    "mode of one mount, by number or by a pattern of its source"),
	ROW("container.mount.rdwr", STR, SEARCH, WHICH, MOUNT_RDWR, get_mount,
	    "true if one mount is writable, by number or by a pattern of its source"),
	ROW("container.mount.propagation", STR, SEARCH, WHICH, MOUNT_PROPAGATION, get_mount,
	    "propagation of one mount, by number or by a pattern of its source"),
	ROW("container.image.repository", STR, STATE, 0, TEXT_IMAGE_REPO, get_text,
	    "repository of the image, such as docker.io/library/nginx"),
	ROW("container.image.tag", STR, STATE, 0, TEXT_IMAGE_TAG, get_text,
	    "tag of the image, such as latest"),
	ROW("container.image.digest", STR, STATE, 0, TEXT_IMAGE_DIGEST, get_text,
	    "digest of the image in its registry, such as sha256:d9773..."),
	ROW("container.healthcheck", STR, TEXT, 0, SINSP_PROBE_HEALTH, get_probe,
	    "command of the container's health check, or NONE"),
	ROW("container.liveness_probe", STR, TEXT, 0, SINSP_PROBE_LIVENESS, get_probe,
	    "command of the container's liveness probe, or NONE"),
	ROW("container.readiness_probe", STR, TEXT, 0, SINSP_PROBE_READINESS, get_probe,
	    "command of the container's readiness probe, or NONE"),
	ROW("container.ip", STR, STATE, 0, TEXT_IP, get_text, "IPv4 address of the container"),
	ROW("container.label", STR, SEARCH, FIELD_F_ARG_NEEDED | FIELD_F_ARG_KEY, OF_CONTAINER, get_label,
	    "one label of the container, as in container.label[com.example.team]"),
	ROW("container.labels", STR, TEXT, 0, OF_CONTAINER, get_labels,
	    "labels of the container, as KEY=VALUE separated by commas"),
};

static const struct sinsp_field_row pod_rows[] = {
	ROW("k8s.pod.name", STR, SEARCH, 0, POD_NAME, get_pod, "name of the Kubernetes pod of the container"),
	ROW("k8s.pod.id", STR, SEARCH, 0, POD_UID, get_pod, "UID of the pod"),
	ROW("k8s.pod.label", STR, SEARCH, FIELD_F_ARG_NEEDED | FIELD_F_ARG_KEY, OF_POD, get_label,
	    "one label of the pod, as in k8s.pod.label[app]; known with --cri-socket"),
	ROW("k8s.pod.labels", STR, TEXT, 0, OF_POD, get_labels,
	    "labels of the pod, as KEY=VALUE separated by commas; known with --cri-socket"),
	ROW("k8s.ns.name", STR, SEARCH, 0, POD_NAMESPACE, get_pod, "name of the pod's namespace"),
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_container = {
	.name = "container",
	.title = "container",
	.help = "The container of the process",
	FIELD_ROWS(rows),
};

const struct sinsp_field_class sinsp_fields_k8s = {
	.name = "k8s",
	.title = "k8s",
	.help = "The Kubernetes pod of the process, by the labels of its container",
	FIELD_ROWS(pod_rows),
};
