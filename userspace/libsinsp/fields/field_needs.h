/* SPDX-License-Identifier: Apache-2.0 */
/* What a source must record besides the events of a field. */
#ifndef SINSP_FIELDS_FIELD_NEEDS_H
#define SINSP_FIELDS_FIELD_NEEDS_H

#include "field.h"

enum sinsp_field_needs {
	FIELD_NEEDS_FILES = 1 << 0, /* open files */
	FIELD_NEEDS_COURSE = 1 << 1, /* events of other types, or earlier ones, that describe a
					process without ending or creating anything */
	FIELD_NEEDS_CALLS = 1 << 2, /* changes that a thread makes by calls, visible in no other
				       event: its user, directory, session */
};

/* Returns the needs of a field. */
unsigned int sinsp_field_needs(const struct sinsp_field_row *row);

#endif /* SINSP_FIELDS_FIELD_NEEDS_H */
