/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds an enter event from the arguments of a call, by the A rows of syscalls.def. The driver
 * adds the values that pointer arguments point to, copied unchanged: numbers as u64, addresses as
 * struct sockaddr, and so on. Everything else is known only at the exit.
 */
#include "event/raw_enter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/un.h>

#include "event/ia32_table.h"
#include "shared/config.h"
#include "shared/convert.h"

struct arg_row {
	const char *param; /* NULL: the last one */
	struct call_row row;
};

#define A(name, index, how, ...)                                                                   \
	{#name, {.arg = index, .kind = ARG_##how, .of_enter = 1, ##__VA_ARGS__}},
#define AF(name, index, how, offset, ...) A(name, index, how, .off = offset, ##__VA_ARGS__)
#define AE A
#define AX(...)
#define AXF(...)
#define SYS(nr, name, event, filler, ...)                                                          \
	static const struct arg_row rows_##name[] = {__VA_ARGS__{NULL, {0}}};
#include "syscalls.def"
#include "undef_rows.h"

static const struct arg_row *const rows_by_nr[DRV_MAX_NR] = {
#define SYS(nr, name, ...) [nr] = rows_##name,
#include "syscalls.def"
#undef SYS
};

static const struct arg_row no_rows[] = {{NULL, {0}}};

/* Names are compared once for each call. */
static uint16_t ppm_sc_of(const struct rec_hdr *rec)
{
	enum { NOT_ASKED = 0, NONE = UINT16_MAX };
	static uint16_t known[2][DRV_MAX_NR];
	const int ia32 = !!(rec->flags & REC_F_IA32);
	uint16_t *code;

	if (rec->nr >= DRV_MAX_NR)
		return 0;
	code = &known[ia32][rec->nr];
	if (*code == NOT_ASKED)
		*code = scap_syscall_ppm_sc(scap_syscall_name(rec->nr, ia32)) ?: NONE;
	return *code == NONE ? 0 : *code;
}

/* An event under construction: lengths are appended from the front, values behind them. */
struct writer {
	uint8_t *lens, *p, *end;
	int full;
	unsigned int type; /* of the event */
};

static void put(struct writer *w, const void *bytes, size_t len)
{
	const uint16_t l16 = len;

	if (len > UINT16_MAX || (size_t)(w->end - w->p) < len) {
		w->full = 1;
		return;
	}
	memcpy(w->lens, &l16, sizeof(l16));
	w->lens += sizeof(l16);
	if (len)
		memcpy(w->p, bytes, len);
	w->p += len;
}

#define SUN_PATH_AT offsetof(struct sockaddr_un, sun_path)

/* Appends a path with a NUL. An abstract name, which begins with a NUL and may contain more, begins
 * with '@'. */
static size_t unix_path(uint8_t *to, const struct scap_param *from)
{
	const uint8_t *path = from->p + SUN_PATH_AT;
	size_t n = from->len - SUN_PATH_AT;

	if (n > sizeof(((struct sockaddr_un *)0)->sun_path))
		n = sizeof(((struct sockaddr_un *)0)->sun_path);
	if (n < 2 || path[0])
		n = strnlen((const char *)path, n);
	memcpy(to, path, n);
	if (n && !to[0])
		to[0] = '@';
	to[n] = '\0';
	return n + 1;
}

/* Appends a struct sockaddr in the layout of the format, as the filler of the exit does
 * (sock.bpf.h): u8 family, then address and port, or a path; nothing if it is too short. */
static void put_sockaddr(struct writer *w, const struct scap_param *from)
{
	uint8_t out[1 + sizeof(struct sockaddr_un)];
	union {
		struct sockaddr sa;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} u = {0};
	uint16_t port;
	size_t len = 0;

	memcpy(&u, from->p, from->len < sizeof(u) ? from->len : sizeof(u));
	out[0] = (uint8_t)u.sa.sa_family;
	if (u.sa.sa_family == AF_INET && from->len >= offsetof(struct sockaddr_in, sin_zero)) {
		port = ntohs(u.in.sin_port);
		memcpy(out + 1, &u.in.sin_addr, 4);
		memcpy(out + 5, &port, sizeof(port));
		len = 7;
	} else if (u.sa.sa_family == AF_INET6 &&
		   from->len >= offsetof(struct sockaddr_in6, sin6_scope_id)) {
		port = ntohs(u.in6.sin6_port);
		memcpy(out + 1, &u.in6.sin6_addr, 16);
		memcpy(out + 17, &port, sizeof(port));
		len = 19;
	} else if (u.sa.sa_family == AF_UNIX && from->len >= sizeof(u.sa.sa_family)) {
		len = 1 + unix_path(out + 1, from);
	}
	put(w, out, len);
}

/* Appends struct pollfd[] in the layout of the format: u16 n, then s64 fd and s16 flags each. */
static void put_pollfds(struct writer *w, const struct scap_param *from)
{
	uint8_t out[sizeof(uint16_t) + ARG_POLLFDS_MAX * 10];
	size_t in_n = from->len / sizeof(struct pollfd);
	const uint16_t n = in_n < ARG_POLLFDS_MAX ? in_n : ARG_POLLFDS_MAX;
	uint8_t *p = out + sizeof(n);

	memcpy(out, &n, sizeof(n));
	for (unsigned int i = 0; i < n; i++) {
		struct pollfd pfd;
		uint16_t flags;
		int64_t fd;

		memcpy(&pfd, from->p + i * sizeof(pfd), sizeof(pfd));
		fd = pfd.fd;
		flags = convert_poll_events((uint16_t)pfd.events);
		memcpy(p, &fd, sizeof(fd));
		memcpy(p + sizeof(fd), &flags, sizeof(flags));
		p += sizeof(fd) + sizeof(flags);
	}
	put(w, out, (size_t)(p - out));
}

/* Unknown text, in the form that sysdig takes as unknown: it would believe empty text, even if the
 * exit says more. */
static const char *unknown_text(unsigned int type)
{
	switch (type) {
	case EVT_OPEN_E:
	case EVT_CREAT_E:
	case EVT_OPENAT_E:
	case EVT_OPENAT2_E:
		return "(NULL)";
	}
	return "<NA>";
}

static void put_nothing(struct writer *w, unsigned int param_type)
{
	static const uint8_t zeros[16];
	const char *text;

	switch (param_type) {
	case PT_CHARBUF:
	case PT_FSPATH:
	case PT_FSRELPATH:
		text = unknown_text(w->type);
		put(w, text, strlen(text) + 1);
		return;
	case PT_FDLIST:
		put(w, zeros, sizeof(uint16_t));
		return;
	}
	put(w, zeros, scap_param_size(param_type));
}

static void put_bytes(struct writer *w, unsigned int param_type, unsigned int kind,
		      const struct scap_param *from)
{
	/* saker's own events leave out what could not be read. */
	if (!from->len && !evt_is_own_call(w->type))
		put_nothing(w, param_type);
	else if (param_type == PT_SOCKADDR)
		put_sockaddr(w, from);
	else if (param_type == PT_FDLIST && kind == ARG_POLLFDS)
		put_pollfds(w, from);
	else
		put(w, from->p, from->len);
}

#define RAW_ARGS 6

struct raw {
	uint64_t args[RAW_ARGS];
	struct scap_params params; /* the arguments, then the values of rows with row_is_carried */
	const struct arg_row *rows;
};

static const struct arg_row *find_row(const struct arg_row *rows, const char *param)
{
	for (const struct arg_row *r = rows; r->param; r++)
		if (!strcmp(r->param, param))
			return r;
	if (!strcmp(param, "pgoffset"))
		return find_row(rows, "offset");
	return strcmp(param, "fd") ? NULL : find_row(rows, "oldfd");
}

/* Appends the value that the row points to; nothing if it could not be read, or is known only at
 * the exit. */
static struct scap_param pointed_by(const struct raw *raw, const struct arg_row *row)
{
	unsigned int at = RAW_ARGS;

	for (const struct arg_row *r = raw->rows; r < row; r++)
		at += row_is_carried(&r->row);
	if (row_is_carried(&row->row) && at < raw->params.n)
		return raw->params.v[at];
	return (struct scap_param){(const uint8_t *)"", 0};
}

static uint64_t row_value(const struct raw *raw, const struct call_row *row,
			  const struct scap_param *pointed)
{
	uint64_t v = 0;

	if (!arg_is_pointer(row->kind))
		return arg_value(row->kind, raw->args[row->arg],
				 row->arg ? raw->args[row->arg - 1] : 0);
	if (pointed->len == sizeof(v))
		memcpy(&v, pointed->p, sizeof(v));
	else if (row->kind == ARG_INOUT_TIMESPEC && !raw->args[row->arg])
		v = UINT64_MAX; /* ppoll without a timeout, as in its exit */
	return v;
}

static void put_param(struct writer *w, const struct raw *raw, const struct scap_param_info *info)
{
	const struct arg_row *found = find_row(raw->rows, info->name);
	const size_t size = scap_param_size(info->type);
	const struct call_row *row = found ? &found->row : NULL;
	struct scap_param pointed;
	uint64_t v;

	if (!row || row->arg >= RAW_ARGS || row->when_arg >= RAW_ARGS) {
		put_nothing(w, info->type);
		return;
	}
	pointed = pointed_by(raw, found);
	if (!row_holds(row, raw->args[row->when_arg]) ||
	    (arg_is_field(row->kind) && !pointed.len)) {
		put(w, NULL, 0);
	} else if (size && size <= sizeof(v)) {
		v = row_value(raw, row, &pointed);
		put(w, &v, size);
	} else {
		put_bytes(w, info->type, row->kind, &pointed);
	}
}

/* Returns the row that decodes the call. For a call behind socketcall or ipc, its event selects the
 * row. */
static unsigned int row_nr(const struct rec_hdr *rec)
{
	unsigned int row;

	if (!(rec->flags & REC_F_IA32))
		return rec->nr;
	row = rec->nr < DRV_MAX_NR ? scap_ia32_calls()[rec->nr].row : REC_NR_NONE;
	return row == REC_NR_NONE ? scap_event_nr(rec->evt.type) : row;
}

static int read_raw(struct raw *raw, const struct rec_hdr *rec)
{
	const struct scap_param *v = raw->params.v;
	const unsigned int nr = row_nr(rec);

	if (scap_evt_params(&rec->evt, &raw->params) || raw->params.n < RAW_ARGS)
		return -EBADMSG;
	for (unsigned int i = 0; i < RAW_ARGS; i++) {
		if (v[i].len != sizeof(raw->args[i]))
			return -EBADMSG;
		memcpy(&raw->args[i], v[i].p, sizeof(raw->args[i]));
	}
	raw->rows = nr < DRV_MAX_NR && rows_by_nr[nr] ? rows_by_nr[nr] : no_rows;
	return 0;
}

int scap_raw_enter(void *buf, size_t buf_sz, const struct rec_hdr *rec)
{
	const unsigned int type = rec->evt.type & ~1u;
	const struct scap_event_info *info = scap_event_info(type);
	struct ppm_evt_hdr *hdr = buf;
	struct writer w = {
		.lens = (uint8_t *)(hdr + 1),
		.end = (uint8_t *)buf + buf_sz,
		.type = type,
	};
	const uint16_t generic[2] = {type == EVT_SYSCALL_E ? ppm_sc_of(rec) : 0, rec->nr};
	struct raw raw;
	int err = read_raw(&raw, rec);

	if (err)
		return err;
	if (!info || info->flags & EF_LARGE_PAYLOAD) /* no call: its lengths have another size */
		return -EBADMSG;
	w.p = w.lens + info->n_params * sizeof(uint16_t);
	if (w.p > w.end)
		return -ENOSPC;
	for (unsigned int i = 0; i < info->n_params; i++)
		if (type == EVT_SYSCALL_E)
			put(&w, &generic[i], sizeof(generic[i]));
		else
			put_param(&w, &raw, &info->params[i]);
	*hdr = (struct ppm_evt_hdr){rec->evt.ts, rec->evt.tid, (uint32_t)(w.p - (uint8_t *)buf),
				    type, info->n_params};
	return w.full ? -ENOSPC : 0;
}

unsigned int scap_raw_carried(unsigned int nr, const struct call_row **rows, unsigned int max)
{
	unsigned int n = 0;

	if (nr >= DRV_MAX_NR || !rows_by_nr[nr])
		return 0;
	for (const struct arg_row *r = rows_by_nr[nr]; r->param && n < max; r++)
		if (row_is_carried(&r->row))
			rows[n++] = &r->row;
	return n;
}
