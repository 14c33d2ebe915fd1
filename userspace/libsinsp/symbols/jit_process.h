/* SPDX-License-Identifier: Apache-2.0 */
/* Processes with JIT code: the content of their perf maps and jitdump files, read again as these
 * grow. */
#ifndef SINSP_SYMBOLS_JIT_PROCESS_H
#define SINSP_SYMBOLS_JIT_PROCESS_H

#include "jit_map.h"

enum {
	JIT_PROCESSES = 256
}; /* maximum; beyond, the least recently used are dropped, and read again */
#define JIT_BYTES_MAX                                                                              \
	((size_t)512 << 20) /* maximum memory of all but the one in use; beyond, the same */

/* Zeroed, it is empty. Any user can have processes with files that take long to read, or the same
 * file for each of them: the time for all is bounded. */
struct jit_processes {
	struct jit_process *v[JIT_PROCESSES]; /* unordered; those in use come first */
	size_t n, n_bytes;
	size_t max_bytes; /* 0: JIT_BYTES_MAX */
	uint64_t n_uses;
	uint64_t n_cut; /* files cut at a limit */
	uint64_t n_late; /* searches without a read, which had taken its share of time */
	uint64_t begin_ms,
		spent_ms; /* when the first file was read; time spent on all files since */
};

struct jit_process_key {
	int64_t pid, vpid; /* vpid: its PID in its own namespace */
	uid_t owner; /* the user whose files are trusted */
	const char *dump; /* path of a jitdump that it has mapped; NULL: none */
	uint64_t mono_ns; /* CLOCK_MONOTONIC when the code ran */
	int live; /* the process may still exist, with its own view of /tmp */
};

/* Returns 1 with the symbol, and the line if known (else *file is NULL); 0; -ENOMEM. Texts are
 * borrowed until the next call. */
int jit_process_find(struct jit_processes *jp, const struct jit_process_key *key, uint64_t addr,
		     struct symtab_sym *out, const char **file, uint32_t *line);
void jit_processes_fini(struct jit_processes *jp);

#endif /* SINSP_SYMBOLS_JIT_PROCESS_H */
