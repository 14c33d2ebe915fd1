/* SPDX-License-Identifier: Apache-2.0 */
/* The chisels of a run: where they are, opening, events, output, end. */
#include "chisels.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chisel_dirs.h"
#include "chisel_files.h"
#include "chisel_words.h"
#include "fields/format.h"
#include "say.h"
#include "signals.h"
#include "spawn.h"
#include "standard_streams.h"

/* ---- where chisels are ---- */

/*
 * The user's folders come before built-in chisels, the machine's after them: an older installation
 * never replaces parts of this program. The working directory is not searched, since anybody may
 * put a file there: -c ./NAME names one.
 */
int chisels_find_dirs(struct chisels *cs)
{
	static const char *const of_machine[] = {
		SAKER_CHISELS_DIR,
		"/usr/share/sysdig/chisels",
		NULL,
	};
	const int err = chisel_dirs(cs->dirs, 0);

	cs->run.dirs = (const char *const *)cs->dirs;
	cs->run.builtin = chisel_files;
	cs->run.more_dirs = of_machine;
	return err;
}

/* Combines the filters of the command line and of sysdig.set_filter. */
static int join_filter(struct chisels *cs, struct options *o, const char *assigned)
{
	o->filter = chisels_join_words(&o->words, 0, assigned);
	if (!o->filter)
		return -ENOMEM;
	if (!*o->filter) {
		free(o->filter);
		o->filter = NULL;
	}
	cs->run.filter = o->filter;
	return 0;
}

static int add_set_filter(struct chisels *cs, struct options *o)
{
	char *both;

	if (!cs->run.set_filter)
		return 0;
	if (!o->filter)
		both = strdup(cs->run.set_filter);
	else if (asprintf(&both, "(%s) and (%s)", o->filter, cs->run.set_filter) < 0)
		both = NULL;
	if (!both)
		return -ENOMEM;
	free(o->filter);
	o->filter = both;
	return 0;
}

/* Runs in a signal handler, where a chisel cannot be ended alone. The capture file has all events
 * so far; the kernel ends the capture. */
static void end_hung(const char *chisel)
{
	static const char before[] = "saker: chisel ",
			  after[] = " failed: a Lua library function, for instance a pattern "
				    "match, exceeded the time limit (--chisel-limit)\n";

	if (write(STDERR_FILENO, before, sizeof(before) - 1) > 0 &&
	    write(STDERR_FILENO, chisel, strlen(chisel)) > 0 &&
	    write(STDERR_FILENO, after, sizeof(after) - 1) > 0)
		_exit(STATUS_FAILED);
	_exit(STATUS_FAILED);
}

static void configure_run(struct chisels *cs, const struct options *o)
{
	struct sinsp_chisel_run *run = &cs->run;

	run->log = say_log;
	run->hung = end_hung;
	run->is_stopping = signals_stop_requested;
	run->source = o->read.n ? o->read.v[0] : NULL;
	run->out = o->command ? stderr : stdout;
	run->several = o->chisels.n > 1 && !o->profile.own_views;
	run->json = o->lines_kind == SINSP_FORMAT_JSON;
	run->port_names = (uint8_t)o->port_names;
	run->containers = o->line.preset != SINSP_LINE_DEFAULT;
	run->buf_fmt = (uint8_t)o->buf_fmt;
	run->buf_max = UINT32_MAX; /* chisels truncate themselves */
	run->unsafe = (uint8_t)o->chisel_unsafe;
	if (o->chisel_limit.bytes)
		run->max_bytes = o->chisel_limit.bytes;
	if (o->chisel_limit.instructions)
		run->max_instructions = o->chisel_limit.instructions;
}

/* Warns about options that chisels ignore; sysdig ignores them silently. */
static void warn_unused(const struct options *o)
{
	if (o->line.format || o->time_fmt)
		say_log(NULL, SCAP_LOG_WARN,
			"-p FORMAT and -t apply to lines; chisels have output of their own");
}

