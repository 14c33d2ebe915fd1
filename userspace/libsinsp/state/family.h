/* SPDX-License-Identifier: Apache-2.0 */
/* Ancestors, sessions and process groups. A process is represented by its main thread. A hostile
 * capture may have processes that are each other's ancestors: every walk ends. */
#ifndef SINSP_STATE_FAMILY_H
#define SINSP_STATE_FAMILY_H

#include <stdint.h>

#include "container/containers.h"

struct sinsp;
struct sinsp_thread;

/* Returns the main thread of the process, or @t if it is unknown. */
const struct sinsp_thread *sinsp_family_main(struct sinsp *s, const struct sinsp_thread *t);
/* Returns the main thread of the parent process, or NULL. */
const struct sinsp_thread *sinsp_family_parent(struct sinsp *s, const struct sinsp_thread *t);
/* Returns the main thread of the process (0), of its parent (1), and so on, or NULL. */
const struct sinsp_thread *sinsp_family_ancestor(struct sinsp *s, const struct sinsp_thread *t,
						 uint64_t n);
/* Returns the PID of the parent, even if no such process is known; -1: unknown. */
int64_t sinsp_family_ppid(struct sinsp *s, const struct sinsp_thread *t);

/* A walk over ancestors. */
struct sinsp_ancestry {
	struct sinsp *s;
	const struct sinsp_thread *first, *at, *mark;
	uint32_t n, next_mark;
};

void sinsp_ancestry_begin(struct sinsp_ancestry *w, struct sinsp *s, const struct sinsp_thread *t);
/* Returns parent, grandparent and so on; NULL at the end, or if they repeat. */
const struct sinsp_thread *sinsp_ancestry_next(struct sinsp_ancestry *w);

enum sinsp_group_kind {
	SINSP_GROUP_SESSION, /* proc.sid */
	SINSP_GROUP_VPGID, /* numbered in its own PID namespace */
	SINSP_GROUP_PGID, /* numbered in the initial PID namespace */
};

/* Returns the number of the session or group; -1: unknown. */
int64_t sinsp_family_group(const struct sinsp_thread *t, enum sinsp_group_kind kind);
/* Returns the thread with that number, else the oldest ancestor of an unbroken line in the same
 * group. NULL: the number is unknown. */
const struct sinsp_thread *sinsp_family_leader(struct sinsp *s, const struct sinsp_thread *t,
					       enum sinsp_group_kind kind);

/* Returns which health check of its container the process belongs to, SINSP_PROBE_MAX: none. Health
 * checks start outside: the first process of the container is no ancestor of theirs. */
enum sinsp_probe sinsp_family_probe(struct sinsp *s, const struct sinsp_thread *t);

#endif /* SINSP_STATE_FAMILY_H */
