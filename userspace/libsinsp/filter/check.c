/* SPDX-License-Identifier: Apache-2.0 */
/* Type-checks a filter: operators by type, arguments of transformers, possible values. */
#include "check.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fields/field_values.h"
#include "fields/nearest.h"

enum filter_family sinsp_filter_family(unsigned int type)
{
	switch ((enum sinsp_field_type)type) {
	case FIELD_INT:
		return FILTER_SIGNED;
	case FIELD_UINT:
	case FIELD_PORT:
	case FIELD_TIME:
	case FIELD_DURATION:
		return FILTER_UNSIGNED;
	case FIELD_DOUBLE:
		return FILTER_DOUBLE;
	case FIELD_BOOL:
		return FILTER_BOOL;
	case FIELD_STR:
	case FIELD_PATH:
		return FILTER_TEXT;
	case FIELD_BYTES:
		return FILTER_BYTES;
	case FIELD_IP:
	case FIELD_NET:
		return FILTER_IP;
	default:
		return FILTER_ANY;
	}
}

/* ---- operators by type ---- */

#define BIT(op) (1u << FILTER_##op)
#define EQUALITY (BIT(EXISTS) | BIT(EQ) | BIT(NE) | BIT(IN) | BIT(INTERSECTS))
#define ORDER (BIT(LT) | BIT(LE) | BIT(GT) | BIT(GE))
#define PARTS (BIT(CONTAINS) | BIT(ICONTAINS) | BIT(STARTSWITH) | BIT(ENDSWITH))
#define PATTERNS (BIT(GLOB) | BIT(IGLOB) | BIT(REGEX) | BIT(PMATCH))
#define HEX (BIT(BCONTAINS) | BIT(BSTARTSWITH))

static const struct {
	const char *name, *usual; /* for messages: the type, and its usual operators */
	unsigned int ops;
} families[] = {
	[FILTER_SIGNED] = {"a number", "=, <, > or in", EQUALITY | ORDER},
	[FILTER_UNSIGNED] = {"a number", "=, <, > or in", EQUALITY | ORDER},
	[FILTER_DOUBLE] = {"a number", "=, <, > or in", EQUALITY | ORDER},
	[FILTER_BOOL] = {"true or false", "= or !=", EQUALITY},
	[FILTER_TEXT] = {"text", "=, contains or glob", EQUALITY | ORDER | PARTS | PATTERNS},
	[FILTER_BYTES] = {"bytes", "=, contains or startswith", EQUALITY | PARTS | HEX},
	[FILTER_IP] = {"an address", "=, != or in", EQUALITY},
	[FILTER_ANY] = {"of any type", "=, < or contains", EQUALITY | ORDER | PARTS},
};

/* Returns the operator to use for one that the type does not have. */
static const char *substitute(enum filter_op op, enum filter_family family)
{
	if (op == FILTER_BCONTAINS && family == FILTER_TEXT)
		return "contains";
	if (op == FILTER_BSTARTSWITH && family == FILTER_TEXT)
		return "startswith";
	if (family == FILTER_BYTES &&
	    (op == FILTER_GLOB || op == FILTER_IGLOB || op == FILTER_REGEX))
		return "contains";
	if (family == FILTER_IP && (op == FILTER_STARTSWITH || op == FILTER_CONTAINS))
		return "= with a network, such as 10.0.0.0/8";
	return families[family].usual;
}

/* Returns the name of the field or transformer for messages. */
static const char *name_of(const struct filter_expr *e)
{
	return e->kind == FILTER_EXPR_FIELD ? e->field.row->name : sinsp_filter_fn_name(e->fn);
}

/* Returns whether it has several values that are compared as a set. */
static int is_set(const struct filter_expr *e)
{
	return e->is_list && !(e->flags & (FIELD_F_ANY | FIELD_F_ENDS));
}

