/* SPDX-License-Identifier: Apache-2.0 */
#include "chisels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fields/format.h"
#include "say.h"
#include "spawn.h"
#include "wrap.h"

/* ---- folders ---- */

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

/* As root by way of sudo too, the folders are those of the person who calls. */
static int find_dirs(struct chisels *cs)
{
	const struct {
		const char *dir, *below;
	} rows[] = {
		{".", ""},
		{".", "/chisels"},
		{getenv("HOME"), "/.chisels"},
		{getenv("SAKER_CHISEL_DIR"), ""},
		{getenv("SYSDIG_CHISEL_DIR"), ""},
		{SAKER_CHISELS_DIR, ""},
		{"/usr/share/sysdig/chisels", ""},
	};
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && !err; i++)
		err = add_dir(cs, &n, rows[i].dir, rows[i].below);
	cs->run.dirs = (const char *const *)cs->dirs;
	return err;
}

/* ---- words: arguments of chisels, or the filter ---- */

/* The words from @from on, with spaces between. Owned; NULL: no memory. */
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

static int is_filter(const struct text_list *words, size_t from)
{
	char *text = join(words, from, NULL);
	struct sinsp_filter *f = NULL;
	const int yes = text && sinsp_filter_new(&f, text, NULL, NULL) == 0;

	sinsp_filter_free(f);
	free(text);
	return yes;
}

/* As sysdig decides: the word behind the name is for a chisel that needs arguments, and for one
 * that only takes some, if it does not begin a filter, or if the argument is one. */
static int takes_word(const struct sinsp_chisel_info *info, const struct text_list *words,
		      size_t at)
{
	if (!info->n_args || at >= words->n)
		return 0;
	if (info->n_required || (info->n_args == 1 && strcmp(info->args[0].type, "filter") == 0))
		return 1;
	return !is_filter(words, at);
}

static int open_one(struct chisels *cs, const struct options *o, size_t i, char *taken)
{
	const struct text_list *words = &o->words;
	size_t at = o->chisels.v[i].n_words;
	const struct sinsp_chisel_info *info;
	int err = sinsp_chisel_open(&cs->v[i], &cs->run, o->chisels.v[i].name);

	if (err)
		return err;
	cs->n++;
	info = sinsp_chisel_info(cs->v[i]);
	if (info->is_view) {
		say("%s is a view, data for a table on the terminal: there is nothing to run",
		    info->name);
		return -EINVAL;
	}
	while (at < words->n && taken[at])
		at++;
	if (takes_word(info, words, at)) {
		cs->args[i] = words->v[at];
		taken[at] = 1;
	}
	return sinsp_chisel_set_args(cs->v[i], cs->args[i]);
}

/* What the command line and sysdig.set_filter ask for. */
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

static void tell_run(struct chisels *cs, const struct options *o)
{
	struct sinsp_chisel_run *run = &cs->run;

	run->log = say_log;
	run->source = o->read.n ? o->read.v[0] : NULL;
	run->out = o->command ? stderr : stdout;
	run->json = o->lines_kind == SINSP_FORMAT_JSON;
	run->containers = o->line.preset == SINSP_LINE_CONTAINER;
	run->buf_fmt = (uint8_t)o->buf_fmt;
	run->buf_max = UINT32_MAX; /* chisels cut themselves */
	run->unsafe = (uint8_t)o->chisel_unsafe;
	if (o->chisel_limit.bytes)
		run->max_bytes = o->chisel_limit.bytes;
	if (o->chisel_limit.instructions)
		run->max_instructions = o->chisel_limit.instructions;
}

static int open_all(struct chisels *cs, struct options *o, char *taken)
{
	int err = 0;

	for (size_t i = 0; i < o->chisels.n && !err; i++)
		err = open_one(cs, o, i, taken);
	if (!err)
		err = settle_filter(cs, o, taken);
	for (size_t i = 0; i < cs->n && !err; i++)
		err = sinsp_chisel_init(cs->v[i]);
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
	cs->v = calloc(o->chisels.n + 1, sizeof(struct sinsp_chisel *));
	cs->args = calloc(o->chisels.n + 1, sizeof(*cs->args));
	taken = calloc(1, o->words.n + 1);
	err = cs->v && cs->args && taken ? find_dirs(cs) : -ENOMEM;
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
	for (size_t i = 0; i < cs->n; i++)
		sinsp_chisel_close(cs->v[i]);
	for (char **d = cs->dirs; d && *d; d++)
		free(*d);
	free(cs->dirs);
	free(cs->v);
	free(cs->args);
	sinsp_chisel_run_fini(&cs->run);
	*cs = (struct chisels){0};
}

