/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the records of a jitdump file tell: functions and lines of code that a program made, each
 * from a time on. One address has another function after code was moved or replaced, so a search
 * has a time. The records are hostile: how much is kept is bounded.
 */
#ifndef SINSP_SYMBOLS_JIT_DUMP_H
#define SINSP_SYMBOLS_JIT_DUMP_H

#include <stddef.h>
#include <stdint.h>

#include "symtab.h"

#define JIT_DUMP_MAX_CODE (1ull << 30) /* bytes of one function */
#define JIT_DUMP_MAX_RECORD (64u << 20)
#define JIT_ADDR_END (1ull << 56)
#define JIT_LATEST UINT64_MAX /* as a time: what was told last */

enum { JIT_DUMP_LOAD, JIT_DUMP_MOVE, JIT_DUMP_DEBUG_INFO, JIT_DUMP_MAX };

struct jit_dump;

struct jit_dump *jit_dump_new(void); /* NULL: no memory */
void jit_dump_free(struct jit_dump *d);

/* @body ends with a NUL behind its last byte. 0 or -ENOMEM; what makes no sense is left out. */
int jit_dump_add(struct jit_dump *d, uint32_t id, uint64_t ts_ns, const char *body, size_t len);

/* Makes what was added ready to be searched: what takes time is done where the file is read. 0 or
 * -ENOMEM. */
int jit_dump_seal(struct jit_dump *d);

/* 1 with the function that was there at @ts_ns, or 0; *file NULL: its line is not known. Texts are
 * borrowed until the next call of jit_dump_add. */
int jit_dump_find(struct jit_dump *d, uint64_t addr, uint64_t ts_ns, struct symtab_sym *out,
		  const char **file, uint32_t *line);

uint64_t jit_dump_steps(const struct jit_dump *d); /* that all searches took */
size_t jit_dump_bytes(const struct jit_dump *d);

#endif /* SINSP_SYMBOLS_JIT_DUMP_H */
