/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of the kernel's events of TCP. The parameters that all of them begin with come first. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

#include "field_params.h"
#include "field_rows.h"
#include "sockname.h"
#include "tcp_params.h"

enum { ROLE_SERVER = 2, TUPLE_TEXT_SZ = 2 * (INET6_ADDRSTRLEN + sizeof(":65535")) + 2 };

/* A variant is a parameter and the events that have it. */
#define OF_EVENT(sym) (1u << (8 + (EVT_TCP_##sym##_E - EVT_TCP_STATE_E) / 2))
#define OF_ALL 0xff00u
#define AT(variant) ((variant)&0xffu)

static const struct scap_param *param_of(const struct sinsp_evt *evt, unsigned int variant)
{
	const unsigned int type = evt->raw.type;

	if (type < EVT_TCP_STATE_E || type > EVT_TCP_OVERFLOW_E ||
	    !(variant >> (8 + (type - EVT_TCP_STATE_E) / 2) & 1))
		return NULL;
	return field_param(evt, type, AT(variant));
}

static int get_number(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	(void)more;
	return field_param_number(v, param_of(e->evt, f->row->variant));
}

static int get_text(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	(void)more;
	return field_param_text(v, param_of(e->evt, f->row->variant));
}

/* Gets the name in the table of the parameter. */
static int get_name(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	const struct scap_param *p = param_of(e->evt, f->row->variant);

	(void)more;
	return p ? field_param_name(v, p, e->evt->raw.type, AT(f->row->variant)) : 0;
}

/* One end of a connection. */
struct end {
	const uint8_t *ip, *port;
	int is_v6;
};

/* Finds the own end of the connection, or the other one. Returns 0 if there is none. */
static int find_end(const struct sinsp_evt *evt, int is_remote, struct end *end)
{
	const struct scap_param *p = param_of(evt, OF_ALL | TCP_P_TUPLE);

	if (!p)
		return 0;
	if (p->p[0] == SINSP_AF_INET && p->len == SINSP_TUPLE_V4_SZ)
		*end = (struct end){p->p + (is_remote ? 7 : 1), p->p + (is_remote ? 11 : 5), 0};
	else if (p->p[0] == SINSP_AF_INET6 && p->len == SINSP_TUPLE_V6_SZ)
		*end = (struct end){p->p + (is_remote ? 19 : 1), p->p + (is_remote ? 35 : 17), 1};
	else
		return 0;
	return 1;
}

enum { END_IP, END_PORT, END_TEXT, END_REMOTE = 4 };

static size_t print_end(char *to, size_t sz, const struct end *end)
{
	char ip[INET6_ADDRSTRLEN] = "";

	inet_ntop(end->is_v6 ? AF_INET6 : AF_INET, end->ip, ip, sizeof(ip));
	return (size_t)snprintf(to, sz, "%s:%u", ip, get_u16(end->port));
}

static int get_end(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	const unsigned int variant = f->row->variant;
	struct end end;
	char *text;

	(void)more;
	if (!find_end(e->evt, variant & END_REMOTE, &end))
		return 0;
	if ((variant & 3) == END_IP)
		return field_mem(v, end.ip, end.is_v6 ? 16 : 4);
	if ((variant & 3) == END_PORT)
		return field_u(v, get_u16(end.port));
	text = sinsp_eval_alloc(e, TUPLE_TEXT_SZ);
	return text ? field_mem(v, text, print_end(text, TUPLE_TEXT_SZ, &end)) : -ENOMEM;
}

/* As fd.name has it: the client first. With an unknown role the own end is first. */
static int get_conn(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	const struct scap_param *role = param_of(e->evt, OF_ALL | TCP_P_ROLE);
	const int swapped = role && role->len == 1 && role->p[0] == ROLE_SERVER;
	struct end from, to;
	char *text;
	size_t n;

	(void)f, (void)more;
	if (!find_end(e->evt, swapped, &from) || !find_end(e->evt, !swapped, &to))
		return 0;
	text = sinsp_eval_alloc(e, TUPLE_TEXT_SZ);
	if (!text)
		return -ENOMEM;
	n = print_end(text, TUPLE_TEXT_SZ, &from);
	n += (size_t)snprintf(text + n, TUPLE_TEXT_SZ - n, "->");
	n += print_end(text + n, TUPLE_TEXT_SZ - n, &to);
	return field_mem(v, text, n);
}

/* clang-format off */
static const char *const roles[] = {"unknown", "client", "server", "listener", NULL};
static const char *const states[] = {
	"ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2", "TIME_WAIT", "CLOSE",
	"CLOSE_WAIT", "LAST_ACK", "LISTEN", "CLOSING", "NEW_SYN_RECV", NULL};
static const char *const outcomes[] = {
	"established", "refused", "reset", "timed_out", "unreachable", "aborted", "failed", NULL};
static const char *const kinds[] = {"data", "syn", "synack", NULL};
static const char *const recoveries[] = {"open", "disorder", "cwr", "recovery", "loss", NULL};
static const char *const ways[] = {"received", "sent", NULL};

#define ROW(name, type, variant, get, help, ...)                                                   \
	{name, FIELD_##type, FIELD_FMT_DEC, FIELD_COST_HEADER, 0, variant, get, help, ##__VA_ARGS__, \
	 .needs = FIELD_NEEDS_TCP}
