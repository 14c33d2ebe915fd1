/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles a format string into steps: literal text, then a field. The text around values in JSON
 * and TSV is literal text, too, so that one loop prints all kinds of lines. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "colours.h"
#include "field_text.h"
#include "format_steps.h"
#include "text.h"

#define WIDTH_MAX 65535

struct reader {
	struct sinsp_format *f;
	const char *text; /* what is parsed; a copy of the format's */
	size_t pos;
	struct sinsp_format_error *err;
};

static int fail(struct reader *r, size_t pos, const char *message)
{
	if (r->err) {
		snprintf(r->err->message, sizeof(r->err->message), "%s", message);
		r->err->pos = pos;
	}
	return -EINVAL;
}

static int add_text(struct sinsp_format *f, const char *s, size_t n)
{
	char *p = text_begin(&f->texts, n);

	return text_end(&f->texts, p ? put_mem(p, s, n) : NULL);
}

static struct format_step *add_step(struct sinsp_format *f)
{
	struct format_step *steps = realloc(f->steps, (f->n_steps + 1) * sizeof(*steps));

	if (!steps)
		return NULL;
	f->steps = steps;
	steps[f->n_steps] = (struct format_step){.field.index = -1};
	return &steps[f->n_steps++];
}

/* Returns the colour of a field on a terminal; NULL: none. */
static const char *colour_of(const char *name, uint8_t *is_result)
{
	static const struct {
		const char *name, *colour;
		uint8_t is_result;
	} rows[] = {
		{"evt.num", COLOUR_DIM},
		{"evt.outputtime", COLOUR_DIM},
		{"evt.time", COLOUR_DIM},
		{"evt.datetime", COLOUR_DIM},
		{"evt.cpu", COLOUR_DIM},
		{"proc.name", COLOUR_PROCESS},
		{"evt.type", COLOUR_TYPE, 1},
		{"syscall.type", COLOUR_TYPE, 1},
		{"container.name", COLOUR_CONTAINER},
		{"evt.res", "", 1},
		{"evt.rawres", "", 1},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].name, name)) {
			*is_result = rows[i].is_result;
			return rows[i].colour;
		}
	return NULL;
}

/* Returns the length of the longest field that @text begins with: text may follow a name directly,
 * as in "%proc.name_x". */
static size_t prefix_length(const char *text)
{
	size_t n = 0;

	while (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == '.')
		n++;
	while (n && !sinsp_field_find(text, n))
		n--;
	return n;
}

/* Returns whether text may follow the field: "%proc.name_x", "%proc.name[%proc.pid]". */
static int text_may_follow(const struct sinsp_field *field, int err)
{
	return err == -ENOENT || (err == -EINVAL && field->row &&
				  !(field->row->flags & (FIELD_F_ARG_OK | FIELD_F_ARG_NEEDED)));
}

static int parse_prefix(struct sinsp_field *field, const char *text, size_t n)
{
	char *name = strndup(text, n);
	const char *why;
	size_t at;
	int len;

	if (!name)
		return -ENOMEM;
	sinsp_field_fini(field);
	len = sinsp_field_parse(field, name, &why, &at);
	free(name);
	return len;
}

static int read_field(struct reader *r, struct format_step *step)
{
	const char *const text = r->text + r->pos;
	const char *why;
	size_t at, n;
	int len = sinsp_field_parse(&step->field, text, &why, &at);

	if (text_may_follow(&step->field, len) && (n = prefix_length(text)) > 0)
		len = parse_prefix(&step->field, text, n);
	if (len == -ENOMEM)
		return len;
	if (len < 0) {
		/* Reports the whole name as unknown, also if a prefix is valid. */
		sinsp_field_fini(&step->field);
		sinsp_field_parse(&step->field, text, &why, &at);
		return fail(r, r->pos + at, why);
	}
	if (step->field.row->flags & FIELD_F_FILTER_ONLY) {
		char message[160];

		snprintf(message, sizeof(message), "cannot print %s: it is for filters only",
			 step->field.row->name);
		return fail(r, r->pos, message);
	}
	step->has_field = 1;
	step->is_info = !strcmp(step->field.row->name, "evt.info");
	step->is_args = step->is_info || !strcmp(step->field.row->name, "evt.args");
	step->colour = colour_of(step->field.row->name, &step->is_result);
	step->name = text;
	step->name_len = (uint32_t)len;
	r->pos += (size_t)len;
	return 0;
}

