/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of texts in a marker: how its parsers fill them. */
#ifndef SINSP_MARKERS_MARKER_LIST_H
#define SINSP_MARKERS_MARKER_LIST_H

#include "marker.h"

enum { END_OF_TEXT = -1, MALFORMED = -2 };

/* Appends a byte. Returns 0, or MALFORMED without room. */
static inline int marker_put(struct marker_list *to, char c)
{
	if (to->sz == sizeof(to->text))
		return MALFORMED;
	to->text[to->sz++] = c;
	return 0;
}

/* Ends the last text of the list. */
static inline int marker_end_text(struct marker_list *to)
{
	if (to->n == 2 * MARKER_PARTS_MAX)
		return MALFORMED;
	to->n++;
	return marker_put(to, 0);
}

/* Returns whether the byte cannot be part of a text. */
static inline int marker_is_control(uint8_t byte)
{
	return byte < ' ' || byte == 0x7f;
}

/* Parses a marker of Kindling, which begins with "kd-". Returns as sinsp_marker_parse. */
int marker_parse_kindling(struct marker *m, const uint8_t *p, size_t n, int is_cut);

#endif /* SINSP_MARKERS_MARKER_LIST_H */
