/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions and lines at an address of compiled code. Finding them may take a walker hundreds of
 * reads, of several tables, so they are kept by address. A key has a checksum of the code, which
 * may be freed or moved.
 */
#ifndef DRIVER_SCRIPT_PLACES_BPF_H
#define DRIVER_SCRIPT_PLACES_BPF_H

#include "script_codes.bpf.h"
#include "shared/user_walk.h"

#define PLACES_MAX 16384
#define PLACE_FUNCTIONS 12 /* maximum number of functions at an address: one, and inlined ones */

/* Part of a map's key. */
struct script_place_key {
	u64 space; /* user_walk.space */
	u64 pc;
	u64 check;
};

/* A function, as script_used and walk_put_code take it. */
struct script_place_function {
	u64 code, at, file;
	u32 position, check;
};

struct script_place {
	u32 n;
	u32 again; /* walk_is_due */
	u64 code, check; /* of a walker that checks the code again: where it is, and a checksum */
	struct script_place_function functions[PLACE_FUNCTIONS]; /* innermost first */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, PLACES_MAX);
	__type(key, struct script_place_key);
	__type(value, struct script_place);
} script_places SEC(".maps");

/* Where a walker puts together a place, by depth of nesting. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, DRV_LEVELS + 1); /* and of a thread that waits: waits.bpf.c */
	__type(key, u32);
	__type(value, struct script_place);
} places_new SEC(".maps");

static __always_inline struct script_place *place_new(const struct user_walk *w)
{
	const u32 level = w->level;

	return bpf_map_lookup_elem(&places_new, &level);
}

/* Copies a place to the new one, with as many functions as it has. */
static __always_inline void place_copy(struct script_place *to, const struct script_place *from)
{
	const u32 n = ONCE(from->n);

	if (n > 1) {
		*to = *from;
	} else {
		to->code = from->code;
		to->check = from->check;
		to->functions[0] = from->functions[0];
	}
	to->n = n;
}

/* Copies what is kept to the new place, and returns that. NULL: not kept, or to be searched again.
 * Another CPU may take the element of the map for another place meanwhile: then the key no longer
 * leads to it. */
static __always_inline const struct script_place *place_find(const struct user_walk *w, u64 pc,
							     u64 check)
{
	const struct script_place_key key = {.space = w->space, .pc = pc, .check = check};
	struct script_place *kept = bpf_map_lookup_elem(&script_places, &key);
	struct script_place *to = place_new(w);

	if (!kept || !to || walk_is_due(&kept->again))
		return NULL;
	place_copy(to, kept);
	barrier();
	return bpf_map_lookup_elem(&script_places, &key) == kept ? to : NULL;
}

/* Begins a new place. Returns not 0 if there is none. */
static __always_inline int place_begin(const struct user_walk *w)
{
	struct script_place *place = place_new(w);

	if (!place)
		return -1;
	place->n = place->again = 0;
	place->code = place->check = 0;
	return 0;
}

/* Appends a function to the new place; without effect if it is full. Verified on its own. */
WALK_FUNC int place_add(const struct user_walk *w, const struct script_place_function *f)
{
	struct script_place *place = w && f ? place_new(w) : NULL;
	u32 n;

	if (!place)
		return -1;
	n = place->n;
	if (n >= PLACE_FUNCTIONS)
		return 0;
	place->functions[n] = *f;
	place->n = n + 1;
	return 0;
}

/* Keeps the new place. Verified on its own. */
WALK_FUNC int place_keep(const struct user_walk *w, u64 pc, u64 check)
{
	struct script_place_key key = {.pc = pc, .check = check};
	const struct script_place *place = w ? place_new(w) : NULL;

	if (!place)
		return -1;
	key.space = w->space;
	return bpf_map_update_elem(&script_places, &key, place, BPF_ANY);
}

/* Puts the frames of a place, which may be the new one. Returns not 0 if the walk ends. */
static __always_inline int place_put(struct user_walk *w, u32 walker,
				     const struct script_place *place)
{
	for (u32 i = 0; i < PLACE_FUNCTIONS && i < place->n; i++) {
		const struct script_place_function *f = &place->functions[i];

		script_used(w, walker, f->code, f->check, f->at, f->file);
		if (walk_put_code(w, walker, f->code, f->position, f->check))
			return 1;
	}
	return 0;
}

#endif /* DRIVER_SCRIPT_PLACES_BPF_H */
