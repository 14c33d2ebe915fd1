/* SPDX-License-Identifier: Apache-2.0 */
/* Values of fields as text: one function per kind, bound to types by a table. */
#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>

#include "buffer.h"
#include "field.h"
#include "value.h"

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

static char *put_port(char *p, const struct sinsp_asker *a, uint64_t port)
{
	struct servent *s = a->port_names && port <= UINT16_MAX
				    ? getservbyport(htons((uint16_t)port), NULL)
				    : NULL;
	size_t n;

	if (!s)
		return put_u64(p, port);
	n = strnlen(s->s_name, VALUE_ROOM);
	return put_mem(p, s->s_name, n);
}

/* What is in an event or in state, or was made for printing. */
static char *put_bytes(struct sinsp_text *out, char *p, const struct sinsp_asker *a,
		       const struct sinsp_value *v)
{
	const uint32_t max = a->buf_max ? a->buf_max : VALUE_BUF_MAX;

	p = text_room(out, p, v->type == FIELD_BYTES ? sinsp_buffer_room(v->len) : v->len);
	if (!p || !v->len)
		return p;
	if (v->made)
		return put_mem(p, v->p, v->len);
	if (v->type == FIELD_BYTES)
		return sinsp_buffer_put(p, (const uint8_t *)v->p, v->len, a->buf_fmt, max);
	return put_utf8(p, v->p, v->len);
}

int sinsp_value_text(struct sinsp_text *out, const struct sinsp_asker *a,
		     const struct sinsp_value *v)
{
	char *p = text_begin(out, 2 * VALUE_ROOM);

	if (!p)
		return -ENOMEM;
	switch (v->type) {
	case FIELD_INT:
		p = v->fmt ? put_number(p, v->fmt, v->u) : put_i64(p, v->i);
		break;
	case FIELD_DOUBLE:
		p += snprintf(p, 2 * VALUE_ROOM, "%.3f", v->d);
		break;
	case FIELD_BOOL:
		p = v->u ? put_lit(p, "true") : put_lit(p, "false");
		break;
	case FIELD_IP:
		p = put_ip(p, v);
		break;
	case FIELD_NET:
		p = put_ip(p, v);
		if (v->prefix) {
			*p++ = '/';
			p = put_u64(p, v->prefix);
		}
		break;
	case FIELD_PORT:
		p = put_port(p, a, v->u);
		break;
	case FIELD_STR:
	case FIELD_PATH:
	case FIELD_BYTES:
		p = put_bytes(out, p, a, v);
		break;
	default:
		p = put_number(p, v->fmt, v->u);
	}
	return text_end(out, p);
}
