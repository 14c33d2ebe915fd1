/* SPDX-License-Identifier: Apache-2.0 */
/* The table of containers: hashed by ID, cached by cgroups, with a ring of unused ones. */
#include "containers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "container_json.h"

int sinsp_containers_init(struct sinsp_containers *cs, struct sinsp_strings *strings)
{
	memset(cs, 0, sizeof(*cs));
	cs->strings = strings;
	cs->n_buckets = 64;
	cs->buckets = calloc(cs->n_buckets, sizeof(*cs->buckets));
	return cs->buckets ? 0 : -ENOMEM;
}

/* The texts are freed with the table of strings. */
void sinsp_containers_fini(struct sinsp_containers *cs)
{
	for (uint32_t i = 0; cs->buckets && i < cs->n_buckets; i++) {
		struct sinsp_container *c = cs->buckets[i];

		while (c) {
			struct sinsp_container *next = c->next;

			free(c);
			c = next;
		}
	}
	free(cs->buckets);
	memset(cs, 0, sizeof(*cs));
}

/* Hashes the address of an interned text, which no capture can choose. */
static uint32_t hash_text(const char *text)
{
	return (uint64_t)(uintptr_t)text * 0x9e3779b97f4a7c15 >> 32;
}

static struct sinsp_container **bucket_of(struct sinsp_containers *cs, const char *id)
{
	return &cs->buckets[hash_text(id) & (cs->n_buckets - 1)];
}

enum { N_TEXTS = 13 + SINSP_PROBE_MAX };

static void texts_of(struct sinsp_container *c, const char **list[N_TEXTS])
{
	list[0] = &c->id;
	list[1] = &c->full_id;
	list[2] = &c->name;
	list[3] = &c->image;
	list[4] = &c->image_id;
	list[5] = &c->image_repo;
	list[6] = &c->image_tag;
	list[7] = &c->image_digest;
	list[8] = &c->ip;
	list[9] = &c->pod_uid;
	list[10] = &c->labels;
	list[11] = &c->mounts;
	list[12] = &c->pod_labels;
	for (int i = 0; i < SINSP_PROBE_MAX; i++)
		list[13 + i] = &c->probes[i];
}

static void discard(struct sinsp_containers *cs, struct sinsp_container *c)
{
	struct sinsp_container **at = bucket_of(cs, c->id);
	const char **texts[N_TEXTS];

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	cs->n--;
	texts_of(c, texts);
	for (int i = 0; i < N_TEXTS; i++)
		sinsp_str_put(cs->strings, *texts[i]);
	free(c);
}

static void retire(struct sinsp_containers *cs, struct sinsp_container *c)
{
	uint32_t place = cs->next_retired++ % SINSP_CONTAINERS_RETIRED;

	if (cs->retired[place])
		discard(cs, cs->retired[place]);
	cs->retired[place] = c;
	c->place = place;
}

static struct sinsp_container *ref(struct sinsp_containers *cs, struct sinsp_container *c)
{
	if (c && !c->refs++)
		cs->retired[c->place] = NULL;
	return c;
}

void sinsp_container_put(struct sinsp_containers *cs, struct sinsp_container *c)
{
	if (c && !--c->refs)
		retire(cs, c);
}

static void grow(struct sinsp_containers *cs)
{
	uint32_t n_old = cs->n_buckets;
	struct sinsp_container **old = cs->buckets, **b = calloc((size_t)n_old * 2, sizeof(*b));

	if (!b)
		return; /* longer chains at worst */
	cs->buckets = b;
	cs->n_buckets = n_old * 2;
	for (uint32_t i = 0; i < n_old; i++) {
		struct sinsp_container *c = old[i];

		while (c) {
			struct sinsp_container *next = c->next, **at = bucket_of(cs, c->id);

			c->next = *at;
			*at = c;
			c = next;
		}
	}
	free(old);
}

static struct sinsp_container *add(struct sinsp_containers *cs, const char *id)
{
	struct sinsp_container *c = calloc(1, sizeof(*c)), **at;
	const char **texts[N_TEXTS];

