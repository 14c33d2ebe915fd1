/* SPDX-License-Identifier: Apache-2.0 */
/* Filters: text such as "proc.name=cat and evt.type in (open, openat)" is compiled to a program
 * that decides which events match. docs/filters.md describes the language. */
#ifndef SINSP_FILTER_FILTER_H
#define SINSP_FILTER_FILTER_H

#include "sinsp.h"

struct sinsp_filter; /* used by one thread */

/* A macro (NAME=EXPR) or a list (NAME=a,b). */
struct sinsp_filter_name {
	const char *name, *text;
};

struct sinsp_filter_opts {
	size_t sz; /* sizeof(struct sinsp_filter_opts); new fields go last */
	const struct sinsp_filter_name *macros, *lists; /* the first definition of a name counts */
	size_t n_macros, n_lists;
	scap_log_fn log; /* called once if a regular expression exceeds its limit; NULL: none */
	void *log_ctx;
	uint8_t threads_only; /* applied to threads and files without an event: fields of events are
				 errors */
};

/* An error in a filter, and its place. Texts are borrowed from those of the filter. */
struct sinsp_filter_error {
	char message[320]; /* a sentence without control characters */
	const char *name; /* name of the macro or list with the error; NULL: the filter itself */
	const char *text; /* the text with the error */
	size_t pos; /* offset in bytes */
};

/* Compiles a filter. Returns 0; -EINVAL with *err (may be NULL) set; -ENOMEM. opts may be NULL. */
int sinsp_filter_new(struct sinsp_filter **out, const char *text,
		     const struct sinsp_filter_opts *opts, struct sinsp_filter_error *err);
void sinsp_filter_free(struct sinsp_filter *f);

/* Returns 1 if the event matches, 0 if not; or a negative errno. */
int sinsp_filter_run(struct sinsp_filter *f, const struct sinsp_evt *evt);

/* The filter matches the event as it is: what sinsp_filter_run returns. */
enum { SINSP_SELECTED = 1 };

/* As sinsp_filter_run, but if the event moved bytes from one file to another (sinsp_evt_split), the
 * filter is also run with each of them as fd.*. Returns a set of SINSP_SELECTED and of the ends
 * that match (enum sinsp_io_end), or a negative errno. Without a filter (NULL) all match. */
int sinsp_filter_select(struct sinsp_filter *f, const struct sinsp_evt *evt);

/* Returns whether events of the type can match at all. */
int sinsp_filter_may_match(const struct sinsp_filter *f, unsigned int type);

/* Returns the set of these types, bits by EVT_INDEX, borrowed from the filter. */
const uint64_t *sinsp_filter_types(const struct sinsp_filter *f);

/* Returns how many types of current events it can match, and how many there are. */
unsigned int sinsp_filter_n_types(const struct sinsp_filter *f, unsigned int *n_all);

/* Returns whether it needs enter events: it names evt.dir, and can match an enter. */
int sinsp_filter_needs_enters(const struct sinsp_filter *f);

/* Returns whether it compares evt.type with the name of the type: = or in, not below "not". */
int sinsp_filter_names_type(const struct sinsp_filter *f, unsigned int type);

/* Pushdown: conditions that every matching event fulfils; others may, too. Borrowed from the
 * filter. */
struct sinsp_filter_needs {
	const char *const *comms; /* comm of its thread or process is one of these */
	size_t n_comms; /* 0: any */
	const int32_t *pids; /* its PID is one of these */
	size_t n_pids; /* 0: any */
	const int32_t *tids; /* its TID is one of these */
	size_t n_tids;
	const int32_t
		*uids; /* its effective UID is one of these, numbered as in its user namespace */
	size_t n_uids;
	uint8_t failed; /* it is a failed call */
	uint8_t files; /* the filter has fields of files: open files must be recorded */
	uint8_t history; /* the filter depends on other events: all must be recorded */
};

/* Returns the needs of its fields: enum sinsp_field_needs. */
unsigned int sinsp_filter_field_needs(const struct sinsp_filter *f);

/* Derives the conditions. Returns 0 or -ENOMEM. */
int sinsp_filter_needs(struct sinsp_filter *f, struct sinsp_filter_needs *out);

/* Appends the program and the event types that it can match, as lines. Returns 0 or -ENOMEM. */
int sinsp_filter_explain(const struct sinsp_filter *f, struct sinsp_text *out);

/* Appends two lines: the one with the error, shortened if it is long, and a caret below the place.
 * Returns 0 or -ENOMEM. */
int sinsp_filter_error_lines(struct sinsp_text *out, const struct sinsp_filter_error *err);

#endif /* SINSP_FILTER_FILTER_H */
