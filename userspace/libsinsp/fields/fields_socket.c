/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of the socket of an event: its ends, role and connect. A connection has a client end,
 * which began it, and a server end; names and tuples go from client to server. In saker's captures
 * connect and accept decide which end is ours; in others, as in sysdig, the addresses of the
 * machine, which say nothing for a machine that talks to itself.
 */
#include <arpa/inet.h>

#include "errno_signal_names.h"
#include "fields_fd.h"
#include "port_name.h"
#include "process.h"
#include "state/inspector.h"
#include "text.h"
#include "value_writer.h"

/* Variants of rows: the end of a connection. */
enum end {
	END_CLIENT,
	END_SERVER,
	END_LOCAL,
	END_REMOTE,
	END_BOTH,
};

static int is_address_of_machine(const struct sinsp_eval *e, const struct sinsp_fd *fd,
				 const uint8_t *ip)
{
	const struct sinsp_container *c = sinsp_thread_container(e->evt->thread);
	uint8_t own[4];

	/* A container has an address of its own. */
	if (c && !fd_is_v6(fd) && inet_pton(AF_INET, c->ip, own) == 1 && memcmp(own, "\0\0\0", 4))
		if (!memcmp(own, ip, 4))
			return 1;
	return sinsp_ifaces_have(&e->insp->ifaces, ip, fd_is_v6(fd));
}

static int has_role(const struct sinsp_fd *fd)
{
	return !!(fd->flags & (SINSP_FD_F_CLIENT | SINSP_FD_F_SERVER));
}

static int client_is_ours(const struct sinsp_eval *e, const struct sinsp_fd *fd)
{
	if (e->insp->native)
		return !!(fd->flags & SINSP_FD_F_CLIENT);
	return is_address_of_machine(e, fd, sinsp_fd_tuple(fd)->sip);
}

/* Returns the place of an end in the tuple, whose source is the client; -1: unknown, or none. */
static int place_of(const struct sinsp_eval *e, const struct sinsp_fd *fd, enum end end)
{
	if (fd_is_listening(fd))
		return end == END_SERVER && (has_role(fd) || e->insp->native) ? END_CLIENT : -1;
	if (!fd_is_connection(fd) || !has_role(fd))
		return -1;
	if (end < END_LOCAL)
		return (int)end;
	return (end == END_LOCAL) == client_is_ours(e, fd) ? END_CLIENT : END_SERVER;
}

static int address_at(struct sinsp_value *v, const struct sinsp_fd *fd, int place)
{
	const struct sinsp_tuple *t = sinsp_fd_tuple(fd);

	if (place < 0)
		return 0;
	return field_mem(v, place == END_CLIENT ? t->sip : t->dip, fd_is_v6(fd) ? 16 : 4);
}

static int get_ip(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		  const struct sinsp_value **more)
{
	const struct sinsp_fd *fd = field_fd(e);

	(void)more;
	return fd ? address_at(v, fd, place_of(e, fd, (enum end)f->row->variant)) : 0;
}

/* Gets both ends, the client's first; a listening socket has one. */
static int both(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_value **more,
		int (*get)(struct sinsp_value *v, const struct sinsp_fd *fd, int place))
{
	const struct sinsp_fd *fd = field_fd(e);
	struct sinsp_value *list;

	if (!fd || (!fd_is_connection(fd) && !fd_is_listening(fd)))
		return 0;
	if (fd_is_listening(fd))
		return get(v, fd, END_CLIENT);
	list = sinsp_eval_alloc(e, 2 * sizeof(*list));
	if (!list)
		return -ENOMEM;
	list[0] = list[1] = *v;
	get(&list[0], fd, END_CLIENT);
	get(&list[1], fd, END_SERVER);
	*v = list[0];
	*more = list;
	return 2;
}

static int get_ips(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	(void)f;
	return both(e, v, more, address_at);
}

static int port_at(struct sinsp_value *v, const struct sinsp_fd *fd, int place)
{
	const struct sinsp_tuple *t = sinsp_fd_tuple(fd);

	return place < 0 ? 0 : field_u(v, place == END_CLIENT ? t->sport : t->dport);
}

static int port_of(struct sinsp_eval *e, struct sinsp_value *v, enum end end)
{
	const struct sinsp_fd *fd = field_fd(e);

	if (!fd)
		return 0;
	if (fd_is_listening(fd))
		return end == END_SERVER ? port_at(v, fd, END_CLIENT) : 0;
	return port_at(v, fd, place_of(e, fd, end));
}

static int get_port(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	(void)more;
	return port_of(e, v, (enum end)f->row->variant);
}

static int get_ports(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	(void)f;
	return both(e, v, more, port_at);
}

static const char *l4proto_name(const struct sinsp_fd *fd)
{
	switch (fd->l4proto) {
	case SCAP_L4_TCP:
		return "tcp";
	case SCAP_L4_UDP:
		return "udp";
	case SCAP_L4_ICMP:
		return "icmp";
	case SCAP_L4_RAW:
		return "raw";
	default:
		return NULL;
	}
}

