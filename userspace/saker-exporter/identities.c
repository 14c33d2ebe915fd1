/* SPDX-License-Identifier: Apache-2.0 */
/* A pod has the names that any of its containers has: its sandbox may have none. */
#include "identities.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "container/containers.h"
#include "hash.h"
#include "memory/intern.h"

enum {
	BUCKETS = 1024,
	CGROUP_TEXT_SZ = 1024,
	ALL_LABELS = CGROUP_LABELS + CONTAINER_LABELS + POD_LABELS
};

struct pod {
	struct pod *next; /* in the bucket */
	const char *uid; /* interned, as the names; "": the pod is its names */
	const char *namespace, *name;
	size_t n_entries;
};

struct entry {
	struct entry *next; /* in the bucket */
	uint64_t cgroup, round; /* round: of its last update */
	const char *path; /* interned */
	struct sinsp_container *container; /* one use; NULL: none */
	struct pod *pod; /* NULL: none */
	/* The texts of the labels: a use of each. */
	const char *texts[ALL_LABELS];
	struct identity identity;
};

struct identities {
	struct sinsp_lookup *lookup; /* NULL: none */
	struct sinsp_strings strings;
	struct sinsp_containers containers;
	uint64_t round, seed;
	struct entry *buckets[BUCKETS];
	struct pod *pods[BUCKETS];
};

int identities_new(struct identities **out, struct sinsp_lookup *lookup)
{
	struct identities *ids = calloc(1, sizeof(*ids));
	int err = ids ? sinsp_strings_init(&ids->strings) : -ENOMEM;

	err = err ?: sinsp_containers_init(&ids->containers, &ids->strings);
	if (err) {
		if (ids)
			sinsp_strings_fini(&ids->strings);
		sinsp_lookup_free(lookup);
		free(ids);
		return err;
	}
	ids->lookup = lookup;
	ids->containers.collects_new = 1;
	ids->seed = scap_hash_seed(ids);
	*out = ids;
	return 0;
}

/* The texts are freed with their table. */
void identities_free(struct identities *ids)
{
	if (!ids)
		return;
	sinsp_lookup_free(ids->lookup);
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct entry *e = ids->buckets[i], *next; e; e = next) {
			next = e->next;
			free(e);
		}
		for (struct pod *p = ids->pods[i], *next; p; p = next) {
			next = p->next;
			free(p);
		}
	}
	sinsp_containers_fini(&ids->containers);
	sinsp_strings_fini(&ids->strings);
	free(ids);
}

/* ---- pods ---- */

/* By its UID; without one, by its names. Texts are interned: addresses identify them. */
static struct pod **pod_bucket(struct identities *ids, const char *uid, const char *namespace,
			       const char *name)
{
	uint64_t hash = scap_hash_number(ids->seed, (uintptr_t)uid);

	if (!*uid)
		hash = scap_hash_number(scap_hash_number(hash, (uintptr_t) namespace),
					(uintptr_t)name);
	return &ids->pods[hash % BUCKETS];
}

static struct pod *pod_get(struct identities *ids, const char *uid, const char *namespace,
			   const char *name)
{
	struct pod **bucket = pod_bucket(ids, uid, namespace, name), *p = *bucket;

	while (p && (p->uid != uid || (!*uid && (p->namespace != namespace || p->name != name))))
		p = p->next;
	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		p->uid = sinsp_str_ref(uid);
		p->namespace = sinsp_str_ref(namespace);
		p->name = sinsp_str_ref(name);
		p->next = *bucket;
		*bucket = p;
	}
	if (!*p->name && *name) {
		sinsp_str_set(&ids->strings, &p->name, name, sinsp_str_len(name));
		sinsp_str_set(&ids->strings, &p->namespace, namespace, sinsp_str_len(namespace));
	}
	p->n_entries++;
	return p;
}

static void pod_put(struct identities *ids, struct pod *p)
{
	struct pod **at;

	if (!p || --p->n_entries)
		return;
	at = pod_bucket(ids, p->uid, p->namespace, p->name);
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	sinsp_str_put(&ids->strings, p->uid);
	sinsp_str_put(&ids->strings, p->namespace);
	sinsp_str_put(&ids->strings, p->name);
	free(p);
}

/* ---- containers ---- */

static const char *intern(struct identities *ids, const char *text)
{
	return sinsp_str_get(&ids->strings, text ?: "", text ? strlen(text) : 0);
}

/* Returns the container of a path, with one use. */
static struct sinsp_container *container_of(struct identities *ids, const char *path)
{
	char text[CGROUP_TEXT_SZ] = "cpuacct=";
	const size_t prefix = strlen(text), len = strlen(path);
	struct sinsp_container *c;
	const char *cgroups;

	if (prefix + len + 1 > sizeof(text))
		return NULL;
	memcpy(text + prefix, path, len + 1);
	cgroups = sinsp_str_get(&ids->strings, text, prefix + len + 1);
	c = sinsp_containers_by_cgroups(&ids->containers, cgroups);
	sinsp_str_put(&ids->strings, cgroups);
	return c;
}

/* The pod of a container that may have got its names just now. */
static void find_pod(struct identities *ids, struct entry *e)
{
	const struct sinsp_container *c = e->container;
	const char *namespace = intern(ids, sinsp_container_label(c, SINSP_LABEL_NAMESPACE));
	const char *name = intern(ids, sinsp_container_label(c, SINSP_LABEL_POD_NAME));
	struct pod *old = e->pod;

	e->pod = *c->pod_uid || *name ? pod_get(ids, c->pod_uid, namespace, name) : NULL;
	pod_put(ids, old);
	sinsp_str_put(&ids->strings, namespace);
	sinsp_str_put(&ids->strings, name);
}

