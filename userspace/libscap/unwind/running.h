/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the processes that run now, in the order in which their tables are built. */
#ifndef SCAP_UNWIND_RUNNING_H
#define SCAP_UNWIND_RUNNING_H

#include <stddef.h>
#include <stdint.h>

/* Processes that somebody has chosen. */
struct chosen_procs {
	const int32_t *pids;
	size_t n;
	int only; /* no others are needed */
	int descendants; /* with only: all descendants of these, too */
};

struct running {
	uint32_t pid, parent;
	uint64_t cpu; /* ticks used */
	int chosen;
};

int is_chosen(const struct chosen_procs *c, uint32_t pid);
int is_running(const struct running *v, size_t n, uint32_t pid);

/* Returns their number: those chosen come first, then those with the most CPU time. The caller
 * frees *out, which is NULL for none. */
size_t running_list(struct running **out, const struct chosen_procs *c);

#endif /* SCAP_UNWIND_RUNNING_H */
