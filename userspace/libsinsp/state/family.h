/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's process, its ancestors, and those who lead its session and groups. Each process stands
 * for itself with its main thread. Captures may claim that processes are each other's ancestors:
 * no walk is endless.
 */
#ifndef SINSP_STATE_FAMILY_H
#define SINSP_STATE_FAMILY_H

#include <stdint.h>

#include "container/containers.h"

struct sinsp;
struct sinsp_thread;

/* The main thread of its process, or itself where that is not known. */
const struct sinsp_thread *sinsp_family_main(struct sinsp *s, const struct sinsp_thread *t);
/* The main thread of the process that made its process; NULL: not known. */
const struct sinsp_thread *sinsp_family_parent(struct sinsp *s, const struct sinsp_thread *t);
/* 0: of its own process, 1: of its parent... NULL: not known. */
const struct sinsp_thread *sinsp_family_ancestor(struct sinsp *s, const struct sinsp_thread *t,
						 uint64_t n);
/* The number of the process that made its process, known or not; -1: the number is not known. */
int64_t sinsp_family_ppid(struct sinsp *s, const struct sinsp_thread *t);

/* A walk over the ancestors. */
struct sinsp_ancestry {
	struct sinsp *s;
	const struct sinsp_thread *first, *at, *mark;
	uint32_t n, next_mark;
};

void sinsp_ancestry_begin(struct sinsp_ancestry *w, struct sinsp *s, const struct sinsp_thread *t);
/* Parent, grandparent and so on; NULL: no more are known, or they repeat. */
const struct sinsp_thread *sinsp_ancestry_next(struct sinsp_ancestry *w);

enum sinsp_group_kind {
	SINSP_GROUP_SESSION, /* proc.sid */
	SINSP_GROUP_VPGID, /* as numbered in its own pid namespace */
	SINSP_GROUP_PGID, /* as numbered in the first */
};

/* The number of its session or group; -1: not known. */
int64_t sinsp_family_group(const struct sinsp_thread *t, enum sinsp_group_kind kind);
/* Who has that number, or the eldest of the unbroken line of ancestors who are in it too, itself
 * included; NULL: the number is not known. */
const struct sinsp_thread *sinsp_family_leader(struct sinsp *s, const struct sinsp_thread *t,
					       enum sinsp_group_kind kind);

/* Which kind of health check of its container the process is of, SINSP_PROBE_MAX: of none. Those
 * come from outside: no ancestor is the container's first process. */
enum sinsp_probe sinsp_family_probe(struct sinsp *s, const struct sinsp_thread *t);

#endif /* SINSP_STATE_FAMILY_H */
