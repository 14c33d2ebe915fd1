/* SPDX-License-Identifier: Apache-2.0 */
#include "span_attributes.h"

#include <string.h>

#include "collect.h"
#include "fields/request_cluster.h"
#include "fields/request_params.h"

enum { KIND_ONEWAY = 1, SIDE_CLIENT = 0, ROUTE_MAX = 1024 };

/* Names of attributes for the values of a protocol; NULL: not written. */
struct span_protocol {
	const char *proto; /* request.proto */
	const char *system, *system_name; /* attribute, and its value */
	const char *method, *resource, *statement, *status;
	uint8_t is_http; /* 4xx is no error of a server */
	uint8_t resource_is_path, resource_in_name;
};

#define DB(proto_, name_, resource_)                                                               \
	{                                                                                          \
		.proto = proto_, .system = "db.system.name", .system_name = name_,                 \
		.method = "db.operation.name", .resource = resource_,                              \
		.statement = "db.query.text", .status = "db.response.status_code",                 \
		.resource_in_name = !!resource_                                                    \
	}
#define HTTP(proto_)                                                                               \
	{                                                                                          \
		.proto = proto_, .system = "network.protocol.name", .system_name = "http",         \
		.method = "http.request.method", .resource = "url.path",                           \
		.status = "http.response.status_code", .is_http = 1, .resource_is_path = 1,        \
		.resource_in_name = 1                                                              \
	}
#define MESSAGING(proto_, name_)                                                                   \
	{                                                                                          \
		.proto = proto_, .system = "messaging.system", .system_name = name_,               \
		.method = "messaging.operation.name", .resource = "messaging.destination.name",    \
		.resource_in_name = 1                                                              \
	}

static const struct span_protocol protocols[] = {
	HTTP("http"),
	HTTP("http2"),
	{.proto = "grpc",
	 .system = "rpc.system",
	 .system_name = "grpc",
	 .resource = "rpc.method",
	 .status = "http.response.status_code",
	 .resource_in_name = 1},
	HTTP("fastcgi"),
	DB("pgsql", "postgresql", "db.collection.name"),
	DB("mysql", "mysql", "db.collection.name"),
	DB("mongodb", "mongodb", "db.collection.name"),
	DB("redis", "redis", NULL),
	DB("memcached", "memcached", NULL),
	MESSAGING("kafka", "kafka"),
	MESSAGING("amqp", "rabbitmq"),
	MESSAGING("nats", "nats"),
	{.proto = "dns", .method = "saker.request.method", .resource = "dns.question.name"},
	{.proto = "", .method = "saker.request.method", .resource = "saker.request.resource"},
};

static int is_text(struct label_value v, const char *text)
{
	return v.len == strlen(text) && memcmp(v.p ?: "", text, v.len) == 0;
}

static const struct span_protocol *find_protocol(struct label_value proto)
{
	const struct span_protocol *p = protocols;

	while (*p->proto && !is_text(proto, p->proto))
		p++;
	return p;
}

int span_request_read(struct span_request *r, const struct sinsp_evt *evt)
{
	uint64_t kind, side;

	memset(r, 0, sizeof(*r));
	if (!collect_number(evt, REQUEST_P_KIND, &kind) ||
	    !collect_number(evt, REQUEST_P_SIDE, &side) ||
	    !collect_number(evt, REQUEST_P_BEGIN, &r->begin_ns))
		return 0;
	r->evt = evt;
	r->is_client = side == SIDE_CLIENT;
	r->is_oneway = kind == KIND_ONEWAY;
	collect_number(evt, REQUEST_P_LATENCY, &r->latency_ns);
	r->has_status = collect_number(evt, REQUEST_P_STATUS, &r->status);
	r->proto = collect_text(evt, REQUEST_P_PROTO);
	r->method = collect_text(evt, REQUEST_P_METHOD);
	r->resource = collect_text(evt, REQUEST_P_RESOURCE);
	r->error = collect_text(evt, REQUEST_P_ERROR);
	r->protocol = find_protocol(r->proto);
	return 1;
}

/* The method and what there are few values of: the route of a path, a table, a topic. */
void span_put_name(struct pb *b, const struct span_request *r)
{
	char text[64 + 1 + ROUTE_MAX], *p = text;
	struct label_value first = r->method.len ? r->method : r->proto;

	if (first.len > 64)
		first.len = 64;
	if (r->method.len || !r->protocol->resource_in_name || !r->resource.len)
		p = mempcpy(p, first.p ?: "", first.len);
	if (r->protocol->resource_in_name && r->resource.len && r->resource.len <= ROUTE_MAX) {
		if (p != text)
			*p++ = ' ';
		if (r->protocol->resource_is_path)
			p += request_route(p, r->resource.p, r->resource.len);
		else
			p = mempcpy(p, r->resource.p, r->resource.len);
	}
	otlp_text(b, SPAN_NAME, text, (size_t)(p - text));
}

enum span_kind span_kind_of(const struct span_request *r)
{
	if (r->is_oneway)
		return r->is_client ? SPAN_KIND_PRODUCER : SPAN_KIND_CONSUMER;
	return r->is_client ? SPAN_KIND_CLIENT : SPAN_KIND_SERVER;
}

