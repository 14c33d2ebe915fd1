/* SPDX-License-Identifier: Apache-2.0 */
/* Getters that find the thread whose fact a field shows: the event's own, its parent, the leader of
 * its session or group, an ancestor. */
#include "ancestors.h"

#include <errno.h>

#include "facts.h"
#include "family.h"
#include "process.h"

static fact_fn *const facts[] = {
#define X(name) [FACT_##name] = fact_##name,
	FACTS(X)
#undef X
};

static int fact_of(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_thread *t)
{
	return t ? facts[f->row->variant](e, v, t) : 0;
}

static int leaders(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   enum sinsp_group_kind kind)
{
	const struct sinsp_thread *t = e->evt->thread;

	return fact_of(e, f, v, t ? sinsp_family_leader(e->insp, t, kind) : NULL);
}

int field_get_own(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		  const struct sinsp_value **more)
{
	(void)more;
	return fact_of(e, f, v, e->evt->thread);
}

int field_get_parents(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	const struct sinsp_thread *t = e->evt->thread;

	(void)more;
	return fact_of(e, f, v, t ? sinsp_family_parent(e->insp, t) : NULL);
}

int field_get_sid_leaders(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			  const struct sinsp_value **more)
{
	(void)more;
	return leaders(e, f, v, SINSP_GROUP_SESSION);
}

int field_get_vpgid_leaders(struct sinsp_eval *e, const struct sinsp_field *f,
			    struct sinsp_value *v, const struct sinsp_value **more)
{
	(void)more;
	return leaders(e, f, v, SINSP_GROUP_VPGID);
}

int field_get_pgid_leaders(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			   const struct sinsp_value **more)
{
	(void)more;
	return leaders(e, f, v, SINSP_GROUP_PGID);
}

static int all_ancestors(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			 const struct sinsp_value **more)
{
	const struct sinsp_value empty = *v;
	const struct sinsp_thread *t;
	struct sinsp_ancestry w;
	struct sinsp_value *list;
	int n = 0, got = 0;

	sinsp_ancestry_begin(&w, e->insp, e->evt->thread);
	while (sinsp_ancestry_next(&w))
		n++;
	list = sinsp_eval_alloc(e, (size_t)n * sizeof(*list));
	if (!list)
		return -ENOMEM;
	sinsp_ancestry_begin(&w, e->insp, e->evt->thread);
	n = 0;
	while ((t = sinsp_ancestry_next(&w))) {
		list[n] = empty;
		got = fact_of(e, f, &list[n], t);
		if (got < 0)
			return got;
		n += got;
	}
	if (n)
		*v = list[0];
	*more = list;
	return n;
}

int field_get_ancestors(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			const struct sinsp_value **more)
{
	const struct sinsp_thread *t = e->evt->thread;

	if (!t)
		return 0;
	if (!f->arg)
		return all_ancestors(e, f, v, more);
	return fact_of(e, f, v, sinsp_family_ancestor(e->insp, t, (uint64_t)f->index));
}

int field_get_aenv(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	struct sinsp_ancestry w;
	const struct sinsp_thread *t = e->evt->thread;

	if (!f->arg || f->has_index)
		return field_get_ancestors(e, f, v, more);
	if (!t)
		return 0;
	sinsp_ancestry_begin(&w, e->insp, t);
	while ((t = sinsp_ancestry_next(&w)))
		if (fact_list_value(v, t->proc->env, f->arg))
			return 1;
	return 0;
}

static int is_shell(const struct sinsp_thread *t)
{
	const char *name = sinsp_thread_proc_name(t);
	const size_t n = strlen(name);

	return n >= 2 && !strcmp(name + n - 2, "sh");
}

int field_get_loginshellid(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			   const struct sinsp_value **more)
{
	const struct sinsp_thread *t = e->evt->thread;
	struct sinsp_ancestry w;
	int found = 0;

	(void)f, (void)more;
	if (!t)
		return 0;
	sinsp_ancestry_begin(&w, e->insp, t);
	for (t = w.at; t; t = sinsp_ancestry_next(&w))
		if (is_shell(t))
			found = field_i(v, t->pid);
	return found;
}
