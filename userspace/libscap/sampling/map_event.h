/* SPDX-License-Identifier: Apache-2.0 */
/* A mapping of code as an event. */
#ifndef SCAP_SAMPLING_MAP_EVENT_H
#define SCAP_SAMPLING_MAP_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "shared/record.h"

#define MAP_PATH_MAX 4096 /* with its NUL */
#define MAP_EVENT_MAX (MAP_PATH_MAX + 256)
#define CODE_BUILD_ID_MAX 20 /* as the kernel reports it */

struct code_map {
	uint32_t pid;
	uint64_t addr, length, offset;
	uint32_t prot; /* PROT_* */
	uint32_t major, minor;
	uint64_t ino, ino_gen;
	const char *path; /* "": no file */
	size_t path_len;
	uint8_t build_id_len; /* 0: unknown */
	uint8_t build_id[CODE_BUILD_ID_MAX];
};

/* Returns the device number in the encoding that programs get from the kernel. */
uint32_t map_event_dev(const struct code_map *map);

/* Builds the event in @buf, of MAP_EVENT_MAX bytes. */
void map_event_build(void *buf, uint64_t boot_ns, const struct code_map *map);

/* Parses a line of /proc/PID/maps without its newline, which it may modify. Returns 0; -ENOENT: no
 * code; -EBADMSG. map->path points into it. */
int map_event_parse(char *line, uint32_t pid, struct code_map *map);

#endif /* SCAP_SAMPLING_MAP_EVENT_H */
