/* SPDX-License-Identifier: Apache-2.0 */
/* Finds build IDs of mapped files, for mappings that came without one: those in /proc, and files
 * whose note was not in memory. They are read from the file. */
#ifndef SCAP_SAMPLING_MAP_BUILD_ID_H
#define SCAP_SAMPLING_MAP_BUILD_ID_H

#include "sampling/map_event.h"

#define MAP_BUILD_IDS 256 /* a power of two */

/*
 * A cache of recent results. While a file is mapped no other file has its inode, so a result stays
 * valid for a while. Zeroed, it is empty. Events wait while a file is opened, and anybody can map
 * files quickly: files that would take more than a share of the time are left out.
 */
struct map_build_ids {
	uint64_t begin_us,
		spent_us; /* when the first file was opened; time spent on all files since */
	uint64_t n_left_out;
	struct map_build_id {
		uint64_t ino, ino_gen, until_ms;
		uint32_t major, minor;
		uint8_t len, id[CODE_BUILD_ID_MAX];
	} v[MAP_BUILD_IDS];
};

/* Adds the build ID to @map. A file without one, or unreadable, stays without. */
void map_build_id_find(struct map_build_ids *ids, struct code_map *map);

#endif /* SCAP_SAMPLING_MAP_BUILD_ID_H */
