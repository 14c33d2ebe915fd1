/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the type, the protocol and the addresses of a socket from parameters of an event. */
#include "socket_params.h"

#include <string.h>

#include "state/sockname.h"

unsigned int socket_l4proto(unsigned int type, unsigned int proto)
{
	int raw = type == SOCK_RAW;

	switch (proto) {
	case PROTO_TCP:
		return raw ? SCAP_L4_RAW : SCAP_L4_TCP;
	case PROTO_UDP:
		return raw ? SCAP_L4_RAW : SCAP_L4_UDP;
	case PROTO_ICMP:
		return raw ? SCAP_L4_RAW : SCAP_L4_ICMP;
	case PROTO_RAW:
		return SCAP_L4_RAW;
	case PROTO_IP:
		if ((type & SOCK_TYPE_MASK) == SOCK_STREAM)
			return SCAP_L4_TCP;
		return (type & SOCK_TYPE_MASK) == SOCK_DGRAM ? SCAP_L4_UDP : SCAP_L4_UNKNOWN;
	}
	return SCAP_L4_UNKNOWN;
}

unsigned int socket_fd_type(unsigned int domain)
{
	switch (domain) {
	case SINSP_AF_UNIX:
		return SCAP_FD_UNIX_SOCK;
	case SINSP_AF_INET:
		return SCAP_FD_IPV4_SOCK;
	case SINSP_AF_INET6:
		return SCAP_FD_IPV6_SOCK;
	case SINSP_AF_NETLINK:
		return SCAP_FD_NETLINK;
	}
	return 0;
}

int socket_read_tuple(const struct scap_param *v, struct sinsp_tuple *t, unsigned int *type)
{
	memset(t, 0, sizeof(*t));
	if (v->p[0] == SINSP_AF_INET && v->len == SINSP_TUPLE_V4_SZ) {
		*type = SCAP_FD_IPV4_SOCK;
		memcpy(t->sip, v->p + 1, 4);
		t->sport = get_u16(v->p + 5);
		memcpy(t->dip, v->p + 7, 4);
		t->dport = get_u16(v->p + 11);
		return 1;
	}
	if (v->p[0] != SINSP_AF_INET6 || v->len != SINSP_TUPLE_V6_SZ)
		return 0;
	t->sport = get_u16(v->p + 17);
	t->dport = get_u16(v->p + 35);
	if (sinsp_ip_is_mapped(v->p + 1) && sinsp_ip_is_mapped(v->p + 19)) {
		*type = SCAP_FD_IPV4_SOCK;
		memcpy(t->sip, v->p + 13, 4);
		memcpy(t->dip, v->p + 31, 4);
	} else {
		*type = SCAP_FD_IPV6_SOCK;
		memcpy(t->sip, v->p + 1, 16);
		memcpy(t->dip, v->p + 19, 16);
	}
	return 1;
}
