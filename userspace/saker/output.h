/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output of lines: a large buffer before a file descriptor. Text is appended to output_text() and
 * committed by output_line(); it is written when the buffer is full, when the source is idle, or at
 * each line with --unbuffered.
 */
#ifndef SAKER_OUTPUT_H
#define SAKER_OUTPUT_H

#include <zlib.h>

#include "sinsp.h"

struct output {
	struct sinsp_text text;
	const char *name; /* for messages */
	gzFile gz; /* owned, with fd; NULL: not compressed */
	int fd;
	int unbuffered;
	int owned; /* we close fd */
	int failed; /* a write failed, and was reported */
	uint64_t flushed_ms; /* when the buffer was last empty */
};

/* @path NULL: writes to @fd. Compresses with gzip if is_gz_name(path). Returns 0, or a negative
 * errno after reporting it. */
int output_open(struct output *out, const char *path, int fd, int unbuffered);

/* A line was appended to out->text. Returns 0, or -EPIPE: the reader is gone, or out->failed. So do
 * the functions below. */
int output_line(struct output *out);

/* Writes other text than lines, after them. */
int output_write(struct output *out, const char *text, size_t len);

int output_flush(struct output *out);
/* Writes the whole lines so far, for a message that follows them. */
void output_flush_lines(struct output *out);
/* Flushes lines that have waited for some time while events keep coming. */
int output_flush_old(struct output *out);

int output_close(struct output *out);

#endif /* SAKER_OUTPUT_H */
