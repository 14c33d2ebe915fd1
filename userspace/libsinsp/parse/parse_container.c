/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Container events. They belong to no thread; sysdig prints "container:ID" as their process. In a
 * live capture, answers of Docker and Podman become such events, which then change the state as
 * those of a file do.
 */
#include <stdlib.h>
#include <string.h>

#include "container/container_json.h"
#include "container/container_lookup.h"
#include "parsers.h"

#define CONTAINER_TID INT64_MIN /* no thread has it */
#define CONTAINER_VTID -2 /* the value that sysdig prints */

static struct sinsp_container *update_container(struct sinsp_parse *p)
{
	const struct scap_param *json = p->e->params.n ? &p->e->params.v[0] : NULL;

	if (!json)
		return NULL;
	return sinsp_containers_apply_event(&p->s->threads.containers, (const char *)json->p,
					    json->len);
}

void sinsp_parse_container(struct sinsp_parse *p)
{
	struct sinsp_threads *tt = &p->s->threads;
	struct sinsp_container *c = update_container(p);
	struct sinsp_thread *t = sinsp_threads_find(tt, CONTAINER_TID);
	char comm[SINSP_CONTAINER_ID_SZ + 16] = "container:";

	if (!t)
		t = sinsp_threads_add_stand_in(tt, CONTAINER_TID);
	if (!t) {
		sinsp_container_put(&tt->containers, c);
		return;
	}
	if (c)
		strcat(comm, c->id);
	sinsp_thread_set_comm(tt, t, comm, strlen(comm));
	sinsp_container_put(&tt->containers, t->proc->container);
	t->proc->container = c;
	t->vtid = t->vpid = CONTAINER_VTID;
	t->vtid_known = 1;
	p->e->thread = t;
}

static void inject(struct sinsp *s, const char *json)
{
	uint32_t json_sz = strlen(json) + 1;
	struct ppm_evt_hdr *hdr;
	uint32_t len = sizeof(*hdr) + sizeof(json_sz) + json_sz;

	hdr = malloc(len);
	if (!hdr)
		return;
	*hdr = (struct ppm_evt_hdr){
		.tid = UINT64_MAX, .len = len, .type = EVT_CONTAINER_E, .nparams = 1};
	memcpy(hdr + 1, &json_sz, sizeof(json_sz));
	memcpy((char *)(hdr + 1) + sizeof(json_sz), json, json_sz);
	scap_inject(s->src, hdr);
	free(hdr);
}

static void inject_results(struct sinsp *s)
{
	struct sinsp_lookup_result *r = sinsp_lookup_results(s->lookup), *next;

	for (; r; r = next) {
		next = r->next;
		if (r->json &&
		    sinsp_containers_expect(&s->threads.containers, r->id, r->full_id, r->uid))
			inject(s, r->json);
		if (r->note && s->log)
			s->log(s->log_ctx, r->is_warning ? SCAP_LOG_WARN : SCAP_LOG_INFO, r->note);
		sinsp_lookup_result_free(r);
	}
}

/* Reports a container that no engine can be queried about: its ID is its name. */
static void inject_name(struct sinsp *s, const struct sinsp_container *c)
{
	char *json = sinsp_container_json_of_name(c->id, c->type);

	if (json)
		inject(s, json);
	free(json);
}

void sinsp_step_containers(struct sinsp *s)
{
	struct sinsp_containers *cs = &s->threads.containers;
	struct sinsp_container *c;

	if (s->lookup)
		inject_results(s);
	while (cs->first_new && (c = sinsp_containers_next_new(cs))) {
		if (c->has_event)
			; /* reported meanwhile */
		else if (!*c->full_id)
			inject_name(s, c);
		else if (s->lookup && sinsp_lookup_supports(c->type) &&
			 sinsp_lookup_request(s->lookup, c->type, c->uid, c->id, c->full_id))
			c->requested = 0; /* the queue is full: queried when it is seen again */
		sinsp_container_put(cs, c);
	}
}
