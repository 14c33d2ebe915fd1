/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of the file that an event opens, uses or closes. A connection has a client end, which
 * began it, and a server end; names and tuples go from client to server. In saker's captures
 * connect and accept decide which end is ours; in others, as in sysdig, the addresses of the
 * machine, which say nothing for a machine that talks to itself.
 */
#include <arpa/inet.h>

#include "errno_signal_names.h"
#include "field_rows.h"
#include "port_name.h"
#include "process.h"
#include "state/inspector.h"
#include "text.h"
#include "value.h"

/* ---- the file ---- */

static int is_about_fd(const struct sinsp_evt *evt)
{
	return evt->thread && evt->info->flags & (EF_CREATES_FD | EF_USES_FD | EF_DESTROYS_FD);
}

/* NULL: the event has none, or an unknown one. */
static const struct sinsp_fd *fd_of(const struct sinsp_eval *e)
{
	return is_about_fd(e->evt) ? e->evt->fd : NULL;
}

static int is_file(const struct sinsp_fd *fd)
{
	return fd->type == SCAP_FD_FILE || fd->type == SCAP_FD_FILE_V2;
}

static int is_connection(const struct sinsp_fd *fd)
{
	return fd->type == SCAP_FD_IPV4_SOCK || fd->type == SCAP_FD_IPV6_SOCK;
}

static int is_listening(const struct sinsp_fd *fd)
{
	return fd->type == SCAP_FD_IPV4_SERVSOCK || fd->type == SCAP_FD_IPV6_SERVSOCK;
}

static int is_v6(const struct sinsp_fd *fd)
{
	return fd->type == SCAP_FD_IPV6_SOCK || fd->type == SCAP_FD_IPV6_SERVSOCK;
}

/* An exit in another tool's capture without its enter does not say which file it was. */
static int is_lone_exit(const struct sinsp_evt *evt)
{
	return !evt_is_enter(evt->info->id) && !evt->latency_known && evt->fdnum == -1 &&
	       !(evt->raw.flags & SCAP_EVT_F_FULL) && !(evt->info->flags & EF_CREATES_FD);
}

static int get_num(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	(void)f, (void)more;
	/* -1: the call was to create a descriptor, and has not. */
	return is_about_fd(e->evt) && !is_lone_exit(e->evt) ? field_i(v, e->evt->fdnum) : 0;
}

static int get_type(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	const struct sinsp_fd *fd = fd_of(e);

	(void)f, (void)more;
	if (!fd)
		return 0;
	return field_str(v, sinsp_fd_typename(fd) ?: (field_guesses(e) ? "<NA>" : NULL));
}

struct seen_types {
	struct sinsp_value *list;
	int n;
};

static void note_type(const struct sinsp_fd *fd, void *ctx)
{
	struct seen_types *seen = ctx;
	const char *name = sinsp_fd_typename(fd);

	for (int i = 0; i < seen->n; i++)
		if (seen->list[i].p == name)
			return;
	if (name)
		field_str(&seen->list[seen->n++], name);
}

/* The kinds of open files of the process, or the kind of file [N]. */
static int get_types(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	struct seen_types seen = {0};
	const struct sinsp_fd *fd;

	if (!is_about_fd(e->evt))
		return 0;
	if (f->has_index) {
		fd = sinsp_thread_fd(e->evt->thread, f->index);
		return fd ? field_str(v, sinsp_fd_typename(fd)) : 0;
	}
	seen.list = sinsp_eval_alloc(e, SCAP_FD_MAX * sizeof(*seen.list));
	if (!seen.list)
		return -ENOMEM;
	for (int i = 0; i < SCAP_FD_MAX; i++)
		seen.list[i] = *v;
	sinsp_files_each(e->evt->thread->files, note_type, &seen);
	if (seen.n)
		*v = seen.list[0];
	*more = seen.list;
	return seen.n;
}

