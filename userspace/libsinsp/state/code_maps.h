/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executable mappings of each process, as of the last event: a new mapping replaces what was there,
 * exec clears all, and a fork shares its parent's until one of the two changes. So an address of a
 * stack is looked up when its sample arrives.
 */
#ifndef SINSP_STATE_CODE_MAPS_H
#define SINSP_STATE_CODE_MAPS_H

#include <stddef.h>
#include <stdint.h>

#define SINSP_BUILD_ID_MAX 20 /* maximum length in the kernel */
#define SINSP_CODE_FILES_MAX (1u << 17)
#define SINSP_CODE_MAPS_MAX (8u << 20) /* of all processes */
#define SINSP_CODE_MAPS_PROCESS_MAX (1u << 16) /* of one: the kernel allows 65530 by default */

/* Identity of a file. A build ID is valid on all machines, the rest on one. */
struct sinsp_code_id {
	uint64_t ino, ino_gen;
	uint32_t dev;
	uint8_t build_id_len; /* 0: unknown */
	uint8_t build_id[SINSP_BUILD_ID_MAX];
};

/* A file that is or was executed. It is kept for all of the capture. */
struct sinsp_code_file {
	struct sinsp_code_id id;
	const char *path; /* as seen by the first process that mapped it */
	int64_t pid; /* of that process */
	uint64_t start, end; /* where that process mapped it */
	uint64_t offset; /* file offset of start */
	uint64_t seen_ns; /* time of the event, since the epoch; 0: unknown */
	uint32_t number; /* from 0, in order of appearance */
	uint32_t next; /* in the hash bucket: number + 1 */
};

struct sinsp_code_map {
	uint64_t start, end; /* addresses */
	uint64_t offset; /* file offset of start */
	struct sinsp_code_file *file;
};

struct code_table; /* of a process, or shared after fork */

struct sinsp_code_maps {
	struct code_slot {
		int64_t pid;
		struct code_table *table; /* NULL: free */
	} * slots;
	uint32_t n_slots, n; /* n_slots is a power of two; n processes */
	struct sinsp_code_file **files;
	uint32_t n_files, cap_files;
	uint32_t *buckets; /* of files: number + 1; 0: none */
	uint32_t n_buckets;
	size_t n_maps; /* in all tables */
	uint64_t n_refused; /* mappings and files dropped for lack of room */
};

void sinsp_code_maps_fini(struct sinsp_code_maps *m);

/* Returns the file, added if it is new. NULL: no memory, or too many. @path may lack a NUL. */
struct sinsp_code_file *sinsp_code_file_get(struct sinsp_code_maps *m,
					    const struct sinsp_code_id *id, const char *path,
					    size_t path_len);

/* Return 0 or -ENOMEM. */
int sinsp_code_map_add(struct sinsp_code_maps *m, int64_t pid, const struct sinsp_code_map *map);
int sinsp_code_maps_fork(struct sinsp_code_maps *m, int64_t pid, int64_t parent);
/* Removes the mappings of a process after an exec, or at its end. */
void sinsp_code_maps_drop(struct sinsp_code_maps *m, int64_t pid);

/* Returns the mapping at @addr, or NULL. Borrowed until the next change. */
const struct sinsp_code_map *sinsp_code_map_find(const struct sinsp_code_maps *m, int64_t pid,
						 uint64_t addr);

/* Returns the path of a jitdump file that the process has mapped, or NULL. */
const char *sinsp_code_maps_dump(const struct sinsp_code_maps *m, int64_t pid);

/* Calls @fn for each mapping of each process until it returns nonzero, and returns that. */
int sinsp_code_maps_each(const struct sinsp_code_maps *m,
			 int (*fn)(void *ctx, int64_t pid, const struct sinsp_code_map *map),
			 void *ctx);

#endif /* SINSP_STATE_CODE_MAPS_H */
