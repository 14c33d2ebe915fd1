/* SPDX-License-Identifier: Apache-2.0 */
/* Slots: values of fields and transformers, computed once per event. */
#include <errno.h>

#include "program.h"
#include "transform.h"

/* ---- numbering ---- */

static int same_expr(const struct filter_expr *a, const struct filter_expr *b);

static int same_args(const struct filter_expr *a, const struct filter_expr *b)
{
	for (; a && b; a = a->next, b = b->next)
		if (!same_expr(a, b))
			return 0;
	return !a && !b;
}

static int same_expr(const struct filter_expr *a, const struct filter_expr *b)
{
	if (a->kind != b->kind)
		return 0;
	switch (a->kind) {
	case FILTER_EXPR_FIELD:
		return sinsp_field_equal(&a->field, &b->field);
	case FILTER_EXPR_TEXT:
		return a->text->len == b->text->len &&
		       !memcmp(a->text->p, b->text->p, a->text->len);
	case FILTER_EXPR_CALL:
		if (a->fn != b->fn || !a->arg != !b->arg || (a->arg && strcmp(a->arg, b->arg)))
			return 0;
		return same_args(a->args, b->args);
	case FILTER_EXPR_LIST:
		return same_args(a->args, b->args);
	}
	return 0;
}

static unsigned int count_exprs(const struct filter_expr *e)
{
	unsigned int n = 1;

	for (const struct filter_expr *a = e->args; a; a = a->next)
		n += count_exprs(a);
	return n;
}

static unsigned int count_in_node(const struct filter_node *n)
{
	unsigned int sum = 0;

	if (n->kind == FILTER_CHECK)
		return count_exprs(n->check->left) +
		       (n->check->right ? count_exprs(n->check->right) : 0);
	for (n = n->children; n; n = n->next)
		sum += count_in_node(n);
	return sum;
}

/* Slots by content: open addressing, while numbers are assigned. */
struct numbering {
	struct sinsp_filter *f;
	unsigned int *table, mask;
};

static unsigned int hash_expr(const struct filter_expr *e)
{
	unsigned int h = e->kind * 31 + e->fn;

	if (e->kind == FILTER_EXPR_FIELD)
		h += (unsigned int)((uintptr_t)e->field.row >> 4) + (unsigned int)e->field.index;
	if (e->kind == FILTER_EXPR_TEXT)
		h += sinsp_strset_hash(e->text->p, e->text->len);
	for (const struct filter_expr *a = e->args; a; a = a->next)
		h = h * 0x9e3779b1u + a->slot;
	return h * 0x9e3779b1u >> 7;
}

/* Lists the slots below @e in the order in which they are filled, without @e. */
static unsigned int collect_needs(const struct filter_expr *e, unsigned int *to)
{
	unsigned int n = 0;

	for (const struct filter_expr *a = e->args; a; a = a->next) {
		n += collect_needs(a, to + n);
		to[n++] = a->slot;
	}
	return n;
}

static int new_slot(struct numbering *num, struct filter_expr *e)
{
	struct filter_slot *s = &num->f->slots[num->f->n_slots];
	unsigned int *needs =
		sinsp_arena_alloc(&num->f->ast.arena, count_exprs(e) * sizeof(*needs));

	if (!needs)
		return -ENOMEM;
	*s = (struct filter_slot){
		.expr = e,
		.field = e->kind == FILTER_EXPR_FIELD ? &e->field : NULL,
		.needs = needs,
		.serial = UINT64_MAX,
	};
	s->n_needs = collect_needs(e, needs);
	e->slot = num->f->n_slots++;
	return 0;
}

static int number_expr(struct numbering *num, struct filter_expr *e)
{
	unsigned int at;
	int err = 0;

	for (struct filter_expr *a = e->args; a && !err; a = a->next)
		err = number_expr(num, a);
	if (err)
		return err;
	for (at = hash_expr(e) & num->mask; num->table[at]; at = (at + 1) & num->mask) {
		if (same_expr(e, num->f->slots[num->table[at]].expr)) {
			e->slot = num->table[at];
			return 0;
		}
	}
	err = new_slot(num, e);
	num->table[at] = e->slot;
	return err;
}

static int number_node(struct numbering *num, struct filter_node *n)
{
	int err = 0;

	if (n->kind == FILTER_CHECK) {
		err = number_expr(num, n->check->left);
		return !err && n->check->right ? number_expr(num, n->check->right) : err;
	}
	for (n = n->children; n && !err; n = n->next)
		err = number_node(num, n);
	return err;
}

int sinsp_filter_make_slots(struct sinsp_filter *f)
{
	const unsigned int n = count_in_node(f->ast.root) + 1;
	struct numbering num = {.f = f, .mask = 4};

	while (num.mask < 2 * n)
		num.mask *= 2;
	num.table = sinsp_arena_alloc(&f->ast.arena, num.mask * sizeof(*num.table));
	f->slots = sinsp_arena_alloc(&f->ast.arena, n * sizeof(*f->slots));
	if (!num.table || !f->slots)
		return -ENOMEM;
	num.mask--;
	f->n_slots = 1;
	return number_node(&num, f->ast.root);
}

/* ---- filling ---- */

static struct sinsp_values values_of(const struct filter_slot *s)
{
	return (struct sinsp_values){s->n > 1 ? s->more : &s->v, s->n};
}

