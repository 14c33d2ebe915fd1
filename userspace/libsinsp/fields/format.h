/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of a format: "%evt.num %proc.name" becomes a program of literal text and fields, and
 * each event a line of text, an object of JSON, or values with tabs between. docs/formats.md
 * has the language.
 */
#ifndef SINSP_FIELDS_FORMAT_H
#define SINSP_FIELDS_FORMAT_H

#include "sinsp.h"

struct sinsp_format; /* used by one thread */

enum sinsp_format_kind {
	SINSP_FORMAT_TEXT,
	SINSP_FORMAT_JSON, /* an object of the format's fields, sorted by their names */
	SINSP_FORMAT_TSV, /* the fields in the order of the format */
};

struct sinsp_format_opts {
	size_t sz; /* sizeof(struct sinsp_format_opts); new fields go last */
	enum sinsp_format_kind kind;
	enum sinsp_time_fmt time_fmt; /* of evt.outputtime; 0: SINSP_TIME_ABSOLUTE */
	enum sinsp_buf_fmt buf_fmt;
	uint32_t buf_max; /* characters of a buffer shown as dots; 0: 80; UINT32_MAX: all */
	uint32_t buf_cut; /* bytes of a buffer; 0: all */
	uint8_t colour;
	uint8_t port_names; /* ports as /etc/services names them */
	uint8_t no_env; /* evt.args and evt.info are without the environment of an exec */
};

struct sinsp_format_error {
	char what[320]; /* a sentence without a newline; may hold any byte of the format */
	size_t pos; /* bytes from the beginning of the format */
};

/* 0; -EINVAL with *err (NULL: nobody wants to know) filled; -ENOMEM. opts may be NULL. */
int sinsp_format_new(struct sinsp_format **out, const char *text,
		     const struct sinsp_format_opts *opts, struct sinsp_format_error *err);
void sinsp_format_free(struct sinsp_format *f);

/* Appends the line of the event with its newline: 1. 0: it has none, as a field has no value and
 * the format does not begin with "*". -ENOMEM. */
int sinsp_format_line(struct sinsp_format *f, struct sinsp_text *out, const struct sinsp_evt *evt);

/* Returns the number of events that had no line so far; *name is the field that most of them had no
 * value of, *len bytes borrowed from @f, untouched if there were none. */
uint64_t sinsp_format_n_without(const struct sinsp_format *f, const char **name, size_t *len);

/* Appends what stands above all lines: of SINSP_FORMAT_TSV the names of the fields. 0 or
 * -ENOMEM. */
int sinsp_format_header(const struct sinsp_format *f, struct sinsp_text *out);

/* What the fields of a format need: enum sinsp_field_needs. Of none (NULL), and of one that cannot
 * be read, which is told where lines are made, nothing. */
unsigned int sinsp_format_needs(const char *text);

/* The format that says what the lines of sinsp_printer_line do. */
const char *sinsp_format_preset(enum sinsp_line_fmt fmt);

#endif /* SINSP_FIELDS_FORMAT_H */
