/* SPDX-License-Identifier: Apache-2.0 */
#include "say.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fields/text.h"
#include "filter/filter.h"

enum priority { ERROR = 3, WARNING, NOTICE, INFO }; /* of syslog */

static _Thread_local unsigned int n_errors; /* of this thread: see say_cause */
static int info_too;
static int to_journal;
static _Thread_local const char *place;
static _Thread_local struct {
	void (*fn)(void *ctx);
	void *ctx;
} write_out;

/* It may say itself that it failed. */
static void write_out_before(void)
{
	void (*fn)(void *ctx) = write_out.fn;

	write_out.fn = NULL;
	if (fn)
		fn(write_out.ctx);
	write_out.fn = fn;
}

/* The journal takes the priority from the beginning of the line, and has the name of the program.
 * Others choose names of files and commands: their control characters do not reach the terminal. */
static void put_line(enum priority priority, const char *text)
{
	char line[2048], safe[sizeof(line)], begin[8] = "saker: ";

	if (to_journal)
		snprintf(begin, sizeof(begin), "<%d>", priority);
	snprintf(line, sizeof(line), "%s%s%s", place ?: "", place ? ": " : "", text);
	for (char *tab = line; (tab = strchr(tab, '\t'));)
		*tab = ' '; /* tracebacks have it before a line */
	*put_utf8(safe, line, strlen(line)) = 0;
	write_out_before();
	fprintf(stderr, "%s%s\n", begin, safe);
}

static void put(enum priority priority, const char *fmt, va_list ap)
{
	char text[2000];

	vsnprintf(text, sizeof(text), fmt, ap);
	put_line(priority, text);
}

void say(const char *fmt, ...)
{
	va_list ap;

	n_errors++;
	va_start(ap, fmt);
	put(ERROR, fmt, ap);
	va_end(ap);
}

void say_notice(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put(NOTICE, fmt, ap);
	va_end(ap);
}

void say_warning(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put(WARNING, fmt, ap);
	va_end(ap);
}

void say_at(const char *where)
{
	place = where;
}

void say_after(void (*fn)(void *ctx), void *ctx)
{
	write_out.fn = fn;
	write_out.ctx = ctx;
}

void say_to_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	uint64_t dev, ino;
	struct stat st;

	to_journal = stream && sscanf(stream, "%" SCNu64 ":%" SCNu64, &dev, &ino) == 2 &&
		     !fstat(STDERR_FILENO, &st) && st.st_dev == dev && st.st_ino == ino;
}

void say_log(void *ctx, enum scap_log_level level, const char *text)
{
	(void)ctx;
	if (level == SCAP_LOG_INFO && !info_too)
		return;
	if (level == SCAP_LOG_ERROR)
		n_errors++;
	put_line(level == SCAP_LOG_ERROR ? ERROR : level == SCAP_LOG_WARN ? WARNING : INFO, text);
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

void say_filter_place(const struct sinsp_filter_error *err)
{
	struct sinsp_text lines = {0};

	if (!sinsp_filter_error_lines(&lines, err))
		fwrite(lines.p, 1, lines.len, stderr);
	free(lines.p);
}

void say_filter_error(const char *what, const struct sinsp_filter_error *err)
{
	say("%s: %s", what, err->message);
	say_filter_place(err);
}
