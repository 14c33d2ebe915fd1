// SPDX-License-Identifier: Apache-2.0
/* The file engine: capture files one after the other, each a new section. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "engine.h"
#include "file/scap_format.h"

struct file_engine {
	struct scap_log log;
	struct scap_reader *reader; /* of paths[at] */
	struct scap_reader_opts reader_opts;
	char **paths;
	size_t n_paths, at;
	uint64_t total; /* size of all files; 0: unknown, one is a pipe */
	uint64_t before; /* size of the files before the current one */
	struct scap_params unused; /* for callers that do not request them */
	unsigned int n_unclosed; /* losses of the reader that were reported */
	bool damaged; /* one of the files before the current one is */
};

static void engine_close(void *engine)
{
	struct file_engine *e = engine;

	if (!e)
		return;
	scap_reader_close(e->reader);
	for (size_t i = 0; i < e->n_paths; i++)
		free(e->paths[i]);
	free(e->paths);
	free(e);
}

static int copy_paths(struct file_engine *e, const char *const *paths)
{
	size_t n = 0;

	while (paths[n])
		n++;
	e->paths = calloc(n, sizeof(*e->paths));
	if (!e->paths)
		return scap_fail(&e->log, -ENOMEM, "no memory for the names of %zu files", n);
	for (; e->n_paths < n; e->n_paths++) {
		e->paths[e->n_paths] = strdup(paths[e->n_paths]);
		if (!e->paths[e->n_paths])
			return scap_fail(&e->log, -ENOMEM, "no memory for the names of %zu files",
					 n);
	}
	return 0;
}

/* Reports a wrong name now, not after the files before it were read. */
static int look_at_paths(struct file_engine *e)
{
	int known = 1;

	for (size_t i = 0; i < e->n_paths; i++) {
		struct stat st;

		if (strcmp(e->paths[i], "-") == 0) {
			known = 0;
			continue;
		}
		if (stat(e->paths[i], &st) != 0) {
			int err = errno;

			return scap_fail(&e->log, -err, "cannot open %s: %s", e->paths[i],
					 strerror(err));
		}
		known &= S_ISREG(st.st_mode);
		e->total += st.st_size;
	}
	if (!known)
		e->total = 0;
	return 0;
}

int scap_file_open(void **engine, const struct scap_open_opts *opts, const struct scap_log *log)
{
	struct file_engine *e;
	int err;

	if (!opts->paths || !opts->paths[0])
		return scap_fail(log, -EINVAL, "no capture file was named");
	e = calloc(1, sizeof(*e));
	if (!e)
		return scap_fail(log, -ENOMEM, "cannot read %s: not enough memory", opts->paths[0]);
	e->log = *log;
	e->reader_opts = (struct scap_reader_opts){.one_thread = opts->one_thread};
	if (!opts->paths[1])
		e->reader_opts.from_ns = opts->from_ns;
	err = copy_paths(e, opts->paths);
	if (!err)
		err = look_at_paths(e);
	if (!err)
		err = scap_reader_open(&e->reader, e->paths[0], &e->reader_opts, &e->log);
	if (err)
		engine_close(e);
	else
		*engine = e;
	return err;
}

static int engine_is_damaged(const void *engine)
{
	const struct file_engine *e = engine;

	return e->damaged || scap_reader_is_damaged(e->reader);
}

/* A reader at its end is kept for its state and counters until another replaces it. */
static int next_file(struct file_engine *e)
{
	struct scap_reader *r;
	int err;

	if (e->at + 1 >= e->n_paths)
		return -ENODATA;
	err = scap_reader_open(&r, e->paths[e->at + 1], &e->reader_opts, &e->log);
	if (err)
		return err;
	e->before += scap_reader_taken(e->reader);
	e->damaged |= scap_reader_is_damaged(e->reader);
	scap_reader_close(e->reader);
	e->reader = r;
	e->n_unclosed = 0;
	e->at++;
	return SCAP_NEW_FILE;
}

/* A capture that ends between two blocks is valid up to there; only its end is missing. */
static void tell_unclosed(struct file_engine *e)
{
	const unsigned int n = scap_reader_n_unclosed(e->reader);

	if (n == e->n_unclosed)
		return;
	e->n_unclosed = n;
	scap_say(&e->log, SCAP_LOG_WARN,
		 "%s has no counters at its end: the capture still runs, was killed, or the file "
		 "is truncated; the last events may be missing",
		 e->paths[e->at]);
}

/* A function of its own, so that the common path saves no registers for it. */
static __attribute__((noinline)) int no_event(struct file_engine *e, int ret)
{
	tell_unclosed(e);
	return ret == -ENODATA ? next_file(e) : ret;
}

static int engine_next_split(void *engine, struct scap_evt *evt, struct scap_params *params,
			     int timeout_ms)
{
	struct file_engine *e = engine;
	int ret = scap_reader_next(e->reader, evt, params, timeout_ms);

	return ret == 1 ? 1 : no_event(e, ret);
}

static int engine_next(void *engine, struct scap_evt *evt, int timeout_ms)
{
	struct file_engine *e = engine;

	return engine_next_split(engine, evt, &e->unused, timeout_ms);
}

static const struct scap_state *engine_state(const void *engine)
{
	const struct file_engine *e = engine;

	return scap_reader_state(e->reader);
}

static int engine_in_order(const void *engine)
{
	const struct file_engine *e = engine;

	return e->n_paths == 1 && scap_reader_in_order(e->reader);
}

static const struct scap_skipped *engine_skipped(const void *engine)
{
	const struct file_engine *e = engine;

	return scap_reader_skipped(e->reader);
}

static void engine_state_drop(void *engine)
{
	struct file_engine *e = engine;

	scap_reader_state_drop(e->reader);
}

static double engine_progress(const void *engine)
{
	const struct file_engine *e = engine;
	double done;

	if (!e->total)
		return 0;
	done = (double)(e->before + scap_reader_taken(e->reader)) / e->total;
	return done < 1 ? done : 1;
}

static int engine_stats(const void *engine, struct scap_stats *st)
{
	const struct file_engine *e = engine;
	struct file_trailer closing;

	if (!scap_reader_trailer(e->reader, &closing))
		return -ENODATA;
	*st = closing.stats;
	return 0;
}

const struct scap_engine_ops scap_file_ops = {
	.next = engine_next,
	.next_split = engine_next_split,
	.state = engine_state,
	.in_order = engine_in_order,
	.skipped = engine_skipped,
	.is_damaged = engine_is_damaged,
	.state_drop = engine_state_drop,
	.progress = engine_progress,
	.stats = engine_stats,
	.close = engine_close,
};
