/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of saker: one sentence per line on standard error. */
#ifndef SAKER_SAY_H
#define SAKER_SAY_H

#include "scap.h"

/* Prints "saker: " and the sentence. Control bytes in names become '.'. */
__attribute__((format(printf, 1, 2))) void say(const char *fmt, ...);

/* For log callbacks of the libraries: prints errors and warnings, and info with -v. */
void say_log(void *ctx, enum scap_log_level level, const char *text);
void say_info_too(void);

/* Returns the number of errors printed so far: shows whether the cause of an error code was
 * reported. */
unsigned int say_n_errors(void);
/* Prints "@what: the error's name" unless an error was printed since @before. */
void say_cause(unsigned int before, const char *what, int err);

#endif /* SAKER_SAY_H */
