/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks a process of its own for lines of source and inlined functions (dwarf_lines.h). It runs as
 * nobody, can do nothing but read the files that it is handed (seal_process.h), and has a bound of
 * memory; when it dies of one, or takes too long, the file is not asked about again, and nothing
 * else is lost.
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

/*
 * As dwarf_lines_find, of the file that is known by this number from its first use on. Unless
 * @can_wait is set -EAGAIN: the answer takes longer than a moment, ask again at the next chance.
 */
int line_server_ask(struct line_server *s, uint32_t file, line_open_fn open, void *ctx,
		    uint64_t addr, struct dwarf_frame out[DWARF_FRAMES_MAX], int can_wait);

int line_server_pid(const struct line_server *s); /* 0: it does not run */

#endif /* SINSP_SYMBOLS_LINE_SERVER_H */
