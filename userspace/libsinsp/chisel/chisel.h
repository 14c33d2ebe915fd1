/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chisels: Lua programs that process events, with sysdig's interface (docs/chisel-api.md). Each has
 * its own Lua state, a memory limit and an instruction limit per callback. A chisel that fails
 * prints an error with a traceback and is not called again.
 */
#ifndef SINSP_CHISEL_CHISEL_H
#define SINSP_CHISEL_CHISEL_H

#include <stdio.h>

#include "sinsp.h"

struct sinsp_chisel; /* used by one thread */
struct sinsp_filter; /* filter/filter.h */

/* A Lua file built into the program. */
struct sinsp_chisel_file {
	const char *name; /* without .lua */
	const char *text;
	size_t len;
};

/* One run: what its chisels share. */
struct sinsp_chisel_run {
	/* Where chisels and their modules are searched, in this order: folders (NULL: none),
	 * built-in files (NULL: none), more folders. */
	const char *const *dirs; /* ends with NULL */
	const struct sinsp_chisel_file *builtin; /* ends with a NULL name */
	const char *const *more_dirs; /* ends with NULL */
	const char *filter; /* filter of the command line; NULL: none */
	const char *source; /* name of the capture file; NULL: live */
	FILE *out; /* output of print and of formats */
	scap_log_fn log; /* errors of chisels, line by line */
	void *log_ctx;
	size_t max_bytes; /* memory limit per chisel; 0: 1 GiB */
	uint64_t max_instructions; /* instruction limit per callback; 0: 10^9 */
	/* Called by a signal handler if a Lua library function exceeds the time limit and cannot be
	 * left: ends the process with a message. NULL: no limit. */
	void (*hung)(const char *chisel);
	int (*is_stopping)(void); /* whether the user ends the run; NULL: never known */
	double (*progress)(void *ctx); /* share of the files that was read; NULL: unknown */
	void *progress_ctx;
	uint8_t unsafe; /* allow writing files, running programs, sending data */
	uint8_t several; /* the run has other chisels */
	uint8_t json; /* print JSON */
	uint8_t containers; /* print containers */
	uint8_t no_calls; /* no system calls are recorded, since nothing needs them */
	uint8_t port_names; /* print ports as names of services */
	uint8_t buf_fmt; /* enum sinsp_buf_fmt; changed by sysdig.set_output_format */
	uint32_t buf_max; /* characters of a buffer printed as dots; 0: 80 */

	/* Set by chisels. */
	uint32_t snaplen; /* bytes kept of buffers; 0: default */
	char *set_filter; /* sysdig.set_filter: filter of the whole run; owned; NULL: none */
	char *run_app; /* sysdig.run_app: arguments of the next run; owned; NULL: none */
	struct sinsp_text prelude; /* what each Lua state runs first, compiled; owned */
	uint8_t follows; /* a chisel uses chisel.follow: call sinsp_chisel_follow */
	uint8_t each_end; /* one uses chisel.each_end: set evt->selected (sinsp_filter_select) */
	uint8_t end; /* sysdig.end_capture was called */
	uint8_t ends_with_status; /* os.exit was called */
	int status;
	int udp_fd; /* socket of udp_send; -1: none */

	/* Set while the run proceeds. */
	struct sinsp *insp; /* of the last event; NULL: no source is open */
	uint64_t first_ns, last_ns; /* times of the first and last event; 0: none */
	uint8_t has_begun;
	uint8_t warned_no_calls; /* sinsp_chisel_warn_no_calls logged */
	uint8_t has_title; /* the title of one of several chisels was printed */
};

void sinsp_chisel_run_init(struct sinsp_chisel_run *run);
void sinsp_chisel_run_fini(struct sinsp_chisel_run *run);

struct sinsp_chisel_arg {
	const char *name, *type, *description; /* owned by the chisel */
	int optional;
};

/* How the values of a column's rows are combined. */
enum sinsp_view_aggregation {
	SINSP_VIEW_FIRST, /* the first value stays */
	SINSP_VIEW_SUM,
	SINSP_VIEW_AVG,
	SINSP_VIEW_TIME_AVG, /* sum per second */
	SINSP_VIEW_MIN,
	SINSP_VIEW_MAX, /* of texts the last */
	SINSP_VIEW_P50, /* percentiles, of numbers */
	SINSP_VIEW_P90,
	SINSP_VIEW_P99,
	SINSP_VIEW_AGGREGATIONS
};

/* A view: columns for a terminal, the table view_info of a file. Texts are "" if missing, lists
 * end with NULL. */
