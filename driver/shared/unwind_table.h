/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * What of unwind tables lies in memory that libscap writes and the driver reads: chunks of one
 * size, each the one value of an array map, so that both see plain memory and room grows by chunks.
 * A place is a number of 8-byte words, counted through all chunks. What lies at one place lies in
 * one chunk: a table too large for that is cut, and so is the mapping that leads to it.
 *
 * libscap writes only where nobody looks: what is new first, then the process's entry; what is old
 * is written over once the walks that may have begun with it are over.
 */
#ifndef DRIVER_SHARED_UNWIND_TABLE_H
#define DRIVER_SHARED_UNWIND_TABLE_H

#include "shared/unwind_row.h"

#define UNWIND_CHUNK_WORDS_SHIFT 17
#define UNWIND_CHUNK_WORDS (1u << UNWIND_CHUNK_WORDS_SHIFT)
#define UNWIND_CHUNK_SZ (UNWIND_CHUNK_WORDS * 8) /* 1 MiB */
#define UNWIND_CHUNKS_MAX 1024u

#define UNWIND_PLACE_CHUNK(place) ((place) >> UNWIND_CHUNK_WORDS_SHIFT)
#define UNWIND_PLACE_WORD(place) ((place) & (UNWIND_CHUNK_WORDS - 1))

struct unwind_chunk {
	__u64 words[UNWIND_CHUNK_WORDS];
};

/* Code that a process has mapped. A process's lie one behind the other, by start. */
struct unwind_map {
	__u64 start, end; /* addresses */
	__u32 bias; /* an address less its offset in the file; of both the low 32 bits */
	__u32 rows; /* place of the rows, that are at least those of the code mapped */
	__u32 n_rows;
	__u16 walker; /* the interpreter whose loop this is; 0: none's */
	__u16 flags; /* UNWIND_MAP_F_* */
	/* Pages of the file, each of 1 << shift bytes. */
	__u32 first_page;
	__u16 n_pages;
	__u8 shift;
	__u8 pad;
};

/*
 * Behind the rows lies an index, two numbers to a word: by page how many rows begin before it, and
 * last how many there are. A page has a few rows, so that a search needs not touch more memory than
 * that of the number and theirs.
 */
#define UNWIND_INDEX_WORDS(n_pages) (((n_pages) + 2) / 2)
#define UNWIND_PAGES_MAX(n_rows) ((n_rows) / 4 + 2)
/* Rows that fit a chunk with their index. */
#define UNWIND_ROWS_MAX (UNWIND_CHUNK_WORDS / 9 * 8 - 8)

#define UNWIND_MAP_WORDS 5
#define UNWIND_MAPS_MAX 16384u /* of a process */
#define UNWIND_MAP_F_NO_TABLE 1 /* there will be rows, or would be with more memory */
#define UNWIND_MAP_F_PROBE 2 /* [uprobes], where the kernel has the code of probes */

/* By process, in a hash map. */
struct unwind_process {
	__u32 gen; /* of the mappings: no other state of any process has this number */
	__u32 maps; /* place */
	__u32 n_maps;
	__u32 gen_end; /* the same again: else the entry was written while it was read */
	__u32 n_walks; /* by the driver: stacks of the process, as this entry was there */
	__u32 n_cold; /* the same: walks that found no table (cold_stack.h) */
};

#define UNWIND_PROCESSES_MAX 65536u

/* What was found out of one address, by CPU: the rest is the tag's and the rule's exclusive or,
 * which two halves of different writers are not. */
struct unwind_cached {
	__u64 check;
	__u64 rule;
};

#define UNWIND_CACHE_BITS 13
#define UNWIND_CACHE_SZ (1u << UNWIND_CACHE_BITS)

struct unwind_cache {
	struct unwind_cached at[UNWIND_CACHE_SZ];
};

#ifndef __bpf__
_Static_assert(sizeof(struct unwind_row) == 8, "a row is a word");
_Static_assert(UNWIND_ROWS_MAX + UNWIND_INDEX_WORDS(UNWIND_PAGES_MAX(UNWIND_ROWS_MAX)) <=
		       UNWIND_CHUNK_WORDS,
	       "a table's part and its index are in one chunk");
_Static_assert(UNWIND_PAGES_MAX(UNWIND_ROWS_MAX) < 1u << 16, "pages are counted in 16 bits");
_Static_assert(sizeof(struct unwind_map) == UNWIND_MAP_WORDS * 8, "a mapping is five words");
#endif

#endif /* DRIVER_SHARED_UNWIND_TABLE_H */
