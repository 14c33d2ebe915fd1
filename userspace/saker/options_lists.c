/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments that are lists separated by commas: calls, processes, users, names. */
#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "fields/nearest.h"
#include "option_values.h"
#include "redact/redact.h"
#include "say.h"
#include "shared/config.h"

#define PORT_SNAPLEN 16000 /* as sysdig's range of fully captured ports */
#define PID_MAX (1u << 22)

/* Calls @one for each item of @arg. Returns 0, or its first error. */
static int each_item(void *member, const struct option_row *row, const char *arg,
		     int (*one)(void *member, const struct option_row *row, const char *item))
{
	char *copy = strdup(arg), *rest = copy, *item;
	int err = 0;

	if (!copy)
		return -ENOMEM;
	while (!err && (item = strsep(&rest, ","))) {
		if (*item) {
			err = one(member, row, item);
			continue;
		}
		say("--%s has an empty name in '%s'", row->name, arg);
		err = -EINVAL;
	}
	free(copy);
	return err;
}

static void try_name(void *near, const char *name)
{
	nearest_try(near, name);
}

static int unknown_call(const struct option_row *row, const char *name)
{
	struct nearest near;

	nearest_begin(&near, name);
	scap_calls_each_name(try_name, &near);
	if (near.best)
		say("--%s: no system call '%s'; did you mean %s?", row->name, name, near.best);
	else
		say("--%s: no system call '%s'; see saker -L", row->name, name);
	return -EINVAL;
}

static int one_syscall(void *member, const struct option_row *row, const char *item)
{
	struct call_list *list = member;
	const int remove = *item == '-' || *item == '!';

	if (remove && !list->given)
		scap_calls_set_all(&list->set);
	list->given = 1;
	if (scap_calls_set(&list->set, item + remove, remove))
		return unknown_call(row, item + remove);
	scap_calls_set(&list->named, item + remove, remove);
	return 0;
}

int parse_syscalls(void *member, const struct option_row *row, const char *arg)
{
	return each_item(member, row, arg, one_syscall);
}

static int append_number(struct number_list *list, uint32_t number)
{
	uint32_t *v = realloc(list->v, (list->n + 1) * sizeof(*v));

	if (!v)
		return -ENOMEM;
	v[list->n++] = number;
	list->v = v;
	return 0;
}

/* Digits only, up to @max. */
static int parse_id(const char *text, uint32_t max, uint32_t *out)
{
	unsigned long long n;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || *end || n > max)
		return -EINVAL;
	*out = (uint32_t)n;
	return 0;
}

static int one_pid(void *member, const struct option_row *row, const char *item)
{
	uint32_t pid;

	if (parse_id(item, PID_MAX, &pid) || !pid) {
		say("--%s needs PIDs, not '%s'", row->name, item);
		return -EINVAL;
	}
	return append_number(member, pid);
}

int parse_pids(void *member, const struct option_row *row, const char *arg)
{
	return each_item(member, row, arg, one_pid);
}

static int one_uid(void *member, const struct option_row *row, const char *item)
{
	const struct passwd *pw;
	uint32_t uid;

	if (!parse_id(item, UINT32_MAX - 1, &uid))
		return append_number(member, uid);
	pw = getpwnam(item);
	if (pw)
		return append_number(member, pw->pw_uid);
	say("--%s: no user '%s'", row->name, item);
	return -EINVAL;
}

int parse_uids(void *member, const struct option_row *row, const char *arg)
{
	return each_item(member, row, arg, one_uid);
}

static int one_name(void *member, const struct option_row *row, const char *item)
{
	struct name_list *list = member;
	char **v = realloc(list->v, (list->n + 1) * sizeof(*v));

	(void)row;
	if (!v)
		return -ENOMEM;
	list->v = v;
	v[list->n] = strdup(item);
	if (!v[list->n])
		return -ENOMEM;
	list->n++;
	return 0;
}

static int one_comm(void *member, const struct option_row *row, const char *item)
{
	return check_comm(row, item) ?: one_name(member, row, item);
}

int parse_comms(void *member, const struct option_row *row, const char *arg)
{
	return each_item(member, row, arg, one_comm);
}

int parse_names(void *member, const struct option_row *row, const char *arg)
{
	return each_item(member, row, arg, one_name);
}

/* FROM[-TO][:BYTES] */
static int parse_port_range(char *text, struct scap_snap_port *out)
{
	char *bytes = strchr(text, ':'), *to = strchr(text, '-');
	uint32_t from, last, snaplen = PORT_SNAPLEN;

	if (bytes)
		*bytes++ = '\0';
	if (to)
		*to++ = '\0';
	if (parse_id(text, UINT16_MAX, &from) || (bytes && to > bytes) ||
	    (bytes && parse_id(bytes, DRV_SNAPLEN_MAX, &snaplen)))
		return -EINVAL;
	last = from;
	if ((to && parse_id(to, UINT16_MAX, &last)) || !from || last < from)
		return -EINVAL;
	*out = (struct scap_snap_port){(uint16_t)from, (uint16_t)last, snaplen};
	return 0;
}

