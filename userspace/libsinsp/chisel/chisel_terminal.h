/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters what a chisel prints to a terminal. Captured bytes may contain terminal sequences. A
 * chisel may print sequences for cursor and colours until it received captured bytes of that kind;
 * from then on all such bytes are printed as dots. sysdig.control_terminal can only move and clear;
 * colours of sysdig.color contain a secret number, and always work.
 */
#ifndef SINSP_CHISEL_CHISEL_TERMINAL_H
#define SINSP_CHISEL_CHISEL_TERMINAL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { CHISEL_COLOUR_MAX = 48 };

struct chisel_terminal {
	uint64_t secret; /* in its own colours; 0: none yet */
	uint8_t on; /* the output is a terminal */
	uint8_t seen; /* kinds of bytes that the chisel received */
	uint8_t hidden; /* the cursor is hidden */
};

/* Writes a colour sequence for numbers as in ESC [ numbers m. Returns -EINVAL if they do anything
 * except colour, brighten, dim, underline or reset. */
int chisel_terminal_colour(struct chisel_terminal *t, char out[CHISEL_COLOUR_MAX],
			   const char *numbers);
/* Called when captured bytes become a value of the chisel. */
void chisel_terminal_note(struct chisel_terminal *t, const char *p, size_t len);
/* Prints a whole text: a colour in two parts is not recognized. */
void chisel_terminal_put(struct chisel_terminal *t, FILE *out, const char *p, size_t len);
/* Prints sequences that move the cursor, show or hide it, or clear. Returns -EINVAL for others. */
int chisel_terminal_control(struct chisel_terminal *t, FILE *out, const char *p, size_t len);
/* Shows a hidden cursor at the end of the chisel. */
void chisel_terminal_fini(struct chisel_terminal *t, FILE *out);
/* Like chisel_terminal_fini, in a signal handler that ends the process. */
void chisel_terminal_show(const struct chisel_terminal *t, int fd);

#endif /* SINSP_CHISEL_CHISEL_TERMINAL_H */
