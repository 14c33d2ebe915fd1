/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats of lines: "%evt.num %proc.name" is compiled to literal text and fields, and each event
 * becomes a line of text, a JSON object, or tab-separated values. docs/formats.md describes the
 * language.
 */
#ifndef SINSP_FIELDS_FORMAT_H
#define SINSP_FIELDS_FORMAT_H

#include "sinsp.h"

struct sinsp_format; /* used by one thread */

enum sinsp_format_kind {
	SINSP_FORMAT_TEXT,
	SINSP_FORMAT_JSON, /* an object of the format's fields, sorted by name */
	SINSP_FORMAT_TSV, /* the fields in the order of the format */
};

struct sinsp_format_opts {
	size_t sz; /* sizeof(struct sinsp_format_opts); new fields go last */
	enum sinsp_format_kind kind;
	enum sinsp_time_fmt time_fmt; /* for evt.outputtime; 0: SINSP_TIME_ABSOLUTE */
	enum sinsp_buf_fmt buf_fmt;
	uint32_t buf_max; /* characters of a buffer printed as dots; 0: 80; UINT32_MAX: all */
	uint32_t buf_cut; /* bytes of a buffer; 0: all */
	uint8_t colour;
	uint8_t port_names; /* print the names of ports in /etc/services */
	uint8_t no_env; /* evt.args and evt.info omit the environment of an exec */
};

struct sinsp_format_error {
	char message[320]; /* a sentence without a newline; may contain any byte of the format */
	size_t pos; /* offset in the format */
};

/* Compiles a format. Returns 0; -EINVAL with *err (may be NULL) set; -ENOMEM. opts may be NULL. */
int sinsp_format_new(struct sinsp_format **out, const char *text,
		     const struct sinsp_format_opts *opts, struct sinsp_format_error *err);
void sinsp_format_free(struct sinsp_format *f);

/* Appends the line of the event with its newline and returns 1; 0: no line, since a field has no
 * value and the format does not begin with "*"; -ENOMEM. */
int sinsp_format_line(struct sinsp_format *f, struct sinsp_text *out, const struct sinsp_evt *evt);

/* Returns the number of events without a line so far; *name is the field that was missing most
 * often, *len bytes borrowed from @f, untouched if there were none. */
uint64_t sinsp_format_n_without(const struct sinsp_format *f, const char **name, size_t *len);

/* Appends the heading: for SINSP_FORMAT_TSV the names of the fields. Returns 0 or -ENOMEM. */
int sinsp_format_header(const struct sinsp_format *f, struct sinsp_text *out);

/* Returns the needs of a format's fields: enum sinsp_field_needs. 0 for none (NULL), and for an
 * invalid format, which is reported where lines are printed. */
unsigned int sinsp_format_needs(const char *text);

/* Returns the format equivalent to the lines of sinsp_printer_line. */
const char *sinsp_format_preset(enum sinsp_line_fmt fmt);

#endif /* SINSP_FIELDS_FORMAT_H */
