/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the command line by the tables of options, and checks what does not go together. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fields/nearest.h"
#include "option_args.h"
#include "option_values.h"
#include "options.h"
#include "pieces.h"
#include "redact/redact.h"
#include "say.h"
#include "shared/config.h"

static const char *help_of(const struct option_row *rows)
{
	return rows == profile_rows ? "saker profile --help" : "saker --help";
}

/* Returns the command that word @i names; NULL: none. */
static const struct option_command *command_at(const struct option_args *args, int i)
{
	const struct option_command *command;

	for (command = option_commands; i < args->n && command->name; command++) {
		if (strcmp(args->v[i], command->name) == 0)
			return command;
	}
	return NULL;
}

static void switch_on(struct options *o, const struct option_command *command)
{
	*(int *)((char *)o + command->on) = 1;
}

const char *options_nearest_command(const char *word)
{
	struct nearest near;

	nearest_begin(&near, word);
	for (const struct option_command *c = option_commands; c->name; c++)
		nearest_try(&near, c->name);
	return near.best;
}

/*
 * For words that are no filter: options of a command without its --, or misspelt options of saker.
 */
static int says_command(const void *options, const char *option)
{
	const struct options *o = options;
	const char *word = o->words.n ? o->words.v[0] : "";
	const char *near = options_nearest_command(word);

	if (!*word || o->read.n || strpbrk(word, "=<>!(. ") || strcmp(word, "not") == 0)
		return 0;
	if (near) {
		say("unknown option %s of saker %s; did you mean saker %s?", option, word, near);
		return 1;
	}
	say("unknown option %s; to run a command: saker%s%s -- %s %s", option,
	    o->chisels.n ? " -c " : "", o->chisels.n ? o->chisels.v[0].name : "", word, option);
	return 1;
}

/* A word that is no option belongs to the filter, or is an argument of a chisel. */
static int add_word(struct options *o, const char *text, const struct option_args *args)
{
	const char **v;

	if (o->profile.diff && o->read.n < 2)
		return parse_list(&o->read, option_find(args->rows, "diff", 4), text);
	if (!o->words.n && !o->chisels.n && access(text, F_OK) == 0) {
		say("unexpected argument '%s': read a file with -r %s, run a command with -- %s",
		    text, text, text);
		return -EINVAL;
	}
	v = realloc(o->words.v, (o->words.n + 2) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	v[o->words.n++] = text;
	v[o->words.n] = NULL;
	o->words.v = v;
	return 0;
}

/* Chisels decide which words are theirs; without chisels all are the filter. */
static int join_filter(struct options *o)
{
	size_t sz = 1;

	if (o->chisels.n || !o->words.n)
		return 0;
	for (size_t i = 0; i < o->words.n; i++)
		sz += strlen(o->words.v[i]) + 1;
	o->filter = calloc(1, sz);
	if (!o->filter)
		return -ENOMEM;
	for (size_t i = 0; i < o->words.n; i++) {
		if (i)
			strcat(o->filter, " ");
		strcat(o->filter, o->words.v[i]);
	}
	return 0;
}

static int parse_one(struct options *o, const char *text, struct option_args *args)
{
	return option_is_one(text) ? option_parse(o, text, args) : add_word(o, text, args);
}

static int is_selective(const struct options *o)
{
	return o->syscalls.given || selects_threads(o) || o->failed_only || o->sampling ||
	       o->page_faults || o->switches;
}

static int is_about_live(const struct options *o)
{
	return o->ring_kind || o->ring_sz || o->cpus_per_ring || o->container_socket ||
	       o->cri_socket || o->no_users;
}

static int is_about_samples(const struct options *o)
{
	return o->sample.depth || o->sample.threshold || o->sample.interval_ns ||
	       o->sample.tables_sz;
}

static int samples_off_cpu(const struct options *o)
{
	for (size_t i = 0; i < o->sample.on.n; i++)
		if (strcmp(o->sample.on.v[i], "off_cpu") == 0)
			return 1;
	return 0;
}

/* Options that contradict each other, or lack one that they need. */
struct conflict {
	int found;
	const char *text;
};

/* Reports the first conflict that was found. Returns 0, or -EINVAL. */
static int first_conflict(const struct conflict *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (rows[i].found) {
			say("%s", rows[i].text);
			return -EINVAL;
		}
	}
	return 0;
}

