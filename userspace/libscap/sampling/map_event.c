/* SPDX-License-Identifier: Apache-2.0 */
#include "sampling/map_event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "event/event_build.h"
#include "shared/events.h"

uint32_t map_event_dev(const struct code_map *map)
{
	return (map->minor & 0xff) | map->major << 8 | (map->minor & ~0xffu) << 12;
}

/* The bits of prot_flags are PROT_*. */
void map_event_build(void *buf, uint64_t boot_ns, const struct code_map *map)
{
	const int64_t pid = map->pid;
	const uint32_t dev = map_event_dev(map);
	const size_t most = MAP_PATH_MAX - 1, len = map->path_len < most ? map->path_len : most;
	char path[MAP_PATH_MAX];
	const struct evt_value values[] = {
		{&pid, sizeof(pid)},
		{&map->addr, sizeof(map->addr)},
		{&map->length, sizeof(map->length)},
		{&map->offset, sizeof(map->offset)},
		{&map->prot, sizeof(map->prot)},
		{&dev, sizeof(dev)},
		{&map->ino, sizeof(map->ino)},
		{&map->ino_gen, map->ino_gen ? sizeof(map->ino_gen) : 0},
		{path, (uint16_t)(len + 1)},
		{map->build_id, map->build_id_len},
	};

	memcpy(path, map->path, len);
	path[len] = '\0';
	scap_evt_build(buf, MAP_EVENT_MAX, EVT_MAP_E, boot_ns, map->pid, values,
		       sizeof(values) / sizeof(values[0]));
}

/* In the kernel's text a newline in a name is \012. */
static size_t unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from;) {
		if (strncmp(from, "\\012", 4) == 0) {
			*to++ = '\n';
			from += 4;
		} else {
			*to++ = *from++;
		}
	}
	*to = '\0';
	return (size_t)(to - path);
}

int map_event_parse(char *line, uint32_t pid, struct code_map *map)
{
	uint64_t end;
	char prot[5];
	int at = 0;

	*map = (struct code_map){.pid = pid};
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 "%n", &map->addr,
		   &end, prot, &map->offset, &map->major, &map->minor, &map->ino, &at) < 7 ||
	    end <= map->addr || strlen(prot) != 4)
		return -EBADMSG;
	if (prot[2] != 'x')
		return -ENOENT;
	map->length = end - map->addr;
	map->prot =
		(prot[0] == 'r' ? PROT_READ : 0) | (prot[1] == 'w' ? PROT_WRITE : 0) | PROT_EXEC;
	line += at;
	line += strspn(line, " ");
	map->path = line;
	map->path_len = unescape(line);
	return 0;
}
