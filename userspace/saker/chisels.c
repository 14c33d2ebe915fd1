/* SPDX-License-Identifier: Apache-2.0 */
#include "chisels.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chisel_files.h"
#include "fields/field.h"
#include "fields/format.h"
#include "say.h"
#include "spawn.h"
#include "wrap.h"

/* ---- where chisels are ---- */

static int add_dir(struct chisels *cs, size_t *n, const char *dir, const char *below)
{
	char **dirs;

	if (!dir || !*dir)
		return 0;
	dirs = realloc(cs->dirs, (*n + 2) * sizeof(*dirs));
	if (!dirs)
		return -ENOMEM;
	cs->dirs = dirs;
	dirs[*n + 1] = NULL;
	if (asprintf(&dirs[*n], "%s%s", dir, below) < 0) {
		dirs[*n] = NULL;
		return -ENOMEM;
	}
	++*n;
	return 0;
}

/*
 * The user's folders come before built-in chisels, the machine's after them: an older installation
 * never replaces parts of this program. The working directory is not searched, since anybody may
 * put a file there: -c ./NAME names one.
 */
static int find_dirs(struct chisels *cs)
{
	static const char *const of_machine[] = {
		SAKER_CHISELS_DIR,
		"/usr/share/sysdig/chisels",
		NULL,
	};
	const struct {
		const char *dir, *below;
	} rows[] = {
		{getenv("HOME"), "/.chisels"},
		{getenv("SAKER_CHISEL_DIR"), ""},
		{getenv("SYSDIG_CHISEL_DIR"), ""},
	};
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !err; i++)
		err = add_dir(cs, &n, rows[i].dir, rows[i].below);
	cs->run.dirs = (const char *const *)cs->dirs;
	cs->run.builtin = chisel_files;
	cs->run.more_dirs = of_machine;
	return err;
}

/* ---- words: arguments of chisels, or the filter ---- */

/* Joins the words from @from on, with spaces. Owned; NULL: no memory. */
static char *join(const struct text_list *words, size_t from, const char *skip)
{
	struct sinsp_text text = {0};
	FILE *f = open_memstream(&text.p, &text.len);
	const char *sep = "";

	if (!f)
		return NULL;
	for (size_t i = from; i < words->n; i++) {
		if (skip && skip[i])
			continue;
		fprintf(f, "%s%s", sep, words->v[i]);
		sep = " ";
	}
	fclose(f);
	return text.p;
}

/* The words between -c NAME and the next -c, and which of all words are used. */
struct behind {
	const struct text_list *words;
	size_t from, end;
	char *taken;
};

/*
 * Returns whether the remaining words are a filter; @but_named: without those that name arguments.
 */
static int is_filter(const struct behind *b, const struct sinsp_chisel *but_named)
{
	char *skip = calloc(1, b->words->n + 1), *text = NULL;
	struct sinsp_filter *f = NULL;
	int yes;

	for (size_t i = b->from; skip && i < b->words->n; i++)
		skip[i] = b->taken[i] || i >= b->end ||
			  (but_named && sinsp_chisel_names_arg(but_named, b->words->v[i]));
	if (skip)
		text = join(b->words, b->from, skip);
	yes = text && sinsp_filter_new(&f, text, NULL, NULL) == 0;
	sinsp_filter_free(f);
	free(text);
	free(skip);
	return yes;
}

static int add_arg(struct text_list *args, const char *text)
{
	const char **v = realloc(args->v, (args->n + 2) * sizeof(*v));

	if (!v)
		return -ENOMEM;
	args->v = v;
	v[args->n++] = text;
	v[args->n] = NULL;
	return 0;
}

static int take_word(struct behind *b, size_t i, struct text_list *args)
{
	b->taken[i] = 1;
	return add_arg(args, b->words->v[i]);
}

/* Takes words that name an argument: all, or those at the beginning. */
static int take_named(const struct sinsp_chisel *c, struct behind *b, struct text_list *args,
		      int all)
{
	int err = 0;

	for (size_t i = b->from; i < b->end && !err; i++) {
		if (b->taken[i])
			continue;
		if (sinsp_chisel_names_arg(c, b->words->v[i]))
			err = take_word(b, i, args);
		else if (!all)
			break;
	}
	return err;
}

