/* SPDX-License-Identifier: Apache-2.0 */
/* Prints PIDs with the name of the process, UIDs and GIDs with the name from the user table. */
#include "thread.h"
#include "value_kinds.h"

/* Writes a name from the kernel or a file as the meaning of a number. */
static char *put_foreign_meaning(struct value_writer *w, char *p, const char *name)
{
	const size_t n = strlen(name);

	p = text_room(w->out, p, n + VALUE_ROOM);
	if (!p)
		return NULL;
	p = put_utf8(open_meaning(w, p), name, n);
	*p = ')';
	return p + 1;
}

/* Returns whether the number is of the caller's PID namespace. Events of new threads (except their
 * result) and events that are not calls have numbers of the initial one. */
static int is_callers_number(const struct sinsp_evt *evt, const struct value *v)
{
	if (evt->info->category & EC_INTERNAL || evt->info->flags & EF_SKIPPARSERESET)
		return 0;
	for (unsigned int i = 0; i < evt->info->n_params; i++)
		if (!strcmp(evt->info->params[i].name, "ptid"))
			return !strcmp(v->info->name, "res");
	return strcmp(v->info->name, "reaper_tid") != 0;
}

char *value_put_pid(struct value_writer *w, char *p, const struct value *v)
{
	const int64_t pid = v->type == PT_PID32 ? (int32_t)get_u32(v->p) : (int64_t)get_u64(v->p);
	const struct sinsp_thread *by = w->evt->thread;
	const struct sinsp_thread *t = by && by->vtid != by->tid && is_callers_number(w->evt, v)
					       ? sinsp_thread_in_pidns(w->evt->insp, by, pid)
					       : sinsp_thread_find(w->evt->insp, pid);

	p = put_i64(p, pid);
	return t && t->comm[0] ? put_foreign_meaning(w, p, t->comm) : p;
}

char *value_put_id(struct value_writer *w, char *p, const struct value *v)
{
	const uint32_t id = get_u32(v->p);
	const char *name;
	size_t n;

	if (id == UINT32_MAX)
		return put_meaning(w, put_lit(p, "-1"), "<NONE>");
	name = v->type == PT_UID ? sinsp_user_name(w->evt->insp, w->evt->thread, id)
				 : sinsp_group_name(w->evt->insp, w->evt->thread, id);
	p = put_i64(p, (int32_t)id);
	if (!name)
		return put_meaning(w, p, "<NA>");
	n = strlen(name);
	p = text_room(w->out, p, n + VALUE_ROOM);
	if (!p)
		return NULL;
	p = put_name(w, open_meaning(w, p), name, n);
	*p = ')';
	return p + 1;
}

/* Writes 0(root),4(adm). */
char *value_put_gid_list(struct value_writer *w, char *p, const struct value *v)
{
	for (uint32_t at = 0; p && at + sizeof(uint32_t) <= v->len; at += sizeof(uint32_t)) {
		const struct value gid = {
			.p = v->p + at, .len = sizeof(uint32_t), .type = PT_GID, .fmt = PF_DEC};

		p = text_room(w->out, p, VALUE_ROOM);
		if (p && at)
			*p++ = ',';
		p = p ? value_put_id(w, p, &gid) : NULL;
	}
	w->meaning = 0; /* no meaning for the whole */
	return p;
}
