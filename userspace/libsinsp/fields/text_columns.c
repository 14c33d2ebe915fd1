/* SPDX-License-Identifier: Apache-2.0 */
/* Columns that text takes on a terminal. */
#include "text_columns.h"

#include <locale.h>
#include <pthread.h>
#include <wchar.h>

#include "utf8.h"

static pthread_once_t utf8_once = PTHREAD_ONCE_INIT;
static locale_t utf8; /* the process may run in another locale; 0: not installed */

static void load_utf8(void)
{
	utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

/* Returns the code point of a valid character of @n bytes, at least 2. */
static wchar_t code_point(const unsigned char *s, size_t n)
{
	wchar_t c = s[0] & (0x7f >> n);

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (s[i] & 0x3f);
	return c;
}

/* Returns the columns of the character at @s, and its bytes in *len. */
static uint32_t columns_at(const unsigned char *s, size_t n, size_t *len)
{
	int width;

	*len = *s < 0x80 ? 1 : sinsp_utf8_len(s, n);
	if (*len < 2) {
		*len = 1;
		return 1;
	}
	width = utf8 ? wcwidth(code_point(s, *len)) : 1;
	return width < 0 ? 1 : (uint32_t)width; /* -1: newer than the tables */
}

static size_t fit_utf8(const unsigned char *s, size_t n, uint32_t width, uint32_t *columns)
{
	locale_t before = (locale_t)0;
	size_t at = 0, len;

	pthread_once(&utf8_once, load_utf8);
	if (utf8)
		before = uselocale(utf8);
	for (; at < n; at += len) {
		const uint32_t more = columns_at(s + at, n - at, &len);

		if (*columns + more > width)
			break;
		*columns += more;
	}
	if (utf8)
		uselocale(before);
	return at;
}

size_t text_fit(const char *s, size_t n, uint32_t width, uint32_t *columns)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t at = 0;

	while (at < n && at < width && u[at] < 0x80)
		at++;
	*columns = (uint32_t)at;
	if (at == n || u[at] < 0x80)
		return at;
	return at + fit_utf8(u + at, n - at, width, columns);
}
