/* SPDX-License-Identifier: Apache-2.0 */
/* The options of saker profile: shorthand for other options that sample, run chisels over the
 * samples, and set their output. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fields/format.h"
#include "option_shared.h"
#include "option_values.h"
#include "say.h"

#define DEFAULT_HZ 99 /* avoids lockstep with what happens every hundredth of a second */

/* clang-format off */
const struct option_row profile_rows[] = {
	ROW_FREQUENCY(GROUP_PROFILE),
	{'p', "pid", "LIST", GROUP_PROFILE,
	 "Only all threads of these processes: PIDs, separated by commas.",
	 parse_pids, AT(pids)},
	{0, "tree", NULL, GROUP_PROFILE,
	 "With -p: also the descendants of these processes.",
	 set_value, AT(tree), 1},
	{0, "comm", "LIST", GROUP_PROFILE,
	 "Only threads and processes with one of these names.",
	 parse_names, AT(comms)},
	{0, "cgroup", "PATH", GROUP_PROFILE,
	 "Only threads in this cgroup or below it. Can be repeated.",
	 parse_list, AT(cgroups)},
	{0, "all", NULL, GROUP_PROFILE,
	 "With -- CMD: sample the whole machine while CMD runs, not only CMD and its "
	 "descendants.",
	 set_value, AT(all), 1},
	{'d', "duration", "SECONDS", GROUP_PROFILE,
	 "Stop after SECONDS; with -r, after SECONDS of the capture.",
	 parse_seconds, AT(max_ns)},
	{0, "off-cpu", NULL, GROUP_PROFILE,
	 "Sample threads that leave their CPU, with the time until they run again: what they "
	 "wait for. With -F: also what they run.",
	 set_value, AT(profile.off_cpu), 1},
	{0, "off-cpu-min", "SECONDS", GROUP_PROFILE,
	 "With --off-cpu: ignore waits shorter than SECONDS.",
	 parse_seconds, AT(sample.off_min_ns)},
	ROW_STACK_DEPTH(GROUP_PROFILE),
	ROW_UNWIND_TABLES(GROUP_PROFILE),
	ROW_PROBABILITY(GROUP_PROFILE),
	ROW_INTERVAL(GROUP_PROFILE),
	{0, "ring-size", "SIZE", GROUP_PROFILE,
	 "Bytes per ring, a power of two with optional suffix K, M or G (default 8M). Raise it "
	 "if samples were lost.",
	 parse_ring_size, AT(ring_sz)},
	{'o', "output", "FILE", GROUP_PROFILE,
	 "Write to FILE instead of the terminal. Its extension is the format: .svg flame graph, "
	 ".folded folded stacks, .pb or .pb.gz pprof, .otlp OTLP, .speedscope.json speedscope, .perf.txt "
	 "text as perf script prints it, .json one object per stack, .txt text. Add .gz to "
	 "compress.",
	 set_text, AT(output)},
	{0, "otlp", "URL", GROUP_PROFILE,
	 "Send the profile to the OpenTelemetry collector at URL, as saker send does.",
	 set_text, AT(profile.otlp)},
	{'c', "chisel", "NAME", GROUP_PROFILE,
	 "Run this chisel on the samples. Can be repeated.", parse_chisel, 0},
	{'r', "read", "FILE", GROUP_PROFILE,
	 "Use the samples of a capture file; - is standard input. Can be repeated.",
	 parse_list, AT(read)},
	{0, "diff", "A B", GROUP_PROFILE,
	 "Compare the capture files A and B: functions with a larger or smaller share in B.",
	 parse_diff, 0},
	ROW_REDACT(GROUP_PROFILE),
	ROW_WRITE(GROUP_PROFILE,
		  "Write the samples to a capture file, to look at them later with -r; without -o or -c "
		  "nothing else."),
	ROW_FROM(GROUP_PROFILE),
	ROW_TO(GROUP_PROFILE),
	ROW_WITH_SYMBOLS(GROUP_PROFILE),
	ROW_DEBUG_DIR(GROUP_PROFILE),
	ROW_INTERPRETER_FRAMES(GROUP_PROFILE),
	ROW_MAX_SIZE(GROUP_PROFILE),
	ROW_MIN_FREE(GROUP_PROFILE),
	ROW_ZSTD(GROUP_PROFILE),
	{'v', "verbose", NULL, GROUP_PROFILE,
	 "At the end, print what was sampled, what was lost and why, and the cost of saker.",
	 set_value, AT(verbose), 1},
	ROW_HELP(GROUP_PROFILE),
	{0},
};

