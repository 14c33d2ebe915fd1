/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of the file that an event opens, uses or closes. */
#include "fields_fd.h"

#include <stdlib.h>

#include "container/containers.h"
#include "evt_param.h"
#include "port_name.h"
#include "process.h"
#include "text.h"
#include "value.h"

/* Returns whether the exit lacks the descriptor: in other tools' captures, the enter has it. */
static int is_lone_exit(const struct sinsp_evt *evt)
{
	return !evt_is_enter(evt->info->id) && !evt->latency_known && evt->fdnum == -1 &&
	       !(evt->raw.flags & SCAP_EVT_F_FULL) && !(evt->info->flags & EF_CREATES_FD);
}

/* Returns whether the socket of a TLS connection is unknown. */
static int is_lone_tls(const struct sinsp_evt *evt)
{
	return evt->fdnum == -1 &&
	       (evt->raw.type == EVT_TLS_READ_X || evt->raw.type == EVT_TLS_WRITE_X);
}

/* Returns whether it is known of which descriptor the event is. */
static int has_fd(const struct sinsp_evt *evt)
{
	return evt_is_about_fd(evt) && !is_lone_exit(evt) && !is_lone_tls(evt);
}

static int get_num(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	(void)f, (void)more;
	/* -1: the call created no descriptor. */
	if (!has_fd(e->evt))
		return 0;
	return field_i(v, e->evt->fdnum);
}

static int get_type(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	const struct sinsp_fd *fd = field_fd(e);

	(void)f, (void)more;
	if (!fd)
		return 0;
	return field_str(v, sinsp_fd_typename(fd) ?: (field_has_default(e) ? "<NA>" : NULL));
}

/* Each with the lowest descriptor that has it, in that order: tables are in none. */
struct seen_types {
	struct seen_type {
		const char *name;
		int32_t num;
	} v[SCAP_FD_MAX];
	int n;
};

static void note_type(const struct sinsp_fd *fd, void *ctx)
{
	struct seen_types *seen = ctx;
	const char *name = sinsp_fd_typename(fd);

	if (!name)
		return;
	for (int i = 0; i < seen->n; i++)
		if (seen->v[i].name == name) {
			if (fd->num < seen->v[i].num)
				seen->v[i].num = fd->num;
			return;
		}
	seen->v[seen->n++] = (struct seen_type){name, fd->num};
}

static int by_num(const void *a, const void *b)
{
	const struct seen_type *x = a, *y = b;

	return x->num < y->num ? -1 : x->num > y->num;
}

/* Gets the types of all open files of the process, or that of file [N]. */
static int get_types(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	struct seen_types seen = {0};
	const struct sinsp_fd *fd;
	struct sinsp_value *list;

	if (!evt_is_about_fd(e->evt))
		return 0;
	if (f->has_index) {
		fd = sinsp_thread_fd(e->evt->thread, f->index);
		return fd ? field_str(v, sinsp_fd_typename(fd)) : 0;
	}
	list = sinsp_eval_alloc(e, SCAP_FD_MAX * sizeof(*list));
	if (!list)
		return -ENOMEM;
	sinsp_files_each(e->evt->thread->files, note_type, &seen);
	qsort(seen.v, (size_t)seen.n, sizeof(*seen.v), by_num);
	for (int i = 0; i < seen.n; i++) {
		list[i] = *v;
		field_str(&list[i], seen.v[i].name);
	}
	if (seen.n)
		*v = list[0];
	*more = list;
	return seen.n;
}

/* Returns the type that a failed call would have created. */
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
	const struct sinsp_fd *fd = field_fd(e);

	(void)f, (void)more;
	if (!evt_is_about_fd(e->evt))
		return 0;
	if (!fd)
		return field_str(v, would_be_type(e->evt->raw.type | 1));
	return field_mem(v, fd->type ? sinsp_fd_typechar(fd) : "o", 1);
}

/* ---- names ---- */

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

/* Gets the name that a failed call would have opened or connected to. */
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
		at = evt_param_filled(evt, "name");
		return at < 0 ? 0 : keep_path(e, v, at);
	case EVT_CONNECT_X:
		at = evt_param_filled(evt, "tuple");
		return at < 0 ? 0 : keep_tuple(e, v, at);
	default:
		return field_has_default(e) ? field_str(v, "") : 0;
	}
}

