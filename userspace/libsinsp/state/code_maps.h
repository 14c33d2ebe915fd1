/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of which file a process can execute where: as of the last event, since a mapping takes the
 * place of what was there, an exec begins anew, and a fork has what its parent has until one of
 * the two changes it. So an address of a stack is looked up when its sample comes, not later.
 */
#ifndef SINSP_STATE_CODE_MAPS_H
#define SINSP_STATE_CODE_MAPS_H

#include <stddef.h>
#include <stdint.h>

#define SINSP_BUILD_ID_MAX 20 /* what the kernel tells */
#define SINSP_CODE_FILES_MAX (1u << 17)
#define SINSP_CODE_MAPS_MAX (8u << 20) /* of all processes */

/* Who a file is. A build id says it for all machines, the rest for one. */
struct sinsp_code_id {
	uint64_t ino, ino_gen;
	uint32_t dev;
	uint8_t build_id_len; /* 0: not known */
	uint8_t build_id[SINSP_BUILD_ID_MAX];
};

/* A file that is or was executed. It stays, so that what is known of it does. */
struct sinsp_code_file {
	struct sinsp_code_id id;
	const char *path; /* as the process saw it that had it first */
	int64_t pid; /* that process */
	uint64_t start, end; /* where it had it */
	uint64_t offset; /* of start in the file */
	uint64_t seen_ns; /* when, since the epoch; 0: not told */
	uint32_t number; /* from 0, in the order of their coming */
	uint32_t next; /* in the bucket: number + 1 */
};

struct sinsp_code_map {
	uint64_t start, end; /* addresses */
	uint64_t offset; /* of start in the file */
	struct sinsp_code_file *file;
};

struct code_table; /* of a process, or of several that are alike */

struct sinsp_code_maps {
	struct code_slot {
		int64_t pid;
		struct code_table *table; /* NULL: free */
	} * slots;
	uint32_t n_slots, n; /* a power of two; processes */
	struct sinsp_code_file **files;
	uint32_t n_files, cap_files;
	uint32_t *buckets; /* of files: number + 1; 0: none */
	uint32_t n_buckets;
	size_t n_maps; /* of all tables */
	uint64_t n_refused; /* mappings and files for which there was no room */
};

void sinsp_code_maps_fini(struct sinsp_code_maps *m);

/* The file, which is new or known. NULL: no memory, or too many. @path need not end with a NUL. */
struct sinsp_code_file *sinsp_code_file_get(struct sinsp_code_maps *m,
					    const struct sinsp_code_id *id, const char *path,
					    size_t path_len);

/* Each: 0, or -ENOMEM. */
int sinsp_code_map_add(struct sinsp_code_maps *m, int64_t pid, const struct sinsp_code_map *map);
int sinsp_code_maps_fork(struct sinsp_code_maps *m, int64_t pid, int64_t parent);
/* An exec, or the end of the process. */
void sinsp_code_maps_drop(struct sinsp_code_maps *m, int64_t pid);

/* NULL: nothing that is known of is there. Borrowed until the next change. */
const struct sinsp_code_map *sinsp_code_map_find(const struct sinsp_code_maps *m, int64_t pid,
						 uint64_t addr);

/* The path of a jitdump that the process has mapped, to tell that it is there; NULL: none. */
const char *sinsp_code_maps_dump(const struct sinsp_code_maps *m, int64_t pid);

/* Calls @fn for each process and mapping; another result than 0 ends it and is returned. */
int sinsp_code_maps_each(const struct sinsp_code_maps *m,
			 int (*fn)(void *ctx, int64_t pid, const struct sinsp_code_map *map),
			 void *ctx);

#endif /* SINSP_STATE_CODE_MAPS_H */
