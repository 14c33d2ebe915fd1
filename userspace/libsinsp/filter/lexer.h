/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pieces of a filter's text. What a piece is depends on where it stands: "in" is an operator behind
 * a field and a value behind "="; so each function reads one kind at the cursor.
 */
#ifndef SINSP_FILTER_LEXER_H
#define SINSP_FILTER_LEXER_H

#include "ast.h"

struct filter_lexer {
	struct filter_ast *ast;
	const struct filter_source *source;
	const char *p; /* the cursor in source->text */
};

static inline struct filter_place sinsp_lex_place(const struct filter_lexer *lex)
{
	return (struct filter_place){lex->source, (size_t)(lex->p - lex->source->text)};
}

void sinsp_lex_blanks(struct filter_lexer *lex);
/* Reads the character if it is the next. */
int sinsp_lex_char(struct filter_lexer *lex, char c);
/* Length of the name at the cursor, letters, digits, '_', beginning with a letter; 0: there is
 * none. */
size_t sinsp_lex_name(const struct filter_lexer *lex);
/* Reads the word if it is the next, and not just the beginning of a longer one. */
int sinsp_lex_word(struct filter_lexer *lex, const char *word);

/* The operator at the cursor. 0; -ENOENT: there is none. */
int sinsp_lex_op(struct filter_lexer *lex, enum filter_op *op);
int sinsp_lex_mod(struct filter_lexer *lex, enum filter_mod *mod);
/* The transformer's name with the '(' behind it. */
int sinsp_lex_fn(struct filter_lexer *lex, enum filter_fn *fn);

/* A value, quoted or bare; @in_list: a bare one ends at a comma. 0, -ENOENT: there is none, or what
 * sinsp_filter_fail says. */
int sinsp_lex_value(struct filter_lexer *lex, int in_list, struct filter_word **out);

/* "did you mean" among operators and keywords; NULL: nothing is near. */
const char *sinsp_lex_nearest_op(const char *name, size_t len);
const char *sinsp_lex_nearest_fn(const char *name, size_t len);

/* What stands at the cursor, for messages: "'foo'", "the end". */
const char *sinsp_lex_found(const struct filter_lexer *lex, char buf[static 48]);

#endif /* SINSP_FILTER_LEXER_H */
