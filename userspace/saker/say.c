/* SPDX-License-Identifier: Apache-2.0 */
#include "say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static unsigned int n_errors;
static int info_too;

/* Others choose names of files and commands: their control bytes do not reach the terminal. */
static void make_printable(char *s)
{
	for (; *s; s++) {
		if (*s == '\t')
			*s = ' '; /* tracebacks have it before a line */
		else if ((unsigned char)*s < 0x20 || *s == 0x7f)
			*s = '.';
	}
}

static void put_line(const char *text)
{
	char line[2048];

	snprintf(line, sizeof(line), "saker: %s", text);
	make_printable(line);
	fprintf(stderr, "%s\n", line);
}

void say(const char *fmt, ...)
{
	char text[2000];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	n_errors++;
	put_line(text);
}

void say_log(void *ctx, enum scap_log_level level, const char *text)
{
	(void)ctx;
	if (level == SCAP_LOG_INFO && !info_too)
		return;
	if (level == SCAP_LOG_ERROR)
		n_errors++;
	put_line(text);
}

void say_info_too(void)
{
	info_too = 1;
}

unsigned int say_n_errors(void)
{
	return n_errors;
}

void say_cause(unsigned int before, const char *what, int err)
{
	if (n_errors == before)
		say("%s: %s", what, strerror(-err));
}