/* Returns whether @name begins with a class of fields, such as "evt.". */
static int has_field_class(const char *name, size_t len)
{
	const size_t dot = strcspn(name, ".") + 1;

	if (dot > len)
		return 0;
	for (const struct sinsp_field_class *const *c = sinsp_field_classes; *c; c++)
		for (size_t i = 0; i < (*c)->n_rows; i++)
			if (strncmp((*c)->rows[i].name, name, dot) == 0)
				return 1;
	return 0;
}

/* Reports a word that is neither an argument nor part of a filter. */
enum meaning { MEANS_VALUE, MEANS_FILTER, MEANS_ARG };

/* "evt.typ=read" is a filter with an error, "tpo=5" an argument. @name_len: length before the
 * operator. */
static enum meaning meaning_of(const char *word, const char *next, size_t *name_len)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
	const char *name = word + strspn(word, "( "), *op;
	size_t len;

	if (strncmp(name, "not ", 4) == 0)
		name += 4 + strspn(name + 4, "( ");
	len = strcspn(name, " =!<>[");
	op = name + len + strspn(name + len, " ");
	if (!*op && next)
		op = next;
	if (*op && strchr("=!<>[", *op) && has_field_class(name, len))
		return MEANS_FILTER;
	*name_len = len;
	return len && strspn(word, letters) == len && word[len] == '=' ? MEANS_ARG : MEANS_VALUE;
}

/* Returns whether the word at @at is a value of an argument: 1, 0, or -EINVAL after reporting an
 * error. */
static int means_value(const struct sinsp_chisel *c, const struct behind *b, size_t at)
{
	const char *word = b->words->v[at], *name = sinsp_chisel_info(c)->name;
	size_t len;

	switch (meaning_of(word, at + 1 < b->end ? b->words->v[at + 1] : NULL, &len)) {
	case MEANS_FILTER:
		return 0;
	case MEANS_ARG:
		say("chisel %s has no argument %.*s; see saker -i %s", name, (int)len, word, name);
		return -EINVAL;
	case MEANS_VALUE:
		break;
	}
	return 1;
}

/* Returns the argument of a chisel whose only argument is a filter; NULL: it has others. */
static const char *filter_arg_of(const struct sinsp_chisel *c)
{
	const struct sinsp_chisel_info *info = sinsp_chisel_info(c);

	return info->n_args == 1 && strcmp(info->args[0].type, "filter") == 0 ? info->args[0].name
									      : NULL;
}

/* Removes quotes around it, which shells remove and users of sysdig write twice. */
static void unquote(char *text)
{
	const size_t len = strlen(text);

	if (len < 2 || !strchr("'`\"", *text) || strchr(text + 1, *text) != text + len - 1)
		return;
	memmove(text, text + 1, len - 2);
	text[len - 2] = '\0';
}

/* Takes all remaining words as that argument. */
static int take_filter(struct chisel_use *use, struct behind *b, const char *name)
{
	char *skip = calloc(1, b->words->n + 1), *text;

	for (size_t i = b->from; skip && i < b->words->n; i++)
		skip[i] = b->taken[i] || i >= b->end;
	text = skip ? join(b->words, b->from, skip) : NULL;
	free(skip);
	if (!text)
		return -ENOMEM;
	unquote(text);
	if (asprintf(&use->filter, "%s=%s", name, text) < 0)
		use->filter = NULL;
	free(text);
	for (size_t i = b->from; i < b->end; i++)
		b->taken[i] = 1;
	return use->filter ? add_arg(&use->args, use->filter) : -ENOMEM;
}

/*
 * As in sysdig: the word after the name is for a chisel with required arguments, and for one with
 * optional ones if it does not begin a filter, or the argument is one; errors in a filter are
 * reported as such. @at: the word. Returns 1, 0 or a negative errno.
 */
static int wants_word(const struct sinsp_chisel *c, const struct behind *b, size_t at,
		      const struct text_list *args)
{
	int needs;

	if (!sinsp_chisel_info(c)->n_args)
		return 0;
	needs = sinsp_chisel_needs_arg(c, args->v, args->n);
	if (needs)
		return needs < 0 ? needs : 1;
	if (is_filter(b, NULL) || is_filter(b, c))
		return 0;
	return means_value(c, b, at);
}

