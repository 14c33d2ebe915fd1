/* SPDX-License-Identifier: Apache-2.0 */
/* Grows a text, and copies text of other programs without control characters. */
#include "text.h"

#include <stdlib.h>

#include "utf8.h"

/* clang-format off */
const char sinsp_two_digits[200] =
	"00010203040506070809" "10111213141516171819" "20212223242526272829"
	"30313233343536373839" "40414243444546474849" "50515253545556575859"
	"60616263646566676869" "70717273747576777879" "80818283848586878889"
	"90919293949596979899";
/* clang-format on */

char *sinsp_text_grow(struct sinsp_text *t, char *p, size_t n)
{
	const size_t used = p ? (size_t)(p - t->p) : 0;
	size_t cap = t->cap < 4096 ? 4096 : t->cap;
	char *moved;

	while (cap - used < n) {
		if (__builtin_mul_overflow(cap, 2, &cap))
			return NULL;
	}
	moved = realloc(t->p, cap);
	if (!moved)
		return NULL;
	t->p = moved;
	t->cap = cap;
	return moved + used;
}

char *sinsp_put_long(char *p, uint64_t v)
{
	const uint64_t over = v / 100000000;

	p = over < 100000000
		    ? put_u64(p, over)
		    : put_8digits(put_u64(p, over / 100000000), (uint32_t)(over % 100000000));
	return put_8digits(p, (uint32_t)(v % 100000000));
}

static bool printable(unsigned char c)
{
	return (unsigned char)(c - 0x20) < 0x5f; /* in a byte: a vector has more of them */
}

/* Copies up to the first unprintable byte; returns the number of bytes. */
static size_t copy_printable(char *restrict p, const char *restrict s, size_t n)
{
	size_t i = copy_words(p, s, n, all_printable);

	for (; i < n && printable((unsigned char)s[i]); i++)
		p[i] = s[i];
	return i;
}

char *put_dropping(char *restrict p, const char *restrict s, size_t n)
{
	const size_t done = copy_printable(p, s, n);

	p += done;
	for (size_t i = done; i < n; i++) {
		if (printable((unsigned char)s[i]))
			*p++ = s[i];
	}
	return p;
}

/* Has no branch, so that the compiler vectorizes it: payloads mix both kinds of bytes. */
char *put_dotting(char *restrict p, const char *restrict s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = printable((unsigned char)s[i]) ? s[i] : '.';
	return p + n;
}

char *put_utf8(char *restrict p, const char *restrict s, size_t n)
{
	size_t i = copy_printable(p, s, n);

	p += i;
	while (i < n) {
		const size_t len = printable((unsigned char)s[i])
					   ? 1
					   : sinsp_utf8_len((const unsigned char *)s + i, n - i);

		if (!len) {
			*p++ = '.';
			i++;
			continue;
		}
		for (size_t j = 0; j < len; j++)
			*p++ = s[i + j];
		i += len;
	}
	return p;
}
