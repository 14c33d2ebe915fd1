/* SPDX-License-Identifier: Apache-2.0 */
/* Formats socket addresses as sysdig does. */
#include "sockname.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "event/event_table.h"
#include "utf8.h"

int sinsp_ip_is_mapped(const uint8_t ip[16])
{
	static const uint8_t prefix[12] = {[10] = 0xff, 0xff};

	return !memcmp(ip, prefix, sizeof(prefix));
}

static size_t put(char *out, int n)
{
	if (n < 0)
		n = 0;
	if (n >= SINSP_SOCK_TEXT)
		n = SINSP_SOCK_TEXT - 1;
	out[n] = 0;
	return n;
}

struct ip_text {
	char s[INET6_ADDRSTRLEN];
};

static struct ip_text ip_text(const uint8_t *ip, int v6)
{
	struct ip_text t;

	inet_ntop(v6 ? AF_INET6 : AF_INET, ip, t.s, sizeof(t.s));
	return t;
}

static size_t server_text(char *out, const uint8_t *ip, uint16_t port, int v6)
{
	return put(out, snprintf(out, SINSP_SOCK_TEXT, "%s:%u", ip_text(ip, v6).s, port));
}

static size_t pair_text(char *out, const uint8_t *sip, uint16_t sport, const uint8_t *dip,
			uint16_t dport, int v6)
{
	return put(out, snprintf(out, SINSP_SOCK_TEXT, "%s:%u->%s:%u", ip_text(sip, v6).s, sport,
				 ip_text(dip, v6).s, dport));
}

/* Copies the path up to its NUL, without bytes that do not print; valid UTF-8 stays if @strict. */
static size_t path_text(char *out, size_t room, const uint8_t *p, size_t len, int strict)
{
	size_t n = 0, step;

	for (size_t i = 0; i < len && p[i]; i += step) {
		step = strict ? sinsp_utf8_len(p + i, len - i) : 0;
		if (!step && !(p[i] >= ' ' && p[i] < 0x7f)) {
			step = 1;
			continue;
		}
		step = step ?: 1;
		if (n + step >= room)
			break;
		memcpy(out + n, p + i, step);
		n += step;
	}
	out[n] = 0;
	return n;
}

size_t sinsp_sockaddr_text(char *out, const uint8_t *p, size_t len, int strict)
{
	if (!len)
		return put(out, snprintf(out, SINSP_SOCK_TEXT, "NULL"));
	switch (p[0]) {
	case SINSP_AF_UNIX:
		return path_text(out, SINSP_SOCK_TEXT, p + 1, len - 1, strict);
	case SINSP_AF_INET:
		if (len == SINSP_ADDR_V4_SZ)
			return server_text(out, p + 1, get_u16(p + 5), 0);
		return put(out, snprintf(out, SINSP_SOCK_TEXT, "INVALID IPv4"));
	case SINSP_AF_INET6:
		if (len == SINSP_ADDR_V6_SZ)
			return server_text(out, p + 1, get_u16(p + 17), 1);
		return put(out, snprintf(out, SINSP_SOCK_TEXT, "INVALID IPv6"));
	}
	return put(out, snprintf(out, SINSP_SOCK_TEXT, "family %d", (int8_t)p[0]));
}

static size_t unix_tuple_text(char *out, const uint8_t *p, size_t len, int strict)
{
	size_t n = put(out, snprintf(out, SINSP_SOCK_TEXT, "%lx->%lx ", (long)get_u64(p + 1),
				     (long)get_u64(p + 9)));

	return n + path_text(out + n, SINSP_SOCK_TEXT - n, p + SINSP_TUPLE_UNIX_SZ,
			     len - SINSP_TUPLE_UNIX_SZ, strict);
}

size_t sinsp_socktuple_text(char *out, const uint8_t *p, size_t len, int strict)
{
	if (!len)
		return put(out, snprintf(out, SINSP_SOCK_TEXT, "NULL"));
	switch (p[0]) {
	case SINSP_AF_UNIX:
		if (len >= SINSP_TUPLE_UNIX_SZ)
			return unix_tuple_text(out, p, len, strict);
		return put(out, 0);
	case SINSP_AF_INET:
		if (len == SINSP_TUPLE_V4_SZ)
			return pair_text(out, p + 1, get_u16(p + 5), p + 7, get_u16(p + 11), 0);
		return put(out, snprintf(out, SINSP_SOCK_TEXT, "INVALID IPv4"));
	case SINSP_AF_INET6:
		if (len != SINSP_TUPLE_V6_SZ)
			return put(out, snprintf(out, SINSP_SOCK_TEXT, "INVALID IPv6"));
		if (sinsp_ip_is_mapped(p + 1) && sinsp_ip_is_mapped(p + 19))
			return pair_text(out, p + 13, get_u16(p + 17), p + 31, get_u16(p + 35), 0);
		return pair_text(out, p + 1, get_u16(p + 17), p + 19, get_u16(p + 35), 1);
	}
	return put(out, snprintf(out, SINSP_SOCK_TEXT, "family %d", (int8_t)p[0]));
}

size_t sinsp_fd_tuple_text(char *out, const struct sinsp_fd *fd)
{
	const struct sinsp_tuple *t = sinsp_fd_tuple(fd);

	switch (fd->type) {
	case SCAP_FD_IPV4_SOCK:
	case SCAP_FD_IPV6_SOCK:
		return pair_text(out, t->sip, t->sport, t->dip, t->dport,
				 fd->type == SCAP_FD_IPV6_SOCK);
	case SCAP_FD_IPV4_SERVSOCK:
	case SCAP_FD_IPV6_SERVSOCK:
		return server_text(out, t->sip, t->sport, fd->type == SCAP_FD_IPV6_SERVSOCK);
	}
	return put(out, 0);
}

size_t sinsp_fd_ip_text(char *out, const struct sinsp_fd *fd, int is_dest)
{
	const struct sinsp_tuple *t = sinsp_fd_tuple(fd);
	const int v6 = fd->type == SCAP_FD_IPV6_SOCK || fd->type == SCAP_FD_IPV6_SERVSOCK;

	inet_ntop(v6 ? AF_INET6 : AF_INET, is_dest ? t->dip : t->sip, out, INET6_ADDRSTRLEN);
	return strlen(out);
}

size_t sinsp_fd_ips_text(char *out, const struct sinsp_fd *fd)
{
	const struct sinsp_tuple *t = sinsp_fd_tuple(fd);
	int v6 = fd->type == SCAP_FD_IPV6_SOCK;

	return put(out, snprintf(out, SINSP_SOCK_TEXT, "%s->%s", ip_text(t->sip, v6).s,
				 ip_text(t->dip, v6).s));
}
