/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The search of a row where tables can lie: in chunks, values of array maps, and in an arena; each
 * by bisection of all rows, and of those of one page of code, by an index. The driver has chunks
 * and an index.
 */
#include "maps.bpf.h"
#include "shared/user_walk.h"
#include "walk_memory.bpf.h"

#include "table_search.h"

#define __arena __attribute__((address_space(1)))
#define MAP_TYPE_ARENA 33 /* newer than the headers */

struct {
	__uint(type, MAP_TYPE_ARENA);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SEARCH_ARENA_SZ / 4096);
} arena SEC(".maps");

char LICENSE[] SEC("license") = "GPL";

/* Written by the bench. */
u32 queries[SEARCH_QUERIES];
u32 mask, n_rows, n_pages;
u64 arena_words; /* where the arena begins, as the bench has it mapped */

u32 at;
u64 sum;

__noinline u64 by_chunk(u32 off)
{
	const u64 *words = walk_chunk(NULL, 0);

	return words ? words[search_rows(words, 0, n_rows, off)] : 0;
}

__noinline u64 by_chunk_index(u32 off)
{
	return rule_of_rows(NULL, 0, n_rows, off, 0,
			    (u64)n_pages << 32 | (u64)SEARCH_PAGE_SHIFT << 48);
}

static __always_inline u64 arena_row(u32 at_row, u32 n, u32 off)
{
	const u64 __arena *words = (const u64 __arena *)arena_words;

	for (int i = 0; i < 18 && n > 1; i++) {
		const u32 half = n >> 1;

		if ((u32)words[at_row + half] <= off)
			at_row += half;
		n -= half;
	}
	return words[at_row];
}

__noinline u64 by_arena(u32 off)
{
	asm volatile("" : : "r"(&arena)); /* a program is of an arena if it names it */
	return arena_row(0, n_rows, off);
}

__noinline u64 by_arena_index(u32 off)
{
	const u32 __arena *index = (const u32 __arena *)(arena_words + 8ull * n_rows);
	u32 page = off >> SEARCH_PAGE_SHIFT, from, n;

	asm volatile("" : : "r"(&arena));
	if (page >= n_pages)
		return 0;
	from = index[page];
	if (from)
		from--;
	n = index[page + 1] - from;
	return arena_row(from, n, off);
}

__noinline u64 by_nothing(u32 off)
{
	return off;
}

#define SEARCH(name)                                                                               \
	SEC("tc") int search_##name(struct __sk_buff *skb)                                         \
	{                                                                                          \
		(void)skb;                                                                         \
		for (u32 i = 0; i < SEARCH_AT_ONCE; i++)                                           \
			sum += by_##name(queries[(at + i) & mask & (SEARCH_QUERIES - 1)]);         \
		at += SEARCH_AT_ONCE;                                                              \
		return 0;                                                                          \
	}

SEARCH(nothing)
SEARCH(chunk)
SEARCH(chunk_index)
SEARCH(arena)
SEARCH(arena_index)