/* Takes the words for the chisel. Words that form a filter are one, as in sysdig. */
static int take_words(struct chisel_use *use, struct behind *b)
{
	const struct sinsp_chisel *c = use->c;
	struct text_list *args = &use->args;
	int err = take_named(c, b, args, 0), wants;
	size_t at = b->from;

	while (at < b->end && b->taken[at])
		at++;
	if (err || at == b->end)
		return err;
	if (!args->n && filter_arg_of(c))
		return take_filter(use, b, filter_arg_of(c));
	wants = wants_word(c, b, at, args);
	if (wants > 0)
		err = take_word(b, at, args);
	if (wants < 0 || err)
		return wants < 0 ? wants : err;
	return is_filter(b, NULL) ? 0 : take_named(c, b, args, 1);
}

/* Splits -c "NAME ARGUMENTS" if there is no file of that name. Owned. */
static char *split_name(const char *text, struct text_list *args)
{
	const int is_path = strchr(text, '/') && access(text, F_OK) == 0;
	const size_t len = is_path ? strlen(text) : strcspn(text, " ");

	if (text[len]) {
		args->v = calloc(2, sizeof(*args->v));
		if (!args->v)
			return NULL;
		args->v[args->n++] = text + len + 1;
	}
	return strndup(text, len);
}

/* Refuses files that cannot run. */
static int refuse_idle(const struct sinsp_chisel_info *info)
{
	if (info->view) {
		say("%s is a view (a table of the terminal interface), not a chisel", info->name);
		return -EINVAL;
	}
	if (info->is_module) {
		say("%s is a library module, not a chisel; see saker -cl", info->name);
		return -EINVAL;
	}
	return 0;
}

/* Checks an argument that is a filter before the chisel does. */
static int check_filter(const struct chisel_use *use)
{
	const char *text = use->filter ? strchr(use->filter, '=') + 1 : "";
	struct sinsp_filter_error bad = {0};
	struct sinsp_filter *f = NULL;
	int err = *text ? sinsp_filter_new(&f, text, NULL, &bad) : 0;

	sinsp_filter_free(f);
	if (err)
		say("chisel %s: its argument '%s' is not a filter: %s",
		    sinsp_chisel_info(use->c)->name, text, bad.text ? bad.message : strerror(-err));
	return err;
}

/* A field in a list separated by commas, or nearly one. */
static int names_field(const char *word)
{
	for (size_t len; *word; word += len + (word[len] != '\0')) {
		len = strcspn(word, ",=");
		if (memchr(word, '.', len) && sinsp_field_nearest(word, len))
			return 1;
	}
	return 0;
}

/* Warns about words that a chisel took as values, but that look like something else. */
static void say_order(const struct options *o, const struct chisel_use *use, const struct behind *b)
{
	const char *name = sinsp_chisel_info(use->c)->name;
	size_t i = b->from;

	while (i < b->end && (!b->taken[i] || sinsp_chisel_names_arg(use->c, b->words->v[i])))
		i++;
	if (i == b->end || names_field(b->words->v[i]))
		return;
	if (o->read.n || o->command)
		say("after -c %s come its arguments (see saker -i %s), then a filter", name, name);
	else
		say("after -c %s come its arguments (see saker -i %s), then a filter, then "
		    "-- and a command to run: saker -c %s -- %s%s",
		    name, name, name, b->words->v[i], i + 1 < b->end ? " ..." : "");
}

static int open_one(struct chisels *cs, const struct options *o, size_t i, char *taken)
{
	const struct chisel_name *name_at = &o->chisels.v[i];
	struct behind b = {
		.words = &o->words,
		.from = name_at->n_words,
		.end = i + 1 < o->chisels.n ? name_at[1].n_words : o->words.n,
		.taken = taken,
	};
	struct chisel_use *use = &cs->v[i];
	char *name = split_name(name_at->name, &use->args);
	int err = name ? sinsp_chisel_open(&use->c, &cs->run, name) : -ENOMEM;

	free(name);
	if (err)
		return err;
	err = refuse_idle(sinsp_chisel_info(use->c));
	if (err)
		return err;
	err = take_words(use, &b) ?: check_filter(use);
	if (err)
		return err;
	err = sinsp_chisel_set_args(use->c, use->args.v, use->args.n);
	if (err)
		say_order(o, use, &b);
	return err;
}