static int check_op(struct filter_ast *ast, const struct filter_node *n, enum filter_family family)
{
	const char *const op = sinsp_filter_op_name(n->op);

	if (is_set(n->left) && !((BIT(EXISTS) | BIT(IN) | BIT(INTERSECTS)) >> n->op & 1))
		return sinsp_filter_fail(
			ast, n->op_at,
			"cannot use %s with %s: it has several values; use in (all "
			"of them), intersects (one of them) or exists",
			op, name_of(n->left));
	if (families[family].ops >> n->op & 1)
		return 0;
	return sinsp_filter_fail(ast, n->op_at, "cannot use %s with %s: it is %s; use %s", op,
				 name_of(n->left), families[family].name,
				 substitute(n->op, family));
}

/* ---- types of fields and transformers ---- */

static int type_expr(struct filter_ast *ast, struct filter_expr *e);

static int type_args(struct filter_ast *ast, struct filter_expr *e, unsigned int *n)
{
	*n = 0;
	for (struct filter_expr *a = e->args; a; a = a->next) {
		const int err = type_expr(ast, a);

		if (err)
			return err;
		++*n;
	}
	return 0;
}

static int is_text(const struct filter_expr *e)
{
	return e->type == FIELD_STR || e->type == FIELD_PATH;
}

static int fail_arg(struct filter_ast *ast, const struct filter_expr *e,
		    const struct filter_expr *arg, const char *needs)
{
	return sinsp_filter_fail(ast, arg ? arg->at : e->at, "%s() needs %s",
				 sinsp_filter_fn_name(e->fn), needs);
}

/* Types a call that returns the type of its only argument, such as tolower. */
static int type_same(struct filter_ast *ast, struct filter_expr *e, int bytes_too)
{
	const struct filter_expr *a = e->args;

	if (!is_text(a) && !(bytes_too && a->type == FIELD_BYTES))
		return fail_arg(ast, e, a, bytes_too ? "text or bytes" : "text");
	e->type = a->type;
	e->is_list = a->is_list;
	e->flags = a->flags;
	return 0;
}

static int type_len(struct filter_ast *ast, struct filter_expr *e)
{
	if (!e->args->is_list && !is_text(e->args) && e->args->type != FIELD_BYTES)
		return fail_arg(ast, e, e->args, "text, bytes or several values");
	e->type = FIELD_UINT;
	return 0;
}

static int is_text_list(const struct filter_expr *e)
{
	return e->is_list && is_text(e);
}

static int type_join(struct filter_ast *ast, struct filter_expr *e)
{
	if (!is_text(e->args) || e->args->is_list)
		return fail_arg(ast, e, e->args, "a separator first, such as \",\"");
	if (!is_text_list(e->args->next))
		return fail_arg(ast, e, e->args->next,
				"texts in parentheses, or a field with several values, after the "
				"separator");
	e->type = FIELD_STR;
	return 0;
}

static int type_concat(struct filter_ast *ast, struct filter_expr *e)
{
	for (const struct filter_expr *a = e->args; a; a = a->next)
		if (a->is_list)
			return fail_arg(ast, e, a, "single values: join() takes several");
	e->type = FIELD_STR;
	return 0;
}

static int type_getopt(struct filter_ast *ast, struct filter_expr *e)
{
	const struct filter_expr *letters = e->args->next;

	if (!is_text(e->args))
		return fail_arg(ast, e, e->args, "arguments first, such as proc.args");
	if (!is_text(letters) || letters->is_list)
		return fail_arg(ast, e, letters,
				"letters of options after the list, such as \"ab:\"");
	if (e->arg && strlen(e->arg) != 1)
		return sinsp_filter_fail(ast, e->at, "getopt()[x] takes one letter, not '%.20s'",
					 e->arg);
	e->type = FIELD_STR;
	e->is_list = !e->arg;
	return 0;
}

static const struct {
	unsigned int min, max; /* arguments */
	const char *needs;
} arities[FILTER_FN_MAX] = {
	[FILTER_FN_VAL] = {1, 1, "one field"},
	[FILTER_FN_TOLOWER] = {1, 1, "one argument"},
	[FILTER_FN_TOUPPER] = {1, 1, "one argument"},
	[FILTER_FN_B64] = {1, 1, "one argument"},
	[FILTER_FN_BASENAME] = {1, 1, "one argument"},
	[FILTER_FN_LEN] = {1, 1, "one argument"},
	[FILTER_FN_JOIN] = {2, 2, "a separator and a list"},
	[FILTER_FN_CONCAT] = {2, FILTER_NODES_MAX, "two arguments or more"},
	[FILTER_FN_GETOPT] = {2, 2, "a list of arguments and the letters of options"},
};

