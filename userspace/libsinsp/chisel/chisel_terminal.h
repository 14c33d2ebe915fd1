/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a chisel prints to a terminal, which obeys bytes: a capture has bytes of others, and they
 * must not speak to it. A chisel may move the cursor and set colours until it was handed captured
 * bytes of the kind that do so; from then on such bytes print as dots, whoever wrote them. What it
 * says by chisel_terminal_control is its own for certain, and can do no more than move and clear;
 * so are colours of chisel_terminal_colour, which bear a number that nobody else knows.
 */
#ifndef SINSP_CHISEL_CHISEL_TERMINAL_H
#define SINSP_CHISEL_CHISEL_TERMINAL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { CHISEL_COLOUR_MAX = 48 };

struct chisel_terminal {
	uint64_t secret; /* in colours of its own; 0: none was made yet */
	uint8_t on; /* the output is one */
	uint8_t seen; /* kinds of bytes that the chisel was handed */
	uint8_t hidden; /* the cursor is */
};

/* Makes text of a colour: numbers as in ESC [ numbers m, of those that colour, brighten, dim,
 * underline or reset. -EINVAL: @numbers are something else, too. */
int chisel_terminal_colour(struct chisel_terminal *t, char out[CHISEL_COLOUR_MAX],
			   const char *numbers);
/* Captured bytes become a value of the chisel. */
void chisel_terminal_note(struct chisel_terminal *t, const char *p, size_t len);
/* Whole texts: a colour in two pieces is none. */
void chisel_terminal_put(struct chisel_terminal *t, FILE *out, const char *p, size_t len);
/* Sequences that move the cursor, show or hide it, or clear. -EINVAL: @p is something else, too. */
int chisel_terminal_control(struct chisel_terminal *t, FILE *out, const char *p, size_t len);
/* The chisel ends: a cursor that it hid is shown. */
void chisel_terminal_fini(struct chisel_terminal *t, FILE *out);
/* The same in a signal handler, after which nothing else is written. */
void chisel_terminal_show(const struct chisel_terminal *t, int fd);

#endif /* SINSP_CHISEL_CHISEL_TERMINAL_H */
