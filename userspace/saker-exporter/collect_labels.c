/* SPDX-License-Identifier: Apache-2.0 */
/* Values of events as labels and numbers. What is unknown is an empty label, or no number. */
#include <string.h>

#include "collect.h"
#include "container/containers.h"
#include "fields/field_params.h"
#include "thread.h"

static const char *process_name(const struct sinsp_evt *evt)
{
	return evt->thread && evt->thread->known ? sinsp_thread_proc_name(evt->thread) : NULL;
}

void collect_service(struct label_value *to, const struct sinsp_evt *evt)
{
	const struct sinsp_container *c = evt->thread ? sinsp_thread_container(evt->thread) : NULL;

	memset(to, 0, SERVICE_LABELS * sizeof(*to));
	to[0] = label_of(process_name(evt));
	if (!c)
		return;
	to[1] = label_of(*c->name ? c->name : c->id);
	to[2] = label_of(sinsp_container_label(c, SINSP_LABEL_NAMESPACE));
	to[3] = label_of(sinsp_container_label(c, SINSP_LABEL_POD_NAME));
}

static struct label_value from_value(int n, const struct sinsp_value *v)
{
	return n == 1 ? (struct label_value){v->p, v->len} : (struct label_value){0};
}

struct label_value collect_text(const struct sinsp_evt *evt, unsigned int at)
{
	struct sinsp_value v;

	return from_value(field_param_text(&v, field_param(evt, evt->raw.type, at)), &v);
}

int collect_number(const struct sinsp_evt *evt, unsigned int at, uint64_t *n)
{
	struct sinsp_value v;

	if (field_param_number(&v, field_param(evt, evt->raw.type, at)) != 1)
		return 0;
	*n = v.u;
	return 1;
}

struct label_value collect_name(const struct sinsp_evt *evt, unsigned int at)
{
	const struct scap_param *p = field_param(evt, evt->raw.type, at);
	struct sinsp_value v;

	return from_value(field_param_name(&v, p, evt->raw.type, at), &v);
}
