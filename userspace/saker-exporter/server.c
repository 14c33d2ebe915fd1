/* SPDX-License-Identifier: Apache-2.0 */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "auth.h"
#include "clock.h"
#include "connections.h"
#include "privileges.h"
#include "say.h"

enum { SILENT_S = 15, MEMORY_SZ = 32 << 10, PER_ADDRESS = 10, BACKLOG = 32 };
#define STALLED_NS 10000000000ull
#define RETIRED_NS 5000000000ull /* after a reload the server before it ends within this time */

struct server {
	const struct exporter_options *o;
	struct MHD_Daemon *daemon;
	int fd; /* bound; the daemon has a copy */
	char *cert, *key; /* owned; NULL: no TLS */
	struct auth *auth; /* owned; NULL: everybody */
	struct pages *pages;
	const char *front;
	struct connections connections;
	uint64_t ticked_ns; /* written by the capture's thread */
	struct server *retired; /* owned: the one before a reload, which finishes its
				   connections; NULL: none */
	uint64_t retired_ns;
	char reason[256]; /* what the library said last */
};

/* A request: the bytes of path decide. */
struct route {
	const char *path;
	int is_open; /* needs no authentication */
	struct MHD_Response *(*respond)(struct server *s, struct MHD_Connection *c,
					unsigned int *status);
};

static struct MHD_Response *static_text(const char *text, const char *type)
{
	struct MHD_Response *r =
		MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);

	if (r)
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	return r;
}

static struct MHD_Response *plain(const char *text)
{
	return static_text(text, "text/plain; charset=utf-8");
}

static void put_page(void *page)
{
	pages_put(page);
}

static struct MHD_Response *respond_metrics(struct server *s, struct MHD_Connection *c,
					    unsigned int *status)
{
	const enum exposition format = exposition_preferred(
		MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT));
	const struct page *page = pages_get(s->pages, format, clock_now_ns());
	struct MHD_Response *r;

	if (!page) {
		*status = MHD_HTTP_INTERNAL_SERVER_ERROR;
		return plain("no memory\n");
	}
	r = MHD_create_response_from_buffer_with_free_callback_cls(page->len, (void *)page->p,
								   put_page, (void *)page);
	if (r)
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, exposition_type(format));
	else
		pages_put(page);
	return r;
}

static struct MHD_Response *respond_health(struct server *s, struct MHD_Connection *c,
					   unsigned int *status)
{
	const uint64_t ticked_ns = __atomic_load_n(&s->ticked_ns, __ATOMIC_RELAXED);

	(void)c;
	if (clock_now_ns() < ticked_ns + STALLED_NS)
		return plain("ok\n");
	*status = MHD_HTTP_SERVICE_UNAVAILABLE;
	return plain("the capture does not proceed\n");
}

static struct MHD_Response *respond_front(struct server *s, struct MHD_Connection *c,
					  unsigned int *status)
{
	(void)c, (void)status;
	return static_text(s->front, "text/html; charset=utf-8");
}

static const struct route routes[] = {
	{"/metrics", 0, respond_metrics},
	{"/healthz", 1, respond_health},
	{"/", 0, respond_front},
};

static const struct route *find_route(const char *path)
{
	for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
		if (strcmp(routes[i].path, path) == 0)
			return &routes[i];
	return NULL;
}

static int is_allowed(const struct server *s, struct MHD_Connection *c)
{
	char *password = NULL, *user;
	int allowed;

	if (!s->auth)
		return 1;
	user = MHD_basic_auth_get_username_password(c, &password);
	allowed = auth_accepts(s->auth, user, password);
	MHD_free(user);
	MHD_free(password);
	return allowed;
}

static enum MHD_Result send_response(struct MHD_Connection *c, unsigned int status,
				     struct MHD_Response *r)
{
	enum MHD_Result sent = MHD_NO;

	if (r && status == MHD_HTTP_UNAUTHORIZED)
		sent = MHD_queue_basic_auth_fail_response(c, "saker", r);
	else if (r)
		sent = MHD_queue_response(c, status, r);
	if (r)
		MHD_destroy_response(r);
	return sent;
}

/* Answers when the header is complete: a body is not read. */
static enum MHD_Result answer(void *cls, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *data,
			      size_t *data_sz, void **request)
{
	const struct route *route = find_route(url);
	struct server *s = cls;
	unsigned int status = MHD_HTTP_OK;
	struct MHD_Response *r;

	(void)version, (void)data, (void)data_sz;
	*request = s; /* notify_completed wants to see it */
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0) {
		r = plain("only GET and HEAD\n");
		if (r)
			MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
		return send_response(c, MHD_HTTP_METHOD_NOT_ALLOWED, r);
	}
	if (!(route && route->is_open) && !is_allowed(s, c))
		return send_response(c, MHD_HTTP_UNAUTHORIZED, plain("wrong user or password\n"));
	if (!route)
		return send_response(c, MHD_HTTP_NOT_FOUND, plain("see /metrics\n"));
	r = route->respond(s, c, &status);
	return send_response(c, status, r);
}