static int read_width(struct reader *r, struct format_step *step)
{
	const size_t start = r->pos;
	uint32_t width = 0;

	for (; isdigit((unsigned char)r->text[r->pos]); r->pos++) {
		width = width * 10 + (uint32_t)(r->text[r->pos] - '0');
		if (width > WIDTH_MAX)
			return fail(r, start, "a field is at most 65535 columns wide");
	}
	step->width = width;
	return 0;
}

/* Reads literal text up to the next field; \n and \t as in C. */
static int read_literal(struct reader *r)
{
	char c;
	int err;

	while ((c = r->text[r->pos])) {
		const char next = r->text[r->pos + 1];

		if (c == '%' && next != '%')
			return 0;
		r->pos++;
		if (c == '%') {
			r->pos++;
		} else if (c == '\\' && (next == 'n' || next == 't' || next == '\\')) {
			c = next == 'n' ? '\n' : next == 't' ? '\t' : '\\';
			r->pos++;
		}
		err = add_text(r->f, &c, 1);
		if (err)
			return err;
	}
	return 0;
}

static int read_format(struct reader *r)
{
	struct format_step *step;
	size_t from;
	int err;

	if (!*r->text)
		return fail(r, 0, "the format is empty: name fields, as in '%evt.num %proc.name'");
	if (*r->text == '*') {
		r->f->lenient = 1;
		r->pos++;
	}
	do {
		step = add_step(r->f);
		if (!step)
			return -ENOMEM;
		from = r->f->texts.len;
		err = read_literal(r);
		step->len = (uint32_t)(r->f->texts.len - from);
		if (err || !r->text[r->pos])
			return err;
		r->pos++;
		if (!r->text[r->pos])
			return fail(r, r->pos - 1, "expected the name of a field after %");
		err = read_width(r, step);
		if (!err)
			err = read_field(r, step);
	} while (!err);
	return err;
}

static int by_name(const void *a, const void *b)
{
	const struct format_step *x = a, *y = b;
	const uint32_t n = x->name_len < y->name_len ? x->name_len : y->name_len;

	return memcmp(x->name, y->name, n) ?: (int)x->name_len - (int)y->name_len;
}

static void drop_step(struct sinsp_format *f, size_t i)
{
	sinsp_field_fini(&f->steps[i].field);
	memmove(&f->steps[i], &f->steps[i + 1], (f->n_steps - i - 1) * sizeof(*f->steps));
	f->n_steps--;
}

static void drop_literals(struct sinsp_format *f)
{
	for (size_t i = 0; i < f->n_steps;)
		if (f->steps[i].has_field)
			f->steps[i++].len = 0;
		else
			drop_step(f, i);
	f->texts.len = 0;
}

static int add_json_key(struct sinsp_format *f, const struct format_step *step, size_t i)
{
	char *p = text_begin(&f->texts, 1);

	if (p)
		*p++ = i ? ',' : '{';
	p = p ? json_string_put(&f->texts, p, step->name, step->name_len) : NULL;
	return text_end(&f->texts, p) ?: add_text(f, ":", 1);
}

/* Replaces a time that is text by evt.rawtime, for JSON. */
static int use_raw_time(struct format_step *step)
{
	const char *why;
	size_t at;
	int n;

	if (!(step->field.row->flags & FIELD_F_TIME_TEXT))
		return 0;
	sinsp_field_fini(&step->field);
	n = sinsp_field_parse(&step->field, "evt.rawtime", &why, &at);
	return n < 0 ? n : 0;
}

