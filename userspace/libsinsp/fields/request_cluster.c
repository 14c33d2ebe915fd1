/* SPDX-License-Identifier: Apache-2.0 */
#include "request_cluster.h"

#include <ctype.h>
#include <string.h>

#include "sql_text.h"

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
	return !i || !sql_is_word(p[i - 1]);
}

size_t request_query(char *out, const char *p, size_t len)
{
	size_t n = 0, i = 0, end;

	while (i < len) {
		end = sql_end_of_comment(p, len, i);
		if (end > i || isspace((unsigned char)p[i])) {
			i = end > i ? end : i + 1;
			if (n && out[n - 1] != ' ')
				out[n++] = ' ';
		} else if (is_literal(p, len, i)) {
			i = p[i] == '\'' ? sql_end_of_quoted(p, len, i, 1)
					 : end_of_number(p, len, i + 1);
			n = put_literal(out, n);
		} else if (p[i] == '"' || p[i] == '`') {
			end = sql_end_of_quoted(p, len, i, 1);
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
