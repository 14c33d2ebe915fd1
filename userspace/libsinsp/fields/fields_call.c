/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of an event's type, parameters and result. */
#include <ctype.h>
#include <stdlib.h>

#include "errno_signal_names.h"
#include "fd.h"
#include "field_rows.h"
#include "info.h"
#include "thread.h"
#include "value.h"

/* ---- what it is ---- */

static int get_type(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	(void)f, (void)more;
	return field_str(v, sinsp_evt_type(e->evt));
}

struct name_search {
	const char *name;
	int found;
};

static void compare_name(void *ctx, const char *name)
{
	struct name_search *s = ctx;

	s->found |= !strcmp(s->name, name);
}

static void compare_event(void *ctx, const struct scap_event_info *info)
{
	compare_name(ctx, info->name);
}

/* evt.type.is.3, used by views of sysdig: the number of an event. */
static const struct scap_event_info *numbered_event(const char *arg)
{
	char *end;
	const unsigned long id = strtoul(arg, &end, 10);
	const struct scap_event_info *info;

	if (!isdigit((unsigned char)*arg) || *end || id > UINT16_MAX)
		return NULL;
	info = scap_event_info((unsigned int)id);
	return info && !(info->flags & EF_UNUSED) ? info : NULL;
}

static int check_type_is(struct sinsp_field *f, const char **why)
{
	struct name_search s = {.name = f->arg};
	const struct scap_event_info *numbered = numbered_event(f->arg);

	f->index = numbered ? numbered->id : -1;
	if (numbered)
		return 0;
	scap_calls_each_name(compare_name, &s);
	scap_event_each(compare_event, &s);
	if (s.found)
		return 0;
	return sinsp_field_error(f, why, "no event %s; see saker -L", f->arg);
}

static int get_type_is(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		       const struct sinsp_value **more)
{
	(void)more;
	if (f->index >= 0)
		return field_u(v, e->evt->raw.type == f->index);
	return field_u(v, !strcmp(sinsp_evt_type(e->evt), f->arg));
}

static int get_dir(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	(void)f, (void)more;
	return field_mem(v, evt_is_enter(e->evt->info->id) ? ">" : "<", 1);
}

static int is_generic(const struct sinsp_evt *evt)
{
	return evt->info->id == EVT_SYSCALL_E || evt->info->id == EVT_SYSCALL_X;
}

/* Events of the machine or of the capture. */
static int is_call(const struct sinsp_evt *evt)
{
	const struct scap_event_info *exit;

	if (evt->info->category & (EC_INTERNAL | EC_SCHEDULER) ||
	    evt->info->flags & EF_SKIPPARSERESET)
		return 0;
	exit = scap_event_info(evt->info->id | 1);
	return exit && !(exit->flags & EF_UNUSED);
}

static int get_syscall_type(struct sinsp_eval *e, const struct sinsp_field *f,
			    struct sinsp_value *v, const struct sinsp_value **more)
{
	(void)f, (void)more;
	return is_call(e->evt) ? field_str(v, sinsp_evt_type(e->evt)) : 0;
}

static int get_syscall_nr(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			  const struct sinsp_value **more)
{
	(void)f, (void)more;
	return e->evt->raw.nr == REC_NR_NONE ? 0 : field_u(v, e->evt->raw.nr);
}

/* ---- what it is about ---- */

static unsigned int category_of(const struct sinsp_evt *evt)
{
	unsigned int code = 0;
	const char *name;

	if (!is_generic(evt))
		return evt->info->category;
	if (evt->params.n && evt->params.v[0].len >= sizeof(uint16_t))
		code = get_u16(evt->params.v[0].p);
	/* A code unknown to sysdig is 0 in its files. */
	if (!code && evt->raw.nr != REC_NR_NONE) {
		name = scap_syscall_name(evt->raw.nr, !!(evt->raw.flags & SCAP_EVT_F_IA32));
		code = name ? scap_syscall_ppm_sc(name) : 0;
	}
	return scap_ppm_sc_category(code);
}

enum fd_kind { FD_NONE, FD_FILE, FD_NET, FD_IPC, FD_OTHER };

static enum fd_kind fd_kind(const struct sinsp_evt *evt)
{
	const struct sinsp_fd *fd = evt->fd;