/* Gets the port number, or with -R the name of its service. */
static int get_service(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		       const struct sinsp_value **more)
{
	struct sinsp_value port;
	char *p;

	(void)more;
	if (port_of(e, &port, (enum end)f->row->variant) <= 0)
		return 0;
	p = sinsp_eval_alloc(e, VALUE_ROOM);
	if (!p)
		return -ENOMEM;
	v->p = p;
	p = e->port_names ? port_name_put(p, (uint16_t)port.u) : put_u64(p, port.u);
	v->len = (uint32_t)(p - v->p);
	return 1;
}

static int get_l4proto(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		       const struct sinsp_value **more)
{
	const struct sinsp_fd *fd = field_fd(e);
	int is_socket;

	(void)f, (void)more;
	if (!fd)
		return 0;
	is_socket = fd_is_connection(fd) || fd_is_listening(fd);
	if (!field_has_default(e))
		return is_socket ? field_str(v, l4proto_name(fd)) : 0;
	/* sysdig has one value for sockets that connect or accept, another for all others. */
	if (fd_is_connection(fd) && !has_role(fd) && fd->l4proto != SCAP_L4_RAW)
		is_socket = 0;
	return field_str(v, (is_socket ? l4proto_name(fd) : NULL) ?: "<NA>");
}

static int get_sockfamily(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			  const struct sinsp_value **more)
{
	const struct sinsp_fd *fd = field_fd(e);

	(void)f, (void)more;
	if (!fd)
		return 0;
	if (fd->type == SCAP_FD_UNIX_SOCK)
		return field_str(v, "unix");
	return fd_is_connection(fd) || fd_is_listening(fd) ? field_str(v, "ip") : 0;
}

static int get_is_server(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			 const struct sinsp_value **more)
{
	const struct sinsp_fd *fd = field_fd(e);

	(void)f, (void)more;
	if (!fd)
		return 0;
	if (!fd_is_connection(fd))
		return field_u(v, (uint64_t)fd_is_listening(fd));
	if (!e->insp->native)
		return field_u(v, (uint64_t)is_address_of_machine(e, fd, sinsp_fd_tuple(fd)->dip));
	return field_u(v, !!(fd->flags & SINSP_FD_F_SERVER));
}

static int get_connected(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			 const struct sinsp_value **more)
{
	const struct sinsp_fd *fd = field_fd(e);

	(void)f, (void)more;
	return fd ? field_u(v, !!(fd->flags & SINSP_FD_F_CONNECTED)) : 0;
}

/* ---- connect ---- */

/* Returns the connect; NULL: there was none, or its outcome is unknown. */
static const struct sinsp_connect *outcome_of(const struct sinsp_eval *e)
{
	const struct sinsp_fd *fd = field_fd(e);
	const struct sinsp_connect *c = fd ? sinsp_fd_connect(fd) : NULL;

	return c && c->known ? c : NULL;
}

/* Returns whether a non-blocking connect is in progress, as far as events show. */
static int is_connecting(const struct sinsp_eval *e)
{
	const struct sinsp_fd *fd = field_fd(e);

	return fd && fd->flags & SINSP_FD_F_CONNECT_PENDING;
}

static int get_connect_result(struct sinsp_eval *e, const struct sinsp_field *f,
			      struct sinsp_value *v, const struct sinsp_value **more)
{
	const struct sinsp_connect *c = outcome_of(e);
	const char *name;
	char *p;

	(void)f, (void)more;
	if (!c)
		return is_connecting(e) ? field_str(v, "EINPROGRESS") : 0;
	name = c->error ? sinsp_errno_name(c->error) : "SUCCESS";
	if (name)
		return field_str(v, name);
	p = sinsp_eval_alloc(e, TEXT_NUM_MAX);
	return p ? field_mem(v, p, (size_t)(put_i64(p, -(int64_t)c->error) - p)) : -ENOMEM;
}

static int get_connect_latency(struct sinsp_eval *e, const struct sinsp_field *f,
			       struct sinsp_value *v, const struct sinsp_value **more)
{
	const struct sinsp_connect *c = outcome_of(e);

	(void)f, (void)more;
	return c && c->has_latency ? field_u(v, c->latency_ns) : 0;
}

static int get_connect_done(struct sinsp_eval *e, const struct sinsp_field *f,
			    struct sinsp_value *v, const struct sinsp_value **more)
{
	(void)f, (void)more;
	return field_fd(e) ? field_u(v, e->evt->connect_done) : 0;
}

static int get_none(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	(void)e, (void)f, (void)v, (void)more;
	return 0;
}

/* clang-format off */
#define ROW(name, type, fmt, cost, flags, variant, get, help)                                      \
	{name, FIELD_##type, FIELD_FMT_##fmt, FIELD_COST_##cost, flags, variant, get, help, NULL,  \
	 .needs = FIELD_NEEDS_FILES}
#define ROW_OF(name, type, fmt, cost, flags, variant, get, help, values)                           \
	{name, FIELD_##type, FIELD_FMT_##fmt, FIELD_COST_##cost, flags, variant, get, help, NULL, values, \
	 .needs = FIELD_NEEDS_FILES}