static void notify_connection(void *cls, struct MHD_Connection *c, void **place,
			      enum MHD_ConnectionNotificationCode code)
{
	struct server *s = cls;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		connections_remove(&s->connections, *place);
		return;
	}
	*place = connections_add(
		&s->connections,
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
		clock_now_ns());
}

static void notify_completed(void *cls, struct MHD_Connection *c, void **request,
			     enum MHD_RequestTerminationCode code)
{
	struct server *s = cls;

	(void)request;
	if (code == MHD_REQUEST_TERMINATED_COMPLETED_OK)
		connections_restart(&s->connections,
				    MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
					    ->socket_context,
				    clock_now_ns());
}

/* What clients do is no message; what keeps the server from starting is one. */
static void log_reason(void *cls, const char *fmt, va_list ap)
{
	struct server *s = cls;

	vsnprintf(s->reason, sizeof(s->reason), fmt, ap);
	s->reason[strcspn(s->reason, "\n")] = 0;
}

/* Returns where the server listens: port 0 of the option is any port. */
static struct listen_address address_of(const struct server *s)
{
	struct listen_address a = s->o->listen;
	socklen_t len = sizeof(a.v6);

	getsockname(s->fd, &a.any, &len);
	return a;
}

static unsigned int port_of(const struct listen_address *a)
{
	return ntohs(a->any.sa_family == AF_INET6 ? a->v6.sin6_port : a->v4.sin_port);
}

static int has_port(const struct server *s, unsigned int port)
{
	const struct listen_address a = address_of(s);

	return port_of(&a) == port;
}

/* @old: the server that @s replaces; NULL: none. */
static int bind_address(struct server *s, const struct server *old)
{
	const struct listen_address *a = &s->o->listen;
	const socklen_t len = a->any.sa_family == AF_INET6 ? sizeof(a->v6) : sizeof(a->v4);
	const int on = 1;

	s->fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (s->fd >= 0)
		setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (s->fd >= 0 && !bind(s->fd, &a->any, len) && !listen(s->fd, BACKLOG))
		return 0;
	if (errno == EADDRINUSE && old && has_port(old, port_of(a)))
		say("cannot listen on %s: saker itself uses this port; restart it, or select "
		    "another port",
		    a->text);
	else if (errno == EADDRINUSE)
		say("cannot listen on %s: another program uses this port; select one with --listen "
		    "ADDRESS:PORT",
		    a->text);
	else
		say("cannot listen on %s: %s", a->text, strerror(errno));
	return -EADDRINUSE;
}

static int read_files(struct server *s)
{
	const struct exporter_options *o = s->o;
	int err = 0;

	if (o->cert && MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES) {
		say("cannot serve HTTPS: libmicrohttpd was built without TLS");
		return -ENOTSUP;
	}
	if (o->cert)
		err = read_whole_file(&s->cert, o->cert, "--tls-cert", FILE_PLAIN)
			      ?: read_whole_file(&s->key, o->key, "--tls-key", FILE_SECRET);
	if (!err && o->auth)
		err = auth_read(&s->auth, o->auth);
	return err;
}

static struct server *new_server(const struct exporter_options *o)
{
	struct server *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->o = o;
	s->fd = -1;
	connections_init(&s->connections);
	return s;
}

int server_check(const struct exporter_options *o)
{
	struct server *s = new_server(o);
	const int err = s ? read_files(s) : -ENOMEM;

	server_free(s);
	return err;
}

int server_new(struct server **out, const struct exporter_options *o)
{
	struct server *s = new_server(o);
	int err;

	if (!s)
		return -ENOMEM;
	err = read_files(s) ?: bind_address(s, NULL);
	if (err)
		server_free(s);
	else
		*out = s;
	return err;
}

/* With MHD_USE_ITC the end of a daemon leaves the socket, which another one may share, as it is. */
static struct MHD_Daemon *start_daemon_here(struct server *s, int fd)
{
	const unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG | MHD_USE_ITC |
				   (s->cert ? MHD_USE_TLS : 0);
	const struct MHD_OptionItem tls[] = {
		{MHD_OPTION_HTTPS_MEM_CERT, 0, s->cert},
		{MHD_OPTION_HTTPS_MEM_KEY, 0, s->key},
		{MHD_OPTION_END, 0, NULL},
	};
	const struct MHD_OptionItem none[] = {{MHD_OPTION_END, 0, NULL}};