	if (!c)
		return NULL;
	if (cs->n >= cs->n_buckets)
		grow(cs);
	texts_of(c, texts);
	for (int i = 0; i < N_TEXTS; i++)
		*texts[i] = sinsp_str_get(cs->strings, "", 0);
	c->id = sinsp_str_ref(id);
	c->uid = SINSP_NO_UID;
	c->privileged = -1;
	c->refs = 1;
	at = bucket_of(cs, id);
	c->next = *at;
	*at = c;
	cs->n++;
	return c;
}

/* Returns the container with this ID, added if it is new; counted. */
static struct sinsp_container *get(struct sinsp_containers *cs, const char *id, int *is_new)
{
	const char *text = sinsp_str_get(cs->strings, id, strlen(id));
	struct sinsp_container *c = NULL;

	*is_new = 0;
	if (*text) {
		for (c = *bucket_of(cs, text); c && (c->id != text || c->overruled); c = c->next)
			;
		*is_new = !c;
		c = c ? ref(cs, c) : add(cs, text);
	}
	sinsp_str_put(cs->strings, text);
	return c;
}

static void set(struct sinsp_containers *cs, const char **dst, const char *text)
{
	sinsp_str_set(cs->strings, dst, text, strlen(text));
}

/*
 * Returns the container with this ID that belongs to this user, or to the system; added if it is
 * new; counted. NULL: it belongs to another user, or no memory. A user names the cgroups below his
 * own as he likes, also like a container of somebody else, so his process does not get that
 * container; a container of the system replaces one of a user in the table. A container that is
 * known only by an event of a file belongs to the first path or answer with its ID.
 */
static struct sinsp_container *get_of(struct sinsp_containers *cs, const char *id,
				      const char *full_id, uint32_t uid, int *is_new)
{
	struct sinsp_container *c = get(cs, id, is_new);

	if (c && c->owned && c->uid != uid && uid == SINSP_NO_UID) {
		c->overruled = 1;
		sinsp_container_put(cs, c);
		c = get(cs, id, is_new);
	}
	if (c && !c->owned) {
		set(cs, &c->full_id, full_id);
		c->uid = uid;
		c->owned = 1;
	}
	if (c && c->uid != uid) {
		sinsp_container_put(cs, c);
		c = NULL;
	}
	return c;
}

static struct sinsp_container *match(struct sinsp_containers *cs, const char *cgroups)
{
	struct sinsp_container_match m;
	struct sinsp_container *c;
	int is_new;

	if (!sinsp_container_match(&m, cgroups, sinsp_str_len(cgroups)))
		return NULL;
	c = get_of(cs, m.id, m.full_id, m.uid, &is_new);
	if (!c)
		return NULL;
	/* An event may have a more exact type than a path. */
	if (is_new) {
		c->type = m.type;
		if (!m.full_id[0])
			set(cs, &c->name, m.id);
	}
	if (m.pod_uid[0])
		set(cs, &c->pod_uid, m.pod_uid);
	return c;
}

static void note_new(struct sinsp_containers *cs, struct sinsp_container *c)
{
	if (!c || c->requested || c->has_event || !cs->collects_new)
		return;
	c->requested = 1;
	c->next_new = cs->first_new;
	cs->first_new = ref(cs, c);
}

struct sinsp_container *sinsp_containers_by_cgroups(struct sinsp_containers *cs,
						    const char *cgroups)
{
	struct sinsp_container_cached *at = &cs->cache[hash_text(cgroups) % SINSP_CONTAINERS_CACHE];

	if (!*cgroups)
		return NULL;
	if (at->cgroups != cgroups) {
		sinsp_str_put(cs->strings, at->cgroups);
		sinsp_container_put(cs, at->container);
		at->cgroups = sinsp_str_ref(cgroups);
		at->container = match(cs, cgroups);
	}
	note_new(cs, at->container);
	return ref(cs, at->container);
}

static void set_list(struct sinsp_containers *cs, const char **dst,
		     const struct sinsp_json_list *list)
{
	sinsp_str_set(cs->strings, dst, list->p ? list->p : "", list->len);
}

/* A user's engine can say of its containers that they belong to any pod: those labels are left
 * out. */
