/* SPDX-License-Identifier: Apache-2.0 */
/* The type of a column: what its cells hold, and the names by which csysdig's JSON calls it. */
#ifndef SINSP_VIEWS_VIEW_TYPE_H
#define SINSP_VIEWS_VIEW_TYPE_H

#include "fields/field.h"

enum view_kind {
	VIEW_TEXT, /* p, len */
	VIEW_INT, /* i */
	VIEW_UINT, /* u */
	VIEW_DOUBLE, /* d */
	VIEW_DURATION, /* u: ns */
	VIEW_PORT, /* u */
	VIEW_IP, /* p, len 4 or 16 */
	VIEW_BOOL, /* u */
};

struct view_type {
	uint8_t kind; /* enum view_kind */
	uint8_t is_id; /* a number that is printed with all its digits */
	uint8_t no_default; /* a row needs a value: none stands for a missing one */
	uint8_t is_zero; /* a missing one is 0, also in views without defaults */
	const char *name, *format; /* in JSON: UINT64, DEC */
};

struct view_type view_type_of(const struct sinsp_field *f);

#endif /* SINSP_VIEWS_VIEW_TYPE_H */
