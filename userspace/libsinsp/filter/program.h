/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiled filter (program): a flat array of checks, each with the next check for match and no
 * match. Values are computed once per event, in slots; a check that occurs several times is
 * evaluated once. The entry point of each event type is precomputed: most events end there.
 */
#ifndef SINSP_FILTER_PROGRAM_H
#define SINSP_FILTER_PROGRAM_H

#include "match.h"

#define FILTER_YES 0xffffffffu
#define FILTER_NO 0xfffffffeu

/* Sets of event types by EVT_INDEX. */
#define FILTER_TYPE_WORDS ((EVT_INDEX_MAX + 63) / 64)

struct filter_types {
	uint64_t yes[FILTER_TYPE_WORDS]; /* the check can be true for events of the type */
	uint64_t no[FILTER_TYPE_WORDS]; /* it can be false */
};

/* A value that checks use. */
struct filter_slot {
	const struct filter_expr *expr;
	const struct sinsp_field *field; /* NULL: computed from other values */
	const unsigned int *needs; /* slots to fill before, in that order */
	unsigned int n_needs;
	uint64_t serial; /* number of the event it is filled for: struct sinsp_eval */
	int n; /* number of values; 0: none */
	struct sinsp_value v;
	const struct sinsp_value *more; /* n values, if n is above 1 */
};

struct filter_insn {
	const struct sinsp_matcher *matcher;
	unsigned int slot, right; /* right side: of a MATCH_FIELD */
	unsigned int yes, no;
	unsigned int memo; /* where the result is kept, from 1; 0: it has one use */
	const struct filter_check *check;
};

struct filter_memo {
	uint64_t serial;
	int answer;
};

struct sinsp_filter {
	struct filter_ast ast; /* holds everything below */
	struct sinsp_filter_error no_error;
	struct sinsp_eval eval;
	struct filter_slot *slots; /* the first is not used */
	struct filter_insn *insns;
	struct filter_memo *memos;
	unsigned int n_slots, n_insns, n_memos;
	unsigned int start;
	unsigned int entry[EVT_INDEX_MAX]; /* by event type: the first check, or the result */
	struct filter_types may;
	struct sinsp_regexes *regexes;
	scap_log_fn log;
	void *log_ctx;
	int reported; /* that a regular expression exceeded its limit */
	int has_memory; /* a field depends on which events were evaluated before */
	int uses_dir; /* a check uses evt.dir */
};

/* Fills the slot for the event, after those that it needs. Returns 0 or -ENOMEM. */
int sinsp_slot_fill(struct sinsp_filter *f, unsigned int slot);

/* Compiles the tree. Each returns 0, -EINVAL with the error set, -ENOMEM. */
int sinsp_filter_make_slots(struct sinsp_filter *f);
int sinsp_filter_simplify(struct sinsp_filter *f);
int sinsp_filter_emit(struct sinsp_filter *f);

/* Returns the types of events for which a check can be true, and false. */
int sinsp_check_types(struct sinsp_filter *f, struct filter_check *c);
/* Returns the types for a tree of checks. */
void sinsp_node_types(const struct filter_node *n, struct filter_types *out);

static inline int sinsp_types_have(const uint64_t *types, unsigned int index)
{
	return types[index / 64] >> index % 64 & 1;
}

#endif /* SINSP_FILTER_PROGRAM_H */
