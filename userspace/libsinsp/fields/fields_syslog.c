/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of messages to the system's log: what is written to /dev/log, as "<PRIORITY>TEXT". */
#include "fd.h"
#include "field_rows.h"
#include "text.h"

enum { LOG_FACILITY, LOG_FACILITY_NAME, LOG_SEVERITY, LOG_SEVERITY_NAME, LOG_MESSAGE };

#define PRIORITY_DIGITS 14

struct message {
	uint32_t priority;
	const char *text;
	size_t len;
};

static const struct scap_param *data_of(const struct sinsp_evt *evt)
{
	for (unsigned int i = 0; i < evt->info->n_params && i < evt->params.n; i++)
		if (!strcmp(evt->info->params[i].name, "data"))
			return evt->params.v[i].len ? &evt->params.v[i] : NULL;
	return NULL;
}

static int read_message(const struct sinsp_evt *evt, struct message *m)
{
	const struct scap_param *data;
	const char *p, *end;

	if (!evt->fd || !(evt->info->flags & EF_WRITES_TO_FD) || evt_is_enter(evt->info->id) ||
	    !strstr(evt->fd->name, "/dev/log") || !(data = data_of(evt)))
		return 0;
	m->priority = 0;
	p = (const char *)data->p + 1;
	end = (const char *)data->p + data->len;
	for (int n = 0; p < end && *p >= '0' && *p <= '9' && n < PRIORITY_DIGITS; n++, p++)
		m->priority = m->priority * 10 + (uint32_t)(*p - '0');
	if (p >= end || *p != '>' || p == (const char *)data->p + 1)
		return 0;
	m->text = p + 1;
	m->len = (size_t)(end - m->text);
	return 1;
}

static const char *name_of(unsigned int what, uint32_t priority)
{
	static const char *const severities[] = {"emerg", "alert",  "crit", "err",
						 "warn",  "notice", "info", "debug"};
	static const char *const facilities[] = {
		"kern",   "user",     "mail",     "daemon", "auth",     "syslog",
		"lpr",    "news",     "uucp",     "clock",  "authpriv", "ftp",
		"ntp",    "logaudit", "logalert", "cron",   "local0",   "local1",
		"local2", "local3",   "local4",   "local5", "local6",   "local7"};

	if (what == LOG_SEVERITY_NAME)
		return severities[priority & 7];
	return priority >> 3 < sizeof(facilities) / sizeof(facilities[0])
		       ? facilities[priority >> 3]
		       : NULL;
}

static int get_syslog(struct sinsp_asker *a, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	struct message m;

	(void)more;
	if (!read_message(a->evt, &m))
		return 0;
	switch (f->row->what) {
	case LOG_FACILITY:
		return field_u(v, m.priority >> 3);
	case LOG_SEVERITY:
		return field_u(v, m.priority & 7);
	case LOG_MESSAGE:
		return field_mem(v, m.text, m.len);
	default:
		return field_str(v, name_of(f->row->what, m.priority));
	}
}

/* clang-format off */
#define ROW(name, type, what, help)                                                                \
	{name, FIELD_##type, FIELD_FMT_DEC, FIELD_COST_SEARCH, 0, what, get_syslog, help, NULL}

static const struct sinsp_field_row rows[] = {
	ROW("syslog.facility.str", STR, LOG_FACILITY_NAME,
	    "who the message is from, such as daemon, authpriv or cron"),
	ROW("syslog.facility", UINT, LOG_FACILITY, "the same as a number, 0 to 23"),
	ROW("syslog.severity.str", STR, LOG_SEVERITY_NAME,
	    "how bad it is: emerg, alert, crit, err, warn, notice, info or debug"),
	ROW("syslog.severity", UINT, LOG_SEVERITY, "the same as a number, 0 to 7"),
	ROW("syslog.message", STR, LOG_MESSAGE,
	    "the message, as far as the bytes of it were recorded"),
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_syslog = {
	.name = "syslog",
	.title = "syslog",
	.help = "Messages to the system's log, as they are written to /dev/log",
	FIELD_ROWS(rows),
};
