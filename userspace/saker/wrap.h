/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SAKER_WRAP_H
#define SAKER_WRAP_H

#include <stdio.h>

enum { WRAP_WIDTH = 80 };

/* Writes @text in words from @column on, where the first line already stands, and a newline. */
void put_wrapped(FILE *f, const char *text, int column);
void put_wrapped_to(FILE *f, const char *text, int column, int width); /* not WRAP_WIDTH */

/* Columns of the terminal behind @f; WRAP_WIDTH if there is none. */
int terminal_width(FILE *f);

#endif /* SAKER_WRAP_H */
