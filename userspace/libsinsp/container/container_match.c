/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the container in cgroup paths: one row per form of path. Names of cgroups are chosen by
 * runtimes, and by any user who may create cgroups: only their length is trusted. A path is
 * examined component by component, because processes in a container may create cgroups below its
 * own.
 */
#include "container_match.h"

#include <string.h>

enum id_kind {
	ID_HEX, /* HEX_LEN digits, ID_LEN of which are the ID */
	ID_NAME,
	ID_ESCAPED, /* a name as systemd escapes it: "\x2d" for a dash */
	ID_NONE, /* looks like one of the rows below, but is not a container */
};

enum { HEX_LEN = 64, ID_LEN = 12 };

struct part {
	const char *p;
	size_t len;
};

/* A path component that stands for a container. The first matching row counts. */
struct layout {
	const char *parent; /* the components before it; NULL: any. IN_POD: those of a pod */
	const char *prefix; /* a suffix that begins with ':' may follow something else */
	const char *suffix;
	enum id_kind kind;
	enum sinsp_container_type type;
};

static const char IN_POD[] = "pod";

/* clang-format off */
static const struct layout layouts[] = {
	{NULL, "docker-", ".scope", ID_HEX, SINSP_CT_DOCKER},
	{NULL, "libpod-payload-", "", ID_HEX, SINSP_CT_PODMAN},
	{NULL, "libpod-", ".scope", ID_HEX, SINSP_CT_PODMAN},
	{NULL, "libpod-", "", ID_HEX, SINSP_CT_PODMAN},
	{NULL, "cri-containerd-", ".scope", ID_HEX, SINSP_CT_CONTAINERD},
	{NULL, ":cri-containerd:", "", ID_HEX, SINSP_CT_CONTAINERD},
	{NULL, "nerdctl-", ".scope", ID_HEX, SINSP_CT_CONTAINERD},
	{NULL, "crio-", ".scope", ID_HEX, SINSP_CT_CRIO},
	{NULL, "crio-", "", ID_HEX, SINSP_CT_CRIO},
	{"k8s.io", "", "", ID_HEX, SINSP_CT_CONTAINERD},
	{"default", "", "", ID_HEX, SINSP_CT_CONTAINERD},
	{IN_POD, "", "", ID_HEX, SINSP_CT_CRI},
	{NULL, "", "", ID_HEX, SINSP_CT_DOCKER}, /* "/docker/ID", or below another parent */
	{NULL, "lxc.payload.", "", ID_NAME, SINSP_CT_LXC},
	{"lxc.payload", "", "", ID_NAME, SINSP_CT_LXC},
	{"libvirt/lxc", "", "", ID_NAME, SINSP_CT_LIBVIRT_LXC},
	{"lxc", "", "", ID_NAME, SINSP_CT_LXC},
	{"machine", "", ".libvirt-lxc", ID_NAME, SINSP_CT_LIBVIRT_LXC},
	{"machine.slice", "machine-lxc\\x2d", ".scope", ID_NAME, SINSP_CT_LIBVIRT_LXC},
	{"machine.slice", "machine-qemu\\x2d", ".scope", ID_NONE, 0}, /* a virtual machine */
	{"machine.slice", "machine-", ".scope", ID_ESCAPED, SINSP_CT_CUSTOM},
	{"machine.slice", "systemd-nspawn@", ".service", ID_ESCAPED, SINSP_CT_CUSTOM},
};
/* clang-format on */

/* A position in a path. */
struct walk {
	struct part before; /* the path up to the component */
	struct part component;
	uint32_t uid;
	char pod_uid[37];
	int in_kubepods; /* it, or a component before it, belongs to kubernetes */
	int in_pod; /* the component before it names a pod */
};

static int starts_with(struct part s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.len >= n && !memcmp(s.p, prefix, n);
}

static int ends_with(struct part s, const char *suffix)
{
	size_t n = strlen(suffix);

	return s.len >= n && !memcmp(s.p + s.len - n, suffix, n);
}

/* Returns whether @path ends with the components of @parent. */
static int is_below(struct part path, const char *parent)
{
	size_t n = strlen(parent);

	return ends_with(path, parent) && path.len > n && path.p[path.len - n - 1] == '/';
}

static int is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static int is_hex_id(struct part s)
{
	if (s.len != HEX_LEN)
		return 0;
	for (size_t i = 0; i < s.len; i++)
		if (!is_hex(s.p[i]))
			return 0;
	return 1;
}

/* Returns the part between prefix and suffix; 0 if they are missing, or it is empty. */
static int cut(struct part *s, const struct layout *l)
{
	if (l->prefix[0] == ':') {
		const char *at = memmem(s->p, s->len, l->prefix, strlen(l->prefix));

		if (!at)
			return 0;
		s->len -= at - s->p;
		s->p = at;
	}
	if (!starts_with(*s, l->prefix) || s->len <= strlen(l->prefix))
		return 0;
	s->p += strlen(l->prefix);
	s->len -= strlen(l->prefix);
	if (!ends_with(*s, l->suffix) || s->len <= strlen(l->suffix))
		return 0;
	s->len -= strlen(l->suffix);
	return 1;
}

