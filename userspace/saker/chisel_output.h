/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file that chisels print to with -o. Where nothing was printed and the run failed there is no
 * file, or still the older one: an empty file would look like a result. Nor is there one if saker
 * is killed before.
 */
#ifndef SAKER_CHISEL_OUTPUT_H
#define SAKER_CHISEL_OUTPUT_H

#include <stdio.h>

#include <zlib.h>

#include "new_file.h"

struct chisel_output {
	FILE *f; /* owned; NULL: none, or closed */
	const char *path; /* borrowed */
	gzFile gz; /* owned by f; NULL: not compressed, or not begun */
	int fd; /* owned by f */
	struct new_file new; /* no file was there before */
	int is_drawing; /* made of what was captured when all of it was: all of it, or none */
	int begun; /* something was printed: what was there before is gone */
	int err; /* of the first write that failed */
};

/* Opens @path for writing; what is written is compressed with gzip if its name ends with .gz. 0, or
 * a negative errno after saying why. @out stays where it is until it is closed. A drawing may be
 * read by whom the umask lets, and has its name when it is complete; what else chisels print,
 * captured data for one, is for its owner, and can be read while it grows. */
int chisel_output_open(struct chisel_output *out, const char *path, int is_drawing);
/* @failed: the file is not wanted unless something was printed. 0, or a negative errno after saying
 * that not all could be written. Of what is not open: 0. */
int chisel_output_close(struct chisel_output *out, int failed);

#endif /* SAKER_CHISEL_OUTPUT_H */
