/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets: their type, addresses and names. The tuple that a call reports names an unconnected
 * socket; the side that accepted, connected or sent first determines which end is local. */
#include <errno.h>
#include <string.h>

#include "event/event_table.h"
#include "parsers.h"
#include "socket_params.h"
#include "state/import.h"
#include "state/pathname.h"
#include "state/sockname.h"

enum { SOCK_CLOEXEC = 02000000 };

static void set_name(struct sinsp_parse *p, struct sinsp_fd *fd, const char *text, size_t n)
{
	sinsp_fd_set_name(&p->s->threads.fds, fd, text, n);
}

static int keeps_utf8(const struct sinsp_parse *p)
{
	return !sinsp_quirk(p->s, SINSP_QUIRK_ASCII_SOCKET_PATHS);
}

static int has_role(const struct sinsp_fd *fd)
{
	return fd->flags & (SINSP_FD_F_CLIENT | SINSP_FD_F_SERVER);
}

static struct sinsp_fd *add_socket(struct sinsp_parse *p, int64_t num, unsigned int domain,
				   unsigned int type, unsigned int proto)
{
	struct sinsp_fd *fd = sinsp_parse_new_fd(p, num, socket_fd_type(domain));

	if (fd && (domain == SINSP_AF_INET || domain == SINSP_AF_INET6))
		fd->l4proto = socket_l4proto(type, proto);
	return fd;
}

void sinsp_parse_socket(struct sinsp_parse *p)
{
	const struct scap_param *domain = sinsp_call_param(p, SINSP_P_domain);
	unsigned int type = sinsp_u64(sinsp_call_param(p, SINSP_P_type), 0);
	struct sinsp_fd *fd;

	if (sinsp_result(p) < 0 || !domain)
		return;
	fd = add_socket(p, sinsp_result(p), sinsp_u64(domain, 0), type,
			sinsp_u64(sinsp_call_param(p, SINSP_P_proto), 0));
	if (fd && (type & SOCK_CLOEXEC))
		fd->flags |= SINSP_FD_F_CLOEXEC;
}

void sinsp_parse_socketpair(struct sinsp_parse *p)
{
	int64_t num[2] = {sinsp_s64(sinsp_evt_param(p, SINSP_P_fd1), -1),
			  sinsp_s64(sinsp_evt_param(p, SINSP_P_fd2), -1)};
	unsigned int type = sinsp_u64(sinsp_evt_param(p, SINSP_P_type), 0);

	if (sinsp_result(p) < 0)
		return;
	for (int i = 0; i < 2; i++) {
		struct sinsp_fd *fd = sinsp_parse_new_fd(p, num[i], SCAP_FD_UNIX_SOCK);

		if (!fd)
			continue;
		sinsp_fd_edit_ends(fd)->unix_src = sinsp_u64(sinsp_evt_param(p, SINSP_P_source), 0);
		sinsp_fd_edit_ends(fd)->unix_dst = sinsp_u64(sinsp_evt_param(p, SINSP_P_peer), 0);
		if (type & SOCK_CLOEXEC)
			fd->flags |= SINSP_FD_F_CLOEXEC;
	}
}

static void listen_on(struct sinsp_fd *fd, unsigned int type, const uint8_t *ip, size_t len,
		      uint16_t port)
{
	struct sinsp_tuple *t = &sinsp_fd_edit_ends(fd)->tuple;

	fd->type = type;
	memset(t, 0, sizeof(*t));
	memcpy(t->sip, ip, len);
	t->sport = port;
	fd->flags |= SINSP_FD_F_SERVER;
}

/* Sets the address of an inet socket that listens, or counts as listening. Port 0 sets none. */
static void listen_at(struct sinsp_fd *fd, const struct scap_param *addr)
{
	if (addr->p[0] == SINSP_AF_INET && addr->len == SINSP_ADDR_V4_SZ) {
		if (get_u16(addr->p + 5))
			listen_on(fd, SCAP_FD_IPV4_SERVSOCK, addr->p + 1, 4, get_u16(addr->p + 5));
	} else if (addr->p[0] == SINSP_AF_INET6 && addr->len == SINSP_ADDR_V6_SZ) {
		uint16_t port = get_u16(addr->p + 17);

		if (port && sinsp_ip_is_mapped(addr->p + 1))
			listen_on(fd, SCAP_FD_IPV4_SERVSOCK, addr->p + 13, 4, port);
		else if (port)
			listen_on(fd, SCAP_FD_IPV6_SERVSOCK, addr->p + 1, 16, port);
	}
}

