/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a syntax tree as text: for tests, for --explain-filter, for comparing parts. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>

#include "ast.h"
#include "fields/text.h"

static int put(struct sinsp_text *out, const char *p, size_t n)
{
	char *to = text_begin(out, n);

	return text_end(out, to ? put_mem(to, p, n) : NULL);
}

static int puts_to(struct sinsp_text *out, const char *s)
{
	return put(out, s, strlen(s));
}

static int is_plain(const struct filter_word *w)
{
	for (size_t i = 0; i < w->len; i++)
		if (!isalnum((unsigned char)w->p[i]) && !strchr("._-/:*?<>", w->p[i]))
			return 0;
	return w->len > 0;
}

static int put_quoted(struct sinsp_text *out, const char *p, size_t n)
{
	int err = puts_to(out, "\"");
	char buf[8];

	for (size_t i = 0; i < n && !err; i++) {
		const unsigned char c = (unsigned char)p[i];

		if (c == '"' || c == '\\')
			snprintf(buf, sizeof(buf), "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			snprintf(buf, sizeof(buf), "\\x%02x", c);
		else
			snprintf(buf, sizeof(buf), "%c", c);
		err = puts_to(out, buf);
	}
	return err ? err : puts_to(out, "\"");
}

static int put_word(struct sinsp_text *out, const struct filter_word *w)
{
	return is_plain(w) ? put(out, w->p, w->len) : put_quoted(out, w->p, w->len);
}

static int put_words(struct sinsp_text *out, const struct filter_word *w)
{
	int err = puts_to(out, "(");

	for (; w && !err; w = w->next) {
		err = put_word(out, w);
		if (!err && w->next)
			err = puts_to(out, ", ");
	}
	return err ? err : puts_to(out, ")");
}

static int put_brackets(struct sinsp_text *out, const char *arg)
{
	const int plain = !strpbrk(arg, "]\"' ");
	int err = puts_to(out, "[");

	if (!err)
		err = plain ? puts_to(out, arg) : put_quoted(out, arg, strlen(arg));
	return err ? err : puts_to(out, "]");
}

static int put_args(struct sinsp_text *out, const struct filter_expr *e)
{
	int err = puts_to(out, "(");

	for (e = e->args; e && !err; e = e->next) {
		err = sinsp_ast_expr_text(out, e);
		if (!err && e->next)
			err = puts_to(out, ", ");
	}
	return err ? err : puts_to(out, ")");
}

int sinsp_ast_expr_text(struct sinsp_text *out, const struct filter_expr *e)
{
	int err;

	switch (e->kind) {
	case FILTER_EXPR_FIELD:
		err = puts_to(out, e->field.row->name);
		return !err && e->field.arg ? put_brackets(out, e->field.arg) : err;
	case FILTER_EXPR_CALL:
		err = puts_to(out, sinsp_filter_fn_name(e->fn));
		if (!err)
			err = put_args(out, e);
		return !err && e->arg ? put_brackets(out, e->arg) : err;
	case FILTER_EXPR_TEXT:
		return put_quoted(out, e->text->p, e->text->len);
	case FILTER_EXPR_LIST:
		return put_args(out, e);
	}
	return 0;
}

static int put_check(struct sinsp_text *out, const struct filter_node *n)
{
	const int has_list = n->op == FILTER_IN || n->op == FILTER_INTERSECTS ||
			     n->op == FILTER_PMATCH || n->mod;
	int err = sinsp_ast_expr_text(out, n->left);

	if (!err)
		err = puts_to(out, " ");
	if (!err)
		err = puts_to(out, sinsp_filter_op_name(n->op));
	if (!err && n->mod)
		err = puts_to(out, " ");
	if (!err)
		err = puts_to(out, sinsp_filter_mod_name(n->mod));
	if (err || n->op == FILTER_EXISTS)
		return err;
	err = puts_to(out, " ");
	if (!err && n->right)
		return sinsp_ast_expr_text(out, n->right);
	if (!err)
		err = has_list ? put_words(out, n->words) : put_word(out, n->words);
	return err;
}

static int put_terms(struct sinsp_text *out, const struct filter_node *n, const char *between)
{
	int err = puts_to(out, "(");

	for (n = n->children; n && !err; n = n->next) {
		err = sinsp_ast_text(out, n);
		if (!err && n->next)
			err = puts_to(out, between);
	}
	return err ? err : puts_to(out, ")");
}

int sinsp_ast_text(struct sinsp_text *out, const struct filter_node *n)
{
	int err;

	switch (n->kind) {
	case FILTER_AND:
		return put_terms(out, n, " and ");
	case FILTER_OR:
		return put_terms(out, n, " or ");
	case FILTER_NOT:
		err = puts_to(out, "not ");
		return err ? err : sinsp_ast_text(out, n->children);
	case FILTER_CHECK:
		return put_check(out, n);
	case FILTER_CONST:
		return puts_to(out, n->value ? "true" : "false");
	}
	return 0;
}
