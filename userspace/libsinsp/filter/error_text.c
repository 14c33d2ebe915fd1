/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the line of a filter with the error, and a caret below the place. */
#include <errno.h>
#include <stdlib.h>

#include "fields/text.h"
#include "fields/text_columns.h"
#include "filter.h"

#define SHOWN_BEFORE 48 /* bytes of the line before and after the place */
#define SHOWN_AFTER 28

static int is_shown(char c)
{
	return (unsigned char)c >= 0x20 && c != 0x7f;
}

/* Returns whether a character begins here: no continuation byte of UTF-8. */
static int is_first_byte(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

int sinsp_filter_error_lines(struct sinsp_text *out, const struct sinsp_filter_error *err)
{
	const char *const at = err->text + err->pos;
	const char *from = at, *end = at;
	uint32_t columns;
	char *p = text_begin(out, 2 * (SHOWN_BEFORE + SHOWN_AFTER) + 16);

	if (!p)
		return -ENOMEM;
	while (from > err->text && from[-1] != '\n' && at - from < SHOWN_BEFORE)
		from--;
	while (from < at && !is_first_byte(*from))
		from++;
	while (*end && *end != '\n' && end - at < SHOWN_AFTER)
		end++;
	while (end > at && !is_first_byte(*end))
		end--;
	p = put_lit(p, "  ");
	for (const char *c = from; c < end; c++)
		*p++ = is_shown(*c) ? *c : ' ';
	p = put_lit(p, "\n  ");
	text_fit(from, (size_t)(at - from), UINT32_MAX, &columns);
	memset(p, ' ', columns);
	p += columns;
	p = put_lit(p, "^\n");
	return text_end(out, p);
}
