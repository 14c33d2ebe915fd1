/* SPDX-License-Identifier: Apache-2.0 */
#include "match.h"

#include <errno.h>
#include <limits.h>
#include <strings.h>

#include "glob.h"

/* ---- numbers ---- */

/* All operators except = and != are ranges; an empty one is the inverse of everything. */
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

/* contains with several patterns, or with letters in either case. Every text contains the empty
 * one. */
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
		/* Quoted bytes take more room in the text than in memory. */
		if (!memchr(v->word->p, '\\', v->word->len))
			at.pos += offset + v->word->quoted;
		return sinsp_filter_fail(mm->ast, at, "the pattern is wrong: %s", why);
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

/* ---- any ---- */

/* One matcher for each value, with this operator. */
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

/* ---- asking ---- */

/* memmem builds a table first, which does not pay for short texts. */
#define SHORT_TEXT 256

static int has_part_short(const char *p, size_t len, const char *part, size_t part_len)
{
	const char *const end = p + len - part_len + 1; /* number of possible starts */

	while (p < end && (p = memchr(p, part[0], (size_t)(end - p)))) {
		if (!memcmp(p, part, part_len))
			return 1;
		p++;
	}
	return 0;
}

static int has_part(const char *p, size_t len, const char *part, size_t part_len, int fold)
{
	if (!part_len)
		return 1;
	if (!fold && len <= SHORT_TEXT)
		return len >= part_len && has_part_short(p, len, part, part_len);
	if (!fold)
		return memmem(p, len, part, part_len) != NULL;
	for (size_t i = 0; i + part_len <= len; i++)
		if (!strncasecmp(p + i, part, part_len))
			return 1;
	return 0;
}

static int text_order(const char *a, size_t a_len, const char *b, size_t b_len)
{
	const int order = memcmp(a, b, a_len < b_len ? a_len : b_len);

	return order ? order : (a_len > b_len) - (a_len < b_len);
}

/* Returns what an operator requires of the order of two values. */
static int by_order(enum filter_op op, int order)
{
	switch (op) {
	case FILTER_NE:
		return order != 0;
	case FILTER_LT:
		return order < 0;
	case FILTER_LE:
		return order <= 0;
	case FILTER_GT:
		return order > 0;
	case FILTER_GE:
		return order >= 0;
	default:
		return order == 0;
	}
}

static int by_double(enum filter_op op, double a, double b)
{
	if (a != a || b != b)
		return op == FILTER_NE;
	return by_order(op, (a > b) - (a < b));
}

static int is_in_net(const struct sinsp_value *v, const uint8_t *ip, size_t len, unsigned int bits)
{
	const unsigned int bytes = bits / 8, rest = bits % 8;

	if (v->len != len || memcmp(v->p, ip, bytes))
		return 0;
	return !rest || !((((uint8_t)v->p[bytes]) ^ ip[bytes]) >> (8 - rest));
}

static int match_nets(const struct sinsp_matcher *m, const struct sinsp_value *v)
{
	for (size_t i = 0; i < m->values.n; i++) {
		const struct filter_const *c = &m->values.v[i];

		if (is_in_net(v, c->ip, c->ip_len, c->prefix))
			return !m->invert;
	}
	return m->invert;
}

static int match_text_op(enum filter_op op, const char *a, size_t a_len, const char *b,
			 size_t b_len)
{
	switch (op) {
	case FILTER_CONTAINS:
	case FILTER_ICONTAINS:
		return has_part(a, a_len, b, b_len, op == FILTER_ICONTAINS);
	case FILTER_STARTSWITH:
		return a_len >= b_len && !memcmp(a, b, b_len);
	case FILTER_ENDSWITH:
		return a_len >= b_len && !memcmp(a + a_len - b_len, b, b_len);
	case FILTER_GLOB:
	case FILTER_IGLOB:
		return sinsp_glob_match(b, b_len, a, a_len, op == FILTER_IGLOB);
	default:
		return by_order(op, text_order(a, a_len, b, b_len));
	}
}

/* Compares two numbers, each signed or not. */
static int number_order(const struct sinsp_value *a, int a_signed, const struct sinsp_value *b,
			int b_signed)
{
	const __int128 x = a_signed ? (__int128)a->i : (__int128)a->u;
	const __int128 y = b_signed ? (__int128)b->i : (__int128)b->u;

	return (x > y) - (x < y);
}

