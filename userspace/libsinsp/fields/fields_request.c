/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of requests: the parameters of the derived event, and clusters of them. */
#include <errno.h>
#include <string.h>

#include "field_params.h"
#include "field_rows.h"
#include "request_cluster.h"
#include "request_params.h"
#include "thread.h"

static int get_number(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	(void)more;
	return field_param_number(v, field_param(e->evt, EVT_REQUEST_E, f->row->variant));
}

static int get_text(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	(void)more;
	return field_param_text(v, field_param(e->evt, EVT_REQUEST_E, f->row->variant));
}

/* Gets the name in the table of the parameter. */
static int get_name(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	(void)more;
	return field_param_name(v, field_param(e->evt, EVT_REQUEST_E, f->row->variant),
				EVT_REQUEST_E, f->row->variant);
}

typedef size_t (*cluster_fn)(char *out, const char *text, size_t len);

static int get_cluster(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		       cluster_fn cluster)
{
	const struct scap_param *p = field_param(e->evt, EVT_REQUEST_E, f->row->variant);
	size_t len;
	char *out;

	if (!p)
		return 0;
	len = strnlen((const char *)p->p, p->len);
	out = sinsp_eval_alloc(e, len + 1);
	if (!out)
		return -ENOMEM;
	return field_mem(v, out, cluster(out, (const char *)p->p, len));
}

static int is_grpc(const struct sinsp_evt *evt)
{
	const struct scap_param *p = field_param(evt, EVT_REQUEST_E, REQUEST_P_PROTO);

	return p && p->len == sizeof("grpc") && !memcmp(p->p, "grpc", sizeof("grpc"));
}

/* The path of a call of gRPC is the name of a method. */
static int get_route(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	return is_grpc(e->evt) ? get_text(e, f, v, more) : get_cluster(e, f, v, request_route);
}

static int get_query(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	(void)more;
	return get_cluster(e, f, v, request_query);
}

struct piece {
	const char *p;
	size_t len; /* 0: the event has none */
};

static struct piece piece_of(const struct sinsp_evt *evt, unsigned int param)
{
	const struct scap_param *p = field_param(evt, EVT_REQUEST_E, param);
	const char *text = p ? (const char *)p->p : "";

	return (struct piece){text, p ? strnlen(text, p->len) : 0};
}

static size_t put_word(char *out, size_t n, struct piece word)
{
	if (n && word.len)
		out[n++] = ' ';
	memcpy(out + n, word.p, word.len);
	return n + word.len;
}

/* Puts the route; of a request without one, the statement with its literals replaced. */
static size_t put_route(char *out, size_t n, const struct sinsp_evt *evt)
{
	const struct piece resource = piece_of(evt, REQUEST_P_RESOURCE);
	const struct piece statement = piece_of(evt, REQUEST_P_STATEMENT);

	if (is_grpc(evt))
		return put_word(out, n, resource);
	if (!resource.len && !statement.len)
		return n;
	if (n)
		out[n++] = ' ';
	return n + (resource.len ? request_route(out + n, resource.p, resource.len)
				 : request_query(out + n, statement.p, statement.len));
}

enum request_end { END_CLIENT, END_SERVER };

static const char *own_name(const struct sinsp_evt *evt)
{
	return evt->thread ? sinsp_thread_proc_name(evt->thread) : NULL;
}

/* Returns the name of the process at an end of the request; its address if that is elsewhere: of a
 * client without the port, of which it has a new one for each connection. */
static struct piece end_of(const struct sinsp_evt *evt, enum request_end end)
{
	const struct scap_param *side = field_param(evt, EVT_REQUEST_E, REQUEST_P_SIDE);
	const char *own = own_name(evt), *colon;
	struct piece peer;

	if (!side)
		return (struct piece){"", 0};
	if (*side->p == end)
		return (struct piece){own ?: "", own ? strlen(own) : 0};
	peer = piece_of(evt, REQUEST_P_PEER_PROC);
	if (peer.len)
		return peer;
	peer = piece_of(evt, REQUEST_P_PEER);
	colon = end == END_CLIENT && peer.len ? memrchr(peer.p, ':', peer.len) : NULL;
	if (colon)
		peer.len = (size_t)(colon - peer.p);
	return peer;
}

