/* SPDX-License-Identifier: Apache-2.0 */
/* The lexer of filters: words, operators, quoted values and escapes. */
#include "lexer.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fields/nearest.h"

/* clang-format off */
static const char *const op_names[FILTER_OP_MAX] = {
	[FILTER_EXISTS] = "exists", [FILTER_EQ] = "=", [FILTER_NE] = "!=",
	[FILTER_LT] = "<", [FILTER_LE] = "<=", [FILTER_GT] = ">", [FILTER_GE] = ">=",
	[FILTER_CONTAINS] = "contains", [FILTER_ICONTAINS] = "icontains",
	[FILTER_BCONTAINS] = "bcontains",
	[FILTER_STARTSWITH] = "startswith", [FILTER_BSTARTSWITH] = "bstartswith",
	[FILTER_ENDSWITH] = "endswith",
	[FILTER_GLOB] = "glob", [FILTER_IGLOB] = "iglob", [FILTER_REGEX] = "regex",
	[FILTER_IN] = "in", [FILTER_INTERSECTS] = "intersects", [FILTER_PMATCH] = "pmatch",
};

static const char *const mod_names[] = {
	[FILTER_MOD_NONE] = "", [FILTER_MOD_ONEOF] = "oneof", [FILTER_MOD_ANYOF] = "anyof",
	[FILTER_MOD_ALLOF] = "allof",
};

static const char *const fn_names[FILTER_FN_MAX] = {
	[FILTER_FN_VAL] = "val", [FILTER_FN_TOLOWER] = "tolower", [FILTER_FN_TOUPPER] = "toupper",
	[FILTER_FN_B64] = "b64", [FILTER_FN_BASENAME] = "basename", [FILTER_FN_LEN] = "len",
	[FILTER_FN_JOIN] = "join", [FILTER_FN_CONCAT] = "concat", [FILTER_FN_GETOPT] = "getopt",
};
/* clang-format on */

const char *sinsp_filter_op_name(enum filter_op op)
{
	return op_names[op];
}

const char *sinsp_filter_mod_name(enum filter_mod mod)
{
	return mod_names[mod];
}

const char *sinsp_filter_fn_name(enum filter_fn fn)
{
	return fn_names[fn];
}

