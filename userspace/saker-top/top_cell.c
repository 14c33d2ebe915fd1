/* SPDX-License-Identifier: Apache-2.0 */
#include "top_cell.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fields/text.h"
#include "fields/text_columns.h"
#include "state/utf8.h"
#include "top_number.h"

enum { DEFAULT_WIDTH = 10 };

int top_cell_is_left(const struct view_column *c)
{
	return c->type.kind == VIEW_TEXT || c->type.kind == VIEW_IP;
}

size_t top_cell_width(const struct view_column *c)
{
	return c->info->size > 0 ? (size_t)c->info->size : DEFAULT_WIDTH;
}

int top_cell_is_unknown(const struct view_cell *c, const struct view_column *col)
{
	const int how = col->info->aggregation;

	return !c->n && how != SINSP_VIEW_SUM && how != SINSP_VIEW_TIME_AVG &&
	       col->type.kind != VIEW_TEXT && col->type.kind != VIEW_IP;
}

/* ---- values ---- */

static int put_bytes(struct sinsp_text *out, const char *s, size_t n)
{
	char *p = text_begin(out, n + 1);

	return text_end(out, p ? put_mem(p, s, n) : NULL);
}

static int put_clean(struct sinsp_text *out, const char *s, size_t n)
{
	char *p = text_begin(out, n + 1);

	return text_end(out, p ? put_utf8(p, s, n) : NULL);
}

static int put_ip(struct sinsp_text *out, const struct view_cell *c)
{
	char ip[INET6_ADDRSTRLEN] = "";

	inet_ntop(c->len == 4 ? AF_INET : AF_INET6, c->p, ip, sizeof(ip));
	return put_bytes(out, ip, strlen(ip));
}

static void number_text(char text[TOP_NUMBER_SZ], const struct view_cell *c,
			const struct view_column *col, double seconds)
{
	const int is_rate = col->is_rate && seconds > 0;

	switch ((enum view_kind)col->type.kind) {
	case VIEW_DOUBLE:
		snprintf(text, TOP_NUMBER_SZ, "%.2f", is_rate ? c->d / seconds : c->d);
		break;
	case VIEW_DURATION:
		top_duration_text(text, is_rate ? (uint64_t)((double)c->u / seconds) : c->u);
		break;
	case VIEW_BOOL:
		snprintf(text, TOP_NUMBER_SZ, "%s", c->u ? "true" : "false");
		break;
	case VIEW_PORT:
		snprintf(text, TOP_NUMBER_SZ, "%" PRIu64, c->u);
		break;
	case VIEW_INT:
		if (col->type.is_id)
			snprintf(text, TOP_NUMBER_SZ, "%" PRId64, c->i);
		else
			top_size_text(text, (double)c->i, 1);
		break;
	case VIEW_UINT:
		top_size_text(text, is_rate ? (double)c->u / seconds : (double)c->u, !is_rate);
		break;
	case VIEW_TEXT:
	case VIEW_IP:
		break;
	}
}

int top_cell_text(struct sinsp_text *out, const struct view_cell *c, const struct view_column *col,
		  double seconds)
{
	char number[TOP_NUMBER_SZ] = "";

	if (col->type.kind == VIEW_TEXT)
		return put_clean(out, c->p ?: "", c->len);
	if (col->type.kind == VIEW_IP)
		return put_ip(out, c);
	if (top_cell_is_unknown(c, col))
		return put_bytes(out, "-", 1);
	number_text(number, c, col, seconds);
	return put_bytes(out, number, strlen(number));
}

int top_key_text(struct sinsp_text *out, const struct view_cell *key, const struct view_type *type)
{
	char number[TOP_NUMBER_SZ];

	switch ((enum view_kind)type->kind) {
	case VIEW_TEXT:
		return put_bytes(out, key->p ?: "", key->len);
	case VIEW_IP:
		return put_ip(out, key);
	case VIEW_BOOL:
		return put_bytes(out, key->u ? "true" : "false", key->u ? 4 : 5);
	case VIEW_DOUBLE:
		snprintf(number, sizeof(number), "%.17g", key->d);
		break;
	case VIEW_INT:
		snprintf(number, sizeof(number), "%" PRId64, key->i);
		break;
	case VIEW_UINT:
	case VIEW_DURATION:
	case VIEW_PORT:
		snprintf(number, sizeof(number), "%" PRIu64, key->u);
		break;
	}
	return put_bytes(out, number, strlen(number));
}

/* ---- columns of the terminal ---- */

int top_text_pad(struct sinsp_text *out, const char *s, size_t n, size_t width, int left)
{
	uint32_t used = 0;
	const size_t len = text_fit(s, n, (uint32_t)width, &used);
	char *p = text_begin(out, len + width + 1);

	if (!p)
		return -ENOMEM;
	for (size_t i = used; !left && i < width; i++)
		*p++ = ' ';
	p = put_mem(p, s, len);
	for (size_t i = used; left && i < width; i++)
		*p++ = ' ';
	return text_end(out, p);
}

/* Characters that take no column, but change what follows: joiners, directions, marks of order. */
static int is_format(uint32_t c)
{
	return c == 0xad || c == 0x61c || c == 0x180e || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
	       (c >= 0xfe00 && c <= 0xfe0f) || (c >= 0xfff9 && c <= 0xfffb) || c >= 0xe0000;
}

static uint32_t code_point(const unsigned char *s, size_t n)
{
	uint32_t c = s[0] & (0x7f >> n);

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (s[i] & 0x3f);
	return c;
}

int top_text_safe(struct sinsp_text *out, const char *s, size_t n, int utf8)
{
	const unsigned char *u = (const unsigned char *)s;
	char *p = text_begin(out, n + 1);
	int has_base = 0;
	size_t len;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < n; i += len) {
		uint32_t columns = 1;

		len = u[i] < 0x80 ? 1 : sinsp_utf8_len(u + i, n - i);
		if (len > 1)
			text_fit(s + i, len, 2, &columns);
		if (len == 1 && u[i] >= 0x20 && u[i] < 0x7f) {
			*p++ = s[i];
			has_base = u[i] != ' ';
		} else if (len > 1 && utf8 && !is_format(code_point(u + i, len)) &&
			   (columns || has_base)) {
			p = put_mem(p, s + i, len);
			has_base = 1;
		} else {
			*p++ = '.';
			has_base = 1;
			len = len ?: 1;
		}
	}
	return text_end(out, p);
}

int top_put(struct sinsp_text *out, const char *fmt, ...)
{
	char *text = NULL, *p = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	p = text_begin(out, (size_t)n + 1);
	n = text_end(out, p ? put_mem(p, text, (size_t)n) : NULL);
	free(text);
	return n;
}

int top_put_wrapped(struct sinsp_text *out, const char *s, size_t n, size_t width, size_t indent)
{
	const char *const end = s + n;
	size_t room = width > 10 ? width : 10;
	uint32_t columns;
	int err = 0;

	if (indent + 10 > room)
		indent = 0;
	while (!err) {
		size_t len = text_fit(s, (size_t)(end - s), (uint32_t)room, &columns);
		const char *blank = s + len < end ? memrchr(s, ' ', len) : NULL;

		if (blank && blank > s)
			len = (size_t)(blank - s);
		err = top_put(out, "%.*s\n", (int)len, s);
		s += len;
		while (s < end && *s == ' ')
			s++;
		if (s >= end || !len)
			break;
		room = (width > 10 ? width : 10) - indent;
		err = err ?: top_put(out, "%*s", (int)indent, "");
	}
	return err;
}
