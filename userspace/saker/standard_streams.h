/* SPDX-License-Identifier: Apache-2.0 */
/* Standard output of the programs, and descriptors that were closed when they started. */
#ifndef SAKER_STANDARD_STREAMS_H
#define SAKER_STANDARD_STREAMS_H

#include <stddef.h>

struct sinsp_text;

/* At the start: a closed standard descriptor would be reused by a file that we open, which would
 * then get messages. */
void standard_fds_fill(void);

/* Writes to standard output without delay. Returns 0, -EPIPE if the reader of the pipe has closed
 * it, or -EIO after reporting another error. */
int stdout_put(const void *p, size_t n);
/* The same with the text, which is empty then. */
int stdout_put_text(struct sinsp_text *text);

/* A write to standard output failed; @err: errno, 0: it is not known. Reports the first failure, if
 * it is not that the reader has closed the pipe. Returns -EPIPE or -EIO. */
int stdout_failed(int err);

/* Flushes standard output. Returns @status, or 1 after reporting that a write failed. A pipe whose
 * reader has closed it is no failure. */
int stdout_end(int status);

#endif /* SAKER_STANDARD_STREAMS_H */