	switch (fd ? fd->type : 0) {
	case SCAP_FD_FILE:
	case SCAP_FD_FILE_V2:
	case SCAP_FD_DIRECTORY:
	case SCAP_FD_MEMFD:
		return FD_FILE;
	case SCAP_FD_IPV4_SOCK:
	case SCAP_FD_IPV6_SOCK:
	case SCAP_FD_IPV4_SERVSOCK:
	case SCAP_FD_IPV6_SERVSOCK:
		return FD_NET;
	case SCAP_FD_FIFO:
	case SCAP_FD_UNIX_SOCK:
	case SCAP_FD_EVENT:
	case SCAP_FD_SIGNALFD:
	case SCAP_FD_INOTIFY:
		return FD_IPC;
	default:
		return fd ? FD_OTHER : FD_NONE;
	}
}

static int is_io(const struct sinsp_evt *evt)
{
	return evt->info->category == EC_IO_READ || evt->info->category == EC_IO_WRITE ||
	       evt->info->category == EC_IO_OTHER;
}

static const char *category_name(const struct sinsp_evt *evt)
{
	/* clang-format off */
	static const char *const names[] = {
		[EC_OTHER] = "other", [EC_FILE] = "file", [EC_NET] = "net", [EC_IPC] = "IPC",
		[EC_MEMORY] = "memory", [EC_PROCESS] = "process", [EC_SLEEP] = "sleep",
		[EC_SYSTEM] = "system", [EC_SIGNAL] = "signal", [EC_USER] = "user",
		[EC_TIME] = "time", [EC_PROCESSING] = "processing",
	};
	static const char *const io_names[] = {
		[FD_NONE] = "unknown", [FD_FILE] = "file", [FD_NET] = "net", [FD_IPC] = "ipc",
		[FD_OTHER] = "unknown",
	};
	/* clang-format on */
	const unsigned int c = category_of(evt);

	if (is_io(evt))
		return io_names[fd_kind(evt)];
	if (c == EC_WAIT)
		return "wait";
	if (c & EC_SCHEDULER)
		return "scheduler";
	if (c & EC_INTERNAL)
		return "internal";
	return c < sizeof(names) / sizeof(names[0]) && names[c] ? names[c] : "unknown";
}

static int get_category(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			const struct sinsp_value **more)
{
	(void)f, (void)more;
	return field_str(v, category_name(e->evt));
}

enum { READS = EF_READS_FROM_FD, WRITES = EF_WRITES_TO_FD, WAITS = EF_WAITS };

static int get_flag(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	(void)more;
	return field_u(v, !!(e->evt->info->flags & f->row->variant));
}

static int get_is_blocked(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			  const struct sinsp_value **more)
{
	const uint32_t flags = e->evt->raw.flags;

	(void)f, (void)more;
	if (!evt_is_enter(e->evt->raw.type) || !(flags & (SCAP_EVT_F_BLOCKED | SCAP_EVT_F_HIDDEN)))
		return 0;
	return field_u(v, !!(flags & SCAP_EVT_F_BLOCKED));
}

static int get_began_before(struct sinsp_eval *e, const struct sinsp_field *f,
			    struct sinsp_value *v, const struct sinsp_value **more)
{
	(void)f, (void)more;
	if (!evt_is_enter(e->evt->raw.type))
		return 0;
	return field_u(v, !!(e->evt->raw.flags & SCAP_EVT_F_BEFORE));
}

static int get_io_dir(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	(void)f, (void)more;
	if (e->evt->info->flags & READS)
		return field_str(v, "read");
	return e->evt->info->flags & WRITES ? field_str(v, "write") : 0;
}

static int get_is_syslog(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			 const struct sinsp_value **more)
{
	const struct sinsp_evt *evt = e->evt;

	(void)f, (void)more;
	return field_u(v,
		       evt->info->flags & WRITES && evt->fd && strstr(evt->fd->name, "/dev/log"));
}

/* ---- parameters ---- */

static struct value_writer writer_of(struct sinsp_eval *e)
{
	return (struct value_writer){
		.out = &e->text,
		.evt = e->evt,
		.buf_fmt = e->buf_fmt,
		.buf_max = e->buf_max ? e->buf_max : VALUE_BUF_MAX,
		.buf_cut = e->buf_cut,
		.port_names = e->port_names,
		.no_env = e->no_env,
	};
}

