/* SPDX-License-Identifier: Apache-2.0 */
/* A table at the end of an interval. */
#ifndef SAKER_TOP_SNAPSHOT_H
#define SAKER_TOP_SNAPSHOT_H

#include "views/view_table.h"

struct top_snapshot {
	struct view_table *table;
	uint64_t end_ns, length_ns;
	uint64_t n_events; /* seen in the interval */
};

#endif /* SAKER_TOP_SNAPSHOT_H */
