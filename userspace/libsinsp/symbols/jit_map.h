/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of code that a program makes while it runs, as the program tells them: in
 * /tmp/perf-PID.map, a line for each function, or in a jitdump file. Both only grow, unless the
 * program begins another one, which is then all that counts; and both are the program's own word:
 * they are read with bounds, and only if the program's user, or root, wrote them.
 */
#ifndef SINSP_SYMBOLS_JIT_MAP_H
#define SINSP_SYMBOLS_JIT_MAP_H

#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "jit_dump.h"

#define JIT_MAP_MAX_BYTES (256ll << 20) /* of a file */
#define JIT_MAP_MAX_CODES (1u << 20) /* functions of a perf map: what comes after is left out */

struct jit_map; /* what one file tells of one process */

struct jit_map *jit_map_new(void); /* NULL: no memory */
void jit_map_free(struct jit_map *m);

/*
 * Reads what is new in the file, a part of it where that is much, of either kind, that @fd is open
 * on; the descriptor stays the caller's. 1: there is more than before; 0: there is not; -ENOMEM;
 * -EPERM: it is neither @owner's nor root's; -EBADMSG: it cannot be. What was read before stays,
 * unless the file was written anew, or is another one.
 */
int jit_map_read(struct jit_map *m, int fd, uid_t owner);
/* The same of the file that is @st, of which @fd may be open on a copy. */
int jit_map_read_of(struct jit_map *m, int fd, const struct stat *st, uid_t owner);

/*
 * 1 with the function that was at @addr at this time of CLOCK_MONOTONIC, JIT_LATEST: of the last
 * one told, or 0. A perf-PID.map has no times: the last one. *file is NULL unless a jitdump told
 * the line. Texts are borrowed until the next call of jit_map_read.
 */
int jit_map_find(struct jit_map *m, uint64_t addr, uint64_t mono_ns, struct symtab_sym *out,
		 const char **file, uint32_t *line);

size_t jit_map_count(const struct jit_map *m); /* lines of a perf map that were taken */
size_t jit_map_bytes(const struct jit_map *m);

#endif /* SINSP_SYMBOLS_JIT_MAP_H */
