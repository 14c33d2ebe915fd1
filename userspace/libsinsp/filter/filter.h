/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters: text such as "proc.name=cat and evt.type in (open, openat)" becomes a program that
 * says of each event whether it is meant. docs/filters.md has the language.
 */
#ifndef SINSP_FILTER_FILTER_H
#define SINSP_FILTER_FILTER_H

#include "sinsp.h"

struct sinsp_filter; /* used by one thread */

/* NAME=EXPR of a macro, NAME=a,b of a list. */
struct sinsp_filter_name {
	const char *name, *text;
};

struct sinsp_filter_opts {
	size_t sz; /* sizeof(struct sinsp_filter_opts); new fields go last */
	const struct sinsp_filter_name *macros, *lists; /* the first one of a name counts */
	size_t n_macros, n_lists;
	scap_log_fn log; /* told once if a pattern was given up; NULL: silent */
	void *log_ctx;
	uint8_t threads_only; /* it is asked of threads and files without an event: fields of
				 events are errors */
};

/* What is wrong with a filter, and where. Texts are borrowed from those that the filter was made
 * of. */
struct sinsp_filter_error {
	char what[320]; /* a sentence without control characters */
	const char *name; /* of the macro or list at fault; NULL: the filter's own text */
	const char *text; /* the text at fault */
	size_t pos; /* bytes from its beginning */
};

/* 0; -EINVAL with *err (NULL: nobody wants to know) filled; -ENOMEM. opts may be NULL. */
int sinsp_filter_new(struct sinsp_filter **out, const char *text,
		     const struct sinsp_filter_opts *opts, struct sinsp_filter_error *err);
void sinsp_filter_free(struct sinsp_filter *f);

/* 1: the event is meant, 0: it is not; a negative errno. */
int sinsp_filter_run(struct sinsp_filter *f, const struct sinsp_evt *evt);

/* Whether events of the type can be meant at all. */
int sinsp_filter_may_match(const struct sinsp_filter *f, unsigned int type);

/* All of these types, bits by EVT_INDEX. Borrowed from the filter. */
const uint64_t *sinsp_filter_types(const struct sinsp_filter *f);

/* How many types of events that are made today it can match, of how many there are. */
unsigned int sinsp_filter_n_types(const struct sinsp_filter *f, unsigned int *n_all);

/* Whether it asks for enters: it names evt.dir, and can match one. */
int sinsp_filter_wants_enters(const struct sinsp_filter *f);

/* Whether it compares evt.type with the name of the type: = or in, not below "not". */
int sinsp_filter_names_type(const struct sinsp_filter *f, unsigned int type);

/*
 * What an event must be for the filter to hold, as far as it can be told before anything is known
 * of it: more events may be so than are meant, never fewer. Borrowed from the filter.
 */
struct sinsp_filter_needs {
	const char *const *comms; /* the name of its thread or of the process is one of these */
	size_t n_comms; /* 0: any name */
	const int32_t *pids; /* its process is one of these */
	size_t n_pids; /* 0: any */
	const int32_t *tids; /* its thread is */
	size_t n_tids;
	const int32_t *uids; /* it acts as one of these users, as its user namespace numbers them */
	size_t n_uids;
	uint8_t failed; /* it is a call that failed */
	uint8_t files; /* the filter asks about files: which are open must be known */
	uint8_t history; /* it asks about other events: all are needed */
};

/* What its fields need: enum sinsp_field_needs. */
unsigned int sinsp_filter_asks(const struct sinsp_filter *f);

/* 0 or -ENOMEM. */
int sinsp_filter_needs(struct sinsp_filter *f, struct sinsp_filter_needs *out);

/* Appends the program and the event types that it can match, in lines. 0 or -ENOMEM. */
int sinsp_filter_explain(const struct sinsp_filter *f, struct sinsp_text *out);

/* Appends two lines: the one at fault, shortened if it is long, and a caret below the place.
 * 0 or -ENOMEM. */
int sinsp_filter_error_lines(struct sinsp_text *out, const struct sinsp_filter_error *err);

#endif /* SINSP_FILTER_FILTER_H */
