/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SAKER_WRAP_H
#define SAKER_WRAP_H

#include <stdio.h>

enum { WRAP_WIDTH = 80 };

/* Writes @text wrapped, from @column on, where the first line already is, and a newline. */
void put_wrapped(FILE *f, const char *text, int column);
void put_wrapped_to(FILE *f, const char *text, int column, int width); /* instead of WRAP_WIDTH */

/* Returns the columns of the terminal @f; WRAP_WIDTH if it is none. */
int terminal_width(FILE *f);

#endif /* SAKER_WRAP_H */
