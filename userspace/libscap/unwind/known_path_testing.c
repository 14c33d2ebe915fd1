/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/known_path_test.h"

#include <string.h>

struct check {
	const struct known_path *p;
	const uint64_t *frames;
	size_t n;
};

const struct known_path *known_path_find(const void *stack, size_t sz)
{
	const uint64_t *words = stack;

	for (size_t i = 0; (i + 1) * 8 <= sz && sz - i * 8 >= sizeof(struct known_path); i++) {
		int k = 0;

		while (k < KNOWN_MAGIC_SZ && words[i + (size_t)k] == KNOWN_MAGIC(k))
			k++;
		if (k == KNOWN_MAGIC_SZ)
			return (const struct known_path *)(words + i);
	}
	return NULL;
}

static int keeps_path(const struct check *c, size_t i)
{
	const uint64_t frame = c->frames[i];

	/* A call may be a function's last instruction. */
	return STACK_ADDR(frame) - !(frame & STACK_EXACT) - c->p->text <
	       c->p->text_end - c->p->text;
}

/* Frames from @i on, of which the first @left functions of the path are to be the rest. */
static int follow(const struct check *c, size_t i, uint64_t left)
{
	for (; i < c->n; i++) {
		if (!keeps_path(c, i))
			continue; /* a library's, between its caller and what it calls back */
		/* Interrupted anywhere: perhaps it is not in the path yet, or no longer. */
		if (c->frames[i] & STACK_EXACT && follow(c, i + 1, left))
			return 1;
		if (!left || i + 1 == c->n || STACK_ADDR(c->frames[i + 1]) != c->p->ra[left - 1])
			return 0;
		left--;
	}
	return !left;
}

const char *known_path_check(const struct known_path *p, const uint64_t *frames, size_t n,
			     uint32_t end)
{
	const struct check c = {p, frames, n};

	if (p->n > KNOWN_MAX)
		return "the path itself is no path";
	if (end != STACK_END_ROOT)
		return "the root was not reached";
	return follow(&c, 0, p->n) ? NULL : "another path";
}
