/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The code cache of Java on HotSpot: up to a few heaps, each with a map that leads from an address
 * to the beginning of its blob. A blob is the interpreter, a compiled method (nmethod), or a stub.
 *
 * A blob may be freed and another one take its place, or a part of it. What differs then is its
 * print: of the block that it lies in, its method and the number of its compilation.
 */
#ifndef DRIVER_JAVA_BLOBS_BPF_H
#define DRIVER_JAVA_BLOBS_BPF_H

#include "script_codes.bpf.h"
#include "shared/user_walk.h"

#define JAVA_HOPS 32 /* maximum number of steps in the map of segments */

/* In structures of all versions. */
#define JAVA_SPACE_BOUNDS 16 /* VirtualSpace: _low_boundary, so many bytes before _low */
#define JAVA_SPACE_SZ 32
#define JAVA_ARRAY_SZ 16
#define JAVA_SEGMENT_FREE 255

/* First eight bytes of the names of blobs. */
#define JAVA_NAME_NMETHOD 0x00646f6874656d6eull /* "nmethod" */
#define JAVA_NAME_NATIVE 0x6e2065766974616eull /* "native nmethod" */
#define JAVA_NAME_LOOP 0x6572707265746e49ull /* "Interpreter" */

/* Kinds of blobs. */
enum { JAVA_STUB, JAVA_LOOP, JAVA_METHOD, JAVA_NATIVE };

static __always_inline u64 java_process(const struct user_walk *w)
{
	return w->space ^ (u64)w->pid << 40;
}

static __always_inline u64 java_mix(u64 a, u64 b)
{
	a = (a ^ b) * 0x9e3779b97f4a7c15ull;
	return a ^ a >> 29;
}

/* Returns whether what is at @at was compared with @print in this walk. */
static __always_inline int java_is_checked(const struct user_walk *w, u64 at, u64 print)
{
	const u32 i = java_mix(at, 0) >> 60 & (WALK_JAVA_CHECKED - 1);

	return w->java.checked[i].at == at && w->java.checked[i].print == print &&
	       w->java.checked[i].walk == w->java.walk;
}

static __always_inline void java_checked(struct user_walk *w, u64 at, u64 print)
{
	const u32 i = java_mix(at, 0) >> 60 & (WALK_JAVA_CHECKED - 1);

	w->java.checked[i].at = at;
	w->java.checked[i].print = print;
	w->java.checked[i].walk = w->java.walk;
}

/* ---- heaps ---- */

/* Reads heap @i. Its memory is reserved once: the bounds do not change while it grows. Verified on
 * its own. */
WALK_FUNC int java_heap(struct user_walk *w, const struct interp_process *p, u64 at, u32 i)
{
	const struct interp_java *j;
	struct walk_java_heap *h;

	if (!w || !p || i >= WALK_JAVA_HEAPS)
		return -1;
	j = &p->java;
	h = &w->java.heaps[i];
	if (read_word(w, at))
		return -1;
	w->java.at = w->word;
	if (walk_read(w, w->object, JAVA_SPACE_SZ, w->java.at + j->heap_memory - JAVA_SPACE_BOUNDS))
		return -1;
	h->low = object_u64(w, 16);
	h->high = object_u64(w, 8);
	if (!user_code(h->low) || h->high <= h->low || !user_code(h->high - 1))
		return -1;
	if (read_word(w, w->java.at + j->heap_segments))
		return -1;
	h->segments = w->word;
	if (read_word(w, w->java.at + j->heap_shift))
		return -1;
	h->shift = w->word & 31;
	return 0;
}

/* Reads the heaps again. Those of a process that starts may be there without memory. */
static __always_inline void java_read_heaps(struct user_walk *w, const struct interp_process *p)
{
	w->java.loop = w->java.loop_end = 0;
	w->java.heaps_of = 0;
	w->java.n_heaps = 0;
	for (u32 i = 0; i < WALK_JAVA_HEAPS && i < (u32)w->java.heaps_n; i++) {
		if (java_heap(w, p, w->java.heaps_data + 8 * i, i))
			return;
		w->java.n_heaps = i + 1;
	}
	w->java.heaps_of = java_process(w);
}

