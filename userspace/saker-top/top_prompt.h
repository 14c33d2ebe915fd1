/* SPDX-License-Identifier: Apache-2.0 */
/* A line that the user edits: no screen. The cursor stands between whole characters. */
#ifndef SAKER_TOP_PROMPT_H
#define SAKER_TOP_PROMPT_H

#include <stddef.h>

enum { TOP_PROMPT_SZ = 4096 };

struct top_prompt {
	char text[TOP_PROMPT_SZ]; /* ends with 0 */
	size_t len, cursor; /* bytes */
};

enum top_prompt_result { TOP_PROMPT_GOES_ON, TOP_PROMPT_DONE, TOP_PROMPT_CANCELLED };

void top_prompt_set(struct top_prompt *p, const char *text);
/* Handles a code of ncurses, or a byte of a character. */
enum top_prompt_result top_prompt_key(struct top_prompt *p, int code);

#endif /* SAKER_TOP_PROMPT_H */
