/* SPDX-License-Identifier: Apache-2.0 */
/* Matches shell patterns (glob). */
#include "glob.h"

#include <ctype.h>
#include <string.h>

struct glob {
	const char *p, *end;
	int fold;
};

static int same(unsigned char a, unsigned char b, int fold)
{
	return a == b || (fold && tolower(a) == tolower(b));
}

static int in_class(const char *name, size_t n, unsigned char c)
{
	static const struct {
		const char *name;
		int (*is)(int);
	} classes[] = {
		{"alpha", isalpha}, {"digit", isdigit}, {"alnum", isalnum}, {"upper", isupper},
		{"lower", islower}, {"space", isspace}, {"blank", isblank}, {"punct", ispunct},
		{"print", isprint}, {"graph", isgraph}, {"cntrl", iscntrl}, {"xdigit", isxdigit},
	};

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (strlen(classes[i].name) == n && !memcmp(classes[i].name, name, n))
			return classes[i].is(c) != 0;
	return 0;
}

static int in_range(unsigned char from, unsigned char to, unsigned char c, int fold)
{
	return (c >= from && c <= to) || (fold && ((tolower(c) >= from && tolower(c) <= to) ||
						   (toupper(c) >= from && toupper(c) <= to)));
}

/* Reads the byte at *p of a bracket; after a backslash it is literal. */
static unsigned char bracket_char(const struct glob *g, const char **p)
{
	if (**p == '\\' && *p + 1 < g->end)
		++*p;
	return (unsigned char)*(*p)++;
}

/* Parses "[:name:]" at p, after its '['; NULL: there is none. */
static const char *class_end(const struct glob *g, const char *p)
{
	if (*p != ':')
		return NULL;
	for (p++; p + 1 < g->end; p++)
		if (p[0] == ':' && p[1] == ']')
			return p;
	return NULL;
}

/* Returns whether @c is in the brackets; g->p, after the '[', advances past the ']'. -1: there is
 * none, the '[' is literal. */
static int match_bracket(struct glob *g, unsigned char c)
{
	const char *p = g->p, *end;
	int inverse = p < g->end && (*p == '!' || *p == '^'), found = 0;

	p += inverse;
	for (const char *first = p; p < g->end && (*p != ']' || p == first);) {
		unsigned char from, to;

		if (*p == '[' && p + 1 < g->end && (end = class_end(g, p + 1))) {
			found |= in_class(p + 2, (size_t)(end - p - 2), c);
			p = end + 2;
			continue;
		}
		from = to = bracket_char(g, &p);
		if (p + 1 < g->end && *p == '-' && p[1] != ']') {
			p++;
			to = bracket_char(g, &p);
		}
		found |= in_range(from, to, c, g->fold);
	}
	if (p >= g->end)
		return -1;
	g->p = p + 1;
	return found != inverse;
}

/* Returns whether the next element of the pattern, not a star, matches the byte; g->p advances past
 * it. */
static int match_one(struct glob *g, unsigned char c)
{
	const unsigned char want = (unsigned char)*g->p++;
	int in;

	switch (want) {
	case '?':
		return 1;
	case '[':
		in = match_bracket(g, c);
		return in >= 0 ? in : c == '[';
	case '\\':
		if (g->p >= g->end)
			return 0;
		return same((unsigned char)*g->p++, c, g->fold);
	default:
		return same(want, c, g->fold);
	}
}

/* Backtracks to the last star only: the part before it matched as early as possible. */
int sinsp_glob_match(const char *pattern, size_t pattern_len, const char *p, size_t len, int fold)
{
	struct glob g = {pattern, pattern + pattern_len, fold};
	const char *const end = p + len, *star = NULL, *star_p = NULL;

	while (p < end) {
		if (g.p < g.end && *g.p == '*') {
			star = ++g.p;
			star_p = p;
		} else if (g.p < g.end && match_one(&g, (unsigned char)*p)) {
			p++;
		} else if (star) {
			g.p = star;
			p = ++star_p;
		} else {
			return 0;
		}
	}
	while (g.p < g.end && *g.p == '*')
		g.p++;
	return g.p == g.end;
}
