/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a file, pipe or standard input from its begin to its end: as they are, or unpacked
 * from gzip or zstd. */
#ifndef SCAP_FILE_UNPACK_H
#define SCAP_FILE_UNPACK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "log.h"

struct unpacker;

/* Opens @path ("-": standard input), whose name is @name in messages. A regular file is read from
 * the offset @at on, where a member or frame begins if it is packed; others need 0. Both are
 * borrowed, and @log. Returns 0 or a negative errno, logged. */
int unpack_open(struct unpacker **out, const char *path, const char *name, uint64_t at,
		const struct scap_log *log);
void unpack_close(struct unpacker *u);
/* Puts up to @room bytes into @out, and waits for the first. Returns their number; 0: the end; or a
 * negative errno, logged, after all bytes before it. */
ssize_t unpack_some(struct unpacker *u, uint8_t *out, size_t room);
/* Waits until there are bytes or the end; at most timeout_ms (-1: no limit) or until a signal. */
bool unpack_ready(const struct unpacker *u, int timeout_ms);
/* Returns the bytes up to where the file was read, as packed. */
uint64_t unpack_taken(const struct unpacker *u);
bool unpack_is_packed(const struct unpacker *u);
/* At the end: returns whether something behind the last member of gzip was left out. */
bool unpack_left_out(const struct unpacker *u);
/* Returns the size of a regular file; 0: it is none. */
uint64_t unpack_file_size(const struct unpacker *u);

#endif /* SCAP_FILE_UNPACK_H */
