/* SPDX-License-Identifier: Apache-2.0 */
#include "label_text.h"

#include <ctype.h>
#include <string.h>

#include "registry.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Returns the bytes of the character at @s, 0: it is not valid UTF-8. Surrogates, overlong forms
 * and what is above U+10FFFF are not. */
static size_t utf8_len(const unsigned char *s, size_t len)
{
	const unsigned char c = s[0];
	const size_t n = c < 0x80   ? 1
			 : c < 0xc2 ? 0
			 : c < 0xe0 ? 2
			 : c < 0xf0 ? 3
			 : c < 0xf5 ? 4
				    : 0;

	if (!n || n > len)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((c == 0xe0 && s[1] < 0xa0) || (c == 0xed && s[1] > 0x9f) ||
	    (c == 0xf0 && s[1] < 0x90) || (c == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

static char *put_char(char *p, const unsigned char *s, size_t n)
{
	if (*s == '"' || *s == '\\') {
		*p++ = '\\';
		*p++ = (char)*s;
		return p;
	}
	if (*s == '\n')
		return (char *)memcpy(p, "\\n", 2) + 2;
	if (!n || *s < 0x20 || *s == 0x7f)
		return (char *)memcpy(p, REPLACEMENT, 3) + 3;
	return (char *)memcpy(p, s, n) + n;
}

char *label_put_value(char *p, const char *s, size_t len)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t n;

	if (len > METRIC_VALUE_SZ)
		len = METRIC_VALUE_SZ;
	for (; len; u += n ?: 1, len -= n ?: 1) {
		n = utf8_len(u, len);
		p = put_char(p, u, n);
	}
	return p;
}

size_t label_put_word(char *p, size_t sz, const char *s, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n < sz; i++) {
		const unsigned char c = (unsigned char)s[i];

		if (c < 0x80 && (isalnum(c) || (c && strchr("-_.:", c))))
			p[n++] = (char)c;
	}
	return n;
}
