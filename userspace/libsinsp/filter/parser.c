/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of filters: recursive descent, at most FILTER_DEPTH_MAX levels deep. A macro is parsed
 * again at each use, so that each check has its place in the text. */
#include <errno.h>
#include <string.h>

#include "lexer.h"

/* ---- nodes ---- */

static struct filter_node *new_node(struct filter_lexer *lex, enum filter_node_kind kind,
				    struct filter_place at)
{
	struct filter_node *n = sinsp_arena_alloc(&lex->ast->arena, sizeof(*n));

	if (!n)
		return NULL;
	n->kind = kind;
	n->at = at;
	lex->ast->n_nodes++;
	return n;
}

static struct filter_expr *new_expr(struct filter_lexer *lex, enum filter_expr_kind kind,
				    struct filter_place at)
{
	struct filter_expr *e = sinsp_arena_alloc(&lex->ast->arena, sizeof(*e));

	if (!e)
		return NULL;
	e->kind = kind;
	e->at = at;
	lex->ast->n_nodes++;
	return e;
}

/* Returns 0, or an error: nested too deeply at @at, or too large. */
static int enter(struct filter_lexer *lex, struct filter_place at)
{
	if (++lex->ast->depth > FILTER_DEPTH_MAX)
		return sinsp_filter_fail(lex->ast, at, "nested more than %d levels deep",
					 FILTER_DEPTH_MAX);
	if (lex->ast->n_nodes > FILTER_NODES_MAX)
		return sinsp_filter_fail(lex->ast, at, "the filter has more than %d parts",
					 FILTER_NODES_MAX);
	return 0;
}

static void leave(struct filter_lexer *lex)
{
	lex->ast->depth--;
}

static int expected(struct filter_lexer *lex, const char *noun)
{
	char buf[48];

	return sinsp_filter_fail(lex->ast, sinsp_lex_place(lex), "expected %s, found %s", noun,
				 sinsp_lex_found(lex, buf));
}

static int close_bracket(struct filter_lexer *lex, const char *noun, struct filter_place open)
{
	char buf[48];

	sinsp_lex_blanks(lex);
	if (sinsp_lex_char(lex, ')'))
		return 0;
	if (!*lex->p)
		return sinsp_filter_fail(lex->ast, open, "unmatched (");
	return sinsp_filter_fail(lex->ast, sinsp_lex_place(lex), "expected %s, found %s", noun,
				 sinsp_lex_found(lex, buf));
}

/* ---- macros and lists ---- */

static const struct sinsp_filter_name *find_name(const struct sinsp_filter_name *names, size_t n,
						 const char *name, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (!strncmp(names[i].name, name, len) && !names[i].name[len])
			return &names[i];
	return NULL;
}

static const struct sinsp_filter_name *find_macro(const struct filter_lexer *lex, size_t len)
{
	const struct sinsp_filter_opts *o = lex->ast->opts;

	return o && len ? find_name(o->macros, o->n_macros, lex->p, len) : NULL;
}

static const struct sinsp_filter_name *find_list(const struct filter_ast *ast, const char *name,
						 size_t len)
{
	return ast->opts && len ? find_name(ast->opts->lists, ast->opts->n_lists, name, len) : NULL;
}

/* Opens a cursor in the text of a macro or list that is used at @at. Returns 0, or an error. */
static int open_name(struct filter_lexer *lex, const struct sinsp_filter_name *name,
		     struct filter_place at, struct filter_lexer *inner)
{
	struct filter_source *src = sinsp_arena_alloc(&lex->ast->arena, sizeof(*src));

	if (!src)
		return -ENOMEM;
	for (const struct filter_source *s = lex->source; s; s = s->outer)
		if (s->name == name->name)
			return sinsp_filter_fail(lex->ast, at, "%s refers to itself", name->name);
	*src = (struct filter_source){name->name, name->text, lex->source};
	*inner = (struct filter_lexer){lex->ast, src, name->text};
	if (strlen(name->text) > FILTER_TEXT_MAX)
		return sinsp_filter_fail(lex->ast, at, "%s is longer than %d bytes", name->name,
					 FILTER_TEXT_MAX);
	return 0;
}