static void name_by_address(struct sinsp_parse *p, struct sinsp_fd *fd,
			    const struct scap_param *addr)
{
	char text[SINSP_SOCK_TEXT];

	set_name(p, fd, text, sinsp_sockaddr_text(text, addr->p, addr->len, keeps_utf8(p)));
}

/* A socket bound to a port counts as a server. One whose port the kernel chooses is more often a
 * client, until it listens. */
void sinsp_parse_bind(struct sinsp_parse *p)
{
	const struct scap_param *addr = sinsp_evt_param(p, SINSP_P_addr);
	const struct scap_param *local = sinsp_evt_param(p, SINSP_P_local);
	struct sinsp_fd *fd;

	if (sinsp_result(p) < 0 || !addr || !(fd = sinsp_parse_edit_socket(p)))
		return;
	listen_at(fd, addr);
	name_by_address(p, fd, local ? local : addr);
}

/* In sysdig's captures the address, which the kernel may choose, is unknown. */
void sinsp_parse_listen(struct sinsp_parse *p)
{
	const struct scap_param *local = sinsp_evt_param(p, SINSP_P_local);
	struct sinsp_fd *fd;

	if (sinsp_result(p) < 0 || !local || !(fd = sinsp_parse_edit_socket(p)))
		return;
	listen_at(fd, local);
	name_by_address(p, fd, local);
}

static int same_end(const uint8_t *ip1, uint16_t port1, const uint8_t *ip2, uint16_t port2,
		    size_t len)
{
	return port1 == port2 && !memcmp(ip1, ip2, len);
}

static int same_tuple(const struct sinsp_tuple *a, const struct sinsp_tuple *b, size_t len)
{
	return (same_end(a->sip, a->sport, b->sip, b->sport, len) &&
		same_end(a->dip, a->dport, b->dip, b->dport, len)) ||
	       (same_end(a->sip, a->sport, b->dip, b->dport, len) &&
		same_end(a->dip, a->dport, b->sip, b->sport, len));
}

/* Sets the source, and the parts of the destination that the tuple has. Returns whether anything
 * changed. */
static int merge_tuple(struct sinsp_fd *fd, unsigned int old_type, const struct sinsp_tuple *t)
{
	static const uint8_t zero[16];
	unsigned int type = fd->type;
	size_t len = type == SCAP_FD_IPV4_SOCK ? 4 : 16;
	struct sinsp_tuple *to = &sinsp_fd_edit_ends(fd)->tuple;
	const struct sinsp_tuple was = *to;

	if (type == old_type && same_tuple(to, t, len))
		return 0;
	memcpy(to->sip, t->sip, len);
	to->sport = t->sport;
	if (memcmp(t->dip, zero, len))
		memcpy(to->dip, t->dip, len);
	if (t->dport)
		to->dport = t->dport;
	return memcmp(&was, to, sizeof(was)) != 0;
}

static void read_unix_ends(struct sinsp_fd *fd, const struct scap_param *v)
{
	if (v->len < SINSP_TUPLE_UNIX_SZ)
		return;
	sinsp_fd_edit_ends(fd)->unix_src = get_u64(v->p + 1);
	sinsp_fd_edit_ends(fd)->unix_dst = get_u64(v->p + 9);
}

/* Names the socket by its addresses, with ports if it is TCP or UDP. */
static void name_by_ends(struct sinsp_parse *p, struct sinsp_fd *fd)
{
	char text[SINSP_SOCK_TEXT];

	if (fd->l4proto == SCAP_L4_TCP || fd->l4proto == SCAP_L4_UDP)
		set_name(p, fd, text, sinsp_fd_tuple_text(text, fd));
	else if (fd->l4proto == SCAP_L4_ICMP ||
		 (fd->l4proto == SCAP_L4_RAW && (fd->type == SCAP_FD_IPV4_SOCK ||
						 !sinsp_quirk(p->s, SINSP_QUIRK_RAW_IPV6_UNNAMED))))
		set_name(p, fd, text, sinsp_fd_ips_text(text, fd));
	else
		set_name(p, fd, "<unknown>", 9);
}

