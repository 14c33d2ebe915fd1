/* SPDX-License-Identifier: Apache-2.0 */
#include "request_cluster.h"

#include <ctype.h>
#include <string.h>

enum { NAME_MAX_LEN = 25 }; /* longer segments of a path are identifiers */

/* ---- paths ---- */

/* Returns whether the segment is a name: letters with at most one number behind them, as in "v1" or
 * "item.html"; not a number, a hash, a token or a name of escaped characters. */
static int is_name(const char *p, size_t n)
{
	size_t digits = 0;

	if (n > NAME_MAX_LEN)
		return 0;
	for (size_t i = 0; i < n; i++) {
		const unsigned char c = (unsigned char)p[i];

		if (c >= '0' && c <= '9')
			digits++;
		else if (c == '%' || c >= 0x80 || c == '@' || c == ':' || c == '=')
			return 0;
	}
	return digits < n && digits <= 2;
}

static size_t end_of_path(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && p[i] != '?' && p[i] != '#' && p[i] != ' ')
		i++;
	return i;
}

size_t request_route(char *out, const char *p, size_t len)
{
	const size_t end = end_of_path(p, len);
	size_t n = 0, at = 0;

	while (at < end) {
		const char *slash = memchr(p + at, '/', end - at);
		const size_t seg = slash ? (size_t)(slash - p) - at : end - at;

		if (seg && !is_name(p + at, seg)) {
			out[n++] = '*';
		} else {
			memcpy(out + n, p + at, seg);
			n += seg;
		}
		at += seg;
		if (slash) {
			out[n++] = '/';
			at++;
		}
	}
	return n;
}

/* ---- statements ---- */

static int is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Returns the end of a quoted text that begins at @i. A quote inside is doubled, or escaped. */
static size_t end_of_quoted(const char *p, size_t n, size_t i)
{
	const char quote = p[i++];

	while (i < n) {
		if (p[i] == '\\' && i + 1 < n) {
			i += 2;
		} else if (p[i] == quote) {
			if (i + 1 >= n || p[i + 1] != quote)
				return i + 1;
			i += 2;
		} else {
			i++;
		}
	}
	return n;
}

/* Returns the end of a comment that begins at @i, or @i if none does. */
static size_t end_of_comment(const char *p, size_t n, size_t i)
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

static size_t end_of_number(const char *p, size_t n, size_t i)
{
	while (i < n && (isalnum((unsigned char)p[i]) || p[i] == '.' ||
			 ((p[i] == '-' || p[i] == '+') && (p[i - 1] == 'e' || p[i - 1] == 'E'))))
		i++;
	return i;
}

/* Writes the literal as "?". One behind "?," is of a list that has one already. */
static size_t put_literal(char *out, size_t n)
{
	size_t i = n;

	while (i && out[i - 1] == ' ')
		i--;
	if (i && out[i - 1] == ',') {
		i--;
		while (i && out[i - 1] == ' ')
			i--;
		if (i && out[i - 1] == '?')
			return i;
	}
	out[n] = '?';
	return n + 1;
}

static int is_literal(const char *p, size_t n, size_t i)
{
	if (p[i] == '\'')
		return 1;
	if (!isdigit((unsigned char)p[i]) &&
	    !(p[i] == '.' && i + 1 < n && isdigit((unsigned char)p[i + 1])))
		return 0;
	return !i || !is_word(p[i - 1]);
}

size_t request_query(char *out, const char *p, size_t len)
{
	size_t n = 0, i = 0, end;

	while (i < len) {
		end = end_of_comment(p, len, i);
		if (end > i || isspace((unsigned char)p[i])) {
			i = end > i ? end : i + 1;
			if (n && out[n - 1] != ' ')
				out[n++] = ' ';
		} else if (is_literal(p, len, i)) {
			i = p[i] == '\'' ? end_of_quoted(p, len, i) : end_of_number(p, len, i + 1);
			n = put_literal(out, n);
		} else if (p[i] == '"' || p[i] == '`') {
			end = end_of_quoted(p, len, i);
			memcpy(out + n, p + i, end - i);
			n += end - i;
			i = end;
		} else {
			out[n++] = p[i++];
		}
	}
	while (n && out[n - 1] == ' ')
		n--;
	return n;
}
