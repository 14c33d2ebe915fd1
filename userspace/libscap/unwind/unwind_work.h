/* SPDX-License-Identifier: Apache-2.0 */
/* The work limit: how much is done for one file, since its maker may be hostile. Counted in steps
 * of some nanoseconds each: an instruction, an entry, eight bytes that are searched. */
#ifndef SCAP_UNWIND_UNWIND_WORK_H
#define SCAP_UNWIND_UNWIND_WORK_H

#include <errno.h>
#include <stdint.h>

#define UNWIND_WORK_MAX (64ull << 20) /* steps per file: the largest browser takes a tenth */
#define UNWIND_PROCESS_WORK_MAX                                                                    \
	(4 * UNWIND_WORK_MAX) /* steps per process, for files that no process had before it */
#define UNWIND_CFI_MAX (128ull << 20) /* maximum size of a section of call frame information */
#define UNWIND_FUNCTIONS_MAX (4u << 20) /* maximum number of functions, by such a section */

struct unwind_work {
	uint64_t left;
	uint64_t unpolled; /* steps since is_stopped was called */
	int (*is_stopped)(void *ctx); /* NULL: never */
	void *ctx;
};

#define UNWIND_WORK_POLL (1u << 16)

/* Takes steps. Returns 0; -E2BIG: limit exceeded; -ECANCELED: stopped. @w NULL: no limit. */
static inline int unwind_work_spend(struct unwind_work *w, uint64_t steps)
{
	if (!w)
		return 0;
	if (steps > w->left) {
		w->left = 0;
		return -E2BIG;
	}
	w->left -= steps;
	w->unpolled += steps;
	if (w->unpolled < UNWIND_WORK_POLL || !w->is_stopped)
		return 0;
	w->unpolled = 0;
	return w->is_stopped(w->ctx) ? -ECANCELED : 0;
}

#endif /* SCAP_UNWIND_UNWIND_WORK_H */
