/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of source and inlined functions, by libdw. Debugging information is large, slow to read,
 * and whatever the file's maker wanted it to be: this runs in a process of its own (line_server.h).
 */
#ifndef SINSP_SYMBOLS_DWARF_LINES_H
#define SINSP_SYMBOLS_DWARF_LINES_H

#include <stddef.h>
#include <stdint.h>

enum { DWARF_FRAMES_MAX = 32, DWARF_NAME_MAX = 1024 };

/* One function at an address: innermost first, the last one is the one that has code of its own. */
struct dwarf_frame {
	char function[DWARF_NAME_MAX], file[DWARF_NAME_MAX]; /* "": not known */
	uint32_t line; /* 0: not known */
};

struct dwarf_lines;

/* Of the file that @fd is open on, which stays open until dwarf_lines_close; NULL: it has none. */
struct dwarf_lines *dwarf_lines_open(int fd);
void dwarf_lines_close(struct dwarf_lines *d);

/* How many functions are at @addr, in the file's own terms: 0, nothing is known of it. */
size_t dwarf_lines_find(struct dwarf_lines *d, uint64_t addr,
			struct dwarf_frame out[DWARF_FRAMES_MAX]);

#endif /* SINSP_SYMBOLS_DWARF_LINES_H */
