/* SPDX-License-Identifier: Apache-2.0 */
/* Prints addresses: sockaddrs, tuples of sockets, and IP addresses. */
#include <arpa/inet.h>

#include "port_name.h"
#include "sockname.h"
#include "value_kinds.h"

static char *put_ipv4(char *p, const uint8_t *ip)
{
	for (int i = 0; i < 4; i++) {
		if (i)
			*p++ = '.';
		p = put_u64(p, ip[i]);
	}
	return p;
}

static char *put_ipv6(char *p, const uint8_t *ip)
{
	inet_ntop(AF_INET6, ip, p, INET6_ADDRSTRLEN);
	return p + strlen(p);
}

static char *put_endpoint(const struct value_writer *w, char *p, const uint8_t *ip,
			  const uint8_t *port, int ipv6)
{
	p = ipv6 ? put_ipv6(p, ip) : put_ipv4(p, ip);
	*p++ = ':';
	return w->port_names ? port_name_put(p, get_u16(port)) : put_u64(p, get_u16(port));
}

static char *put_family(char *p, uint8_t family)
{
	return put_i64(put_lit(p, "family "), (int8_t)family);
}

static char *put_unix_path(struct value_writer *w, char *p, const struct value *v, size_t from)
{
	size_t n;

	if (v->len <= from)
		return p;
	n = text_len(v, from);
	p = text_room(w->out, p, n + VALUE_ROOM);
	return p ? put_name(w, p, (const char *)v->p + from, n) : NULL;
}

char *value_put_sockaddr(struct value_writer *w, char *p, const struct value *v)
{
	switch (v->p[0]) {
	case SINSP_AF_UNIX:
		return put_unix_path(w, p, v, 1);
	case SINSP_AF_INET:
		if (v->len != SINSP_ADDR_V4_SZ)
			return put_lit(p, "INVALID IPv4");
		return put_endpoint(w, p, v->p + 1, v->p + 5, 0);
	case SINSP_AF_INET6:
		if (v->len != SINSP_ADDR_V6_SZ)
			return put_lit(p, "INVALID IPv6");
		return put_endpoint(w, p, v->p + 1, v->p + 17, 1);
	default:
		return put_family(p, v->p[0]);
	}
}

static char *put_inet6_tuple(const struct value_writer *w, char *p, const struct value *v)
{
	const uint8_t *src = v->p + 1, *dst = v->p + 19;
	const int ipv4 = sinsp_ip_is_mapped(src) && sinsp_ip_is_mapped(dst);

	p = put_endpoint(w, p, src + (ipv4 ? 12 : 0), src + 16, !ipv4);
	p = put_lit(p, "->");
	return put_endpoint(w, p, dst + (ipv4 ? 12 : 0), dst + 16, !ipv4);
}

char *value_put_tuple(struct value_writer *w, char *p, const struct value *v)
{
	switch (v->p[0]) {
	case SINSP_AF_INET:
		if (v->len != SINSP_TUPLE_V4_SZ)
			return put_lit(p, "INVALID IPv4");
		p = put_endpoint(w, p, v->p + 1, v->p + 5, 0);
		p = put_lit(p, "->");
		return put_endpoint(w, p, v->p + 7, v->p + 11, 0);
	case SINSP_AF_INET6:
		if (v->len != SINSP_TUPLE_V6_SZ)
			return put_lit(p, "INVALID IPv6");
		return put_inet6_tuple(w, p, v);
	case SINSP_AF_UNIX:
		if (v->len < SINSP_TUPLE_UNIX_SZ)
			return put_lit(p, "INVALID unix");
		p = put_lit(put_hex(p, get_u64(v->p + 1)), "->");
		p = put_hex(p, get_u64(v->p + 9));
		*p++ = ' ';
		return put_unix_path(w, p, v, SINSP_TUPLE_UNIX_SZ);
	default:
		return put_family(p, v->p[0]);
	}
}

char *value_put_addr4(struct value_writer *w, char *p, const struct value *v)
{
	(void)w;
	return put_ipv4(p, v->p);
}

char *value_put_addr6(struct value_writer *w, char *p, const struct value *v)
{
	(void)w;
	return put_ipv6(p, v->p);
}

/* Writes an IPv4 or IPv6 address, by its length; a network is followed by its mask. */
char *value_put_addr(struct value_writer *w, char *p, const struct value *v)
{
	(void)w;
	return v->len >= 16 ? put_ipv6(p, v->p) : put_ipv4(p, v->p);
}
