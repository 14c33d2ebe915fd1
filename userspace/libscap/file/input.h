/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a file, pipe or standard input, unpacked, read forward without seek. [p, end) is
 * ready, and stays valid until the next input_fill or input_need. */
#ifndef SCAP_FILE_INPUT_H
#define SCAP_FILE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log.h"

struct input {
	const uint8_t *p, *end;
	const char *name; /* for messages */
	struct input_src *src; /* NULL: bytes in memory, which are all ready */
	const uint8_t *memory; /* their begin */
};

/* Returns 0 or a negative errno, logged. */
int input_open(struct input *in, const char *path, const struct scap_log *log);
/* Opens a regular file as unpack_open does; @unpacked_at is that offset in the unpacked data. */
int input_open_at(struct input *in, const char *path, uint64_t at, uint64_t unpacked_at,
		  const struct scap_log *log);
/* Reads @n bytes in memory, borrowed until it is closed. */
void input_open_memory(struct input *in, const uint8_t *p, size_t n, const char *name);
/* From now on a second thread reads and unpacks ahead: if it is a file of some size, and if a
 * second CPU, the memory and the thread can be had. Otherwise nothing changes. */
void input_run_ahead(struct input *in);
void input_close(struct input *in);
/* Makes @n bytes ready. Returns 1; 0: the input ends before; or a negative errno. */
int input_fill(struct input *in, size_t n);
/* Waits until a block is complete, the input ends, or bytes can be read at once; at most timeout_ms
 * (-1: no limit) or until a signal. */
int input_ready(const struct input *in, int timeout_ms);
/* Returns the offset of p in the (unpacked) stream. */
uint64_t input_offset(const struct input *in);
/* Returns that of @p, in what is ready, or before it since the last input_fill. */
uint64_t input_offset_of(const struct input *in, const uint8_t *p);
/* Returns whether there are checksums of the bytes: not in memory, or packed. */
bool input_has_sums(const struct input *in);
/* Nobody compares them: they need not be computed. Before input_run_ahead. */
void input_drop_sums(struct input *in);
/* Returns whether the page (page_sums.h), or the part of it before @p, which is as above, has
 * another checksum than @crc. It begins before @p. False also if that is not known: reading began
 * behind its beginning, or is far behind it. */
bool input_sum_differs(const struct input *in, uint64_t page, const uint8_t *p, uint32_t crc);
/* Returns the bytes of the file, as packed there, up to about p. */
uint64_t input_taken(const struct input *in);
/* At the end: returns whether something behind it was left out (unpack.h). */
bool input_left_out(const struct input *in);
/* Returns " of the unpacked data", or "": what offsets refer to. */
const char *input_unit(const struct input *in);

static inline int input_need(struct input *in, size_t n)
{
	return (size_t)(in->end - in->p) >= n ? 1 : input_fill(in, n);
}

#endif /* SCAP_FILE_INPUT_H */