int sinsp_match_values(enum filter_op op, const struct sinsp_value *a, const struct sinsp_value *b)
{
	const enum filter_family fa = sinsp_filter_family(a->type);
	const enum filter_family fb = sinsp_filter_family(b->type);

	switch (fa) {
	case FILTER_SIGNED:
	case FILTER_UNSIGNED:
	case FILTER_BOOL:
		return by_order(op, number_order(a, fa == FILTER_SIGNED, b, fb == FILTER_SIGNED));
	case FILTER_DOUBLE:
		return by_double(op, a->d, b->d);
	case FILTER_IP:
		return is_in_net(a, (const uint8_t *)b->p, b->len, b->len * 8) != (op == FILTER_NE);
	case FILTER_TEXT:
	case FILTER_BYTES:
		return match_text_op(op, a->p, a->len, b->p, b->len);
	case FILTER_ANY:
		return 0;
	}
	return 0;
}

/* Compares a value, whose type the event decides, with one that can be read as several kinds.
 * Values that do not compare differ. */
static int match_typed_one(enum filter_op op, const struct sinsp_value *v,
			   const struct filter_const *c)
{
	const enum filter_family family = sinsp_filter_family(v->type);
	struct sinsp_value other = {.u = c->u};

	switch (family) {
	case FILTER_SIGNED:
	case FILTER_UNSIGNED:
		if (!c->is_number)
			return op == FILTER_NE;
		return by_order(op, number_order(v, family == FILTER_SIGNED, &other,
						 c->p[0] == '-' || family == FILTER_SIGNED));
	case FILTER_BOOL:
		return by_order(op, (v->u != 0) != !strcmp(c->p, "true"));
	case FILTER_IP:
		return (c->is_ip && is_in_net(v, c->ip, c->ip_len, c->prefix)) != (op == FILTER_NE);
	case FILTER_TEXT:
	case FILTER_BYTES:
		return match_text_op(op, v->p, v->len, c->p, c->len);
	default:
		return op == FILTER_NE;
	}
}

static int match_typed(const struct sinsp_matcher *m, const struct sinsp_value *v)
{
	for (size_t i = 0; i < m->values.n; i++)
		if (match_typed_one(m->op, v, &m->values.v[i]))
			return 1;
	return 0;
}

static size_t count_matches(const struct sinsp_matcher *m, const struct sinsp_value *v)
{
	size_t n = 0;

	for (size_t i = 0; i < m->matchers.n; i++)
		n += sinsp_match(&m->matchers.v[i], v) > 0;
	return n;
}

int sinsp_match_slow(const struct sinsp_matcher *m, const struct sinsp_value *v)
{
	switch ((enum sinsp_matcher_kind)m->kind) {
	case MATCH_EXISTS:
		return 1;
	case MATCH_NUMBERS:
		return sinsp_numset_has(&m->numbers, v->u);
	case MATCH_DOUBLE:
		return by_double(m->op, v->d, m->number);
	case MATCH_ORDER:
		return by_order(m->op, text_order(v->p, v->len, m->text.p, m->text.len));
	case MATCH_PART:
		return has_part(v->p, v->len, m->text.p, m->text.len, m->fold);
	case MATCH_PARTS:
		return sinsp_automaton_match(&m->parts, v->p, v->len);
	case MATCH_PREFIX:
		return v->len >= m->text.len && !memcmp(v->p, m->text.p, m->text.len);
	case MATCH_SUFFIX:
		return v->len >= m->text.len &&
		       !memcmp(v->p + v->len - m->text.len, m->text.p, m->text.len);
	case MATCH_GLOB:
		return sinsp_glob_match(m->text.p, m->text.len, v->p, v->len, m->fold);
	case MATCH_REGEX:
		return sinsp_regex_match(m->regex, v->p, v->len);
	case MATCH_PATHS:
		return sinsp_pathtree_match((struct sinsp_pathtree *)&m->paths, v->p, v->len);
	case MATCH_NETS:
		return match_nets(m, v);
	case MATCH_TYPED:
		return match_typed(m, v);
	case MATCH_ONE:
		return count_matches(m, v) == 1;
	case MATCH_EACH:
		return m->matchers.n && count_matches(m, v) == m->matchers.n;
	case MATCH_SOME:
		return count_matches(m, v) > 0;
	case MATCH_RANGE:
	case MATCH_TEXT:
	case MATCH_TEXTS:
		return sinsp_match(m, v);
	case MATCH_FIELD:
		return 0;
	}
	return 0;
}
