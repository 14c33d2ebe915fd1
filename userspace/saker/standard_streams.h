/* SPDX-License-Identifier: Apache-2.0 */
/* Standard output of the programs, and descriptors that were closed when they started. */
#ifndef SAKER_STANDARD_STREAMS_H
#define SAKER_STANDARD_STREAMS_H

#include <stddef.h>

/* At the start: a closed standard descriptor would be reused by a file that we open, which would
 * then get messages. */
void standard_fds_fill(void);

/* Writes to standard output at once. Returns 0; -EPIPE: nobody reads it; -EIO: it was reported. */
int stdout_put(const void *p, size_t n);

/* Flushes what was printed. Returns @status, or 1 if not all of it could be written, which is
 * reported, unless nobody reads it. */
int stdout_end(int status);

#endif /* SAKER_STANDARD_STREAMS_H */
