/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a compiled filter: its checks in order, and which events can match. */
#include <errno.h>
#include <stdio.h>

#include "fields/text.h"
#include "program.h"

#define LINE_WIDTH 78
#define VALUES_SHOWN 8

static int put(struct sinsp_text *out, const char *s)
{
	const size_t n = strlen(s);
	char *p = text_begin(out, n);

	return text_end(out, p ? put_mem(p, s, n) : NULL);
}

/* Quotes a value, which may contain any bytes. */
static int put_value(struct sinsp_text *out, const struct filter_const *v)
{
	const size_t n = v->word->len < 60 ? v->word->len : 60;
	char *p = text_begin(out, n + 8);

	if (!p)
		return -ENOMEM;
	*p++ = '"';
	for (size_t i = 0; i < n; i++)
		*p++ = (unsigned char)v->word->p[i] < 0x20 || v->word->p[i] == 0x7f ? '.'
										    : v->word->p[i];
	if (n < v->word->len)
		p = put_lit(p, "...");
	*p++ = '"';
	return text_end(out, p);
}

static int put_values(struct sinsp_text *out, const struct filter_check *c)
{
	char buf[32];
	int err = put(out, "(");

	for (size_t i = 0; i < c->n_values && i < VALUES_SHOWN && !err; i++) {
		err = i ? put(out, ", ") : 0;
		if (!err)
			err = put_value(out, &c->values[i]);
	}
	if (!err && c->n_values > VALUES_SHOWN) {
		snprintf(buf, sizeof(buf), " and %zu more", c->n_values - VALUES_SHOWN);
		err = put(out, buf);
	}
	return err ? err : put(out, ")");
}

static int put_right(struct sinsp_text *out, const struct filter_check *c)
{
	const int is_list = c->n_values != 1 || c->op == FILTER_IN || c->op == FILTER_PMATCH;

	if (c->op == FILTER_EXISTS)
		return 0;
	if (c->right)
		return sinsp_ast_expr_text(out, c->right);
	return is_list ? put_values(out, c) : put_value(out, c->values);
}

static int put_check(struct sinsp_text *out, const struct filter_check *c)
{
	int err = sinsp_ast_expr_text(out, c->left);

	if (!err)
		err = put(out, " ");
	if (!err)
		err = put(out, sinsp_filter_op_name(c->op));
	if (!err && c->op != FILTER_EXISTS)
		err = put(out, " ");
	if (!err && (c->mod || (c->n_values > 1 && c->op == FILTER_CONTAINS))) {
		err = put(out, c->mod ? sinsp_filter_mod_name(c->mod) : "anyof");
		if (!err)
			err = put(out, " ");
	}
	return err ? err : put_right(out, c);
}

static const char *target(unsigned int at, char buf[static 24])
{
	if (at == FILTER_YES)
		return "show";
	if (at == FILTER_NO)
		return "drop";
	snprintf(buf, 24, "go to %u", at + 1);
	return buf;
}

static int put_insn(struct sinsp_text *out, const struct sinsp_filter *f, unsigned int i)
{
	const struct filter_insn *insn = &f->insns[i];
	char line[128], yes[24], no[24];
	int err;

	snprintf(line, sizeof(line), "%5u  ", i + 1);
	err = put(out, line);
	if (!err)
		err = put_check(out, insn->check);
	snprintf(line, sizeof(line), "\n         yes: %s; no: %s%s\n", target(insn->yes, yes),
		 target(insn->no, no), insn->memo ? "; evaluated once per event" : "");
	return err ? err : put(out, line);
}

static int put_program(struct sinsp_text *out, const struct sinsp_filter *f)
{
	int err = put(out, "Program\n");

	if (!err && f->start == FILTER_YES)
		err = put(out, "  every event matches\n");
	if (!err && f->start == FILTER_NO)
		err = put(out, "  no event can match\n");
	for (unsigned int i = f->start; i < f->n_insns && !err; i++)
		err = put_insn(out, f, i);
	return err;
}

/* ---- event types ---- */

struct type_list {
	const struct sinsp_filter *f;
	struct sinsp_text *out;
	size_t line_begin; /* in out->p */
	int has_all; /* all events of at least one type match */
	int err;
};

/* Counts no event types that exist only in old files. */
static int is_a_type(const struct scap_event_info *info)
{
	return !(info->flags & (EF_UNUSED | EF_OLD_VERSION)) && !(info->category & EC_INTERNAL);
}

struct type_count {
	const struct sinsp_filter *f;
	unsigned int n, n_all;
};

static void count_type(void *ctx, const struct scap_event_info *info)
{
	struct type_count *c = ctx;

	if (!is_a_type(info))
		return;
	c->n_all++;
	c->n += sinsp_types_have(c->f->may.yes, evt_index(info->id));
}

unsigned int sinsp_filter_n_types(const struct sinsp_filter *f, unsigned int *n_all)
{
	struct type_count c = {.f = f};

	scap_event_each(count_type, &c);
	*n_all = c.n_all;
	return c.n;
}

static void put_type(void *ctx, const struct scap_event_info *info)
{
	const unsigned int index = evt_index(info->id);
	struct type_list *l = ctx;
	char text[96];

	if (l->err || !is_a_type(info) || !sinsp_types_have(l->f->may.yes, index))
		return;
	snprintf(text, sizeof(text), " %c%.60s%s", evt_is_enter(info->id) ? '>' : '<',
		 info->id <= EVT_SYSCALL_X ? "syscall" : info->name,
		 l->f->entry[index] == FILTER_YES ? "(all)" : "");
	if (l->out->len - l->line_begin + strlen(text) > LINE_WIDTH) {
		l->err = put(l->out, "\n ");
		l->line_begin = l->out->len - 1;
	}
	if (!l->err)
		l->err = put(l->out, text);
}

static void look_for_all(void *ctx, const struct scap_event_info *info)
{
	struct type_list *l = ctx;

	l->has_all |= is_a_type(info) && l->f->entry[evt_index(info->id)] == FILTER_YES;
}

static int put_types(struct sinsp_text *out, const struct sinsp_filter *f)
{
	struct type_list l = {.f = f, .out = out};
	unsigned int n_all, n = sinsp_filter_n_types(f, &n_all);
	char line[80];
	int err;

	if (n == n_all)
		return put(out, "Event types\n  all\n");
	scap_event_each(look_for_all, &l);
	snprintf(line, sizeof(line), "Event types: %u of %u%s\n", n, n_all,
		 l.has_all ? "; (all): each of these matches" : "");
	err = put(out, line);
	if (err || !n)
		return err;
	err = put(out, " ");
	l.line_begin = out->len - 1;
	if (!err)
		scap_event_each(put_type, &l);
	err = err ? err : l.err;
	return err ? err : put(out, "\n");
}

int sinsp_filter_explain(const struct sinsp_filter *f, struct sinsp_text *out)
{
	const int err = put_program(out, f);

	return err ? err : put_types(out, f);
}