/* By the suffix of -o FILE. */
static const struct ending {
	const char *ending, *chisel;
	int is_text; /* as on a terminal */
	int kind; /* enum sinsp_format_kind */
} endings[] = {
	{".svg", "flamegraph"},
	{".folded", "folded"},
	{".pb", "pprof"},
	{".otlp", "otlpprofile"},
	{".speedscope.json", "speedscope"},
	{".perf.txt", "perfscript"},
	{".json", "folded", 0, SINSP_FORMAT_JSON},
	{".txt", NULL, 1},
};
/* clang-format on */

/* The first of two files is the word after the option, the second the next word. */
int parse_diff(void *member, const struct option_row *row, const char *arg)
{
	struct options *o = member;

	o->profile.diff = 1;
	return parse_list(&o->read, row, arg);
}

static const struct ending *ending_of(const char *path)
{
	size_t len = strlen(path);

	if (is_gz_name(path))
		len -= 3;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		const size_t n = strlen(endings[i].ending);

		if (len > n && memcmp(path + len - n, endings[i].ending, n) == 0)
			return &endings[i];
	}
	return NULL;
}

static int add_chisel(struct options *o, const char *name)
{
	struct chisel_name *v = realloc(o->chisels.v, (o->chisels.n + 1) * sizeof(*o->chisels.v));

	if (!v)
		return -ENOMEM;
	o->chisels.v = v;
	/* All words are the filter. */
	v[o->chisels.n++] = (struct chisel_name){name, o->words.n};
	return 0;
}

/* A table of what waits and one of what runs; an empty one is left out. */
static int add_text(struct options *o)
{
	const int may_wait = o->read.n || o->profile.off_cpu;
	int err = 0;

	o->profile.own_views = 1;
	if (may_wait)
		err = add_chisel(o, "offcpu if_empty=nothing");
	if (!err)
		err = add_chisel(o, may_wait ? "topfuncs native=callers of=running"
					     : "topfuncs native=callers");
	return err ?: add_chisel(o, "calltree");
}

static int choose_by_ending(struct options *o)
{
	const struct ending *e = ending_of(o->output);

	if (!e) {
		say("cannot write %s: unknown extension; use .svg, .folded, .pb.gz, .otlp, "
		    ".speedscope.json, .perf.txt, .json or .txt",
		    o->output);
		return -EINVAL;
	}
	o->lines_kind = e->kind;
	if (o->profile.diff && strcmp(e->ending, ".svg") && strcmp(e->ending, ".txt") &&
	    strcmp(e->ending, ".json")) {
		say("--diff can write .svg, .txt and .json, not %s", e->ending);
		return -EINVAL;
	}
	if (o->profile.diff)
		return add_chisel(o, strcmp(e->ending, ".svg") ? "stackdiff" : "flamediff");
	return e->is_text ? add_text(o) : add_chisel(o, e->chisel);
}

static int is_named(const char *chisel, const char *name)
{
	const size_t n = strcspn(chisel, " ");

	return strlen(name) == n && memcmp(chisel, name, n) == 0;
}

/* Returns whether its output differs from that of @e; for a user's own chisel this is unknown. */
static int is_of_other_ending(const char *chisel, const struct ending *e)
{
	static const char *const texts[] = {"topfuncs", "calltree", "offcpu", "stackdiff"};

	if (e->chisel && is_named(chisel, e->chisel))
		return 0;
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (endings[i].chisel && is_named(chisel, endings[i].chisel))
			return 1;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (is_named(chisel, texts[i]))
			return 1;
	return 0;
}

/* The suffix of a file determines its content. Any chisel may print to a .txt, or objects to a
 * .json. */
