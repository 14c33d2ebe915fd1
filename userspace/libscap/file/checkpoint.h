/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints: what a long capture repeats now and then, so that it can be read from there on. A
 * checkpoint has blocks as a file begins with: a section header, the state, events that later ones
 * need. They are packed, in events that other tools skip; the index at the end of the file says
 * where they are. docs/scap-file.md describes the layout.
 */
#ifndef SCAP_FILE_CHECKPOINT_H
#define SCAP_FILE_CHECKPOINT_H

#include <sys/types.h>

#include "file/input.h"
#include "file/scap_file.h"
#include "file/scap_format.h"

#define CHECKPOINT_EVERY (32u << 20) /* default distance, in bytes before they are packed */
#define CHECKPOINT_SHARE 64 /* by default at most 1/64 of the file are checkpoints */
#define CHECKPOINTS_MAX 1800 /* in an index; beyond, the distance doubles */

struct checkpoint_place {
	uint64_t ts_ns; /* time of the last event before it */
	uint64_t at; /* offset in the file */
	uint64_t unpacked_at; /* offset in the unpacked data */
	uint64_t num; /* number of the last event before it */
};

struct checkpoint {
	uint64_t num; /* number of the last event before it */
	uint64_t ts_ns; /* time of its events: the latest before it */
	uint64_t n_own; /* number of events in its blocks that take a number */
	uint64_t first_ns; /* time of the first event of the capture */
	uint64_t defaults; /* enum evt_defaults of the events after it */
	size_t packed_sz, sz; /* of the blocks */
	uint8_t *blocks; /* owned */
};

/* ---- writing ---- */

struct checkpoint_index {
	struct checkpoint_place *v; /* owned; room for CHECKPOINTS_MAX */
	size_t n;
	uint64_t every; /* UINT64_MAX: no checkpoints */
	bool exact; /* whatever their size is */
	uint64_t next_at, next_unpacked_at; /* the next one comes behind both */
};

/* @every: as in scap_writer_opts. @head_sz: size of the file, which has only its state yet. */
void checkpoint_index_begin(struct checkpoint_index *x, uint64_t every, uint64_t head_sz);
bool checkpoint_is_due(const struct checkpoint_index *x, uint64_t at, uint64_t unpacked_at);
/* Notes a checkpoint of @sz bytes; without memory only for the time of the next one. */
void checkpoint_index_add(struct checkpoint_index *x, const struct checkpoint_place *place,
			  uint64_t sz);

/* Leaves a checkpoint out. */
void checkpoint_index_skip(struct checkpoint_index *x, uint64_t unpacked_at);

/* Returns the size of the index in the file; 0: it has none. */
uint64_t checkpoint_index_sz(const struct checkpoint_index *x);

/* Returns the bytes that a checkpoint of @packed_sz takes in the file, or a few more. */
uint64_t checkpoint_file_sz(uint64_t packed_sz);

/* Packs blocks. Returns the size, or a negative errno. */
ssize_t checkpoint_pack(struct file_buf *out, const uint8_t *blocks, size_t n);

/* Build an event in @out and return 0 or -ENOMEM. A checkpoint is a row of events: @at, from 0 on,
 * is the number of packed bytes before that event. */
int checkpoint_event(struct file_buf *out, const struct checkpoint *cp, const uint8_t *packed,
		     size_t at);
/* Returns the number of packed bytes in the event that begins at @at. */
size_t checkpoint_part(const struct checkpoint *cp, size_t at);
int checkpoint_index_event(struct file_buf *out, const struct checkpoint_index *x, uint64_t at);

/* What a packed file ends with, so that its index is found: @index_at is the offset of the member
 * or frame with the index. Returns the size, at most CHECKPOINT_TAIL_MAX; 0: no tail is needed. */
#define CHECKPOINT_TAIL_MAX 64
/* Before and after the two offsets: an empty member of gzip with an extra field (RFC 1952), or a
 * frame that zstd skips (RFC 8878). */
static const uint8_t checkpoint_gzip_tail[16] = {0x1f, 0x8b, 8,  4, 0,   0,   0,  0,
						 0,    0xff, 20, 0, 'S', 'K', 16, 0};
static const uint8_t checkpoint_gzip_empty[10] = {3, 0};
static const uint8_t checkpoint_zstd_tail[16] = {0x5b, 0x2a, 0x4d, 0x18, 24,  0,   0,   0,
						 's',  'a',  'k',  'e',  'r', 'i', 'd', 'x'};
size_t checkpoint_tail(uint8_t *out, enum scap_compress compress, uint64_t index_at,
		       uint64_t tail_at);

/* ---- reading (checkpoint_read.c) ---- */

/* Finds the last checkpoint that is older than @from_ns. Returns 1 with its place, and the file's
 * trailer in @closing (its event); 0: there is none; -ENOENT: the file has no valid index. */
int checkpoint_find(struct checkpoint_place *place, struct file_buf *closing, const char *path,
		    uint64_t from_ns);
/* Reads a checkpoint from @in, which is at its place, and unpacks it; free cp->blocks. Returns 0,
 * or a negative errno without a message. */
int checkpoint_read(struct checkpoint *cp, struct input *in);

#endif /* SCAP_FILE_CHECKPOINT_H */
