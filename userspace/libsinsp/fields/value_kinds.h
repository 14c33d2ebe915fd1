/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that print each type of parameter (rows of value_types in value.c), and what they
 * share. */
#ifndef SINSP_FIELDS_VALUE_KINDS_H
#define SINSP_FIELDS_VALUE_KINDS_H

#include <errno.h>
#include <string.h>

#include "event/event_table.h"
#include "pathname.h"
#include "value_writer.h"

#define PPM_AT_FDCWD (-100)

struct value {
	const uint8_t *p;
	uint32_t len;
	uint8_t type, fmt;
	const struct scap_param_info
		*info; /* of the parameter in the event, also for a part of it */
};

static inline char *put_cstr(char *p, const char *s)
{
	return put_mem(p, s, strlen(s));
}

/* Begins the "(meaning)" of a value. */
static inline char *open_meaning(struct value_writer *w, char *p)
{
	w->meaning = (size_t)(p - w->out->p);
	*p = '(';
	return p + 1;
}

static inline char *put_meaning(struct value_writer *w, char *p, const char *name)
{
	if (!name)
		return p;
	p = put_cstr(open_meaning(w, p), name);
	*p = ')';
	return p + 1;
}

/* Returns the length of text that may lack its NUL. */
static inline size_t text_len(const struct value *v, size_t from)
{
	return strnlen((const char *)v->p + from, v->len - from);
}

static inline int is_na(const struct value *v)
{
	return v->len >= 4 && !memcmp(v->p, "<NA>", 4);
}

/* Returns the call's result on a line that shows the whole call; 0 if there is none. */
static inline int64_t whole_result(const struct sinsp_evt *evt)
{
	const struct scap_params *ps = &evt->params;

	if (!evt->show_full || !ps->n || ps->v[0].len != sizeof(int64_t))
		return 0;
	return (int64_t)get_u64(ps->v[0].p);
}

/* Returns whether an empty text was unreadable: then the kernel could not read it, either. Empty
 * text of the caller looks the same in the event. */
static inline int was_unreadable(const struct sinsp_evt *evt, size_t len)
{
	return !len && whole_result(evt) == -EFAULT;
}

/* Returns whether it is a capture of saker; others print as in sysdig. */
static inline int is_strict(const struct value_writer *w)
{
	return sinsp_path_rules_of(w->evt->insp) == SINSP_PATH_STRICT;
}

/* Writes a name with dots for unprintable bytes; for sysdig's rules, without non-ASCII bytes. */
static inline char *put_name(const struct value_writer *w, char *p, const char *s, size_t n)
{
	return is_strict(w) ? put_utf8(p, s, n) : put_dropping(p, s, n);
}

/* Writes @bits, or @dec if @fmt is decimal. */
static inline char *put_number(char *p, uint8_t fmt, int64_t dec, uint64_t bits)
{
	switch (fmt) {
	case PF_HEX:
		return put_hex_upper(p, bits);
	case PF_OCT:
		if (bits)
			*p++ = '0';
		return put_oct(p, bits);
	case PF_LOW_DEC: /* the upper half only selects the name */
		return put_u64(p, (uint32_t)bits);
	case PF_PADDED_DEC:
		if (dec >= 0 && dec < 1000000000)
			return put_9digits(p, (uint32_t)dec);
		return put_i64(p, dec);
	default:
		return put_i64(p, dec);
	}
}

/* Each value_put_* writes one value at @p, which has VALUE_ROOM bytes of room, and returns the end,
 * or NULL without memory. */

/* value_number.c */
char *value_put_int(struct value_writer *w, char *p, const struct value *v);
char *value_put_port(struct value_writer *w, char *p, const struct value *v);
char *value_put_bool(struct value_writer *w, char *p, const struct value *v);
char *value_put_double(struct value_writer *w, char *p, const struct value *v);
char *value_put_errno(struct value_writer *w, char *p, const struct value *v);
char *value_put_signal(struct value_writer *w, char *p, const struct value *v);
char *value_put_sigset(struct value_writer *w, char *p, const struct value *v);
char *value_put_sigset64(struct value_writer *w, char *p, const struct value *v);
char *value_put_wait_status(struct value_writer *w, char *p, const struct value *v);
char *value_put_cpuset(struct value_writer *w, char *p, const struct value *v);
char *value_put_syscall_id(struct value_writer *w, char *p, const struct value *v);

/* value_time.c */
char *value_put_reltime(struct value_writer *w, char *p, const struct value *v);
char *value_put_abstime(struct value_writer *w, char *p, const struct value *v);

/* value_id.c */
char *value_put_pid(struct value_writer *w, char *p, const struct value *v);
char *value_put_id(struct value_writer *w, char *p, const struct value *v);
char *value_put_gid_list(struct value_writer *w, char *p, const struct value *v);

/* value_fd.c */
char *value_put_fd(struct value_writer *w, char *p, const struct value *v);
char *value_put_fdlist(struct value_writer *w, char *p, const struct value *v);
/* Writes the meaning of a descriptor: its letter and name. */
char *value_put_fd_meaning(struct value_writer *w, char *p, const struct sinsp_fd *fd);

/* value_flags.c */
char *value_put_flags(struct value_writer *w, char *p, const struct value *v);
char *value_put_flags64(struct value_writer *w, char *p, const struct value *v);
char *value_put_mode(struct value_writer *w, char *p, const struct value *v);
/* Writes the names of the bits of @val, or with @is_enum the name of @val. */
char *value_put_flag_names(struct value_writer *w, char *p, const struct scap_flag_name *f,
			   uint64_t val, int is_enum);

/* value_text.c */
char *value_put_text(struct value_writer *w, char *p, const struct value *v);
char *value_put_texts(struct value_writer *w, char *p, const struct value *v);
char *value_put_bytes(struct value_writer *w, char *p, const struct value *v);

/* value_path.c */
char *value_put_path(struct value_writer *w, char *p, const struct value *v);
/* Writes the absolute path of @v to @full, of SINSP_PATH_SZ bytes; returns its length, 0 if there
 * is none. */
size_t value_absolute_path(const struct value_writer *w, const struct value *v, char *full,
			   int *certain);

/* value_socket.c */
char *value_put_sockaddr(struct value_writer *w, char *p, const struct value *v);
char *value_put_tuple(struct value_writer *w, char *p, const struct value *v);
char *value_put_addr4(struct value_writer *w, char *p, const struct value *v);
char *value_put_addr6(struct value_writer *w, char *p, const struct value *v);
char *value_put_addr(struct value_writer *w, char *p, const struct value *v);

/* value_control.c: whether the bytes are printed as control messages (cmsg), and how; the same for
 * the messages of sendmmsg and recvmmsg. */
int value_is_control(const struct value_writer *w, const struct value *v);
char *value_put_controls(struct value_writer *w, char *p, const struct value *v);
int value_is_messages(const struct value_writer *w, const struct value *v);
char *value_put_messages(struct value_writer *w, char *p, const struct value *v);

#endif /* SINSP_FIELDS_VALUE_KINDS_H */
