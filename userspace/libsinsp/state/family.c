/* SPDX-License-Identifier: Apache-2.0 */
/* Ancestors, leaders of sessions and groups, and health checks. */
#include "family.h"

#include <string.h>

#include "inspector.h"
#include "quirks.h"

const struct sinsp_thread *sinsp_family_main(struct sinsp *s, const struct sinsp_thread *t)
{
	const struct sinsp_thread *main;

	if (t->tid == t->pid)
		return t;
	main = sinsp_threads_find(&s->threads, t->pid);
	if (!main || main->proc != t->proc) /* the main thread may have ended, too */
		main = sinsp_threads_find_dead(&s->threads, t->pid);
	return main && main->proc == t->proc ? main : t;
}

const struct sinsp_thread *sinsp_family_parent(struct sinsp *s, const struct sinsp_thread *t)
{
	const struct sinsp_thread *main = sinsp_family_main(s, t), *parent;
	const struct sinsp_process *p = main->proc->parent;

	parent = sinsp_threads_find(&s->threads, p ? p->pid : main->ptid);
	return parent ? sinsp_family_main(s, parent) : NULL;
}

const struct sinsp_thread *sinsp_family_ancestor(struct sinsp *s, const struct sinsp_thread *t,
						 uint64_t n)
{
	struct sinsp_ancestry w;

	if (!n)
		return sinsp_family_main(s, t);
	sinsp_ancestry_begin(&w, s, t);
	do
		t = sinsp_ancestry_next(&w);
	while (t && --n);
	return t;
}

int64_t sinsp_family_ppid(struct sinsp *s, const struct sinsp_thread *t)
{
	const struct sinsp_thread *parent = sinsp_family_parent(s, t);

	return parent ? parent->pid : sinsp_family_main(s, t)->ptid;
}

void sinsp_ancestry_begin(struct sinsp_ancestry *w, struct sinsp *s, const struct sinsp_thread *t)
{
	t = sinsp_family_main(s, t);
	*w = (struct sinsp_ancestry){.s = s, .first = t, .at = t, .mark = t, .next_mark = 1};
}

/* Checks for cycles by Brent's algorithm: marks the ancestor at each power of two steps, and stops
 * if it comes again. */
const struct sinsp_thread *sinsp_ancestry_next(struct sinsp_ancestry *w)
{
	const struct sinsp_thread *parent = w->at ? sinsp_family_parent(w->s, w->at) : NULL;

	if (parent == w->first || parent == w->mark || parent == w->at)
		parent = NULL;
	w->at = parent;
	if (++w->n == w->next_mark) {
		w->mark = parent;
		w->next_mark *= 2;
	}
	return parent;
}

int64_t sinsp_family_group(const struct sinsp_thread *t, enum sinsp_group_kind kind)
{
	const struct sinsp_process *p = t->proc;

	switch (kind) {
	case SINSP_GROUP_SESSION:
		return p->sid;
	case SINSP_GROUP_VPGID:
		return p->vpgid;
	default:
		/* A process in the initial namespace has one number only. */
		return t->vtid_known && t->vpid == t->pid ? p->vpgid : p->pgid;
	}
}

const struct sinsp_thread *sinsp_family_leader(struct sinsp *s, const struct sinsp_thread *t,
					       enum sinsp_group_kind kind)
{
	const struct sinsp_thread *oldest = sinsp_family_main(s, t), *x = NULL;
	const int64_t id = sinsp_family_group(oldest, kind);
	struct sinsp_ancestry w;

	if (id == -1 &&
	    (kind != SINSP_GROUP_SESSION || !sinsp_quirk(s, SINSP_QUIRK_SESSION_MINUS_1)))
		return NULL;
	/* A number of another namespace finds no thread. */
	if (kind != SINSP_GROUP_VPGID || oldest->vpid == oldest->pid)
		x = sinsp_threads_find(&s->threads, id);
	if (x)
		return x;
	sinsp_ancestry_begin(&w, s, oldest);
	while ((x = sinsp_ancestry_next(&w)) && sinsp_family_group(x, kind) == id)
		oldest = x;
	return oldest;
}

/* Returns the health check whose command the process runs. */
static enum sinsp_probe probe_of(const struct sinsp_thread *t)
{
	const struct sinsp_process *p = t->proc;
	const size_t n_exe = strlen(p->exe) + 1, n_args = sinsp_str_len(p->args);

	for (unsigned int i = 0; i < SINSP_PROBE_MAX; i++) {
		const char *probe = p->container->probes[i];

		if (*probe && sinsp_str_len(probe) == n_exe + n_args && !strcmp(probe, p->exe) &&
		    !memcmp(probe + n_exe, p->args, n_args))
			return (enum sinsp_probe)i;
	}
	return SINSP_PROBE_MAX;
}

enum sinsp_probe sinsp_family_probe(struct sinsp *s, const struct sinsp_thread *t)
{
	enum sinsp_probe oldest = SINSP_PROBE_MAX;
	struct sinsp_ancestry w;

	sinsp_ancestry_begin(&w, s, t);
	for (t = w.at; t && t->proc->container; t = sinsp_ancestry_next(&w)) {
		if (t->vpid == 1)
			return SINSP_PROBE_MAX;
		if (probe_of(t) != SINSP_PROBE_MAX)
			oldest = probe_of(t);
	}
	return oldest;
}
