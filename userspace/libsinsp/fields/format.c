/* SPDX-License-Identifier: Apache-2.0 */
/* Prints events by a compiled format: as text, as a JSON object, or as tab-separated values. */
#include "format.h"

#include "colours.h"
#include "field.h"
#include "field_text.h"
#include "format_steps.h"
#include "info.h"
#include "text_columns.h"

/* Cuts the value to @width columns, or pads it with blanks. */
static char *fit(struct sinsp_text *out, char *p, size_t start, uint32_t width)
{
	const size_t n_bytes = (size_t)(p - out->p) - start;
	uint32_t n;

	p = out->p + start + text_fit(out->p + start, n_bytes, width, &n);
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

/* Puts a quote before a formula, so that spreadsheets show it as text. */
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

/* Escapes tabs and line ends as \t and \n, and doubles backslashes. */
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

/* Writes evt.info or evt.args. */
static char *put_args(struct sinsp_format *f, struct sinsp_text *out, char *p,
		      const struct format_step *step)
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
		      const struct format_step *step, const struct sinsp_value *v, int n)
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
		      const struct format_step *step, const struct sinsp_value *v, int n)
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

/* Begins the colour of a field: that of failures for type and result of a failed event. */
static char *put_colour(char *p, const struct sinsp_eval *e, const struct format_step *step)
{
	int64_t res;

	if (step->is_result && sinsp_evt_result(e->evt, &res) && res < 0)
		return put_lit(p, COLOUR_FAILED);
	return put_mem(p, step->colour, strlen(step->colour));
}

static char *put_coloured(struct sinsp_format *f, struct sinsp_text *out, char *p,
			  const struct format_step *step, const struct sinsp_value *v, int n)
{
	p = text_room(out, p, VALUE_ROOM);
	if (p)
		p = put_colour(p, &f->eval, step);
	p = p ? put_text(f, out, p, step, v, n) : NULL;
	p = p ? text_room(out, p, VALUE_ROOM) : NULL;
	return p ? put_lit(p, COLOUR_END) : NULL;
}

/* Writes a field. Returns 1; 0: it has no value, which drops the line; -ENOMEM. */
static int put_step(struct sinsp_format *f, struct sinsp_text *out, char **p,
		    const struct format_step *step)
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

	for (const struct format_step *step = f->steps; step->has_field; step++) {
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
	for (struct format_step *step = f->steps;; step++) {
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
		const struct format_step *step = &f->steps[i];

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
	if (fmt == SINSP_LINE_POD)
		return "*%evt.num %evt.outputtime %evt.cpu %k8s.pod.name (%container.id) "
		       "%proc.name "
		       "(%thread.tid:%thread.vtid) %evt.dir %evt.type %evt.info";
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
			needs |= f->steps[i].field.row->needs;
	sinsp_format_free(f);
	return needs;
}
