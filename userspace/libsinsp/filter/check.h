/* SPDX-License-Identifier: Apache-2.0 */
/* Type-checks a filter: which operators a field has, and how values are read. */
#ifndef SINSP_FILTER_CHECK_H
#define SINSP_FILTER_CHECK_H

#include "ast.h"

/* Families of types that compare with each other. */
enum filter_family {
	FILTER_SIGNED,
	FILTER_UNSIGNED,
	FILTER_DOUBLE,
	FILTER_BOOL,
	FILTER_TEXT,
	FILTER_BYTES,
	FILTER_IP,
	FILTER_ANY, /* the type differs from event to event */
};

enum filter_family sinsp_filter_family(unsigned int field_type);

/* A value to compare with. */
struct filter_const {
	union {
		int64_t i;
		uint64_t u;
		double d;
		uint8_t ip[16]; /* network order */
	};
	const char *p; /* text or bytes; always set for FILTER_ANY */
	size_t len;
	uint8_t ip_len; /* 4, 16 */
	uint8_t prefix; /* length of the prefix */
	uint8_t is_number, is_ip; /* FILTER_ANY: kinds as which it can be read */
	const struct filter_word *word; /* as written */
};

struct filter_check {
	struct filter_expr *left, *right; /* right NULL: values */
	enum filter_op op;
	enum filter_mod mod;
	enum filter_family family;
	uint8_t all; /* all of several values must match; else one */
	struct filter_const *values;
	size_t n_values;
	struct filter_place at;
	struct filter_types *may; /* evtset.c; NULL: the type of an event decides nothing */
	uint8_t typed; /* `may` was computed */
};

/* Reads @w as a value of a field of @type. Returns 0, -EINVAL with the error set, -ENOMEM. */
int sinsp_filter_literal(struct filter_ast *ast, const struct filter_word *w, unsigned int type,
			 struct filter_const *out);

/* Type-checks everything below @node, and compiles its checks. Returns 0, -EINVAL, -ENOMEM. */
int sinsp_filter_check(struct filter_ast *ast, struct filter_node *node);

#endif /* SINSP_FILTER_CHECK_H */