/* For a failed call that creates a descriptor: the kind it would have had. */
static const char *would_be_type(unsigned int exit_type)
{
	switch (exit_type) {
	case EVT_OPEN_X:
	case EVT_OPENAT_102_X:
	case EVT_OPENAT_X:
	case EVT_OPENAT2_X:
	case EVT_CREAT_X:
		return "f";
	case EVT_SOCKET_X:
	case EVT_ACCEPT_26_X:
	case EVT_ACCEPT_56_X:
	case EVT_ACCEPT_X:
	case EVT_ACCEPT4_248_X:
	case EVT_ACCEPT4_X:
		return "4";
	case EVT_PIPE_X:
	case EVT_PIPE2_X:
		return "p";
	case EVT_EVENTFD_X:
	case EVT_EVENTFD2_X:
		return "e";
	case EVT_SIGNALFD_X:
	case EVT_SIGNALFD4_X:
		return "s";
	case EVT_TIMERFD_CREATE_X:
		return "t";
	case EVT_INOTIFY_INIT_X:
	case EVT_INOTIFY_INIT1_X:
		return "i";
	default:
		return "o";
	}
}

static int get_typechar(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			const struct sinsp_value **more)
{
	const struct sinsp_fd *fd = fd_of(e);

	(void)f, (void)more;
	if (!is_about_fd(e->evt))
		return 0;
	if (!fd)
		return field_str(v, would_be_type(e->evt->raw.type | 1));
	return field_mem(v, fd->type ? sinsp_fd_typechar(fd) : "o", 1);
}

/* ---- names ---- */

static int param_at(const struct sinsp_evt *evt, const char *name)
{
	for (int i = 0; i < evt->info->n_params && (unsigned int)i < evt->params.n; i++)
		if (!strcmp(evt->info->params[i].name, name))
			return evt->params.v[i].len ? i : -1;
	return -1;
}

static int keep_path(struct sinsp_eval *e, struct sinsp_value *v, int at)
{
	struct value_writer w = {.out = &e->text, .evt = e->evt};
	int n = sinsp_value_abspath(&w, (unsigned int)at);

	return n > 0 ? sinsp_eval_keep(e, v) : n;
}

static int keep_tuple(struct sinsp_eval *e, struct sinsp_value *v, int at)
{
	struct value_writer w = {.out = &e->text, .evt = e->evt};
	int err = sinsp_value_arg(&w, (unsigned int)at);

	return err ? err : sinsp_eval_keep(e, v);
}

/* What a failed call was to create or to reach. */
static int would_be_name(struct sinsp_eval *e, struct sinsp_value *v)
{
	const struct sinsp_evt *evt = e->evt;
	int at;

	if (evt_is_enter(evt->info->id))
		return 0;
	switch (evt->raw.type) {
	case EVT_OPEN_X:
	case EVT_CREAT_X:
	case EVT_OPENAT_X:
	case EVT_OPENAT2_X:
		at = param_at(evt, "name");
		return at < 0 ? 0 : keep_path(e, v, at);
	case EVT_CONNECT_X:
		at = param_at(evt, "tuple");
		return at < 0 ? 0 : keep_tuple(e, v, at);
	default:
		return field_guesses(e) ? field_str(v, "") : 0;
	}
}

static int has_failed(const struct sinsp_evt *evt)
{
	return evt->params.n && evt->params.v[0].len == 8 &&
	       (int64_t)get_u64(evt->params.v[0].p) < 0;
}

static int name_of(struct sinsp_eval *e, struct sinsp_value *v)
{
	const struct sinsp_fd *fd = fd_of(e);
	int n = 0;

	if (!is_about_fd(e->evt))
		return 0;
	/* The address of a failed connection is only in the event. */
	if (!fd || (e->evt->raw.type == EVT_CONNECT_X && has_failed(e->evt)))
		n = would_be_name(e, v);
	return n || !fd ? n : field_str(v, fd->name);
}

