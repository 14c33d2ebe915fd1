/* SPDX-License-Identifier: Apache-2.0 */
/* Prints times: relative in seconds, absolute as a date. */
#include <stdio.h>
#include <time.h>

#include "value_kinds.h"

/* Writes the seconds of @ns as printf's %g does, with at most six digits. */
static char *put_seconds(char *p, uint64_t ns)
{
	char digits[TEXT_NUM_MAX];
	uint64_t q = ns, unit = 1;
	int n, exp10;

	n = (int)(put_u64(digits, ns) - digits);
	exp10 = n - 1 - 9; /* position of the first digit */
	for (; q >= 1000000; q /= 10)
		unit *= 10;
	/* At a tie, and beyond the precision of a double, the double's own error decides. */
	if (ns >= 1000000000000000 || (unit > 1 && ns % unit == unit / 2))
		return p + snprintf(p, VALUE_ROOM, "%g", (double)ns / 1000000000);
	q += ns % unit > unit / 2;
	if (q == 1000000)
		exp10++;
	while (q && q % 10 == 0)
		q /= 10;
	n = (int)(put_u64(digits, q) - digits);
	if (!ns)
		exp10 = 0;

	if (exp10 < -4 || exp10 >= 6) {
		*p++ = digits[0];
		if (n > 1) {
			*p++ = '.';
			p = put_mem(p, digits + 1, (size_t)n - 1);
		}
		*p++ = 'e';
		*p++ = exp10 < 0 ? '-' : '+';
		return put_2digits(p, (uint32_t)(exp10 < 0 ? -exp10 : exp10));
	}
	if (exp10 < 0) {
		p = put_lit(p, "0.");
		while (++exp10 < 0)
			*p++ = '0';
		return put_mem(p, digits, (size_t)n);
	}
	for (int i = 0; i < n || i <= exp10; i++) {
		if (i == exp10 + 1)
			*p++ = '.';
		*p++ = i < n ? digits[i] : '0';
	}
	return p;
}

char *value_put_reltime(struct value_writer *w, char *p, const struct value *v)
{
	const uint64_t ns = get_u64(v->p);

	if (ns == UINT64_MAX)
		return put_lit(p, "none");
	p = put_seconds(open_meaning(w, put_u64(p, ns)), ns);
	return put_lit(p, "s)");
}

char *value_put_abstime(struct value_writer *w, char *p, const struct value *v)
{
	const uint64_t ns = get_u64(v->p);
	const time_t sec = (time_t)(ns / 1000000000);
	struct tm tm;

	(void)w;
	if (ns == ABSTIME_NOW)
		return put_lit(p, "now");
	if (ns == ABSTIME_OMIT)
		return put_lit(p, "omit");
	if (!localtime_r(&sec, &tm))
		return put_u64(p, ns);
	p += strftime(p, 64, "%Y-%m-%d %H:%M:%S.", &tm);
	p = put_9digits(p, (uint32_t)(ns % 1000000000));
	return p + strftime(p, 16, " %z", &tm);
}
