/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a file, pipe or standard input, unpacked. [p, end) is ready, and stays valid until
 * the next call. */
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

/* Returns 0 or a negative errno, logged. */
int cap_input_open(struct cap_input *in, const char *path, const struct scap_log *log);
void cap_input_close(struct cap_input *in);
/* Makes @n bytes ready. Returns 1; 0: the input ends before; or a negative errno. */
int cap_input_fill(struct cap_input *in, size_t n);
/* Waits until a block is complete, the input ends, or bytes can be read at once; at most timeout_ms
 * (-1: no limit) or until a signal. */
int cap_input_ready(const struct cap_input *in, int timeout_ms);
/* Returns the offset of p in the (unpacked) stream. */
uint64_t cap_input_offset(const struct cap_input *in);
/* Returns the bytes read from the file so far, as packed there. */
uint64_t cap_input_taken(const struct cap_input *in);
/* Returns " of the unpacked data", or "": what offsets refer to. */
const char *cap_input_unit(const struct cap_input *in);

static inline int cap_input_need(struct cap_input *in, size_t n)
{
	return (size_t)(in->end - in->p) >= n ? 1 : cap_input_fill(in, n);
}

#endif /* SCAP_FILE_INPUT_H */
