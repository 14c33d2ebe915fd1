/* SPDX-License-Identifier: Apache-2.0 */
/* By libiberty, without types of parameters. A few bytes can stand for a name of any length: when
 * the buffer is full the demangler is left by longjmp. */
#include "demangle.h"

#include <setjmp.h>
#include <string.h>

#include <libiberty/demangle.h>

enum {
	MANGLED_MAX = 2048, /* the demangler's recursion grows with it */
	BINDER_DIGITS = 2, /* of the number of lifetimes that a type binds */
};

struct sink {
	char *p;
	size_t len, room;
	jmp_buf full;
};

static void put(const char *text, size_t len, void *ctx)
{
	struct sink *s = ctx;
	const size_t n = len < s->room - s->len ? len : s->room - s->len;

	if (n)
		memcpy(s->p + s->len, text, n);
	s->len += n;
	if (n < len)
		longjmp(s->full, 1);
}

typedef int (*demangler_fn)(const char *name, int options, demangle_callbackref put, void *ctx);

static size_t demangle_by(demangler_fn fn, char *out, size_t sz, const char *name)
{
	struct sink s = {.p = out, .room = sz - 1};
	volatile int good = 1;

	if (!setjmp(s.full))
		good = fn(name, DMGL_NO_OPTS, put, &s);
	if (!good || !s.len)
		return 0;
	out[s.len] = '\0';
	return s.len;
}

/* Returns whether a name of Rust binds more lifetimes than any program has. Their number is written
 * in base 62 behind "FG" or "DG". The demangler counts up to it, for years, and prints nothing. */
static int binds_too_many(const char *name)
{
	for (const char *p = name; (p = strchr(p, 'G')); p++) {
		const size_t digits = strspn(p + 1, "0123456789abcdefghijklmnopqrstuvwxyz"
						    "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

		if (digits > BINDER_DIGITS && p[1 + digits] == '_' && strchr("FD", p[-1]))
			return 1;
	}
	return 0;
}

size_t sinsp_demangle(char *out, size_t sz, const char *name)
{
	const demangler_fn rows[] = {rust_demangle_callback, cplus_demangle_v3_callback};
	char text[MANGLED_MAX];
	size_t n = 0;

	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R') || !sz ||
	    strlen(name) >= MANGLED_MAX || (name[1] == 'R' && binds_too_many(name)))
		return 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !n; i++)
		n = demangle_by(rows[i], text, sizeof(text), name);
	if (!n)
		return 0;
	if (n >= sz)
		n = sz - 1;
	memcpy(out, text, n);
	out[n] = '\0';
	return n;
}