/* Prints the name of a socket with names for its ports. */
static int name_ports(struct sinsp_eval *e, struct sinsp_value *v)
{
	const struct sinsp_fd *fd = e->evt->fd;
	char *p;

	if (!fd || !port_name_has_ports(fd))
		return 1;
	p = sinsp_eval_alloc(e, strlen(fd->name) + 2 * PORT_NAME_MAX);
	return p ? field_mem(v, p, (size_t)(port_name_put_fd(p, fd) - p)) : -ENOMEM;
}

static int get_name(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	int n;

	(void)f, (void)more;
	v->is_name = 1;
	n = name_of(e, v);
	return n == 1 && e->port_names ? name_ports(e, v) : n;
}

/* The path as given to the call that opened it, without doubled slashes. */
static int get_nameraw(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		       const struct sinsp_value **more)
{
	const struct sinsp_fd *fd = fd_of(e);
	const char *raw = NULL, *end;
	size_t n = 0;
	char *p;
	int at;

	(void)f, (void)more;
	if (fd && (is_file(fd) || fd->type == SCAP_FD_DIRECTORY)) {
		raw = sinsp_fd_given_name(fd, &n);
	} else if (!fd && is_about_fd(e->evt) && would_be_type(e->evt->raw.type)[0] == 'f') {
		at = param_at(e->evt, "name");
		if (at >= 0) {
			raw = (const char *)e->evt->params.v[at].p;
			n = strnlen(raw, e->evt->params.v[at].len);
		}
	}
	if (!raw)
		return 0;
	p = sinsp_eval_alloc(e, n);
	if (!p)
		return -ENOMEM;
	v->p = p;
	for (end = raw + n; raw < end; raw++)
		if (*raw != '/' || p == v->p || p[-1] != '/')
			*p++ = *raw;
	v->len = (uint32_t)(p - v->p);
	return 1;
}

/* The part of a file name before its last slash; a slash at the end is kept. */
static size_t directory_length(const char *name, size_t n)
{
	const char *slash = memrchr(name, '/', n);

	if (!slash || slash == name)
		return 0;
	return slash == name + n - 1 ? n : (size_t)(slash - name);
}

static int directory_of(struct sinsp_eval *e, struct sinsp_value *v)
{
	const struct sinsp_fd *fd = fd_of(e);
	int n;

	if (fd && fd->type == SCAP_FD_DIRECTORY)
		return field_str(v, fd->name);
	if (fd && !is_file(fd))
		return 0;
	n = fd ? field_str(v, fd->name) : name_of(e, v);
	/* connect has a name too, which is no path. */
	if (n <= 0 || (!fd && !field_guesses(e) && (!v->len || v->p[0] != '/')))
		return n < 0 ? n : 0;
	n = (int)directory_length(v->p, v->len);
	return n ? field_mem(v, v->p, (size_t)n) : field_str(v, "/");
}

static int get_directory(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			 const struct sinsp_value **more)
{
	(void)f, (void)more;
	v->is_name = 1;
	return directory_of(e, v);
}

static int get_filename(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			const struct sinsp_value **more)
{
	const struct sinsp_fd *fd = fd_of(e);
	const char *slash;

	(void)f, (void)more;
	if (!fd || !is_file(fd))
		return 0;
	v->is_name = 1;
	slash = strrchr(fd->name, '/');
	if (!slash)
		return field_str(v, "/");
	return field_str(v, slash[1] ? slash + 1 : fd->name);
}

/* "CONTAINER:", with nothing before the colon on the host, and the value. */
static int chain_container(struct sinsp_eval *e, struct sinsp_value *v)
{
	const struct sinsp_container *c = sinsp_thread_container(e->evt->thread);
	const char *id = c ? c->id : "";
	const size_t n = strlen(id), len = v->len;
	char *p = sinsp_eval_alloc(e, n + 1 + len);

	if (!p)
		return -ENOMEM;
	put_mem(put_lit(put_mem(p, id, n), ":"), v->p, len);
	v->is_name = 1;
	return field_mem(v, p, n + 1 + len);
}

static int get_containername(struct sinsp_eval *e, const struct sinsp_field *f,
			     struct sinsp_value *v, const struct sinsp_value **more)
{
	const int n = name_of(e, v);

