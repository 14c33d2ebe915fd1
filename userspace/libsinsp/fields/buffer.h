/* SPDX-License-Identifier: Apache-2.0 */
/* Prints bytes of I/O buffers: options -A -x -X -b of the command. */
#ifndef SINSP_FIELDS_BUFFER_H
#define SINSP_FIELDS_BUFFER_H

#include "event/event_table.h"
#include "sinsp.h"

/* Returns how many of the @n bytes of a value are printed: at most @cut (0: all) of what a call
 * moved; arguments and environments of programs are no such buffers. */
static inline uint32_t sinsp_buffer_shown(const struct sinsp_evt *evt, uint32_t n, uint32_t cut)
{
	return cut && cut < n && evt && evt->info->category != EC_PROCESS ? cut : n;
}

size_t sinsp_buffer_room(uint32_t n); /* enough for @n bytes in every format */

/* Writes @n bytes at @p; returns the end. @max limits only SINSP_BUF_DOTS: longer text ends in
 * "...". */
char *sinsp_buffer_put(char *p, const uint8_t *s, uint32_t n, enum sinsp_buf_fmt fmt, uint32_t max);

#endif /* SINSP_FIELDS_BUFFER_H */
