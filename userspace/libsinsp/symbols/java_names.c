/* SPDX-License-Identifier: Apache-2.0 */
#include "java_names.h"

#include <string.h>

#include "shared/interp.h"

#define NEW_NUMBERS 20 /* from this version on each byte of a number is 1 more */
#define NUMBER_SZ 5 /* bytes at most */
#define NUMBER_LAST 192 /* a byte below ends a number */
#define NUMBER_BITS 6
#define ESCAPE 0xff /* two numbers follow: differences of bytes and lines */

char *java_put_method(char *to, const struct java_method *m)
{
	for (size_t i = 0; i < m->class_len && m->class_name[i] != '+'; i++)
		*to++ = m->class_name[i] == '/' ? '.' : (char)m->class_name[i];
	if (m->name_len) {
		if (m->class_len)
			*to++ = '.';
		to = mempcpy(to, m->name, m->name_len);
	}
	*to++ = '\0';
	return to;
}

/* Reads a signed number at *i. Returns not 0 if the table ends before. */
static int read_number(const struct java_line_table *t, size_t *i, int32_t *to)
{
	const uint8_t bias = t->feature >= NEW_NUMBERS;
	uint32_t sum = 0;

	for (unsigned int k = 0; k < NUMBER_SZ; k++) {
		uint8_t byte;

		if (*i >= t->n)
			return -1;
		byte = t->bytes[(*i)++];
		sum += (uint32_t)(byte - bias) << k * NUMBER_BITS;
		if (byte < NUMBER_LAST)
			break;
	}
	*to = (int32_t)(sum >> 1 ^ -(sum & 1));
	return 0;
}

uint32_t java_line(const struct java_line_table *t, uint32_t bci)
{
	uint32_t at = 0, line = 0, best = 0, found = 0;
	int32_t bytes, lines;
	size_t i = 0;

	if (bci >= INTERP_JAVA_NO_POSITION)
		return 0;
	while (i < t->n && t->bytes[i]) {
		const uint8_t byte = t->bytes[i++];

		bytes = byte >> 3;
		lines = byte & 7;
		if (byte == ESCAPE && (read_number(t, &i, &bytes) || read_number(t, &i, &lines)))
			break;
		at += (uint32_t)bytes;
		line += (uint32_t)lines;
		if (at == bci)
			return line;
		/* Entries need not ascend. */
		if (at < bci && at >= best) {
			best = at;
			found = line;
		}
	}
	return i < t->n || !t->n ? found : 0;
}
