/* SPDX-License-Identifier: Apache-2.0 */
/* The last lines of a text that grows: bounded in number and bytes, the oldest go. Lines have
 * numbers that never change. */
#ifndef SAKER_TOP_LINES_H
#define SAKER_TOP_LINES_H

#include <stddef.h>
#include <stdint.h>

enum { TOP_LINES_MAX = 100000, TOP_LINES_BYTES = 64 << 20 };

struct top_lines {
	struct top_line {
		char *text; /* owned */
		size_t len;
	} * v; /* owned: TOP_LINES_MAX of them, or NULL */
	uint64_t from, to; /* numbers of the first line that is kept, and of the next one */
	size_t bytes;
};

void top_lines_clear(struct top_lines *l); /* the next line has the number 0 */
void top_lines_fini(struct top_lines *l);
/* Appends each line of the text; the last one need not end with a newline. Returns 0 or -ENOMEM. */
int top_lines_add(struct top_lines *l, const char *text, size_t n);
/* Returns the line; NULL: it is not kept. */
const struct top_line *top_lines_at(const struct top_lines *l, uint64_t number);

#endif /* SAKER_TOP_LINES_H */
