/* SPDX-License-Identifier: Apache-2.0 */
/* A mapping of code as an event. */
#ifndef SCAP_SAMPLING_MAP_EVENT_H
#define SCAP_SAMPLING_MAP_EVENT_H

#include <stddef.h>
#include <stdint.h>

#include "shared/record.h"

#define MAP_PATH_MAX 4096 /* with its NUL */
#define MAP_EVENT_MAX (MAP_PATH_MAX + 256)
#define CODE_BUILD_ID_MAX 20 /* what the kernel tells */

struct code_map {
	uint32_t pid;
	uint64_t addr, length, offset;
	uint32_t prot; /* PROT_* */
	uint32_t major, minor;
	uint64_t ino, ino_gen;
	const char *path; /* "": of no file */
	size_t path_len;
	uint8_t build_id_len; /* 0: not known */
	uint8_t build_id[CODE_BUILD_ID_MAX];
};

/* The device, as the kernel gives numbers of devices to programs. */
uint32_t map_event_dev(const struct code_map *map);

/* In @buf, of MAP_EVENT_MAX bytes. */
void map_event_build(void *buf, uint64_t boot_ns, const struct code_map *map);

/* A line of /proc/PID/maps without its newline, which it may change. 0; -ENOENT: it is of no code;
 * -EBADMSG. map->path points into it. */
int map_event_parse(char *line, uint32_t pid, struct code_map *map);

#endif /* SCAP_SAMPLING_MAP_EVENT_H */
