/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chisels: Lua programs that look at events, with the interface of sysdig's. Each runs in a Lua
 * state of its own, with an amount of memory and of instructions per callback; a chisel that
 * fails says why, with its traceback, and is not called again. docs/chisel-api.md has the
 * interface.
 */
#ifndef SINSP_CHISEL_CHISEL_H
#define SINSP_CHISEL_CHISEL_H

#include <stdio.h>

#include "sinsp.h"

struct sinsp_chisel; /* used by one thread */
struct sinsp_filter; /* filter/filter.h */

/* A Lua file that is built into the program. */
struct sinsp_chisel_file {
	const char *name; /* of the chisel or module: without .lua */
	const char *text;
	size_t len;
};

/* What chisels are told of the run, and may ask of it. Shared by those of one run. */
struct sinsp_chisel_run {
	/* Where chisels and their modules are; the first match is used: the folders (NULL: none),
	 * the files that are built in (NULL: none), more folders. */
	const char *const *dirs; /* ends with NULL */
	const struct sinsp_chisel_file *builtin; /* ends with a NULL name */
	const char *const *more_dirs; /* ends with NULL */
	const char *filter; /* of the command line; NULL: none */
	const char *source; /* name of the capture file; NULL: live */
	FILE *out; /* what chisels print, and lines of their formats */
	scap_log_fn log; /* what is wrong with a chisel, line by line */
	void *log_ctx;
	size_t max_bytes; /* of Lua's memory, each; 0: 1 GiB */
	uint64_t max_instructions; /* of a callback; 0: 10^9 */
	/* A function of Lua's library does not come back, and cannot be left where it is: called by
	 * a signal handler, to end the process with a sentence about @chisel. NULL: it goes on. */
	void (*stuck)(const char *chisel);
	double (*progress)(void *ctx); /* share of the files that is read; NULL: not known */
	void *progress_ctx;
	uint8_t unsafe; /* they may write files, run programs, send data */
	uint8_t several; /* it is not the only chisel of the run */
	uint8_t json; /* output is to be JSON */
	uint8_t containers; /* output is to tell of containers */
	uint8_t no_calls; /* system calls are not recorded, as nothing seemed to ask for them */
	uint8_t port_names; /* ports of sockets by the names of their services */
	uint8_t buf_fmt; /* enum sinsp_buf_fmt: sysdig.set_output_format changes it */
	uint32_t buf_max; /* characters of a buffer shown as dots; 0: 80 */

	/* What they ask for. */
	uint32_t snaplen; /* bytes of buffers; 0: nothing asked */
	char *set_filter; /* sysdig.set_filter: only these events; owned; NULL: all */
	char *run_app; /* sysdig.run_app: arguments of a run after this one; owned; NULL: none */
	uint8_t follows; /* sinsp_chisel_follow is to be called */
	uint8_t end; /* the capture is to end */
	uint8_t ends_with_status; /* os.exit: a chisel ended the run */
	int status;
	int udp_fd; /* socket of udp_send; -1: none */

	/* What they are told by and by. */
	struct sinsp *insp; /* of the last event; NULL: nothing is open yet */
	uint64_t first_ns, last_ns; /* times of events; 0: none yet */
	uint8_t has_begun;
	uint8_t told_stale; /* sinsp_chisel_note_stale */
	uint8_t has_title; /* one of several printed its name */
};

void sinsp_chisel_run_init(struct sinsp_chisel_run *run);
void sinsp_chisel_run_fini(struct sinsp_chisel_run *run);

struct sinsp_chisel_arg {
	const char *name, *type, *description; /* owned by the chisel */
	int optional;
};

/* A table for the terminal: which fields of events it is made of. Texts are "" where it has none.
 */
struct sinsp_view {
	const char *name, *description, *type, *filter;
	struct sinsp_view_column {
		const char *name, *description, *field;
		uint8_t is_key; /* its rows are told apart by it, it is not shown */
	} * columns;
	size_t n_columns;
};

/* What a chisel says of itself. Borrowed from it. */
struct sinsp_chisel_info {
	const char *name, *path; /* path: "built in" if it is no file */
	const char *category, *short_description, *description; /* "" where it has none */
	const struct sinsp_chisel_arg *args;
	size_t n_args, n_required;
	uint8_t hidden; /* is not listed */
	const struct sinsp_view *view; /* data for the terminal, nothing to run; NULL: it is none */
	uint8_t has_args; /* there is a table of arguments, which may be empty */
	uint8_t is_module; /* its file returns a table or a function, for chisels that require it */
};

/* Each fallible one: 0 or a negative errno after telling run->log. */

/* Loads NAME, which may be a path with a slash in it. -ENOENT: no folder has it. */
int sinsp_chisel_open(struct sinsp_chisel **out, struct sinsp_chisel_run *run, const char *name);
void sinsp_chisel_close(struct sinsp_chisel *c);
const struct sinsp_chisel_info *sinsp_chisel_info(const struct sinsp_chisel *c);

/*
 * Each of @args has words with spaces between, and quotes around what has spaces in it. A word
 * NAME=value sets the argument of that name, if there is one and the word begins without a quote;
 * the others are taken by the arguments that are left, in order. A text that begins with NAME= but
 * also has words without a name is that one value.
 */
int sinsp_chisel_set_args(struct sinsp_chisel *c, const char *const *args, size_t n);
int sinsp_chisel_names_arg(const struct sinsp_chisel *c, const char *word);
/* 1: with these it still needs an argument. */
int sinsp_chisel_needs_arg(const struct sinsp_chisel *c, const char *const *args, size_t n);
int sinsp_chisel_init(struct sinsp_chisel *c); /* on_init */

/* What it asks for, from on_init on. */

/* The filter of the events that it is told of, and its text; NULL: of all. Borrowed until the next
 * call of the chisel. */
const struct sinsp_filter *sinsp_chisel_filter(const struct sinsp_chisel *c);
const char *sinsp_chisel_filter_text(const struct sinsp_chisel *c);
/* Whether it asks for the field, by chisel.request_field or in the format of its lines. */
int sinsp_chisel_asks(const struct sinsp_chisel *c, const char *field);
/* What these, and its filter, need: enum sinsp_field_needs. */
unsigned int sinsp_chisel_needs(const struct sinsp_chisel *c);

int sinsp_chisel_begin(struct sinsp_chisel *c); /* on_capture_start */
/* The time of @evt is reached: intervals. */
int sinsp_chisel_tick(struct sinsp_chisel *c, const struct sinsp_evt *evt);
/* Live, the time @ns is reached, and no event is there to say so: intervals. */
int sinsp_chisel_idle(struct sinsp_chisel *c, uint64_t ns);
/* When its next interval ends; 0: it has none. */
uint64_t sinsp_chisel_due_ns(const struct sinsp_chisel *c);
/* The event is meant: intervals, on_event and the line of the formatter. */
int sinsp_chisel_event(struct sinsp_chisel *c, const struct sinsp_evt *evt);
/* The event is left out: chisel.follow. Only needed if run->follows. */
int sinsp_chisel_follow(struct sinsp_chisel *c, const struct sinsp_evt *evt);
int sinsp_chisel_end(struct sinsp_chisel *c); /* on_capture_end */

/* Names of all chisels that @run finds, each once, sorted. 0 or -ENOMEM; @fn: another error ends.
 */
int sinsp_chisel_each(const struct sinsp_chisel_run *run, int (*fn)(void *ctx, const char *name),
		      void *ctx);

/* The functions that chisels can call, as a page of documentation. */
void sinsp_chisel_api_markdown(FILE *f);

#endif /* SINSP_CHISEL_CHISEL_H */
