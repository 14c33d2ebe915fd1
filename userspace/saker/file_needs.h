/* SPDX-License-Identifier: Apache-2.0 */
/* What a file has besides its events, so that it can be read alone: containers, names of code. It
 * goes to the file that is written, or to the flight recorder. Each returns 0 or a negative errno.
 */
#ifndef SAKER_FILE_NEEDS_H
#define SAKER_FILE_NEEDS_H

#include "dispatch.h"

/* Puts what a piece repeats, with the time @ts_ns. */
int file_needs_known(struct dispatch *t, uint64_t ts_ns);
/* Puts what an event needs before it. */
int file_needs_of(struct dispatch *t, const struct sinsp_evt *evt);

#endif /* SAKER_FILE_NEEDS_H */