#define EITHER (FIELD_F_LIST | FIELD_F_ENDS | FIELD_F_FILTER_ONLY)

/* Values of fd.l4proto: ours, and sysdig's for the others. */
static const char *const l4protos[] = {"tcp", "udp", "icmp", "raw", "<NA>", NULL};
static const char *const sockfamilies[] = {"ip", "unix", NULL};

static const struct sinsp_field_row rows[] = {
	ROW("fd.ip", IP, DEC, STATE, EITHER, END_BOTH, get_ips,
	    "address of either end of a connection"),
	ROW("fd.cip", IP, DEC, STATE, 0, END_CLIENT, get_ip, "client address"),
	ROW("fd.sip", IP, DEC, STATE, 0, END_SERVER, get_ip, "server address"),
	ROW("fd.lip", IP, DEC, STATE, 0, END_LOCAL, get_ip, "local address"),
	ROW("fd.rip", IP, DEC, STATE, 0, END_REMOTE, get_ip, "remote address"),
	ROW("fd.port", PORT, DEC, STATE, EITHER, END_BOTH, get_ports,
	    "port of either end of a connection"),
	ROW("fd.cport", PORT, DEC, STATE, 0, END_CLIENT, get_port, "client port"),
	ROW("fd.sport", PORT, DEC, STATE, 0, END_SERVER, get_port, "server port"),
	ROW("fd.lport", PORT, DEC, STATE, 0, END_LOCAL, get_port, "local port"),
	ROW("fd.rport", PORT, DEC, STATE, 0, END_REMOTE, get_port, "remote port"),
	ROW_OF("fd.l4proto", STR, DEC, STATE, 0, 0, get_l4proto,
	    "transport protocol of the socket: tcp, udp, icmp or raw", l4protos),
	ROW_OF("fd.sockfamily", STR, DEC, STATE, 0, 0, get_sockfamily,
	    "address family of the socket: ip or unix", sockfamilies),
	ROW("fd.is_server", BOOL, DEC, STATE, 0, 0, get_is_server,
	    "true if the local end is the server"),
	ROW("fd.proto", PORT, DEC, STATE, EITHER, END_BOTH, get_ports, "as fd.port"),
	ROW("fd.cproto", STR, DEC, TEXT, 0, END_CLIENT, get_service,
	    "client port; with -R the name of its service"),
	ROW("fd.sproto", STR, DEC, TEXT, 0, END_SERVER, get_service,
	    "server port; with -R the name of its service"),
	ROW("fd.lproto", STR, DEC, TEXT, 0, END_LOCAL, get_service,
	    "local port; with -R the name of its service"),
	ROW("fd.rproto", STR, DEC, TEXT, 0, END_REMOTE, get_service,
	    "remote port; with -R the name of its service"),
	ROW("fd.net", NET, DEC, STATE, EITHER, END_BOTH, get_ips,
	    "network of either end, such as 10.0.0.0/8"),
	ROW("fd.cnet", NET, DEC, STATE, FIELD_F_FILTER_ONLY, END_CLIENT, get_ip,
	    "network of the client, such as 10.0.0.0/8"),
	ROW("fd.snet", NET, DEC, STATE, FIELD_F_FILTER_ONLY, END_SERVER, get_ip,
	    "network of the server, such as 10.0.0.0/8"),
	ROW("fd.lnet", NET, DEC, STATE, FIELD_F_FILTER_ONLY, END_LOCAL, get_ip,
	    "network of the local end, such as 10.0.0.0/8"),
	ROW("fd.rnet", NET, DEC, STATE, FIELD_F_FILTER_ONLY, END_REMOTE, get_ip,
	    "network of the remote end, such as 10.0.0.0/8"),
	ROW("fd.connected", BOOL, DEC, STATE, 0, 0, get_connected,
	    "true if the socket is connected"),
	ROW("fd.connect.result", STR, DEC, STATE, 0, 0, get_connect_result,
	    "outcome of connect, also of a non-blocking one: SUCCESS or the name of the error, "
	    "from the event by which the process read it (connect, getsockopt of SO_ERROR, "
	    "getpeername, a read or write); EINPROGRESS before"),
	ROW("fd.connect.latency", DURATION, DEC, STATE, 0, 0, get_connect_latency,
	    "nanoseconds from the start of connect until the process read its outcome"),
	ROW("fd.connect.done", BOOL, DEC, STATE, 0, 0, get_connect_done,
	    "true for the event by which the process read the outcome of connect"),
	ROW("fd.cip.name", STR, DEC, STATE, 0, 0, get_none,
	    "no value: saker does not resolve host names"),
	ROW("fd.sip.name", STR, DEC, STATE, 0, 0, get_none,
	    "no value: saker does not resolve host names"),
	ROW("fd.lip.name", STR, DEC, STATE, 0, 0, get_none,
	    "no value: saker does not resolve host names"),
	ROW("fd.rip.name", STR, DEC, STATE, 0, 0, get_none,
	    "no value: saker does not resolve host names"),
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_socket = {
	.name = "fd",
	.title = "fd (sockets)",
	.help = "The socket that the event is about, and its two ends",
	FIELD_ROWS(rows),
};
