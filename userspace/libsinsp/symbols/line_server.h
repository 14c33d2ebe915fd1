/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line server: a helper process that finds source lines and inlined functions (dwarf_lines.h).
 * It runs as nobody, can do nothing but read the files that it is sent (seal_process.h), and has a
 * memory limit; if a file kills it or takes too long, that file is not queried again, and nothing
 * else is lost. The limit is the helper's CPU time, for one answer, for all about a file, and for
 * all files: a busy machine costs no lines.
 */
#ifndef SINSP_SYMBOLS_LINE_SERVER_H
#define SINSP_SYMBOLS_LINE_SERVER_H

#include "dwarf_lines.h"

struct line_server;

struct line_server_opts {
	/* Called once for a file that is not queried again, because it failed or took too long. */
	void (*gave_up)(void *ctx, uint32_t file, const char *reason);
	void *ctx;
	/* For tests; 0 or NULL: default. */
	uint32_t answer_ms; /* CPU time limit of one answer */
	uint32_t first_answer_ms; /* of the first answer about a file */
	uint32_t file_ms; /* of all answers about a file */
	uint32_t all_ms; /* of all answers about all files, which grows by a tenth of the time */
	uint32_t wait_share; /* an answer may take this many times longer if the helper gets no CPU,
				or blocks */
	void (*serve)(void); /* main function of the helper */
};

/* NULL: no memory. The helper starts at the first query. NULL @opts is allowed. */
struct line_server *line_server_new(const struct line_server_opts *opts);
void line_server_free(struct line_server *s);

/* Opens a file with debug information: returns a descriptor, closed after use, or below 0. */
typedef int (*line_open_fn)(void *ctx);

/* Works as dwarf_lines_find, for the file with this number, constant from its first use on. Without
 * @can_wait returns -EAGAIN if the answer takes more than a moment: query again later. */
int line_server_query(struct line_server *s, uint32_t file, line_open_fn open, void *ctx,
		      uint64_t addr, struct dwarf_frame out[DWARF_FRAMES_MAX], int can_wait);

int line_server_pid(const struct line_server *s); /* 0: not running */

#endif /* SINSP_SYMBOLS_LINE_SERVER_H */