static int check_ending(struct options *o)
{
	const struct ending *e = o->output ? ending_of(o->output) : NULL;

	if (!e || e->is_text)
		return 0;
	o->lines_kind = e->kind;
	if (e->kind == SINSP_FORMAT_JSON)
		return 0;
	for (size_t i = 0; i < o->chisels.n; i++) {
		if (is_of_other_ending(o->chisels.v[i].name, e)) {
			say("cannot write %s: the output of %s is another format; omit -c, or name "
			    "a .txt file",
			    o->output, o->chisels.v[i].name);
			return -EINVAL;
		}
	}
	return 0;
}

static int choose_chisels(struct options *o)
{
	if (o->chisels.n)
		return check_ending(o);
	if (o->profile.otlp)
		return add_chisel(o, "otlpprofile");
	if (o->output)
		return choose_by_ending(o);
	if (o->write)
		return 0;
	if (o->profile.diff)
		return add_chisel(o, "stackdiff");
	return add_text(o);
}

static int choose_samples(struct options *o)
{
	int err = 0;

	if (o->read.n)
		return 0;
	if (o->profile.off_cpu)
		err = parse_list(&o->sample.on, profile_rows, "off_cpu");
	else if (!o->sample.period_ns)
		o->sample.period_ns = 1000000000 / DEFAULT_HZ;
	return err;
}

/* Samples only: a condition for that precedes the filter. */
static int mean_samples(struct options *o)
{
	static const char *const before[] = {"evt.type=sample", "and ("}, *const after = ")";
	const size_t n = o->words.n, n_before = n ? 2 : 1;
	const char **v;

	if (o->chisels.n)
		return 0; /* words may be its arguments */
	v = calloc(n + 4, sizeof(*v));
	if (!v)
		return -ENOMEM;
	memcpy(v, before, n_before * sizeof(*v));
	if (n) {
		memcpy(v + n_before, o->words.v, n * sizeof(*v));
		v[n_before + n] = after;
	}
	free(o->words.v);
	o->words.v = v;
	o->words.n = n ? n + 3 : 1;
	return 0;
}

/* One row per pair of options that exclude each other; shared ones are in options_parse.c. */
static int check(const struct options *o)
{
	const int has_how = o->sample.period_ns || o->profile.off_cpu || o->sample.off_min_ns ||
			    o->sample.depth || o->sample.tables_sz || o->sample.threshold ||
			    o->sample.interval_ns;
	const int has_who = o->pids.n || o->tree || o->comms.n || o->cgroups.n;
	const struct {
		int bad;
		const char *text;
	} rules[] = {
		{o->read.n && o->command, "-r and -- CMD exclude each other"},
		{o->read.n && has_how, "-F, --off-cpu, --off-cpu-min, --stack-depth, "
				       "--unwind-tables and the probabilistic options apply to "
				       "live sampling, not to files"},
		{o->read.n && has_who, "-p, --tree, --comm and --cgroup apply to live sampling; "
				       "for a file use a filter, as in proc.pid=1234"},
		{o->profile.diff && o->read.n != 2,
		 "--diff needs two capture files: saker profile --diff A B"},
		{o->profile.diff && o->max_ns, "--diff and -d exclude each other"},
		{o->profile.diff && o->write, "--diff and -w exclude each other"},
		{o->all && !o->command, "--all needs a command: saker profile --all -- CMD"},
		{o->tree && !o->pids.n, "--tree needs -p"},
		{o->pids.n && o->command && !o->all,
		 "-p selects processes other than CMD: add --all to sample them while CMD runs"},
		{o->sample.off_min_ns && !o->profile.off_cpu, "--off-cpu-min needs --off-cpu"},
		{o->compress && !o->write, "--zstd needs -w FILE"},
		{o->profile.otlp && strncmp(o->profile.otlp, "http://", 7) &&
			 strncmp(o->profile.otlp, "https://", 8),
		 "--otlp needs a URL, as in http://127.0.0.1:4318"},
		{o->profile.otlp && (o->output || o->chisels.n || o->profile.diff),
		 "--otlp excludes -o, -c and --diff; saker send sends a file"},
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if (rules[i].bad) {
			say("%s", rules[i].text);
			return -EINVAL;
		}
	}
	return 0;
}

int profile_settle(struct options *o)
{
	int err;

	if (o->mode == MODE_HELP)
		return 0;
	err = check(o);
	if (err)
		return err;
	err = choose_samples(o) ?: mean_samples(o);
	return err ?: choose_chisels(o);
}