/* Begins a walk: reads the array of heaps, and the heaps if they are not those of the walk before.
 * Verified on its own. */
WALK_FUNC int java_begin(struct user_walk *w, const struct interp_process *p)
{
	if (!w || !p)
		return -1;
	w->java.walk++;
	if (w->java.heaps_of != java_process(w)) {
		w->java.heaps_of = 0;
		w->java.n_heaps = 0;
		if (read_word(w, p->root))
			return -1;
		w->java.heaps_at = w->word;
	}
	if (walk_read(w, w->object, JAVA_ARRAY_SZ, w->java.heaps_at)) {
		w->java.heaps_of = 0;
		w->java.n_heaps = 0;
		return -1;
	}
	if (w->java.heaps_of && w->java.heaps_n == object_u64(w, 0) &&
	    w->java.heaps_data == object_u64(w, 8))
		return 0;
	w->java.heaps_n = object_u64(w, 0);
	w->java.heaps_data = object_u64(w, 8);
	java_read_heaps(w, p);
	return 0;
}

/* Finds the heap with @pc, and puts it into w->java.heap. Returns not 0 if there is none. */
static __always_inline int java_find_heap(struct user_walk *w, u64 pc)
{
	for (u32 i = 0; i < WALK_JAVA_HEAPS && i < w->java.n_heaps; i++) {
		if (pc < w->java.heaps[i].low || pc >= w->java.heaps[i].high)
			continue;
		w->java.heap = w->java.heaps[i];
		return 0;
	}
	return -1;
}

/* Returns whether @addr is in the code cache, where all callers of compiled code are. */
static __always_inline int java_is_code(const struct user_walk *w, u64 addr)
{
	for (u32 i = 0; i < WALK_JAVA_HEAPS && i < w->java.n_heaps; i++)
		if (addr >= w->java.heaps[i].low && addr < w->java.heaps[i].high)
			return 1;
	return 0;
}

/* ---- blobs ---- */

/* Finds the beginning of the blob with @pc: each segment has how far its block begins before, at
 * most. Returns 0: none. Verified on its own. */
WALK_FUNC u64 java_blob_of(struct user_walk *w, u64 pc, u32 block_sz)
{
	if (!w || java_find_heap(w, pc))
		return 0;
	w->java.at = (pc - w->java.heap.low) >> (w->java.heap.shift & 31);
	for (u32 i = 0; i < JAVA_HOPS; i++) {
		OPAQUE(w);
		w->word = 0;
		if (walk_read(w, &w->word, 1, w->java.heap.segments + w->java.at))
			return 0;
		if (!w->word)
			return w->java.heap.low + (w->java.at << (w->java.heap.shift & 31)) +
			       block_sz;
		if (w->word == JAVA_SEGMENT_FREE || w->word > w->java.at)
			return 0;
		w->java.at -= w->word;
	}
	return 0;
}

/* Returns a number of the header that was read last. */
static __always_inline u64 header_u64(const struct user_walk *w, u16 at)
{
	return *(const u64 *)(w->java.header + (at & (WALK_JAVA_HEADER_SZ - 8)));
}

static __always_inline u32 header_u32(const struct user_walk *w, u16 at)
{
	return *(const u32 *)(w->java.header + (at & (WALK_JAVA_HEADER_SZ - 4)));
}

static __always_inline u16 header_u16(const struct user_walk *w, u16 at)
{
	return *(const u16 *)(w->java.header + (at & (WALK_JAVA_HEADER_SZ - 2)));
}

/* Reads the header of the blob at @blob, and of its block. */
static __always_inline int java_read_header(struct user_walk *w, const struct interp_java *j,
					    u64 blob)
{
	u64 sz = j->header_sz;

	OPAQUE(sz);
	if (sz > WALK_JAVA_HEADER_SZ)
		return -1;
	return walk_read(w, w->java.header, sz, blob - j->block_sz);
}

