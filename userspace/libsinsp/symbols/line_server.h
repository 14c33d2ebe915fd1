/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks a process of its own for lines of source and inlined functions (dwarf_lines.h). It has no
 * rights but to the files that it is handed, and a bound of memory; when it dies of one, or takes
 * too long, the file is not asked about again, and nothing else is lost.
 */
#ifndef SINSP_SYMBOLS_LINE_SERVER_H
#define SINSP_SYMBOLS_LINE_SERVER_H

#include "dwarf_lines.h"

struct line_server;

struct line_server *
line_server_new(void); /* NULL: no memory. The process begins when it is asked */
void line_server_free(struct line_server *s);

/* What opens a file with debugging information: a descriptor that is closed after use, or below 0.
 */
typedef int (*line_open_fn)(void *ctx);

/* As dwarf_lines_find, of the file that is known by this number from its first use on. */
size_t line_server_ask(struct line_server *s, uint32_t file, line_open_fn open, void *ctx,
		       uint64_t addr, struct dwarf_frame out[DWARF_FRAMES_MAX]);

#endif /* SINSP_SYMBOLS_LINE_SERVER_H */
