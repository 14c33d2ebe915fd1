/* SPDX-License-Identifier: Apache-2.0 */
/* The capture file of a dispatcher: its pieces and sections, what each repeats, and its limits. The
 * functions that dispatch.h declares for files are in dispatch_file.c, too. */
#ifndef SAKER_DISPATCH_FILE_H
#define SAKER_DISPATCH_FILE_H

#include "dispatch.h"

/* After dispatch_open_file, once the inspector is there. Returns 0, or a negative errno after
 * reporting it. */
int dispatch_begin_file(struct dispatch *t);
/* Writes the event. An error ends the file: see file_failed. */
void dispatch_put_file(struct dispatch *t, const struct sinsp_evt *evt);

#endif /* SAKER_DISPATCH_FILE_H */
