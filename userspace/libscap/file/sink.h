/* SPDX-License-Identifier: Apache-2.0 */
/* The output of a capture: blocks are gathered in a buffer and reach the kernel as complete blocks,
 * packed or not, so that the file on disk can always be read up to the last one. */
#ifndef SCAP_FILE_SINK_H
#define SCAP_FILE_SINK_H

#include "file/page_sums.h"
#include "file/scap_file.h"
#include "file/scap_format.h"

struct sink;

int sink_open(struct sink **out, const char *path, enum scap_compress compress,
	      const struct scap_log *log);
/* A sink that keeps its blocks in memory. */
int sink_open_memory(struct sink **out, const struct scap_log *log);
bool sink_is_memory(const struct sink *s);
/* Returns its complete blocks; borrowed until it changes. */
const uint8_t *sink_memory(const struct sink *s, size_t *n);

/*
 * Writes what is left. Frees @s even if that fails. *bytes (may be NULL) is the size of the file.
 */
int sink_close(struct sink *s, uint64_t *bytes);

/* Returns the size of the file so far, including complete blocks not yet written; packed ones only
 * once they are. */
uint64_t sink_bytes(const struct sink *s);
/* Returns the bytes so far before they were packed: complete blocks, written or not. */
uint64_t sink_unpacked(const struct sink *s);
/* Returns the checksums of the bytes that left it; NULL: none, they are packed, or in memory. */
struct page_sums *sink_sums(struct sink *s);
int sink_fd(const struct sink *s); /* -1: not a regular file, or standard output */

/* Returns room for @n bytes after the block under construction, valid until the next call. NULL: no
 * memory, or an earlier write failed; it was logged, and sink_flush returns it. */
uint8_t *sink_room(struct sink *s, size_t n);
/* Marks the block under construction as complete up to @end. */
int sink_commit(struct sink *s, const uint8_t *end);
/* Passes complete blocks to the kernel. */
int sink_flush(struct sink *s);

/* Writes @n bytes as they are behind everything else, which was flushed. */
int sink_put_tail(struct sink *s, const uint8_t *p, size_t n);

/* Builds a block piece by piece: begin, put, end. */
int sink_begin(struct sink *s, uint32_t type);
int sink_put(struct sink *s, const void *p, size_t n);
void sink_set_u32(struct sink *s, size_t at, uint32_t v); /* in the current block */
void sink_set_u16(struct sink *s, size_t at, uint16_t v);
int sink_end(struct sink *s);
size_t sink_block_sz(const struct sink *s); /* of the current block */

/* Writes the blocks of the initial state (state_write.c). */
int state_write(struct sink *s, const struct scap_state *st);

#endif /* SCAP_FILE_SINK_H */
