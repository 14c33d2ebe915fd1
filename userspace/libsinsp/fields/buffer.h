/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of I/O buffers as text: options -A -x -X -b of the command. */
#ifndef SINSP_FIELDS_BUFFER_H
#define SINSP_FIELDS_BUFFER_H

#include "sinsp.h"

size_t sinsp_buffer_room(uint32_t n); /* enough for @n bytes in every format */

/* Writes @n bytes at @p; the place behind. @max bounds SINSP_BUF_DOTS alone: more end in
 * "...". */
char *sinsp_buffer_put(char *p, const uint8_t *s, uint32_t n, enum sinsp_buf_fmt fmt, uint32_t max);

#endif /* SINSP_FIELDS_BUFFER_H */