	(void)f, (void)more;
	return n > 0 ? chain_container(e, v) : n;
}

static int get_containerdirectory(struct sinsp_eval *e, const struct sinsp_field *f,
				  struct sinsp_value *v, const struct sinsp_value **more)
{
	const int n = directory_of(e, v);

	(void)f, (void)more;
	return n > 0 ? chain_container(e, v) : n;
}

static int get_uid(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	char *p;

	(void)f, (void)more;
	if (!is_about_fd(e->evt))
		return 0;
	p = sinsp_eval_alloc(e, 2 * TEXT_NUM_MAX);
	if (!p)
		return -ENOMEM;
	v->p = p;
	p = put_i64(put_i64(p, e->evt->thread->tid), e->evt->fdnum);
	v->len = (uint32_t)(p - v->p);
	return 1;
}

/* ---- the ends of a connection ---- */

/* Which end, by row; also for ports, services and networks. */
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

	/* The event has the name of a container. */
	if (c && !is_v6(fd) && inet_pton(AF_INET, c->ip, own) == 1 && memcmp(own, "\0\0\0", 4))
		if (!memcmp(own, ip, 4))
			return 1;
	return sinsp_ifaces_have(&e->insp->ifaces, ip, is_v6(fd));
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

/* Which end of the tuple it is; the source is the client. -1: unknown, or none. */
static int place_of(const struct sinsp_eval *e, const struct sinsp_fd *fd, enum end end)
{
	if (is_listening(fd))
		return end == END_SERVER && (has_role(fd) || e->insp->native) ? END_CLIENT : -1;
	if (!is_connection(fd) || !has_role(fd))
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
	return field_mem(v, place == END_CLIENT ? t->sip : t->dip, is_v6(fd) ? 16 : 4);
}

static int get_ip(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		  const struct sinsp_value **more)
{
	const struct sinsp_fd *fd = fd_of(e);

	(void)more;
	return fd ? address_at(v, fd, place_of(e, fd, (enum end)f->row->variant)) : 0;
}

/* Both ends, the client's first; a listening socket has one. */
static int both(struct sinsp_eval *e, struct sinsp_value *v, const struct sinsp_value **more,
		int (*get)(struct sinsp_value *v, const struct sinsp_fd *fd, int place))
{
	const struct sinsp_fd *fd = fd_of(e);
	struct sinsp_value *list;

	if (!fd || (!is_connection(fd) && !is_listening(fd)))
		return 0;
	if (is_listening(fd))
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
	const struct sinsp_fd *fd = fd_of(e);

	if (!fd)
		return 0;
	if (is_listening(fd))
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

/* The port number, or with -R the name of its service. */
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
	const struct sinsp_fd *fd = fd_of(e);
	int is_socket;

	(void)f, (void)more;
	if (!fd)
		return 0;
	is_socket = is_connection(fd) || is_listening(fd);
	if (!field_guesses(e))
		return is_socket ? field_str(v, l4proto_name(fd)) : 0;
	/*
	 * sysdig has one value for sockets that connect or accept, and another for everything else.
	 */
	if (is_connection(fd) && !has_role(fd) && fd->l4proto != SCAP_L4_RAW)
		is_socket = 0;
	return field_str(v, (is_socket ? l4proto_name(fd) : NULL) ?: "<NA>");
}

static int get_sockfamily(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			  const struct sinsp_value **more)
{
	const struct sinsp_fd *fd = fd_of(e);

	(void)f, (void)more;
	if (!fd)
		return 0;
	if (fd->type == SCAP_FD_UNIX_SOCK)
		return field_str(v, "unix");
	return is_connection(fd) || is_listening(fd) ? field_str(v, "ip") : 0;
}

static int get_is_server(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			 const struct sinsp_value **more)
{
	const struct sinsp_fd *fd = fd_of(e);

	(void)f, (void)more;
	if (!fd)
		return 0;
	if (!is_connection(fd))
		return field_u(v, (uint64_t)is_listening(fd));
	if (!e->insp->native)
		return field_u(v, (uint64_t)is_address_of_machine(e, fd, sinsp_fd_tuple(fd)->dip));
	return field_u(v, !!(fd->flags & SINSP_FD_F_SERVER));
}

