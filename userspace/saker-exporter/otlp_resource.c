/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp_resource.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "collect.h"
#include "container/containers.h"
#include "otlp_queue.h"
#include "thread.h"

enum {
	GROUPS = 256, /* of a batch; a power of two, also of slots */
	SLOTS = 2 * GROUPS,
	BATCH_SZ = 256 << 10, /* a batch is made when it is so large */
	BATCH_MAX = 4 << 20,
	RESOURCE_MAX = 4 << 10,
	KEPT_MAX = 4 * BATCH_SZ, /* of memory, from one batch to the next */
};

void otlp_resource_self(struct pb *b, const char *host, const char *version)
{
	otlp_attr_string(b, RESOURCE_ATTRIBUTES, "service.name", "saker");
	otlp_attr_string(b, RESOURCE_ATTRIBUTES, "service.version", version);
	otlp_attr_string(b, RESOURCE_ATTRIBUTES, "service.instance.id", host);
	otlp_attr_string(b, RESOURCE_ATTRIBUTES, "host.name", host);
}

void otlp_resource_process(struct pb *b, const struct sinsp_evt *evt)
{
	const struct sinsp_thread *t = evt->thread;
	const struct sinsp_container *c = t ? sinsp_thread_container(t) : NULL;
	struct label_value service[SERVICE_LABELS];

	collect_service(service, evt);
	if (service[0].len)
		otlp_attr(b, RESOURCE_ATTRIBUTES, "service.name", service[0].p, service[0].len);
	else
		otlp_attr_string(b, RESOURCE_ATTRIBUTES, "service.name", "unknown_service");
	if (t && t->known)
		otlp_attr_int(b, RESOURCE_ATTRIBUTES, "process.pid", t->pid);
	otlp_attr_string(b, RESOURCE_ATTRIBUTES, "host.name", sinsp_hostname(evt->insp));
	if (!c)
		return;
	otlp_attr_string(b, RESOURCE_ATTRIBUTES, "container.id", *c->full_id ? c->full_id : c->id);
	otlp_attr_string(b, RESOURCE_ATTRIBUTES, "container.name", c->name);
	otlp_attr(b, RESOURCE_ATTRIBUTES, "k8s.namespace.name", service[2].p, service[2].len);
	otlp_attr(b, RESOURCE_ATTRIBUTES, "k8s.pod.name", service[3].p, service[3].len);
}

/* ---- groups ---- */

struct group {
	struct pb resource, items; /* the resource is the key */
};

struct otlp_groups {
	uint8_t signal;
	const char *version;
	struct group groups[GROUPS];
	uint16_t slots[SLOTS]; /* number of a group + 1; 0: free */
	uint32_t n, n_items, n_lost;
	struct pb out; /* scratch */
};

int otlp_groups_new(struct otlp_groups **out, uint8_t signal, const char *version)
{
	struct otlp_groups *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->signal = signal;
	g->version = version;
	pb_init(&g->out, BATCH_MAX);
	for (size_t i = 0; i < GROUPS; i++) {
		pb_init(&g->groups[i].resource, RESOURCE_MAX);
		pb_init(&g->groups[i].items, BATCH_MAX / 2);
	}
	*out = g;
	return 0;
}

void otlp_groups_free(struct otlp_groups *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < GROUPS; i++) {
		pb_fini(&g->groups[i].resource);
		pb_fini(&g->groups[i].items);
	}
	pb_fini(&g->out);
	free(g);
}

static int is_of(const struct group *of, const struct pb *resource)
{
	return of->resource.len == resource->len &&
	       memcmp(of->resource.p, resource->p, resource->len) == 0;
}

static uint32_t hash_of(const struct pb *b)
{
	uint32_t h = 2166136261;

	for (size_t i = 0; i < b->len; i++)
		h = (h ^ b->p[i]) * 16777619;
	return h;
}

struct pb *otlp_groups_item(struct otlp_groups *g, const struct sinsp_evt *evt)
{
	struct group *free_one = &g->groups[g->n];
	uint32_t at;

	pb_reset(&free_one->resource);
	otlp_resource_process(&free_one->resource, evt);
	if (free_one->resource.failed) {
		g->n_lost++;
		return NULL;
	}
	at = hash_of(&free_one->resource) % SLOTS;
	while (g->slots[at] && !is_of(&g->groups[g->slots[at] - 1], &free_one->resource))
		at = (at + 1) % SLOTS;
	if (!g->slots[at]) {
		pb_reset(&free_one->items);
		g->slots[at] = (uint16_t)++g->n;
	}
	g->n_items++;
	return &g->groups[g->slots[at] - 1].items;
}

uint32_t otlp_groups_take_lost(struct otlp_groups *g)
{
	const uint32_t n = g->n_lost;

	g->n_lost = 0;
	return n;
}

int otlp_groups_full(const struct otlp_groups *g)
{
	size_t sz = 0;

	if (g->n == GROUPS)
		return 1;
	for (uint32_t i = 0; i < g->n; i++)
		sz += g->groups[i].items.len;
	return sz >= BATCH_SZ;
}

/* Each of the groups may have been the largest of a batch: together they keep no more than some
 * need. */
static void free_some(struct otlp_groups *g)
{
	size_t kept = 0;

	for (size_t i = 0; i < GROUPS; i++) {
		struct pb *items = &g->groups[i].items;

		if (kept + items->cap > KEPT_MAX)
			pb_fini(items);
		kept += items->cap;
	}
}

struct otlp_batch *otlp_groups_flush(struct otlp_groups *g)
{
	struct otlp_batch *batch = NULL;
	struct otlp_request request;

	if (!g->n_items)
		return NULL;
	for (uint32_t i = 0; i < g->n; i++) {
		const struct group *one = &g->groups[i];

		otlp_request_begin(&request, &g->out, &one->resource, g->version);
		pb_put_raw(&g->out, one->items.p, one->items.len);
		g->out.failed |= one->items.failed;
		otlp_request_end(&request, &g->out);
	}
	if (!g->out.failed)
		batch = otlp_batch_new(g->signal, g->out.p, g->out.len, g->n_items);
	g->n_lost += batch ? 0 : g->n_items;
	memset(g->slots, 0, sizeof(g->slots));
	free_some(g);
	pb_reset(&g->out);
	g->n = g->n_items = 0;
	return batch;
}
