/* SPDX-License-Identifier: Apache-2.0 */
#include "ruby_lines.h"

#include <string.h>

#define ENTRY_SZ 12 /* line, node, events: four bytes each */

/*
 * The index says how many entries begin at or before an instruction. For the first ones it has the
 * numbers: nine of seven bits in each word. Then come blocks of 512 instructions: the number of
 * entries before the block, those before each of its words but the first (nine bits each), and a
 * bit for each instruction at which an entry begins.
 */
#define FIRST 54
#define FIRST_WORDS 6
#define PER_WORD 9
#define BLOCK 512
#define BLOCK_WORDS 10

static uint64_t word_at(const struct ruby_line_table *t, size_t i)
{
	uint64_t v = 0;

	if ((i + 1) * sizeof(v) <= t->n_index)
		memcpy(&v, t->index + i * sizeof(v), sizeof(v));
	return v;
}

/* Returns 0 if the index is cut before that instruction. */
static uint32_t entries_up_to(const struct ruby_line_table *t, uint32_t i)
{
	size_t block;
	uint32_t bit, word, before;

	if (i < FIRST)
		return word_at(t, i / PER_WORD) >> i % PER_WORD * 7 & 0x7f;
	block = FIRST_WORDS + (size_t)(i - FIRST) / BLOCK * BLOCK_WORDS;
	bit = (i - FIRST) % BLOCK;
	word = bit / 64;
	if ((block + 3 + word) * sizeof(uint64_t) > t->n_index)
		return 0;
	before = word ? word_at(t, block + 1) >> (word - 1) * 9 & 0x1ff : 0;
	return (uint32_t)word_at(t, block) + before +
	       (uint32_t)__builtin_popcountll(word_at(t, block + 2 + word) << (63 - bit % 64));
}

uint32_t ruby_line(const struct ruby_line_table *t, uint32_t i)
{
	uint32_t line, n = t->n_entries == ENTRY_SZ ? 1 : entries_up_to(t, i);

	if (!n || (uint64_t)n * ENTRY_SZ > t->n_entries)
		return 0;
	memcpy(&line, t->entries + (size_t)(n - 1) * ENTRY_SZ, sizeof(line));
	return line;
}
