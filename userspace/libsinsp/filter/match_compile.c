/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles a check to a matcher, and estimates its cost. */
#include "match.h"

#include <errno.h>
#include <limits.h>

/* ---- numbers ---- */

/* Makes a range of <, <=, > or >=; an empty range is the inverse of all numbers. */
static void make_range(struct sinsp_matcher *m, enum filter_op op, uint64_t v, uint64_t min,
		       uint64_t max)
{
	m->kind = MATCH_RANGE;
	switch (op) {
	case FILTER_LT:
	case FILTER_LE:
		m->range.lo = min;
		m->range.span = v - min - (op == FILTER_LT);
		m->invert = op == FILTER_LT && v == min; /* span then covers everything */
		break;
	case FILTER_GT:
	case FILTER_GE:
		m->range.lo = v + (op == FILTER_GT);
		m->range.span = max - m->range.lo;
		m->invert = op == FILTER_GT && v == max;
		break;
	default:
		m->range.lo = v;
		m->range.span = 0;
		m->invert = op == FILTER_NE;
	}
}

static int make_numbers(struct sinsp_matcher_maker *mm, struct sinsp_matcher *m,
			const struct filter_check *c)
{
	int err;

	m->kind = MATCH_NUMBERS;
	err = sinsp_numset_init(&m->numbers, &mm->ast->arena, c->n_values);
	for (size_t i = 0; !err && i < c->n_values; i++)
		sinsp_numset_add(&m->numbers, c->values[i].u);
	return err;
}

static int make_number(struct sinsp_matcher_maker *mm, struct sinsp_matcher *m,
		       const struct filter_check *c)
{
	const int is_signed = c->family == FILTER_SIGNED;

	if (c->n_values != 1)
		return make_numbers(mm, m, c);
	make_range(m, c->op, c->values[0].u, is_signed ? (uint64_t)INT64_MIN : 0,
		   is_signed ? INT64_MAX : UINT64_MAX);
	return 0;
}

/* ---- texts ---- */

static int make_texts(struct sinsp_matcher_maker *mm, struct sinsp_matcher *m,
		      const struct filter_check *c)
{
	int err;

	m->kind = MATCH_TEXTS;
	err = sinsp_strset_init(&m->texts, &mm->ast->arena, c->n_values);
	for (size_t i = 0; !err && i < c->n_values; i++)
		sinsp_strset_add(&m->texts, c->values[i].p, c->values[i].len);
	return err;
}

static int make_matchers(struct sinsp_matcher_maker *mm, struct sinsp_matcher *m,
			 enum sinsp_matcher_kind kind, const struct filter_check *c);

static void make_part(struct sinsp_matcher *m, enum sinsp_matcher_kind kind,
		      const struct filter_const *v)
{
	m->kind = kind;
	m->text.p = v->p;
	m->text.len = v->len;
}

/* Makes a matcher for contains with several patterns, or without case. Every text contains the
 * empty pattern. */
static int make_parts(struct sinsp_matcher_maker *mm, struct sinsp_matcher *m,
		      const struct filter_check *c)
{
	struct sinsp_pattern *patterns =
		sinsp_arena_alloc(&mm->ast->arena, c->n_values * sizeof(*patterns));
	int err;

	if (!patterns)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_values; i++) {
		if (!c->values[i].len) {
			make_part(m, MATCH_PART, &c->values[i]);
			return 0;
		}
		patterns[i] = (struct sinsp_pattern){c->values[i].p, c->values[i].len};
	}
	m->kind = MATCH_PARTS;
	err = sinsp_automaton_make(&m->parts, &mm->ast->arena, patterns, c->n_values,
				   c->op == FILTER_ICONTAINS);
	if (err != -E2BIG)
		return err;
	if (c->n_values > 1)
		return make_matchers(mm, m, MATCH_SOME, c);
	make_part(m, MATCH_PART, c->values);
	m->fold = 1;
	return 0;
}

static int make_paths(struct sinsp_matcher_maker *mm, struct sinsp_matcher *m,
		      const struct filter_check *c)
{
	size_t n_bytes = 0;
	int err;

	m->kind = MATCH_PATHS;
	for (size_t i = 0; i < c->n_values; i++)
		n_bytes += c->values[i].len;
	err = sinsp_pathtree_init(&m->paths, &mm->ast->arena, c->n_values, n_bytes);
	for (size_t i = 0; !err && i < c->n_values; i++)
		sinsp_pathtree_add(&m->paths, c->values[i].p, c->values[i].len);
	return err;
}

static int make_regex(struct sinsp_matcher_maker *mm, struct sinsp_matcher *m,
		      const struct filter_const *v)
{
	struct sinsp_regexes *mine = sinsp_arena_alloc(&mm->ast->arena, sizeof(*mine));
	struct filter_place at = v->word->at;
	char why[256] = "";
	size_t offset = 0;
	int err;

	if (!mine)
		return -ENOMEM;
	m->kind = MATCH_REGEX;
	err = sinsp_regex_new(&m->regex, v->p, v->len, why, &offset);
	if (err == -EINVAL) {
		/* Quotes and escapes make the text longer than the value. */
		if (!memchr(v->word->p, '\\', v->word->len))
			at.pos += offset + v->word->quoted;
		return sinsp_filter_fail(mm->ast, at, "invalid pattern: %s", why);
	}
	if (err)
		return err;
	*mine = (struct sinsp_regexes){m->regex, mm->regexes};
	mm->regexes = mine;
	return 0;
}

