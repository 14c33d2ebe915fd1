/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the code mappings of a process from /proc/PID/maps, one after the other. */
#ifndef SCAP_SAMPLING_PROC_MAPS_H
#define SCAP_SAMPLING_PROC_MAPS_H

#include <stdio.h>

#include "sampling/map_event.h"

struct proc_maps {
	uint32_t pid;
	FILE *file;
	char *line;
	size_t sz;
};

/* Returns 0; -ENOENT: the process has ended. */
int proc_maps_open(struct proc_maps *r, uint32_t pid);
/* Returns 1 with the next mapping, whose path is borrowed until the next call; 0: there is none. */
int proc_maps_next(struct proc_maps *r, struct code_map *map);
void proc_maps_close(struct proc_maps *r);

#endif /* SCAP_SAMPLING_PROC_MAPS_H */