/* Checks what is read, listed and run. */
static int check_modes(const struct options *o)
{
	const struct conflict rows[] = {
		{o->command && !o->command[0], "no command after --"},
		{o->command && o->read.n, "-r and -- CMD exclude each other"},
		{o->all && !o->command, "--all needs a command: saker --all -- CMD"},
		{o->mode == MODE_VERIFY && !o->read.n,
		 "--verify needs a file: saker -r FILE --verify"},
		{o->mode == MODE_EXPLAIN_FILTER && !o->filter,
		 "--explain-filter needs a filter: saker --explain-filter proc.name=cat"},
		{o->filter && o->mode != MODE_CAPTURE && o->mode != MODE_EXPLAIN_FILTER,
		 "a filter cannot be combined with the lists or --verify"},
		{o->markdown && o->mode != MODE_LIST_EVENTS && o->mode != MODE_LIST_FIELDS &&
			 o->mode != MODE_LIST_CHISELS,
		 "--markdown needs -l, -L or -cl"},
		{o->chisels.n && o->mode != MODE_CAPTURE,
		 "-c cannot be combined with the lists or --verify"},
		{o->chisels.n && o->print, "--print cannot be combined with -c"},
		{o->chisels.n && o->write && strcmp(o->write, "-") == 0,
		 "-w - would mix events with the output of chisels: name a file"},
		{(o->chisel_unsafe || o->chisel_limit.bytes) && !o->chisels.n,
		 "--chisel-limit and --chisel-unsafe need -c NAME"},
	};

	return first_conflict(rows, sizeof(rows) / sizeof(rows[0]));
}

/* Checks what is written. */
static int check_files(const struct options *o)
{
	const struct conflict rows[] = {
		{o->compress && !o->write, "-z and --zstd need -w FILE"},
		{o->with_symbols && !o->write, "--with-symbols needs -w FILE"},
		{pieces_wanted(o) && !o->write, "-C, -G and -e need -w FILE"},
		{pieces_wanted(o) && o->write && strcmp(o->write, "-") == 0,
		 "-C, -G and -e cannot split standard output: name a file"},
		{(o->max_size || o->min_free.given) && !o->write,
		 "--max-size and --min-free need -w FILE"},
		{o->max_size && o->n_pieces && !o->flight.span_ns,
		 "--max-size and -W exclude each other"},
		{o->n_pieces && !pieces_wanted(o) && !o->flight.span_ns,
		 "-W needs -C, -G, -e or --flight-recorder"},
		{o->piece_events && (o->piece_bytes || o->piece_ns),
		 "-e cannot be combined with -C or -G"},
		{o->write && strcmp(o->write, "-") == 0 && o->print && !o->output && !o->command,
		 "-w - and --print would mix on standard output: add -o FILE"},
		{o->progress && !o->read.n, "-P needs -r FILE"},
		{o->one_thread && !o->read.n, "--one-thread needs -r FILE"},
		{(o->from.kind || o->to.kind) && !o->read.n, "--from and --to need -r FILE"},
		{o->checkpoint_every && !o->write, "--checkpoints needs -w FILE"},
	};

	return first_conflict(rows, sizeof(rows) / sizeof(rows[0]));
}

/* Checks the flight recorder. */
static int check_flight(const struct options *o)
{
	const struct flight_options *f = &o->flight;
	const struct conflict rows[] = {
		{(f->trigger || f->memory) && !f->span_ns,
		 "--trigger and --flight-memory need --flight-recorder SECONDS"},
		{(f->key || f->every_ns) && !f->trigger,
		 "--trigger-key and --trigger-every need --trigger FILTER"},
		{f->span_ns && (!o->write || strcmp(o->write, "-") == 0),
		 "--flight-recorder needs -w DIR, a folder for its files"},
		{f->span_ns && (o->filter || o->words.n),
		 "--flight-recorder keeps all events: give the filter to --trigger"},
		{f->span_ns && (o->from.kind || o->to.kind || o->checkpoint_every),
		 "--flight-recorder cannot be combined with --from, --to and --checkpoints"},
		{f->span_ns && (pieces_wanted(o) || o->chisels.n || o->read.n > 1),
		 "--flight-recorder cannot be combined with -C, -G, -e, -c or several -r"},
	};

	return first_conflict(rows, sizeof(rows) / sizeof(rows[0]));
}