static int add_words(struct filter_lexer *lex, struct filter_word ***tail);

static int add_list(struct filter_lexer *lex, const struct sinsp_filter_name *list,
		    struct filter_place at, struct filter_word ***tail)
{
	struct filter_lexer inner;
	int err = enter(lex, at);

	if (!err)
		err = open_name(lex, list, at, &inner);
	if (!err)
		err = add_words(&inner, tail);
	if (!err && *inner.p)
		err = expected(&inner, "a comma");
	leave(lex);
	return err;
}

/* Parses values separated by commas; a bare one may name a list. */
static int add_words(struct filter_lexer *lex, struct filter_word ***tail)
{
	const struct sinsp_filter_name *list;
	struct filter_word *w;
	int err;

	sinsp_lex_blanks(lex);
	if (*lex->p == ')' || !*lex->p)
		return 0;
	do {
		sinsp_lex_blanks(lex);
		err = sinsp_lex_value(lex, 1, &w);
		if (err == -ENOENT)
			return expected(lex, "a value");
		if (err)
			return err;
		list = w->quoted ? NULL : find_list(lex->ast, w->p, w->len);
		if (list) {
			err = add_list(lex, list, w->at, tail);
			if (err)
				return err;
		} else {
			**tail = w;
			*tail = &w->next;
		}
		sinsp_lex_blanks(lex);
	} while (sinsp_lex_char(lex, ','));
	return 0;
}

/* Parses "(a, b)" or the name of a list. */
static int parse_words(struct filter_lexer *lex, struct filter_word **out)
{
	const struct filter_place at = sinsp_lex_place(lex);
	const size_t len = sinsp_lex_name(lex);
	const struct sinsp_filter_name *list = find_list(lex->ast, lex->p, len);
	struct filter_word **tail = out;
	int err;

	*out = NULL;
	if (list) {
		lex->p += len;
		return add_list(lex, list, at, &tail);
	}
	if (!sinsp_lex_char(lex, '(')) {
		if (len && lex->ast->opts && lex->ast->opts->n_lists)
			return sinsp_filter_fail(lex->ast, at, "unknown list %.*s", (int)len,
						 lex->p);
		return expected(lex, "values in parentheses, as in (a, b)");
	}
	err = add_words(lex, &tail);
	return err ? err : close_bracket(lex, "a comma or )", at);
}

/* ---- fields and transformers ---- */

/* Returns whether a thread or a file has the field, without an event. */
static int is_of_thread(const struct sinsp_field *f)
{
	static const char *const classes[] = {"proc.", "thread.", "fd.",
					      "user.", "group.",  "container."};

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (strncmp(f->row->name, classes[i], strlen(classes[i])) == 0)
			return 1;
	return 0;
}

static int parse_field(struct filter_lexer *lex, struct filter_expr **out)
{
	struct filter_expr *e = new_expr(lex, FILTER_EXPR_FIELD, sinsp_lex_place(lex));
	const char *why = NULL;
	size_t at = 0;
	int n;

	if (!e)
		return -ENOMEM;
	e->next_field = lex->ast->fields;
	lex->ast->fields = e;
	n = sinsp_field_parse(&e->field, lex->p, &why, &at);
	if (n < 0) {
		lex->p += at;
		return n == -ENOMEM ? n
				    : sinsp_filter_fail(lex->ast, sinsp_lex_place(lex), "%s", why);
	}
	if (lex->ast->opts && lex->ast->opts->threads_only && !is_of_thread(&e->field))
		return sinsp_filter_fail(lex->ast, sinsp_lex_place(lex),
					 "%s is a field of events; use one of processes, files, "
					 "users or containers here",
					 e->field.row->name);
	lex->p += n;
	*out = e;
	return 0;
}

static int parse_call(struct filter_lexer *lex, enum filter_fn fn, struct filter_place at,
		      struct filter_expr **out);

static int parse_expr_list(struct filter_lexer *lex, struct filter_place open,
			   struct filter_expr **out);

