/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program of a filter: a flat array of checks, each with the place to go on at when it holds
 * and when it does not. Values are found once per event, in slots; a check that stands in several
 * places is made once. Where a type of event begins is known beforehand: most events leave at once.
 */
#ifndef SINSP_FILTER_PROGRAM_H
#define SINSP_FILTER_PROGRAM_H

#include "match.h"

#define FILTER_YES 0xffffffffu
#define FILTER_NO 0xfffffffeu

/* Sets of event types by EVT_INDEX. */
#define FILTER_TYPE_WORDS ((EVT_INDEX_MAX + 63) / 64)

struct filter_types {
	uint64_t yes[FILTER_TYPE_WORDS]; /* it can be true for events of the type */
	uint64_t no[FILTER_TYPE_WORDS]; /* it can be false */
};

/* A value that checks ask for. */
struct filter_slot {
	const struct filter_expr *expr;
	const struct sinsp_field *field; /* NULL: it is made of other values */
	const unsigned int *needs; /* slots to fill before, in that order */
	unsigned int n_needs;
	uint64_t serial; /* of the event it is filled for: struct sinsp_asker */
	int n; /* of values; 0: none here */
	struct sinsp_value v;
	const struct sinsp_value *more; /* n of them, if n is above 1 */
};

struct filter_insn {
	const struct sinsp_matcher *matcher;
	unsigned int slot, right; /* right: of a MATCH_FIELD */
	unsigned int yes, no;
	unsigned int memo; /* where the answer is kept, from 1; 0: it is asked for once */
	const struct filter_check *check;
};

struct filter_memo {
	uint64_t serial;
	int answer;
};

struct sinsp_filter {
	struct filter_ast ast; /* what everything below lies in */
	struct sinsp_filter_error no_error;
	struct sinsp_asker asker;
	struct filter_slot *slots; /* the first is not used */
	struct filter_insn *insns;
	struct filter_memo *memos;
	unsigned int n_slots, n_insns, n_memos;
	unsigned int start;
	unsigned int entry[EVT_INDEX_MAX]; /* where events of a type begin, or the answer */
	struct filter_types may;
	struct sinsp_regexes *regexes;
	scap_log_fn log;
	void *log_ctx;
	int told; /* that a pattern was given up */
	int has_memory; /* a field depends on which events were asked about before */
	int asks_direction; /* it names evt.dir */
};

/* Fills the slot for the event of the asker, those that it needs first. 0 or -ENOMEM. */
int sinsp_slot_fill(struct sinsp_filter *f, unsigned int slot);

/* What the tree becomes. Each: 0, -EINVAL with the error set, -ENOMEM. */
int sinsp_filter_make_slots(struct sinsp_filter *f);
int sinsp_filter_simplify(struct sinsp_filter *f);
int sinsp_filter_emit(struct sinsp_filter *f);

/* The types of events for which a check can hold and not hold. */
int sinsp_check_types(struct sinsp_filter *f, struct filter_check *c);
/* The same of a tree of them. */
void sinsp_node_types(const struct filter_node *n, struct filter_types *out);

static inline int sinsp_types_have(const uint64_t *types, unsigned int index)
{
	return types[index / 64] >> index % 64 & 1;
}

#endif /* SINSP_FILTER_PROGRAM_H */