/* Text made by saker: the lines of a dump are intended. */
static int keep_made(struct sinsp_eval *e, struct sinsp_value *v)
{
	v->made = 1;
	return sinsp_eval_keep(e, v);
}

enum { ARGS, INFO };

static int get_args(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	struct value_writer w = writer_of(e);
	char *p = text_begin(&e->text, VALUE_ROOM);

	(void)more;
	if (p)
		p = f->row->variant == INFO ? sinsp_info_put(&w, p) : sinsp_args_put(&w, p);
	if (text_end(&e->text, p))
		return -ENOMEM;
	return keep_made(e, v);
}

/* Returns the number of the event's parameter of that name; -1: none. */
static int param_at(const struct sinsp_evt *evt, const char *name)
{
	for (unsigned int i = 0; i < evt->info->n_params && i < evt->params.n; i++)
		if (!strcmp(evt->info->params[i].name, name))
			return (int)i;
	return -1;
}

static int arg_at(const struct sinsp_evt *evt, const struct sinsp_field *f)
{
	if (!f->has_index)
		return param_at(evt, f->arg);
	return f->index < evt->info->n_params && f->index < evt->params.n ? (int)f->index : -1;
}

struct param_search {
	const char *name;
	int type; /* enum sinsp_field_type common to all parameters of that name, or FIELD_NONE; -1:
		     no such parameter */
};

static unsigned int type_of_param(const struct scap_param_info *info);

static int is_text(int type)
{
	return type == FIELD_STR || type == FIELD_PATH;
}

static int common_type(int a, int b)
{
	if (a == b)
		return a;
	return is_text(a) && is_text(b) ? FIELD_STR : FIELD_NONE;
}

static void compare_params(void *ctx, const struct scap_event_info *info)
{
	struct param_search *s = ctx;

	for (unsigned int i = 0; i < info->n_params; i++) {
		const int type = (int)type_of_param(&info->params[i]);

		if (!strcmp(info->params[i].name, s->name))
			s->type = s->type == -1 ? type : common_type(s->type, type);
	}
}

static int check_arg(struct sinsp_field *f, const char **why)
{
	struct param_search s = {.name = f->arg, .type = -1};

	if (f->has_index)
		return 0;
	scap_event_each(compare_params, &s);
	if (s.type < 0)
		return sinsp_field_error(f, why, "no event has an argument %s; see saker -L",
					 f->arg);
	if (f->row->type == FIELD_NONE)
		f->type = (uint8_t)s.type;
	return 0;
}

static int get_arg(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	struct value_writer w = writer_of(e);
	const int at = arg_at(e->evt, f);

	(void)more;
	if (at < 0)
		return 0;
	if (sinsp_value_arg(&w, (unsigned int)at))
		return -ENOMEM;
	return keep_made(e, v);
}

/* The type as which filters see a parameter. */
struct raw_type {
	uint8_t type; /* enum sinsp_field_type */
	uint8_t size; /* size of a number; else 0 */
	uint8_t is_signed;
};

