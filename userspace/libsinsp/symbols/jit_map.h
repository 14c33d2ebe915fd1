/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of JIT code, as written by the program itself: in /tmp/perf-PID.map, a line for each
 * function, or in a jitdump file. Both only grow, unless the program begins a new one, which then
 * replaces the old; both may be hostile: reads are bounded, and only files written by the program's
 * user or root are used.
 */
#ifndef SINSP_SYMBOLS_JIT_MAP_H
#define SINSP_SYMBOLS_JIT_MAP_H

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "jit_dump.h"

#define JIT_MAP_MAX_BYTES (256ll << 20) /* maximum size of a file */
#define JIT_MAP_MAX_CODES (1u << 20) /* functions of a perf map: later ones are left out */

struct jit_map; /* the content of one file of one process */

struct jit_map *jit_map_new(void); /* NULL: no memory */
void jit_map_free(struct jit_map *m);

/*
 * Reads what was added to the file behind @fd, of either kind, piece by piece if it is much; the
 * caller keeps the descriptor. Returns 1 if there is more than before; 0; -ENOMEM; -EPERM: it
 * belongs neither to @owner nor to root; -EBADMSG: invalid. Earlier content stays, unless the file
 * was rewritten or replaced.
 */
int jit_map_read(struct jit_map *m, int fd, uid_t owner);
/* The same for the file with status @st, of which @fd may be open on a copy. */
int jit_map_read_of(struct jit_map *m, int fd, const struct stat *st, uid_t owner);

/*
 * Returns 1 with the function that was at @addr at this time of CLOCK_MONOTONIC (JIT_LATEST: the
 * latest), or 0. A perf-PID.map has no times: the latest. *file is NULL unless a jitdump has the
 * line. Texts are borrowed until the next call of jit_map_read.
 */
int jit_map_find(struct jit_map *m, uint64_t addr, uint64_t mono_ns, struct symtab_sym *out,
		 const char **file, uint32_t *line);

size_t jit_map_count(const struct jit_map *m); /* lines of a perf map that were used */
int jit_map_is_cut(const struct jit_map *m); /* whether a bound left out a part of the file */
size_t jit_map_bytes(const struct jit_map *m);

#endif /* SINSP_SYMBOLS_JIT_MAP_H */
