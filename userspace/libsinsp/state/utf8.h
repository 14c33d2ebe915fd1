/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes of a name may be shown to a terminal. */
#ifndef SINSP_STATE_UTF8_H
#define SINSP_STATE_UTF8_H

#include <stddef.h>

/*
 * Length of the UTF-8 character at @s of @n bytes, 0 if there is none that may be shown: bytes
 * that are not UTF-8, encodings longer than needed, surrogates, and the controls U+0080 to U+009f,
 * which terminals obey as they do ESC. ASCII is not its business.
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