/* clang-format off */
static const struct raw_type raw_types[PT_MAX] = {
	[PT_INT8] = {FIELD_INT, 1, 1}, [PT_INT16] = {FIELD_INT, 2, 1},
	[PT_INT32] = {FIELD_INT, 4, 1}, [PT_INT64] = {FIELD_INT, 8, 1},
	[PT_UINT8] = {FIELD_UINT, 1}, [PT_UINT16] = {FIELD_UINT, 2},
	[PT_UINT32] = {FIELD_UINT, 4}, [PT_UINT64] = {FIELD_UINT, 8},
	[PT_ERRNO] = {FIELD_INT, 8, 1}, [PT_FD] = {FIELD_INT, 8, 1}, [PT_PID] = {FIELD_INT, 8, 1},
	[PT_FD32] = {FIELD_INT, 4, 1}, [PT_PID32] = {FIELD_INT, 4, 1},
	[PT_SYSCALLID] = {FIELD_UINT, 2}, [PT_SIGTYPE] = {FIELD_UINT, 1},
	[PT_RELTIME] = {FIELD_DURATION, 8}, [PT_ABSTIME] = {FIELD_TIME, 8},
	[PT_PORT] = {FIELD_PORT, 2}, [PT_BOOL] = {FIELD_BOOL, 4},
	[PT_FLAGS8] = {FIELD_UINT, 1}, [PT_FLAGS16] = {FIELD_UINT, 2}, [PT_FLAGS32] = {FIELD_UINT, 4},
	[PT_ENUMFLAGS8] = {FIELD_UINT, 1}, [PT_ENUMFLAGS16] = {FIELD_UINT, 2},
	[PT_ENUMFLAGS32] = {FIELD_UINT, 4}, [PT_MODE] = {FIELD_UINT, 4},
	[PT_UID] = {FIELD_UINT, 4}, [PT_GID] = {FIELD_UINT, 4}, [PT_SIGSET] = {FIELD_UINT, 4},
	[PT_SIGSET64] = {FIELD_UINT, 8}, [PT_FLAGS64] = {FIELD_UINT, 8},
	[PT_ENUMFLAGS64] = {FIELD_UINT, 8}, [PT_WAITSTATUS] = {FIELD_UINT, 4},
	[PT_DOUBLE] = {FIELD_DOUBLE, 8},
	[PT_CHARBUF] = {FIELD_STR}, [PT_FSPATH] = {FIELD_PATH}, [PT_FSRELPATH] = {FIELD_PATH},
	[PT_IPV4ADDR] = {FIELD_IP}, [PT_IPV6ADDR] = {FIELD_IP}, [PT_IPADDR] = {FIELD_IP},
};
/* clang-format on */

static const struct raw_type *raw_type(const struct scap_param_info *info)
{
	static const struct raw_type bytes = {FIELD_BYTES};
	const struct raw_type *t = &raw_types[info->type < PT_MAX ? info->type : PT_NONE];

	return t->type ? t : &bytes;
}

static unsigned int type_of_param(const struct scap_param_info *info)
{
	return raw_type(info)->type;
}

static uint64_t load(const struct raw_type *t, const uint8_t *p)
{
	switch (t->size) {
	case 1:
		return t->is_signed ? (uint64_t)(int8_t)*p : *p;
	case 2:
		return t->is_signed ? (uint64_t)(int16_t)get_u16(p) : get_u16(p);
	case 4:
		return t->is_signed ? (uint64_t)(int32_t)get_u32(p) : get_u32(p);
	default:
		return get_u64(p);
	}
}

static int get_rawarg(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	const int at = arg_at(e->evt, f);
	const struct scap_param_info *info;
	const struct scap_param *param;
	const struct raw_type *t;

	(void)more;
	if (at < 0)
		return 0;
	info = &e->evt->info->params[at];
	param = &e->evt->params.v[at];
	t = raw_type(info);
	v->type = t->type;
	if (t->size)
		return param->len >= t->size ? field_u(v, load(t, param->p)) : 0;
	if (t->type == FIELD_IP && param->len != 4 && param->len != 16)
		return 0;
	if (t->type != FIELD_STR && t->type != FIELD_PATH)
		return field_mem(v, param->p, param->len);
	return param->len ? field_mem(v, param->p, strnlen((const char *)param->p, param->len)) : 0;
}

static int get_buffer(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	const int at = param_at(e->evt, "data");

	(void)f, (void)more;
	if (at < 0 || e->evt->info->params[at].type != PT_BYTEBUF)
		return 0;
	return field_mem(v, e->evt->params.v[at].p, e->evt->params.v[at].len);
}

static int check_abspath(struct sinsp_field *f, const char **why)
{
	f->index = 0;
	if (!f->arg || !strcmp(f->arg, "src"))
		return 0;
	if (strcmp(f->arg, "dst"))
		return sinsp_field_error(f, why, "evt.abspath.src or evt.abspath.dst, not %s",
					 f->arg);
	f->index = 1;
	return 0;
}

/* For calls that take a directory with a path; the second path of those that take two. */
static int get_abspath(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		       const struct sinsp_value **more)
{
	const struct sinsp_evt *evt = e->evt;
	struct value_writer w = writer_of(e);
	int64_t skip = f->index;
	int n, at = -1;

	(void)more;
	if (evt_is_enter(evt->info->id))
		return 0;
	for (unsigned int i = 0; i < evt->info->n_params && i < evt->params.n; i++)
		if (evt->info->params[i].type == PT_FSRELPATH && (at < 0 || skip-- > 0))
			at = (int)i;
	n = at < 0 ? 0 : sinsp_value_abspath(&w, (unsigned int)at);
	return n > 0 ? keep_made(e, v) : n;
}