int sinsp_filter_fail(struct filter_ast *ast, struct filter_place at, const char *fmt, ...)
{
	struct sinsp_filter_error *err = ast->err;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	for (char *c = err->message; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '.';
	err->name = at.source->name;
	err->text = at.source->text;
	err->pos = at.pos;
	return -EINVAL;
}

static int is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

static int is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

void sinsp_lex_blanks(struct filter_lexer *lex)
{
	while (is_blank(*lex->p))
		lex->p++;
}

int sinsp_lex_char(struct filter_lexer *lex, char c)
{
	if (*lex->p != c)
		return 0;
	lex->p++;
	return 1;
}

size_t sinsp_lex_name(const struct filter_lexer *lex)
{
	size_t n = 0;

	if (isalpha((unsigned char)*lex->p) || *lex->p == '_')
		while (is_name_char(lex->p[n]))
			n++;
	return n;
}

static int is_word(const struct filter_lexer *lex, const char *word, size_t n)
{
	return !strncmp(lex->p, word, n) && !is_name_char(lex->p[n]);
}

int sinsp_lex_word(struct filter_lexer *lex, const char *word)
{
	const size_t n = strlen(word);

	if (!is_word(lex, word, n))
		return 0;
	lex->p += n;
	return 1;
}

/* "=" and "==" are the same; ">=" is one operator. */
static int lex_symbol(struct filter_lexer *lex, enum filter_op *op)
{
	static const enum filter_op one[] = {
		['<'] = FILTER_LT, ['='] = FILTER_EQ, ['>'] = FILTER_GT};
	static const enum filter_op two[] = {
		['!'] = FILTER_NE, ['<'] = FILTER_LE, ['='] = FILTER_EQ, ['>'] = FILTER_GE};
	const unsigned char c = (unsigned char)*lex->p;

	if (!c || !strchr("!<=>", c))
		return -ENOENT;
	if (lex->p[1] == '=') {
		*op = two[c];
		lex->p += 2;
		return 0;
	}
	if (c == '!')
		return -ENOENT;
	*op = one[c];
	lex->p++;
	return 0;
}

int sinsp_lex_op(struct filter_lexer *lex, enum filter_op *op)
{
	for (unsigned int i = 0; i < FILTER_OP_MAX; i++) {
		if (isalpha((unsigned char)op_names[i][0]) && sinsp_lex_word(lex, op_names[i])) {
			*op = i;
			return 0;
		}
	}
	return lex_symbol(lex, op);
}

int sinsp_lex_mod(struct filter_lexer *lex, enum filter_mod *mod)
{
	for (unsigned int i = FILTER_MOD_ONEOF; i <= FILTER_MOD_ALLOF; i++) {
		if (sinsp_lex_word(lex, mod_names[i])) {
			*mod = i;
			return 0;
		}
	}
	return -ENOENT;
}

int sinsp_lex_fn(struct filter_lexer *lex, enum filter_fn *fn)
{
	for (unsigned int i = 0; i < FILTER_FN_MAX; i++) {
		const size_t n = strlen(fn_names[i]);

		if (!strncmp(lex->p, fn_names[i], n) && lex->p[n] == '(') {
			lex->p += n + 1;
			*fn = i;
			return 0;
		}
	}
	return -ENOENT;
}

/* ---- values ---- */

static int hex_digit(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the meaning of an escape such as \n in quotes; 0: none, the backslash stays, as patterns
 * need it. */
static char control_of(char c)
{
	static const char letters[] = "bfnrt", bytes[] = "\b\f\n\r\t";
	const char *at = c ? strchr(letters, c) : NULL;

	return at ? bytes[at - letters] : 0;
}

/* Decodes the escape at p[0] to *to. Returns the bytes read. */
static size_t unescape(const char *p, int quoted, char *to, size_t *n)
{
	const int high = hex_digit(p[1] == 'x' ? p[2] : 0);
	const int low = high >= 0 ? hex_digit(p[3]) : -1;

	if (low >= 0) {
		to[(*n)++] = (char)(high << 4 | low);
		return 4;
	}
	if (p[1] == '\\' || p[1] == '"' || (quoted && (p[1] == '\'' || p[1] == '/'))) {
		to[(*n)++] = p[1];
		return 2;
	}
	if (quoted && control_of(p[1])) {
		to[(*n)++] = control_of(p[1]);
		return 2;
	}
	to[(*n)++] = '\\';
	return 1;
}

/* Copies @n bytes as written. */
static int make_word(struct filter_lexer *lex, const char *p, size_t n, int quoted,
		     struct filter_place at, struct filter_word **out)
{
	struct filter_word *w = sinsp_arena_alloc(&lex->ast->arena, sizeof(*w));
	char *to = sinsp_arena_alloc(&lex->ast->arena, n + 1);

	if (!w || !to)
		return -ENOMEM;
	*w = (struct filter_word){.p = to, .at = at, .quoted = (uint8_t)quoted};
	for (size_t i = 0; i < n;) {
		if (p[i] != '\\') {
			to[w->len++] = p[i++];
			continue;
		}
		if (p[i + 1] == 'x' &&
		    (i + 3 >= n || hex_digit(p[i + 2]) < 0 || hex_digit(p[i + 3]) < 0)) {
			at.pos = (size_t)(p + i - lex->source->text);
			return sinsp_filter_fail(lex->ast, at,
						 "\\x needs two hexadecimal digits, as in \\x1b");
		}
		i += unescape(p + i, quoted, to, &w->len);
	}
	if (++lex->ast->n_nodes > FILTER_NODES_MAX)
		return sinsp_filter_fail(lex->ast, at, "the filter has more than %d parts",
					 FILTER_NODES_MAX);
	*out = w;
	return 0;
}

static int lex_quoted(struct filter_lexer *lex, struct filter_word **out)
{
	const struct filter_place at = sinsp_lex_place(lex);
	const char quote = *lex->p++;
	const char *const from = lex->p;

	while (*lex->p && *lex->p != quote)
		lex->p += *lex->p == '\\' && lex->p[1] ? 2 : 1;
	if (!*lex->p)
		return sinsp_filter_fail(lex->ast, at, "the closing %c is missing", quote);
	return make_word(lex, from, (size_t)(lex->p++ - from), 1, at, out);
}

int sinsp_lex_value(struct filter_lexer *lex, int in_list, struct filter_word **out)
{
	const struct filter_place at = sinsp_lex_place(lex);
	const char *const from = lex->p;

	if (*lex->p == '"' || *lex->p == '\'')
		return lex_quoted(lex, out);
	while (*lex->p && !is_blank(*lex->p) && *lex->p != '(' && *lex->p != ')' &&
	       !(in_list && *lex->p == ','))
		lex->p++;
	if (lex->p == from)
		return -ENOENT;
	return make_word(lex, from, (size_t)(lex->p - from), 0, at, out);
}

/* ---- messages ---- */

static const char *nearest(const char *const *names, size_t n_names, const char *name, size_t len)
{
	char text[32];
	struct nearest near;

	if (!len || len >= sizeof(text))
		return NULL;
	memcpy(text, name, len);
	text[len] = 0;
	nearest_begin(&near, text);
	for (size_t i = 0; i < n_names; i++)
		nearest_try(&near, names[i]);
	return near.best;
}

const char *sinsp_lex_nearest_op(const char *name, size_t len)
{
	/* Operators of other languages. */
	static const struct {
		const char *theirs, *ours;
	} habits[] = {
		{"like", "glob"},
		{"matches", "regex"},
		{"is", "="},
		{"eq", "="},
		{"ne", "!="},
		{"gt", ">"},
		{"lt", "<"},
		{"ge", ">="},
		{"le", "<="},
		{"has", "contains"},
		{"includes", "contains"},
		{"prefix", "startswith"},
		{"suffix", "endswith"},
		{"equals", "="},
		{"not", "not before the field"},
	};

	for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++)
		if (strlen(habits[i].theirs) == len && !strncasecmp(habits[i].theirs, name, len))
			return habits[i].ours;
	return nearest(op_names, FILTER_OP_MAX, name, len);
}

const char *sinsp_lex_nearest_fn(const char *name, size_t len)
{
	return nearest(fn_names, FILTER_FN_MAX, name, len);
}

const char *sinsp_lex_found(const struct filter_lexer *lex, char buf[static 48])
{
	const size_t name = sinsp_lex_name(lex);
	const int is_name = is_name_char(*lex->p); /* not of a name: it begins with a digit */
	size_t n = 0;

	if (!*lex->p)
		return "the end";
	if (name)
		n = name;
	else if (strchr("(),\"'", *lex->p))
		n = 1;
	else
		while (lex->p[n] && !is_blank(lex->p[n]) && is_name_char(lex->p[n]) == is_name)
			n++;
	snprintf(buf, 48, n > 40 ? "'%.*s...'" : "'%.*s'", (int)(n > 40 ? 40 : n), lex->p);
	return buf;
}
