/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much may be done for one file: whoever made it wanted it to be what it is. Counted in steps
 * of some nanoseconds each: an instruction, an entry, eight bytes that are looked through.
 */
#ifndef SCAP_UNWIND_UNWIND_WORK_H
#define SCAP_UNWIND_UNWIND_WORK_H

#include <errno.h>
#include <stdint.h>

#define UNWIND_WORK_MAX (64ull << 20) /* steps for a file: the largest browser takes a tenth */
#define UNWIND_PROCESS_WORK_MAX (4 * UNWIND_WORK_MAX) /* for files that nobody had before it */
#define UNWIND_CFI_MAX (128ull << 20) /* bytes of a section of call frame information */
#define UNWIND_FUNCTIONS_MAX (4u << 20) /* of a file, by such a section */

struct unwind_work {
	uint64_t left;
	uint64_t unasked; /* steps since is_stopped was called */
	int (*is_stopped)(void *ctx); /* NULL: nothing stops it */
	void *ctx;
};

#define UNWIND_WORK_ASK (1u << 16)

/* 0; -E2BIG: that is too much; -ECANCELED: nobody waits for it any more. @w NULL: no bound. */
static inline int unwind_work_take(struct unwind_work *w, uint64_t steps)
{
	if (!w)
		return 0;
	if (steps > w->left) {
		w->left = 0;
		return -E2BIG;
	}
	w->left -= steps;
	w->unasked += steps;
	if (w->unasked < UNWIND_WORK_ASK || !w->is_stopped)
		return 0;
	w->unasked = 0;
	return w->is_stopped(w->ctx) ? -ECANCELED : 0;
}

#endif /* SCAP_UNWIND_UNWIND_WORK_H */