/* Parses an argument: a field, a transformer, a number, quoted text, or a list. */
static int parse_arg(struct filter_lexer *lex, struct filter_expr **out)
{
	const struct filter_place at = sinsp_lex_place(lex);
	const char c = *lex->p;
	enum filter_fn fn;

	if (sinsp_lex_char(lex, '('))
		return parse_expr_list(lex, at, out);
	if (!sinsp_lex_fn(lex, &fn))
		return parse_call(lex, fn, at, out);
	if (c == '"' || c == '\'' || (c >= '0' && c <= '9') || c == '-' || c == '+') {
		*out = new_expr(lex, FILTER_EXPR_TEXT, at);
		return *out ? sinsp_lex_value(lex, 1, &(*out)->text) : -ENOMEM;
	}
	if (!sinsp_lex_name(lex))
		return expected(lex, "a field, a transformer or a value in quotes");
	return parse_field(lex, out);
}

static int parse_args(struct filter_lexer *lex, struct filter_expr **tail)
{
	int err;

	do {
		sinsp_lex_blanks(lex);
		err = parse_arg(lex, tail);
		if (err)
			return err;
		tail = &(*tail)->next;
		sinsp_lex_blanks(lex);
	} while (sinsp_lex_char(lex, ','));
	return 0;
}

static int parse_expr_list(struct filter_lexer *lex, struct filter_place open,
			   struct filter_expr **out)
{
	struct filter_expr *e = new_expr(lex, FILTER_EXPR_LIST, open);
	int err = e ? enter(lex, open) : -ENOMEM;

	sinsp_lex_blanks(lex);
	if (!err && *lex->p != ')')
		err = parse_args(lex, &e->args);
	if (!err)
		err = close_bracket(lex, "a comma or )", open);
	if (e)
		leave(lex);
	*out = e;
	return err;
}

/* Parses "[x]" after a transformer. */
static int parse_call_arg(struct filter_lexer *lex, const char **out)
{
	const struct filter_place at = sinsp_lex_place(lex);
	const char *from = lex->p + 1;
	size_t n = 0;
	char quote;

	if (!sinsp_lex_char(lex, '['))
		return 0;
	quote = *from == '"' || *from == '\'' ? *from++ : 0;
	while (from[n] && from[n] != (quote ? quote : ']'))
		n++;
	lex->p = from + n + (quote && from[n]);
	if (!sinsp_lex_char(lex, ']'))
		return sinsp_filter_fail(lex->ast, at, "unmatched [");
	*out = sinsp_arena_copy(&lex->ast->arena, from, n);
	return *out ? 0 : -ENOMEM;
}

/* Parses a call after "name(". */
static int parse_call(struct filter_lexer *lex, enum filter_fn fn, struct filter_place at,
		      struct filter_expr **out)
{
	struct filter_expr *e = new_expr(lex, FILTER_EXPR_CALL, at);
	int err = e ? enter(lex, at) : -ENOMEM;

	if (!err) {
		e->fn = fn;
		err = parse_args(lex, &e->args);
	}
	if (!err)
		err = close_bracket(lex, "a comma or )", at);
	if (!err)
		err = parse_call_arg(lex, &e->arg);
	if (e)
		leave(lex);
	*out = e;
	return err;
}

/* ---- checks ---- */

static int no_operator(struct filter_lexer *lex, const struct filter_expr *left)
{
	const size_t len = sinsp_lex_name(lex);
	const char *near = sinsp_lex_nearest_op(lex->p, len);

	if (near)
		return sinsp_filter_fail(lex->ast, sinsp_lex_place(lex),
					 "unknown operator %.*s; did you mean %s?",
					 (int)(len < 40 ? len : 40), lex->p, near);
	if (left->kind == FILTER_EXPR_FIELD && left->field.row->type == FIELD_BOOL)
		return expected(lex, "=true or =false");
	return expected(lex, "an operator, such as = or contains or exists");
}

/* Parses oneof, anyof or allof, which are values unless a list follows. */
static int parse_mod(struct filter_lexer *lex, struct filter_node *n)
{
	const char *const before = lex->p;

	if (!sinsp_lex_mod(lex, &n->mod)) {
		sinsp_lex_blanks(lex);
		if (*lex->p == '(' || find_list(lex->ast, lex->p, sinsp_lex_name(lex)))
			return 1;
	}
	n->mod = FILTER_MOD_NONE;
	lex->p = before;
	return 0;
}

