/* SPDX-License-Identifier: Apache-2.0 */
/* The formats differ in the names of families of counters, in info, exemplars and the end mark. Of
 * lines only numbers are printed here: labels are rendered already. */
#include "registry_text.h"

#include <stdlib.h>
#include <string.h>

#include "fields/text.h"
#include "registry_impl.h"

enum { NUMBERS_SZ = 512 }; /* names of buckets, numbers, an exemplar */

const char *exposition_type(enum exposition format)
{
	return format == EXPOSITION_OPENMETRICS
		       ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
		       : "text/plain; version=0.0.4; charset=utf-8";
}

/* Returns the weight of a media type in the header, in thousandths; 0: it is not there. */
static long weight_of(const char *accept, const char *type)
{
	const char *at = strcasestr(accept, type);
	const char *end, *q;
	double weight;

	if (!at)
		return 0;
	end = at + strcspn(at, ",");
	q = strcasestr(at, "q=");
	if (!q || q > end)
		return 1000;
	weight = strtod(q + 2, NULL); /* of a client: may be infinite, or no number */
	return weight >= 1 ? 1000 : weight > 0 ? (long)(weight * 1000) : 0;
}

enum exposition exposition_preferred(const char *accept)
{
	long open, text;

	if (!accept)
		return EXPOSITION_TEXT;
	open = weight_of(accept, "application/openmetrics-text");
	text = weight_of(accept, "text/plain");
	return open > 0 && open >= text ? EXPOSITION_OPENMETRICS : EXPOSITION_TEXT;
}

/* Family name: in OpenMetrics without the suffix of its kind. */
static size_t family_len(const struct metric_row *row, enum exposition format)
{
	const char *suffix = row->kind == METRIC_COUNTER ? "_total"
			     : row->kind == METRIC_INFO  ? "_info"
							 : "";
	const size_t len = strlen(row->name);

	return format == EXPOSITION_OPENMETRICS ? len - strlen(suffix) : len;
}

static const char *kind_name(const struct metric_row *row, enum exposition format)
{
	switch ((enum metric_kind)row->kind) {
	case METRIC_COUNTER:
		return "counter";
	case METRIC_GAUGE:
		return "gauge";
	case METRIC_HISTOGRAM:
	case METRIC_POWERS:
		return "histogram";
	case METRIC_INFO:
		return format == EXPOSITION_OPENMETRICS ? "info" : "gauge";
	}
	return "untyped";
}

static char *put_text(char *p, const char *text)
{
	return put_mem(p, text, strlen(text));
}

static char *put_head(char *p, const struct metric_row *row, enum exposition format)
{
	const char *unit = row->unit == METRIC_NS      ? "seconds"
			   : row->unit == METRIC_BYTES ? "bytes"
			   : row->unit == METRIC_UJ    ? "joules"
						       : NULL;
	const size_t len = family_len(row, format);

	p = put_lit(p, "# HELP ");
	p = put_mem(p, row->name, len);
	*p++ = ' ';
	p = put_text(p, row->help);
	p = put_lit(p, "\n# TYPE ");
	p = put_mem(p, row->name, len);
	*p++ = ' ';
	p = put_text(p, kind_name(row, format));
	if (unit && format == EXPOSITION_OPENMETRICS) {
		p = put_lit(p, "\n# UNIT ");
		p = put_mem(p, row->name, len);
		*p++ = ' ';
		p = put_text(p, unit);
	}
	*p++ = '\n';
	return p;
}

static char *put_seconds(char *p, uint64_t ns)
{
	p = put_u64(p, ns / 1000000000);
	*p++ = '.';
	return put_9digits(p, (uint32_t)(ns % 1000000000));
}

static char *put_number(char *p, const struct metric_row *row, uint64_t v)
{
	if (row->unit == METRIC_NS)
		return put_seconds(p, v);
	/* Three of the nine digits are those of less than a microjoule. */
	return row->unit == METRIC_UJ
		       ? put_seconds(p, v / 1000000 * 1000000000 + v % 1000000 * 1000)
		       : put_u64(p, v);
}

