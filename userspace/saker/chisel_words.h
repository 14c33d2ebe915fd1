/* SPDX-License-Identifier: Apache-2.0 */
/* The words of the command line behind -c NAME. */
#ifndef SAKER_CHISEL_WORDS_H
#define SAKER_CHISEL_WORDS_H

#include "chisels.h"

/* Opens chisel @i of @o with its arguments; marks its words in @assigned, a byte for each word.
 * Returns 0, or a negative errno after reporting it. */
int chisels_open_one(struct chisels *cs, const struct options *o, size_t i, char *assigned);

/* Joins the words from @from on with spaces, without those marked in @skip (NULL: none). Owned;
 * NULL: no memory. */
char *chisels_join_words(const struct text_list *words, size_t from, const char *skip);

#endif /* SAKER_CHISEL_WORDS_H */
