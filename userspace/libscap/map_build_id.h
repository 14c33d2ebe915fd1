/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Build ids of mapped files, for mappings that came without one: those that /proc lists, and those
 * of files whose note was not in memory. They are read from the file.
 */
#ifndef SCAP_MAP_BUILD_ID_H
#define SCAP_MAP_BUILD_ID_H

#include "map_event.h"

#define MAP_BUILD_IDS 256 /* a power of two */

/* What was found lately. While a file is mapped its inode is no other file's, so an answer holds
 * for a while. Zeroed, it is empty. */
struct map_build_ids {
	struct map_build_id {
		uint64_t ino, ino_gen, until_ms;
		uint32_t major, minor;
		uint8_t len, id[CODE_BUILD_ID_MAX];
	} v[MAP_BUILD_IDS];
};

/* Completes @map. What has no build id, or cannot be reached, stays without. */
void map_build_id_find(struct map_build_ids *ids, struct code_map *map);

#endif /* SCAP_MAP_BUILD_ID_H */
