/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles a filter from its text: parse, check, simplify, emit; and answers what it can match. */
#include "filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

static int uses_dir(const struct sinsp_filter *f)
{
	for (unsigned int i = 1; i < f->n_slots; i++) {
		const struct filter_expr *e = f->slots[i].expr;

		if (e->kind == FILTER_EXPR_FIELD && !strcmp(e->field.row->name, "evt.dir"))
			return 1;
	}
	return 0;
}

static int compile(struct sinsp_filter *f, const char *text, const struct sinsp_filter_opts *opts)
{
	int err = sinsp_ast_parse(&f->ast, text, opts);

	if (!err)
		err = sinsp_filter_check(&f->ast, f->ast.root);
	if (!err)
		err = sinsp_filter_make_slots(f);
	if (err)
		return err;
	f->uses_dir = uses_dir(f);
	err = sinsp_filter_simplify(f);
	return err ? err : sinsp_filter_emit(f);
}

int sinsp_filter_new(struct sinsp_filter **out, const char *text,
		     const struct sinsp_filter_opts *opts, struct sinsp_filter_error *err)
{
	struct sinsp_filter_opts known = {0}; /* members that an older caller lacks are zero */
	struct sinsp_filter *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return -ENOMEM;
	if (opts)
		memcpy(&known, opts, opts->sz < sizeof(known) ? opts->sz : sizeof(known));
	sinsp_eval_init(&f->eval, NULL);
	f->ast.err = err ? err : &f->no_error;
	r = compile(f, text, &known);
	if (r) {
		sinsp_filter_free(f);
		return r;
	}
	f->log = opts ? opts->log : NULL;
	f->log_ctx = opts ? opts->log_ctx : NULL;
	/* Both are borrowed from the caller, who may free them now. */
	f->ast.err = &f->no_error;
	f->ast.opts = NULL;
	*out = f;
	return 0;
}

void sinsp_filter_free(struct sinsp_filter *f)
{
	if (!f)
		return;
	for (const struct sinsp_regexes *r = f->regexes; r; r = r->next)
		sinsp_regex_free(r->regex);
	sinsp_eval_fini(&f->eval);
	sinsp_ast_fini(&f->ast);
	free(f);
}

int sinsp_filter_may_match(const struct sinsp_filter *f, unsigned int type)
{
	return sinsp_types_have(f->may.yes, evt_index(type));
}

const uint64_t *sinsp_filter_types(const struct sinsp_filter *f)
{
	return f->may.yes;
}

static int check_names(const struct filter_check *c, const char *type)
{
	if (c->right || c->mod != FILTER_MOD_NONE || c->left->kind != FILTER_EXPR_FIELD ||
	    strcmp(c->left->field.row->name, "evt.type") != 0 ||
	    (c->op != FILTER_EQ && c->op != FILTER_IN))
		return 0;
	for (size_t i = 0; i < c->n_values; i++)
		if (c->values[i].len == strlen(type) && !memcmp(c->values[i].p, type, strlen(type)))
			return 1;
	return 0;
}

/* The depth of trees is bounded: FILTER_DEPTH_MAX. */
static int node_names(const struct filter_node *n, const char *type)
{
	if (n->kind == FILTER_CHECK)
		return check_names(n->check, type);
	if (n->kind != FILTER_AND && n->kind != FILTER_OR)
		return 0;
	for (n = n->children; n; n = n->next)
		if (node_names(n, type))
			return 1;
	return 0;
}

int sinsp_filter_names_type(const struct sinsp_filter *f, unsigned int type)
{
	const struct scap_event_info *info = scap_event_info(type);

	return info && node_names(f->ast.root, info->name);
}

int sinsp_filter_needs_enters(const struct sinsp_filter *f)
{
	if (!f->uses_dir)
		return 0;
	for (unsigned int i = 0; i < EVT_INDEX_MAX; i += 2)
		if (sinsp_types_have(f->may.yes, i))
			return 1;
	return 0;
}