/* ---- the result ---- */

static int has_failed(const struct sinsp_evt *evt)
{
	int64_t res;

	return sinsp_evt_result(evt, &res) && res < 0;
}

static int get_rawres(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	(void)f, (void)more;
	return sinsp_evt_result(e->evt, &v->i);
}

static int get_res(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		   const struct sinsp_value **more)
{
	const char *name;
	int64_t res;
	char *p;

	(void)f, (void)more;
	if (!sinsp_evt_result(e->evt, &res))
		return 0;
	name = res >= 0 ? "SUCCESS" : sinsp_errno_name(-(uint64_t)res);
	if (name)
		return field_str(v, name);
	p = sinsp_eval_alloc(e, TEXT_NUM_MAX);
	return p ? field_mem(v, p, (size_t)(put_i64(p, res) - p)) : -ENOMEM;
}

static int get_failed(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	(void)f, (void)more;
	return field_u(v, has_failed(e->evt));
}

/* ---- opens ---- */

enum { OPEN_READ, OPEN_WRITE, OPEN_CREATE, OPEN_EXEC };
enum { O_READ_BIT = 1, O_WRITE_BIT = 2, O_MAKES_BITS = 1 << 2 | 1 << 13, O_CREATED_BIT = 1 << 14 };
enum { EXEC_BITS = 0111 };

static int is_open(unsigned int id)
{
	return id == EVT_OPEN_X || id == EVT_OPENAT_102_E || id == EVT_OPENAT_X ||
	       id == EVT_OPENAT2_X || id == EVT_OPEN_BY_HANDLE_AT_X;
}

/* Bits of a parameter; 0 if the event lacks it. */
static uint32_t bits_of(const struct sinsp_evt *evt, const char *name)
{
	const int at = param_at(evt, name);

	return at >= 0 && evt->params.v[at].len >= sizeof(uint32_t) ? get_u32(evt->params.v[at].p)
								    : 0;
}

/* The mode is only used if a file may be created; creat has no flags. */
static int get_open(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	static const uint32_t bits[] = {O_READ_BIT, O_WRITE_BIT, O_CREATED_BIT};
	const struct sinsp_evt *evt = e->evt;
	const int makes = evt->info->id == EVT_CREAT_X;
	uint32_t flags;

	(void)more;
	if (!is_open(evt->info->id) && !makes)
		return field_u(v, 0);
	flags = bits_of(evt, "flags");
	if (f->row->variant != OPEN_EXEC)
		return field_u(v, !!(flags & bits[f->row->variant]));
	return field_u(v, (makes || flags & O_MAKES_BITS) && bits_of(evt, "mode") & EXEC_BITS);
}

/* ---- how much data went ---- */

enum { LEN_IN = 1, LEN_OUT = 2, LEN_FILE = 4, LEN_NET = 8 };

static int get_buflen(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	const struct sinsp_evt *evt = e->evt;
	const unsigned int variant = f->row->variant;
	int64_t res;

	(void)more;
	if (!evt->fd || !is_io(evt) || !sinsp_evt_result(evt, &res) || res < 0)
		return 0;
	if (evt->info->id == EVT_SENDMMSG_X || evt->info->id == EVT_RECVMMSG_X)
		res = bits_of(evt, "size"); /* the result is a number of messages */
	if ((variant & LEN_IN && evt->info->category != EC_IO_READ) ||
	    (variant & LEN_OUT && evt->info->category != EC_IO_WRITE) ||
	    (variant & LEN_FILE &&
	     (fd_kind(evt) != FD_FILE || evt->fd->type == SCAP_FD_DIRECTORY)) ||
	    (variant & LEN_NET && fd_kind(evt) != FD_NET))
		return 0;
	return field_u(v, (uint64_t)res);
}

/* ---- counts ---- */

static int count(struct sinsp_value *v, int is_counted)
{
	return is_counted ? field_u(v, 1) : 0;
}

static int get_count(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	(void)e, (void)f, (void)more;
	return count(v, 1);
}

static int get_count_exit(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			  const struct sinsp_value **more)
{
	(void)f, (void)more;
	return count(v, !evt_is_enter(e->evt->info->id));
}

