/* SPDX-License-Identifier: Apache-2.0 */
/* Parses literals: numbers with units, ports, addresses, networks. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

struct unit {
	const char *name;
	uint64_t factor;
};

/* clang-format off */
static const struct unit durations[] = {
	{"", 1}, {"ns", 1}, {"us", 1000}, {"\xc2\xb5s", 1000}, {"ms", 1000000}, {"s", 1000000000},
	{"m", 60000000000}, {"min", 60000000000}, {"h", 3600000000000}, {"d", 86400000000000},
	{NULL},
};

static const struct unit sizes[] = {
	{"", 1}, {"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"t", 1ull << 40},
	{"kb", 1 << 10}, {"mb", 1 << 20}, {"gb", 1 << 30}, {"tb", 1ull << 40},
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1ull << 40}, {"b", 1},
	{NULL},
};

static const struct unit no_units[] = {{"", 1}, {NULL}};
/* clang-format on */

/* Reads a number without its sign. */
struct magnitude {
	uint64_t n;
	int negative;
};

/* Parses the fraction after a point, of @factor; -EINVAL if anything is left over. */
static int read_fraction(const char **p, uint64_t factor, uint64_t *out)
{
	uint64_t scale = 1, value = 0;

	for (; isdigit((unsigned char)**p); (*p)++) {
		if (scale > UINT64_MAX / 1000)
			return -ERANGE;
		scale *= 10;
		value = value * 10 + (uint64_t)(**p - '0');
	}
	while (scale > 1 && value % 10 == 0) {
		scale /= 10;
		value /= 10;
	}
	if (scale == 1) {
		*out = 0;
		return 0;
	}
	if ((unsigned __int128)value * factor % scale)
		return -EINVAL;
	*out = (uint64_t)((unsigned __int128)value * factor / scale);
	return 0;
}

static const struct unit *find_unit(const struct unit *units, const char *name)
{
	for (; units->name; units++)
		if (!strcasecmp(units->name, name))
			return units;
	return NULL;
}

static int add_up(uint64_t whole, uint64_t factor, uint64_t fraction, uint64_t *out)
{
	if (__builtin_mul_overflow(whole, factor, out) ||
	    __builtin_add_overflow(*out, fraction, out))
		return -ERANGE;
	return 0;
}

/* Parses digits, optionally with a point, and a unit. */
static int read_decimal(const char *p, const struct unit *units, uint64_t *out)
{
	const struct unit *unit;
	const char *point, *end;
	uint64_t whole, fraction = 0;
	int err;

	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	errno = 0;
	whole = strtoull(p, (char **)&end, 10);
	if (errno)
		return -ERANGE;
	point = end;
	if (*end == '.') {
		if (!isdigit((unsigned char)*++end))
			return -EINVAL;
		while (isdigit((unsigned char)*end))
			end++;
	}
	unit = find_unit(units, end);
	if (!unit)
		return -EINVAL;
	if (*point == '.') {
		point++;
		err = read_fraction(&point, unit->factor, &fraction);
		if (err)
			return err;
	}
	return add_up(whole, unit->factor, fraction, out);
}

static int read_hex(const char *p, uint64_t *out)
{
	char *end;

	if (!isxdigit((unsigned char)p[2]))
		return -EINVAL;
	errno = 0;
	*out = strtoull(p, &end, 16);
	return errno ? -ERANGE : *end ? -EINVAL : 0;
}

/* Reads a number with its unit. Returns 0; -EINVAL: not a number; -ERANGE: too large. */
static int read_number(const struct filter_word *w, const struct unit *units, struct magnitude *out)
{
	const char *p = w->p;

	if (strlen(p) != w->len)
		return -EINVAL;
	out->negative = *p == '-';
	p += *p == '-' || *p == '+';
	if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		return read_hex(p, &out->n);
	return read_decimal(p, units, &out->n);
}

static int expected(struct filter_ast *ast, const struct filter_word *w, const char *noun)
{
	const int n = w->len < 60 ? (int)w->len : 60;

	if (!w->quoted && w->len && strchr("=<>", w->p[0]))
		return sinsp_filter_fail(ast, w->at,
					 "expected %s, found '%.*s'; the operators are "
					 "= != < <= > >=",
					 noun, n, w->p);
	return sinsp_filter_fail(ast, w->at, "expected %s, found '%.*s'", noun, n, w->p);
}

static int signed_literal(struct filter_ast *ast, const struct filter_word *w,
			  struct filter_const *out)
{
	struct magnitude m;
	const int err = read_number(w, sizes, &m);