struct sinsp_view {
	const char *id, *name, *description, *type, *filter, *drilldown_target;
	const char *const *tags, *const *tips, *const *applies_to;
	uint8_t use_defaults, is_root;
	uint8_t keeps_filter; /* its filter also applies to views of a row: propagate_filter */
	uint8_t is_deeper; /* the view of a row is one level of %depth below */
	struct sinsp_view_column {
		const char *name, *description, *field, *filterfield;
		const char *const *tags; /* "containers": shown only when containers are printed */
		int32_t size; /* characters; 0: the rest of the line; -1: unused */
		uint8_t aggregation, groupby_aggregation; /* enum sinsp_view_aggregation */
		uint8_t is_key, is_groupby_key; /* identifies a row, not shown */
		uint8_t is_sorting;
		uint8_t filter_in_child_only;
	} * columns;
	size_t n_columns;
	const struct sinsp_view_action {
		const char *hotkey, *description;
		const char *command; /* words; %FIELD is the value of a column of the row */
		uint8_t asks; /* before it runs */
		uint8_t waits; /* for a key when the command has ended */
	} * actions;
	size_t n_actions;
};

/* Returns whether each event is a row of its own. */
int sinsp_view_is_list(const struct sinsp_view *view);

/* Description of a chisel, borrowed from it. */
struct sinsp_chisel_info {
	const char *name, *path; /* path: "built in" without a file */
	const char *category, *short_description, *description; /* "" if missing */
	const struct sinsp_chisel_arg *args;
	size_t n_args, n_required;
	uint8_t hidden; /* not listed */
	const struct sinsp_view *view; /* a view, which cannot run; NULL: a chisel */
	uint8_t has_args; /* it has a table of arguments, possibly empty */
	uint8_t is_module; /* the file returns a table or function: a library module */
};

/* Functions that can fail return 0, or a negative errno after a message to run->log. */

/* Loads a chisel by name, or by path if @name has a slash. Returns -ENOENT if there is none. */
int sinsp_chisel_open(struct sinsp_chisel **out, struct sinsp_chisel_run *run, const char *name);
void sinsp_chisel_close(struct sinsp_chisel *c);
const struct sinsp_chisel_info *sinsp_chisel_info(const struct sinsp_chisel *c);

/*
 * Sets arguments from words separated by spaces; quotes enclose spaces. NAME=value sets the
 * argument NAME, unless the word begins with a quote; other words set the remaining arguments in
 * order. A text that begins with NAME= and also has words without a name is one value.
 */
int sinsp_chisel_set_args(struct sinsp_chisel *c, const char *const *args, size_t n);
int sinsp_chisel_names_arg(const struct sinsp_chisel *c, const char *word);
/* Returns 1 if a required argument is still missing. */
int sinsp_chisel_needs_arg(const struct sinsp_chisel *c, const char *const *args, size_t n);
int sinsp_chisel_init(struct sinsp_chisel *c); /* Calls on_init. */

/* Requirements of the chisel, after on_init. */

/* Return the filter of its events and the text of it, or NULL. Borrowed until the next call of the
 * chisel. */
const struct sinsp_filter *sinsp_chisel_filter(const struct sinsp_chisel *c);
const char *sinsp_chisel_filter_text(const struct sinsp_chisel *c);
/* Returns whether chisel.request_field or the format of its lines has the field. */
int sinsp_chisel_uses_field(const struct sinsp_chisel *c, const char *field);
/* Returns what these fields and the filter need: enum sinsp_field_needs. */
unsigned int sinsp_chisel_needs(const struct sinsp_chisel *c);

int sinsp_chisel_begin(struct sinsp_chisel *c); /* Calls on_capture_start. */
/* Ends intervals at the time of @evt. */
int sinsp_chisel_tick(struct sinsp_chisel *c, const struct sinsp_evt *evt);
/* Live: ends intervals at time @ns without an event. */
int sinsp_chisel_idle(struct sinsp_chisel *c, uint64_t ns);
/* Returns the end of the next interval; 0: none. */
uint64_t sinsp_chisel_due_ns(const struct sinsp_chisel *c);
/* Passes a matching event: intervals, on_event and the line of the formatter. */
int sinsp_chisel_event(struct sinsp_chisel *c, const struct sinsp_evt *evt);
/* Passes an event that does not match to chisel.follow; needed if run->follows. */
int sinsp_chisel_follow(struct sinsp_chisel *c, const struct sinsp_evt *evt);
int sinsp_chisel_end(struct sinsp_chisel *c); /* Calls on_capture_end. */

/* Calls @fn with the sorted names of all chisels. Returns 0, -ENOMEM, or the first error of @fn. */
int sinsp_chisel_each(const struct sinsp_chisel_run *run, int (*fn)(void *ctx, const char *name),
		      void *ctx);

/* Writes docs/chisel-api.md. */
void sinsp_chisel_api_markdown(FILE *f);

#endif /* SINSP_CHISEL_CHISEL_H */
