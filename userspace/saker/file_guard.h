/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of a capture file: ends it before it takes room that others need. */
#ifndef SAKER_FILE_GUARD_H
#define SAKER_FILE_GUARD_H

#include "options.h"

struct file_guard {
	uint64_t next_bytes; /* file size below which no limit is near; 0: check at once */
};

enum file_guard_end { FILE_GOES_ON, FILE_REACHED_SIZE, FILE_LEAVES_NO_ROOM };

/* Checks the limits of @path, open as @fd (below 0: not a regular file), with @bytes written to it
 * and @total to all files, before @sz more are written. Reports the limit that is reached. */
enum file_guard_end file_guard_look(struct file_guard *g, const struct options *o, const char *path,
				    int fd, uint64_t bytes, uint64_t total, size_t sz);

/* Returns whether file_guard_look must be called; for each event. */
static inline int file_guard_is_due(const struct file_guard *g, uint64_t bytes, size_t sz)
{
	return bytes + sz >= g->next_bytes;
}

#endif /* SAKER_FILE_GUARD_H */
