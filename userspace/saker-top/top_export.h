/* SPDX-License-Identifier: Apache-2.0 */
/* A table as a file: CSV, csysdig's JSON or text. */
#ifndef SAKER_TOP_EXPORT_H
#define SAKER_TOP_EXPORT_H

#include "top_print.h"

/* Appends the table in the format that the path's end names: .csv, .json, else text. Returns 0 or
 * -ENOMEM. */
int top_export_text(struct sinsp_text *out, const char *path, const struct top_slice *slice);

/* Returns what is wrong with a path for a new file, if anything: NULL, or a message that begins
 * behind the path. *exists: there is a file, which would be replaced. @source: the file that is
 * read; NULL: none. */
const char *top_export_check(const char *path, const char *source, int *exists);

#endif /* SAKER_TOP_EXPORT_H */