static int type_call(struct filter_ast *ast, struct filter_expr *e)
{
	unsigned int n;
	int err = type_args(ast, e, &n);

	if (err)
		return err;
	if (n < arities[e->fn].min || n > arities[e->fn].max)
		return sinsp_filter_fail(ast, e->at, "%s() needs %s", sinsp_filter_fn_name(e->fn),
					 arities[e->fn].needs);
	if (e->arg && e->fn != FILTER_FN_GETOPT)
		return sinsp_filter_fail(ast, e->at, "%s() takes no argument in brackets",
					 sinsp_filter_fn_name(e->fn));
	switch (e->fn) {
	case FILTER_FN_TOLOWER:
	case FILTER_FN_TOUPPER:
	case FILTER_FN_B64:
		return type_same(ast, e, 1);
	case FILTER_FN_BASENAME:
		return type_same(ast, e, 0);
	case FILTER_FN_LEN:
		return type_len(ast, e);
	case FILTER_FN_JOIN:
		return type_join(ast, e);
	case FILTER_FN_CONCAT:
		return type_concat(ast, e);
	case FILTER_FN_GETOPT:
		return type_getopt(ast, e);
	default:
		return sinsp_filter_fail(ast, e->at, "val() is valid only after an operator");
	}
}

static int type_list(struct filter_ast *ast, struct filter_expr *e)
{
	unsigned int n;

	e->type = FIELD_STR;
	e->is_list = 1;
	return type_args(ast, e, &n);
}

static int type_expr(struct filter_ast *ast, struct filter_expr *e)
{
	const unsigned int flags = e->kind == FILTER_EXPR_FIELD ? e->field.row->flags : 0;

	switch (e->kind) {
	case FILTER_EXPR_FIELD:
		e->type = e->field.type;
		e->is_list = flags & FIELD_F_LIST && !e->field.arg;
		e->flags = flags & (FIELD_F_ANY | FIELD_F_ENDS);
		return 0;
	case FILTER_EXPR_CALL:
		return type_call(ast, e);
	case FILTER_EXPR_TEXT:
		e->type = FIELD_STR;
		return 0;
	case FILTER_EXPR_LIST:
		return type_list(ast, e);
	}
	return 0;
}

/* ---- right sides ---- */

/* Types the field or transformer on the right; val(x) is x. */
static int type_right(struct filter_ast *ast, struct filter_node *n, struct filter_check *c)
{
	struct filter_expr *e = n->right;
	int err;

	if (e->kind == FILTER_EXPR_CALL && e->fn == FILTER_FN_VAL) {
		if (e->args->next || e->args->kind != FILTER_EXPR_FIELD)
			return fail_arg(ast, e, e->args, "one field");
		if (e->arg)
			return sinsp_filter_fail(ast, e->at, "val() takes no argument in brackets");
		e = e->args;
	}
	err = type_expr(ast, e);
	c->right = e;
	return err;
}

static int is_number(enum filter_family f)
{
	return f == FILTER_SIGNED || f == FILTER_UNSIGNED;
}

static int is_string(enum filter_family f)
{
	return f == FILTER_TEXT || f == FILTER_BYTES;
}

static int check_right(struct filter_ast *ast, struct filter_node *n, struct filter_check *c)
{
	const enum filter_family right = sinsp_filter_family(c->right->type);

	if (n->op == FILTER_PMATCH || n->op == FILTER_REGEX || n->op == FILTER_BCONTAINS ||
	    n->op == FILTER_BSTARTSWITH)
		return sinsp_filter_fail(ast, n->op_at,
					 "cannot use %s with a field on the right; use a value",
					 sinsp_filter_op_name(n->op));
	if (c->family == FILTER_ANY || right == FILTER_ANY)
		return sinsp_filter_fail(ast, c->right->at,
					 "cannot compare %s with a field: its type depends on the "
					 "event; use a value",
					 name_of(c->family == FILTER_ANY ? c->left : c->right));
	if (c->family != right && !(is_number(c->family) && is_number(right)) &&
	    !(is_string(c->family) && is_string(right)))
		return sinsp_filter_fail(ast, c->right->at, "cannot compare %s with %s: %s and %s",
					 name_of(c->left), name_of(c->right),
					 families[c->family].name, families[right].name);
	return 0;
}

