/* SPDX-License-Identifier: Apache-2.0 */
/* What saker says to the person: one sentence per line on standard error. */
#ifndef SAKER_SAY_H
#define SAKER_SAY_H

#include "scap.h"

/* "saker: " and the sentence. Control bytes of names in it come out as '.'. */
__attribute__((format(printf, 1, 2))) void say(const char *fmt, ...);

/* For the log callbacks of the libraries: errors and warnings are said, info with -v. */
void say_log(void *ctx, enum scap_log_level level, const char *text);
void say_info_too(void);

/* How many errors were said so far: who gets an error code sees whether its cause is told. */
unsigned int say_n_errors(void);
/* Says "@what: the error's name" unless an error was said since @before. */
void say_cause(unsigned int before, const char *what, int err);

#endif /* SAKER_SAY_H */