/* Returns the print of the blob whose header was read last. A block that is freed keeps all but its
 * length and a flag, until another blob begins there. */
static __always_inline u64 java_print(const struct user_walk *w, const struct interp_java *j,
				      u32 kind)
{
	u64 print = java_mix(header_u64(w, 0), header_u64(w, j->block_sz - 8));

	print = java_mix(print, header_u64(w, j->name));
	print = java_mix(print, header_u64(w, j->code));
	if (kind != JAVA_METHOD && kind != JAVA_NATIVE)
		return print;
	return java_mix(java_mix(print, header_u64(w, j->method)), header_u32(w, j->id));
}

/* Returns whether the blob of w->java.place is still the one that it was made of. */
static __always_inline int java_is_blob(struct user_walk *w, const struct interp_java *j)
{
	const u64 blob = w->java.place.blob, print = w->java.place.print;

	if (java_is_checked(w, blob, print))
		return 1;
	if (java_read_header(w, j, blob) || java_print(w, j, w->java.place.kind) != print)
		return 0;
	java_checked(w, blob, print);
	return 1;
}

/* Returns the address that a field of the header has, or has as an offset. */
static __always_inline u64 java_address(const struct user_walk *w, const struct interp_java *j,
					u64 from, u16 at)
{
	return j->has_offsets ? from + header_u32(w, at) : header_u64(w, at);
}

/* Notes where the tables of the compiled method are that was read last. */
static __always_inline void java_note_tables(struct user_walk *w, const struct interp_java *j)
{
	const u64 blob = w->java.place.blob;
	const u64 data = j->has_offsets ? header_u64(w, j->method_data) : blob;

	w->java.points = data + header_u32(w, j->points);
	w->java.points_end = data + header_u32(w, j->points_end);
	w->java.scopes = j->has_offsets ? w->java.points_end : header_u64(w, j->scopes);
	w->java.metadata = (j->has_offsets ? header_u64(w, j->mutable_data) : blob) +
			   header_u32(w, j->metadata);
	w->java.place.deopt = java_address(w, j, blob, j->deopt);
	w->java.place.deopt_handle = java_address(w, j, blob, j->deopt_handle);
	w->java.place.original = (s32)header_u32(w, j->original);
}

/* Reads the blob at @blob into w->java.place. Returns not 0 if it is none, or has no code at @pc.
 * Verified on its own. */
WALK_FUNC int java_read_blob(struct user_walk *w, const struct interp_process *p, u64 blob, u64 pc)
{
	const struct interp_java *j;
	struct walk_java_place *place;

	if (!w || !p || !blob)
		return -1;
	j = &p->java;
	place = &w->java.place;
	if (java_read_header(w, j, blob) || read_word(w, header_u64(w, j->name)))
		return -1;
	place->blob = blob;
	place->code = java_address(w, j, blob, j->code);
	place->end = java_address(w, j, blob, j->code_end);
	place->frame = header_u32(w, j->frame);
	place->complete =
		j->has_offsets ? (s16)header_u16(w, j->complete) : (s32)header_u32(w, j->complete);
	place->deopt = place->deopt_handle = 0;
	place->kind = w->word == JAVA_NAME_NMETHOD  ? JAVA_METHOD
		      : w->word == JAVA_NAME_NATIVE ? JAVA_NATIVE
		      : w->word == JAVA_NAME_LOOP   ? JAVA_LOOP
						    : JAVA_STUB;
	place->print = java_print(w, j, place->kind);
	if (place->kind == JAVA_METHOD || place->kind == JAVA_NATIVE)
		java_note_tables(w, j);
	if (pc < place->code || pc >= place->end)
		return -1;
	if (place->kind == JAVA_LOOP) {
		w->java.loop = place->code;
		w->java.loop_end = place->end;
	}
	java_checked(w, blob, place->print);
	return 0;
}

#endif /* DRIVER_JAVA_BLOBS_BPF_H */