static int matches_layout(const struct layout *l, const struct walk *w, struct part *id)
{
	*id = w->component;
	if (l->kind == ID_HEX && id->len < HEX_LEN)
		return 0;
	if (l->parent == IN_POD ? !w->in_pod : l->parent && !is_below(w->before, l->parent))
		return 0;
	return cut(id, l) && (l->kind != ID_HEX || is_hex_id(*id)) &&
	       id->len < SINSP_CONTAINER_ID_SZ;
}

static int hex_value(char c)
{
	return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* @out is large enough for any name. */
static void unescape(char *out, struct part s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (s.len - i >= 4 && s.p[i] == '\\' && s.p[i + 1] == 'x' && is_hex(s.p[i + 2]) &&
		    is_hex(s.p[i + 3])) {
			char c = hex_value(s.p[i + 2]) << 4 | hex_value(s.p[i + 3]);

			*out++ = c ? c : '?';
			i += 3;
		} else {
			*out++ = s.p[i];
		}
	}
	*out = 0;
}

static void copy(char *out, struct part s)
{
	memcpy(out, s.p, s.len);
	out[s.len] = 0;
}

static void fill_match(struct sinsp_container_match *out, const struct layout *l, struct part id)
{
	out->type = l->type;
	out->full_id[0] = 0;
	if (l->kind == ID_HEX) {
		copy(out->full_id, id);
		id.len = ID_LEN;
	}
	if (l->kind == ID_ESCAPED)
		unescape(out->id, id);
	else
		copy(out->id, id);
}

static int match_component(struct sinsp_container_match *out, const struct walk *w)
{
	struct part id;

	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		if (!matches_layout(&layouts[i], w, &id))
			continue;
		if (layouts[i].kind == ID_NONE)
			return 0;
		fill_match(out, &layouts[i], id);
		return 1;
	}
	return 0;
}

/* "user-1000.slice" in "user.slice": everything below belongs to that user, who names it as he
 * likes. A path that the driver cut may be that of any user. */
static void note_user(struct walk *w)
{
	struct part s = w->component;
	uint64_t uid = 0;
	size_t i;

	if (w->uid != SINSP_NO_UID)
		return;
	if (!w->before.len && s.len == 3 && !memcmp(s.p, "...", 3))
		w->uid = SINSP_UNKNOWN_UID;
	if (!is_below(w->before, "user.slice") || !starts_with(s, "user-"))
		return;
	for (i = 5; i < s.len && i < 15 && s.p[i] >= '0' && s.p[i] <= '9'; i++)
		uid = uid * 10 + (s.p[i] - '0');
	s.p += i;
	s.len -= i;
	if (i > 5 && s.len == 6 && !memcmp(s.p, ".slice", 6) && uid < SINSP_NO_UID)
		w->uid = uid;
}

static int is_uid_char(char c)
{
	return is_hex(c) || c == '-' || c == '_';
}

/* Parses "pod" and its UID at @s: a UUID, or the 32 digits of a static pod. */
static int copy_pod_uid(char out[37], struct part s)
{
	size_t n = 0;

	if (!starts_with(s, "pod"))
		return 0;
	s.p += 3;
	s.len -= 3;
	while (n < s.len && n < 37 && is_uid_char(s.p[n]))
		n++;
	if ((n != 32 && n != 36) || (n < s.len && s.p[n] != '.' && s.p[n] != ':'))
		return 0;
	for (size_t i = 0; i < n; i++)
		out[i] = s.p[i] == '_' ? '-' : s.p[i];
	out[n] = 0;
	return 1;
}

/* "podUID" or "kubepods-burstable-podUID.slice", within kubernetes. */
static int note_pod(struct walk *w)
{
	struct part s = w->component;
	const char *at = s.p;

	w->in_kubepods |= memmem(s.p, s.len, "kubepods", 8) != NULL;
	if (!w->in_kubepods)
		return 0;
	do {
		if (copy_pod_uid(w->pod_uid, (struct part){at, s.p + s.len - at}))
			return 1;
		at = memchr(at, '-', s.p + s.len - at);
	} while (at && ++at < s.p + s.len);
	return 0;
}

static int match_path(struct sinsp_container_match *out, const char *path, size_t len)
{
	struct walk w = {.uid = SINSP_NO_UID};
	const char *p = path, *end = path + len, *next;
	int found = 0, names_pod;

	while (p && p < end) {
		p++; /* past the '/' */
		next = memchr(p, '/', end - p);
		w.before = (struct part){path, p - 1 - path};
		w.component = (struct part){p, (next ? next : end) - p};
		note_user(&w);
		names_pod = note_pod(&w);
		if (match_component(out, &w)) {
			found = 1;
			out->uid = w.uid;
			out->pod_uid[0] = 0;
			if (w.uid == SINSP_NO_UID) /* others could name any pod */
				memcpy(out->pod_uid, w.pod_uid, sizeof(out->pod_uid));
		}
		w.in_pod = names_pod;
		p = next;
	}
	return found;
}

int sinsp_container_match(struct sinsp_container_match *out, const char *cgroups, size_t len)
{
	const char *end = cgroups + len;

	while (cgroups < end) {
		size_t n = strnlen(cgroups, end - cgroups);
		const char *path = memchr(cgroups, '=', n);

		if (path && ++path < cgroups + n && *path == '/' &&
		    match_path(out, path, cgroups + n - path))
			return 1;
		cgroups += n + 1;
	}
	return 0;
}
