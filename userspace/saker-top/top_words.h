/* SPDX-License-Identifier: Apache-2.0 */
/* The completion of filters: what the word before the cursor is, and the words that begin as it
 * does. No screen. */
#ifndef SAKER_TOP_WORDS_H
#define SAKER_TOP_WORDS_H

#include <stddef.h>

enum top_word { TOP_WORD_FIELD, TOP_WORD_OPERATOR, TOP_WORD_VALUE, TOP_WORD_CONNECTIVE };

/* The unfinished word at the end of a text. */
struct top_place_of_word {
	enum top_word kind;
	size_t begin; /* of the word, with its quote */
	size_t field, field_len; /* of a value: the field that it is compared with */
};

/* Returns whether the @n bytes at @s are the word. */
int top_is_word(const char *word, const char *s, size_t n);

/* Finds the word that the first @n bytes of a filter end with; it may be empty. */
void top_word_at(struct top_place_of_word *at, const char *text, size_t n);

/* A set of texts that begin with a prefix. */
struct top_words {
	char **v; /* owned, as the texts; sorted by top_words_sort */
	size_t n, cap;
};

/* Adds a copy of a text if it begins with the prefix. Returns 0 or -ENOMEM. */
int top_words_add(struct top_words *w, const char *text, size_t n, const char *prefix, size_t k);
/* Sorts the texts, and removes those that are there twice. */
void top_words_sort(struct top_words *w);
/* Returns the length of what all begin with. */
size_t top_words_common(const struct top_words *w);
void top_words_fini(struct top_words *w);

#endif /* SAKER_TOP_WORDS_H */