	return MHD_start_daemon(
		flags, 0, NULL, NULL, answer, s, MHD_OPTION_EXTERNAL_LOGGER, log_reason, s,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int)CONNECTIONS_MAX, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		(unsigned int)PER_ADDRESS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)SILENT_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_SZ, MHD_OPTION_NOTIFY_CONNECTION,
		notify_connection, s, MHD_OPTION_NOTIFY_COMPLETED, notify_completed, s,
		MHD_OPTION_ARRAY, s->cert ? tls : none, MHD_OPTION_END);
}

struct starting {
	struct server *s;
	int fd;
	struct MHD_Daemon *daemon;
};

static void *start_without_capabilities(void *ctx)
{
	struct starting *st = ctx;

	privileges_drop_all();
	st->daemon = start_daemon_here(st->s, st->fd);
	return NULL;
}

/* A thread has the capabilities of the one that starts it: the daemon's never has any. */
static struct MHD_Daemon *start_daemon(struct server *s, int fd)
{
	struct starting st = {.s = s, .fd = fd};
	pthread_t thread;
	const int err = pthread_create(&thread, NULL, start_without_capabilities, &st);

	if (err) {
		snprintf(s->reason, sizeof(s->reason), "no thread: %s", strerror(err));
		return NULL;
	}
	pthread_join(thread, NULL);
	return st.daemon;
}

void server_say_where(const struct server *s)
{
	const struct listen_address a = address_of(s);
	const int is_v6 = a.any.sa_family == AF_INET6;
	char ip[INET6_ADDRSTRLEN] = "";

	inet_ntop(a.any.sa_family,
		  is_v6 ? (const void *)&a.v6.sin6_addr : (const void *)&a.v4.sin_addr, ip,
		  sizeof(ip));
	say_notice("serving metrics at %s://%s%s%s:%u/metrics", s->cert ? "https" : "http",
		   is_v6 ? "[" : "", ip, is_v6 ? "]" : "", port_of(&a));
}

int server_start(struct server *s, struct pages *ps, const char *front)
{
	const int fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 3);

	s->pages = ps;
	s->front = front;
	server_tick(s, clock_now_ns());
	s->daemon = fd < 0 ? NULL : start_daemon(s, fd);
	if (s->daemon)
		return 0;
	if (fd >= 0)
		close(fd);
	if (s->cert)
		say("cannot serve HTTPS with certificate %s and key %s: %s", s->o->cert, s->o->key,
		    *s->reason ? s->reason : "they do not fit");
	else
		say("cannot serve %s: %s", s->o->listen.text,
		    *s->reason ? s->reason : strerror(errno));
	return -EINVAL;
}

/* The old server accepts no more connections, and answers the requests on those it has. Its socket
 * is closed: one that the new server does not share would have the kernel accept connections on
 * which no server answers. */
static void retire(struct server *s, struct server *old)
{
	const int fd = MHD_quiesce_daemon(old->daemon);

	if (fd >= 0)
		close(fd);
	close(old->fd);
	old->fd = -1;
	server_free(old->retired);
	old->retired = NULL;
	s->retired = old;
	s->retired_ns = clock_now_ns();
}

/* Both daemons accept connections for a moment: none is refused. */
int server_replace(struct server **s, const struct exporter_options *o)
{
	struct server *old = *s, *new = new_server(o);
	const int moves = strcmp(o->listen.text, old->o->listen.text) != 0;
	int err = new ? read_files(new) : -ENOMEM;

	if (!err && moves)
		err = bind_address(new, old);
	else if (!err && (new->fd = fcntl(old->fd, F_DUPFD_CLOEXEC, 3)) < 0)
		err = -errno;
	err = err ?: server_start(new, old->pages, old->front);
	if (err) {
		server_free(new);
		return err;
	}
	if (moves)
		server_say_where(new);
	retire(new, old);
	*s = new;
	return 0;
}

void server_tick(struct server *s, uint64_t now_ns)
{
	__atomic_store_n(&s->ticked_ns, now_ns, __ATOMIC_RELAXED);
	connections_check(&s->connections, now_ns);
	if (!s->retired)
		return;
	connections_check(&s->retired->connections, now_ns);
	if (now_ns > s->retired_ns + RETIRED_NS) {
		server_free(s->retired);
		s->retired = NULL;
	}
}

void server_free(struct server *s)
{
	if (!s)
		return;
	server_free(s->retired);
	if (s->daemon)
		MHD_stop_daemon(s->daemon); /* closes its copy of fd */
	if (s->fd >= 0)
		close(s->fd);
	free(s->cert);
	free(s->key);
	auth_free(s->auth);
	pthread_mutex_destroy(&s->connections.lock);
	free(s);
}