#define BUILT(name, variant, get, help)                                                            \
	{name, FIELD_STR, FIELD_FMT_DEC, FIELD_COST_TEXT, 0, variant, get, help, .needs = FIELD_NEEDS_TCP}
#define RESET_OR_DROP (OF_EVENT(RESET) | OF_EVENT(DROP))

static const struct sinsp_field_row rows[] = {
	BUILT("tcp.conn", 0, get_conn,
	    "addresses and ports of the connection, as in fd.name: the client first if it is known, "
	    "else the own end"),
	BUILT("tcp.local", END_TEXT, get_end, "own address and port"),
	BUILT("tcp.remote", END_TEXT | END_REMOTE, get_end, "address and port of the peer"),
	ROW("tcp.local.ip", IP, END_IP, get_end, "own address; IPv4 in IPv6 as IPv4"),
	ROW("tcp.local.port", UINT, END_PORT, get_end, "own port"),
	ROW("tcp.remote.ip", IP, END_IP | END_REMOTE, get_end, "address of the peer"),
	ROW("tcp.remote.port", UINT, END_PORT | END_REMOTE, get_end, "port of the peer"),
	ROW("tcp.role", STR, OF_ALL | TCP_P_ROLE, get_name,
	    "client (it connected), server (it was accepted), listener, or unknown: older than the capture",
	    .values = roles),
	ROW("tcp.pid", INT, OF_ALL | TCP_P_PID, get_number,
	    "PID of the process that connected, accepted or listens; none if it is unknown"),
	ROW("tcp.comm", STR, OF_ALL | TCP_P_COMM, get_text, "name of that thread then"),
	ROW("tcp.state", STR, OF_ALL | TCP_P_STATE, get_name, "state of the connection, the new one in "
	    "tcp_state; none without a socket", .values = states),
	ROW("tcp.state.old", STR, OF_EVENT(STATE) | TCP_P_OWN, get_name, "state before",
	    .values = states),
	ROW("tcp.srtt", DURATION, OF_ALL | TCP_P_SRTT, get_number,
	    "smoothed round trip time in nanoseconds, as the kernel has it (in microseconds)"),
	ROW("tcp.rttvar", DURATION, OF_ALL | TCP_P_RTTVAR, get_number, "its variation"),
	ROW("tcp.cwnd", UINT, OF_ALL | TCP_P_CWND, get_number, "congestion window in segments"),
	ROW("tcp.retrans", UINT, OF_ALL | TCP_P_RETRANS, get_number,
	    "segments that the connection retransmitted so far"),
	ROW("tcp.bytes.out", UINT, OF_ALL | TCP_P_BYTES_OUT, get_number,
	    "bytes that the peer acknowledged so far"),
	ROW("tcp.bytes.in", UINT, OF_ALL | TCP_P_BYTES_IN, get_number, "bytes received so far"),
	ROW("tcp.connect.outcome", STR, OF_EVENT(CONNECT) | TCP_P_OWN, get_name,
	    "established, refused, reset, timed_out, unreachable, aborted (closed by the caller) or failed",
	    .values = outcomes),
	ROW("tcp.connect.latency", DURATION, OF_EVENT(CONNECT) | (TCP_P_OWN + 1), get_number,
	    "time from the SYN to the outcome in nanoseconds"),
	ROW("tcp.retransmit.kind", STR, OF_EVENT(RETRANSMIT) | TCP_P_OWN, get_name,
	    "what is retransmitted: data, syn or synack", .values = kinds),
	ROW("tcp.retransmit.segs", UINT, OF_EVENT(RETRANSMIT) | (TCP_P_OWN + 1), get_number,
	    "number of segments, as TcpRetransSegs counts"),
	ROW("tcp.retransmit.recovery", STR, OF_EVENT(RETRANSMIT) | (TCP_P_OWN + 2), get_name,
	    "state of the congestion control: open, disorder, cwr, recovery (after duplicate ACKs), loss "
	    "(after a timeout)", .values = recoveries),
	ROW("tcp.way", STR, RESET_OR_DROP | TCP_P_OWN, get_name,
	    "whether the reset or the dropped packet was sent or received", .values = ways),
	ROW("tcp.reason", STR, RESET_OR_DROP | (TCP_P_OWN + 1), get_text,
	    "the kernel's reason of a drop (SKB_DROP_REASON_*) or a sent reset (SK_RST_REASON_*)"),
	ROW("tcp.drop.length", UINT, OF_EVENT(DROP) | (TCP_P_OWN + 2), get_number,
	    "bytes of the dropped packet"),
	ROW("tcp.overflow.n", UINT, OF_EVENT(OVERFLOW) | TCP_P_OWN, get_number,
	    "connection requests that the listening socket dropped, as TcpExtListenDrops counts"),
	ROW("tcp.overflow.queued", UINT, OF_EVENT(OVERFLOW) | (TCP_P_OWN + 1), get_number,
	    "connections that wait for accept"),
	ROW("tcp.overflow.backlog", UINT, OF_EVENT(OVERFLOW) | (TCP_P_OWN + 2), get_number,
	    "limit of the queue; the kernel takes one more"),
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_tcp = {
	.name = "tcp",
	.title = "TCP",
	.help = "Events of TCP: states, connects, retransmits, resets, round trip times, drops",
	FIELD_ROWS(rows),
};
