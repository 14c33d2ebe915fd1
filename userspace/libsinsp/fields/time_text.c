/* SPDX-License-Identifier: Apache-2.0 */
/* Prints times. Text that is the same for a second, a quarter of an hour or a day is kept. */
#include "time_text.h"

#include <time.h>

#include "text.h"

#define NS_PER_S 1000000000u

/* Time zones change at quarters of an hour: the offset is read again there. */
static uint64_t local_seconds(struct time_text *t, uint64_t sec)
{
	const time_t when = (time_t)sec;
	struct tm tm;

	if (t->quarter != sec / 900) {
		t->quarter = sec / 900;
		t->gmtoff = localtime_r(&when, &tm) ? tm.tm_gmtoff : 0;
	}
	return sec + (uint64_t)t->gmtoff;
}

static void set_clock(struct time_text *t, uint64_t sec)
{
	const uint32_t of_day = (uint32_t)((local_seconds(t, sec) + 86400u) % 86400);
	char *p;

	t->from_ns = sec * NS_PER_S;
	p = put_2digits(t->clock, of_day / 3600);
	*p++ = ':';
	p = put_2digits(p, of_day / 60 % 60);
	*p++ = ':';
	p = put_2digits(p, of_day % 60);
	*p = '.';
}

char *time_text_clock(struct time_text *t, char *p, uint64_t ns)
{
	if (ns < t->from_ns || ns - t->from_ns >= NS_PER_S)
		set_clock(t, ns / NS_PER_S);
	p = put_mem(p, t->clock, sizeof(t->clock));
	return put_9digits(p, (uint32_t)(ns - t->from_ns));
}

static char *put_date(char *p, uint64_t sec)
{
	const time_t when = (time_t)sec;
	struct tm tm;

	/* 64 bits of nanoseconds reach the year 2554. */
	if (!gmtime_r(&when, &tm))
		return put_lit(p, "0000-00-00");
	p = put_u64(p, (uint64_t)tm.tm_year + 1900);
	*p++ = '-';
	p = put_2digits(p, (uint32_t)tm.tm_mon + 1);
	*p++ = '-';
	return put_2digits(p, (uint32_t)tm.tm_mday);
}

char *time_text_date(struct time_text *t, char *p, uint64_t ns)
{
	const uint64_t sec = local_seconds(t, ns / NS_PER_S);

	if (t->day != sec / 86400) {
		t->day = sec / 86400;
		*put_date(t->date, sec) = ' ';
	}
	return put_mem(p, t->date, sizeof(t->date));
}

char *time_text_iso8601(char *p, uint64_t ns)
{
	const uint64_t sec = ns / NS_PER_S;

	p = put_date(p, sec);
	*p++ = 'T';
	p = put_2digits(p, (uint32_t)(sec / 3600 % 24));
	*p++ = ':';
	p = put_2digits(p, (uint32_t)(sec / 60 % 60));
	*p++ = ':';
	p = put_2digits(p, (uint32_t)(sec % 60));
	*p++ = '.';
	p = put_9digits(p, (uint32_t)(ns % NS_PER_S));
	return put_lit(p, "+0000");
}

/* Times in a file may go back. */
char *time_text_span(char *p, uint64_t from, uint64_t to)
{
	uint64_t ns = to - from;

	if (to < from) {
		*p++ = '-';
		ns = from - to;
	}
	p = put_u64(p, ns / NS_PER_S);
	*p++ = '.';
	return put_9digits(p, (uint32_t)(ns % NS_PER_S));
}

static char *put_latency(char *p, const struct sinsp_evt *evt)
{
	/* sysdig shows 0 for an unknown latency, too. */
	if (evt->raw.flags & SCAP_EVT_F_FULL && !evt->latency_known)
		return put_lit(p, "<NA>");
	return time_text_span(p, 0, evt->latency_ns);
}

char *time_text_put(struct time_text *t, char *p, const struct sinsp_evt *evt)
{
	const uint64_t ns = evt->raw.ts_ns, prev = t->prev_ns;

	switch (t->fmt) {
	case SINSP_TIME_EPOCH:
		return time_text_span(p, 0, ns);
	case SINSP_TIME_RELATIVE:
		return time_text_span(p, sinsp_first_ns(evt->insp), ns);
	case SINSP_TIME_DELTA:
		t->prev_ns = ns;
		return time_text_span(p, prev ? prev : ns, ns);
	case SINSP_TIME_LATENCY:
		return put_latency(p, evt);
	default:
		return time_text_clock(t, p, ns);
	}
}

void time_text_init(struct time_text *t, enum sinsp_time_fmt fmt)
{
	*t = (struct time_text){.fmt = fmt ? fmt : SINSP_TIME_ABSOLUTE};
	t->quarter = t->day = UINT64_MAX;
	tzset();
	set_clock(t, 0);
}

char *time_text_human(char *p, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {{1000, "us"}, {1000000, "ms"}, {NS_PER_S, "s"}};
	size_t i = 0;

	if (ns < 1000)
		return put_lit(put_u64(p, ns), "ns");
	while (i < 2 && ns >= units[i + 1].ns)
		i++;
	p = put_u64(p, ns / units[i].ns);
	if (ns < 10 * units[i].ns) {
		*p++ = '.';
		p = put_2digits(p, (uint32_t)(ns % units[i].ns / (units[i].ns / 100)));
	}
	return put_mem(p, units[i].name, strlen(units[i].name));
}
