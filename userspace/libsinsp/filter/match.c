/* SPDX-License-Identifier: Apache-2.0 */
/* Tests a value by a matcher. */
#include "match.h"

#include <strings.h>

#include "glob.h"

/* memmem builds a table first, which is slower for short texts. */
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

/* Compares a value, whose type the event decides, with a constant of that type. Values of different
 * types are not equal. */
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
