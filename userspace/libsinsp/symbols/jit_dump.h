/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of a jitdump file: functions and lines of JIT code, each valid from a time on. After code
 * is moved or replaced, an address has another function, so a search has a time. The records are
 * hostile: how much is kept is bounded.
 */
#ifndef SINSP_SYMBOLS_JIT_DUMP_H
#define SINSP_SYMBOLS_JIT_DUMP_H

#include <stddef.h>
#include <stdint.h>

#include "symtab.h"

#define JIT_DUMP_MAX_CODE (1ull << 30) /* maximum bytes of one function */
#define JIT_DUMP_MAX_RECORD (64u << 20)
#define JIT_ADDR_END (1ull << 56)
#define JIT_LATEST UINT64_MAX /* as a time: the latest */

enum { JIT_DUMP_LOAD, JIT_DUMP_MOVE, JIT_DUMP_DEBUG_INFO, JIT_DUMP_MAX };

struct jit_dump;

struct jit_dump *jit_dump_new(void); /* NULL: no memory */
void jit_dump_free(struct jit_dump *d);

/* A NUL follows @body. Returns 0 or -ENOMEM; invalid records are left out. */
int jit_dump_add(struct jit_dump *d, uint32_t id, uint64_t ts_ns, const char *body, size_t len);

/* Prepares added records for searches: slow work is done where the file is read. Returns 0 or
 * -ENOMEM. */
int jit_dump_seal(struct jit_dump *d);

/* Returns 1 with the function that was there at @ts_ns, or 0; *file NULL: its line is unknown.
 * Texts are borrowed until the next call of jit_dump_add. */
int jit_dump_find(struct jit_dump *d, uint64_t addr, uint64_t ts_ns, struct symtab_sym *out,
		  const char **file, uint32_t *line);

uint64_t jit_dump_steps(const struct jit_dump *d); /* total steps of all searches */
int jit_dump_is_cut(const struct jit_dump *d); /* whether a bound left out records */
size_t jit_dump_bytes(const struct jit_dump *d);

#endif /* SINSP_SYMBOLS_JIT_DUMP_H */