static int get_end(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	const struct piece end = end_of(e->evt, f->row->variant);

	(void)more;
	return end.len ? field_mem(v, end.p, end.len) : 0;
}

static int get_edge(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	static const struct piece arrow = {"->", 2};
	const struct piece client = end_of(e->evt, END_CLIENT), server = end_of(e->evt, END_SERVER);
	const struct piece proto = piece_of(e->evt, REQUEST_P_PROTO);
	char *out;
	size_t n;

	(void)f, (void)more;
	if (!client.len || !server.len)
		return 0;
	out = sinsp_eval_alloc(e, client.len + arrow.len + server.len + proto.len + 1);
	if (!out)
		return -ENOMEM;
	memcpy(out, client.p, client.len);
	memcpy(out + client.len, arrow.p, arrow.len);
	memcpy(out + client.len + arrow.len, server.p, server.len);
	n = put_word(out, client.len + arrow.len + server.len, proto);
	return field_mem(v, out, n);
}

/* Gets what was asked, behind the name of the server if there is one. A statement begins with its
 * method. */
static int get_asked(struct sinsp_eval *e, struct sinsp_value *v, struct piece server)
{
	const struct piece proto = piece_of(e->evt, REQUEST_P_PROTO);
	const struct piece method = piece_of(e->evt, REQUEST_P_METHOD);
	const size_t resource = piece_of(e->evt, REQUEST_P_RESOURCE).len;
	const size_t statement = piece_of(e->evt, REQUEST_P_STATEMENT).len;
	const int is_http = proto.len == strlen("http") && !memcmp(proto.p, "http", proto.len);
	char *out;
	size_t n;

	if (!proto.len)
		return 0;
	out = sinsp_eval_alloc(e, server.len + proto.len + method.len + resource + statement + 4);
	if (!out)
		return -ENOMEM;
	n = put_word(out, 0, server);
	if (!is_http || !method.len)
		n = put_word(out, n, proto);
	if (resource || !statement)
		n = put_word(out, n, method);
	return field_mem(v, out, put_route(out, n, e->evt));
}

static int get_operation(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			 const struct sinsp_value **more)
{
	(void)f, (void)more;
	return get_asked(e, v, (struct piece){"", 0});
}

static int get_endpoint(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			const struct sinsp_value **more)
{
	const struct piece server = end_of(e->evt, END_SERVER);

	(void)f, (void)more;
	return server.len ? get_asked(e, v, server) : 0;
}

static int get_failed(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	(void)f, (void)more;
	if (e->evt->raw.type != EVT_REQUEST_E)
		return 0;
	return field_u(v, !!field_param(e->evt, EVT_REQUEST_E, REQUEST_P_ERROR));
}

/* clang-format off */
#define ROW(name, type, variant, get, help)                                                        \
	{name, FIELD_##type, FIELD_FMT_DEC, FIELD_COST_SEARCH, 0, variant, get, help, NULL,        \
	 .needs = FIELD_NEEDS_FILES | FIELD_NEEDS_REQUESTS}

