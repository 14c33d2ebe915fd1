/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Line tables of Ruby's methods and blocks. Format: iseq.c (succ_index_table) and iseq.h
 * (iseq_insn_info_entry) of Ruby 3.1. Tables are hostile.
 */
#ifndef SINSP_SYMBOLS_RUBY_LINES_H
#define SINSP_SYMBOLS_RUBY_LINES_H

#include <stddef.h>
#include <stdint.h>

struct ruby_line_table {
	const uint8_t *entries, *index;
	size_t n_entries, n_index; /* bytes */
};

/* Returns the line of instruction @i; 0: unknown. */
uint32_t ruby_line(const struct ruby_line_table *t, uint32_t i);

#endif /* SINSP_SYMBOLS_RUBY_LINES_H */