static int parse_value(struct filter_lexer *lex, struct filter_node *n)
{
	int err = sinsp_lex_value(lex, 0, &n->words);

	if (err != -ENOENT)
		return err;
	return expected(lex, "a value");
}

static int parse_right(struct filter_lexer *lex, struct filter_node *n)
{
	const int has_list =
		n->op == FILTER_IN || n->op == FILTER_INTERSECTS || n->op == FILTER_PMATCH;
	struct filter_place at;
	enum filter_fn fn;

	sinsp_lex_blanks(lex);
	at = sinsp_lex_place(lex);
	if (!sinsp_lex_fn(lex, &fn))
		return parse_call(lex, fn, at, &n->right);
	if (has_list || parse_mod(lex, n))
		return parse_words(lex, &n->words);
	return parse_value(lex, n);
}

/* Parses the operator and the right side of a check. */
static int parse_condition(struct filter_lexer *lex, struct filter_expr *left,
			   struct filter_node **out)
{
	struct filter_node *n = new_node(lex, FILTER_CHECK, left->at);

	if (!n)
		return -ENOMEM;
	n->left = left;
	*out = n;
	sinsp_lex_blanks(lex);
	n->op_at = sinsp_lex_place(lex);
	if (sinsp_lex_op(lex, &n->op))
		return no_operator(lex, left);
	return n->op == FILTER_EXISTS ? 0 : parse_right(lex, n);
}

static int parse_or(struct filter_lexer *lex, struct filter_node **out);

static int parse_macro(struct filter_lexer *lex, const struct sinsp_filter_name *macro, size_t len,
		       struct filter_node **out)
{
	const struct filter_place at = sinsp_lex_place(lex);
	struct filter_lexer inner;
	int err = enter(lex, at);

	lex->p += len;
	if (!err)
		err = open_name(lex, macro, at, &inner);
	if (!err)
		err = parse_or(&inner, out);
	if (!err && *inner.p)
		err = expected(&inner, "'and' or 'or'");
	leave(lex);
	return err;
}

/* Reports a name that is neither a macro nor a field. */
static int unknown_name(struct filter_lexer *lex, size_t len)
{
	const int shown = len < 40 ? (int)len : 40;
	const char *near = lex->p[len] == '(' ? sinsp_lex_nearest_fn(lex->p, len)
					      : sinsp_field_nearest(lex->p, len);
	const char *noun = lex->p[len] == '(' ? "transformer" : "macro or field";

	if (near)
		return sinsp_filter_fail(lex->ast, sinsp_lex_place(lex),
					 "unknown %s %.*s; did you mean %s?", noun, shown, lex->p,
					 near);
	return sinsp_filter_fail(lex->ast, sinsp_lex_place(lex), "unknown %s %.*s", noun, shown,
				 lex->p);
}

static int is_keyword(const char *p, size_t len)
{
	return (len == 3 && !strncmp(p, "and", 3)) || (len == 2 && !strncmp(p, "or", 2));
}

static int parse_check(struct filter_lexer *lex, struct filter_node **out)
{
	const struct filter_place at = sinsp_lex_place(lex);
	const size_t len = sinsp_lex_name(lex);
	const struct sinsp_filter_name *macro = lex->p[len] == '.' ? NULL : find_macro(lex, len);
	struct filter_expr *left;
	enum filter_fn fn;
	int err;

	if (macro)
		return parse_macro(lex, macro, len, out);
	if (!len || is_keyword(lex->p, len))
		return expected(lex, "a field, a macro, not or (");
	if (!sinsp_lex_fn(lex, &fn))
		err = parse_call(lex, fn, at, &left);
	else if (lex->p[len] != '.')
		return unknown_name(lex, len);
	else
		err = parse_field(lex, &left);
	return err ? err : parse_condition(lex, left, out);
}

/* ---- and, or, not ---- */

static int parse_not(struct filter_lexer *lex, struct filter_node **out);

