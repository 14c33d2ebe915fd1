/* SPDX-License-Identifier: Apache-2.0 */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>

static void say(const struct scap_log *log, enum scap_log_level level, const char *fmt, va_list ap)
{
	char text[SCAP_LOG_TEXT_MAX];

	if (!log || !log->fn)
		return;
	vsnprintf(text, sizeof(text), fmt, ap);
	log->fn(log->ctx, level, text);
}

int scap_fail(const struct scap_log *log, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(log, SCAP_LOG_ERROR, fmt, ap);
	va_end(ap);
	return err;
}

void scap_say(const struct scap_log *log, enum scap_log_level level, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(log, level, fmt, ap);
	va_end(ap);
}
