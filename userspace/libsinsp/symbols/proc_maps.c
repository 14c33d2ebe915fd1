/* SPDX-License-Identifier: Apache-2.0 */
#include "proc_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINES = 1 << 17 };

/* "START-END r-xp OFFSET MAJOR:MINOR INODE   PATH"; 0: not that, or no code of a file. */
static int parse_line(struct sinsp_code_map *map, struct sinsp_code_id *id, char **path, char *line)
{
	unsigned long long start, end, offset, ino;
	unsigned int major, minor;
	char prot[5];
	int at = 0;

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, prot, &offset, &major,
		   &minor, &ino, &at) != 7 ||
	    !at || prot[2] != 'x')
		return 0;
	*path = line + at;
	(*path)[strcspn(*path, "\n")] = '\0';
	if (!ino && strcmp(*path, "[vdso]") != 0)
		return 0;
	*map = (struct sinsp_code_map){.start = start, .end = end, .offset = offset};
	*id = (struct sinsp_code_id){.ino = ino, .dev = major << 20 | minor};
	return 1;
}

static int add_line(struct sinsp_code_maps *m, int64_t pid, char *line)
{
	struct sinsp_code_map map;
	struct sinsp_code_id id;
	char *path;

	if (!parse_line(&map, &id, &path, line))
		return 0;
	map.file = sinsp_code_file_get(m, &id, path, strlen(path));
	if (!map.file)
		return 0;
	if (map.file->pid == -1) {
		map.file->pid = pid;
		map.file->start = map.start;
		map.file->end = map.end;
	}
	return sinsp_code_map_add(m, pid, &map);
}

int sinsp_proc_maps_read(struct sinsp_code_maps *m, int64_t pid, FILE *maps)
{
	char *line = NULL;
	size_t cap = 0;
	int err = 0;

	for (int n = 0; !err && n < MAX_LINES && getline(&line, &cap, maps) > 0; n++)
		err = add_line(m, pid, line);
	free(line);
	return err;
}

int sinsp_proc_maps_load(struct sinsp_code_maps *m, int64_t pid)
{
	char path[64];
	FILE *f;
	int err;

	snprintf(path, sizeof(path), "/proc/%lld/maps", (long long)pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	err = sinsp_proc_maps_read(m, pid, f);
	fclose(f);
	return err;
}
