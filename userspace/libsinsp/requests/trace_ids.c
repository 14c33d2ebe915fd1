/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_ids.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { ID_MAX = 32 };

/* Returns how many of the first bytes are digits, up to one more than an identifier has. */
static size_t hex_len(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && i <= ID_MAX && isxdigit((unsigned char)p[i]))
		i++;
	return i;
}

/* 00-TRACE-SPAN-FLAGS */
static void read_traceparent(struct request *r, const char *p, size_t n)
{
	if (n < 55 || hex_len(p, n) != 2 || hex_len(p + 3, 32) != 32 || p[35] != '-' ||
	    hex_len(p + 36, 16) != 16)
		return;
	req_set_text(r, REQ_TRACE_ID, p + 3, 32);
	req_set_text(r, REQ_SPAN_ID, p + 36, 16);
}

/* TRACE-SPAN[-SAMPLED[-PARENT]], or the same with colons: Jaeger. A colon may be escaped. */
static void read_pair(struct request *r, const char *p, size_t n, char sep)
{
	const size_t trace = hex_len(p, n);
	size_t at = trace, span;

	if (!trace || trace > ID_MAX || at >= n)
		return;
	if (p[at] == sep)
		at++;
	else if (sep == ':' && n - at >= 3 && !strncasecmp(p + at, "%3a", 3))
		at += 3;
	else
		return;
	span = hex_len(p + at, n - at);
	if (!span || span > 16)
		return;
	req_set_text(r, REQ_TRACE_ID, p, trace);
	req_set_text(r, REQ_SPAN_ID, p + at, span);
}

static void read_id(struct request *r, enum req_text which, const char *p, size_t n)
{
	if (n && n <= ID_MAX && hex_len(p, n) == n)
		req_set_text(r, which, p, n);
}

static int is(const char *name, size_t len, const char *header)
{
	return strlen(header) == len && !strncasecmp(name, header, len);
}

void req_trace_header(struct request *r, const char *name, size_t name_len, const char *value,
		      size_t len)
{
	if (is(name, name_len, "traceparent"))
		read_traceparent(r, value, len);
	else if (is(name, name_len, "b3"))
		read_pair(r, value, len, '-');
	else if (is(name, name_len, "uber-trace-id"))
		read_pair(r, value, len, ':');
	else if (is(name, name_len, "x-b3-traceid"))
		read_id(r, REQ_TRACE_ID, value, len);
	else if (is(name, name_len, "x-b3-spanid"))
		read_id(r, REQ_SPAN_ID, value, len);
}
