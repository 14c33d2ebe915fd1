/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints a parameter: a row of value_types binds each type to the function that prints it
 * (value_number.c, value_path.c ...). Payloads are hostile: a function gets at least the bytes that
 * its row requires, and checks the length before it reads more.
 */
#include "value.h"

#include <errno.h>

#include "thread.h"
#include "value_kinds.h"

static char *put_value(struct value_writer *w, char *p, const struct value *v);

static char *put_dyn(struct value_writer *w, char *p, const struct value *v)
{
	struct value part = *v;

	part.type = scap_dyn_type(w->evt->info->id, v->p[0]);
	if (part.type == PT_NONE)
		return put_lit(p, "INVALID DYNAMIC PARAMETER");
	part.p++;
	part.len--;
	return put_value(w, p, &part);
}

/* Writes the parts of the element at @at, separated by colons. */
static char *put_element(struct value_writer *w, char *p, const struct value *v, uint32_t at)
{
	const char *sep = "";
	uint32_t size;

	for (const struct scap_param_info *part = v->info->list; part->name; part++, at += size) {
		struct value value = {v->p + at, 0, part->type, part->fmt, part};

		size = (uint32_t)scap_param_size(part->type);
		if (part->name[0] == '_')
			continue;
		value.len = size;
		p = text_room(w->out, p, 2 * VALUE_ROOM);
		if (!p)
			return NULL;
		w->meaning = 0;
		p = put_value(w, put_cstr(p, sep), &value);
		if (!p)
			return NULL;
		sep = ":";
	}
	return p;
}

static uint32_t element_size(const struct scap_param_info *part)
{
	uint32_t size = 0;

	for (; part->name; part++)
		size += (uint32_t)scap_param_size(part->type);
	return size;
}

/* Writes the elements, separated by blanks. A truncated one is not shown. */
static char *put_list(struct value_writer *w, char *p, const struct value *v)
{
	const uint32_t size = v->info->list ? element_size(v->info->list) : 0;

	for (uint32_t at = 0; p && size && v->len - at >= size; at += size) {
		p = text_room(w->out, p, VALUE_ROOM);
		if (p && at)
			*p++ = ' ';
		if (p)
			p = put_element(w, p, v, at);
	}
	w->meaning = 0; /* the meaning of a part is not the list's */
	return p;
}

struct value_type {
	char *(*put)(struct value_writer *w, char *p, const struct value *v);
	uint8_t min; /* minimum size */
	const char *absent; /* printed for shorter values; NULL: <NA> */
};

