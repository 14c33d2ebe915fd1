/* SPDX-License-Identifier: Apache-2.0 */
/* Possible values of fields: names in tables, second names of errors, patterns of times. */
#include "field_values.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "container/containers.h"
#include "errno_signal_names.h"
#include "shared/stack.h"
#include "syslog_message.h"

static void each_of(const char *const *values, sinsp_value_fn fn, void *ctx)
{
	for (; *values; values++)
		fn(ctx, *values);
}

static void each_error(const struct sinsp_field_row *row, sinsp_value_fn fn, void *ctx)
{
	(void)row;
	fn(ctx, "SUCCESS");
	for (uint64_t err = 1; err <= SINSP_ERRNO_MAX; err++)
		if (sinsp_errno_name(err))
			fn(ctx, sinsp_errno_name(err));
}

/* Calls @fn with the names in the table of the parameter. */
static void each_of_sample(const struct sinsp_field_row *row, sinsp_value_fn fn, void *ctx)
{
	const struct scap_event_info *info = scap_event_info(EVT_SAMPLE_E);
	const struct scap_flag_name *name = info->params[row->variant].flags;

	for (; name && name->name; name++)
		fn(ctx, name->name);
}

static void each_call(const struct sinsp_field_row *row, sinsp_value_fn fn, void *ctx)
{
	(void)row;
	scap_calls_each_name(fn, ctx);
}

static void each_fd_type(const struct sinsp_field_row *row, sinsp_value_fn fn, void *ctx)
{
	(void)row;
	each_of(sinsp_field_find("fd.type", strlen("fd.type"))->values, fn, ctx);
}

static void each_facility(const struct sinsp_field_row *row, sinsp_value_fn fn, void *ctx)
{
	(void)row;
	for (struct syslog_message m = {0}; syslog_facility(&m); m.priority += 8)
		fn(ctx, syslog_facility(&m));
}

static void each_severity(const struct sinsp_field_row *row, sinsp_value_fn fn, void *ctx)
{
	(void)row;
	for (struct syslog_message m = {0}; m.priority < 8; m.priority++)
		fn(ctx, syslog_severity(&m));
}

static void each_container_type(const struct sinsp_field_row *row, sinsp_value_fn fn, void *ctx)
{
	(void)row;
	fn(ctx, "host");
	for (int type = 0; type <= SINSP_CT_MAX; type++)
		fn(ctx, sinsp_container_type_name((enum sinsp_container_type)type));
}

static void each_kind(const struct sinsp_field_row *row, sinsp_value_fn fn, void *ctx)
{
	static const char *const kinds[] = {"user",    "kernel",  "jit", "script",
					    "inlined", "unknown", NULL};

	(void)row;
	each_of(kinds, fn, ctx);
}

static void each_source(const struct sinsp_field_row *row, sinsp_value_fn fn, void *ctx)
{
	(void)row;
	fn(ctx, "syscall");
}

typedef void (*each_value_fn)(const struct sinsp_field_row *row, sinsp_value_fn fn, void *ctx);

/* Fields whose values are not a constant list in their own row. fd.typechar is not here: sysdig's
 * view of ports compares it with a character that no file has. */
static const struct {
	const char *field;
	each_value_fn each;
} sets[] = {
	{"evt.res", each_error},
	{"fd.connect.result", each_error},
	{"evt.source", each_source},
	{"proc.stdin.type", each_fd_type},
	{"proc.stdout.type", each_fd_type},
	{"proc.stderr.type", each_fd_type},
	{"container.type", each_container_type},
	{"sample.reason", each_of_sample},
	{"sample.state", each_of_sample},
	{"sample.call", each_call},
	{"stack.end", each_of_sample},
	{"stack.kind", each_kind},
	{"syslog.facility.str", each_facility},
	{"syslog.severity.str", each_severity},
};

static each_value_fn set_of(const struct sinsp_field_row *row)
{
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		if (!strcmp(sets[i].field, row->name))
			return sets[i].each;
	return NULL;
}

int sinsp_field_each_value(const struct sinsp_field_row *row, sinsp_value_fn fn, void *ctx)
{
	const each_value_fn each = set_of(row);

	if (row->values)
		each_of(row->values, fn, ctx);
	else if (each)
		each(row, fn, ctx);
	return row->values || each;
}

/* ---- aliases ---- */

/* Second names of errors, and numbers of errors without a name here. */
static const struct {
	const char *alias, *name;
} errors[] = {
	{"EWOULDBLOCK", "EAGAIN"}, {"EDEADLOCK", "EDEADLK"},
	{"ENOTSUP", "EOPNOTSUPP"}, {"0", "SUCCESS"},
	{"ENOKEY", "-126"},        {"EKEYEXPIRED", "-127"},
	{"EKEYREVOKED", "-128"},   {"EKEYREJECTED", "-129"},
	{"EOWNERDEAD", "-130"},    {"ENOTRECOVERABLE", "-131"},
	{"ERFKILL", "-132"},       {"EHWPOISON", "-133"},
};

const char *sinsp_field_value_alias(const struct sinsp_field_row *row, const char *text)
{
	char *end;
	long n;

	if (set_of(row) != each_error)
		return NULL;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (!strcasecmp(errors[i].alias, text))
			return errors[i].name;
	n = strtol(text, &end, 10);
	if (*end || n >= 0 || n < -4095)
		return NULL;
	return sinsp_errno_name((uint64_t)-n) ?: text; /* without a name the value is the number */
}

/* ---- patterns ---- */

static const struct {
	const char *field, *form;
} forms[] = {
	{"evt.time", "00:00:00.000000000"},
	{"evt.time.s", "00:00:00"},
	{"evt.time.iso8601", "0000-00-00T00:00:00.000000000+0000"},
	{"evt.datetime", "0000-00-00 00:00:00.000000000"},
	{"evt.datetime.s", "0000-00-00 00:00:00"},
};

const char *sinsp_field_value_form(const struct sinsp_field_row *row)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (!strcmp(forms[i].field, row->name))
			return forms[i].form;
	return NULL;
}

int sinsp_field_has_form(const char *form, const char *text, int begins)
{
	for (; *form && *text; form++, text++)
		if (*form == '0' ? !isdigit((unsigned char)*text) : *form != *text)
			return 0;
	return !*text && (begins || !*form);
}