static int make_json(struct sinsp_format *f)
{
	int err = 0;

	drop_literals(f);
	if (f->n_steps)
		qsort(f->steps, f->n_steps, sizeof(*f->steps), by_name);
	for (size_t i = 0; !err && i < f->n_steps;) {
		struct format_step *step = &f->steps[i];
		const size_t from = f->texts.len;

		if (i && !by_name(step, step - 1)) {
			drop_step(f, i);
			continue;
		}
		err = use_raw_time(step) ?: add_json_key(f, step, i);
		step->len = (uint32_t)(f->texts.len - from);
		i++;
	}
	return err ?: add_text(f, "}", 1);
}

static int make_tsv(struct sinsp_format *f)
{
	int err = 0;

	drop_literals(f);
	for (size_t i = 1; !err && i < f->n_steps; i++) {
		err = add_text(f, "\t", 1);
		f->steps[i].len = 1;
	}
	return err;
}

/* Sets the pointers to texts, which no longer move, and adds the step that ends the line. */
static int finish(struct sinsp_format *f)
{
	const char *p;
	size_t len = 0;
	struct format_step *end;

	end = f->n_steps ? &f->steps[f->n_steps - 1] : NULL;
	if (!end || end->has_field)
		end = add_step(f);
	if (!end || add_text(f, "\n", 1))
		return -ENOMEM;
	for (const struct format_step *s = f->steps; s < end; s++)
		len += s->len;
	end->len = (uint32_t)(f->texts.len - len);
	p = f->texts.p;
	for (size_t i = 0; i < f->n_steps; p += f->steps[i++].len)
		f->steps[i].text = p;
	return 0;
}

#define OPT(opts, field)                                                                           \
	((opts) && (opts)->sz >= offsetof(struct sinsp_format_opts, field) + sizeof((opts)->field) \
		 ? (opts)->field                                                                   \
		 : 0)

int sinsp_format_new(struct sinsp_format **out, const char *text,
		     const struct sinsp_format_opts *opts, struct sinsp_format_error *err)
{
	struct sinsp_format *f;
	struct reader r = {.err = err};
	int e;

	if (opts && opts->sz > sizeof(*opts))
		return -E2BIG;
	f = calloc(1, sizeof(*f));
	if (!f)
		return -ENOMEM;
	f->kind = OPT(opts, kind);
	sinsp_eval_init(&f->eval, NULL);
	time_text_init(&f->eval.time, OPT(opts, time_fmt));
	f->eval.buf_fmt = OPT(opts, buf_fmt);
	f->eval.buf_max = OPT(opts, buf_max);
	f->eval.buf_cut = OPT(opts, buf_cut);
	f->eval.port_names = OPT(opts, port_names);
	f->eval.no_env = OPT(opts, no_env);
	r.f = f;
	r.text = f->source = strdup(text);
	e = r.text ? read_format(&r) : -ENOMEM;
	for (size_t i = 0; !OPT(opts, colour) && i < f->n_steps; i++)
		f->steps[i].colour = NULL;
	if (!e && f->kind != SINSP_FORMAT_TEXT)
		e = f->kind == SINSP_FORMAT_JSON ? make_json(f) : make_tsv(f);
	if (!e && f->kind != SINSP_FORMAT_TEXT && !f->n_steps)
		e = fail(&r, 0, "the format has no field: name one, as in %evt.num");
	if (!e)
		e = finish(f);
	if (e) {
		sinsp_format_free(f);
		return e;
	}
	*out = f;
	return 0;
}

void sinsp_format_free(struct sinsp_format *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n_steps; i++)
		sinsp_field_fini(&f->steps[i].field);
	sinsp_eval_fini(&f->eval);
	free(f->steps);
	free(f->texts.p);
	free(f->source);
	free(f);
}
