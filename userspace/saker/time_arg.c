/* SPDX-License-Identifier: Apache-2.0 */
#include "time_arg.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND_NS 1000000000ull
#define DAY_NS (24 * 3600 * SECOND_NS)
#define DIGITS_OF_NS 17 /* a count of seconds never has that many */

/* Reads digits, at most @max of them. Returns how many there are; 0: none, or too many. */
static int take_digits(const char **p, uint64_t *n, int max)
{
	int len = 0;

	for (*n = 0; isdigit((unsigned char)(*p)[len]); len++) {
		if (len == max)
			return 0;
		*n = *n * 10 + (uint64_t)((*p)[len] - '0');
	}
	*p += len;
	return len;
}

/* Reads ".123" as nanoseconds; further digits are ignored. */
static void take_fraction(const char **p, uint64_t *ns)
{
	uint64_t unit = SECOND_NS / 10;

	*ns = 0;
	if (**p != '.')
		return;
	for (++*p; isdigit((unsigned char)**p); ++*p, unit /= 10)
		*ns += unit * (uint64_t)(**p - '0');
}

static int take_seconds(const char *p, uint64_t *ns)
{
	uint64_t s, fraction;
	const int n = take_digits(&p, &s, 19);

	take_fraction(&p, &fraction);
	if (!n || *p)
		return -EINVAL;
	if (n >= DIGITS_OF_NS) {
		*ns = s;
		return 0;
	}
	if (s > UINT64_MAX / SECOND_NS - 1)
		return -EINVAL;
	*ns = s * SECOND_NS + fraction;
	return 0;
}

/* Reads a number of one or two digits below @end, and @sep behind it (0: none). */
static int take_part(const char **p, uint64_t *n, uint64_t end, char sep)
{
	if (!take_digits(p, n, 2) || *n >= end || (sep && **p != sep))
		return -EINVAL;
	*p += sep != 0;
	return 0;
}

/* HH:MM[:SS[.FRACTION]]. Returns the rest, or NULL. */
static const char *take_of_day(const char *p, uint64_t *ns)
{
	uint64_t h, m, s = 0, fraction = 0;

	if (take_part(&p, &h, 24, ':') || take_part(&p, &m, 60, 0))
		return NULL;
	if (*p == ':') {
		p++;
		if (take_part(&p, &s, 61, 0))
			return NULL;
		take_fraction(&p, &fraction);
	}
	*ns = ((h * 60 + m) * 60 + s) * SECOND_NS + fraction;
	return p;
}

/* Returns whether there is such a day after 1970. */
static int is_day(struct tm day, int utc)
{
	const int mday = day.tm_mday;
	time_t t;

	day.tm_isdst = utc ? 0 : -1;
	t = utc ? timegm(&day) : mktime(&day);
	return t > 0 && day.tm_mday == mday;
}

/* Adds the time of day to a day; days on which clocks change have other lengths. */
static uint64_t on_day(struct tm day, uint64_t ns, int utc)
{
	const uint64_t s = ns / SECOND_NS;
	time_t t;

	day.tm_hour = (int)(s / 3600);
	day.tm_min = (int)(s / 60 % 60);
	day.tm_sec = (int)(s % 60);
	day.tm_isdst = utc ? 0 : -1;
	t = utc ? timegm(&day) : mktime(&day);
	return t < 0 ? 0 : (uint64_t)t * SECOND_NS + ns % SECOND_NS;
}

/* Reads nothing, Z, or the distance from UTC: +HH:MM, -HHMM. */
static int take_zone(const char *p, int64_t *east_ns)
{
	const int is_west = *p == '-';
	uint64_t n, m;
	int len;

	if (!*p || (p[0] == 'Z' && !p[1]))
		return 0;
	if (*p != '+' && *p != '-')
		return -EINVAL;
	p++;
	len = take_digits(&p, &n, 4);
	if (len == 2 && *p++ == ':' && take_digits(&p, &m, 2) == 2)
		n = n * 100 + m;
	else if (len != 4)
		return -EINVAL;
	if (*p || n / 100 > 14 || n % 100 > 59)
		return -EINVAL;
	*east_ns = (int64_t)((n / 100 * 60 + n % 100) * 60 * SECOND_NS) * (is_west ? -1 : 1);
	return 0;
}

static int parse_date(struct time_arg *t, const char *p)
{
	struct tm day = {0};
	uint64_t y, m, d, ns;
	int64_t east_ns = 0;
	int utc;

	if (take_digits(&p, &y, 4) != 4 || *p++ != '-' || take_part(&p, &m, 13, '-') || !m ||
	    take_part(&p, &d, 32, 0) || !d || (*p != ' ' && *p != 'T'))
		return -EINVAL;
	day.tm_year = (int)y - 1900;
	day.tm_mon = (int)m - 1;
	day.tm_mday = (int)d;
	p = take_of_day(p + 1, &ns);
	utc = p && *p;
	if (!p || take_zone(p, &east_ns) || !is_day(day, utc))
		return -EINVAL;
	*t = (struct time_arg){TIME_ARG_EPOCH, on_day(day, ns, utc) - (uint64_t)east_ns};
	return 0;
}

int time_arg_parse(struct time_arg *t, const char *text)
{
	const char *rest;

	if (*text == '+') {
		t->kind = TIME_ARG_AFTER;
		return take_seconds(text + 1, &t->ns);
	}
	if (strchr(text, '-'))
		return parse_date(t, text);
	if (strchr(text, ':')) {
		t->kind = TIME_ARG_OF_DAY;
		rest = take_of_day(text, &t->ns);
		return rest && !*rest ? 0 : -EINVAL;
	}
	t->kind = TIME_ARG_EPOCH;
	return take_seconds(text, &t->ns);
}

static uint64_t of_day(uint64_t ns, uint64_t first_ns)
{
	const time_t s = (time_t)(first_ns / SECOND_NS);
	struct tm day;
	uint64_t at;

	if (!localtime_r(&s, &day))
		return first_ns;
	day.tm_mday--;
	at = on_day(day, ns, 0);
	for (int i = 0; i < 2 && at + DAY_NS / 2 < first_ns; i++) {
		day.tm_mday++;
		at = on_day(day, ns, 0);
	}
	return at;
}

uint64_t time_arg_ns(const struct time_arg *t, uint64_t first_ns)
{
	switch (t->kind) {
	case TIME_ARG_OF_DAY:
		return of_day(t->ns, first_ns);
	case TIME_ARG_AFTER:
		return t->ns < UINT64_MAX - first_ns ? first_ns + t->ns : UINT64_MAX;
	default:
		return t->ns;
	}
}