static void put(struct pb *b, const char *key, struct label_value v)
{
	if (key)
		otlp_attr(b, SPAN_ATTRIBUTES, key, v.p, v.len);
}

static void put_number(struct pb *b, const char *key, const struct sinsp_evt *evt, unsigned int at)
{
	uint64_t n;

	if (collect_number(evt, at, &n))
		otlp_attr_int(b, SPAN_ATTRIBUTES, key, (int64_t)n);
}

/* The text has no NUL behind it, if a file wants so. */
static int64_t read_port(const char *p, const char *end)
{
	int64_t port = 0;

	for (; p < end && *p >= '0' && *p <= '9' && port <= UINT16_MAX; p++)
		port = 10 * port + (*p - '0');
	return port;
}

/* "127.0.0.1:80", "[::1]:80", or the path of a unix socket. */
static void put_address(struct pb *b, const char *address, const char *port, struct label_value v)
{
	const char *colon = v.len && *v.p != '/' ? memrchr(v.p, ':', v.len) : NULL;
	struct label_value ip = v;

	if (colon) {
		ip.len = (size_t)(colon - v.p);
		if (ip.len > 2 && *ip.p == '[') {
			ip.p++;
			ip.len -= 2;
		}
	}
	put(b, address, ip);
	if (colon)
		otlp_attr_int(b, SPAN_ATTRIBUTES, port, read_port(colon + 1, v.p + v.len));
}

/* The name of a connection is CLIENT->SERVER. */
static struct label_value server_of(struct label_value conn)
{
	const char *arrow = conn.len ? memmem(conn.p, conn.len, "->", 2) : NULL;

	if (!arrow || !memchr(arrow, ':', conn.len - (size_t)(arrow - conn.p)))
		return (struct label_value){0};
	return (struct label_value){arrow + 2, conn.len - (size_t)(arrow + 2 - conn.p)};
}

static void put_peers(struct pb *b, const struct span_request *r)
{
	const struct label_value peer = collect_text(r->evt, REQUEST_P_PEER),
				 conn = collect_text(r->evt, REQUEST_P_CONN);

	put_address(b, "network.peer.address", "network.peer.port", peer);
	put_address(b, "server.address", "server.port", r->is_client ? peer : server_of(conn));
	if (!r->is_client)
		put_address(b, "client.address", "client.port", peer);
	put(b, "saker.peer.process.name", collect_text(r->evt, REQUEST_P_PEER_PROC));
	put_number(b, "saker.peer.process.pid", r->evt, REQUEST_P_PEER_PID);
}

/* A path without its query, which is an attribute of its own. */
static void put_resource(struct pb *b, const struct span_request *r)
{
	const char *q = r->protocol->resource_is_path && r->resource.len
				? memchr(r->resource.p, '?', r->resource.len)
				: NULL;
	struct label_value path = r->resource;

	if (q) {
		path.len = (size_t)(q - path.p);
		put(b, "url.query", (struct label_value){q + 1, r->resource.len - path.len - 1});
	}
	put(b, r->protocol->resource, path);
}

static void put_status_code(struct pb *b, const struct span_request *r)
{
	const char *key = r->protocol->status;

	if (!key || !r->has_status)
		return;
	if (strncmp(key, "db.", 3) != 0)
		otlp_attr_int(b, SPAN_ATTRIBUTES, key, (int64_t)r->status);
	else if (r->error.len) /* a text by convention */
		put(b, key, r->error);
}

/* saker does not know how it ended. */
static int is_unknown(struct label_value error)
{
	return is_text(error, "lost") || is_text(error, "evicted") || is_text(error, "unfinished");
}

static int failed(const struct span_request *r)
{
	const int is_clients = r->protocol->is_http && !r->is_client && r->has_status &&
			       r->status >= 400 && r->status < 500;

	return r->error.len && !is_unknown(r->error) && !is_clients;
}

void span_put_attributes(struct pb *b, const struct span_request *r)
{
	if (r->protocol->system)
		otlp_attr_string(b, SPAN_ATTRIBUTES, r->protocol->system, r->protocol->system_name);
	put(b, "saker.request.protocol", r->proto);
	put(b, r->protocol->method, r->method);
	put_resource(b, r);
	put(b, r->protocol->statement, collect_text(r->evt, REQUEST_P_STATEMENT));
	put_status_code(b, r);
	put_peers(b, r);
	put_number(b, "thread.id", r->evt, REQUEST_P_TID);
	put_number(b, "saker.request.received_bytes", r->evt, REQUEST_P_BYTES_IN);
	put_number(b, "saker.request.sent_bytes", r->evt, REQUEST_P_BYTES_OUT);
	if (is_unknown(r->error))
		put(b, "saker.request.outcome", r->error);
	else if (failed(r))
		put(b, "error.type", r->error);
}

void span_put_status(struct pb *b, const struct span_request *r)
{
	const struct label_value text = collect_text(r->evt, REQUEST_P_ERROR_TEXT);
	size_t status;

	if (!failed(r))
		return;
	status = pb_begin(b, SPAN_STATUS);
	if (text.len)
		otlp_text(b, SPAN_STATUS_MESSAGE, text.p, text.len);
	pb_u64(b, SPAN_STATUS_CODE, SPAN_STATUS_ERROR);
	pb_end(b, status);
}