static int open_all(struct chisels *cs, struct options *o, char *assigned)
{
	int err = 0;

	for (size_t i = 0; i < o->chisels.n && !err; i++)
		err = chisels_open_one(cs, o, i, assigned);
	if (!err)
		err = join_filter(cs, o, assigned);
	for (size_t i = 0; i < cs->n && !err; i++)
		err = sinsp_chisel_init(cs->v[i].c);
	/* Options for buffers take precedence over sysdig.set_output_format. */
	if (o->buf_fmt || cs->run.json)
		cs->run.buf_fmt = (uint8_t)o->buf_fmt;
	cs->run.filter = NULL;
	if (!err)
		err = add_set_filter(cs, o);
	cs->run.filter = o->filter;
	return err;
}

int chisels_open(struct chisels *cs, struct options *o)
{
	unsigned int before = say_n_errors();
	char *assigned;
	int err;

	*cs = (struct chisels){0};
	sinsp_chisel_run_init(&cs->run);
	configure_run(cs, o);
	warn_unused(o);
	cs->write = o->write;
	cs->v = calloc(o->chisels.n + 1, sizeof(*cs->v));
	cs->n = cs->v ? o->chisels.n : 0;
	assigned = calloc(1, o->words.n + 1);
	err = cs->v && assigned ? chisels_find_dirs(cs) : -ENOMEM;
	if (!err && o->output && strcmp(o->output, "-") == 0)
		cs->run.out = stdout;
	else if (!err && o->output) {
		err = chisel_output_open(&cs->output, o->output,
					 o->profile.otlp ? CHISEL_OUTPUT_TO_SEND
					 : o->profile.on ? CHISEL_OUTPUT_PICTURE
							 : CHISEL_OUTPUT_LINES);
		if (!err)
			cs->run.out = cs->output.f;
	}
	if (!err)
		err = open_all(cs, o, assigned);
	free(assigned);
	if (!err && cs->run.snaplen > o->snaplen && !o->read.n)
		o->snaplen = cs->run.snaplen;
	if (err && err != -ECANCELED)
		say_cause(before, "chisels", err);
	return err;
}

void chisels_close(struct chisels *cs)
{
	for (size_t i = 0; i < cs->n; i++) {
		sinsp_chisel_close(cs->v[i].c);
		free(cs->v[i].args.v);
		free(cs->v[i].filter);
	}
	chisel_output_close(&cs->output, 1);
	for (char **d = cs->dirs; *d; d++)
		free(*d);
	free(cs->v);
	sinsp_chisel_run_fini(&cs->run);
	*cs = (struct chisels){0};
}

/* ---- the run ---- */

/* Handles the result of one chisel: its failure ends the capture only if nothing else continues. */
static int count_failure(struct chisels *cs, struct chisel_use *use, int err)
{
	const char *name;

	if (!err || err == -ECANCELED)
		return err;
	name = sinsp_chisel_info(use->c)->name;
	use->failed = 1;
	cs->n_failed++;
	if (cs->write)
		say("chisel %s has stopped; the capture to %s continues", name, cs->write);
	else if (cs->n_failed < cs->n)
		say("chisel %s has stopped; the others continue", name);
	else
		return err;
	return 0;
}

/* os.exit is a normal end. */
static int result(struct chisels *cs, int err)
{
	cs->runs &= !err;
	return err == -ECANCELED && cs->run.ends_with_status ? 0 : err;
}

int chisels_filter(const struct chisels *cs, struct sinsp_filter **out)
{
	struct sinsp_text text = {0};
	FILE *f = open_memstream(&text.p, &text.len);
	int all = 0, err;

	*out = NULL;
	if (!f)
		return -ENOMEM;
	for (size_t i = 0; i < cs->n; i++) {
		const char *one = sinsp_chisel_filter_text(cs->v[i].c);

		all |= !one;
		fprintf(f, "%s(%s)", i ? " or " : "", one ?: "");
	}
	err = fclose(f) || !text.p ? -ENOMEM : 0;
	if (!err && !all)
		err = sinsp_filter_new(out, text.p, NULL, NULL);
	free(text.p);
	return err;
}

