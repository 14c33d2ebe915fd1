/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output file of chisels (-o). If nothing was printed and the run failed the file is not
 * created, or an older one stays: an empty file would look like a result. Nor is it created if
 * saker is killed before.
 */
#ifndef SAKER_CHISEL_OUTPUT_H
#define SAKER_CHISEL_OUTPUT_H

#include <stdio.h>

#include <zlib.h>

#include "new_file.h"

enum chisel_output_kind {
	CHISEL_OUTPUT_LINES, /* may be captured data: private; can be read while it grows */
	CHISEL_OUTPUT_PICTURE, /* has the mode of the umask; its name when it is complete */
	CHISEL_OUTPUT_TO_SEND, /* private; its name when it is complete */
};

struct chisel_output {
	FILE *f; /* owned; NULL: none, or closed */
	const char *path; /* borrowed */
	gzFile gz; /* owned by f; NULL: not compressed, or not begun */
	int fd; /* owned by f */
	struct new_file new; /* the file did not exist before */
	int is_drawing; /* complete at the end of the capture: written as a whole or not at all */
	int begun; /* something was printed: the old content is gone */
	int err; /* errno of the first write that failed */
};

/*
 * Opens @path for writing; compresses with gzip if its name ends with .gz. Returns 0, or a negative
 * errno after reporting the reason. @out must not move until it is closed.
 */
int chisel_output_open(struct chisel_output *out, const char *path, enum chisel_output_kind kind);
/* Closes the file. @failed: drops it unless something was printed. Returns 0, or a negative errno
 * after reporting that not everything was written. Does nothing if it is not open. */
int chisel_output_close(struct chisel_output *out, int failed);

#endif /* SAKER_CHISEL_OUTPUT_H */