static int parse_negated(struct filter_lexer *lex, struct filter_place at, struct filter_node **out)
{
	struct filter_node *n = new_node(lex, FILTER_NOT, at);
	int err;

	if (!n)
		return -ENOMEM;
	err = parse_not(lex, &n->children);
	*out = n;
	return err;
}

static int parse_not(struct filter_lexer *lex, struct filter_node **out)
{
	struct filter_place at;
	int err;

	sinsp_lex_blanks(lex);
	at = sinsp_lex_place(lex);
	err = enter(lex, at);
	if (err)
		return err;
	if (sinsp_lex_word(lex, "not")) {
		err = parse_negated(lex, at, out);
	} else if (sinsp_lex_char(lex, '(')) {
		err = parse_or(lex, out);
		if (!err)
			err = close_bracket(lex, "and, or or )", at);
	} else {
		err = parse_check(lex, out);
	}
	leave(lex);
	return err;
}

/* Parses terms separated by a word; @next parses one. */
static int parse_terms(struct filter_lexer *lex, struct filter_node **out, const char *word,
		       enum filter_node_kind kind,
		       int (*next)(struct filter_lexer *, struct filter_node **))
{
	const struct filter_place at = sinsp_lex_place(lex);
	struct filter_node *first, **tail;
	int err = next(lex, &first);

	if (err)
		return err;
	*out = first;
	tail = &first->next;
	for (sinsp_lex_blanks(lex); sinsp_lex_word(lex, word); sinsp_lex_blanks(lex)) {
		if (*out == first) {
			*out = new_node(lex, kind, at);
			if (!*out)
				return -ENOMEM;
			(*out)->children = first;
		}
		err = next(lex, tail);
		if (err)
			return err;
		tail = &(*tail)->next;
	}
	return 0;
}

static int parse_and(struct filter_lexer *lex, struct filter_node **out)
{
	return parse_terms(lex, out, "and", FILTER_AND, parse_not);
}

static int parse_or(struct filter_lexer *lex, struct filter_node **out)
{
	return parse_terms(lex, out, "or", FILTER_OR, parse_and);
}

/* ---- the filter ---- */

/* Reports what follows a check instead of "and" or "or". */
static int unexpected_end(struct filter_lexer *lex)
{
	static const struct {
		const char *theirs, *ours;
	} foreign[] = {{"&&", "and"}, {"||", "or"}, {"AND", "and"},
		       {"OR", "or"},  {"&", "and"}, {"|", "or"}};

	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
		if (!strncmp(lex->p, foreign[i].theirs, strlen(foreign[i].theirs)))
			return sinsp_filter_fail(lex->ast, sinsp_lex_place(lex),
						 "expected 'and' or 'or'; did you mean %s?",
						 foreign[i].ours);
	if (*lex->p == ')')
		return sinsp_filter_fail(lex->ast, sinsp_lex_place(lex), "unmatched )");
	return expected(lex, "'and' or 'or'");
}

int sinsp_ast_parse(struct filter_ast *ast, const char *text, const struct sinsp_filter_opts *opts)
{
	struct filter_source *src = sinsp_arena_alloc(&ast->arena, sizeof(*src));
	struct filter_lexer lex = {ast, src, text};
	int err;

	if (!src)
		return -ENOMEM;
	*src = (struct filter_source){NULL, text, NULL};
	ast->opts = opts;
	if (strlen(text) > FILTER_TEXT_MAX)
		return sinsp_filter_fail(ast, sinsp_lex_place(&lex),
					 "the filter is longer than %d bytes", FILTER_TEXT_MAX);
	sinsp_lex_blanks(&lex);
	if (!*lex.p)
		return sinsp_filter_fail(ast, sinsp_lex_place(&lex), "the filter is empty");
	err = parse_or(&lex, &ast->root);
	return !err && *lex.p ? unexpected_end(&lex) : err;
}

void sinsp_ast_fini(struct filter_ast *ast)
{
	for (struct filter_expr *e = ast->fields; e; e = e->next_field)
		sinsp_field_fini(&e->field);
	ast->fields = NULL;
	sinsp_arena_fini(&ast->arena);
}
