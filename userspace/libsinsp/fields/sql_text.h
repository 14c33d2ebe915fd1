/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of what statements in SQL consist of. */
#ifndef SINSP_FIELDS_SQL_TEXT_H
#define SINSP_FIELDS_SQL_TEXT_H

#include <ctype.h>
#include <string.h>

static inline int sql_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Returns the end of a quoted text that begins at @i. A quote inside is doubled, or escaped if
 * @escapes. */
static inline size_t sql_end_of_quoted(const char *p, size_t n, size_t i, int escapes)
{
	const char quote = p[i++];

	while (i < n) {
		if (escapes && p[i] == '\\' && i + 1 < n)
			i += 2;
		else if (p[i] != quote)
			i++;
		else if (i + 1 < n && p[i + 1] == quote)
			i += 2;
		else
			return i + 1;
	}
	return n;
}

/* Returns the end of a comment that begins at @i, or @i if none does. */
static inline size_t sql_end_of_comment(const char *p, size_t n, size_t i)
{
	const char *end;

	if (i + 1 >= n)
		return i;
	if (p[i] == '/' && p[i + 1] == '*') {
		end = memmem(p + i + 2, n - i - 2, "*/", 2);
		return end ? (size_t)(end - p) + 2 : n;
	}
	if (p[i] == '-' && p[i + 1] == '-') {
		end = memchr(p + i, '\n', n - i);
		return end ? (size_t)(end - p) + 1 : n;
	}
	return i;
}

#endif /* SINSP_FIELDS_SQL_TEXT_H */