/* Sets the address before the call returns. */
void sinsp_parse_connect_enter(struct sinsp_parse *p)
{
	const struct scap_param *addr = sinsp_evt_param(p, SINSP_P_addr);
	struct sinsp_fd *fd = addr ? sinsp_parse_edit_socket(p) : NULL;
	char text[SINSP_SOCK_TEXT];
	struct sinsp_tuple *t;

	if (!fd)
		return;
	t = &sinsp_fd_edit_ends(fd)->tuple;
	if (addr->p[0] == SINSP_AF_INET && addr->len == SINSP_ADDR_V4_SZ) {
		fd->type = SCAP_FD_IPV4_SOCK;
		memcpy(t->dip, addr->p + 1, 4);
		t->dport = get_u16(addr->p + 5);
	} else if (addr->p[0] == SINSP_AF_INET6 && addr->len == SINSP_ADDR_V6_SZ) {
		int mapped = sinsp_ip_is_mapped(addr->p + 1);

		fd->type = mapped ? SCAP_FD_IPV4_SOCK : SCAP_FD_IPV6_SOCK;
		memcpy(t->dip, addr->p + (mapped ? 13 : 1), mapped ? 4 : 16);
		t->dport = get_u16(addr->p + 17);
	} else {
		set_name(p, fd, text, sinsp_sockaddr_text(text, addr->p, addr->len, keeps_utf8(p)));
	}
}

static void connect_inet(struct sinsp_parse *p, struct sinsp_fd *fd, unsigned int type,
			 const struct sinsp_tuple *t)
{
	unsigned int old = fd->type;
	int changed;

	fd->type = type;
	changed = merge_tuple(fd, old, t);
	/* A UDP server that connects to answer one client only. */
	if (changed && (fd->flags & SINSP_FD_F_SERVER) && type == SCAP_FD_IPV4_SOCK &&
	    fd->l4proto == SCAP_L4_UDP)
		sinsp_fd_swap_ends(fd);
	name_by_ends(p, fd);
}

void sinsp_parse_connect(struct sinsp_parse *p)
{
	const struct scap_param *v = sinsp_evt_param(p, SINSP_P_tuple);
	int64_t res = sinsp_result(p);
	struct sinsp_fd *fd = sinsp_parse_edit_socket(p);
	char text[SINSP_SOCK_TEXT];
	struct sinsp_tuple t;
	unsigned int type;

	if (!fd)
		return;
	sinsp_connect_exit(p, fd);
	if (!v || (res < 0 && res != -EINPROGRESS))
		return;
	if (socket_read_tuple(v, &t, &type)) {
		connect_inet(p, fd, type, &t);
	} else {
		set_name(p, fd, text, sinsp_socktuple_text(text, v->p, v->len, keeps_utf8(p)));
		read_unix_ends(fd, v);
	}
	if (!has_role(fd))
		fd->flags |= SINSP_FD_F_CLIENT;
}

void sinsp_parse_accept(struct sinsp_parse *p)
{
	const struct scap_param *v = sinsp_evt_param(p, SINSP_P_tuple);
	char text[SINSP_SOCK_TEXT];
	struct sinsp_tuple t;
	struct sinsp_fd *fd;
	unsigned int type;
	int inet;

	if (sinsp_result(p) < 0 || !v)
		return;
	inet = socket_read_tuple(v, &t, &type);
	if (!inet && v->p[0] != SINSP_AF_UNIX)
		return;
	fd = sinsp_parse_new_fd(p, sinsp_result(p), inet ? type : SCAP_FD_UNIX_SOCK);
	if (!fd)
		return;
	if (inet) {
		sinsp_fd_edit_ends(fd)->tuple = t;
		fd->l4proto = SCAP_L4_TCP;
	} else {
		read_unix_ends(fd, v);
	}
	set_name(p, fd, text, sinsp_socktuple_text(text, v->p, v->len, keeps_utf8(p)));
	fd->flags |= SINSP_FD_F_SERVER | SINSP_FD_F_CONNECTED;
	if (sinsp_u64(sinsp_evt_param(p, SINSP_P_flags), 0) & SOCK_CLOEXEC)
		fd->flags |= SINSP_FD_F_CLOEXEC;
}

/* An unknown descriptor that sends to an address is most likely a UDP socket. */
void sinsp_parse_sendto_enter(struct sinsp_parse *p)
{
	const struct scap_param *v = sinsp_evt_param(p, SINSP_P_tuple);

	if (p->e->fd || !p->e->thread || p->e->fdnum < 0 || !v)
		return;
	if (v->p[0] == SINSP_AF_INET || v->p[0] == SINSP_AF_INET6)
		add_socket(p, p->e->fdnum, v->p[0], SOCK_DGRAM, PROTO_UDP);
}

/* Marks a socket that receives first as a server, one that sends first as a client. */
static void guess_role(struct sinsp_fd *fd, int incoming)
{
	if (!has_role(fd))
		fd->flags |= incoming ? SINSP_FD_F_SERVER : SINSP_FD_F_CLIENT;
}