/* Converts a value to the text that -p prints. Returns 0 or -ENOMEM. */
static int as_text(struct sinsp_eval *e, const struct sinsp_value *in, struct sinsp_value *v)
{
	const enum filter_family family = sinsp_filter_family(in->type);
	int err;

	*v = *in;
	if (family == FILTER_TEXT || family == FILTER_BYTES)
		return 0;
	err = sinsp_value_text(&e->text, e, in);
	if (err)
		return err;
	*v = (struct sinsp_value){.type = FIELD_STR};
	return sinsp_eval_keep(e, v) < 0 ? -ENOMEM : 0;
}

/* Computes the values of all arguments as texts, one after the other; 0 if one has none. */
static int gather(struct sinsp_filter *f, const struct filter_expr *e, struct sinsp_values *out)
{
	struct sinsp_value *v;
	int n = 0, err = 0;

	for (const struct filter_expr *a = e->args; a; a = a->next) {
		if (!f->slots[a->slot].n)
			return 0;
		n += f->slots[a->slot].n;
	}
	v = sinsp_eval_alloc(&f->eval, (size_t)n * sizeof(*v));
	if (!v)
		return -ENOMEM;
	n = 0;
	for (const struct filter_expr *a = e->args; a; a = a->next) {
		const struct sinsp_values in = values_of(&f->slots[a->slot]);

		for (int i = 0; i < in.n && !err; i++)
			err = as_text(&f->eval, &in.v[i], &v[n++]);
	}
	*out = (struct sinsp_values){v, n};
	return err ? err : 1;
}

/* Joins arguments with blanks, as proc.args does. */
static int split(struct sinsp_filter *f, const struct sinsp_value *in, struct sinsp_values *out)
{
	const char *p = in->p, *const end = p + in->len;
	struct sinsp_value *v = sinsp_eval_alloc(&f->eval, (in->len / 2 + 1) * sizeof(*v));
	int n = 0;

	if (!v)
		return -ENOMEM;
	while (p < end) {
		const char *blank = memchr(p, ' ', (size_t)(end - p));

		blank = blank ? blank : end;
		if (blank > p)
			v[n++] = (struct sinsp_value){
				.p = p, .len = (uint32_t)(blank - p), .type = FIELD_STR};
		p = blank + 1;
	}
	*out = (struct sinsp_values){v, n};
	return 0;
}

static int fill_getopt(struct sinsp_filter *f, const struct filter_slot *first,
		       const struct filter_slot *letters, struct filter_slot *s)
{
	const char *const arg = s->expr->arg;
	struct sinsp_values args = values_of(first);

	if (!first->expr->is_list && split(f, &first->v, &args))
		return -ENOMEM;
	return sinsp_transform_getopt(&f->eval, args, &letters->v, arg ? arg[0] : 0, &s->v,
				      &s->more);
}

static int fill_list(struct sinsp_filter *f, struct filter_slot *s)
{
	struct sinsp_values values;
	const int r = gather(f, s->expr, &values);

	if (r <= 0)
		return r;
	if (values.n)
		s->v = values.v[0];
	s->more = values.v;
	return values.n;
}

static int fill_concat(struct sinsp_filter *f, struct filter_slot *s)
{
	struct sinsp_values values;
	const int r = gather(f, s->expr, &values);

	return r > 0 ? sinsp_transform_join(&f->eval, values, NULL, &s->v) : r;
}

static int fill_len(const struct filter_slot *from, struct filter_slot *s)
{
	s->v.u = from->expr->is_list ? (uint64_t)from->n : from->v.len;
	return 1;
}

static int fill_call(struct sinsp_filter *f, struct filter_slot *s)
{
	const struct filter_expr *e = s->expr;
	const struct filter_slot *first = &f->slots[e->args->slot], *second = NULL;

	s->v = (struct sinsp_value){.type = e->type};
	if (e->fn == FILTER_FN_CONCAT)
		return fill_concat(f, s);
	if (!first->n)
		return 0;
	if (e->args->next) {
		second = &f->slots[e->args->next->slot];
		if (!second->n)
			return 0;
	}
	switch (e->fn) {
	case FILTER_FN_LEN:
		return fill_len(first, s);
	case FILTER_FN_JOIN:
		return sinsp_transform_join(&f->eval, values_of(second), &first->v, &s->v);
	case FILTER_FN_GETOPT:
		return fill_getopt(f, first, second, s);
	default:
		return sinsp_transform_each(&f->eval, e->fn, values_of(first), &s->v, &s->more);
	}
}

static int fill_one(struct sinsp_filter *f, struct filter_slot *s)
{
	const struct filter_expr *e = s->expr;

	switch (e->kind) {
	case FILTER_EXPR_FIELD:
		return sinsp_field_get(&f->eval, &e->field, &s->v, &s->more);
	case FILTER_EXPR_TEXT:
		s->v = (struct sinsp_value){
			.p = e->text->p, .len = (uint32_t)e->text->len, .type = FIELD_STR};
		return 1;
	case FILTER_EXPR_LIST:
		return fill_list(f, s);
	case FILTER_EXPR_CALL:
		return fill_call(f, s);
	}
	return 0;
}

static int fill(struct sinsp_filter *f, struct filter_slot *s)
{
	const int n = fill_one(f, s);

	if (n < 0)
		return n;
	s->n = n;
	s->serial = f->eval.serial;
	return 0;
}

int sinsp_slot_fill(struct sinsp_filter *f, unsigned int slot)
{
	struct filter_slot *s = &f->slots[slot];
	int err = 0;

	for (unsigned int i = 0; i < s->n_needs && !err; i++)
		if (f->slots[s->needs[i]].serial != f->eval.serial)
			err = fill(f, &f->slots[s->needs[i]]);
	return err ? err : fill(f, s);
}
