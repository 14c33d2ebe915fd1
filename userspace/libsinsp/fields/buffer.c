/* SPDX-License-Identifier: Apache-2.0 */
/* Prints bytes of I/O buffers: as dots, as text, as a hex dump, in base64. */
#include "buffer.h"

#include "text.h"

static char *put_dots(char *p, const uint8_t *s, uint32_t n, uint32_t max)
{
	if (n <= max)
		return put_dotting(p, (const char *)s, n);
	p = put_dotting(p, (const char *)s, max);
	if (max > 3)
		memcpy(p - 3, "...", 3);
	return p;
}

/* Writes printable text with its lines; \r\n is one line end. */
static char *put_ascii(char *p, const uint8_t *s, uint32_t n)
{
	*p++ = '\n';
	for (uint32_t i = 0; i < n; i++) {
		if (s[i] - 0x20u < 0x5f)
			*p++ = (char)s[i];
		else if (s[i] == '\r' || (s[i] == '\n' && i && s[i - 1] != '\r'))
			*p++ = '\n';
	}
	return p;
}

/* Writes one line of a dump: up to 16 bytes, in groups of two. */
static char *put_hex_line(char *p, const uint8_t *s, uint32_t at, uint32_t n, int ascii)
{
	static const char digits[16] = "0123456789abcdef";

	p = put_lit(p, "\n\t0x");
	for (uint32_t top = 0x1000; top > at && top > 1; top >>= 4)
		*p++ = '0';
	p = put_hex(p, at);
	*p++ = ':';
	for (uint32_t i = 0; i < n; i++) {
		if (!(i & 1))
			*p++ = ' ';
		*p++ = digits[s[i] >> 4];
		*p++ = digits[s[i] & 15];
	}
	if (!ascii)
		return p;
	/* As in sysdig, missing groups are padded, but half a group is not. */
	for (uint32_t group = (n + 1) / 2; group < 8; group++)
		p = put_lit(p, "     ");
	p = put_lit(p, "  ");
	return put_dotting(p, (const char *)s, n);
}

static char *put_hex_dump(char *p, const uint8_t *s, uint32_t n, int ascii)
{
	for (uint32_t at = 0; at < n; at += 16)
		p = put_hex_line(p, s + at, at, n - at < 16 ? n - at : 16, ascii);
	*p = '\n';
	return p + 1;
}

static char *put_base64(char *p, const uint8_t *s, uint32_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (uint32_t i = 0; i < n; i += 3) {
		const uint32_t b = n - i > 1 ? s[i + 1] : 0, c = n - i > 2 ? s[i + 2] : 0;
		const uint32_t bits = (uint32_t)s[i] << 16 | b << 8 | c;

		p[0] = digits[bits >> 18];
		p[1] = digits[bits >> 12 & 63];
		p[2] = n - i > 1 ? digits[bits >> 6 & 63] : '=';
		p[3] = n - i > 2 ? digits[bits & 63] : '=';
		p += 4;
	}
	return p;
}

size_t sinsp_buffer_room(uint32_t n)
{
	/* A line of a dump is at most 72 characters. */
	return (size_t)(n / 16 + 1) * 72 + n + 1;
}

char *sinsp_buffer_put(char *p, const uint8_t *s, uint32_t n, enum sinsp_buf_fmt fmt, uint32_t max)
{
	if (!n)
		return p;
	switch (fmt) {
	case SINSP_BUF_ASCII:
		return put_ascii(p, s, n);
	case SINSP_BUF_HEX:
		return put_hex_dump(p, s, n, 0);
	case SINSP_BUF_HEXASCII:
		return put_hex_dump(p, s, n, 1);
	case SINSP_BUF_BASE64:
		return put_base64(p, s, n);
	default:
		return put_dots(p, s, n, max);
	}
}