int chisels_begin(struct chisels *cs, struct sinsp *insp)
{
	int err = 0;

	cs->run.insp = insp;
	cs->runs = 1;
	for (size_t i = 0; i < cs->n && !err; i++)
		err = sinsp_chisel_begin(cs->v[i].c);
	return result(cs, err);
}

int chisels_tick(struct chisels *cs, const struct sinsp_evt *evt)
{
	int err = 0;

	cs->run.insp = evt->insp;
	cs->run.last_ns = evt->raw.ts_ns;
	if (!cs->run.first_ns)
		cs->run.first_ns = evt->raw.ts_ns;
	for (size_t i = 0; i < cs->n && !err; i++)
		if (!cs->v[i].failed)
			err = count_failure(cs, &cs->v[i], sinsp_chisel_tick(cs->v[i].c, evt));
	return result(cs, err);
}

int chisels_idle(struct chisels *cs, uint64_t now_ns)
{
	int err = 0;

	for (size_t i = 0; i < cs->n && !err && !cs->run.end; i++)
		if (!cs->v[i].failed)
			err = count_failure(cs, &cs->v[i], sinsp_chisel_idle(cs->v[i].c, now_ns));
	return result(cs, err);
}

uint64_t chisels_due_ns(const struct chisels *cs)
{
	uint64_t due = UINT64_MAX;

	for (size_t i = 0; i < cs->n; i++) {
		const uint64_t ns = cs->v[i].failed ? 0 : sinsp_chisel_due_ns(cs->v[i].c);

		if (ns && ns < due)
			due = ns;
	}
	return due;
}

int chisels_event(struct chisels *cs, const struct sinsp_evt *evt)
{
	int err = 0;

	for (size_t i = 0; i < cs->n && !err && !cs->run.end; i++)
		if (!cs->v[i].failed)
			err = count_failure(cs, &cs->v[i], sinsp_chisel_event(cs->v[i].c, evt));
	return result(cs, err);
}

int chisels_follow(struct chisels *cs, const struct sinsp_evt *evt)
{
	int err = 0;

	for (size_t i = 0; i < cs->n && !err && !cs->run.end; i++)
		if (!cs->v[i].failed)
			err = count_failure(cs, &cs->v[i], sinsp_chisel_follow(cs->v[i].c, evt));
	return result(cs, err);
}

int chisels_flush(struct chisels *cs)
{
	if (!cs->n || fflush(cs->run.out) == 0)
		return 0;
	return result(cs, -errno);
}

/* Closes the output of -o, and reports what was not written. */
static int close_output(struct chisels *cs)
{
	cs->run.out = stderr;
	return chisel_output_close(&cs->output,
				   !cs->runs || (cs->run.ends_with_status && cs->run.status));
}

/* Flushes standard output. Does not report a closed pipe. */
static int end_printed(struct chisels *cs)
{
	struct pollfd fd = {.fd = fileno(cs->run.out)};
	int bad;

	errno = 0;
	if (fflush(cs->run.out) == 0 && !ferror(cs->run.out))
		return 0;
	bad = errno; /* 0: it failed before */
	if (bad == EPIPE || (poll(&fd, 1, 0) == 1 && (fd.revents & POLLERR)))
		return -EPIPE;
	return stdout_failed(bad);
}

static int end_one(struct chisels *cs, struct chisel_use *use)
{
	const int err = sinsp_chisel_end(use->c);

	if (!err || err == -ECANCELED)
		return err;
	use->failed = 1;
	cs->n_failed++;
	return 0;
}

int chisels_end(struct chisels *cs)
{
	int err = 0;

	for (size_t i = 0; i < cs->n && cs->runs && !err && !cs->run.ends_with_status; i++)
		if (!cs->v[i].failed)
			err = end_one(cs, &cs->v[i]);
	if (!err && cs->n_failed)
		err = -EINVAL;
	err = result(cs, err);
	return err ?: cs->output.f ? close_output(cs) : end_printed(cs);
}
