/* SPDX-License-Identifier: Apache-2.0 */
/* The command line. Every option is a row; parsing, --help, the man page and the shell completion
 * use the rows. */
#ifndef SAKER_OPTIONS_H
#define SAKER_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "file/scap_file.h"
#include "filter/filter.h"
#include "sinsp.h"
#include "time_arg.h"

enum saker_mode {
	MODE_CAPTURE, /* live, or from files */
	MODE_LIST_EVENTS,
	MODE_LIST_FIELDS,
	MODE_LIST_CHISELS,
	MODE_SHOW_CHISEL,
	MODE_CAPABILITIES,
	MODE_VERIFY,
	MODE_EXPLAIN_FILTER,
	MODE_SELFTEST,
	MODE_HELP,
	MODE_VERSION,
};

struct text_list {
	const char **v; /* NULL-terminated; NULL when empty. Owned, with borrowed texts */
	size_t n;
};

struct name_list {
	char **v; /* owned, with the names; without a NULL at the end */
	size_t n;
};

struct number_list {
	uint32_t *v; /* owned */
	size_t n;
};

struct call_list {
	struct scap_calls set;
	struct scap_calls named; /* names that were given, not those excluded by -NAME */
	int given; /* else all calls are selected */
};

enum saker_colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

struct line_format {
	enum sinsp_line_fmt preset;
	const char *format; /* replaces the default; NULL: none. Borrowed */
	int print_default; /* -pp: only print the default */
};

struct snap_port_list {
	struct scap_snap_port *v; /* owned */
	size_t n;
};

struct filter_name_list {
	struct sinsp_filter_name *v; /* owned, with the names; texts are borrowed */
	size_t n;
};

/* Chisels in the order of -c. */
struct chisel_list {
	struct chisel_name {
		const char *name; /* borrowed */
		size_t n_words; /* number of words before it */
	} * v; /* owned */
	size_t n;
};

/* Limits of chisels; 0: default. */
struct chisel_limit {
	uint64_t bytes, instructions;
};

/* Stack samples. */
struct sample_options {
	uint64_t period_ns; /* rate of the clock; 0: no samples by the clock */
	uint64_t off_min_ns;
	uint64_t interval_ns; /* 0: default */
	uint32_t threshold; /* 0: always */
	uint32_t depth; /* 0: default */
	uint64_t tables_sz; /* 0: default */
	struct text_list on; /* syscall, off_cpu, page_fault, tracepoints */
};

static inline int samples_wanted(const struct sample_options *o)
{
	return o->period_ns || o->on.n;
}

/* saker profile: settings besides the options that it implies. */
struct profile_options {
	int on; /* the command is profile */
	int off_cpu;
	int diff; /* compares two files: which has more */
	int own_views; /* no chisel was selected: the default ones print parts of one text */
	const char *otlp; /* URL to send it to; NULL: none */
};

/* saker selftest. */
struct selftest_options {
	int on; /* the command is selftest */
	int unwind; /* test stacks */
	uint64_t enough; /* number of stacks; 0: unlimited */
};

/* The flight recorder. 0, NULL: default. */
struct flight_options {
	uint64_t span_ns; /* 0: none */
	const char *trigger; /* filter; NULL: only SIGUSR1 */
	const char *key; /* format */
	uint64_t every_ns; /* files with the same key are this far apart */
	uint64_t memory; /* bytes of events */
};

