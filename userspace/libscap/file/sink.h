/* SPDX-License-Identifier: Apache-2.0 */
/* The output of a capture: blocks are gathered in a buffer and reach the kernel as complete blocks,
 * packed or not, so that the file on disk can always be read up to the last one. */
#ifndef SCAP_FILE_SINK_H
#define SCAP_FILE_SINK_H

#include "file/capfile.h"
#include "file/scap_file.h"

struct cap_sink;

int cap_sink_open(struct cap_sink **out, const char *path, enum scap_compress compress,
		  const struct scap_log *log);
/*
 * Writes what is left. Frees @s even if that fails. *bytes (may be NULL) is the size of the file.
 */
int cap_sink_close(struct cap_sink *s, uint64_t *bytes);

/* Returns the size of the file so far, including complete blocks not yet written; packed ones only
 * once they are. */
uint64_t cap_sink_bytes(const struct cap_sink *s);
int cap_sink_fd(const struct cap_sink *s); /* -1: not a regular file, or standard output */

/* Returns room for @n bytes after the block under construction, valid until the next call. NULL: no
 * memory, or an earlier write failed; it was logged, and cap_sink_flush returns it. */
uint8_t *cap_sink_room(struct cap_sink *s, size_t n);
/* Marks the block under construction as complete up to @end. */
int cap_sink_commit(struct cap_sink *s, const uint8_t *end);
/* Passes complete blocks to the kernel. */
int cap_sink_flush(struct cap_sink *s);

/* Builds a block piece by piece: begin, put, end. */
int cap_sink_begin(struct cap_sink *s, uint32_t type);
int cap_sink_put(struct cap_sink *s, const void *p, size_t n);
void cap_sink_set_u32(struct cap_sink *s, size_t at, uint32_t v); /* in the current block */
int cap_sink_end(struct cap_sink *s);
size_t cap_sink_block_sz(const struct cap_sink *s); /* of the current block */

/* Writes the blocks of the initial state (state_write.c). */
int cap_state_write(struct cap_sink *s, const struct scap_state *st);

#endif /* SCAP_FILE_SINK_H */
