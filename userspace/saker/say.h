/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of saker: one sentence per line on standard error. */
#ifndef SAKER_SAY_H
#define SAKER_SAY_H

#include "scap.h"

/* Prints "saker: " and the sentence. Control bytes in names become '.'. */
__attribute__((format(printf, 1, 2))) void say(const char *fmt, ...);

/* The same of what is no error. */
__attribute__((format(printf, 1, 2))) void say_warning(const char *fmt, ...);
__attribute__((format(printf, 1, 2))) void say_notice(const char *fmt, ...);
/* What this thread says from now on begins with "@where: ". Borrowed until the next call; NULL:
 * nothing. */
void say_at(const char *where);
/* Before each message of this thread @write_out is called: it writes what was printed before, so
 * that both are in order where they meet, as on a terminal. NULL: nothing is. */
void say_after(void (*write_out)(void *ctx), void *ctx);
/* If standard error is the journal of systemd: lines have their priority, and not "saker: ". */
void say_to_journal(void);

/* For log callbacks of the libraries: prints errors and warnings, and info with -v. */
void say_log(void *ctx, enum scap_log_level level, const char *text);
void say_info_too(void);

/* Returns the number of errors printed so far: shows whether the cause of an error code was
 * reported. */
unsigned int say_n_errors(void);
/* Prints "@what: the error's name" unless an error was printed since @before. */
void say_cause(unsigned int before, const char *what, int err);

struct sinsp_filter_error;
/* Prints the text of the filter, and where the error is. */
void say_filter_place(const struct sinsp_filter_error *err);
/* Prints "@what: MESSAGE" before that. */
void say_filter_error(const char *what, const struct sinsp_filter_error *err);

#endif /* SAKER_SAY_H */
