/* SPDX-License-Identifier: Apache-2.0 */
/* Source lines and inlined functions, by libdw. Debug information is large, slow to read, and
 * possibly hostile: this runs in a helper process (line_server.h). */
#ifndef SINSP_SYMBOLS_DWARF_LINES_H
#define SINSP_SYMBOLS_DWARF_LINES_H

#include <stddef.h>
#include <stdint.h>

enum { DWARF_FRAMES_MAX = 32, DWARF_NAME_MAX = 1024 };

/* A function at an address: innermost first, the last one is not inlined. */
struct dwarf_frame {
	char function[DWARF_NAME_MAX], file[DWARF_NAME_MAX]; /* "": unknown */
	uint32_t line; /* 0: unknown */
};

struct dwarf_lines;

/*
 * Opens the file behind @fd, which stays open until dwarf_lines_close; NULL: no debug information.
 */
struct dwarf_lines *dwarf_lines_open(int fd);
void dwarf_lines_close(struct dwarf_lines *d);

/* Returns the number of functions at @addr, an address of the file: 0, unknown. */
size_t dwarf_lines_find(struct dwarf_lines *d, uint64_t addr,
			struct dwarf_frame out[DWARF_FRAMES_MAX]);

#endif /* SINSP_SYMBOLS_DWARF_LINES_H */