struct options {
	int mode; /* enum saker_mode */
	struct text_list words; /* of the filter, and arguments of chisels */
	char *filter; /* owned; NULL: all events match. With chisels, set when they are loaded */
	struct chisel_list chisels;
	const char *chisel_info; /* -i: name of the chisel */
	struct chisel_limit chisel_limit;
	int chisel_unsafe;
	struct filter_name_list macros, lists; /* macros and lists for the filter */
	struct text_list read; /* capture files; none: live */
	const char *write; /* NULL: write no capture file */
	const char *debug_dirs; /* NULL: none */
	int interpreter_frames;
	int whole_state; /* the file has the state of all processes, not only of those that its
			    events need */
	int with_symbols; /* the file has the names of frames */
	const char
		*output; /* output of lines; NULL: standard output, with a command standard error */
	struct text_list suppress; /* names of suppressed processes */
	struct call_list syscalls;
	struct number_list pids, uids;
	struct name_list comms;
	struct text_list cgroups;
	int no_pushdown; /* no pushdown: the kernel does not evaluate the filter */
	int tree; /* also descendants of pids */
	int failed_only;
	int sampling; /* 0: all */
	char **command; /* after "--", NULL-terminated; NULL: none. Borrowed */
	uint64_t max_events; /* 0: unlimited */
	uint64_t max_ns; /* 0: unlimited */
	struct time_arg from, to; /* of files: the first and the last moment */
	uint64_t piece_bytes, piece_ns, piece_events; /* maximum size of a file; 0: unlimited */
	uint64_t max_size; /* maximum size of all files; 0: unlimited */
	struct size_option {
		uint64_t n;
		int given;
	} min_free; /* bytes left free on the file system of -w */
	uint64_t checkpoint_every; /* of scap_writer_opts */
	uint64_t n_pieces; /* maximum number of files; 0: unlimited */
	struct flight_options flight;
	uint64_t snaplen; /* 0: default */
	struct snap_port_list snap_ports;
	struct scap_redact *redact; /* owned; NULL: none */
	uint64_t ring_sz; /* 0: default */
	uint32_t cpus_per_ring; /* UINT32_MAX: all; 0: default */
	const char *container_socket; /* "none": no queries; NULL: default */
	const char *cri_socket; /* NULL: labels of pods are not queried */
	int ring_kind; /* enum ring_kind + 1; 0: default */
	int compress; /* enum scap_compress */
	int time_fmt; /* enum sinsp_time_fmt */
	int buf_fmt; /* enum sinsp_buf_fmt */
	struct line_format line;
	int lines_kind; /* enum sinsp_format_kind */
	int colour; /* enum saker_colour */
	int port_names;
	int no_users; /* live: no names of users and groups */
	int one_thread; /* of files */
	int quiet, verbose, summary, progress, unbuffered;
	int print; /* also print lines while writing a file */
	int enter_events;
	int page_faults, switches, wakeups, tcp; /* live: also record these events */
	int requests, slices; /* derive these events */
	int tls; /* live: also record the plaintext of TLS connections */
	struct sample_options sample;
	struct profile_options profile;
	struct selftest_options selftest;
	int all; /* with a command: the whole machine, not only its process tree */
	int markdown;
};

enum option_group {
	GROUP_SOURCE,
	GROUP_SELECT,
	GROUP_STACKS,
	GROUP_FILTER,
	GROUP_FILE,
	GROUP_LINES,
	GROUP_CHISELS,
	GROUP_REPORT,
	GROUP_LIVE,
	GROUP_ABOUT,
	GROUP_PROFILE,
	GROUP_SELFTEST,
	GROUP_MAX,
	/* Of commands that read a configuration file. */
	GROUP_RELOADED = GROUP_MAX, /* a reload of the file applies it */
	GROUP_NOT_IN_FILE
};

struct option_choice {
	const char *name;
	int value;
};

struct option_row {
	char letter; /* 0: none */
	const char *name;
	const char *arg; /* name of the argument in texts; NULL: none */
	enum option_group group;
	const char *help;
	/* Stores the argument at member. Returns 0, or -EINVAL after reporting the error. */
	int (*take)(void *member, const struct option_row *row, const char *arg);
	size_t member; /* offset in struct options */
	int value; /* value that an option without argument stores */
	const struct option_choice *choices; /* choices of the argument; ends with a NULL name */
};

/* What the first word can be: it has options of its own, or stands for a chisel. */
struct option_command {
	const char *name;
	const struct option_row *rows;
	size_t on; /* offset of its switch, an int, in the options */
	const char *chisel; /* instead of a switch */
	const char *program; /* an executable of its own, beside saker: has no rows here */
};

/* Each ends with a NULL name. Others are those of saker profile and saker selftest. */
extern const struct option_row option_rows[], profile_rows[], selftest_rows[];
extern const struct option_command option_commands[];
const char *option_group_title(enum option_group group);

/* Whether the kernel selects threads of a live capture, besides those of a command. */
static inline int selects_threads(const struct options *o)
{
	return o->pids.n || o->comms.n || o->uids.n || o->cgroups.n;
}

/* Parses the command line. Returns 0; -EINVAL after reporting the error. @o must be zero;
 * options_fini frees. */
int options_parse(struct options *o, int argc, char **argv);

/* Returns the command with the name @word, or a near one; NULL: none. */
const char *options_nearest_command(const char *word);
void options_fini(struct options *o);

/* Sets the options that saker profile implies. Returns 0, or -EINVAL after reporting the reason. */
int profile_settle(struct options *o);
/* Checks the options of saker selftest. Returns 0, or -EINVAL after reporting the error. */
int selftest_settle(const struct options *o);

/* Prints the lines of one option. */
void help_put_row(FILE *f, const struct option_row *row);
void help_print(FILE *f);
void help_print_profile(FILE *f);
void help_print_selftest(FILE *f);

#endif /* SAKER_OPTIONS_H */
