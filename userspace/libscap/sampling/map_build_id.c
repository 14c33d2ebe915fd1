/* SPDX-License-Identifier: Apache-2.0 */
#include "sampling/map_build_id.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "objfile/elf_file.h"
#include "objfile/open_in_root.h"

enum {
	HOLDS_MS = 2000,
	FREE_US = 2000000, /* before the limit applies: at the start all files are new */
	SHARE = 10, /* a tenth of the time */
};

static uint64_t now_us(void)
{
	return clock_now_ns() / 1000;
}

/* Returns whether there is time for another file. */
static int may_open(struct map_build_ids *ids, uint64_t now)
{
	if (!ids->begin_us)
		ids->begin_us = now;
	return ids->spent_us <= FREE_US + (now - ids->begin_us) / SHARE;
}

/* Opens the file by its name in the process's root or in ours, else through the mapping itself. */
static int open_by_name(const struct code_map *map)
{
	char path[MAP_PATH_MAX], root[96];
	struct stat st;
	int fd;

	if (map->path_len >= sizeof(path))
		return -1;
	memcpy(path, map->path, map->path_len);
	path[map->path_len] = '\0';
	snprintf(root, sizeof(root), "/proc/%u/root", map->pid);
	fd = open_same_in_root(root, path, map->ino, &st);
	if (fd < 0)
		fd = open_same_in_root(NULL, path, map->ino, &st);
	if (fd >= 0)
		return fd;
	snprintf(root, sizeof(root), "/proc/%u/map_files/%llx-%llx", map->pid,
		 (unsigned long long)map->addr, (unsigned long long)(map->addr + map->length));
	return open_same_in_root(NULL, root, map->ino, &st);
}

static void read_build_id(struct code_map *map)
{
	uint8_t id[ELF_BUILD_ID_MAX];
	struct elf_file *elf;
	const int fd = open_by_name(map);
	int len;

	if (fd < 0)
		return;
	if (!elf_file_open(&elf, fd)) {
		len = elf_file_build_id(elf, id);
		if (len > 0 && len <= CODE_BUILD_ID_MAX) {
			map->build_id_len = (uint8_t)len;
			memcpy(map->build_id, id, (size_t)len);
		}
		elf_file_close(elf);
	}
	close(fd);
}

void map_build_id_find(struct map_build_ids *ids, struct code_map *map)
{
	const uint64_t hash = (map->ino ^ (uint64_t)map->minor << 20) * 0x9e3779b97f4a7c15ull;
	struct map_build_id *b = &ids->v[hash >> 40 & (MAP_BUILD_IDS - 1)];
	uint64_t now;

	if (map->build_id_len || !map->ino || !map->path_len || map->path[0] != '/')
		return;
	now = now_us();
	if (b->until_ms > now / 1000 && b->ino == map->ino && b->ino_gen == map->ino_gen &&
	    b->major == map->major && b->minor == map->minor) {
		map->build_id_len = b->len;
		memcpy(map->build_id, b->id, sizeof(map->build_id));
		return;
	}
	if (!may_open(ids, now)) {
		ids->n_left_out++;
		return;
	}
	read_build_id(map);
	ids->spent_us += now_us() - now;
	*b = (struct map_build_id){.ino = map->ino,
				   .ino_gen = map->ino_gen,
				   .until_ms = now / 1000 + HOLDS_MS,
				   .major = map->major,
				   .minor = map->minor,
				   .len = map->build_id_len};
	memcpy(b->id, map->build_id, sizeof(b->id));
}
