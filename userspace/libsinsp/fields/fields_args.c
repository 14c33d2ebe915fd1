/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of an event's arguments: as text, raw, and as absolute paths. */
#include <errno.h>

#include "event/messages.h"
#include "evt_param.h"
#include "field_rows.h"
#include "info.h"
#include "value.h"

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

/* Keeps composed text as the value: the line ends of a dump stay. */
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

static int arg_at(const struct sinsp_evt *evt, const struct sinsp_field *f)
{
	if (!f->has_index)
		return evt_param_at(evt, f->arg);
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

static void count_params(void *ctx, const struct scap_event_info *info)
{
	unsigned int *most = ctx;

	if (info->n_params > *most)
		*most = info->n_params;
}

static int check_arg_index(struct sinsp_field *f, const char **why)
{
	unsigned int most = 0;

	scap_event_each(count_params, &most);
	return f->index < (int64_t)most
		       ? 0
		       : sinsp_field_error(f, why, "no event has more than %u arguments", most);
}

static int check_arg(struct sinsp_field *f, const char **why)
{
	struct param_search s = {.name = f->arg, .type = -1};

	if (f->has_index)
		return check_arg_index(f, why);
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

/* The field type of a parameter, for filters. */
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

/* Joins the data of the messages of a call. */
static int join_messages(struct sinsp_eval *e, struct sinsp_value *v)
{
	const struct sinsp_evt *evt = e->evt;
	struct scap_messages it;
	struct scap_message m;
	size_t n = 0;
	char *p;

	scap_messages_begin(&it, evt->info, &evt->params);
	p = sinsp_eval_alloc(e, it.first.data.len + (size_t)it.rest.len);
	if (!p)
		return -ENOMEM;
	while (scap_messages_next(&it, &m)) {
		if (m.data.len)
			memcpy(p + n, m.data.p, m.data.len);
		n += m.data.len;
	}
	return field_mem(v, p, n);
}

static int get_buffer(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	const int at = evt_param_at(e->evt, "data");

	(void)f, (void)more;
	if (at < 0 || e->evt->info->params[at].type != PT_BYTEBUF)
		return 0;
	if (scap_is_messages(e->evt->info->id))
		return join_messages(e, v);
	return field_mem(v, e->evt->params.v[at].p, e->evt->params.v[at].len);
}

static int check_abspath(struct sinsp_field *f, const char **why)
{
	f->index = 0;
	if (!f->arg || !strcmp(f->arg, "src"))
		return 0;
	if (strcmp(f->arg, "dst"))
		return sinsp_field_error(
			f, why, "unknown argument %s; use evt.abspath.src or evt.abspath.dst",
			f->arg);
	f->index = 1;
	return 0;
}

/* Gets the path of a call that has a directory descriptor for it; f->index: the second of two. */
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

#define ARG (FIELD_F_ARG_NEEDED | FIELD_F_ARG_KEY | FIELD_F_ARG_INDEX)

/* clang-format off */
static const struct sinsp_field_row rows[] = {
	{"evt.args", FIELD_STR, 0, FIELD_COST_TEXT, 0, ARGS, get_args,
	 "all arguments as text, with their names"},
	{"evt.arg", FIELD_STR, 0, FIELD_COST_TEXT, ARG, 0, get_arg,
	 "one argument as text, by name or number, as in evt.arg.fd and evt.arg[0]: its meaning "
	 "if that is known, such as the name of an error or a file", check_arg},
	{"evt.rawarg", FIELD_NONE, 0, FIELD_COST_SEARCH, ARG, 0, get_rawarg,
	 "one argument as recorded in the event: numbers as numbers", check_arg},
	{"evt.info", FIELD_STR, 0, FIELD_COST_TEXT, 0, INFO, get_args,
	 "as evt.args, with messages to the system log decoded"},
	{"evt.buffer", FIELD_BYTES, 0, FIELD_COST_SEARCH, 0, 0, get_buffer,
	 "data that was read or written, up to the recorded length; of sendmmsg and recvmmsg the data "
	 "of all recorded messages"},
	{"evt.abspath", FIELD_PATH, 0, FIELD_COST_TEXT, FIELD_F_ARG_OK | FIELD_F_ARG_KEY, 0, get_abspath,
	 "absolute path given to a call such as renameat or unlinkat; evt.abspath.src and "
	 "evt.abspath.dst are the two paths of a rename or link", check_abspath,
	 .needs = FIELD_NEEDS_FILES},
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_args = {
	.name = "evt",
	.title = "evt (arguments)",
	.help = "The arguments of an event. Every argument that saker -L lists has a name: "
		"evt.arg.NAME",
	FIELD_ROWS(rows),
};
