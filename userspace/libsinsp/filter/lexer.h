/* SPDX-License-Identifier: Apache-2.0 */
/* Lexer of filters. The kind of a token depends on its place: "in" is an operator after a field and
 * a value after "="; so each function reads one kind at the cursor. */
#ifndef SINSP_FILTER_LEXER_H
#define SINSP_FILTER_LEXER_H

#include "ast.h"

struct filter_lexer {
	struct filter_ast *ast;
	const struct filter_source *source;
	const char *p; /* cursor in source->text */
};

static inline struct filter_place sinsp_lex_place(const struct filter_lexer *lex)
{
	return (struct filter_place){lex->source, (size_t)(lex->p - lex->source->text)};
}

void sinsp_lex_blanks(struct filter_lexer *lex);
/* Reads the character if it comes next. */
int sinsp_lex_char(struct filter_lexer *lex, char c);
/* Returns the length of the name at the cursor (letters, digits, '_', beginning with a letter); 0:
 * there is none. */
size_t sinsp_lex_name(const struct filter_lexer *lex);
/* Reads the word if it comes next as a whole. */
int sinsp_lex_word(struct filter_lexer *lex, const char *word);

/* Reads the operator at the cursor. Returns 0; -ENOENT: there is none. */
int sinsp_lex_op(struct filter_lexer *lex, enum filter_op *op);
int sinsp_lex_mod(struct filter_lexer *lex, enum filter_mod *mod);
/* Reads a transformer's name and the '(' after it. */
int sinsp_lex_fn(struct filter_lexer *lex, enum filter_fn *fn);

/* Reads a value, quoted or bare; @in_list: a bare one ends at a comma. Returns 0, -ENOENT: there is
 * none, or the result of sinsp_filter_fail. */
int sinsp_lex_value(struct filter_lexer *lex, int in_list, struct filter_word **out);

/* Returns the nearest operator or keyword for "did you mean"; NULL: none is near. */
const char *sinsp_lex_nearest_op(const char *name, size_t len);
const char *sinsp_lex_nearest_fn(const char *name, size_t len);

/* Returns the token at the cursor, for messages: "'foo'", "the end". */
const char *sinsp_lex_found(const struct filter_lexer *lex, char buf[static 48]);

#endif /* SINSP_FILTER_LEXER_H */
