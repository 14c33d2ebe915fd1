/* SPDX-License-Identifier: Apache-2.0 */
/* Checks with types: which operator goes with which field, and values read as the field needs. */
#ifndef SINSP_FILTER_CHECK_H
#define SINSP_FILTER_CHECK_H

#include "ast.h"

/* What compares with what. */
enum filter_family {
	FILTER_SIGNED,
	FILTER_UNSIGNED,
	FILTER_DOUBLE,
	FILTER_BOOL,
	FILTER_TEXT,
	FILTER_BYTES,
	FILTER_IP,
	FILTER_ANY, /* each event tells its own */
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
	const char *p; /* text, bytes; of FILTER_ANY always */
	size_t len;
	uint8_t ip_len; /* 4, 16 */
	uint8_t prefix; /* bits that count */
	uint8_t is_number, is_ip; /* of FILTER_ANY: it can be read so */
	const struct filter_word *word; /* how it was written */
};

struct filter_check {
	struct filter_expr *left, *right; /* right NULL: values */
	enum filter_op op;
	enum filter_mod mod;
	enum filter_family family;
	uint8_t all; /* of several values all must compare; else one */
	struct filter_const *values;
	size_t n_values;
	struct filter_place at;
	struct filter_types *may; /* evtset.c; NULL: the type of an event decides nothing */
	uint8_t typed; /* may was looked for */
};

/* Reads @w as a value of a field of @type. 0, -EINVAL with the error set, -ENOMEM. */
int sinsp_filter_literal(struct filter_ast *ast, const struct filter_word *w, unsigned int type,
			 struct filter_const *out);

/* Finds the types of all that is below @node, and makes its checks. 0, -EINVAL, -ENOMEM. */
int sinsp_filter_check(struct filter_ast *ast, struct filter_node *node);

#endif /* SINSP_FILTER_CHECK_H */
