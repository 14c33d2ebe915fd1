/* SPDX-License-Identifier: Apache-2.0 */
/* The main mode: events of the live system or of files become lines, a file, tables. */
#ifndef SAKER_CAPTURE_H
#define SAKER_CAPTURE_H

#include "options.h"

struct chisels;

/* Returns 0 if @o may capture what it asks for, or the exit status after naming the privilege. */
int capture_check_privileges(const struct options *o);

/* @chisels: who gets the events, NULL: they become lines. @start_ns: when saker began,
 * CLOCK_MONOTONIC. The exit status. */
int capture_run(const struct options *o, struct chisels *chisels, uint64_t start_ns);

#endif /* SAKER_CAPTURE_H */
