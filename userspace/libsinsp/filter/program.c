/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the program of a filter on an event. */
#include "program.h"

#include <errno.h>

static __attribute__((noinline)) int match_list(const struct sinsp_matcher *m,
						const struct sinsp_value *v, int n)
{
	for (int i = 0; i < n; i++)
		if (sinsp_match(m, &v[i]) != m->all)
			return !m->all;
	return m->all;
}

/* Returns whether @v matches one of the values on the right side. */
static int match_right(enum filter_op op, const struct sinsp_value *v, const struct filter_slot *r)
{
	const struct sinsp_value *rv = r->n > 1 ? r->more : &r->v;

	for (int i = 0; i < r->n; i++)
		if (sinsp_match_values(op, v, &rv[i]))
			return 1;
	return 0;
}

static __attribute__((noinline)) int
match_field(struct sinsp_filter *f, const struct filter_insn *insn, const struct filter_slot *s)
{
	const struct sinsp_value *v = s->n > 1 ? s->more : &s->v;
	const struct sinsp_matcher *m = insn->matcher;
	struct filter_slot *r = &f->slots[insn->right];

	if (r->serial != f->eval.serial) {
		const int err = sinsp_slot_fill(f, insn->right);

		if (err)
			return err;
	}
	if (!r->n)
		return 0;
	for (int i = 0; i < s->n; i++)
		if (match_right(m->op, &v[i], r) != m->all)
			return !m->all;
	return m->all;
}

/* Fills a slot; most are fields. */
static inline int fill(struct sinsp_filter *f, unsigned int slot, struct filter_slot *s)
{
	if (!s->field)
		return sinsp_slot_fill(f, slot);
	s->n = sinsp_field_get(&f->eval, s->field, &s->v, &s->more);
	if (s->n < 0)
		return s->n;
	s->serial = f->eval.serial;
	return 0;
}

/* Tests a check: the hot path of filters. Rare cases are apart, so that it saves few registers. */
static int evaluate(struct sinsp_filter *f, const struct filter_insn *insn)
{
	struct filter_slot *s = &f->slots[insn->slot];

	if (s->serial != f->eval.serial) {
		const int err = fill(f, insn->slot, s);

		if (err)
			return err;
	}
	if (!s->n)
		return 0;
	if (insn->right)
		return match_field(f, insn, s);
	return s->n == 1 ? sinsp_match(insn->matcher, &s->v)
			 : match_list(insn->matcher, s->more, s->n);
}

static int evaluate_once(struct sinsp_filter *f, const struct filter_insn *insn)
{
	struct filter_memo *memo = &f->memos[insn->memo];

	if (memo->serial != f->eval.serial) {
		memo->answer = evaluate(f, insn);
		memo->serial = f->eval.serial;
	}
	return memo->answer;
}

static int run(struct sinsp_filter *f, unsigned int at)
{
	do {
		const struct filter_insn *insn = &f->insns[at];
		const int r = insn->memo ? evaluate_once(f, insn) : evaluate(f, insn);

		if (r < 0)
			return r;
		at = r ? insn->yes : insn->no;
	} while (at < FILTER_NO);
	return at == FILTER_YES;
}

/* Logs once that a regular expression exceeded its limit: matching events may be missing. */
static void report_regex_limit(struct sinsp_filter *f)
{
	for (const struct sinsp_regexes *r = f->regexes; r && !f->reported; r = r->next)
		f->reported = sinsp_regex_hit_limit(r->regex);
	if (f->reported && f->log)
		f->log(f->log_ctx, SCAP_LOG_WARN,
		       "a regular expression of the filter exceeds its step limit for some values; "
		       "they do not match");
}

int sinsp_filter_run(struct sinsp_filter *f, const struct sinsp_evt *evt)
{
	const unsigned int at = f->entry[evt_index(evt->raw.type)];
	int r;

	if (at >= FILTER_NO)
		return at == FILTER_YES;
	f->eval.insp = evt->insp;
	sinsp_eval_set(&f->eval, evt);
	r = run(f, at);
	if (f->regexes && !f->reported)
		report_regex_limit(f);
	return r;
}