int parse_snap_port(void *member, const struct option_row *row, const char *arg)
{
	struct snap_port_list *list = member;
	struct scap_snap_port *v, port;
	char *copy = strdup(arg);
	int err;

	if (!copy)
		return -ENOMEM;
	err = parse_port_range(copy, &port);
	free(copy);
	if (err || list->n == DRV_MAX_SNAP_PORTS) {
		if (err)
			say("--%s needs PORT or FROM-TO, optionally with :BYTES up to %u, not '%s'",
			    row->name, DRV_SNAPLEN_MAX, arg);
		else
			say("--%s can be given %u times", row->name, DRV_MAX_SNAP_PORTS);
		return -EINVAL;
	}
	v = realloc(list->v, (list->n + 1) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	v[list->n++] = port;
	list->v = v;
	return 0;
}

/* ---- redaction ---- */

static int one_redacted(void *member, const struct option_row *row, const char *item)
{
	struct nearest near;

	if (!scap_redact_add(member, item))
		return 0;
	nearest_begin(&near, item);
	for (unsigned int i = 0; scap_redact_name(i); i++)
		nearest_try(&near, scap_redact_name(i));
	if (near.best)
		say("--%s cannot redact '%s'; did you mean %s?", row->name, item, near.best);
	else
		say("--%s cannot redact '%s': it takes buffers, args, env, or /REGEX/", row->name,
		    item);
	return -EINVAL;
}

static int add_pattern(struct scap_redact *r, const struct option_row *row, const char *arg)
{
	const size_t len = strlen(arg);
	char why[256];
	size_t at;
	int err;

	if (len < 3 || arg[len - 1] != '/') {
		say("--%s needs a pattern between slashes, as in '/token=[a-z]+/', not '%s'",
		    row->name, arg);
		return -EINVAL;
	}
	err = scap_redact_add_pattern(r, arg + 1, len - 2, why, &at);
	if (err == -EINVAL)
		say("--%s: invalid pattern at byte %zu of '%.*s': %s", row->name, at + 1,
		    (int)len - 2, arg + 1, why);
	return err;
}

/* WHAT,... or /REGEX/, which may have commas */
int parse_redact(void *member, const struct option_row *row, const char *arg)
{
	struct scap_redact **r = member;

	if (!*r && scap_redact_new(r))
		return -ENOMEM;
	return *arg == '/' ? add_pattern(*r, row, arg) : each_item(*r, row, arg, one_redacted);
}

/* ---- names that filters may use ---- */

static int is_filter_name(const char *p, size_t len)
{
	static const char *const keywords[] = {"and", "or", "not"};

	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
		if (strlen(keywords[i]) == len && !memcmp(keywords[i], p, len))
			return 0;
	if (!len || !isalpha((unsigned char)p[0]))
		return 0;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)p[i]) && p[i] != '_')
			return 0;
	return 1;
}

static int has_name(const struct filter_name_list *list, const char *name, size_t len)
{
	for (size_t i = 0; i < list->n; i++)
		if (strlen(list->v[i].name) == len && !memcmp(list->v[i].name, name, len))
			return 1;
	return 0;
}

/* NAME=TEXT */
int parse_filter_name(void *member, const struct option_row *row, const char *arg)
{
	struct filter_name_list *list = member;
	const char *const equals = strchr(arg, '=');
	const size_t len = equals ? (size_t)(equals - arg) : 0;
	struct sinsp_filter_name *v;

	if (!is_filter_name(arg, len)) {
		say("--%s needs %s, not '%s': names consist of letters, digits and _", row->name,
		    row->arg, arg);
		return -EINVAL;
	}
	if (has_name(list, arg, len)) {
		say("--%s %.*s is given twice", row->name, (int)len, arg);
		return -EINVAL;
	}
	v = realloc(list->v, (list->n + 1) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	list->v = v;
	v[list->n] = (struct sinsp_filter_name){strndup(arg, len), equals + 1};
	if (!v[list->n].name)
		return -ENOMEM;
	list->n++;
	return 0;
}

/* ---- chisels ---- */

/* -cl, sysdig's option for the list, arrives here as the chisel "l". */
int parse_chisel(void *member, const struct option_row *row, const char *arg)
{
	struct options *o = member;
	struct chisel_list *list = &o->chisels;
	struct chisel_name *v;

	if (strcmp(arg, "l") == 0) {
		o->mode = MODE_LIST_CHISELS;
		return 0;
	}
	if (!*arg) {
		say("--%s needs the name of a chisel, not an empty one", row->name);
		return -EINVAL;
	}
	v = realloc(list->v, (list->n + 1) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	list->v = v;
	v[list->n++] = (struct chisel_name){arg, o->words.n};
	return 0;
}

int parse_chisel_info(void *member, const struct option_row *row, const char *arg)
{
	struct options *o = member;

	(void)row;
	o->mode = MODE_SHOW_CHISEL;
	o->chisel_info = arg;
	return 0;
}

/* MB[:MILLIONS] */
int parse_chisel_limit(void *member, const struct option_row *row, const char *arg)
{
	struct chisel_limit *limit = member;
	char *copy = strdup(arg), *colon = copy ? strchr(copy, ':') : NULL;
	uint32_t mb = 0, millions = 1;
	int bad;

	if (!copy)
		return -ENOMEM;
	if (colon)
		*colon++ = '\0';
	bad = parse_id(copy, 1000000, &mb) || !mb ||
	      (colon && (parse_id(colon, 1000000000, &millions) || !millions));
	free(copy);
	if (bad) {
		say("--%s needs MB or MB:MILLIONS, not '%s'", row->name, arg);
		return -EINVAL;
	}
	limit->bytes = (uint64_t)mb * 1000000;
	if (colon)
		limit->instructions = (uint64_t)millions * 1000000;
	return 0;
}