static int hex_value(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* Decodes the bytes of hexadecimal digits. */
static int read_hex(struct filter_ast *ast, const struct filter_word *w, struct filter_const *v)
{
	char *to = sinsp_arena_alloc(&ast->arena, w->len / 2 + 1);

	if (!to)
		return -ENOMEM;
	if (!w->len || w->len % 2 || strspn(w->p, "0123456789abcdefABCDEF") != w->len)
		return sinsp_filter_fail(ast, w->at,
					 "expected bytes in hexadecimal, such as 7f454c46, found "
					 "'%.40s'",
					 w->p);
	for (size_t i = 0; i < w->len; i += 2)
		to[i / 2] = (char)(hex_value(w->p[i]) << 4 | hex_value(w->p[i + 1]));
	v->p = to;
	v->len = w->len / 2;
	return 0;
}

/* ---- names of events ---- */

struct name_search {
	const char *name;
	struct nearest near;
	int found;
};

static void try_name(void *ctx, const char *name)
{
	struct name_search *s = ctx;

	if (!strcmp(s->name, name))
		s->found = 1;
	else
		nearest_try(&s->near, name);
}

static void try_event(void *ctx, const struct scap_event_info *info)
{
	try_name(ctx, info->name);
}

/* Checks that an event of this name exists, as sysdig does. */
static int check_event_name(struct filter_ast *ast, const struct filter_word *w)
{
	struct name_search s = {.name = w->p};

	nearest_begin(&s.near, w->p);
	scap_event_each(try_event, &s);
	scap_calls_each_name(try_name, &s);
	if (s.found)
		return 0;
	if (s.near.best)
		return sinsp_filter_fail(ast, w->at, "unknown event %.40s; did you mean %s?", w->p,
					 s.near.best);
	return sinsp_filter_fail(ast, w->at, "unknown event %.40s; see saker -L", w->p);
}

/* ---- fields with known values ---- */

struct value_list {
	char text[256];
	size_t n;
};

static void list_value(void *ctx, const char *value)
{
	struct value_list *l = ctx;

	if (l->n < sizeof(l->text))
		l->n += (size_t)snprintf(l->text + l->n, sizeof(l->text) - l->n, "%s%s",
					 l->n ? ", " : "", value);
}

/* Checks that the field can have the value: another one is a typing error. */
static int check_known_value(struct filter_ast *ast, const struct sinsp_field_row *row,
			     const struct filter_word *w)
{
	const char *const alias = sinsp_field_value_alias(row, w->p);
	struct name_search s = {.name = w->p};
	struct value_list all = {.n = 0};

	nearest_begin(&s.near, w->p);
	if (!sinsp_field_each_value(row, try_name, &s) || s.found || alias == w->p)
		return 0;
	if (alias || s.near.best)
		return sinsp_filter_fail(ast, w->at, "%s is never '%.40s'; did you mean %s?",
					 row->name, w->p, alias ? alias : s.near.best);
	sinsp_field_each_value(row, list_value, &all);
	if (all.n < sizeof(all.text))
		return sinsp_filter_fail(ast, w->at, "%s is never '%.40s'; possible values: %s",
					 row->name, w->p, all.text);
	return sinsp_filter_fail(ast, w->at, "%s is never '%.40s'; %s", row->name, w->p, row->help);
}

static int check_form(struct filter_ast *ast, const struct filter_node *n,
		      const struct filter_word *w)
{
	const char *const form = sinsp_field_value_form(n->left->field.row);
	const int is_whole = !!((BIT(EQ) | BIT(NE) | BIT(IN) | BIT(INTERSECTS)) >> n->op & 1);

	if (!form || (!is_whole && !((ORDER | BIT(STARTSWITH)) >> n->op & 1)) ||
	    sinsp_field_has_form(form, w->p, !is_whole))
		return 0;
	if (is_whole && sinsp_field_has_form(form, w->p, 1))
		return sinsp_filter_fail(ast, w->at,
					 "%s is never '%.40s', but %s; use startswith for the "
					 "beginning of a time",
					 n->left->field.row->name, w->p, form);
	return sinsp_filter_fail(ast, w->at, "%s never begins with '%.40s': its form is %s",
				 n->left->field.row->name, w->p, form);
}

/* Refuses names of services: filters compare port numbers, also with -R. */
static int check_port_text(struct filter_ast *ast, const struct sinsp_field_row *row,
			   const struct filter_word *w)
{
	static const char *const fields[] = {"fd.cproto", "fd.sproto", "fd.lproto", "fd.rproto"};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (!strcmp(row->name, fields[i]) && strspn(w->p, "0123456789") != w->len)
			return sinsp_filter_fail(ast, w->at,
						 "%s is a number in filters, never '%.40s'; did "
						 "you mean fd.%cport=%.40s?",
						 row->name, w->p, row->name[3], w->p);
	return 0;
}

static int check_value(struct filter_ast *ast, const struct filter_node *n,
		       const struct filter_word *w)
{
	const struct sinsp_field_row *row = n->left->field.row;

	if (row && sinsp_field_value_form(row))
		return check_form(ast, n, w);
	if (!row || !((BIT(EQ) | BIT(NE) | BIT(IN) | BIT(INTERSECTS)) >> n->op & 1))
		return 0;
	if (!strcmp(row->name, "evt.type") || !strcmp(row->name, "syscall.type"))
		return check_event_name(ast, w);
	return check_known_value(ast, row, w) ?: check_port_text(ast, row, w);
}

static int read_value(struct filter_ast *ast, const struct filter_node *n,
		      const struct filter_word *w, struct filter_const *v)
{
	int err = sinsp_filter_literal(ast, w, n->left->type, v);

	if (!err)
		err = check_value(ast, n, w);
	if (!err && (n->op == FILTER_BCONTAINS || n->op == FILTER_BSTARTSWITH))
		err = read_hex(ast, w, v);
	return err;
}

static int read_values(struct filter_ast *ast, const struct filter_node *n, struct filter_check *c)
{
	for (const struct filter_word *w = n->words; w; w = w->next)
		c->n_values++;
	c->values = sinsp_arena_alloc(&ast->arena, c->n_values * sizeof(*c->values));
	if (!c->values)
		return -ENOMEM;
	c->n_values = 0;
	for (const struct filter_word *w = n->words; w; w = w->next) {
		const int err = read_value(ast, n, w, &c->values[c->n_values++]);

		if (err)
			return err;
	}
	return 0;
}

/* ---- checks ---- */

/* Returns whether all of several values must match. */
static int needs_all(const struct filter_node *n)
{
	if (n->left->flags & FIELD_F_ENDS)
		return n->op == FILTER_NE;
	return is_set(n->left) && n->op == FILTER_IN;
}

static int make_check(struct filter_ast *ast, struct filter_node *n)
{
	struct filter_check *c = sinsp_arena_alloc(&ast->arena, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	err = type_expr(ast, n->left);
	if (err)
		return err;
	*c = (struct filter_check){
		.left = n->left,
		.op = n->op,
		.mod = n->mod,
		.family = sinsp_filter_family(n->left->type),
		.all = (uint8_t)needs_all(n),
		.at = n->at,
	};
	n->check = c;
	if (n->op != FILTER_EXISTS || !n->left->is_list)
		err = check_op(ast, n, c->family);
	if (err || n->op == FILTER_EXISTS)
		return err;
	if (!n->right)
		return read_values(ast, n, c);
	err = type_right(ast, n, c);
	return err ? err : check_right(ast, n, c);
}

int sinsp_filter_check(struct filter_ast *ast, struct filter_node *node)
{
	int err = 0;

	if (node->kind == FILTER_CHECK)
		return make_check(ast, node);
	for (struct filter_node *n = node->children; n && !err; n = n->next)
		err = sinsp_filter_check(ast, n);
	return err;
}