	if (err == -ERANGE || (!err && m.n > (uint64_t)INT64_MAX + m.negative))
		return expected(ast, w, "a number of 64 bits");
	if (err)
		return expected(ast, w, "a number, such as -1, 0x1f or 4k");
	out->u = m.negative ? -m.n : m.n;
	return 0;
}

static int unsigned_literal(struct filter_ast *ast, const struct filter_word *w,
			    const struct unit *units, const char *noun, struct filter_const *out)
{
	struct magnitude m;
	const int err = read_number(w, units, &m);

	if (err == -ERANGE)
		return expected(ast, w, "a number of 64 bits");
	if (err)
		return expected(ast, w, noun);
	if (m.negative && m.n)
		return expected(ast, w, "a number that is not negative");
	out->u = m.n;
	return 0;
}

static int double_literal(struct filter_ast *ast, const struct filter_word *w,
			  struct filter_const *out)
{
	char *end;

	out->d = strtod(w->p, &end);
	if (end == w->p || end != w->p + w->len || out->d != out->d)
		return expected(ast, w, "a number, such as 0.5");
	return 0;
}

static int port_literal(struct filter_ast *ast, const struct filter_word *w,
			struct filter_const *out)
{
	static const char noun[] = "a port, such as 80 or http";
	const struct servent *service;
	struct magnitude m;

	if (!read_number(w, no_units, &m)) {
		out->u = m.n;
		if (m.n > UINT16_MAX || (m.negative && m.n))
			return expected(ast, w, "a port from 0 to 65535");
		return 0;
	}
	if (!w->len || !isalpha((unsigned char)w->p[0]))
		return expected(ast, w, noun);
	service = getservbyname(w->p, NULL);
	if (!service)
		return expected(ast, w, noun);
	out->u = ntohs((uint16_t)service->s_port);
	return 0;
}

static int bool_literal(struct filter_ast *ast, const struct filter_word *w,
			struct filter_const *out)
{
	if (strcmp(w->p, "true") && strcmp(w->p, "false"))
		return expected(ast, w, "true or false");
	out->u = w->p[0] == 't';
	return 0;
}

/* Parses an address, or a network with its prefix length. Returns 0 or -EINVAL. */
static int read_ip(const struct filter_word *w, struct filter_const *out)
{
	char text[INET6_ADDRSTRLEN + 8], *slash, *end;
	unsigned long bits;

	if (w->len >= sizeof(text) || strlen(w->p) != w->len)
		return -EINVAL;
	memcpy(text, w->p, w->len + 1);
	slash = strchr(text, '/');
	if (slash)
		*slash++ = 0;
	out->ip_len = strchr(text, ':') ? 16 : 4;
	if (inet_pton(out->ip_len == 4 ? AF_INET : AF_INET6, text, out->ip) != 1)
		return -EINVAL;
	out->prefix = out->ip_len * 8;
	if (!slash)
		return 0;
	bits = strtoul(slash, &end, 10);
	if (!isdigit((unsigned char)*slash) || *end || bits > out->prefix)
		return -EINVAL;
	out->prefix = (uint8_t)bits;
	return 0;
}

/* Reads the word as every kind of value, for a field whose type differs from event to event. */
static void any_literal(const struct filter_word *w, struct filter_const *out)
{
	struct magnitude m;

	out->is_ip = !read_ip(w, out);
	if (!out->is_ip && !read_number(w, sizes, &m)) {
		out->is_number = 1;
		out->u = m.negative ? -m.n : m.n;
	}
}

int sinsp_filter_literal(struct filter_ast *ast, const struct filter_word *w, unsigned int type,
			 struct filter_const *out)
{
	*out = (struct filter_const){.p = w->p, .len = w->len, .word = w};
	switch ((enum sinsp_field_type)type) {
	case FIELD_INT:
		return signed_literal(ast, w, out);
	case FIELD_UINT:
		return unsigned_literal(ast, w, sizes, "a number, such as 10, 0x1f or 4k", out);
	case FIELD_TIME:
		return unsigned_literal(ast, w, durations,
					"a time in nanoseconds since 1970, or in s", out);
	case FIELD_DURATION:
		return unsigned_literal(ast, w, durations,
					"a duration in nanoseconds, or such as 10ms or 1.5s", out);
	case FIELD_DOUBLE:
		return double_literal(ast, w, out);
	case FIELD_PORT:
		return port_literal(ast, w, out);
	case FIELD_BOOL:
		return bool_literal(ast, w, out);
	case FIELD_IP:
	case FIELD_NET:
		if (read_ip(w, out))
			return expected(ast, w,
					"an address or a network, such as 10.0.0.1, ::1 or "
					"10.0.0.0/8");
		return 0;
	case FIELD_NONE:
		any_literal(w, out);
		return 0;
	default:
		return 0;
	}
}
