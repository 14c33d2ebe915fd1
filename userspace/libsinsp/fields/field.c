/* SPDX-License-Identifier: Apache-2.0 */
/* Finds fields by name in a hash table of all classes, built once. */
#include "field.h"

#include <ctype.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "field_rows.h"
#include "nearest.h"
#include "state/inspector.h"
#include "text.h"

const struct sinsp_field_class *const sinsp_field_classes[] = {
	&sinsp_fields_evt,
	&sinsp_fields_call,
	&sinsp_fields_args,
	&sinsp_fields_count,
	&sinsp_fields_io,
	&sinsp_fields_evt_path,
	&sinsp_fields_proc,
	&sinsp_fields_thread,
	&sinsp_fields_user,
	&sinsp_fields_group,
	&sinsp_fields_container,
	&sinsp_fields_k8s,
	&sinsp_fields_fd,
	&sinsp_fields_socket,
	&sinsp_fields_path,
	&sinsp_fields_fdlist,
	&sinsp_fields_syslog,
	&sinsp_fields_frames,
	&sinsp_fields_request,
	&sinsp_fields_sample,
	&sinsp_fields_slice,
	&sinsp_fields_span,
	&sinsp_fields_evtin,
	&sinsp_fields_tcp,
	NULL,
};

/* Families of sysdig's fields that saker lacks. */
static const struct {
	const char *prefix, *why;
} unsupported[] = {
	{"k8s.", "of Kubernetes saker knows pods and namespaces only, from files of the runtime"},
	{"mesos.", "saker does not query Mesos"},
	{"marathon.", "saker does not query Marathon"},
};

/* ---- table of names ---- */

#define SLOTS 2048 /* a power of two, more than twice the fields */
#define NAME_MAX_LEN 63

static const struct sinsp_field_row *slots[SLOTS];
static pthread_once_t slots_once = PTHREAD_ONCE_INIT;

static unsigned int hash(const char *s, size_t n)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)s[i]) * 16777619u;
	return (h ^ h >> 15) % SLOTS;
}

static void make_slots(void)
{
	for (const struct sinsp_field_class *const *c = sinsp_field_classes; *c; c++) {
		for (size_t i = 0; i < (*c)->n_rows; i++) {
			const struct sinsp_field_row *row = &(*c)->rows[i];
			unsigned int at = hash(row->name, strlen(row->name));

			while (slots[at])
				at = (at + 1) % SLOTS;
			slots[at] = row;
		}
	}
}

const struct sinsp_field_row *sinsp_field_find(const char *name, size_t len)
{
	unsigned int at = hash(name, len);

	pthread_once(&slots_once, make_slots);
	for (; slots[at]; at = (at + 1) % SLOTS)
		if (!strncmp(slots[at]->name, name, len) && !slots[at]->name[len])
			return slots[at];
	return NULL;
}

const char *sinsp_field_nearest(const char *name, size_t len)
{
	char text[NAME_MAX_LEN + 1];
	struct nearest n;

	if (len > NAME_MAX_LEN)
		return NULL;
	memcpy(text, name, len);
	text[len] = 0;
	nearest_begin(&n, text);
	for (const struct sinsp_field_class *const *c = sinsp_field_classes; *c; c++)
		for (size_t i = 0; i < (*c)->n_rows; i++)
			if (!((*c)->rows[i].flags & (FIELD_F_HIDDEN | FIELD_F_UNSUPPORTED)))
				nearest_try(&n, (*c)->rows[i].name);
	return n.best;
}

/* ---- parser of names and arguments ---- */

int sinsp_field_error(struct sinsp_field *f, const char **why, const char *fmt, ...)
{
	va_list ap;
	int n;

	free(f->why);
	va_start(ap, fmt);
	n = vasprintf(&f->why, fmt, ap);
	va_end(ap);
	if (n < 0) {
		f->why = NULL;
		*why = "out of memory";
		return -ENOMEM;
	}
	*why = f->why;
	return -EINVAL;
}

static int is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static size_t name_length(const char *s)
{
	size_t n = 0;

	while (is_name_char(s[n]) || (s[n] == '.' && n && is_name_char(s[n + 1])))
		n++;
	return n;
}

static int unknown(struct sinsp_field *f, const char *text, size_t len, const char **why)
{
	const int shown = len < NAME_MAX_LEN ? (int)len : NAME_MAX_LEN;
	const char *near;
	int err;

	for (size_t i = 0; i < sizeof(unsupported) / sizeof(unsupported[0]); i++) {
		if (strncmp(text, unsupported[i].prefix, strlen(unsupported[i].prefix)))
			continue;
		err = sinsp_field_error(f, why, "the field %.*s is not supported: %s", shown, text,
					unsupported[i].why);
		return err == -EINVAL ? -ENOTSUP : err;
	}
	near = sinsp_field_nearest(text, len);
	if (!len)
		err = sinsp_field_error(f, why, "expected the name of a field");
	else if (near)
		err = sinsp_field_error(f, why, "unknown field %.*s; did you mean %s?", shown, text,
					near);
	else
		err = sinsp_field_error(f, why, "unknown field %.*s; see saker -l", shown, text);
	return err == -EINVAL ? -ENOENT : err;
}

