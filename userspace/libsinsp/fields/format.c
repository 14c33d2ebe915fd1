/* SPDX-License-Identifier: Apache-2.0 */
/* A format is compiled once, into steps: literal text, then a field. The text around values in JSON
 * and TSV is literal text, too, so that one loop prints all kinds of lines. */
#include "format.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "colours.h"
#include "fd.h"
#include "field_needs.h"
#include "field_rows.h"
#include "field_text.h"
#include "info.h"

#define WIDTH_MAX 65535

/* Literal text before the value; the last step of the program has no value. */
struct step {
	const char *text; /* in sinsp_format.texts */
	uint32_t len;
	uint32_t width; /* 0: not padded */
	const char *colour; /* escape sequence on a terminal; NULL: none */
	uint8_t has_field, is_args, is_info, is_result;
	struct sinsp_field field;
	const char *name; /* as written in the format */
	uint32_t name_len;
	uint64_t n_without; /* events without a line for lack of this field's value */
};

struct sinsp_format {
	struct sinsp_eval eval;
	enum sinsp_format_kind kind;
	int lenient; /* a missing value does not drop the line */
	struct step *steps;
	size_t n_steps;
	char *source; /* the format */
	struct sinsp_text texts;
};

/* ---- reading ---- */

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

static struct step *add_step(struct sinsp_format *f)
{
	struct step *steps = realloc(f->steps, (f->n_steps + 1) * sizeof(*steps));

	if (!steps)
		return NULL;
	f->steps = steps;
	steps[f->n_steps] = (struct step){.field.index = -1};
	return &steps[f->n_steps++];
}

/* Colours of fields on a terminal. */
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

/* Text may follow a name directly, as in "%proc.name_x": takes the longest field that it begins
 * with. */
static size_t prefix_length(const char *text)
{
	size_t n = 0;

	while (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == '.')
		n++;
	while (n && !sinsp_field_find(text, n))
		n--;
	return n;
}

/* Whether the error may be text after the field: "%proc.name_x", "%proc.name[%proc.pid]". */
static int may_go_on(const struct sinsp_field *field, int err)
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

