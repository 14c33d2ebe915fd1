/* SPDX-License-Identifier: Apache-2.0 */
/* What a source has to tell beside the event that a field is asked of. */
#ifndef SINSP_FIELDS_FIELD_NEEDS_H
#define SINSP_FIELDS_FIELD_NEEDS_H

#include "field.h"

enum sinsp_field_needs {
	FIELD_NEEDS_FILES = 1 << 0, /* which files are open */
	FIELD_NEEDS_COURSE = 1 << 1, /* what events of other types, or of before, say of a process
					without ending or making anything */
	FIELD_NEEDS_CALLS = 1 << 2, /* what a thread changes of itself by calls, and nothing but
				       calls tells: its user, its directory, its session */
};

/* Of these. */
unsigned int sinsp_field_needs(const struct sinsp_field_row *row);

#endif /* SINSP_FIELDS_FIELD_NEEDS_H */
