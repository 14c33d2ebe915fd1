/* SPDX-License-Identifier: Apache-2.0 */
/* Matchers: an operator and its constants, compiled to test many values. */
#ifndef SINSP_FILTER_MATCH_H
#define SINSP_FILTER_MATCH_H

#include "automaton.h"
#include "check.h"
#include "pathtree.h"
#include "regex.h"
#include "strset.h"

enum sinsp_matcher_kind {
	MATCH_EXISTS,
	MATCH_RANGE, /* numbers from lo to lo + span */
	MATCH_NUMBERS,
	MATCH_DOUBLE,
	MATCH_TEXT, /* equal */
	MATCH_ORDER, /* text ordered before or after another */
	MATCH_TEXTS,
	MATCH_PART, /* contains */
	MATCH_PARTS,
	MATCH_PREFIX,
	MATCH_SUFFIX,
	MATCH_GLOB,
	MATCH_REGEX,
	MATCH_PATHS,
	MATCH_NETS,
	MATCH_TYPED, /* the kind of the value differs from event to event */
	MATCH_ONE, /* exactly one of several matchers */
	MATCH_EACH, /* all of them */
	MATCH_SOME, /* one or more */
	MATCH_FIELD, /* comparison with another field */
};

struct sinsp_matcher {
	uint8_t kind; /* enum sinsp_matcher_kind */
	uint8_t invert; /* != */
	uint8_t all; /* all of several values must match; else one */
	uint8_t fold; /* ignores case of letters */
	uint8_t op; /* enum filter_op, if the kind needs it */
	uint8_t family; /* enum filter_family */
	union {
		struct {
			uint64_t lo, span;
		} range;
		double number;
		struct {
			const char *p;
			size_t len;
		} text;
		struct sinsp_strset texts;
		struct sinsp_numset numbers;
		struct sinsp_automaton parts;
		struct sinsp_pathtree paths;
		struct sinsp_regex *regex;
		struct {
			const struct filter_const *v;
			size_t n;
		} values;
		struct {
			struct sinsp_matcher *v;
			size_t n;
		} matchers;
	};
};

/* Compiled expressions, freed with the filter. */
struct sinsp_regexes {
	struct sinsp_regex *regex;
	struct sinsp_regexes *next;
};

/* Compiles matchers into the arena of ast. */
struct sinsp_matcher_maker {
	struct filter_ast *ast;
	struct sinsp_regexes *regexes; /* freed with the filter */
};

/* Compiles a matcher. Returns 0, -EINVAL with the error set, -ENOMEM. */
int sinsp_matcher_make(struct sinsp_matcher_maker *mm, struct sinsp_matcher *out,
		       const struct filter_check *c);

/* Returns whether one value matches: 1, 0. */
int sinsp_match_slow(const struct sinsp_matcher *m, const struct sinsp_value *v);
static inline __attribute__((always_inline)) int sinsp_match(const struct sinsp_matcher *m,
							     const struct sinsp_value *v)
{
	switch (m->kind) {
	case MATCH_RANGE:
		return (v->u - m->range.lo <= m->range.span) != m->invert;
	case MATCH_TEXT:
		return (v->len == m->text.len && !memcmp(v->p, m->text.p, v->len)) != m->invert;
	case MATCH_TEXTS:
		return sinsp_strset_has(&m->texts, v->p, v->len);
	default:
		return sinsp_match_slow(m, v);
	}
}

/* Returns whether @a @op @b. */
int sinsp_match_values(enum filter_op op, const struct sinsp_value *a, const struct sinsp_value *b);

/* Returns the cost of testing a value, roughly in ns. */
unsigned int sinsp_matcher_cost(const struct filter_check *c);

#endif /* SINSP_FILTER_MATCH_H */