/* Puts the name of a line with its labels, up to the place of a further one. */
static char *put_series(char *p, const char *name, size_t len, const char *suffix,
			const struct series *s)
{
	p = put_mem(p, name, len);
	p = put_text(p, suffix);
	if (s->labels_len) {
		*p++ = '{';
		p = put_mem(p, s->labels, s->labels_len);
	}
	return p;
}

static char *put_single(char *p, const struct metric_row *row, const struct series *s)
{
	p = put_series(p, row->name, strlen(row->name), "", s);
	if (s->labels_len)
		*p++ = '}';
	*p++ = ' ';
	p = put_number(p, row, row->kind == METRIC_INFO ? 1 : s->value);
	*p++ = '\n';
	return p;
}

/* Prints a bound without zeros at its end but one: 0.5, 10.0. */
static char *put_bound(char *p, uint8_t kind, size_t bucket)
{
	if (bucket == buckets_of(kind))
		return put_lit(p, "+Inf");
	p = put_seconds(p, bound_ns(kind, bucket));
	while (p[-1] == '0' && p[-2] != '.')
		p--;
	return p;
}

static char *put_exemplar(char *p, const struct kept_exemplar *k)
{
	p = put_lit(p, " # {trace_id=\"");
	p = put_mem(p, k->trace_id, k->len);
	p = put_lit(p, "\"} ");
	p = put_seconds(p, k->ns);
	*p++ = ' ';
	return put_seconds(p, k->at_ns);
}

static char *put_bucket(char *p, const struct metric_row *row, size_t len, const struct series *s,
			size_t i, uint64_t n)
{
	p = put_series(p, row->name, len, "_bucket", s);
	*p++ = s->labels_len ? ',' : '{';
	p = put_lit(p, "le=\"");
	p = put_bound(p, row->kind, i);
	p = put_lit(p, "\"} ");
	return put_u64(p, n);
}

static char *put_sum(char *p, const struct metric_row *row, size_t len, const char *suffix,
		     const struct series *s)
{
	p = put_series(p, row->name, len, suffix, s);
	if (s->labels_len)
		*p++ = '}';
	*p++ = ' ';
	return p;
}

static char *put_histogram(char *p, const struct metric_row *row, const struct series *s,
			   enum exposition format)
{
	const size_t len = strlen(row->name);
	const struct histogram *h = s->h;
	uint64_t n = 0;

	for (size_t i = 0; i <= buckets_of(row->kind); i++) {
		n += h->buckets[i];
		p = put_bucket(p, row, len, s, i, n);
		if (format == EXPOSITION_OPENMETRICS && h->exemplars && h->exemplars[i].len)
			p = put_exemplar(p, &h->exemplars[i]);
		*p++ = '\n';
	}
	p = put_number(put_sum(p, row, len, "_sum", s), row, s->value);
	*p++ = '\n';
	p = put_u64(put_sum(p, row, len, "_count", s), n);
	*p++ = '\n';
	return p;
}

/* Returns the place behind the family; NULL: no memory. */
static char *put_family(struct sinsp_text *out, char *p, const struct registry *r, size_t row,
			enum exposition format)
{
	const struct metric_row *m = &r->rows[row];
	const size_t name_sz = strlen(m->name) + NUMBERS_SZ;
	int begun = 0;

	for (const struct series *s = r->families[row].first; s && p; s = s->next) {
		if (!s->used)
			continue;
		if (!begun++) {
			p = text_room(out, p, 4 * name_sz + strlen(m->help));
			p = p ? put_head(p, m, format) : NULL;
		}
		p = p ? text_room(out, p, lines_of(m) * (name_sz + s->labels_len)) : NULL;
		if (!p)
			return NULL;
		p = s->h ? put_histogram(p, m, s, format) : put_single(p, m, s);
	}
	return p;
}

int registry_print(const struct registry *r, struct sinsp_text *out, enum exposition format)
{
	char *p = text_begin(out, 1);

	for (size_t i = 0; i < r->n_rows && p; i++)
		p = put_family(out, p, r, i, format);
	if (p && format == EXPOSITION_OPENMETRICS) {
		p = text_room(out, p, 16);
		p = p ? put_lit(p, "# EOF\n") : NULL;
	}
	return text_end(out, p);
}