static void set_labels(struct sinsp_containers *cs, struct sinsp_container *c,
		       const struct sinsp_json_list *list)
{
	static const char pods[] = "io.kubernetes.";
	char *kept, *to;

	if (c->uid == SINSP_NO_UID || !list->len) {
		set_list(cs, &c->labels, list);
		return;
	}
	to = kept = malloc(list->len);
	if (!kept)
		return;
	for (size_t at = 0, n; at < list->len; at += n) {
		n = strlen(list->p + at) + 1;
		if (strncmp(list->p + at, pods, strlen(pods)) != 0) {
			memcpy(to, list->p + at, n);
			to += n;
		}
	}
	sinsp_str_set(cs->strings, &c->labels, kept, (size_t)(to - kept));
	free(kept);
}

struct sinsp_container *sinsp_containers_apply_event(struct sinsp_containers *cs, const char *json,
						     size_t len)
{
	struct sinsp_container_info info;
	struct sinsp_container *c;
	int is_new;

	if (sinsp_container_json_read(&info, json, len))
		return NULL;
	c = get(cs, info.id, &is_new);
	if (c) {
		c->type = info.type;
		set(cs, &c->name, info.name);
		set(cs, &c->image, info.image);
		set(cs, &c->image_id, info.image_id);
		set(cs, &c->image_repo, info.image_repo);
		set(cs, &c->image_tag, info.image_tag);
		set(cs, &c->image_digest, info.image_digest);
		set(cs, &c->ip, info.ip);
		set_labels(cs, c, &info.labels);
		set_list(cs, &c->pod_labels, &info.pod_labels);
		set_list(cs, &c->mounts, &info.mounts);
		for (int i = 0; i < SINSP_PROBE_MAX; i++)
			set_list(cs, &c->probes[i], &info.probes[i]);
		c->privileged = info.privileged;
		c->has_event = 1;
		if (!*c->pod_uid)
			set(cs, &c->pod_uid,
			    sinsp_container_label(c, "io.kubernetes.pod.uid") ?: "");
	}
	sinsp_container_info_fini(&info);
	return c;
}

int sinsp_containers_expect(struct sinsp_containers *cs, const char *id, const char *full_id,
			    uint32_t uid)
{
	int is_new;
	struct sinsp_container *c = get_of(cs, id, full_id, uid, &is_new);

	if (!c)
		return 0;
	c->has_event = 1;
	sinsp_container_put(cs, c);
	return 1;
}

struct sinsp_container *sinsp_containers_next_new(struct sinsp_containers *cs)
{
	struct sinsp_container *c = cs->first_new;

	if (c) {
		cs->first_new = c->next_new;
		c->next_new = NULL;
	}
	return c;
}

static const char *find_label(const char *labels, const char *key)
{
	const char *p = labels, *end = p + sinsp_str_len(p);
	size_t n = strlen(key);

	for (; p < end; p += strlen(p) + 1)
		if (!strncmp(p, key, n) && p[n] == '=')
			return p + n + 1;
	return NULL;
}

const char *sinsp_container_label(const struct sinsp_container *c, const char *key)
{
	return find_label(c->labels, key);
}

const char *sinsp_container_pod_label(const struct sinsp_container *c, const char *key)
{
	return find_label(c->pod_labels, key);
}

const char *sinsp_container_type_name(enum sinsp_container_type type)
{
	static const char *const names[SINSP_CT_MAX] = {
		[SINSP_CT_DOCKER] = "docker",
		[SINSP_CT_LXC] = "lxc",
		[SINSP_CT_LIBVIRT_LXC] = "libvirt-lxc",
		[SINSP_CT_MESOS] = "mesos",
		[SINSP_CT_RKT] = "rkt",
		[SINSP_CT_CUSTOM] = "custom",
		[SINSP_CT_CRI] = "cri",
		[SINSP_CT_CONTAINERD] = "containerd",
		[SINSP_CT_CRIO] = "cri-o",
		[SINSP_CT_BPM] = "bpm",
		[SINSP_CT_STATIC] = "static",
		[SINSP_CT_PODMAN] = "podman",
	};

	return type < SINSP_CT_MAX ? names[type] : "unknown";
}