/* Takes the results of the look-up. Its notes are those of the capture's. */
static void take_names(struct identities *ids)
{
	struct sinsp_lookup_result *r = ids->lookup ? sinsp_lookup_results(ids->lookup) : NULL;

	for (struct sinsp_lookup_result *next; r; r = next) {
		next = r->next;
		if (r->json && sinsp_containers_expect(&ids->containers, r->id, r->full_id, r->uid))
			sinsp_container_put(&ids->containers,
					    sinsp_containers_apply_event(&ids->containers, r->json,
									 strlen(r->json)));
		sinsp_lookup_result_free(r);
	}
}

static void request_names(struct identities *ids)
{
	struct sinsp_container *c;

	while ((c = sinsp_containers_next_new(&ids->containers))) {
		if (!c->has_event && *c->full_id && ids->lookup && sinsp_lookup_supports(c->type) &&
		    sinsp_lookup_request(ids->lookup, c->type, c->uid, c->id, c->full_id))
			c->requested = 0; /* the queue is full: requested by the next update */
		sinsp_container_put(&ids->containers, c);
	}
}

/* ---- entries ---- */

static struct entry **bucket_of(const struct identities *ids, uint64_t cgroup)
{
	return (struct entry **)&ids->buckets[scap_hash_number(ids->seed, cgroup) % BUCKETS];
}

static struct entry *find(const struct identities *ids, uint64_t cgroup)
{
	struct entry *e = *bucket_of(ids, cgroup);

	while (e && e->cgroup != cgroup)
		e = e->next;
	return e;
}

static struct entry *get(struct identities *ids, uint64_t cgroup)
{
	struct entry **bucket = bucket_of(ids, cgroup), *e = find(ids, cgroup);

	if (e)
		return e;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->cgroup = cgroup;
	e->path = intern(ids, NULL);
	for (size_t i = 0; i < ALL_LABELS; i++)
		e->texts[i] = intern(ids, NULL);
	e->next = *bucket;
	*bucket = e;
	return e;
}

/* Forgets what the path told. */
static void release(struct identities *ids, struct entry *e)
{
	sinsp_container_put(&ids->containers, e->container);
	pod_put(ids, e->pod);
	e->container = NULL;
	e->pod = NULL;
}

/* Looks the container up: of a new path, and again until its names were requested. */
static void look_up(struct identities *ids, struct entry *e, const char *path)
{
	const struct sinsp_container *c = e->container;

	if (strcmp(e->path, path) != 0) {
		release(ids, e);
		sinsp_str_set(&ids->strings, &e->path, path, strlen(path));
		e->container = container_of(ids, path);
	} else if (c && !c->has_event && !c->requested) {
		sinsp_container_put(&ids->containers, container_of(ids, path));
	}
	if (e->container)
		find_pod(ids, e);
}

static struct label_value *label_at(struct identity *id, size_t i)
{
	if (i < CGROUP_LABELS)
		return &id->cgroup[i];
	i -= CGROUP_LABELS;
	return i < CONTAINER_LABELS ? &id->container[i] : &id->pod[i - CONTAINER_LABELS];
}

/* Sets a label, which keeps its text. */
static void set_text(struct identities *ids, struct entry *e, size_t i, const char *text)
{
	struct identity *id = &e->identity;

	id->changed |= strcmp(e->texts[i], text) != 0;
	sinsp_str_set(&ids->strings, &e->texts[i], text, strlen(text));
	*label_at(id, i) = label_of(e->texts[i]);
}

/* After all look-ups: a pod may have got its names from another container. */
static void set_labels(struct identities *ids, struct entry *e)
{
	const struct sinsp_container *c = e->container;
	const struct pod *p = e->pod;
	const char *const id = c ? c->id : "", *namespace = p ? p->namespace : "",
			  *pod = p ? p->name : "";
	const char *const texts[ALL_LABELS] = {e->path,
					       id,
					       c ? c->pod_uid : "", /* of the cgroup */
					       id,
					       c ? c->name : "",
					       c ? c->image : "",
					       namespace,
					       pod, /* of the container */
					       p ? p->uid : "",
					       namespace,
					       pod};

	e->identity.has_container = c != NULL;
	e->identity.has_pod = p != NULL;
	e->identity.labels_of_pod = c ? c->pod_labels : "";
	e->identity.labels_of_pod_sz = c ? sinsp_str_len(c->pod_labels) : 0;
	e->identity.changed = 0;
	for (size_t i = 0; i < ALL_LABELS; i++)
		set_text(ids, e, i, texts[i]);
}

static void drop(struct identities *ids, struct entry *e)
{
	release(ids, e);
	sinsp_str_put(&ids->strings, e->path);
	for (size_t i = 0; i < ALL_LABELS; i++)
		sinsp_str_put(&ids->strings, e->texts[i]);
	free(e);
}

void identities_update(struct identities *ids, const struct scap_account_cgroup *cgroups, size_t n)
{
	ids->round++;
	take_names(ids);
	for (size_t i = 0; i < n; i++) {
		struct entry *e = cgroups[i].path ? get(ids, cgroups[i].id) : NULL;

		if (!e)
			continue;
		e->round = ids->round;
		look_up(ids, e, cgroups[i].path);
	}
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct entry **at = &ids->buckets[i], *e; (e = *at);) {
			if (e->round == ids->round) {
				set_labels(ids, e);
				at = &e->next;
				continue;
			}
			*at = e->next;
			drop(ids, e);
		}
	}
	request_names(ids);
}

const struct identity *identities_find(const struct identities *ids, uint64_t cgroup)
{
	const struct entry *e = find(ids, cgroup);

	return e ? &e->identity : NULL;
}