/* Combines the filters of the command line and of sysdig.set_filter. */
static int settle_filter(struct chisels *cs, struct options *o, const char *taken)
{
	o->filter = join(&o->words, 0, taken);
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
static void end_stuck(const char *chisel)
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

static void tell_run(struct chisels *cs, const struct options *o)
{
	struct sinsp_chisel_run *run = &cs->run;

	run->log = say_log;
	run->stuck = end_stuck;
	run->source = o->read.n ? o->read.v[0] : NULL;
	run->out = o->command ? stderr : stdout;
	run->several = o->chisels.n > 1 && !o->profile.own_views;
	run->json = o->lines_kind == SINSP_FORMAT_JSON;
	run->port_names = (uint8_t)o->port_names;
	run->containers = o->line.preset == SINSP_LINE_CONTAINER;
	run->buf_fmt = (uint8_t)o->buf_fmt;
	run->buf_max = UINT32_MAX; /* chisels truncate themselves */
	run->unsafe = (uint8_t)o->chisel_unsafe;
	if (o->chisel_limit.bytes)
		run->max_bytes = o->chisel_limit.bytes;
	if (o->chisel_limit.instructions)
		run->max_instructions = o->chisel_limit.instructions;
}

/* As in sysdig, but there silently. */
static void tell_unused(const struct options *o)
{
	if (o->line.format || o->time_fmt)
		say_log(NULL, SCAP_LOG_WARN,
			"-p FORMAT and -t apply to lines; chisels have output of their own");
}

static int open_all(struct chisels *cs, struct options *o, char *taken)
{
	int err = 0;

	for (size_t i = 0; i < o->chisels.n && !err; i++)
		err = open_one(cs, o, i, taken);
	if (!err)
		err = settle_filter(cs, o, taken);
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
	char *taken;
	int err;

	*cs = (struct chisels){0};
	sinsp_chisel_run_init(&cs->run);
	tell_run(cs, o);
	tell_unused(o);
	cs->write = o->write;
	cs->v = calloc(o->chisels.n + 1, sizeof(*cs->v));
	cs->n = cs->v ? o->chisels.n : 0;
	taken = calloc(1, o->words.n + 1);
	err = cs->v && taken ? find_dirs(cs) : -ENOMEM;
	if (!err && o->output && strcmp(o->output, "-") == 0)
		cs->run.out = stdout;
	else if (!err && o->output) {
		err = chisel_output_open(&cs->output, o->output, o->profile.on);
		if (!err)
			cs->run.out = cs->output.f;
	}
	if (!err)
		err = open_all(cs, o, taken);
	free(taken);
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
	for (char **d = cs->dirs; d && *d; d++)
		free(*d);
	free(cs->dirs);
	free(cs->v);
	sinsp_chisel_run_fini(&cs->run);
	*cs = (struct chisels){0};
}

/* ---- the run ---- */

/* Handles the result of one chisel: its failure ends the capture only if nothing else continues. */
static int own_failure(struct chisels *cs, struct chisel_use *use, int err)
{
	const char *name = sinsp_chisel_info(use->c)->name;

	if (!err || err == -ECANCELED)
		return err;
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
			err = own_failure(cs, &cs->v[i], sinsp_chisel_tick(cs->v[i].c, evt));
	return result(cs, err);
}

int chisels_idle(struct chisels *cs, uint64_t now_ns)
{
	int err = 0;

	for (size_t i = 0; i < cs->n && !err && !cs->run.end; i++)
		if (!cs->v[i].failed)
			err = own_failure(cs, &cs->v[i], sinsp_chisel_idle(cs->v[i].c, now_ns));
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
			err = own_failure(cs, &cs->v[i], sinsp_chisel_event(cs->v[i].c, evt));
	return result(cs, err);
}

int chisels_follow(struct chisels *cs, const struct sinsp_evt *evt)
{
	int err = 0;

	for (size_t i = 0; i < cs->n && !err && !cs->run.end; i++)
		if (!cs->v[i].failed)
			err = own_failure(cs, &cs->v[i], sinsp_chisel_follow(cs->v[i].c, evt));
	return result(cs, err);
}

int chisels_flush(struct chisels *cs)
{
	if (!cs->n || fflush(cs->run.out) == 0)
		return 0;
	return result(cs, -errno);
}

/* Output that was not written is reported here at the latest. */
static int close_output(struct chisels *cs)
{
	cs->run.out = stderr;
	return chisel_output_close(&cs->output,
				   !cs->runs || (cs->run.ends_with_status && cs->run.status));
}

/* A closed output pipe is no reason to complain. */
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
	say("cannot write all to standard output%s%s", bad ? ": " : "", bad ? strerror(bad) : "");
	return -(bad ?: EIO);
}

