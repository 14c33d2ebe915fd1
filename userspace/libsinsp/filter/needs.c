/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pushdown: derives conditions that the kernel can check before an event is recorded. An equality
 * check gives a set of values that the event must have; "and" gives the smallest set of its terms;
 * "or" the union, if each term has one; "not" nothing.
 */
#include <errno.h>
#include <string.h>

#include "fields/field.h"
#include "program.h"

enum { COMM_MAX = 15 }; /* maximum length of a comm in the kernel */

/* The field, and its derived values. */
struct derived {
	const struct filter_const **v;
	size_t n;
	int any; /* no condition follows */
};

struct needs_walk {
	struct sinsp_filter *f;
	const char *field;
	int err;
};

static int is_of(const struct filter_expr *e, const char *name)
{
	return e->kind == FILTER_EXPR_FIELD && !e->field.arg && !strcmp(e->field.row->name, name);
}

static struct derived nothing(void)
{
	return (struct derived){.any = 1};
}

static struct derived room_for(struct needs_walk *w, size_t n)
{
	struct derived r = {.v = sinsp_arena_alloc(&w->f->ast.arena, (n + 1) * sizeof(*r.v))};

	if (!r.v)
		w->err = -ENOMEM;
	return r.v ? r : nothing();
}

static struct derived of_check(struct needs_walk *w, const struct filter_check *c)
{
	struct derived r;

	if (c->right || c->mod != FILTER_MOD_NONE || !is_of(c->left, w->field) ||
	    (c->op != FILTER_EQ && c->op != FILTER_IN))
		return nothing();
	r = room_for(w, c->n_values);
	for (size_t i = 0; !r.any && i < c->n_values; i++)
		r.v[r.n++] = &c->values[i];
	return r;
}

static struct derived of_node(struct needs_walk *w, const struct filter_node *n);

static struct derived of_all(struct needs_walk *w, const struct filter_node *n)
{
	struct derived best = nothing();

	for (n = n->children; n; n = n->next) {
		struct derived one = of_node(w, n);

		if (!one.any && (best.any || one.n < best.n))
			best = one;
	}
	return best;
}

static struct derived of_any(struct needs_walk *w, const struct filter_node *n)
{
	struct derived sum = room_for(w, 0);

	for (n = n->children; n && !sum.any; n = n->next) {
		const struct derived one = of_node(w, n);
		struct derived both;

		if (one.any)
			return one;
		both = room_for(w, sum.n + one.n);
		if (both.any)
			return both;
		memcpy(both.v, sum.v, sum.n * sizeof(*sum.v));
		memcpy(both.v + sum.n, one.v, one.n * sizeof(*one.v));
		both.n = sum.n + one.n;
		sum = both;
	}
	return sum;
}

/* The depth of trees is bounded: FILTER_DEPTH_MAX. */
static struct derived of_node(struct needs_walk *w, const struct filter_node *n)
{
	switch (n->kind) {
	case FILTER_CHECK:
		return of_check(w, n->check);
	case FILTER_AND:
		return of_all(w, n);
	case FILTER_OR:
		return of_any(w, n);
	case FILTER_CONST:
		return n->value ? nothing() : room_for(w, 0);
	case FILTER_NOT:
		break;
	}
	return nothing();
}

static struct derived find(struct sinsp_filter *f, const char *field, int *err)
{
	struct needs_walk w = {.f = f, .field = field};
	struct derived r = of_node(&w, f->ast.root);

	if (w.err)
		*err = w.err;
	return r;
}

/* Derives the values of @field, and allocates @sz bytes for each. */
static int find_values(struct sinsp_filter *f, const char *field, size_t sz, struct derived *w,
		       void *room)
{
	int err = 0;

	*w = find(f, field, &err);
	if (err || w->any || !w->n) {
		w->n = 0;
		return err;
	}
	*(void **)room = sinsp_arena_alloc(&f->ast.arena, w->n * sz);
	return *(void **)room ? 0 : -ENOMEM;
}

/* Returns whether the kernel can compare the name: longer ones are no comm, and <NA> is none. */
static int is_comm(const struct filter_const *c)
{
	return c->p && c->len && c->len <= COMM_MAX && !memchr(c->p, 0, c->len) &&
	       strcmp(c->p, "<NA>") != 0;
}

/* Derives the comms, which the kernel compares with those of the thread and its process. */
static int need_comms(struct sinsp_filter *f, struct sinsp_filter_needs *out, const char *field)
{
	const char **v;
	struct derived w;
	int err = find_values(f, field, sizeof(*v), &w, &v);

	for (size_t i = 0; !err && i < w.n; i++) {
		if (!is_comm(w.v[i]))
			return 0;
		v[i] = sinsp_arena_copy(&f->ast.arena, w.v[i]->p, w.v[i]->len);
		if (!v[i])
			return -ENOMEM;
	}
	if (err || !w.n)
		return err;
	out->comms = v;
	out->n_comms = w.n;
	return 0;
}

/* Derives the numbers of a field, of which none is below @least. */
static int need_numbers(struct sinsp_filter *f, const char *field, int64_t least,
			const int32_t **out, size_t *n)
{
	struct derived w;
	int32_t *v;
	int err = find_values(f, field, sizeof(*v), &w, &v);

	for (size_t i = 0; !err && i < w.n; i++) {
		if (w.v[i]->i < least || w.v[i]->i > INT32_MAX)
			return 0;
		v[i] = (int32_t)w.v[i]->i;
	}
	if (err || !w.n)
		return err;
	*out = v;
	*n = w.n;
	return 0;
}

static int need_failed(struct sinsp_filter *f, struct sinsp_filter_needs *out)
{
	int err = 0;
	const struct derived w = find(f, "evt.failed", &err);

	out->failed = !w.any;
	for (size_t i = 0; !w.any && i < w.n; i++)
		out->failed &= w.v[i]->u != 0;
	return err;
}

unsigned int sinsp_filter_field_needs(const struct sinsp_filter *f)
{
	unsigned int needs = 0;

	for (unsigned int i = 1; i < f->n_slots; i++)
		if (f->slots[i].expr->kind == FILTER_EXPR_FIELD)
			needs |= f->slots[i].expr->field.row->needs;
	return needs;
}

int sinsp_filter_needs(struct sinsp_filter *f, struct sinsp_filter_needs *out)
{
	const unsigned int needs = sinsp_filter_field_needs(f);
	int err;

	*out = (struct sinsp_filter_needs){
		.files = !!(needs & FIELD_NEEDS_FILES),
		.history = f->has_memory || needs & FIELD_NEEDS_HISTORY,
	};
	err = need_comms(f, out, "thread.name");
	if (!err && !out->n_comms)
		err = need_comms(f, out, "proc.name");
	if (!err)
		err = need_numbers(f, "proc.pid", 1, &out->pids, &out->n_pids);
	if (!err)
		err = need_numbers(f, "thread.tid", 1, &out->tids, &out->n_tids);
	if (!err)
		err = need_numbers(f, "user.uid", 0, &out->uids, &out->n_uids);
	return err ? err : need_failed(f, out);
}
