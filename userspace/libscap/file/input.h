/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of one file, pipe or standard input, unpacked. What lies between p and end is ready;
 * it stays where it is until the next call here.
 */
#ifndef SCAP_FILE_INPUT_H
#define SCAP_FILE_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "log.h"

struct cap_input {
	const uint8_t *p, *end;
	const char *name; /* for messages */
	struct cap_input_src *src;
};

/* 0 or a negative errno, logged. */
int cap_input_open(struct cap_input *in, const char *path, const struct scap_log *log);
void cap_input_close(struct cap_input *in);
/* Tries to have @n bytes ready. 1: they are; 0: the input ends before; negative errno. */
int cap_input_fill(struct cap_input *in, size_t n);
/* Whether a whole block or the end is at hand, or bytes that can be read at once: waits for
 * that, at most timeout_ms (-1: without limit) or until a signal. */
int cap_input_ready(const struct cap_input *in, int timeout_ms);
/* Offset of p in the (unpacked) stream. */
uint64_t cap_input_offset(const struct cap_input *in);
/* Bytes taken from the file so far, packed as they are there. */
uint64_t cap_input_taken(const struct cap_input *in);
/* " of the unpacked data", or "": what an offset counts. */
const char *cap_input_unit(const struct cap_input *in);

static inline int cap_input_need(struct cap_input *in, size_t n)
{
	return (size_t)(in->end - in->p) >= n ? 1 : cap_input_fill(in, n);
}

#endif /* SCAP_FILE_INPUT_H */