static int own_end(struct chisels *cs, struct chisel_use *use)
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
			err = own_end(cs, &cs->v[i]);
	if (!err && cs->n_failed)
		err = -EINVAL;
	err = result(cs, err);
	return err ?: cs->output.f ? close_output(cs) : end_printed(cs);
}

/* ---- sysdig.run_app ---- */

int chisels_split_run_app(const struct chisels *cs, char *self, char ***argv, int *argc)
{
	char *rest = strdup(cs->run.run_app), *word, **v;
	int n = 1;

	*argc = 0;
	*argv = v = calloc(strlen(cs->run.run_app) / 2 + 3, sizeof(*v));
	if (!rest || !v) {
		free(rest);
		return -ENOMEM;
	}
	v[0] = self;
	for (char *p = rest; (word = strsep(&p, " "));)
		if (*word && (v[n] = strdup(word)))
			n++;
	*argc = n;
	free(rest);
	return 0;
}

/* Returns whether it is one of the words, or the value of one. */
static int has_word(const char *text, const char *word, size_t len)
{
	for (const char *p = text; *p; p += strcspn(p, " ="), p += strspn(p, " ="))
		if (strcspn(p, " ") == len && memcmp(p, word, len) == 0)
			return 1;
	return 0;
}

/* Returns whether the user named @file as an argument of a chisel. */
static int was_given(const struct chisels *cs, const char *file)
{
	const size_t len = strlen(file);

	for (size_t i = 0; i < cs->n; i++)
		for (size_t j = 0; j < cs->v[i].args.n; j++)
			if (has_word(cs->v[i].args.v[j], file, len))
				return 1;
	return 0;
}

int chisels_check_run_app(const struct chisels *cs, const struct options *o)
{
	if (cs->run.unsafe)
		return 0;
	if (o->command || o->output || o->chisels.n || o->mode != MODE_CAPTURE) {
		say("sysdig.run_app('%s') is not allowed: without --chisel-unsafe it can only "
		    "print or filter a capture",
		    cs->run.run_app);
		return -EPERM;
	}
	if (o->write && !was_given(cs, o->write)) {
		say("sysdig.run_app may not write %s: without --chisel-unsafe only files named by "
		    "the chisel's arguments",
		    o->write);
		return -EPERM;
	}
	return 0;
}

/* ---- lists ---- */

struct listed {
	char *category, *name, *summary; /* owned */
};

struct listing {
	struct sinsp_chisel_run *run;
	struct listed *v;
	size_t n;
};

static int list_one(void *ctx, const char *name)
{
	struct listing *l = ctx;
	const struct sinsp_chisel_info *info;
	struct sinsp_chisel *c;
	struct listed *v;
	int err = sinsp_chisel_open(&c, l->run, name);

	if (err)
		return err == -ENOMEM ? err : 0; /* a module, or broken: -i reports more */
	info = sinsp_chisel_info(c);
	if (!info->hidden && !info->view && *info->description) {
		v = realloc(l->v, (l->n + 1) * sizeof(*v));
		if (v) {
			l->v = v;
			v[l->n++] = (struct listed){strdup(info->category), strdup(name),
						    strdup(info->short_description)};
		} else {
			err = -ENOMEM;
		}
	}
	sinsp_chisel_close(c);
	return err == -ENOMEM ? err : 0;
}

static int compare_listed(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	return strcmp(x->category, y->category) ?: strcmp(x->name, y->name);
}

