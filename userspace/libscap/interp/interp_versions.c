/* SPDX-License-Identifier: Apache-2.0 */
/* The versions of each language that have a row, as text. */
#include <stddef.h>
#include <stdio.h>

#include "interp/detect.h"
#include "scap.h"

#define TEXT_SZ 96

struct language {
	const char *name;
	unsigned int major; /* 0: a version is one number, in minors */
	const unsigned char *minors; /* ascending */
	size_t n;
};

#define PYTHON(minor, ...) minor,
static const unsigned char python[] = {
#include "interp/python.def"
};
#define PYTHON_FREE(minor, ...) minor,
static const unsigned char python_free[] = {
#include "interp/python.def"
};
#define LUA(minor, ...) minor,
static const unsigned char lua[] = {
#include "interp/lua.def"
};
#define PERL(minor, ...) minor,
static const unsigned char perl[] = {
#include "interp/perl.def"
};
#define PHP(minor, ...) minor,
static const unsigned char php[] = {
#include "interp/php.def"
};
#define RUBY(minor, ...) minor,
static const unsigned char ruby[] = {
#include "interp/ruby.def"
};
#define BEAM(version, ...) version,
static const unsigned char beam[] = {
#include "interp/beam.def"
};
#define NODE(version, ...) version,
static const unsigned char node[] = {
#include "interp/node.def"
};
#define JAVA(feature, ...) feature,
static const unsigned char java[] = {
#include "interp/java.def"
};

static const struct language languages[] = {
	{"Python", 3, python, sizeof(python)},
	{"Python without the GIL", 3, python_free, sizeof(python_free)},
	{"Lua", 5, lua, sizeof(lua)},
	{"Perl", 5, perl, sizeof(perl)},
	{"PHP", 8, php, sizeof(php)},
	{"Ruby", 3, ruby, sizeof(ruby)},
	{"Erlang/OTP", 0, beam, sizeof(beam)},
	{"Node.js", 0, node, sizeof(node)},
	{"Java", 0, java, sizeof(java)},
};

/* Returns the last of the versions from @i on that follow each other. */
static size_t last_of_run(const struct language *l, size_t i)
{
	while (i + 1 < l->n && l->minors[i + 1] == l->minors[i] + 1)
		i++;
	return i;
}

/* Appends a version. Returns its length. */
static size_t put_version(char *to, size_t sz, const char *before, const struct language *l,
			  size_t i)
{
	const int n = l->major ? snprintf(to, sz, "%s %u.%u", before, l->major, l->minors[i])
			       : snprintf(to, sz, "%s %u", before, l->minors[i]);

	return (size_t)n;
}

const char *scap_interpreter(unsigned int i)
{
	static char text[TEXT_SZ];
	const struct language *l;
	size_t len, last;

	if (i >= sizeof(languages) / sizeof(languages[0]))
		return NULL;
	l = &languages[i];
	len = (size_t)snprintf(text, sizeof(text), "%s", l->name);
	for (size_t k = 0; k < l->n && len < sizeof(text); k = last + 1) {
		last = last_of_run(l, k);
		len += put_version(text + len, sizeof(text) - len, k ? "," : "", l, k);
		if (last > k && len < sizeof(text))
			len += put_version(text + len, sizeof(text) - len, " to", l, last);
	}
	return text;
}
