/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Unwind tables in memory that libscap writes and the driver reads: chunks of one size, each the
 * only value of an array map that both sides map, so that memory grows by chunks. A place is a
 * number of 8-byte words, counted through all chunks. The data at one place lies in one chunk: a
 * larger table is split, and so is the mapping that refers to it.
 *
 * libscap never writes memory in use: it writes the new data first, then the entry of the process;
 * old data is overwritten once the walks that may have begun with it have ended.
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

/* A code mapping of a process. Those of a process lie one after the other, sorted by start. */
struct unwind_map {
	__u64 start, end; /* addresses */
	__u32 bias; /* the low 32 bits of an address minus its offset in the file */
	__u32 rows; /* place of the rows, which cover at least the mapped code */
	__u32 n_rows;
	__u16 walker; /* the interpreter whose loop this is; 0: none */
	__u16 flags; /* UNWIND_MAP_F_* */
	/* Pages of the file, of 1 << shift bytes each. */
	__u32 first_page;
	__u16 n_pages;
	__u8 shift;
	__u8 pad;
};

/*
 * The index follows the rows, two numbers in a word: for each page the number of rows that begin
 * before it, and at the end the number of rows. A page has a few rows, so a search touches only the
 * number and these rows.
 */
#define UNWIND_INDEX_WORDS(n_pages) (((n_pages) + 2) / 2)
#define UNWIND_PAGES_MAX(n_rows) ((n_rows) / 4 + 2)
/* Maximum number of rows that fit a chunk with their index. */
#define UNWIND_ROWS_MAX (UNWIND_CHUNK_WORDS / 9 * 8 - 8)

#define UNWIND_MAP_WORDS 5
#define UNWIND_MAPS_MAX 16384u /* of a process */
#define UNWIND_MAP_F_NO_TABLE 1 /* the rows are still being built, or did not fit */
#define UNWIND_MAP_F_PROBE 2 /* [uprobes], where the kernel keeps the code of probes */

/* The entry of a process, in a hash map. */
struct unwind_process {
	__u32 gen; /* number of this state of the mappings, unique over all processes */
	__u32 maps; /* place */
	__u32 n_maps;
	__u32 gen_end; /* the same again: if it differs, the entry changed while it was read */
	__u32 n_walks; /* counted by the driver: walked stacks of the process since this entry was
			  written */
	__u32 n_copied; /* counted by the driver: walks that found no table (stack_copy.h) */
};

#define UNWIND_PROCESSES_MAX 65536u

/* The cached rule of one address, per CPU: check is the tag XOR the rule, so that a mix of the
 * halves of two writers does not match. */
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