static const struct value_type value_types[PT_MAX] = {
	[PT_INT8] = {value_put_int, 1},
	[PT_INT16] = {value_put_int, 2},
	[PT_INT32] = {value_put_int, 4},
	[PT_INT64] = {value_put_int, 8},
	[PT_UINT8] = {value_put_int, 1},
	[PT_UINT16] = {value_put_int, 2},
	[PT_UINT32] = {value_put_int, 4},
	[PT_UINT64] = {value_put_int, 8},
	[PT_CHARBUF] = {value_put_text, 1},
	[PT_BYTEBUF] = {value_put_bytes, 0},
	[PT_ERRNO] = {value_put_errno, 8},
	[PT_SOCKADDR] = {value_put_sockaddr, 1, "NULL"},
	[PT_SOCKTUPLE] = {value_put_tuple, 1, "NULL"},
	[PT_FD] = {value_put_fd, 8},
	[PT_PID] = {value_put_pid, 8},
	[PT_FDLIST] = {value_put_fdlist, 2},
	[PT_FSPATH] = {value_put_path, 1},
	[PT_SYSCALLID] = {value_put_syscall_id, 2},
	[PT_SIGTYPE] = {value_put_signal, 1},
	[PT_RELTIME] = {value_put_reltime, 8},
	[PT_ABSTIME] = {value_put_abstime, 8},
	[PT_PORT] = {value_put_port, 2},
	[PT_BOOL] = {value_put_bool, 4},
	[PT_IPV4ADDR] = {value_put_addr4, 4},
	[PT_DYN] = {put_dyn, 1, "INVALID DYNAMIC PARAMETER"},
	[PT_FLAGS8] = {value_put_flags, 1},
	[PT_FLAGS16] = {value_put_flags, 2},
	[PT_FLAGS32] = {value_put_flags, 4},
	[PT_UID] = {value_put_id, 4},
	[PT_GID] = {value_put_id, 4},
	[PT_DOUBLE] = {value_put_double, 8},
	[PT_SIGSET] = {value_put_sigset, 4},
	[PT_CHARBUFARRAY] = {value_put_texts, 0},
	[PT_CHARBUF_PAIR_ARRAY] = {value_put_texts, 0},
	[PT_IPV4NET] = {value_put_addr4, 4},
	[PT_IPV6ADDR] = {value_put_addr6, 16},
	[PT_IPV6NET] = {value_put_addr6, 16},
	[PT_IPADDR] = {value_put_addr, 4},
	[PT_IPNET] = {value_put_addr, 4},
	[PT_MODE] = {value_put_mode, 4},
	[PT_FSRELPATH] = {value_put_path, 1},
	[PT_ENUMFLAGS8] = {value_put_flags, 1},
	[PT_ENUMFLAGS16] = {value_put_flags, 2},
	[PT_ENUMFLAGS32] = {value_put_flags, 4},
	[PT_FD32] = {value_put_fd, 4},
	[PT_PID32] = {value_put_pid, 4},
	[PT_SIGSET64] = {value_put_sigset64, 8},
	[PT_FLAGS64] = {value_put_flags64, 8},
	[PT_ENUMFLAGS64] = {value_put_flags64, 8},
	[PT_WAITSTATUS] = {value_put_wait_status, 4},
	[PT_CPUSET] = {value_put_cpuset, 1},
	[PT_GIDLIST] = {value_put_gid_list, 4},
	[PT_LIST] = {put_list, 0},
};

static char *put_value(struct value_writer *w, char *p, const struct value *v)
{
	const struct value_type *t = &value_types[v->type < PT_MAX ? v->type : PT_NONE];

	if (!t->put)
		return put_lit(p, "(n.a.)");
	if (v->len < t->min)
		return put_cstr(p, t->absent ? t->absent : "<NA>");
	return t->put(w, p, v);
}

static struct value value_of(const struct sinsp_evt *evt, unsigned int i)
{
	const struct scap_param_info *info = &evt->info->params[i];

	return (struct value){
		.p = evt->params.v[i].p,
		.len = evt->params.v[i].len,
		.type = info->type,
		.fmt = info->fmt,
		.info = info,
	};
}

char *sinsp_value_put(struct value_writer *w, char *p, unsigned int i)
{
	const struct value v = value_of(w->evt, i);

	w->meaning = 0;
	return put_value(w, p, &v);
}

int sinsp_value_arg(struct value_writer *w, unsigned int i)
{
	struct sinsp_text *const out = w->out;
	const size_t start = out->len;
	char *p = text_begin(out, VALUE_ROOM);
	size_t n;

	if (p)
		p = sinsp_value_put(w, p, i);
	if (p && w->meaning) {
		n = (size_t)(p - out->p) - w->meaning - 2;
		memmove(out->p + start, out->p + w->meaning + 1, n);
		p = out->p + start + n;
	}
	return text_end(out, p);
}

int sinsp_value_abspath(struct value_writer *w, unsigned int i)
{
	const struct value v = value_of(w->evt, i);
	char full[SINSP_PATH_SZ];
	int certain;
	size_t n;
	char *p;

	if (!v.len || !w->evt->thread || is_na(&v))
		return 0;
	n = value_absolute_path(w, &v, full, &certain);
	p = n ? text_begin(w->out, n) : NULL;
	if (!n)
		return 0;
	return text_end(w->out, p ? put_utf8(p, full, n) : NULL) ?: 1;
}