static int make_text(struct sinsp_matcher_maker *mm, struct sinsp_matcher *m,
		     const struct filter_check *c)
{
	const struct filter_const *v = c->values;

	switch (c->op) {
	case FILTER_EQ:
	case FILTER_NE:
		make_part(m, MATCH_TEXT, v);
		m->invert = c->op == FILTER_NE;
		return 0;
	case FILTER_IN:
	case FILTER_INTERSECTS:
		return make_texts(mm, m, c);
	case FILTER_CONTAINS:
	case FILTER_BCONTAINS:
		if (c->n_values > 1)
			return make_parts(mm, m, c);
		make_part(m, MATCH_PART, v);
		return 0;
	case FILTER_ICONTAINS:
		return make_parts(mm, m, c);
	case FILTER_STARTSWITH:
	case FILTER_BSTARTSWITH:
		make_part(m, MATCH_PREFIX, v);
		return 0;
	case FILTER_ENDSWITH:
		make_part(m, MATCH_SUFFIX, v);
		return 0;
	case FILTER_GLOB:
	case FILTER_IGLOB:
		make_part(m, MATCH_GLOB, v);
		m->fold = c->op == FILTER_IGLOB;
		return 0;
	case FILTER_REGEX:
		return make_regex(mm, m, v);
	case FILTER_PMATCH:
		return make_paths(mm, m, c);
	default:
		make_part(m, MATCH_ORDER, v);
		return 0;
	}
}

/* ---- all types ---- */

/* Makes one matcher for each value. */
static int make_matchers(struct sinsp_matcher_maker *mm, struct sinsp_matcher *m,
			 enum sinsp_matcher_kind kind, const struct filter_check *c)
{
	struct sinsp_matcher *v = sinsp_arena_alloc(&mm->ast->arena, c->n_values * sizeof(*v));
	int err = v ? 0 : -ENOMEM;

	m->kind = kind;
	m->matchers.v = v;
	m->matchers.n = c->n_values;
	for (size_t i = 0; !err && i < c->n_values; i++) {
		struct filter_check one = *c;

		one.mod = FILTER_MOD_NONE;
		one.values = &c->values[i];
		one.n_values = 1;
		err = sinsp_matcher_make(mm, &v[i], &one);
	}
	return err;
}

static int make_by_family(struct sinsp_matcher_maker *mm, struct sinsp_matcher *m,
			  const struct filter_check *c)
{
	switch (c->family) {
	case FILTER_SIGNED:
	case FILTER_UNSIGNED:
	case FILTER_BOOL:
		return make_number(mm, m, c);
	case FILTER_TEXT:
	case FILTER_BYTES:
		return make_text(mm, m, c);
	case FILTER_DOUBLE:
		if (c->n_values != 1)
			return make_matchers(mm, m, MATCH_SOME, c);
		m->kind = MATCH_DOUBLE;
		m->number = c->values[0].d;
		return 0;
	case FILTER_IP:
	case FILTER_ANY:
		m->kind = c->family == FILTER_IP ? MATCH_NETS : MATCH_TYPED;
		m->values.v = c->values;
		m->values.n = c->n_values;
		m->invert = c->op == FILTER_NE;
		return 0;
	}
	return 0;
}

int sinsp_matcher_make(struct sinsp_matcher_maker *mm, struct sinsp_matcher *m,
		       const struct filter_check *c)
{
	static const enum sinsp_matcher_kind mods[] = {[FILTER_MOD_ONEOF] = MATCH_ONE,
						       [FILTER_MOD_ANYOF] = MATCH_SOME,
						       [FILTER_MOD_ALLOF] = MATCH_EACH};

	*m = (struct sinsp_matcher){
		.all = c->all, .op = (uint8_t)c->op, .family = (uint8_t)c->family};
	if (c->op == FILTER_EXISTS)
		m->kind = MATCH_EXISTS;
	else if (c->right)
		m->kind = MATCH_FIELD;
	else if (c->mod)
		return make_matchers(mm, m, mods[c->mod], c);
	else
		return make_by_family(mm, m, c);
	return 0;
}

unsigned int sinsp_matcher_cost(const struct filter_check *c)
{
	static const uint8_t costs[FILTER_OP_MAX] = {
		[FILTER_EXISTS] = 0,     [FILTER_EQ] = 2,          [FILTER_NE] = 2,
		[FILTER_LT] = 2,         [FILTER_LE] = 2,          [FILTER_GT] = 2,
		[FILTER_GE] = 2,         [FILTER_IN] = 4,          [FILTER_INTERSECTS] = 4,
		[FILTER_STARTSWITH] = 2, [FILTER_BSTARTSWITH] = 2, [FILTER_ENDSWITH] = 2,
		[FILTER_CONTAINS] = 20,  [FILTER_BCONTAINS] = 20,  [FILTER_ICONTAINS] = 60,
		[FILTER_GLOB] = 40,      [FILTER_IGLOB] = 60,      [FILTER_PMATCH] = 40,
		[FILTER_REGEX] = 150,
	};
	const unsigned int cost = costs[c->op];

	if (c->family == FILTER_ANY)
		return cost + 10;
	if (c->mod)
		return cost * (unsigned int)(c->n_values < 1000 ? c->n_values + 1 : 1000);
	return c->n_values > 1 && c->op == FILTER_CONTAINS ? 60 : cost;
}
