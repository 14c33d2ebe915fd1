/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What table_search.c and its programs share: the rows, then the index, in 32 bits by page. */
#ifndef BENCH_TABLE_SEARCH_H
#define BENCH_TABLE_SEARCH_H

#define SEARCH_ARENA_SZ (1u << 20)
#define SEARCH_QUERIES (1u << 16)
#define SEARCH_AT_ONCE 64u
#define SEARCH_PAGE_SHIFT 9

#endif /* BENCH_TABLE_SEARCH_H */
