/* SPDX-License-Identifier: Apache-2.0 */
/* The main mode: events of the live system or of files become lines, a capture file, or tables. */
#ifndef SAKER_CAPTURE_H
#define SAKER_CAPTURE_H

#include "options.h"

struct chisels;

/* Returns 0 if @o may capture what it requests, or the exit status after naming the missing
 * privilege. */
int capture_check_privileges(const struct options *o);

/* Runs the capture. @chisels receive the events; NULL: events are printed as lines. @start_ns:
 * start of saker, CLOCK_MONOTONIC. Returns the exit status. */
int capture_run(const struct options *o, struct chisels *chisels, uint64_t start_ns);

#endif /* SAKER_CAPTURE_H */
