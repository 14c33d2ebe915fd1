/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread waits for, by the call that it is in. */
#ifndef SINSP_TIMELINE_WAIT_KIND_H
#define SINSP_TIMELINE_WAIT_KIND_H

#include <stdint.h>

struct sinsp_fd;

/* Values of slice_kinds in flags.def. Blocked: from SLICE_FILE on. */
enum slice_kind {
	SLICE_UNKNOWN,
	SLICE_RUNNING,
	SLICE_RUNNABLE,
	SLICE_FILE,
	SLICE_NETWORK,
	SLICE_LOCK,
	SLICE_SLEEP,
	SLICE_POLL,
	SLICE_PIPE,
	SLICE_PAGE_FAULT,
	SLICE_CHILD,
	SLICE_OTHER,
	SLICE_STOPPED,
	SLICE_THROTTLED,
	SLICE_FROZEN,
	SLICE_KINDS
};

#define SLICE_NO_CALL UINT32_MAX

/* Returns whether the first argument of @call is a descriptor; @call as in the parameter call of
 * switch: the number, with SAMPLE_CALL_IA32. */
int slice_call_has_fd(uint32_t call);
/* Returns whether the first argument of @call is the address of a lock. */
int slice_call_has_lock(uint32_t call);
/* Returns whether @call waits for any of several descriptors. */
int slice_call_watches(uint32_t call);
int slice_call_connects(uint32_t call);

/* Returns the kind of a wait for @fd. */
enum slice_kind slice_kind_of_fd(const struct sinsp_fd *fd);
/* Returns the kind of a wait in @call on @fd (NULL: none, or unknown). @state: task_states. */
enum slice_kind slice_kind_of(uint32_t call, const struct sinsp_fd *fd, unsigned int state);

#endif /* SINSP_TIMELINE_WAIT_KIND_H */
