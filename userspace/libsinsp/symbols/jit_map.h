/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of code that a program makes while it runs, as the program tells them: in
 * /tmp/perf-PID.map, a line for each function, or in a jitdump file. Both only grow, and both are
 * the program's own word: they are read with bounds, and only if the program's user, or root, wrote
 * them.
 */
#ifndef SINSP_SYMBOLS_JIT_MAP_H
#define SINSP_SYMBOLS_JIT_MAP_H

#include <stdint.h>
#include <sys/types.h>

#include "symtab.h"

#define JIT_MAP_MAX_BYTES (256ll << 20) /* of a file */

struct jit_map; /* what one file tells of one process */

struct jit_map *jit_map_new(void); /* NULL: no memory */
void jit_map_free(struct jit_map *m);

/*
 * Reads what is new in the file, of either kind, that @fd is open on; the descriptor stays the
 * caller's. 1: there is more than before; 0: there is not; -ENOMEM; -EPERM: it is neither @owner's
 * nor root's; -EBADMSG: it cannot be. What was read before stays.
 */
int jit_map_read(struct jit_map *m, int fd, uid_t owner);

/* As symtab_find. */
int jit_map_find(const struct jit_map *m, uint64_t addr, struct symtab_sym *out);
/* The line of source that a jitdump told of the address: 1 with *file borrowed from the map, or 0.
 */
int jit_map_line(const struct jit_map *m, uint64_t addr, const char **file, uint32_t *line);

size_t jit_map_bytes(const struct jit_map *m);

#endif /* SINSP_SYMBOLS_JIT_MAP_H */