/* Checks what only a live capture has. */
static int check_live(const struct options *o)
{
	const struct conflict rows[] = {
		{o->read.n && is_selective(o), "--syscalls, --pid, --comm, --uid, --cgroup, "
					       "--failed-only, --sampling, --page-faults and "
					       "--switches apply to a live capture, not to -r"},
		{o->read.n && is_about_live(o),
		 "--ring, --ring-size, --cpus-per-ring, --exclude-users, --container-socket and "
		 "--cri-socket apply to a live capture, not to -r"},
		{o->read.n && o->snaplen && o->write && !o->print,
		 "-s cannot be combined with -r and -w: buffers are copied as they are"},
		{o->failed_only && (o->page_faults || o->switches),
		 "--failed-only cannot be combined with --page-faults or --switches: these never "
		 "fail"},
		{o->read.n && o->snap_ports.n,
		 "--snaplen-port applies to a live capture, not to -r"},
		{o->read.n && o->tcp, "--tcp applies to a live capture, not to -r"},
		{o->read.n && o->tls, "--tls applies to a live capture, not to -r"},
		{o->failed_only && o->tls, "--failed-only cannot be combined with --tls"},
		{o->tree && !o->pids.n, "--tree needs --pid"},
		{o->pids.n && o->command && !o->all, "--pid selects processes other than CMD: add "
						     "--all to capture them while CMD runs"},
		{o->cpus_per_ring > 1 && o->ring_kind && o->ring_kind != RING_RINGBUF + 1,
		 "--cpus-per-ring needs --ring ringbuf: other rings cannot be shared"},
	};

	return first_conflict(rows, sizeof(rows) / sizeof(rows[0]));
}

/* Checks what only samples have. */
static int check_samples(const struct options *o)
{
	const struct conflict rows[] = {
		{o->read.n && samples_wanted(&o->sample),
		 "--sample and --sample-on apply to a live capture, not to -r"},
		{!samples_wanted(&o->sample) && is_about_samples(o),
		 "--stack-depth, --unwind-tables and the probabilistic options need --sample or "
		 "--sample-on"},
		{o->sample.off_min_ns && !samples_off_cpu(o),
		 "--off-cpu-min needs --sample-on off_cpu"},
		{o->sample.interval_ns && !o->sample.threshold,
		 "--probabilistic-interval needs --probabilistic-threshold"},
		{o->sample.interval_ns && o->sample.interval_ns < 1000000000,
		 "--probabilistic-interval must be at least 1 second"},
	};

	return first_conflict(rows, sizeof(rows) / sizeof(rows[0]));
}

static int check(const struct options *o)
{
	return check_modes(o) ?: check_files(o) ?: check_flight(o) ?: check_live(o) ?: check_samples(o);
}

/* Events that are recorded only on request: naming one in --syscalls requests it, and a requested
 * one is then selected. */
static void settle_demanded(struct options *o)
{
	const struct {
		int *demanded;
		unsigned int row;
	} rows[] = {
		{&o->page_faults, EVT_INDEX(EVT_PAGE_FAULT_E)},
		{&o->switches, EVT_INDEX(EVT_SWITCH_E)},
		{&o->wakeups, EVT_INDEX(EVT_WAKEUP_E)},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const uint64_t word = rows[i].row / 64, bit = 1ull << rows[i].row % 64;

		if (o->syscalls.named.events[word] & bit)
			*rows[i].demanded = 1;
		if (*rows[i].demanded)
			o->syscalls.set.events[word] |= bit;
	}
}

