/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 characters that are safe on a terminal. */
#ifndef SINSP_STATE_UTF8_H
#define SINSP_STATE_UTF8_H

#include <stddef.h>

/*
 * Returns the length of the UTF-8 character at @s of @n bytes, or 0 if it must not be printed:
 * invalid bytes, overlong encodings, surrogates, and the controls U+0080 to U+009F, which terminals
 * obey like ESC. ASCII is not handled.
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
	if ((s[0] == 0xc2 && s[1] < 0xa0) || (s[0] == 0xe0 && s[1] < 0xa0) ||
	    (s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] >= 0x90))
		return 0;
	return len;
}

#endif /* SINSP_STATE_UTF8_H */
