/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of a request. Text that stands in a request of hostile size is cut to its limit. */
#include "request.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "conn.h"

static const uint16_t limits[REQ_TEXT_MAX] = {
	[REQ_METHOD] = 64,  [REQ_RESOURCE] = 1024,   [REQ_STATEMENT] = 4096,
	[REQ_ERROR] = 64,   [REQ_ERROR_TEXT] = 256,  [REQ_TRACE_ID] = 64,
	[REQ_SPAN_ID] = 32, [REQ_PARENT_TRACE] = 64, [REQ_PARENT_SPAN] = 32,
};

static void add(struct request *r, enum req_text which, size_t old, const void *p, size_t n)
{
	const size_t dropped = r->texts[which] && !old ? strlen(r->texts[which]) : 0;
	int64_t grown;
	char *text;

	if (old + n > limits[which])
		n = limits[which] - old;
	text = realloc(r->texts[which], old + n + 1);
	if (!text)
		return;
	grown = (int64_t)n + (r->texts[which] ? 0 : 1) - (int64_t)dropped;
	r->texts_sz = (uint32_t)(r->texts_sz + grown);
	conn_count(r->conn, grown);
	memcpy(text + old, p, n);
	text[old + n] = 0;
	r->texts[which] = text;
}

/* Returns the length of the text in the bytes, up to its limit. */
static size_t length(enum req_text which, const void *p, size_t n)
{
	return strnlen(p, n < limits[which] ? n : limits[which]);
}

void req_set_text(struct request *r, enum req_text which, const void *p, size_t n)
{
	add(r, which, 0, p, length(which, p, n));
}

void req_set_string(struct request *r, enum req_text which, const char *text)
{
	req_set_text(r, which, text, strlen(text));
}

void req_set_upper(struct request *r, enum req_text which, const void *p, size_t n)
{
	req_set_text(r, which, p, n);
	for (char *at = r->texts[which]; at && *at; at++)
		*at = (char)toupper((unsigned char)*at);
}

void req_add_text(struct request *r, enum req_text which, const void *p, size_t n)
{
	add(r, which, strlen(req_text(r, which)), p, length(which, p, n));
}
