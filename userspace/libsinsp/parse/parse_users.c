/* SPDX-License-Identifier: Apache-2.0 */
/* Events in which another tool reported a change of its table of users or groups. */
#include "parsers.h"

/* Returns the text of a parameter, NULL if it has no NUL at its end. */
static const char *text_of(const struct sinsp_parse *p, enum sinsp_param name)
{
	const struct scap_param *v = sinsp_evt_param(p, name);

	if (!v)
		return "";
	return v->p[v->len - 1] ? NULL : (const char *)v->p;
}

static void report(struct sinsp_parse *p, enum sinsp_name_kind kind, enum sinsp_param number,
		   int is_removed)
{
	const struct scap_param *id = sinsp_evt_param(p, number);
	const struct sinsp_name name = {
		.id = (uint32_t)sinsp_u64(id, 0),
		.name = is_removed ? NULL : text_of(p, SINSP_P_name),
		.home = text_of(p, SINSP_P_home),
		.shell = text_of(p, SINSP_P_shell),
	};
	const char *container = text_of(p, SINSP_P_container_id);

	if (!id || !container || (!is_removed && !name.name))
		return;
	sinsp_users_report(&p->s->users, &p->s->threads.strings, container, kind, &name);
}

void sinsp_parse_user(struct sinsp_parse *p)
{
	report(p, SINSP_NAME_USER, SINSP_P_uid, p->e->raw.type == EVT_USERDELETED_E);
}

void sinsp_parse_group(struct sinsp_parse *p)
{
	report(p, SINSP_NAME_GROUP, SINSP_P_gid, p->e->raw.type == EVT_GROUPDELETED_E);
}
