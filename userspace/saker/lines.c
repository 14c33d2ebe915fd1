/* SPDX-License-Identifier: Apache-2.0 */
#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fields/format.h"
#include "filter/filter.h"
#include "say.h"

/* Characters of a buffer in a line: as many as in sysdig, more if requested. */
static uint32_t buffer_width(const struct options *o)
{
	enum { SYSDIG = 80 };
	uint32_t width = o->snaplen > SYSDIG ? o->snaplen : SYSDIG;

	if (o->verbose)
		return UINT32_MAX;
	for (size_t i = 0; i < o->snap_ports.n; i++)
		if (o->snap_ports.v[i].snaplen > width)
			width = o->snap_ports.v[i].snaplen;
	return width;
}

/* NO_COLOR: see no-color.org. */
static int has_colour(const struct options *o, int terminal)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (o->colour != COLOUR_AUTO)
		return o->colour == COLOUR_ALWAYS;
	return terminal && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

/* The message, and below it the format with a caret at the place. */
static void say_error(const char *text, const struct sinsp_format_error *err)
{
	const struct sinsp_filter_error at = {.text = text, .pos = err->pos};

	say("in the format of -p: %s", err->message);
	say_filter_place(&at);
}

static int open_format(struct lines *l, const struct options *o, int colour)
{
	const struct sinsp_format_opts opts = {
		.sz = sizeof(opts),
		.kind = o->lines_kind,
		.time_fmt = o->time_fmt,
		.buf_fmt = o->buf_fmt,
		/* For programs: nothing is truncated. */
		.buf_max = o->lines_kind == SINSP_FORMAT_TEXT ? buffer_width(o) : UINT32_MAX,
		.buf_cut = o->snaplen,
		.colour = colour && o->lines_kind == SINSP_FORMAT_TEXT,
		.port_names = o->port_names,
		/* Environments contain secrets, and nothing is truncated here. */
		.no_env = o->lines_kind != SINSP_FORMAT_TEXT && !o->verbose,
	};
	const char *text = o->line.format ?: sinsp_format_preset(o->line.preset);
	struct sinsp_format_error at;
	int err = sinsp_format_new(&l->format, text, &opts, &at);

	if (err == -EINVAL)
		say_error(text, &at);
	return err;
}

int lines_open(struct lines *l, const struct options *o, int terminal)
{
	const int colour = has_colour(o, terminal);
	const struct sinsp_printer_opts opts = {
		.sz = sizeof(opts),
		.time_fmt = o->time_fmt,
		.buf_fmt = o->buf_fmt,
		.buf_max = buffer_width(o),
		.line_fmt = o->line.preset,
		.buf_cut = o->snaplen,
		.colour = colour,
		.port_names = o->port_names,
	};
	unsigned int before = say_n_errors();
	int err;

	if (o->line.format || o->lines_kind != SINSP_FORMAT_TEXT)
		err = open_format(l, o, colour);
	else
		err = sinsp_printer_new(&l->printer, &opts);
	if (err)
		say_cause(before, "cannot print lines", err);
	return err;
}

void lines_close(struct lines *l)
{
	sinsp_printer_free(l->printer);
	sinsp_format_free(l->format);
	*l = (struct lines){0};
}

int lines_header(const struct lines *l, struct sinsp_text *out)
{
	return l->format ? sinsp_format_header(l->format, out) : 0;
}

int lines_put(struct lines *l, struct sinsp_text *out, const struct sinsp_evt *evt)
{
	if (l->format)
		return sinsp_format_line(l->format, out, evt);
	return sinsp_printer_line(l->printer, out, evt) ?: 1;
}

/* Lines of a format are for programs: losses are reported at the end. */
int lines_put_gap(struct lines *l, struct sinsp_text *out, const struct sinsp_evt *evt)
{
	return l->format ? 0 : lines_put(l, out, evt);
}

uint64_t lines_n_without(const struct lines *l, const char **name, size_t *len)
{
	return l->format ? sinsp_format_n_without(l->format, name, len) : 0;
}
