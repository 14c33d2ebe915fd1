/* SPDX-License-Identifier: Apache-2.0 */
/* The filter for terminal sequences in the output of chisels. */
#include "chisel_terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hash.h"
#include "utf8.h"

#define SHOW_CURSOR "\x1b[?25h"

/* Effect of a byte on a terminal. */
enum { HARMLESS = 0, ESCAPES = 1, RETURNS = 2, CONTROLS = 4 };

static unsigned int kind_of(unsigned char c)
{
	if (c == '\n' || c == '\t' || (c >= 0x20 && c < 0x7f))
		return HARMLESS;
	if (c == '\r')
		return RETURNS;
	/* ESC, and bytes that are not UTF-8: 0x9b acts as ESC [. */
	return c == 0x1b || c >= 0x80 ? ESCAPES : CONTROLS;
}

/* Returns the length of a run of one kind. */
static size_t next_kind(const char *p, size_t len, unsigned int *kind)
{
	const unsigned char *u = (const unsigned char *)p;
	const size_t n = *u >= 0x80 ? sinsp_utf8_len(u, len) : 0;

	*kind = n ? HARMLESS : kind_of(*u);
	return n ? n : 1;
}

void chisel_terminal_note(struct chisel_terminal *t, const char *p, size_t len)
{
	unsigned int kind;

	if (!t->on)
		return;
	for (size_t i = 0; i < len; i += next_kind(p + i, len - i, &kind), t->seen |= kind)
		;
}

static size_t digits_len(const char *p)
{
	return strspn(p, "0123456789");
}

/* Returns the length of one of 256 colours after 38 or 48; 0: something else. */
static size_t palette_len(const char *p)
{
	const size_t n = strncmp(p, ";5;", 3) == 0 ? digits_len(p + 3) : 0;

	return n >= 1 && n <= 3 && atoi(p + 3) < 256 ? n + 3 : 0;
}

/* Returns whether all numbers are colours or styles that neither hide text nor blink. */
static int is_colour(const char *p)
{
	const size_t n = digits_len(p);
	const int i = atoi(p);

	if (n < 1 || n > 3)
		return 0;
	if (i == 38 || i == 48) {
		const size_t more = palette_len(p + n);

		return more && !p[n + more];
	}
	return !p[n] &&
	       (i <= 2 || i == 4 || i == 7 || (i >= 30 && i <= 49) || (i >= 90 && i <= 107));
}

#define SECRET_COLOUR "\x1b[%016" PRIx64 ";"

int chisel_terminal_colour(struct chisel_terminal *t, char out[CHISEL_COLOUR_MAX],
			   const char *numbers)
{
	if (!is_colour(numbers))
		return -EINVAL;
	if (!t->on) {
		snprintf(out, CHISEL_COLOUR_MAX, "\x1b[%sm", numbers);
		return 0;
	}
	while (!t->secret)
		t->secret = scap_hash_seed(t);
	snprintf(out, CHISEL_COLOUR_MAX, SECRET_COLOUR "%sm", t->secret, numbers);
	return 0;
}

/* Returns the length of a colour of chisel_terminal_colour with numbers at *at; 0: something
 * else. */
static size_t own_colour_len(const struct chisel_terminal *t, const char *p, size_t len, size_t *at)
{
	char head[CHISEL_COLOUR_MAX];
	const char *end;

	if (!t->secret)
		return 0;
	*at = (size_t)snprintf(head, sizeof(head), SECRET_COLOUR, t->secret);
	if (len <= *at || memcmp(p, head, *at) != 0)
		return 0;
	end = memchr(p, 'm', len);
	return end ? (size_t)(end - p) + 1 : 0;
}

/* Returns the length of ESC [ ? 25 h or l, which shows or hides the cursor; 0: something else. */
static size_t cursor_len(const char *p, size_t len)
{
	return len >= 6 && memcmp(p, "\x1b[?25", 5) == 0 && (p[5] == 'h' || p[5] == 'l') ? 6 : 0;
}

static void note_cursor(struct chisel_terminal *t, const char *p, size_t len)
{
	if (cursor_len(p, len))
		t->hidden = p[5] == 'l';
}

/* Returns the length of a sequence that moves the cursor, shows or hides it, or clears; 0:
 * something else. */
static size_t control_len(const char *p, size_t len)
{
	size_t n = 2;

	if (len < 3 || memcmp(p, "\x1b[", 2) != 0)
		return 0;
	while (n < len && (p[n] == ';' || (p[n] >= '0' && p[n] <= '9')))
		n++;
	if (n < len && p[n] && strchr("ABCDEFGHJK", p[n]))
		return n + 1;
	return cursor_len(p, len);
}

int chisel_terminal_control(struct chisel_terminal *t, FILE *out, const char *p, size_t len)
{
	for (size_t at = 0, n; at < len; at += n) {
		n = control_len(p + at, len - at);
		if (!n)
			return -EINVAL;
	}
	for (size_t at = 0; t->on && at < len; at += control_len(p + at, len - at))
		note_cursor(t, p + at, len - at);
	fwrite_unlocked(p, 1, len, out);
	return 0;
}

void chisel_terminal_fini(struct chisel_terminal *t, FILE *out)
{
	if (t->hidden) {
		fputs_unlocked(SHOW_CURSOR, out);
		fflush(out);
	}
	t->hidden = 0;
}

void chisel_terminal_show(const struct chisel_terminal *t, int fd)
{
	ssize_t n;

	if (t->hidden) {
		n = write(fd, SHOW_CURSOR, sizeof(SHOW_CURSOR) - 1);
		(void)n; /* the process ends anyway */
	}
}

void chisel_terminal_put(struct chisel_terminal *t, FILE *out, const char *p, size_t len)
{
	unsigned int kind;
	size_t n, at;

	if (!t->on) {
		fwrite_unlocked(p, 1, len, out);
		return;
	}
	for (; len; p += n, len -= n) {
		n = *p == 0x1b ? own_colour_len(t, p, len, &at) : 0;
		if (n) {
			fputs_unlocked("\x1b[", out);
			fwrite_unlocked(p + at, 1, n - at, out);
			continue;
		}
		n = next_kind(p, len, &kind);
		if (kind & t->seen) {
			putc_unlocked('.', out);
			continue;
		}
		fwrite_unlocked(p, 1, n, out);
		if (kind == ESCAPES)
			note_cursor(t, p, len);
	}
}
