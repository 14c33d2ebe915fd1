/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of value.c: what the functions for each kind of parameter share. */
#ifndef SINSP_FIELDS_VALUE_KINDS_H
#define SINSP_FIELDS_VALUE_KINDS_H

#include <string.h>

#include "event/event_table.h"
#include "pathname.h"
#include "value.h"

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

/* Length of text that should, but need not, end with a NUL. */
static inline size_t text_len(const struct value *v, size_t from)
{
	return strnlen((const char *)v->p + from, v->len - from);
}

/* Captures of other tools print as in sysdig. */
static inline int is_strict(const struct value_writer *w)
{
	return sinsp_path_rules_of(w->evt->insp) == SINSP_PATH_STRICT;
}

/* A name with dots for unprintable bytes; as in sysdig, without non-ASCII bytes. */
static inline char *put_name(const struct value_writer *w, char *p, const char *s, size_t n)
{
	return is_strict(w) ? put_utf8(p, s, n) : put_dropping(p, s, n);
}

/* Appends the meaning of a descriptor: its letter and name. */
char *value_put_fd_meaning(struct value_writer *w, char *p, const struct sinsp_fd *fd);

/* value_socket.c: each writes one kind of address, with VALUE_ROOM bytes of room at @p. */
char *value_put_sockaddr(struct value_writer *w, char *p, const struct value *v);
char *value_put_tuple(struct value_writer *w, char *p, const struct value *v);
char *value_put_addr4(struct value_writer *w, char *p, const struct value *v);
char *value_put_addr6(struct value_writer *w, char *p, const struct value *v);
char *value_put_addr(struct value_writer *w, char *p, const struct value *v);

/* value_control.c: whether the bytes are printed as control messages (cmsg), and how. */
int value_is_control(const struct value_writer *w, const struct value *v);
char *value_put_controls(struct value_writer *w, char *p, const struct value *v);

#endif /* SINSP_FIELDS_VALUE_KINDS_H */