static const struct sinsp_field_row rows[] = {
	ROW("request.num", UINT, REQUEST_P_NUM, get_number, "number of the request, from 1 on"),
	ROW("request.proto", STR, REQUEST_P_PROTO, get_text,
	    "protocol: http, redis, ...; tls and generic for streams that are not parsed"),
	ROW("request.kind", STR, REQUEST_P_KIND, get_name,
	    "request; oneway for a message that has no response; connect for a connect that failed"),
	ROW("request.side", STR, REQUEST_P_SIDE, get_name,
	    "what the process is for this request: client or server"),
	ROW("request.method", STR, REQUEST_P_METHOD, get_text,
	    "method or command: GET, SET, SELECT, Produce"),
	ROW("request.resource", STR, REQUEST_P_RESOURCE, get_text,
	    "what it is about: path, key, table, topic, name"),
	ROW("request.route", STR, REQUEST_P_RESOURCE, get_route,
	    "request.resource without its query, and with * for each part that looks like an "
	    "identifier: /a/123/b is /a/*/b"),
	ROW("request.operation", STR, 0, get_operation,
	    "what was asked, without identifiers and literals: protocol, method and request.route, or "
	    "request.query; of HTTP without the protocol"),
	ROW("request.statement", STR, REQUEST_P_STATEMENT, get_text,
	    "whole statement or command, up to 4096 bytes"),
	ROW("request.query", STR, REQUEST_P_STATEMENT, get_query,
	    "request.statement with ? for each literal"),
	ROW("request.status", INT, REQUEST_P_STATUS, get_number,
	    "status as the protocol counts it: HTTP status, number of the error"),
	ROW("request.failed", BOOL, 0, get_failed, "true if the request has a request.error"),
	ROW("request.error", STR, REQUEST_P_ERROR, get_text,
	    "why it failed: code of the protocol, such as 404 or WRONGTYPE; or unanswered, closed "
	    "(in the middle of the response), reset, timed_out, unreachable, unfinished (when the "
	    "capture ended), lost (events are missing), evicted (no room)"),
	ROW("request.error_text", STR, REQUEST_P_ERROR_TEXT, get_text, "the server's message of the error"),
	ROW("request.begin", TIME, REQUEST_P_BEGIN, get_number, "time of the first byte of the request"),
	ROW("request.latency", DURATION, REQUEST_P_LATENCY, get_number,
	    "nanoseconds from the first byte of the request to the last of the response; of an "
	    "unanswered request: to its end. Sum of send, ttfb and recv"),
	ROW("request.send", DURATION, REQUEST_P_SEND, get_number,
	    "nanoseconds from the first to the last byte of the request"),
	ROW("request.ttfb", DURATION, REQUEST_P_TTFB, get_number,
	    "nanoseconds from the last byte of the request to the first of the response"),
	ROW("request.recv", DURATION, REQUEST_P_RECV, get_number,
	    "nanoseconds from the first to the last byte of the response"),
	ROW("request.bytes_in", UINT, REQUEST_P_BYTES_IN, get_number, "bytes that the process received"),
	ROW("request.bytes_out", UINT, REQUEST_P_BYTES_OUT, get_number, "bytes that the process sent"),
	ROW("request.peer", STR, REQUEST_P_PEER, get_text, "address of the other end"),
	ROW("request.peer_proc", STR, REQUEST_P_PEER_PROC, get_text,
	    "name of the process at the other end, if it is on this machine"),
	ROW("request.peer_pid", INT, REQUEST_P_PEER_PID, get_number, "its PID"),
	ROW("request.client", STR, END_CLIENT, get_end,
	    "name of the client's process; of one elsewhere its address without the port"),
	ROW("request.server", STR, END_SERVER, get_end,
	    "name of the server's process; of one elsewhere its address"),
	ROW("request.edge", STR, 0, get_edge, "who asks whom, and how: CLIENT->SERVER PROTO"),
	ROW("request.endpoint", STR, 0, get_endpoint,
	    "what was asked of whom: request.server and request.operation"),
	ROW("request.conn", STR, REQUEST_P_CONN, get_text,
	    "connection; the same text for the records of both ends"),
	ROW("request.tid", INT, REQUEST_P_TID, get_number,
	    "thread that sent or received the first byte; thread.tid: the last one"),
	ROW("request.trace_id", STR, REQUEST_P_TRACE_ID, get_text,
	    "trace that the request belongs to, by its traceparent, B3 or Jaeger header"),
	ROW("request.span_id", STR, REQUEST_P_SPAN_ID, get_text, "span in that trace"),
	ROW("request.stream", UINT, REQUEST_P_STREAM, get_number,
	    "stream or correlation number, of protocols that have one"),
	ROW("request.id", UINT, REQUEST_P_ID, get_number, "number of the request by its begin, from 1 on"),
	ROW("request.parent", UINT, REQUEST_P_PARENT, get_number,
	    "request.id of what it is part of: of a client, what its thread served; of a server, the "
	    "request of the client at the other end, if that is on this machine"),
	ROW("request.root", UINT, REQUEST_P_ROOT, get_number,
	    "request.id of the outermost one; its own without a parent"),
	ROW("request.truncated", BOOL, REQUEST_P_TRUNCATED, get_number,
	    "true if bytes were not captured that values would need: see --snaplen"),
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_request = {
	.name = "request",
	.title = "request",
	.help = "Requests that sockets carry: an event each, derived when one of these is used, or "
		"with --requests",
	FIELD_ROWS(rows),
};