static int get_connected(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			 const struct sinsp_value **more)
{
	const struct sinsp_fd *fd = fd_of(e);

	(void)f, (void)more;
	return fd ? field_u(v, !!(fd->flags & SINSP_FD_F_CONNECTED)) : 0;
}

/* ---- its connect ---- */

/* NULL: there was none, or its outcome is unknown. */
static const struct sinsp_connect *outcome_of(const struct sinsp_eval *e)
{
	const struct sinsp_fd *fd = fd_of(e);
	const struct sinsp_connect *c = fd ? sinsp_fd_connect(fd) : NULL;

	return c && c->known ? c : NULL;
}

/* A non-blocking connect whose outcome no event has shown yet. */
static int is_connecting(const struct sinsp_eval *e)
{
	const struct sinsp_fd *fd = fd_of(e);

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
	return fd_of(e) ? field_u(v, e->evt->connect_done) : 0;
}

static int get_name_changed(struct sinsp_eval *e, const struct sinsp_field *f,
			    struct sinsp_value *v, const struct sinsp_value **more)
{
	(void)f, (void)more;
	return fd_of(e) ? field_u(v, e->evt->fd_renamed) : 0;
}

static int get_none(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	(void)e, (void)f, (void)v, (void)more;
	return 0;
}

/* ---- where it is ---- */

enum { DEV_WHOLE, DEV_MAJOR, DEV_MINOR };

static int get_dev(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	const struct sinsp_fd *fd = fd_of(e);

	(void)more;
	if (!fd || (!fd->dev && !field_guesses(e)))
		return 0;
	switch (f->row->variant) {
	case DEV_WHOLE:
		return field_u(v, fd->dev);
	case DEV_MAJOR:
		return field_u(v, fd->dev >> 8 & 0xfff);
	default:
		return field_u(v, (fd->dev & 0xff) | (fd->dev >> 12 & 0xfff00));
	}
}

static int get_ino(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	const struct sinsp_fd *fd = fd_of(e);

	(void)f, (void)more;
	return fd && fd->ino ? field_u(v, fd->ino) : 0;
}

/* A file of an overlay has one of the two flags; without either it was not recorded, or it is
 * elsewhere. */
static int get_layer(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	const struct sinsp_fd *fd = fd_of(e);
	const uint32_t wanted = f->row->variant ? SINSP_O_UPPER_LAYER : SINSP_O_LOWER_LAYER;

	(void)more;
	if (!fd || !(fd->open_flags & (SINSP_O_UPPER_LAYER | SINSP_O_LOWER_LAYER)))
		return 0;
	return field_u(v, !!(fd->open_flags & wanted));
}

