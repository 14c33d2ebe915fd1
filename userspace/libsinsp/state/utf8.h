/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 characters that are safe on a terminal. */
#ifndef SINSP_STATE_UTF8_H
#define SINSP_STATE_UTF8_H

#include <stddef.h>

/*
 * Returns the length of the character at @s, or 0 if it is not one of these: the controls U+0080 to
 * U+009F, which terminals obey like ESC, and U+202A to U+202E and U+2066 to U+2069, which change
 * the direction of what follows on the line.
 */
static inline size_t sinsp_utf8_control_len(const unsigned char *s, size_t n)
{
	if (s[0] == 0xc2)
		return n > 1 && s[1] >= 0x80 && s[1] < 0xa0 ? 2 : 0;
	if (s[0] != 0xe2 || n < 3)
		return 0;
	return (s[1] == 0x80 && s[2] >= 0xaa && s[2] <= 0xae) ||
			       (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9)
		       ? 3
		       : 0;
}

/*
 * Returns the length of the UTF-8 character at @s of @n bytes, or 0 if it must not be printed:
 * invalid bytes, overlong encodings, surrogates, and controls. ASCII is not handled.
 */
static inline size_t sinsp_utf8_len(const unsigned char *s, size_t n)
{
	const size_t len = s[0] < 0xc2   ? 0
			   : s[0] < 0xe0 ? 2
			   : s[0] < 0xf0 ? 3
			   : s[0] < 0xf5 ? 4
					 : 0;

	if (!len || len > n)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	}
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
		return 0;
	return sinsp_utf8_control_len(s, n) ? 0 : len;
}

#endif /* SINSP_STATE_UTF8_H */