static int has_failed(const struct sinsp_evt *evt)
{
	return evt->params.n && evt->params.v[0].len == 8 &&
	       (int64_t)get_u64(evt->params.v[0].p) < 0;
}

static int name_of(struct sinsp_eval *e, struct sinsp_value *v)
{
	const struct sinsp_fd *fd = field_fd(e);
	int n = 0;

	if (!evt_is_about_fd(e->evt))
		return 0;
	/* Only the event has the address of a failed connect. */
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

/* Gets the path given to the call that opened the file, without doubled slashes. */
static int get_nameraw(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		       const struct sinsp_value **more)
{
	const struct sinsp_fd *fd = field_fd(e);
	const char *raw = NULL, *end;
	size_t n = 0;
	char *p;
	int at;

	(void)f, (void)more;
	if (fd && (fd_is_file(fd) || fd->type == SCAP_FD_DIRECTORY)) {
		raw = sinsp_fd_given_name(fd, &n);
	} else if (!fd && evt_is_about_fd(e->evt) && would_be_type(e->evt->raw.type)[0] == 'f') {
		at = evt_param_filled(e->evt, "name");
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

/* Returns the length of the name before its last slash; a slash at the end is kept. */
static size_t directory_length(const char *name, size_t n)
{
	const char *slash = memrchr(name, '/', n);

	if (!slash || slash == name)
		return 0;
	return slash == name + n - 1 ? n : (size_t)(slash - name);
}

static int directory_of(struct sinsp_eval *e, struct sinsp_value *v)
{
	const struct sinsp_fd *fd = field_fd(e);
	int n;

	if (fd && fd->type == SCAP_FD_DIRECTORY)
		return field_str(v, fd->name);
	if (fd ? !fd_is_file(fd) : !has_fd(e->evt))
		return 0;
	n = fd ? field_str(v, fd->name) : name_of(e, v);
	/* The name of a failed connect is no path. */
	if (n <= 0 || (!fd && !field_has_default(e) && (!v->len || v->p[0] != '/')))
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
	const struct sinsp_fd *fd = field_fd(e);
	const char *slash;

	(void)f, (void)more;
	if (!fd || !fd_is_file(fd))
		return 0;
	v->is_name = 1;
	slash = strrchr(fd->name, '/');
	if (!slash)
		return field_str(v, "/");
	return field_str(v, slash[1] ? slash + 1 : fd->name);
}

/* Puts "CONTAINER:" before the value; ":" on the host. */
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
	if (!has_fd(e->evt))
		return 0;
	p = sinsp_eval_alloc(e, 2 * TEXT_NUM_MAX);
	if (!p)
		return -ENOMEM;
	v->p = p;
	p = put_i64(put_i64(p, e->evt->thread->tid), e->evt->fdnum);
	v->len = (uint32_t)(p - v->p);
	return 1;
}

/* ---- device and layer ---- */

enum { DEV_WHOLE, DEV_MAJOR, DEV_MINOR };

static int get_dev(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	const struct sinsp_fd *fd = field_fd(e);

	(void)more;
	if (!fd || (!fd->dev && !field_has_default(e)))
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
	const struct sinsp_fd *fd = field_fd(e);

	(void)f, (void)more;
	return fd && fd->ino ? field_u(v, fd->ino) : 0;
}

/* A file of an overlay file system has one of the two flags; without them it is elsewhere, or they
 * were not recorded. */
static int get_layer(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	const struct sinsp_fd *fd = field_fd(e);
	const uint32_t wanted = f->row->variant ? SINSP_O_UPPER_LAYER : SINSP_O_LOWER_LAYER;

	(void)more;
	if (!fd || !(fd->open_flags & (SINSP_O_UPPER_LAYER | SINSP_O_LOWER_LAYER)))
		return 0;
	return field_u(v, !!(fd->open_flags & wanted));
}

static int get_name_changed(struct sinsp_eval *e, const struct sinsp_field *f,
			    struct sinsp_value *v, const struct sinsp_value **more)
{
	(void)f, (void)more;
	return field_fd(e) ? field_u(v, e->evt->fd_renamed) : 0;
}

/* clang-format off */
#define ROW(name, type, fmt, cost, flags, variant, get, help)                                      \
	{name, FIELD_##type, FIELD_FMT_##fmt, FIELD_COST_##cost, flags, variant, get, help, NULL,  \
	 .needs = FIELD_NEEDS_FILES}
#define ROW_OF(name, type, fmt, cost, flags, variant, get, help, values)                           \
	{name, FIELD_##type, FIELD_FMT_##fmt, FIELD_COST_##cost, flags, variant, get, help, NULL, values, \
	 .needs = FIELD_NEEDS_FILES}

/* Names of sinsp_fd_typename, and sysdig's for the others. */
static const char *const types[] = {"file",	 "directory", "ipv4",	   "ipv6",	"unix",
				    "pipe",	 "event",     "signalfd",  "eventpoll", "inotify",
				    "timerfd",	 "netlink",   "bpf",	   "io_uring",	"memfd",
				    "userfaultfd", "pidfd",   "<NA>",	   NULL};

static const struct sinsp_field_row rows[] = {
	ROW("fd.num", INT, DEC, HEADER, 0, 0, get_num, "number of the descriptor"),
	ROW_OF("fd.type", STR, DEC, STATE, 0, 0, get_type,
	    "type of the file: file, directory, ipv4, ipv6, unix, pipe, event, signalfd, "
	    "eventpoll, inotify, timerfd, netlink, bpf, userfaultfd, io_uring, memfd or pidfd", types),
	ROW_OF("fd.types", STR, DEC, SEARCH, FIELD_F_LIST | FIELD_F_ARG_OK | FIELD_F_ARG_INDEX, 0, get_types,
	    "fd.type of all open descriptors of the process, each once; fd.types[N] is that of "
	    "descriptor N",
	    types),
	ROW("fd.typechar", STR, DEC, STATE, 0, 0, get_typechar,
	    "fd.type as one character: f file, d directory, 4 and 6 internet sockets, u unix "
	    "socket, p pipe, e event, s signalfd, l eventpoll, i inotify, t timerfd, n netlink, o "
	    "unknown"),
	ROW("fd.name", PATH, DEC, STATE, 0, 0, get_name,
	    "name of the file: its path, or both ends of a socket, the client first"),
	ROW("fd.nameraw", PATH, DEC, TEXT, 0, 0, get_nameraw,
	    "path given to the call that opened the file"),
	ROW("fd.directory", PATH, DEC, STATE, 0, 0, get_directory, "directory of the file"),
	ROW("fd.filename", PATH, DEC, STATE, 0, 0, get_filename,
	    "name of the file without its directory"),
	ROW("fd.uid", STR, DEC, TEXT, 0, 0, get_uid,
	    "thread.tid and fd.num, without a separator"),
	ROW("fd.containername", PATH, DEC, TEXT, 0, 0, get_containername,
	    "container.id and fd.name, separated by a colon; no ID on the host"),
	ROW("fd.containerdirectory", PATH, DEC, TEXT, 0, 0, get_containerdirectory,
	    "container.id and fd.directory, separated by a colon; no ID on the host"),
	ROW("fd.name_changed", BOOL, DEC, STATE, 0, 0, get_name_changed,
	    "true if the event sets the name of the file, as an open does, or changes it, as a "
	    "datagram to another peer does"),
	ROW("fd.dev", UINT, HEX, STATE, 0, DEV_WHOLE, get_dev,
	    "device number of the file, as the kernel encodes it"),
	ROW("fd.dev.major", UINT, DEC, STATE, 0, DEV_MAJOR, get_dev,
	    "major device number of the file"),
	ROW("fd.dev.minor", UINT, DEC, STATE, 0, DEV_MINOR, get_dev,
	    "minor device number of the file"),
	ROW("fd.ino", UINT, DEC, STATE, 0, 0, get_ino, "inode number of the file"),
	ROW("fd.is_upper_layer", BOOL, DEC, STATE, 0, 1, get_layer,
	    "true if the file is in the upper layer of an overlay file system; captures of other "
	    "tools only"),
	ROW("fd.is_lower_layer", BOOL, DEC, STATE, 0, 0, get_layer,
	    "true if the file is in a lower layer of an overlay file system; captures of other "
	    "tools only"),
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_fd = {
	.name = "fd",
	.title = "fd",
	.help = "The file that the event is about",
	FIELD_ROWS(rows),
};
