/* SPDX-License-Identifier: Apache-2.0 */
/* Parses messages that are written to /dev/log. */
#include "syslog_message.h"

#include <string.h>

#include "evt_param.h"
#include "fd.h"

#define PRIORITY_DIGITS 14

int syslog_message_read(struct syslog_message *m, const struct sinsp_evt *evt)
{
	const struct scap_param *data;
	const char *p, *end;

	if (!evt->fd || !(evt->info->flags & EF_WRITES_TO_FD) || evt_is_enter(evt->info->id) ||
	    !strstr(evt->fd->name, "/dev/log") || !(data = evt_param(evt, "data")))
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

const char *syslog_severity(const struct syslog_message *m)
{
	static const char *const names[] = {"emerg", "alert",  "crit", "err",
					    "warn",  "notice", "info", "debug"};

	return names[m->priority & 7];
}

const char *syslog_facility(const struct syslog_message *m)
{
	static const char *const names[] = {"kern",     "user",   "mail",   "daemon",   "auth",
					    "syslog",   "lpr",    "news",   "uucp",     "clock",
					    "authpriv", "ftp",    "ntp",    "logaudit", "logalert",
					    "cron",     "local0", "local1", "local2",   "local3",
					    "local4",   "local5", "local6", "local7"};

	return m->priority >> 3 < sizeof(names) / sizeof(names[0]) ? names[m->priority >> 3] : NULL;
}