/* ---- the run ---- */

/* os.exit is an end as good as any. */
static int result(const struct chisels *cs, int err)
{
	return err == -ECANCELED && cs->run.ends_with_status ? 0 : err;
}

int chisels_begin(struct chisels *cs, struct sinsp *insp)
{
	int err = 0;

	cs->run.insp = insp;
	for (size_t i = 0; i < cs->n && !err; i++)
		err = sinsp_chisel_begin(cs->v[i]);
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
		err = sinsp_chisel_tick(cs->v[i], evt);
	return result(cs, err);
}

int chisels_event(struct chisels *cs, const struct sinsp_evt *evt)
{
	int err = 0;

	for (size_t i = 0; i < cs->n && !err && !cs->run.end; i++)
		err = sinsp_chisel_event(cs->v[i], evt);
	return result(cs, err);
}

int chisels_flush(struct chisels *cs)
{
	if (!cs->n || fflush(cs->run.out) == 0)
		return 0;
	return -errno;
}

int chisels_end(struct chisels *cs)
{
	int err = 0;

	for (size_t i = 0; i < cs->n && !err && !cs->run.ends_with_status; i++)
		err = sinsp_chisel_end(cs->v[i]);
	return result(cs, err);
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

/* Whether the person named @file as an argument of a chisel. */
static int was_given(const struct chisels *cs, const char *file)
{
	const size_t len = strlen(file);

	for (size_t i = 0; i < cs->n; i++) {
		const char *p = cs->args[i];

		for (; p && *p; p += strcspn(p, " "), p += strspn(p, " "))
			if (strcspn(p, " ") == len && memcmp(p, file, len) == 0)
				return 1;
	}
	return 0;
}

int chisels_check_run_app(const struct chisels *cs, const struct options *o)
{
	if (cs->run.unsafe)
		return 0;
	if (o->command || o->output || o->chisels.n || o->mode != MODE_CAPTURE) {
		say("sysdig.run_app('%s') is not allowed: without --chisel-unsafe it only makes "
		    "lines or a file of a capture",
		    cs->run.run_app);
		return -EPERM;
	}
	if (o->write && !was_given(cs, o->write)) {
		say("sysdig.run_app may not write %s: without --chisel-unsafe only files that are "
		    "an argument of the chisel",
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
	struct sinsp_chisel_run run;
	struct listed *v;
	size_t n;
};

static int list_one(void *ctx, const char *name)
{
	struct listing *l = ctx;
	const struct sinsp_chisel_info *info;
	struct sinsp_chisel *c;
	struct listed *v;
	int err = sinsp_chisel_open(&c, &l->run, name);

	if (err)
		return err == -ENOMEM ? err : 0; /* a module, or broken: -i says more */
	info = sinsp_chisel_info(c);
	if (!info->hidden && !info->is_view && *info->description) {
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
	err = find_dirs(&cs);
	sinsp_chisel_run_init(&l.run);
	l.run.out = stderr; /* not what a file prints when it is loaded */
	l.run.dirs = (const char *const *)cs.dirs;
	if (!err)
		err = sinsp_chisel_each(l.run.dirs, list_one, &l);
	if (err) {
		say("cannot list chisels: %s", strerror(-err));
	} else if (!l.n) {
		say("there are no chisels: none of the folders that are searched has any");
		err = -ENOENT;
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
	sinsp_chisel_run_fini(&l.run);
	chisels_close(&cs);
	return err ? STATUS_FAILED : STATUS_OK;
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
	int err = find_dirs(&cs);

	sinsp_chisel_run_init(&cs.run);
	cs.run.dirs = (const char *const *)cs.dirs;
	cs.run.log = say_log;
	if (!err)
		err = sinsp_chisel_open(&c, &cs.run, o->chisel_info);
	if (!err)
		put_info(sinsp_chisel_info(c));
	sinsp_chisel_close(c);
	chisels_close(&cs);
	return err ? STATUS_FAILED : STATUS_OK;
}
