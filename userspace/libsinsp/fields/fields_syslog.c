/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of messages to the system log: writes to /dev/log, as "<PRIORITY>TEXT". */
#include "field_rows.h"
#include "syslog_message.h"

enum { LOG_FACILITY, LOG_FACILITY_NAME, LOG_SEVERITY, LOG_SEVERITY_NAME, LOG_MESSAGE };

static int get_syslog(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	struct syslog_message m;

	(void)more;
	if (!syslog_message_read(&m, e->evt))
		return 0;
	switch (f->row->variant) {
	case LOG_FACILITY:
		return field_u(v, m.priority >> 3);
	case LOG_SEVERITY:
		return field_u(v, m.priority & 7);
	case LOG_MESSAGE:
		return field_mem(v, m.text, m.len);
	case LOG_SEVERITY_NAME:
		return field_str(v, syslog_severity(&m));
	default:
		return field_str(v, syslog_facility(&m));
	}
}

/* clang-format off */
#define ROW(name, type, variant, help)                                                             \
	{name, FIELD_##type, FIELD_FMT_DEC, FIELD_COST_SEARCH, 0, variant, get_syslog, help, NULL}

static const struct sinsp_field_row rows[] = {
	ROW("syslog.facility.str", STR, LOG_FACILITY_NAME,
	    "facility of the message, such as daemon, authpriv or cron"),
	ROW("syslog.facility", UINT, LOG_FACILITY, "facility as a number from 0 to 23"),
	ROW("syslog.severity.str", STR, LOG_SEVERITY_NAME,
	    "severity of the message: emerg, alert, crit, err, warn, notice, info or debug"),
	ROW("syslog.severity", UINT, LOG_SEVERITY, "severity as a number from 0 to 7"),
	ROW("syslog.message", STR, LOG_MESSAGE,
	    "text of the message, up to the recorded length"),
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_syslog = {
	.name = "syslog",
	.title = "syslog",
	.help = "Messages to the system log, written to /dev/log",
	FIELD_ROWS(rows),
};
