/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where lines go: one large buffer in front of a file descriptor. Text is appended to
 * output_text() and handed over by output_line(); it reaches the descriptor when the
 * buffer is full, when the source is idle, or at each line with --unbuffered.
 */
#ifndef SAKER_OUTPUT_H
#define SAKER_OUTPUT_H

#include "sinsp.h"

struct output {
	struct sinsp_text text;
	const char *name; /* for messages */
	int fd;
	int unbuffered;
	int owned; /* fd is ours to close */
	int failed; /* a write failed, and that was said */
	uint64_t flushed_ms; /* when the buffer was last empty */
};

/* @path NULL: writes to @fd. 0, or a negative errno after saying it. */
int output_open(struct output *out, const char *path, int fd, int unbuffered);

/* A line was appended to out->text. 0, or -EPIPE: nobody reads any more, or out->failed. So do
 * those below. */
int output_line(struct output *out);

/* Other text than lines, after them. */
int output_write(struct output *out, const char *text, size_t len);

int output_flush(struct output *out);
/* Flushes lines that have waited for some time while events kept coming. */
int output_flush_old(struct output *out);

int output_close(struct output *out);

#endif /* SAKER_OUTPUT_H */