/* clang-format off */
#define ROW(name, type, fmt, cost, flags, variant, get, help)                                      \
	{name, FIELD_##type, FIELD_FMT_##fmt, FIELD_COST_##cost, flags, variant, get, help, NULL}
#define ROW_OF(name, type, fmt, cost, flags, variant, get, help, values)                           \
	{name, FIELD_##type, FIELD_FMT_##fmt, FIELD_COST_##cost, flags, variant, get, help, NULL, values}
#define EITHER (FIELD_F_LIST | FIELD_F_ENDS | FIELD_F_FILTER_ONLY)

/* Names of sinsp_fd_typename, and sysdig's for the others; the same for protocols. */
static const char *const types[] = {"file",	 "directory", "ipv4",	   "ipv6",	"unix",
				    "pipe",	 "event",     "signalfd",  "eventpoll", "inotify",
				    "timerfd",	 "netlink",   "bpf",	   "io_uring",	"memfd",
				    "userfaultfd", "pidfd",   "<NA>",	   NULL};
static const char *const l4protos[] = {"tcp", "udp", "icmp", "raw", "<NA>", NULL};
static const char *const sockfamilies[] = {"ip", "unix", NULL};

static const struct sinsp_field_row rows[] = {
	ROW("fd.num", INT, DEC, HEADER, 0, 0, get_num, "number of the file in its process"),
	ROW_OF("fd.type", STR, DEC, STATE, 0, 0, get_type,
	    "what the file is: file, directory, ipv4, ipv6, unix, pipe, event, signalfd, eventpoll, "
	    "inotify, timerfd, netlink, bpf, userfaultfd, io_uring, memfd or pidfd", types),
	ROW_OF("fd.types", STR, DEC, SEARCH, FIELD_F_LIST | FIELD_F_ARG_OK | FIELD_F_ARG_INDEX, 0, get_types,
	    "fd.type of all files that the process has open, each once; fd.types[N] is that of file N",
	    types),
	ROW("fd.typechar", STR, DEC, STATE, 0, 0, get_typechar,
	    "the same as one character: f file, d directory, 4 and 6 internet sockets, u unix socket, p "
	    "pipe, e event, s signalfd, l eventpoll, i inotify, t timerfd, n netlink, o unknown"),
	ROW("fd.name", PATH, DEC, STATE, 0, 0, get_name,
	    "name of the file: its path, or of a socket both its ends, from client to server"),
	ROW("fd.nameraw", PATH, DEC, TEXT, 0, 0, get_nameraw,
	    "name of the file as it was given to the call that opened it"),
	ROW("fd.directory", PATH, DEC, STATE, 0, 0, get_directory, "directory that the file is in"),
	ROW("fd.filename", PATH, DEC, STATE, 0, 0, get_filename, "name of the file in its directory"),
	ROW("fd.ip", IP, DEC, STATE, EITHER, END_BOTH, get_ips,
	    "address of either end of a connection"),
	ROW("fd.cip", IP, DEC, STATE, 0, END_CLIENT, get_ip, "address of the client"),
	ROW("fd.sip", IP, DEC, STATE, 0, END_SERVER, get_ip, "address of the server"),
	ROW("fd.lip", IP, DEC, STATE, 0, END_LOCAL, get_ip, "address of our end"),
	ROW("fd.rip", IP, DEC, STATE, 0, END_REMOTE, get_ip, "address of the other end"),
	ROW("fd.port", PORT, DEC, STATE, EITHER, END_BOTH, get_ports,
	    "port of either end of a connection"),
	ROW("fd.cport", PORT, DEC, STATE, 0, END_CLIENT, get_port, "port of the client"),
	ROW("fd.sport", PORT, DEC, STATE, 0, END_SERVER, get_port, "port of the server"),
	ROW("fd.lport", PORT, DEC, STATE, 0, END_LOCAL, get_port, "port of our end"),
	ROW("fd.rport", PORT, DEC, STATE, 0, END_REMOTE, get_port, "port of the other end"),
	ROW_OF("fd.l4proto", STR, DEC, STATE, 0, 0, get_l4proto,
	    "protocol of a socket: tcp, udp, icmp or raw", l4protos),
	ROW_OF("fd.sockfamily", STR, DEC, STATE, 0, 0, get_sockfamily, "ip or unix", sockfamilies),
	ROW("fd.is_server", BOOL, DEC, STATE, 0, 0, get_is_server,
	    "true if our end is the server's"),
	ROW("fd.uid", STR, DEC, TEXT, 0, 0, get_uid,
	    "thread.tid and fd.num, without anything between"),
	ROW("fd.containername", PATH, DEC, TEXT, 0, 0, get_containername,
	    "container.id and fd.name, with a colon between; no id on the host"),
	ROW("fd.containerdirectory", PATH, DEC, TEXT, 0, 0, get_containerdirectory,
	    "container.id and fd.directory, with a colon between; no id on the host"),
	ROW("fd.proto", PORT, DEC, STATE, EITHER, END_BOTH, get_ports, "the same as fd.port"),
	ROW("fd.cproto", STR, DEC, TEXT, 0, END_CLIENT, get_service,
	    "port of the client; with -R the name of its service"),
	ROW("fd.sproto", STR, DEC, TEXT, 0, END_SERVER, get_service,
	    "port of the server; with -R the name of its service"),
	ROW("fd.lproto", STR, DEC, TEXT, 0, END_LOCAL, get_service,
	    "port of our end; with -R the name of its service"),
	ROW("fd.rproto", STR, DEC, TEXT, 0, END_REMOTE, get_service,
	    "port of the other end; with -R the name of its service"),
	ROW("fd.net", NET, DEC, STATE, EITHER, END_BOTH, get_ips,
	    "network that either end is in, such as 10.0.0.0/8"),
	ROW("fd.cnet", NET, DEC, STATE, FIELD_F_FILTER_ONLY, END_CLIENT, get_ip,
	    "network that the client is in"),
	ROW("fd.snet", NET, DEC, STATE, FIELD_F_FILTER_ONLY, END_SERVER, get_ip,
	    "network that the server is in"),
	ROW("fd.lnet", NET, DEC, STATE, FIELD_F_FILTER_ONLY, END_LOCAL, get_ip,
	    "network that our end is in"),
	ROW("fd.rnet", NET, DEC, STATE, FIELD_F_FILTER_ONLY, END_REMOTE, get_ip,
	    "network that the other end is in"),
	ROW("fd.connected", BOOL, DEC, STATE, 0, 0, get_connected,
	    "true if the socket is connected"),
	ROW("fd.connect.result", STR, DEC, STATE, 0, 0, get_connect_result,
	    "outcome of the socket's connect, also of a non-blocking one: SUCCESS or the name of the "
	    "error, from the call by which the process learnt it on (connect, getsockopt of SO_ERROR, "
	    "getpeername, a read or write); EINPROGRESS until then"),
	ROW("fd.connect.latency", DURATION, DEC, STATE, 0, 0, get_connect_latency,
	    "nanoseconds from the start of the connect until the process read its result"),
	ROW("fd.connect.done", BOOL, DEC, STATE, 0, 0, get_connect_done,
	    "true if the process learnt the outcome of the connect by this event"),
	ROW("fd.name_changed", BOOL, DEC, STATE, 0, 0, get_name_changed,
	    "true if the event gave the file its name, as an open does, or another, as a datagram to "
	    "somebody else"),
	ROW("fd.cip.name", STR, DEC, STATE, 0, 0, get_none,
	    "no value: names of hosts are not asked for"),
	ROW("fd.sip.name", STR, DEC, STATE, 0, 0, get_none, "no value: as fd.cip.name"),
	ROW("fd.lip.name", STR, DEC, STATE, 0, 0, get_none, "no value: as fd.cip.name"),
	ROW("fd.rip.name", STR, DEC, STATE, 0, 0, get_none, "no value: as fd.cip.name"),
	ROW("fd.dev", UINT, HEX, STATE, 0, DEV_WHOLE, get_dev,
	    "device that the file is on, major and minor number as the kernel encodes them"),
	ROW("fd.dev.major", UINT, DEC, STATE, 0, DEV_MAJOR, get_dev,
	    "major number of the device that the file is on"),
	ROW("fd.dev.minor", UINT, DEC, STATE, 0, DEV_MINOR, get_dev,
	    "minor number of the device that the file is on"),
	ROW("fd.ino", UINT, DEC, STATE, 0, 0, get_ino, "number of the file's inode"),
	ROW("fd.is_upper_layer", BOOL, DEC, STATE, 0, 1, get_layer,
	    "true if the file is in the upper layer of an overlay. saker does not record it: only files "
	    "of other tools have it"),
	ROW("fd.is_lower_layer", BOOL, DEC, STATE, 0, 0, get_layer,
	    "true if the file is in the lower layer of an overlay. saker does not record it: only files "
	    "of other tools have it"),
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_fd = {
	.name = "fd",
	.title = "fd",
	.help = "The file that the event is about",
	FIELD_ROWS(rows),
};
