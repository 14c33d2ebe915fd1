/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line. Every option is one row; parsing, --help, the man page and the shell
 * completion are made of the rows.
 */
#ifndef SAKER_OPTIONS_H
#define SAKER_OPTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "file/scap_file.h"
#include "filter/filter.h"
#include "sinsp.h"

enum saker_mode {
	MODE_CAPTURE, /* live, or of files */
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
	const char **v; /* NULL-terminated; NULL when empty. Owned, the texts are borrowed */
	size_t n;
};

struct name_list {
	char **v; /* owned, the names too; no NULL at the end */
	size_t n;
};

struct number_list {
	uint32_t *v; /* owned */
	size_t n;
};

struct call_list {
	struct scap_calls set;
	struct scap_calls named; /* those that stand there, not what -NAME leaves */
	int given; /* else every call is meant */
};

enum saker_colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

struct line_format {
	enum sinsp_line_fmt preset;
	const char *format; /* instead of the preset; NULL: none. Borrowed */
	int tell; /* -pp: only say what the preset is */
};

struct snap_port_list {
	struct scap_snap_port *v; /* owned */
	size_t n;
};

struct filter_name_list {
	struct sinsp_filter_name *v; /* owned, the names too; the texts are borrowed */
	size_t n;
};

/* Chisels in the order of -c. */
struct chisel_list {
	struct chisel_name {
		const char *name; /* borrowed */
		size_t n_words; /* that stood before it */
	} * v; /* owned */
	size_t n;
};

/* What a chisel may use; 0: the usual. */
struct chisel_limit {
	uint64_t bytes, instructions;
};

/* Stacks that are sampled. */
struct sample_options {
	uint64_t period_ns; /* of the clock; 0: not by it */
	uint64_t off_min_ns;
	uint64_t interval_ns; /* 0: the default */
	uint32_t threshold; /* 0: all of the time */
	uint32_t depth; /* 0: the default */
	uint64_t tables_sz; /* 0: the default */
	struct text_list on; /* off_cpu, page_fault, tracepoints */
};

/* saker profile: what it is beside the options that it stands for. */
struct profile_options {
	int on; /* the command line began with it */
	int off_cpu;
	int diff; /* of the two files that are read, what the second has more or less */
	int own_views; /* nobody named a chisel: those that print are parts of one text */
};

/* saker selftest. */
struct selftest_options {
	int on; /* the command line began with it */
	int unwind; /* stacks are tested */
	uint64_t enough; /* stacks; 0: any number */
};

struct options {
	int mode; /* enum saker_mode */
	struct text_list words; /* of the filter, and arguments of chisels */
	char *filter; /* owned; NULL: every event is meant. With chisels, made when they are loaded
		       */
	struct chisel_list chisels;
	const char *chisel_info; /* -i: its name */
	struct chisel_limit chisel_limit;
	int chisel_unsafe;
	struct filter_name_list macros, lists; /* that the filter may name */
	struct text_list read; /* capture files; none: live */
	const char *write; /* NULL: write no capture file */
	const char *debug_dirs; /* NULL: none */
	int whole_state; /* it has the state of all processes, not only that which its events need
			  */
	int with_symbols; /* it has the names of the frames of samples */
	const char
		*output; /* lines go here; NULL: standard output, with a command standard error */
	struct text_list suppress; /* process names */
	struct call_list syscalls;
	struct number_list pids, uids;
	struct name_list comms;
	struct text_list cgroups;
	int no_pushdown; /* the kernel decides nothing of the filter */
	int tree; /* the descendants of pids too */
	int failed_only;
	int sampling; /* 0: everything */
	char **command; /* after "--", NULL-terminated; NULL: none. Borrowed */
	uint64_t max_events; /* 0: no limit */
	uint64_t max_ns; /* 0: no limit */
	uint64_t piece_bytes, piece_ns, piece_events; /* a file holds no more; 0: any amount */
	uint64_t max_size; /* of all files; 0: no limit */
	struct size_option {
		uint64_t n;
		int given;
	} min_free; /* bytes that the file system of -w keeps */
	uint64_t n_pieces; /* 0: any number of files */
	uint64_t snaplen; /* 0: the default */
	struct snap_port_list snap_ports;
	uint64_t ring_sz; /* 0: the default */
	uint32_t cpus_per_ring; /* UINT32_MAX: all; 0: the default */
	const char *container_socket; /* "none": nobody is asked; NULL: the usual ones */
	int ring_kind; /* enum ring_kind + 1; 0: the default */
	int compress; /* enum scap_compress */
	int time_fmt; /* enum sinsp_time_fmt */
	int buf_fmt; /* enum sinsp_buf_fmt */
	struct line_format line;
	int lines_kind; /* enum sinsp_format_kind */
	int colour; /* enum saker_colour */
	int port_names;
	int no_users; /* live: users and groups have no names */
	int quiet, verbose, summary, progress, unbuffered;
	int print; /* lines also while writing */
	int enter_events;
	int page_faults, switches; /* live: also these events */
	struct sample_options sample;
	struct profile_options profile;
	struct selftest_options selftest;
	int all; /* with a command: the whole machine, not just its tree */
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
	GROUP_MAX
};

struct option_choice {
	const char *name;
	int value;
};

struct option_row {
	char letter; /* 0: none */
	const char *name;
	const char *arg; /* what stands for the argument in texts; NULL: takes none */
	enum option_group group;
	const char *help;
	/* Stores at member. 0, or -EINVAL after saying why. */
	int (*take)(void *member, const struct option_row *row, const char *arg);
	size_t member; /* offset in struct options */
	int value; /* what an option without argument stores */
	const struct option_choice *choices; /* of the argument; ends with a NULL name */
};

/* Each ends with a NULL name. The others are those of saker profile and saker selftest. */
extern const struct option_row option_rows[], profile_rows[], selftest_rows[];
const char *option_group_title(enum option_group group);

/* 0; -EINVAL after saying what is wrong. Zero @o first; options_fini frees. */
int options_parse(struct options *o, int argc, char **argv);

/* The command whose name @word is, or nearly; NULL: none. */
const char *options_nearest_command(const char *word);
void options_fini(struct options *o);

/* Makes of saker profile what it stands for. 0, or -EINVAL after saying why. */
int profile_settle(struct options *o);
/* Is saker selftest as it can be? 0, or -EINVAL after saying why not. */
int selftest_settle(const struct options *o);

void help_print(FILE *f);
void help_print_profile(FILE *f);
void help_print_selftest(FILE *f);

#endif /* SAKER_OPTIONS_H */
