/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that make code while they run: what their files say of it, read again as it grows. */
#ifndef SINSP_SYMBOLS_JIT_PROCESS_H
#define SINSP_SYMBOLS_JIT_PROCESS_H

#include "jit_map.h"

enum { JIT_PROCESSES = 256 }; /* of more, some are forgotten and read anew */

struct jit_processes {
	struct jit_process *v[JIT_PROCESSES];
};

struct jit_process_key {
	int64_t pid, vpid; /* vpid: what the process calls itself */
	uid_t owner; /* whose word is taken */
	const char *dump; /* path of a jitdump that it has mapped; NULL: none */
	uint64_t mono_ns; /* CLOCK_MONOTONIC when the code ran */
	int live; /* the process may be there, with its own view of /tmp */
};

/* 1 with the symbol, and the line if there is one (*file NULL: not); 0; -ENOMEM. Texts are borrowed
 * until the next call. */
int jit_process_find(struct jit_processes *jp, const struct jit_process_key *key, uint64_t addr,
		     struct symtab_sym *out, const char **file, uint32_t *line);
void jit_processes_fini(struct jit_processes *jp);

#endif /* SINSP_SYMBOLS_JIT_PROCESS_H */