static void put_listing(const struct listing *l)
{
	enum { SUMMARY_COLUMN = 22 };

	for (size_t i = 0; i < l->n; i++) {
		const struct listed *x = &l->v[i];

		if (!i || strcmp(x->category, x[-1].category) != 0)
			printf("%s%s\n", i ? "\n" : "", *x->category ? x->category : "Others");
		printf("  %-*s", SUMMARY_COLUMN - 3, x->name);
		putchar(' ');
		put_wrapped_to(stdout, x->summary, SUMMARY_COLUMN, terminal_width(stdout));
	}
}

int chisels_list(const struct options *o)
{
	struct listing l = {0};
	struct chisels cs = {0};
	int err;

	if (o->markdown) {
		sinsp_chisel_api_markdown(stdout);
		return STATUS_OK;
	}
	sinsp_chisel_run_init(&cs.run);
	cs.run.out = stderr; /* suppresses what a file prints when it is loaded */
	l.run = &cs.run;
	err = find_dirs(&cs);
	if (!err)
		err = sinsp_chisel_each(&cs.run, list_one, &l);
	if (err) {
		say("cannot list chisels: %s", strerror(-err));
	} else {
		qsort(l.v, l.n, sizeof(*l.v), compare_listed);
		put_listing(&l);
	}
	for (size_t i = 0; i < l.n; i++) {
		free(l.v[i].category);
		free(l.v[i].name);
		free(l.v[i].summary);
	}
	free(l.v);
	chisels_close(&cs);
	return err ? STATUS_FAILED : STATUS_OK;
}

/* Returns why a field of another tool does not exist; NULL: it does. */
static char *why_no_field(const char *name)
{
	struct sinsp_field f = {0};
	const char *why = "";
	char *copy = NULL;
	size_t at;

	if (sinsp_field_parse(&f, name, &why, &at) < 0)
		copy = strdup(why);
	sinsp_field_fini(&f);
	return copy;
}

static void put_column(const struct sinsp_view_column *column, int width)
{
	char *why = why_no_field(column->field);

	printf("  %s (%s)\n", column->name, column->field);
	if (why || *column->description) {
		printf("      ");
		put_wrapped_to(stdout, why ?: column->description, 6, width);
	}
	free(why);
}

static void put_view(const struct sinsp_chisel_info *info)
{
	const struct sinsp_view *view = info->view;
	const int width = terminal_width(stdout);

	printf("%s: %s, a view: data for a table on the terminal, not to be run with -c\nFile: "
	       "%s\n\n",
	       info->name, view->name, info->path);
	put_wrapped_to(stdout, view->description, 0, width);
	printf("\nFilter: %s\nColumns:\n", *view->filter ? view->filter : "none");
	for (size_t i = 0; i < view->n_columns; i++)
		if (!view->columns[i].is_key)
			put_column(&view->columns[i], width);
}

static void put_info(const struct sinsp_chisel_info *info)
{
	const int width = terminal_width(stdout);

	printf("%s: ", info->name);
	put_wrapped_to(stdout, *info->short_description ? info->short_description : "no summary", 2,
		       width);
	printf("Category: %s\nFile: %s\n\n", *info->category ? info->category : "none", info->path);
	put_wrapped_to(stdout, info->description, 0, width);
	printf("\nArguments:%s\n", info->n_args ? "" : " none");
	for (size_t i = 0; i < info->n_args; i++) {
		const struct sinsp_chisel_arg *a = &info->args[i];

		printf("  %s (%s%s): ", a->name, *a->type ? a->type : "string",
		       a->optional ? ", optional" : "");
		put_wrapped_to(stdout, a->description, 6, width);
	}
}

int chisels_show(const struct options *o)
{
	struct chisels cs = {0};
	struct sinsp_chisel *c = NULL;
	int err;

	sinsp_chisel_run_init(&cs.run);
	cs.run.log = say_log;
	err = find_dirs(&cs);
	if (!err)
		err = sinsp_chisel_open(&c, &cs.run, o->chisel_info);
	if (!err)
		(sinsp_chisel_info(c)->view ? put_view : put_info)(sinsp_chisel_info(c));
	sinsp_chisel_close(c);
	chisels_close(&cs);
	return err ? STATUS_FAILED : STATUS_OK;
}
