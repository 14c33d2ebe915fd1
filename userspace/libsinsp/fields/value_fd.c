/* SPDX-License-Identifier: Apache-2.0 */
/* Prints descriptors with the letter and the name that the fd table has for them. */
#include "errno_signal_names.h"
#include "port_name.h"
#include "thread.h"
#include "value_kinds.h"

char *value_put_fd_meaning(struct value_writer *w, char *p, const struct sinsp_fd *fd)
{
	const size_t n = strlen(fd->name);

	p = text_room(w->out, p, n + VALUE_ROOM);
	if (!p)
		return NULL;
	p = open_meaning(w, p);
	*p++ = '<';
	p = put_cstr(p, sinsp_fd_typechar(fd));
	/* Uncertain: after lost records the descriptor may be another file. */
	if (!sinsp_fd_is_certain(w->evt->insp, fd, w->evt->raw.true_ns))
		*p++ = '?';
	*p++ = '>';
	if (w->port_names && port_name_has_ports(fd))
		p = port_name_put_fd(p, fd);
	else
		p = put_name(w, p, fd->name, n);
	*p = ')';
	return p + 1;
}

/* Returns whether the result of fcntl is a number, not a duplicated descriptor. An exit of 2022
 * lacks the command. */
static int is_number_of_fcntl(const struct sinsp_evt *evt, const struct value *v)
{
	enum { RES, FD, CMD, DUPFD = 1, DUPFD_CLOEXEC = 26 };
	const struct scap_params *ps = &evt->params;

	if (evt->info->id != EVT_FCNTL_X || v->info != &evt->info->params[RES] || ps->n <= CMD ||
	    !ps->v[CMD].len)
		return 0;
	return ps->v[CMD].p[0] != DUPFD && ps->v[CMD].p[0] != DUPFD_CLOEXEC;
}

/* Returns whether the result of bpf is a number: commands that create or find an object return a
 * descriptor. */
static int is_number_of_bpf(const struct sinsp_evt *evt, const struct value *v)
{
	enum { FD, CMD, N_CMDS = 64 };
	static const uint64_t makes_file = 1ull << 0 | 1ull << 5 | 1ull << 7 | 1ull << 13 |
					   1ull << 14 | 1ull << 17 | 1ull << 18 | 1ull << 19 |
					   1ull << 28 | 1ull << 30 | 1ull << 32 | 1ull << 33 |
					   1ull << 36;
	const struct scap_params *ps = &evt->params;

	if (evt->info->id != EVT_BPF_368_X || v->info != &evt->info->params[FD] || ps->n <= CMD ||
	    !ps->v[CMD].len)
		return 0;
	return ps->v[CMD].p[0] >= N_CMDS || !(makes_file >> ps->v[CMD].p[0] & 1);
}

/* Returns whether a negative number is an error: only as a result; as an argument it is no file,
 * but sysdig prints an error. */
static int may_be_error(const struct sinsp_evt *evt, const struct value *v)
{
	return !evt->show_full || v->info == evt->info->params;
}

char *value_put_fd(struct value_writer *w, char *p, const struct value *v)
{
	const int64_t num = v->type == PT_FD32 ? (int32_t)get_u32(v->p) : (int64_t)get_u64(v->p);
	const struct sinsp_evt *evt = w->evt;
	const struct sinsp_fd *fd;

	p = put_i64(p, num);
	if (!evt->thread)
		return p;
	if (num == PPM_AT_FDCWD)
		return put_meaning(w, p, "AT_FDCWD");
	if (num < 0)
		return may_be_error(evt, v) ? put_meaning(w, p, sinsp_errno_name(-(uint64_t)num))
					    : p;
	if (is_number_of_fcntl(evt, v) || is_number_of_bpf(evt, v))
		return p;
	fd = evt->fd && evt->fdnum == num ? evt->fd : sinsp_thread_fd(evt->thread, num);
	return fd ? value_put_fd_meaning(w, p, fd) : p;
}

/* Writes 3:f1 4:p4: descriptor, type, requested or returned events. */
char *value_put_fdlist(struct value_writer *w, char *p, const struct value *v)
{
	const uint32_t fits = (v->len - 2) / 10;
	const uint32_t n = get_u16(v->p) < fits ? get_u16(v->p) : fits;

	if (!w->evt->thread)
		return p;
	p = text_room(w->out, p, (size_t)n * 32 + VALUE_ROOM);
	for (uint32_t i = 0; p && i < n; i++) {
		const uint8_t *item = v->p + 2 + i * 10;
		const int64_t num = (int64_t)get_u64(item);
		const struct sinsp_fd *fd = sinsp_thread_fd(w->evt->thread, num);

		if (i)
			*p++ = ' ';
		p = put_u64(p, (uint64_t)num);
		*p++ = ':';
		*p++ = fd ? sinsp_fd_typechar(fd)[0] : '?';
		p = put_hex(p, (uint32_t)(int16_t)get_u16(item + 8));
	}
	return p;
}
