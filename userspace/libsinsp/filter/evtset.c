/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the types of events that a filter can match. A check that the type alone does not decide
 * can be true and false. */
#include <errno.h>

#include "fields/evt_io.h"
#include "fields/info.h"
#include "program.h"

static const struct scap_event_info *info_at(unsigned int index)
{
	return scap_event_info(index < EVT_PUBLIC_MAX ? index
						      : index - EVT_PUBLIC_MAX + EVT_PRIVATE);
}

static void set_type(uint64_t *types, unsigned int index)
{
	types[index / 64] |= 1ull << index % 64;
}

/* The name of a generic event is that of its call. */
static int is_generic(const struct scap_event_info *info)
{
	return info->id == EVT_SYSCALL_E || info->id == EVT_SYSCALL_X;
}

static int opens(const struct scap_event_info *info)
{
	return !strncmp(info->name, "open", 4) || !strcmp(info->name, "creat");
}

/* Returns whether the type alone decides the value of the field. */
static int is_by_type(const struct sinsp_field_row *row, const struct scap_event_info *info)
{
	if (row->flags & FIELD_F_OF_OPENS)
		return !opens(info);
	return !(row->flags & FIELD_F_OF_IO) || !sinsp_io_moves(info);
}

static int is_field(const struct filter_check *c, const char *name)
{
	return c->left->kind == FILTER_EXPR_FIELD && !strcmp(c->left->field.row->name, name);
}

/* Evaluates the check for an event with nothing but a type. Returns 1, 0, or -ENOMEM. */
static int test_type(struct sinsp_eval *e, const struct filter_check *c,
		     const struct sinsp_matcher *m, const struct scap_event_info *info)
{
	const struct ppm_evt_hdr hdr = {.tid = UINT64_MAX, .type = info->id};
	const struct sinsp_evt evt = {
		.raw = {.hdr = &hdr, .type = info->id, .nr = REC_NR_NONE},
		.info = info,
		.fdnum = -1,
	};
	const struct sinsp_value *more;
	struct sinsp_value v;
	int n;

	sinsp_eval_set(e, &evt);
	n = sinsp_field_get(e, &c->left->field, &v, &more);
	return n > 0 ? sinsp_match(m, &v) : n;
}

struct results {
	int yes, no; /* whether the check can be true, and false */
};

struct generic {
	const struct sinsp_matcher *m;
	struct results may_be;
};

static void match_generic(void *ctx, const char *type)
{
	const struct sinsp_value v = {.type = FIELD_STR, .p = type, .len = (uint32_t)strlen(type)};
	struct generic *g = ctx;
	const int r = sinsp_match(g->m, &v);

	g->may_be.yes |= r;
	g->may_be.no |= !r;
}

/* Returns the results for generic events, whose names are those of all calls. */
static struct results test_generic(const struct filter_check *c, const struct sinsp_matcher *m)
{
	struct generic g = {.m = m};

	if (!is_field(c, "evt.type"))
		return (struct results){1, 1};
	sinsp_generic_types(match_generic, &g);
	return g.may_be;
}

static int types_of_constant(struct sinsp_filter *f, const struct filter_check *c,
			     struct filter_types *may)
{
	struct sinsp_matcher_maker mm = {.ast = &f->ast, .regexes = f->regexes};
	const struct sinsp_field_row *row = c->left->field.row;
	const int knows_generic =
		row->flags & (FIELD_F_OF_OPENS | FIELD_F_OF_IO) || is_field(c, "evt.dir");
	struct sinsp_matcher m;
	struct sinsp_eval a;
	struct results generic;
	int err, r = 0;

	err = sinsp_matcher_make(&mm, &m, c);
	f->regexes = mm.regexes;
	if (err)
		return err;
	generic = test_generic(c, &m);
	sinsp_eval_init(&a, NULL);
	for (unsigned int i = 0; i < EVT_INDEX_MAX && r >= 0; i++) {
		const struct scap_event_info *info = info_at(i);
		struct results may_be = {1, 1};

		if (!info)
			continue;
		if (is_generic(info) && !knows_generic) {
			may_be = generic;
		} else if (is_by_type(row, info)) {
			r = test_type(&a, c, &m, info);
			may_be = (struct results){r > 0, r == 0};
		}
		if (may_be.yes)
			set_type(may->yes, i);
		if (may_be.no)
			set_type(may->no, i);
	}
	sinsp_eval_fini(&a);
	return r < 0 ? r : 0;
}

static int has_param(const struct scap_event_info *info, const char *name)
{
	for (unsigned int i = 0; i < info->n_params; i++)
		if (!strcmp(info->params[i].name, name))
			return 1;
	return 0;
}