static int get_count_procinfo(struct sinsp_eval *e, const struct sinsp_field *f,
			      struct sinsp_value *v, const struct sinsp_value **more)
{
	const struct sinsp_thread *t = e->evt->thread;
	const int main_only = f->row->variant;

	(void)more;
	return count(v,
		     e->evt->info->id == EVT_PROCINFO_E && (!main_only || (t && t->tid == t->pid)));
}

enum { ERROR_ANY, ERROR_FILE, ERROR_NET, ERROR_MEMORY, ERROR_OTHER };

/* The kind of a failure: by the file, or without one by the kind of call. */
static unsigned int kind_of_error(const struct sinsp_evt *evt)
{
	switch (fd_kind(evt)) {
	case FD_FILE:
		return ERROR_FILE;
	case FD_NET:
		return ERROR_NET;
	case FD_NONE:
		break;
	default:
		return evt->fd->type == SCAP_FD_UNIX_SOCK ? ERROR_NET : ERROR_OTHER;
	}
	switch (evt->info->id) {
	case EVT_OPEN_X:
	case EVT_CREAT_X:
	case EVT_OPENAT_102_X:
	case EVT_OPENAT_X:
	case EVT_OPENAT2_X:
	case EVT_OPEN_BY_HANDLE_AT_X:
		return ERROR_FILE;
	case EVT_ACCEPT_26_X:
	case EVT_ACCEPT_56_X:
	case EVT_ACCEPT_X:
	case EVT_ACCEPT4_248_X:
	case EVT_ACCEPT4_X:
	case EVT_CONNECT_X:
	case EVT_BIND_X:
		return ERROR_NET;
	default:
		return category_of(evt) == EC_MEMORY ? ERROR_MEMORY : ERROR_OTHER;
	}
}

static int get_count_error(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			   const struct sinsp_value **more)
{
	const unsigned int variant = f->row->variant;

	(void)more;
	return count(v, has_failed(e->evt) &&
				(variant == ERROR_ANY || variant == kind_of_error(e->evt)));
}

#define ARG (FIELD_F_ARG_NEEDED | FIELD_F_ARG_KEY | FIELD_F_ARG_INDEX)
#define DOCKERS                                                                                    \
	FIELD_F_UNSUPPORTED | FIELD_F_HIDDEN, 0, NULL, "no capture of today has docker's events"

static const char *const dirs[] = {">", "<", NULL};
static const char *const io_dirs[] = {"read", "write", NULL};

/* clang-format off */
/* Values of category_name. */
static const char *const categories[] = {
	"other", "file", "net", "IPC", "ipc", "memory", "process", "sleep", "system", "signal",
	"user", "time", "processing", "wait", "scheduler", "internal", "unknown", NULL
};