/* Finds the longest field that equals the name or, if an argument may follow, is its beginning. */
static const struct sinsp_field_row *find_longest(const char *text, size_t *len)
{
	const struct sinsp_field_row *row = sinsp_field_find(text, *len);

	for (size_t n = *len; !row && n--;) {
		if (text[n] != '.')
			continue;
		row = sinsp_field_find(text, n);
		if (row && !(row->flags & (FIELD_F_ARG_OK | FIELD_F_ARG_NEEDED)))
			return NULL;
		if (row)
			*len = n;
	}
	return row;
}

/* Copies the @n bytes at @text, without the backslashes of quoted text. */
static int copy_arg(struct sinsp_field *f, const char *text, size_t n, int quoted)
{
	char *to = f->arg = malloc(n + 1);

	if (!to)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (quoted && text[i] == '\\' && i + 1 < n)
			i++;
		*to++ = text[i];
	}
	*to = 0;
	return 0;
}

/* Parses the argument in brackets; returns the bytes up to and including the closing one. */
static int parse_brackets(struct sinsp_field *f, const char *text, const char **why, size_t *at)
{
	const char quote = text[1] == '\'' || text[1] == '"' ? text[1] : 0;
	const size_t from = quote ? 2 : 1;
	size_t n = from;
	int err;

	while (text[n] && text[n] != (quote ? quote : ']'))
		n += quote && text[n] == '\\' && text[n + 1] ? 2 : 1;
	*at += n;
	if (!text[n])
		return sinsp_field_error(f, why, "the argument of %s has no %s", f->row->name,
					 !quote         ? "closing ]"
					 : quote == '"' ? "closing \""
							: "closing '");
	err = copy_arg(f, text + from, n - from, quote);
	if (err)
		return err;
	if (quote && text[++n] != ']') {
		++*at;
		return sinsp_field_error(f, why, "the argument of %s has no closing ]",
					 f->row->name);
	}
	return (int)n + 1;
}

static int parse_dotted(struct sinsp_field *f, const char *text)
{
	size_t n = 1;
	int err;

	while (is_name_char(text[n]))
		n++;
	err = copy_arg(f, text + 1, n - 1, 0);
	return err ? err : (int)n;
}

static int check_arg(struct sinsp_field *f, const char **why)
{
	const unsigned int flags = f->row->flags;
	const char *const name = f->row->name;
	const int from_end = flags & FIELD_F_ARG_FROM_END && f->arg && f->arg[0] == '-';
	char *end;

	if (!f->arg) {
		if (!(flags & FIELD_F_ARG_NEEDED))
			return 0;
		if (flags & FIELD_F_ARG_KEY)
			return sinsp_field_error(f, why, "%s needs an argument: %s.NAME or %s[%s]",
						 name, name, name,
						 flags & FIELD_F_ARG_INDEX ? "N" : "NAME");
		return sinsp_field_error(f, why, "%s needs an argument: %s[N]", name, name);
	}
	if (!(flags & (FIELD_F_ARG_NEEDED | FIELD_F_ARG_OK)))
		return sinsp_field_error(f, why, "%s takes no argument", name);
	if (flags & FIELD_F_ARG_INDEX && isdigit((unsigned char)f->arg[from_end])) {
		errno = 0;
		f->index = strtoll(f->arg, &end, 0);
		if (errno || *end)
			f->index = -1;
		else
			f->has_index = 1;
	}
	if (!f->has_index && !(flags & FIELD_F_ARG_KEY))
		return sinsp_field_error(f, why, "the argument of %s is a number, not %s", name,
					 f->arg[0] ? f->arg : "nothing");
	if (!f->arg[0])
		return sinsp_field_error(f, why, "the argument of %s is empty", name);
	return 0;
}

int sinsp_field_parse(struct sinsp_field *f, const char *text, const char **why, size_t *at)
{
	size_t len = name_length(text), n;
	int err = 0;

	*f = (struct sinsp_field){.index = -1};
	*at = 0;
	n = len;
	f->row = find_longest(text, &n);
	if (!f->row)
		return unknown(f, text, len, why);
	f->type = f->row->type;
	if (f->row->flags & FIELD_F_UNSUPPORTED) {
		err = sinsp_field_error(f, why, "the field %s is not supported: %s", f->row->name,
					f->row->help);
		return err == -EINVAL ? -ENOTSUP : err;
	}
	*at = n;
	if (text[n] == '[')
		err = parse_brackets(f, text + n, why, at);
	else if (n < len)
		err = parse_dotted(f, text + n);
	if (err < 0)
		return err;
	len = n + (size_t)err;
	*at = n < len ? n + 1 : n;
	err = check_arg(f, why);
	if (!err && f->row->check)
		err = f->row->check(f, why);
	return err ? err : (int)len;
}

void sinsp_field_fini(struct sinsp_field *f)
{
	free(f->arg);
	free(f->why);
	f->arg = f->why = NULL;
}

int sinsp_field_equal(const struct sinsp_field *a, const struct sinsp_field *b)
{
	if (a->row != b->row || !a->arg != !b->arg)
		return 0;
	if (a->has_index && b->has_index)
		return a->index == b->index;
	return !a->arg || !strcmp(a->arg, b->arg);
}
