/* SPDX-License-Identifier: Apache-2.0 */
/* Prints values of fields as text or JSON: a table binds each type to a function. */
#include "field_text.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdio.h>

#include "buffer.h"
#include "port_name.h"
#include "value_writer.h"

static char *put_number(char *p, uint8_t fmt, uint64_t u)
{
	switch (fmt) {
	case FIELD_FMT_HEX:
		return put_hex_upper(p, u);
	case FIELD_FMT_OCT:
		return put_oct(p, u);
	case FIELD_FMT_PADDED:
		return u < 1000000000 ? put_9digits(p, (uint32_t)u) : put_u64(p, u);
	default:
		return put_u64(p, u);
	}
}

static char *put_ip(char *p, const struct sinsp_value *v)
{
	const char *end;

	if (v->len != 4 && v->len != 16)
		return put_lit(p, "<NA>");
	end = inet_ntop(v->len == 4 ? AF_INET : AF_INET6, v->p, p, INET6_ADDRSTRLEN);
	return end ? p + strlen(p) : p;
}

/* Writes text without control characters. */
static char *put_name(char *p, const char *s, size_t n)
{
	for (size_t from = 0, i = 0; i <= n; i++) {
		if (i < n && (unsigned char)s[i] >= ' ' && s[i] != 0x7f)
			continue;
		p = put_utf8(p, s + from, i - from);
		from = i + 1;
	}
	return p;
}

/* Writes text of the event or the state, or text composed for printing. */
static char *put_bytes(struct sinsp_text *out, char *p, const struct sinsp_eval *e,
		       const struct sinsp_value *v)
{
	const uint32_t len =
		v->type == FIELD_BYTES ? sinsp_buffer_shown(e->evt, v->len, e->buf_cut) : v->len;
	const uint32_t max = e->buf_max ? e->buf_max : VALUE_BUF_MAX;

	p = text_room(out, p, v->type == FIELD_BYTES ? sinsp_buffer_room(len) : len);
	if (!p || !len)
		return p;
	if (v->made)
		return put_mem(p, v->p, len);
	if (v->is_name)
		return put_name(p, v->p, len);
	if (v->type == FIELD_BYTES)
		return sinsp_buffer_put(p, (const uint8_t *)v->p, len, e->buf_fmt, max);
	return put_utf8(p, v->p, len);
}

char *field_text_put(struct sinsp_text *out, char *p, const struct sinsp_eval *e,
		     const struct sinsp_value *v)
{
	if (v->type == FIELD_STR || v->type == FIELD_PATH || v->type == FIELD_BYTES)
		return put_bytes(out, p, e, v);
	p = text_room(out, p, VALUE_ROOM);
	if (!p)
		return NULL;
	switch (v->type) {
	case FIELD_INT:
		return v->fmt ? put_number(p, v->fmt, v->u) : put_i64(p, v->i);
	case FIELD_DOUBLE:
		/* The largest has 309 digits before the point. */
		return p + snprintf(p, VALUE_ROOM, fabs(v->d) < 1e100 ? "%.1f" : "%.9g", v->d);
	case FIELD_BOOL:
		return v->u ? put_lit(p, "true") : put_lit(p, "false");
	case FIELD_IP:
		return put_ip(p, v);
	case FIELD_NET:
		p = put_ip(p, v);
		if (!v->prefix)
			return p;
		*p++ = '/';
		return put_u64(p, v->prefix);
	case FIELD_PORT:
		return e->port_names && v->u <= UINT16_MAX ? port_name_put(p, (uint16_t)v->u)
							   : put_u64(p, v->u);
	default:
		return put_number(p, v->fmt, v->u);
	}
}

int sinsp_value_text(struct sinsp_text *out, const struct sinsp_eval *e,
		     const struct sinsp_value *v)
{
	char *p = text_begin(out, 1);

	return text_end(out, p ? field_text_put(out, p, e, v) : NULL);
}

/* ---- JSON ---- */

/* Returns whether all eight bytes are copied unchanged: from 0x20 on, no quote, no backslash. */
static bool is_plain(uint64_t w)
{
	const uint64_t ones = 0x0101010101010101;
	const uint64_t q = w ^ '"' * ones, b = w ^ '\\' * ones;

	/* A borrow into a neighbour comes only from a byte that is detected itself. */
	return !(((w - 0x20 * ones) | (q - ones) | (b - ones)) & 0x80 * ones & ~w);
}

static char *put_escaped(char *p, char c)
{
	static const char short_names[] = "btn?fr"; /* of 8 to 13 */
	const unsigned char u = (unsigned char)c;

	if (c == '"' || c == '\\') {
		*p++ = '\\';
		*p++ = c;
	} else if (u >= 0x20) {
		*p++ = c;
	} else if (u >= 8 && u <= 13 && u != 11) {
		*p++ = '\\';
		*p++ = short_names[u - 8];
	} else {
		p = put_lit(p, "\\u00");
		*p++ = (char)('0' + (u >> 4));
		*p++ = "0123456789abcdef"[u & 15];
	}
	return p;
}

char *json_string_put(struct sinsp_text *out, char *p, const char *s, size_t n)
{
	size_t i = 0, n_plain;

	p = text_room(out, p, 6 * n + 2 + VALUE_ROOM);
	if (!p)
		return NULL;
	*p++ = '"';
	while (i < n) {
		n_plain = copy_words(p, s + i, n - i, is_plain);
		p += n_plain;
		i += n_plain;
		for (const size_t end = n - i < 8 ? n : i + 8; i < end; i++)
			p = put_escaped(p, s[i]);
	}
	*p = '"';
	return p + 1;
}

static bool is_plain_and_printable(uint64_t w)
{
	return is_plain(w) && all_printable(w);
}

/* Writes text that is the same in JSON. Returns NULL if it is not. */
static char *put_same(char *p, const struct sinsp_value *v)
{
	if (copy_words(p + 1, v->p, v->len, is_plain_and_printable) < v->len)
		return NULL;
	p[0] = '"';
	p[1 + v->len] = '"';
	return p + 2 + v->len;
}

char *field_json_put(struct sinsp_text *out, char *p, struct sinsp_eval *e,
		     const struct sinsp_value *v)
{
	struct sinsp_text *const t = &e->text;
	char *end;
	size_t at;

	p = text_room(out, p, VALUE_ROOM);
	if (!p)
		return NULL;
	switch (v->type) {
	case FIELD_INT:
		return put_i64(p, v->i);
	case FIELD_UINT:
	case FIELD_TIME:
	case FIELD_DURATION:
	case FIELD_PORT: /* also with -R: stays a number */
		return put_u64(p, v->u);
	case FIELD_BOOL:
		return v->u ? put_lit(p, "true") : put_lit(p, "false");
	case FIELD_DOUBLE:
		if (!isfinite(v->d))
			return put_lit(p, "null");
		return p + snprintf(p, VALUE_ROOM, "%.17g", v->d);
	case FIELD_STR:
	case FIELD_PATH:
		if (v->made)
			return json_string_put(out, p, v->p, v->len);
		p = text_room(out, p, v->len + 2);
		if (!p)
			return NULL;
		end = put_same(p, v);
		if (end)
			return end;
		break;
	default:
		break;
	}
	at = t->len;
	if (sinsp_value_text(t, e, v))
		return NULL;
	p = json_string_put(out, p, t->p + at, t->len - at);
	t->len = at;
	return p;
}