/* Swaps the ends if needed: the tuple of a message runs from sender to receiver, that of a
 * descriptor from client to server. */
static void set_direction(struct sinsp_fd *fd, int incoming)
{
	guess_role(fd, incoming);
	if (fd->flags & (incoming ? SINSP_FD_F_CLIENT : SINSP_FD_F_SERVER))
		sinsp_fd_swap_ends(fd);
}

static int has_end(const uint8_t *ip, uint16_t port)
{
	static const uint8_t zero[16];

	return !same_end(ip, port, zero, 0, sizeof(zero));
}

/* Sets the local address, if the call requested no sender's address and the socket is not
 * connected. Returns whether it is new. */
static int set_local_end(struct sinsp_fd *fd, unsigned int type, const struct sinsp_tuple *t,
			 int incoming)
{
	const int v6 = type == SCAP_FD_IPV6_SOCK;

	if (*fd->name || !incoming || !has_end(t->dip, t->dport))
		return 0;
	listen_on(fd, v6 ? SCAP_FD_IPV6_SERVSOCK : SCAP_FD_IPV4_SERVSOCK, t->dip, v6 ? 16 : 4,
		  t->dport);
	return 1;
}

/* Sets both ends to those of this message. Returns whether anything changed. */
static int set_tuple(const struct sinsp_parse *p, struct sinsp_fd *fd, const struct scap_param *v,
		     int incoming)
{
	const struct sinsp_tuple was = *sinsp_fd_tuple(fd);
	unsigned int old = fd->type, type;
	struct sinsp_tuple t;

	if (!socket_read_tuple(v, &t, &type))
		return 0;
	if (fd->l4proto == SCAP_L4_UNKNOWN)
		fd->l4proto = SCAP_L4_UDP;
	if (!has_end(incoming ? t.sip : t.dip, incoming ? t.sport : t.dport))
		return set_local_end(fd, type, &t, incoming);
	fd->type = type;
	sinsp_fd_edit_ends(fd)->tuple = t;
	sinsp_ifaces_complete(&p->s->ifaces, fd, incoming);
	set_direction(fd, incoming);
	return type != old || !*fd->name || memcmp(&was, sinsp_fd_tuple(fd), sizeof(was));
}

static int is_inet_socket(const struct sinsp_fd *fd)
{
	return fd->type == SCAP_FD_IPV4_SOCK || fd->type == SCAP_FD_IPV6_SOCK;
}

static void update_tuple(struct sinsp_parse *p, const struct scap_param *v, int incoming)
{
	struct sinsp_fd *fd = v ? sinsp_parse_edit_socket(p) : NULL;
	char text[SINSP_SOCK_TEXT];

	if (!fd)
		return;
	if (v->p[0] == SINSP_AF_UNIX) {
		fd->type = SCAP_FD_UNIX_SOCK;
		read_unix_ends(fd, v);
		set_name(p, fd, text, sinsp_socktuple_text(text, v->p, v->len, keeps_utf8(p)));
	} else if (set_tuple(p, fd, v, incoming)) {
		name_by_ends(p, fd);
	}
}

/* A data transfer implies a connection. A transfer of no bytes does not: a pending connect stays
 * pending. */
static void note_connected(struct sinsp_parse *p)
{
	const struct sinsp_fd *fd = p->e->fd;
	struct sinsp_fd *to = NULL;

	if (fd->flags & SINSP_FD_F_CONNECT_PENDING && !sinsp_result(p))
		return;
	if (is_inet_socket(fd) && (fd->flags & SINSP_FD_CONNECT_STATES) != SINSP_FD_F_CONNECTED)
		to = sinsp_parse_edit_fd(p);
	if (to)
		sinsp_fd_set_connect_state(to, SINSP_FD_F_CONNECTED);
}

static int needs_tuple(struct sinsp_parse *p)
{
	const struct sinsp_fd *fd = p->e->fd;

	if (!fd || sinsp_result(p) < 0)
		return 0;
	note_connected(p);
	return fd->l4proto != SCAP_L4_TCP || !is_inet_socket(fd) || !*fd->name;
}

void sinsp_parse_send(struct sinsp_parse *p)
{
	if (needs_tuple(p))
		update_tuple(p, sinsp_call_param(p, SINSP_P_tuple), 0);
}

void sinsp_parse_recv(struct sinsp_parse *p)
{
	if (needs_tuple(p))
		update_tuple(p, sinsp_evt_param(p, SINSP_P_tuple), 1);
}
