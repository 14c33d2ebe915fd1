/* SPDX-License-Identifier: Apache-2.0 */
/* Prints bytes of I/O buffers: options -A -x -X -b of the command. */
#ifndef SINSP_FIELDS_BUFFER_H
#define SINSP_FIELDS_BUFFER_H

#include "sinsp.h"

size_t sinsp_buffer_room(uint32_t n); /* enough for @n bytes in every format */

/* Writes @n bytes at @p; returns the end. @max limits only SINSP_BUF_DOTS: longer text ends in
 * "...". */
char *sinsp_buffer_put(char *p, const uint8_t *s, uint32_t n, enum sinsp_buf_fmt fmt, uint32_t max);

#endif /* SINSP_FIELDS_BUFFER_H */
