/* SPDX-License-Identifier: Apache-2.0 */
/* Messages written to /dev/log: "<PRIORITY>TEXT". */
#ifndef SINSP_FIELDS_SYSLOG_MESSAGE_H
#define SINSP_FIELDS_SYSLOG_MESSAGE_H

#include "sinsp.h"

struct syslog_message {
	uint32_t priority;
	const char *text; /* of the event */
	size_t len;
};

/* Parses the message of an event. Returns 0 if it writes none. */
int syslog_message_read(struct syslog_message *m, const struct sinsp_evt *evt);

const char *syslog_severity(const struct syslog_message *m);
const char *syslog_facility(const struct syslog_message *m); /* NULL: no such number */

#endif /* SINSP_FIELDS_SYSLOG_MESSAGE_H */