static const struct sinsp_field_row rows[] = {
	{"evt.dir", FIELD_STR, 0, FIELD_COST_HEADER, FIELD_F_BY_TYPE, 0, get_dir,
	 "> for an enter, < for an exit", .values = dirs},
	{"evt.type", FIELD_STR, 0, FIELD_COST_HEADER, FIELD_F_BY_TYPE, 0, get_type,
	 "name of the event, as in open"},
	{"evt.type.is", FIELD_UINT, 0, FIELD_COST_HEADER,
	 FIELD_F_ARG_NEEDED | FIELD_F_ARG_KEY | FIELD_F_BY_TYPE, 0, get_type_is,
	 "evt.type.is.open is 1 for events of type open, 0 for others", check_type_is},
	{"syscall.type", FIELD_STR, 0, FIELD_COST_HEADER, FIELD_F_BY_TYPE, 0, get_syscall_type,
	 "evt.type of system calls; other events, such as switch, have none"},
	{"syscall.nr", FIELD_UINT, 0, FIELD_COST_HEADER, 0, 0, get_syscall_nr,
	 "number of the system call, in the table of x86_64 or of 32-bit programs; in files that other "
	 "tools made it has no value"},
	{"evt.category", FIELD_STR, 0, FIELD_COST_STATE, 0, 0, get_category,
	 "what it has to do with: file, net, memory, process, ...; reads and writes by their file",
	 .values = categories},
	{"evt.args", FIELD_STR, 0, FIELD_COST_TEXT, 0, ARGS, get_args,
	 "all arguments as text, with their names"},
	{"evt.arg", FIELD_STR, 0, FIELD_COST_TEXT, ARG, 0, get_arg,
	 "one argument as text, by name or number, as in evt.arg.fd and evt.arg[0]: what it means if "
	 "that is known, such as the name of an error or of a file", check_arg},
	{"evt.rawarg", FIELD_NONE, 0, FIELD_COST_SEARCH, ARG, 0, get_rawarg,
	 "one argument as it is in the event: numbers as numbers", check_arg},
	{"evt.info", FIELD_STR, 0, FIELD_COST_TEXT, 0, INFO, get_args,
	 "the same as evt.args, but a message to the system's log is shown as that"},
	{"evt.buffer", FIELD_BYTES, 0, FIELD_COST_SEARCH, 0, 0, get_buffer,
	 "the data that was read or written, as far as it was kept"},
	{"evt.buflen", FIELD_UINT, 0, FIELD_COST_SEARCH, 0, 0, get_buflen,
	 "bytes that were read or written"},
	{"evt.buflen.in", FIELD_UINT, 0, FIELD_COST_SEARCH, FIELD_F_HIDDEN, LEN_IN, get_buflen,
	 "bytes that were read"},
	{"evt.buflen.out", FIELD_UINT, 0, FIELD_COST_SEARCH, FIELD_F_HIDDEN, LEN_OUT, get_buflen,
	 "bytes that were written"},
	{"evt.buflen.file", FIELD_UINT, 0, FIELD_COST_SEARCH, FIELD_F_HIDDEN, LEN_FILE, get_buflen,
	 "bytes that were read from or written to files"},
	{"evt.buflen.file.in", FIELD_UINT, 0, FIELD_COST_SEARCH, FIELD_F_HIDDEN, LEN_FILE | LEN_IN,
	 get_buflen, "bytes that were read from files"},
	{"evt.buflen.file.out", FIELD_UINT, 0, FIELD_COST_SEARCH, FIELD_F_HIDDEN, LEN_FILE | LEN_OUT,
	 get_buflen, "bytes that were written to files"},
	{"evt.buflen.net", FIELD_UINT, 0, FIELD_COST_SEARCH, FIELD_F_HIDDEN, LEN_NET, get_buflen,
	 "bytes that came or went through the network"},
	{"evt.buflen.net.in", FIELD_UINT, 0, FIELD_COST_SEARCH, FIELD_F_HIDDEN, LEN_NET | LEN_IN,
	 get_buflen, "bytes that came from the network"},
	{"evt.buflen.net.out", FIELD_UINT, 0, FIELD_COST_SEARCH, FIELD_F_HIDDEN, LEN_NET | LEN_OUT,
	 get_buflen, "bytes that went to the network"},
	{"evt.res", FIELD_STR, 0, FIELD_COST_SEARCH, 0, 0, get_res,
	 "result: SUCCESS, or the name of the error, as in ENOENT"},
	{"evt.rawres", FIELD_INT, 0, FIELD_COST_SEARCH, 0, 0, get_rawres,
	 "result as a number, as in -2"},
	{"evt.failed", FIELD_BOOL, 0, FIELD_COST_SEARCH, 0, 0, get_failed,
	 "whether the result is an error"},
	{"evt.is_io", FIELD_BOOL, 0, FIELD_COST_HEADER, FIELD_F_BY_TYPE, READS | WRITES, get_flag,
	 "whether the event reads or writes data, as read and sendto do"},
	{"evt.is_io_read", FIELD_BOOL, 0, FIELD_COST_HEADER, FIELD_F_BY_TYPE, READS, get_flag,
	 "whether it reads data"},
	{"evt.is_io_write", FIELD_BOOL, 0, FIELD_COST_HEADER, FIELD_F_BY_TYPE, WRITES, get_flag,
	 "whether it writes data"},
	{"evt.io_dir", FIELD_STR, 0, FIELD_COST_HEADER, FIELD_F_BY_TYPE, 0, get_io_dir,
	 "read or write, of events that do", .values = io_dirs},
	{"evt.is_wait", FIELD_BOOL, 0, FIELD_COST_HEADER, FIELD_F_BY_TYPE, WAITS, get_flag,
	 "whether it is a call that waits for something, such as poll"},
	{"evt.is_blocked", FIELD_BOOL, 0, FIELD_COST_HEADER, 0, 0, get_is_blocked,
	 "of the beginning of a call: whether the thread then had to sleep in it; files that other tools "
	 "made do not say it"},
	{"evt.began_before", FIELD_BOOL, 0, FIELD_COST_HEADER, 0, 0, get_began_before,
	 "of the beginning of a call: whether the call was under way when the capture began; its time "
	 "is then that of the capture's begin"},
	{"evt.is_syslog", FIELD_BOOL, 0, FIELD_COST_STATE, 0, 0, get_is_syslog,
	 "whether it writes to /dev/log"},
	{"evt.count", FIELD_UINT, 0, FIELD_COST_HEADER, 0, 0, get_count,
	 "always 1: what chisels count events with"},
	{"evt.count.error", FIELD_UINT, 0, FIELD_COST_SEARCH, 0, ERROR_ANY, get_count_error,
	 "1 for events that failed; others have no value"},
	{"evt.count.error.file", FIELD_UINT, 0, FIELD_COST_SEARCH, 0, ERROR_FILE, get_count_error,
	 "1 for events that failed and are about files"},
	{"evt.count.error.net", FIELD_UINT, 0, FIELD_COST_SEARCH, 0, ERROR_NET, get_count_error,
	 "1 for events that failed and are about the network"},
	{"evt.count.error.memory", FIELD_UINT, 0, FIELD_COST_SEARCH, 0, ERROR_MEMORY, get_count_error,
	 "1 for events that failed and are about memory"},
	{"evt.count.error.other", FIELD_UINT, 0, FIELD_COST_SEARCH, 0, ERROR_OTHER, get_count_error,
	 "1 for events that failed and are about something else"},
	{"evt.count.exit", FIELD_UINT, 0, FIELD_COST_HEADER, 0, 0, get_count_exit,
	 "1 for exits"},
	{"evt.count.procinfo", FIELD_UINT, 0, FIELD_COST_HEADER, FIELD_F_HIDDEN, 1, get_count_procinfo,
	 "1 for procinfo events of processes"},
	{"evt.count.threadinfo", FIELD_UINT, 0, FIELD_COST_HEADER, FIELD_F_HIDDEN, 0, get_count_procinfo,
	 "1 for procinfo events"},
	{"evt.abspath", FIELD_PATH, 0, FIELD_COST_TEXT, FIELD_F_ARG_OK | FIELD_F_ARG_KEY, 0, get_abspath,
	 "the absolute path that a call such as renameat or unlinkat was given. evt.abspath.src and "
	 "evt.abspath.dst are the two of calls that take two", check_abspath},
	{"evt.is_open_read", FIELD_BOOL, 0, FIELD_COST_SEARCH, FIELD_F_OF_OPENS, OPEN_READ,
	 get_open, "whether a file was opened for reading"},
	{"evt.is_open_write", FIELD_BOOL, 0, FIELD_COST_SEARCH, FIELD_F_OF_OPENS, OPEN_WRITE,
	 get_open, "whether a file was opened for writing"},
	{"evt.is_open_create", FIELD_BOOL, 0, FIELD_COST_SEARCH, FIELD_F_OF_OPENS, OPEN_CREATE,
	 get_open, "whether the open made the file"},
	{"evt.is_open_exec", FIELD_BOOL, 0, FIELD_COST_SEARCH, FIELD_F_OF_OPENS, OPEN_EXEC,
	 get_open, "whether an open that makes files was given permissions to execute"},
	{"evt.infra.docker.name", FIELD_STR, 0, FIELD_COST_TEXT, DOCKERS},
	{"evt.infra.docker.container.id", FIELD_STR, 0, FIELD_COST_TEXT, DOCKERS},
	{"evt.infra.docker.container.name", FIELD_STR, 0, FIELD_COST_TEXT, DOCKERS},
	{"evt.infra.docker.container.image", FIELD_STR, 0, FIELD_COST_TEXT, DOCKERS},
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_call = {
	.name = "evt",
	.title = "evt (what happened)",
	.help = "What an event is, its arguments and its result. Every argument that saker -L "
		"lists can "
		"be asked for by name: evt.arg.NAME",
	FIELD_ROWS(rows),
};
