/* SPDX-License-Identifier: Apache-2.0 */
/* Slices as csysdig -j prints them: members in the order of their names, rows one a line. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields/field_text.h"
#include "top_cell.h"
#include "top_number.h"
#include "top_path.h"
#include "top_print.h"

/* Stands for the value of a row's key in a filter, which sysdig-inspect replaces. */
#define KEY_VALUE "@#$f1CA^&;"

enum { DURATION_WIDTH = 10, DEPTH_BELOW = 1 };

/* Text that grows; err: no memory. */
struct json {
	struct sinsp_text *out;
	int err;
};

static void put(struct json *j, const char *text)
{
	const size_t n = strlen(text);
	char *p = j->err ? NULL : text_begin(j->out, n);

	j->err = j->err ?: text_end(j->out, p ? put_mem(p, text, n) : NULL);
}

static __attribute__((format(printf, 2, 3))) void put_fmt(struct json *j, const char *fmt, ...)
{
	char text[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	put(j, text);
}

static void put_string(struct json *j, const char *text, size_t n)
{
	char *p = j->err ? NULL : text_begin(j->out, 2 * n + 8);
	char *clean = malloc(n + 1), *end;

	if (!clean || !p) {
		j->err = -ENOMEM;
	} else {
		end = put_utf8(clean, text, n);
		j->err = text_end(j->out, json_string_put(j->out, p, clean, (size_t)(end - clean)));
	}
	free(clean);
}

static void put_text(struct json *j, const char *text)
{
	put_string(j, text, strlen(text));
}

static void put_ip(struct json *j, const struct view_cell *c)
{
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(c->len == 4 ? AF_INET : AF_INET6, c->p, text, sizeof(text));
	put_text(j, text);
}

static void put_duration(struct json *j, uint64_t ns)
{
	char text[TOP_NUMBER_SZ];

	top_duration_text(text, ns);
	put_fmt(j, "\"%*s\"", DURATION_WIDTH, text);
}

static void put_double(struct json *j, double v)
{
	char text[TOP_NUMBER_SZ];

	top_json_double(text, v);
	put(j, text);
}

/* As csysdig, rates of whole numbers are sums. */
static void put_cell(struct json *j, const struct view_cell *c, const struct view_type *type,
		     double seconds)
{
	switch ((enum view_kind)type->kind) {
	case VIEW_TEXT:
		put_string(j, c->p ?: "", c->len);
		break;
	case VIEW_IP:
		put_ip(j, c);
		break;
	case VIEW_DOUBLE:
		put_double(j, seconds > 1 ? c->d / seconds : c->d);
		break;
	case VIEW_DURATION:
		put_duration(j, seconds > 1 ? (uint64_t)((double)c->u / seconds) : c->u);
		break;
	case VIEW_BOOL:
		put(j, c->u ? "true" : "false");
		break;
	case VIEW_INT:
		put_fmt(j, "%" PRId64, c->i);
		break;
	case VIEW_UINT:
	case VIEW_PORT:
		put_fmt(j, "%" PRIu64, c->u);
		break;
	}
}

/* Keys are strings. */
static void put_key(struct json *j, const struct view_cell *c, const struct view_type *type)
{
	if (type->kind == VIEW_TEXT || type->kind == VIEW_IP || type->kind == VIEW_DURATION) {
		put_cell(j, c, type, 0);
		return;
	}
	put(j, "\"");
	put_cell(j, c, type, 0);
	put(j, "\"");
}

/* As csysdig, an unknown number of a file is 0, unless it is one that csysdig does not have. */
static void put_row(struct json *j, const struct top_slice *slice, size_t i)
{
	const struct view_cell *cells = view_table_cells(slice->table, i), *key;
	const double seconds = (double)slice->length_ns / 1e9;
	const int is_file = slice->options->read != NULL;
	const struct view_column *cols;
	struct view_type type;
	size_t n;

	cols = view_table_columns(slice->table, &n);
	put(j, "{\"d\":[");
	for (size_t k = 0; k < n; k++) {
		put(j, k ? "," : "");
		if ((!is_file || cols[k].is_new) && top_cell_is_unknown(&cells[k], &cols[k]))
			put(j, "null");
		else
			put_cell(j, &cells[k], &cols[k].type, cols[k].is_rate ? seconds : 0);
	}
	put(j, "],\"k\":");
	key = view_table_key(slice->table, i, &type);
	put_key(j, key, &type);
	put(j, "}");
}

static void put_rows(struct json *j, const struct top_slice *slice)
{
	size_t from, to;

	top_slice_rows(slice, &from, &to);
	if (from < to)
		put(j, "\"data\": [\n");
	for (size_t i = from; i < to; i++) {
		put_row(j, slice, i);
		put(j, i + 1 < to ? ",\n" : "],\n");
	}
	put_fmt(j, "\"count\": %zu, ", from < to ? to - from : 0);
}

/* ---- the view ---- */

static void put_texts(struct json *j, const char *const *texts)
{
	put(j, "[");
	for (size_t i = 0; texts[i]; i++) {
		put(j, i ? "," : "");
		put_text(j, texts[i]);
	}
	put(j, "]");
}

static void put_legend(struct json *j, const struct view_table *t)
{
	size_t n;
	const struct view_column *cols = view_table_columns(t, &n);

	put(j, "\"legend\":[");
	for (size_t i = 0; i < n; i++) {
		put(j, i ? ",{\"format\":" : "{\"format\":");
		put_text(j, cols[i].type.format);
		put(j, ",\"name\":");
		put_text(j, cols[i].info->name);
		put_fmt(j, ",\"size\":%d,\"type\":", cols[i].info->size);
		put_text(j, cols[i].type.name);
		put(j, "}");
	}
	put(j, "]");
}

/* Returns the condition that the key is that of a row, with the filter of the view. NULL: no
 * memory. */
static char *row_condition(const struct sinsp_view *view, const struct sinsp_view_column *key)
{
	char *own = view_text_at_depth(view->filter, DEPTH_BELOW), *text = NULL;
	char *field = view_text_at_depth(*key->filterfield ? key->filterfield : key->field, 0);

	if (own && field &&
	    asprintf(&text, "%s%s%s%s=\"" KEY_VALUE "\"", *own ? "(" : "", own,
		     *own ? ") and " : "", field) < 0)
		text = NULL;
	free(own);
	free(field);
	return text;
}

/* The filters of a row's events, without and with that of the view below. As csysdig, where none is
 * below: those of the view itself. */
static void put_filters(struct json *j, const struct top_slice *slice,
			const struct sinsp_view_column *key)
{
	const struct sinsp_view *next = slice->target ?: slice->view;
	char *row = slice->target ? row_condition(slice->view, key) : strdup("");
	char *filter = row ? top_filter_join(slice->options->filter ?: "", row) : NULL;
	char *below = view_text_at_depth(next->filter, slice->target ? DEPTH_BELOW : 0);
	char *full = filter && below ? top_filter_join(filter, below) : NULL;

	if (full) {
		put(j, "\"filterTemplate\":");
		put_text(j, filter);
		put(j, ",\"filterTemplateF\":");
		put_text(j, full);
		put(j, ",");
	} else {
		j->err = -ENOMEM;
	}
	free(row);
	free(filter);
	free(below);
	free(full);
}

static void put_info(struct json *j, const struct top_slice *slice)
{
	const struct sinsp_view_column *key = view_table_key_column(slice->table);

	put(j, "\"info\": {");
	if (*slice->view->applies_to) {
		put(j, "\"appliesTo\":");
		put_texts(j, slice->view->applies_to);
		put(j, ",");
	}
	put(j, key ? "\"canDrillDown\":true,\"drillDownKeyField\":" : "\"canDrillDown\":false,");
	if (key) {
		put_text(j, key->field);
		put(j, ",");
		if (strcmp(slice->view->type, "table") == 0)
			put_filters(j, slice, key);
	}
	put_legend(j, slice->table);
	put_fmt(j, ",\"sortingCol\":%u}}\n", view_table_sorting_col(slice->table));
}

int top_print_json(struct sinsp_text *out, const struct top_slice *slice)
{
	struct json j = {out, 0};

	put(&j, slice->number ? ",{\"progress\": 100, " : "{\"progress\": 100, ");
	put_rows(&j, slice);
	put_info(&j, slice);
	return j.err;
}
