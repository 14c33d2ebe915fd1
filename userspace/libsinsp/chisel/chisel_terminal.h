/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a chisel prints to a terminal, which obeys bytes: a capture has bytes of others, and they
 * must not speak to it. A chisel may move the cursor until it was handed captured bytes of the
 * kind that do so; from then on such bytes print as dots, whoever wrote them, but colours.
 */
#ifndef SINSP_CHISEL_CHISEL_TERMINAL_H
#define SINSP_CHISEL_CHISEL_TERMINAL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct chisel_terminal {
	uint8_t on; /* the output is one */
	uint8_t seen; /* kinds of bytes that the chisel was handed */
};

/* Captured bytes become a value of the chisel. */
void chisel_terminal_note(struct chisel_terminal *t, const char *p, size_t len);
/* Whole texts: a colour in two pieces is none. */
void chisel_terminal_put(const struct chisel_terminal *t, FILE *out, const char *p, size_t len);

#endif /* SINSP_CHISEL_CHISEL_TERMINAL_H */
