/* SPDX-License-Identifier: Apache-2.0 */
/* The syntax tree of a filter. Everything lies in the arena of the parse; fields own memory, which
 * sinsp_ast_fini frees. */
#ifndef SINSP_FILTER_AST_H
#define SINSP_FILTER_AST_H

#include "arena.h"
#include "fields/field.h"
#include "filter.h"

#define FILTER_DEPTH_MAX 100 /* nested parentheses, not, transformers and macros */
#define FILTER_TEXT_MAX (256 << 10) /* maximum size of a filter, a macro, a list */
#define FILTER_NODES_MAX                                                                           \
	20000 /* maximum number of checks and values, with macros and lists expanded */

/* The text of the filter, or of a macro or list. */
struct filter_source {
	const char *name; /* NULL: the filter */
	const char *text;
	const struct filter_source *outer; /* where the name is used */
};

struct filter_place {
	const struct filter_source *source;
	size_t pos;
};

enum filter_op {
	FILTER_EXISTS,
	FILTER_EQ,
	FILTER_NE,
	FILTER_LT,
	FILTER_LE,
	FILTER_GT,
	FILTER_GE,
	FILTER_CONTAINS,
	FILTER_ICONTAINS,
	FILTER_BCONTAINS,
	FILTER_STARTSWITH,
	FILTER_BSTARTSWITH,
	FILTER_ENDSWITH,
	FILTER_GLOB,
	FILTER_IGLOB,
	FILTER_REGEX,
	FILTER_IN,
	FILTER_INTERSECTS,
	FILTER_PMATCH,
	FILTER_OP_MAX
};

enum filter_mod { FILTER_MOD_NONE, FILTER_MOD_ONEOF, FILTER_MOD_ANYOF, FILTER_MOD_ALLOF };

enum filter_fn {
	FILTER_FN_VAL,
	FILTER_FN_TOLOWER,
	FILTER_FN_TOUPPER,
	FILTER_FN_B64,
	FILTER_FN_BASENAME,
	FILTER_FN_LEN,
	FILTER_FN_JOIN,
	FILTER_FN_CONCAT,
	FILTER_FN_GETOPT,
	FILTER_FN_MAX
};

/* A value as written, without quotes and backslashes. */
struct filter_word {
	struct filter_word *next;
	const char *p; /* followed by a NUL */
	size_t len;
	struct filter_place at;
	uint8_t quoted;
};

enum filter_expr_kind {
	FILTER_EXPR_FIELD,
	FILTER_EXPR_CALL, /* of a transformer */
	FILTER_EXPR_TEXT,
	FILTER_EXPR_LIST, /* of expressions, in parentheses */
};

/* An expression with values. */
struct filter_expr {
	enum filter_expr_kind kind;
	struct filter_expr *next; /* next of the same list or arguments */
	struct filter_place at;
	struct sinsp_field field;
	struct filter_expr *next_field; /* all expressions with fields, for sinsp_ast_fini */
	enum filter_fn fn;
	const char *arg; /* of a call, in brackets after it; NULL: none */
	struct filter_expr *args; /* of a call or list */
	struct filter_word *text;
	/* Set by check.c: */
	uint8_t type; /* enum sinsp_field_type */
	uint8_t is_list; /* may have several values */
	uint16_t flags; /* FIELD_F_ANY, FIELD_F_ENDS of the field */
	unsigned int slot; /* slots.c: slot of its value, from 1; 0: none yet */
};

enum filter_node_kind { FILTER_AND, FILTER_OR, FILTER_NOT, FILTER_CHECK, FILTER_CONST };

struct filter_check;

struct filter_node {
	enum filter_node_kind kind;
	struct filter_node *next; /* next child of the same parent */
	struct filter_node *children; /* of and, or, not */
	struct filter_place at;
	/* A check as written: */
	struct filter_expr *left, *right; /* right NULL: compared with words */
	enum filter_op op;
	enum filter_mod mod;
	struct filter_place op_at;
	struct filter_word *words;
	/* Set later: */
	struct filter_check *check; /* check.c */
	uint8_t value; /* of a FILTER_CONST */
	unsigned int cost; /* simplify.c */
};

/* One text that is parsed, and then compiled. */
struct filter_ast {
	struct sinsp_arena arena;
	const struct sinsp_filter_opts *opts; /* NULL: none */
	struct sinsp_filter_error *err; /* never NULL */
	struct filter_node *root;
	struct filter_expr *fields;
	unsigned int n_nodes, depth;
};

/* Parses @text. Returns 0; -EINVAL with ast->err set, -ENOMEM. @ast is zeroed, except err. Call
 * sinsp_ast_fini in any case. */
int sinsp_ast_parse(struct filter_ast *ast, const char *text, const struct sinsp_filter_opts *opts);
void sinsp_ast_fini(struct filter_ast *ast);

/* Appends the tree as text in canonical form. Returns 0 or -ENOMEM. */
int sinsp_ast_text(struct sinsp_text *out, const struct filter_node *node);
int sinsp_ast_expr_text(struct sinsp_text *out, const struct filter_expr *expr);

const char *sinsp_filter_op_name(enum filter_op op);
const char *sinsp_filter_mod_name(enum filter_mod mod);
const char *sinsp_filter_fn_name(enum filter_fn fn);

/* Reports an error at @at. Returns -EINVAL. */
int sinsp_filter_fail(struct filter_ast *ast, struct filter_place at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* SINSP_FILTER_AST_H */