static int read_field(struct reader *r, struct step *step)
{
	const char *const text = r->text + r->pos;
	const char *why;
	size_t at, n;
	int len = sinsp_field_parse(&step->field, text, &why, &at);

	if (may_go_on(&step->field, len) && (n = prefix_length(text)) > 0)
		len = parse_prefix(&step->field, text, n);
	if (len == -ENOMEM)
		return len;
	if (len < 0) {
		/* Also after a valid prefix: reports the whole name as unknown. */
		sinsp_field_fini(&step->field);
		sinsp_field_parse(&step->field, text, &why, &at);
		return fail(r, r->pos + at, why);
	}
	if (step->field.row->flags & FIELD_F_FILTER_ONLY) {
		char message[160];

		snprintf(message, sizeof(message), "%s has no value to print: it is for filters",
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

static int read_width(struct reader *r, struct step *step)
{
	const size_t start = r->pos;
	uint32_t width = 0;

	for (; isdigit((unsigned char)r->text[r->pos]); r->pos++) {
		width = width * 10 + (uint32_t)(r->text[r->pos] - '0');
		if (width > WIDTH_MAX)
			return fail(r, start, "a field is at most 65535 characters wide");
	}
	step->width = width;
	return 0;
}

/* Literal text up to the next field; \n and \t as in C. */
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
	struct step *step;
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
			return fail(r, r->pos - 1, "a field's name was expected behind %");
		err = read_width(r, step);
		if (!err)
			err = read_field(r, step);
	} while (!err);
	return err;
}

/* ---- what is around values ---- */

static int by_name(const void *a, const void *b)
{
	const struct step *x = a, *y = b;
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

static int add_json_key(struct sinsp_format *f, const struct step *step, size_t i)
{
	char *p = text_begin(&f->texts, 1);

	if (p)
		*p++ = i ? ',' : '{';
	p = p ? json_string_put(&f->texts, p, step->name, step->name_len) : NULL;
	return text_end(&f->texts, p) ?: add_text(f, ":", 1);
}

/* The JSON value of a time that is text. */
static int use_raw_time(struct step *step)
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
		struct step *step = &f->steps[i];
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

/* Pointers to texts are set once all texts are there. The last step ends the line. */
static int finish(struct sinsp_format *f)
{
	const char *p;
	size_t len = 0;
	struct step *end;

	end = f->n_steps ? &f->steps[f->n_steps - 1] : NULL;
	if (!end || end->has_field)
		end = add_step(f);
	if (!end || add_text(f, "\n", 1))
		return -ENOMEM;
	for (const struct step *s = f->steps; s < end; s++)
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

/* ---- lines ---- */

/* Cut or padded with blanks; a UTF-8 character has one column. */
static char *fit(struct sinsp_text *out, char *p, size_t start, uint32_t width)
{
	const char *c = out->p + start;
	uint32_t n = 0;

	for (; c < p; c++) {
		n += ((unsigned char)*c & 0xc0) != 0x80;
		if (n > width)
			return out->p + (c - out->p);
	}
	p = text_room(out, p, width - n);
	if (!p)
		return NULL;
	memset(p, ' ', width - n);
	return p + (width - n);
}

/* Returns whether a spreadsheet would evaluate this cell: it begins like a formula and is no
 * number. */
static int is_formula(const char *p, size_t n)
{
	size_t i = 1;

	if (!n || !memchr("=+-@", *p, 4))
		return 0;
	while (i < n && ((p[i] >= '0' && p[i] <= '9') || p[i] == '.'))
		i++;
	return *p == '=' || *p == '@' || i < n;
}

/* A quote before what begins like a formula: spreadsheets take the cell as text. */
static char *guard_tsv(struct sinsp_text *out, char *p, size_t start)
{
	const size_t n = (size_t)(p - out->p) - start;

	if (!is_formula(out->p + start, n))
		return p;
	p = text_room(out, p, 1);
	if (!p)
		return NULL;
	memmove(out->p + start + 1, out->p + start, n);
	out->p[start] = '\'';
	return p + 1;
}

/* Tabs and line ends as \t and \n, a backslash doubled. */
static char *escape_tsv(struct sinsp_text *out, char *p, size_t start)
{
	size_t n = (size_t)(p - out->p) - start, extra = 0;
	const char *from;
	char *to;

	for (const char *c = out->p + start; c < p; c++)
		extra += *c == '\t' || *c == '\n' || *c == '\\';
	if (!extra)
		return p;
	p = text_room(out, p, extra);
	if (!p)
		return NULL;
	from = out->p + start + n;
	p = to = out->p + start + n + extra;
	while (to > from) {
		const char c = *--from;

		*--to = c == '\t' ? 't' : c == '\n' ? 'n' : c;
		if (c == '\t' || c == '\n' || c == '\\')
			*--to = '\\';
	}
	return p;
}

/* The text of evt.info or evt.args without line ends. */
static char *put_args(struct sinsp_format *f, struct sinsp_text *out, char *p,
		      const struct step *step)
{
	const struct sinsp_eval *e = &f->eval;
	struct value_writer w = {
		.out = out,
		.evt = e->evt,
		.buf_fmt = e->buf_fmt,
		.buf_max = e->buf_max ? e->buf_max : VALUE_BUF_MAX,
		.buf_cut = e->buf_cut,
		.port_names = e->port_names,
		.no_env = e->no_env,
	};

	p = text_room(out, p, VALUE_ROOM);
	if (!p)
		return NULL;
	return step->is_info ? sinsp_info_put(&w, p) : sinsp_args_put(&w, p);
}

static char *put_values(struct sinsp_format *f, struct sinsp_text *out, char *p,
			const struct sinsp_value *v, int n)
{
	for (int i = 0; p && i < n; i++) {
		if (i && (p = text_room(out, p, 1)))
			*p++ = ',';
		p = p ? field_text_put(out, p, &f->eval, &v[i]) : NULL;
	}
	return p;
}

static char *put_json(struct sinsp_format *f, struct sinsp_text *out, char *p,
		      const struct step *step, const struct sinsp_value *v, int n)
{
	const int is_list = n > 1 || step->field.row->flags & FIELD_F_LIST;

	p = text_room(out, p, VALUE_ROOM);
	if (!p)
		return NULL;
	if (!n)
		return put_lit(p, "null");
	if (!is_list)
		return field_json_put(out, p, &f->eval, v);
	*p++ = '[';
	for (int i = 0; p && i < n; i++) {
		if (i)
			*p++ = ',';
		p = field_json_put(out, p, &f->eval, &v[i]);
		p = p ? text_room(out, p, VALUE_ROOM) : NULL;
	}
	if (p)
		*p++ = ']';
	return p;
}

static char *put_text(struct sinsp_format *f, struct sinsp_text *out, char *p,
		      const struct step *step, const struct sinsp_value *v, int n)
{
	const size_t start = (size_t)(p - out->p);

	if (step->is_args)
		p = put_args(f, out, p, step);
	else if (n)
		p = put_values(f, out, p, v, n);
	else
		p = (p = text_room(out, p, VALUE_ROOM)) ? put_lit(p, "<NA>") : NULL;
	if (p && f->kind == SINSP_FORMAT_TSV)
		p = guard_tsv(out, p, start);
	if (p && f->kind == SINSP_FORMAT_TSV)
		return escape_tsv(out, p, start);
	return p && step->width ? fit(out, p, start, step->width) : p;
}

/* A failed event has its own colours for type and result. */
static char *put_colour(char *p, const struct sinsp_eval *e, const struct step *step)
{
	int64_t res;

	if (step->is_result && sinsp_evt_result(e->evt, &res) && res < 0)
		return put_lit(p, COLOUR_FAILED);
	return put_mem(p, step->colour, strlen(step->colour));
}

static char *put_coloured(struct sinsp_format *f, struct sinsp_text *out, char *p,
			  const struct step *step, const struct sinsp_value *v, int n)
{
	p = text_room(out, p, VALUE_ROOM);
	if (p)
		p = put_colour(p, &f->eval, step);
	p = p ? put_text(f, out, p, step, v, n) : NULL;
	p = p ? text_room(out, p, VALUE_ROOM) : NULL;
	return p ? put_lit(p, COLOUR_END) : NULL;
}

/* Returns 0 if the value is missing, and the line is dropped. */
static int put_step(struct sinsp_format *f, struct sinsp_text *out, char **p,
		    const struct step *step)
{
	const struct sinsp_value *more = NULL;
	struct sinsp_value v;
	int n = 1;

	if (!step->is_args || f->kind == SINSP_FORMAT_JSON)
		n = sinsp_field_get(&f->eval, &step->field, &v, &more);
	if (n < 0)
		return n;
	if (!n && !f->lenient)
		return 0;
	if (f->kind == SINSP_FORMAT_JSON)
		*p = put_json(f, out, *p, step, more ? more : &v, n);
	else if (step->colour)
		*p = put_coloured(f, out, *p, step, more ? more : &v, n);
	else
		*p = put_text(f, out, *p, step, more ? more : &v, n);
	return *p ? 1 : -ENOMEM;
}

uint64_t sinsp_format_n_without(const struct sinsp_format *f, const char **name, size_t *len)
{
	uint64_t sum = 0, most = 0;

	for (const struct step *step = f->steps; step->has_field; step++) {
		sum += step->n_without;
		if (step->n_without > most) {
			most = step->n_without;
			*name = step->name;
			*len = step->name_len;
		}
	}
	return sum;
}

int sinsp_format_line(struct sinsp_format *f, struct sinsp_text *out, const struct sinsp_evt *evt)
{
	char *p = text_begin(out, VALUE_ROOM);
	int n;

	f->eval.insp = evt->insp;
	sinsp_eval_set(&f->eval, evt);
	for (struct step *step = f->steps;; step++) {
		p = text_room(out, p, step->len);
		if (!p)
			return -ENOMEM;
		p = put_mem(p, step->text, step->len);
		if (!step->has_field)
			break;
		n = put_step(f, out, &p, step);
		if (n <= 0) {
			step->n_without += !n;
			return n;
		}
	}
	return text_end(out, p) ?: 1;
}

int sinsp_format_header(const struct sinsp_format *f, struct sinsp_text *out)
{
	int err = 0;
	char *p;

	if (f->kind != SINSP_FORMAT_TSV)
		return 0;
	for (size_t i = 0; !err && f->steps[i].has_field; i++) {
		const struct step *step = &f->steps[i];

		p = text_begin(out, step->name_len + 2);
		if (p && i)
			*p++ = '\t';
		p = p ? put_mem(p, step->name, step->name_len) : NULL;
		err = text_end(out, p);
	}
	p = err ? NULL : text_begin(out, 1);
	if (p)
		*p++ = '\n';
	return text_end(out, p);
}

const char *sinsp_format_preset(enum sinsp_line_fmt fmt)
{
	if (fmt == SINSP_LINE_CONTAINER)
		return "*%evt.num %evt.outputtime %evt.cpu %container.name (%container.id) "
		       "%proc.name "
		       "(%thread.tid:%thread.vtid) %evt.dir %evt.type %evt.info";
	return "*%evt.num %evt.outputtime %evt.cpu %proc.name (%thread.tid) %evt.dir %evt.type "
	       "%evt.info";
}

unsigned int sinsp_format_needs(const char *text)
{
	struct sinsp_format *f;
	unsigned int needs = 0;

	if (!text || sinsp_format_new(&f, text, NULL, NULL))
		return 0;
	for (size_t i = 0; i < f->n_steps; i++)
		if (f->steps[i].has_field)
			needs |= sinsp_field_needs(f->steps[i].field.row);
	sinsp_format_free(f);
	return needs;
}
