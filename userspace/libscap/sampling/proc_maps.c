/* SPDX-License-Identifier: Apache-2.0 */
#include "sampling/proc_maps.h"

#include <errno.h>
#include <stdlib.h>

int proc_maps_open(struct proc_maps *r, uint32_t pid)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	*r = (struct proc_maps){.pid = pid, .file = fopen(name, "re")};
	return r->file ? 0 : -ENOENT;
}

int proc_maps_next(struct proc_maps *r, struct code_map *map)
{
	ssize_t len;

	while ((len = getline(&r->line, &r->sz, r->file)) > 0) {
		if (r->line[len - 1] == '\n')
			r->line[len - 1] = '\0';
		if (!map_event_parse(r->line, r->pid, map))
			return 1;
	}
	return 0;
}

void proc_maps_close(struct proc_maps *r)
{
	free(r->line);
	fclose(r->file);
}