/* The same for the events of TCP: one option requests all of them. */
static void settle_tcp(struct options *o)
{
	const int all = o->tcp;

	for (unsigned int type = EVT_TCP_STATE_E; type <= EVT_TCP_OVERFLOW_E; type += 2) {
		const uint64_t bit = 1ull << EVT_INDEX(type) % 64;
		uint64_t *set = &o->syscalls.set.events[EVT_INDEX(type) / 64];

		o->tcp |= !!(o->syscalls.named.events[EVT_INDEX(type) / 64] & bit);
		if (all)
			*set |= bit;
	}
}

/* The same for the two events of TLS: one that is named alone is selected alone. */
static void settle_tls(struct options *o)
{
	static const unsigned int rows[] = {EVT_INDEX(EVT_TLS_READ_X), EVT_INDEX(EVT_TLS_WRITE_X)};
	int named = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		named |= o->syscalls.named.events[rows[i] / 64] >> rows[i] % 64 & 1;
	for (size_t i = 0; !named && o->tls && i < sizeof(rows) / sizeof(rows[0]); i++)
		o->syscalls.set.events[rows[i] / 64] |= 1ull << rows[i] % 64;
	o->tls |= named;
}

static int parse_command(struct options *o, struct option_args *args)
{
	const struct option_command *command = command_at(args, 1);

	if (!command)
		return 0;
	if (command->program) {
		say("cannot run %s here: it is a program of its own", command->program);
		return -EINVAL;
	}
	args->next = 2;
	args->rows = command->rows;
	if (command->chisel)
		return parse_chisel(o, args->rows, command->chisel);
	switch_on(o, command);
	if (o->selftest.on)
		o->mode = MODE_SELFTEST;
	return 0;
}

static int is_word(const struct option_args *args, int i, const char *word)
{
	return args->n > i && strcmp(args->v[i], word) == 0;
}

/* help, help COMMAND, and --help of a command that is a chisel. Returns whether it is one of them.
 */
static int parse_help(struct options *o, struct option_args *args)
{
	const int is_help = is_word(args, 1, "help") && args->n <= 3,
		  asks = args->n == 3 && (is_word(args, 2, "--help") || is_word(args, 2, "-h"));
	const struct option_command *command = command_at(args, is_help ? 2 : 1);

	if (!is_help && !(asks && command && command->chisel))
		return 0;
	if (args->n == 3 && (!command || command->program))
		return 0;
	o->mode = MODE_HELP;
	if (command && command->chisel) {
		o->mode = MODE_SHOW_CHISEL;
		o->chisel_info = command->chisel;
	} else if (command) {
		switch_on(o, command);
	}
	return 1;
}

int options_parse(struct options *o, int argc, char **argv)
{
	struct option_args args = {argv, argc, 1, option_rows, help_of, says_command};
	const char *text;
	int err;

	if (parse_help(o, &args))
		return 0;
	err = parse_command(o, &args);

	while (!err && args.next < args.n) {
		text = args.v[args.next++];
		if (strcmp(text, "--") == 0) {
			o->command = args.v + args.next;
			break;
		}
		err = parse_one(o, text, &args);
	}
	if (!err)
		err = o->profile.on ? profile_settle(o) : o->selftest.on ? selftest_settle(o) : 0;
	if (!err)
		err = join_filter(o);
	if (err == -ENOMEM)
		say("not enough memory for the options");
	if (err)
		return err;
	settle_demanded(o);
	settle_tcp(o);
	settle_tls(o);
	return o->mode == MODE_HELP || o->mode == MODE_VERSION ? 0 : check(o);
}

static void free_filter_names(struct filter_name_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free((char *)list->v[i].name);
	free(list->v);
}

void options_fini(struct options *o)
{
	free(o->read.v);
	free(o->suppress.v);
	free(o->sample.on.v);
	free(o->cgroups.v);
	free(o->snap_ports.v);
	free(o->pids.v);
	free(o->uids.v);
	for (size_t i = 0; i < o->comms.n; i++)
		free(o->comms.v[i]);
	free(o->comms.v);
	free_filter_names(&o->macros);
	free_filter_names(&o->lists);
	free(o->filter);
	free(o->words.v);
	free(o->chisels.v);
	scap_redact_free(o->redact);
}
