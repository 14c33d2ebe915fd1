/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a capture is written to: blocks are gathered in one buffer and reach the kernel as
 * whole blocks, packed or not, so that what is on disk can always be read up to the last one.
 */
#ifndef SCAP_FILE_SINK_H
#define SCAP_FILE_SINK_H

#include "file/capfile.h"
#include "file/scap_file.h"

struct cap_sink;

int cap_sink_open(struct cap_sink **out, const char *path, enum scap_compress compress,
		  const struct scap_log *log);
/* Writes what is left. Frees @s also when that fails. *bytes (NULL: not asked for) is what was
 * written in all, as it lies in the file. */
int cap_sink_close(struct cap_sink *s, uint64_t *bytes);

/* Of the file so far, with whole blocks that are still to be written; packed ones only once they
 * are. */
uint64_t cap_sink_bytes(const struct cap_sink *s);
int cap_sink_fd(const struct cap_sink *s); /* -1: it is not a regular file, or standard output */

/* Room for @n bytes behind the block at hand, which stays where it is until the next call. NULL:
 * no memory, or a write failed before; it was logged, and cap_sink_flush returns it. */
uint8_t *cap_sink_room(struct cap_sink *s, size_t n);
/* The block at hand, up to the byte before @end, is whole. */
int cap_sink_commit(struct cap_sink *s, const uint8_t *end);
/* Whole blocks to the kernel. */
int cap_sink_flush(struct cap_sink *s);

/* Blocks that are made piece by piece: begin, put, end. */
int cap_sink_begin(struct cap_sink *s, uint32_t type);
int cap_sink_put(struct cap_sink *s, const void *p, size_t n);
void cap_sink_set_u32(struct cap_sink *s, size_t at, uint32_t v); /* in the block at hand */
int cap_sink_end(struct cap_sink *s);
size_t cap_sink_block_sz(const struct cap_sink *s); /* of the block at hand */

/* The blocks of the initial state (state_write.c). */
int cap_state_write(struct cap_sink *s, const struct scap_state *st);

#endif /* SCAP_FILE_SINK_H */