/* Computes the types that have a parameter @name: checks of evt.arg.NAME match no others. */
static void types_of_arg(const char *name, struct filter_types *may)
{
	for (unsigned int i = 0; i < EVT_INDEX_MAX; i++) {
		const struct scap_event_info *info = info_at(i);

		if (!info)
			continue;
		set_type(may->no, i);
		if (has_param(info, name))
			set_type(may->yes, i);
	}
}

/* Fields that only some events have. */
static const struct only {
	const char *prefix;
	unsigned int types[7]; /* 0: no more */
} onlys[] = {
	{"thread.slice.", {EVT_SLICE_E}},
	{"span.", {EVT_MARKER_E, EVT_MARKER_X}},
	{"tcp.",
	 {EVT_TCP_STATE_E, EVT_TCP_CONNECT_E, EVT_TCP_RETRANSMIT_E, EVT_TCP_RESET_E, EVT_TCP_RTT_E,
	  EVT_TCP_DROP_E, EVT_TCP_OVERFLOW_E}},
};

static const struct only *only_of(const struct sinsp_field *field)
{
	for (size_t i = 0; i < sizeof(onlys) / sizeof(onlys[0]); i++)
		if (!strncmp(field->row->name, onlys[i].prefix, strlen(onlys[i].prefix)))
			return &onlys[i];
	return NULL;
}

static void types_of_only(const struct only *only, struct filter_types *may)
{
	for (size_t i = 0; i < sizeof(only->types) / sizeof(only->types[0]) && only->types[i]; i++)
		set_type(may->yes, EVT_INDEX(only->types[i]));
	for (unsigned int i = 0; i < EVT_INDEX_MAX; i++)
		if (info_at(i))
			set_type(may->no, i);
}

int sinsp_check_types(struct sinsp_filter *f, struct filter_check *c)
{
	const struct sinsp_field *field =
		c->left->kind == FILTER_EXPR_FIELD ? &c->left->field : NULL;
	const unsigned int by_type = FIELD_F_BY_TYPE | FIELD_F_OF_OPENS | FIELD_F_OF_IO;
	const struct only *only;

	if (c->typed || !field || c->right)
		return 0;
	c->typed = 1;
	only = only_of(field);
	if (!only && !(field->row->flags & by_type) && !is_field(c, "evt.arg") &&
	    !is_field(c, "evt.rawarg"))
		return 0;
	if (!only && !(field->row->flags & by_type) && field->has_index)
		return 0;
	c->may = sinsp_arena_alloc(&f->ast.arena, sizeof(*c->may));
	if (!c->may)
		return -ENOMEM;
	if (only)
		types_of_only(only, c->may);
	else if (field->row->flags & by_type)
		return types_of_constant(f, c, c->may);
	else
		types_of_arg(field->arg, c->may);
	return 0;
}

/* ---- types of a tree ---- */

static void all_types(uint64_t *out)
{
	for (unsigned int i = 0; i < EVT_INDEX_MAX; i++)
		if (info_at(i))
			set_type(out, i);
}

/* Sets @to to the intersection or union. */
static void combine(uint64_t *to, const uint64_t *from, int both)
{
	for (unsigned int i = 0; i < FILTER_TYPE_WORDS; i++)
		to[i] = both ? to[i] & from[i] : to[i] | from[i];
}

static void types_of_terms(const struct filter_node *n, struct filter_types *out)
{
	const int is_and = n->kind == FILTER_AND;
	struct filter_types one;

	*out = (struct filter_types){0};
	all_types(is_and ? out->yes : out->no);
	for (n = n->children; n; n = n->next) {
		sinsp_node_types(n, &one);
		combine(out->yes, one.yes, is_and);
		combine(out->no, one.no, !is_and);
	}
}

void sinsp_node_types(const struct filter_node *n, struct filter_types *out)
{
	struct filter_types inner;

	switch (n->kind) {
	case FILTER_AND:
	case FILTER_OR:
		types_of_terms(n, out);
		return;
	case FILTER_NOT:
		sinsp_node_types(n->children, &inner);
		memcpy(out->yes, inner.no, sizeof(out->yes));
		memcpy(out->no, inner.yes, sizeof(out->no));
		return;
	case FILTER_CHECK:
		if (n->check->may) {
			*out = *n->check->may;
			return;
		}
		*out = (struct filter_types){0};
		all_types(out->yes);
		all_types(out->no);
		return;
	case FILTER_CONST:
		*out = (struct filter_types){0};
		all_types(n->value ? out->yes : out->no);
		return;
	}
}
