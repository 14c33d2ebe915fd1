/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks a process of its own for lines of source and inlined functions (dwarf_lines.h). It runs as
 * nobody, can do nothing but read the files that it is handed (seal_process.h), and has a bound of
 * memory; when it dies of one, or takes too long, the file is not asked about again, and nothing
 * else is lost. "Too long" is the process's CPU time, for one answer and for all about a file: a
 * busy machine costs no lines.
 */
#ifndef SINSP_SYMBOLS_LINE_SERVER_H
#define SINSP_SYMBOLS_LINE_SERVER_H

#include "dwarf_lines.h"

struct line_server;

struct line_server_opts {
	/* Called once for a file that is not asked about again, as it fails or takes too long. */
	void (*gave_up)(void *ctx, uint32_t file, const char *reason);
	void *ctx;
	/* For tests; 0 or NULL: what is usual. */
	uint32_t answer_ms; /* CPU time of the process for one answer */
	uint32_t first_answer_ms; /* the same of the first one about a file */
	uint32_t file_ms; /* the same of all about a file */
	uint32_t wait_share; /* so many times longer an answer may take when the process gets no
				CPU, or blocks */
	void (*serve)(void); /* what the process does */
};

/* NULL: no memory. The process begins when it is asked. NULL @opts is fine. */
struct line_server *line_server_new(const struct line_server_opts *opts);
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
