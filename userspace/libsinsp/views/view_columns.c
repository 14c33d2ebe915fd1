/* SPDX-License-Identifier: Apache-2.0 */
#include "view_columns.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int view_error(struct view_error *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->message, sizeof(err->message), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* ---- %depth ---- */

/* Longer forms come first. */
static const struct {
	const char *text;
	int add;
} depths[] = {
	{"%depth+1", 1},
	{"%depth-1", -1},
	{"%depth", 0},
};

char *view_text_at_depth(const char *text, unsigned int depth)
{
	const size_t n = sizeof(depths) / sizeof(depths[0]);
	char *out = malloc(strlen(text) + 1), *p = out;

	if (!out)
		return NULL;
	while (*text) {
		size_t i = 0;

		while (i < n && strncmp(text, depths[i].text, strlen(depths[i].text)) != 0)
			i++;
		if (i < n) {
			const int at = (int)depth + depths[i].add;

			text += strlen(depths[i].text);
			*p++ = (char)('0' + (at < 0 ? 0 : at));
		} else {
			*p++ = *text++;
		}
	}
	*p = 0;
	return out;
}

static void drop_blanks(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (*text != ' ' && *text != '\t')
			*to++ = *text;
	*to = 0;
}

/* ---- fields ---- */

static int has_tag(const char *const *tags, const char *tag)
{
	for (; *tags; tags++)
		if (strcmp(*tags, tag) == 0)
			return 1;
	return 0;
}

static int is_shown(const struct sinsp_view_column *info, int containers)
{
	return !*info->tags || has_tag(info->tags, containers ? "containers" : "default");
}

static int parse_field(struct sinsp_field *f, const struct sinsp_view_column *info,
		       const struct sinsp_view *view, uint32_t depth, struct view_error *err)
{
	char *text = view_text_at_depth(info->field, depth);
	const char *why = "";
	size_t at;
	int n;

	if (!text)
		return -ENOMEM;
	drop_blanks(text);
	n = sinsp_field_parse(f, text, &why, &at);
	if (n >= 0 && (size_t)n != strlen(text)) {
		why = "it is no field";
		n = -EINVAL;
	}
	if (n < 0 && n != -ENOMEM)
		n = view_error(err, "view %s, column %s: %s: %s", view->id, info->name, text, why);
	free(text);
	return n < 0 ? n : 0;
}

static const uint8_t percents[SINSP_VIEW_AGGREGATIONS] = {
	[SINSP_VIEW_P50] = 50, [SINSP_VIEW_P90] = 90, [SINSP_VIEW_P99] = 99};

static int check_percentile(const struct view_column *col, const struct sinsp_view *view,
			    struct view_error *err)
{
	const enum view_kind kind = col->type.kind;

	if (percents[col->info->groupby_aggregation])
		return view_error(err, "view %s, column %s: groups have no percentiles", view->id,
				  col->info->name);
	if (percents[col->info->aggregation] && kind != VIEW_INT && kind != VIEW_UINT &&
	    kind != VIEW_DURATION)
		return view_error(err,
				  "view %s, column %s: only whole numbers have "
				  "percentiles",
				  view->id, col->info->name);
	return 0;
}

enum { NEEDS_NEW = FIELD_NEEDS_REQUESTS | FIELD_NEEDS_SLICES | FIELD_NEEDS_TCP };

static int add_column(struct view_columns *c, const struct sinsp_view *view,
		      const struct sinsp_view_column *info, uint32_t depth, struct view_error *err)
{
	struct view_field *f = &c->fields[c->n];
	struct view_column *col = &c->columns[c->n];
	int r;

	*f = (struct view_field){0};
	c->n++; /* also frees a field that is wrong */
	r = parse_field(&f->field, info, view, depth, err);
	if (r)
		return r;
	*col = (struct view_column){
		.info = info,
		.type = view_type_of(&f->field),
		.is_rate = info->aggregation == SINSP_VIEW_TIME_AVG ||
			   info->groupby_aggregation == SINSP_VIEW_TIME_AVG,
		.is_new = (f->field.row->needs & NEEDS_NEW) != 0,
	};
	c->has_io |= (f->field.row->flags & FIELD_F_OF_IO) != 0;
	c->is_by_file |= info->is_key && strncmp(f->field.row->name, "fd.", 3) == 0;
	f->percent = percents[info->aggregation];
	f->takes_last = col->type.kind == VIEW_TEXT && info->aggregation == SINSP_VIEW_MAX;
	f->keeps_first = (info->aggregation == SINSP_VIEW_FIRST ||
			  (col->type.kind == VIEW_TEXT && !f->takes_last)) &&
			 view->use_defaults && !col->type.no_default;
	return check_percentile(col, view, err);
}

enum { PASS_KEY, PASS_GROUPBY, PASS_OTHERS, PASS_MAX };

static unsigned int pass_of(const struct sinsp_view_column *info)
{
	return info->is_key ? PASS_KEY : info->is_groupby_key ? PASS_GROUPBY : PASS_OTHERS;
}

static int add_columns(struct view_columns *c, const struct sinsp_view *view, int containers,
		       uint32_t depth, struct view_error *err)
{
	int r = 0;

	for (unsigned int pass = 0; pass < PASS_MAX; pass++) {
		if (pass == PASS_OTHERS)
			c->n_keys = c->n;
		for (size_t i = 0; i < view->n_columns && !r; i++)
			if (pass_of(&view->columns[i]) == pass &&
			    is_shown(&view->columns[i], containers))
				r = add_column(c, view, &view->columns[i], depth, err);
	}
	return r;
}

/* ---- checks ---- */

static unsigned int count_keys(const struct view_columns *c, int groupby)
{
	unsigned int n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += groupby ? c->columns[i].info->is_groupby_key : c->columns[i].info->is_key;
	return n;
}

static int check(const struct view_columns *c, const struct sinsp_view *view,
		 struct view_error *err)
{
	const int is_list = sinsp_view_is_list(view);
	const unsigned int n_keys = count_keys(c, 0), n_groupby = count_keys(c, 1);

	if (is_list && n_keys + n_groupby)
		return view_error(err, "view %s: a list has no keys", view->id);
	if (!is_list && n_keys != 1)
		return view_error(err, "view %s: a table has one key, not %u", view->id, n_keys);
	if (n_groupby > 1)
		return view_error(err, "view %s: more than one groupby key", view->id);
	if (c->n == c->n_keys)
		return view_error(err, "view %s has no columns", view->id);
	return 0;
}

/* As sysdig, which counts the columns of a list from 0, and others from their key on. */
static int find_sorting(struct view_columns *c, const struct sinsp_view *view,
			struct view_error *err)
{
	unsigned int n = 0;

	c->sorting_col = c->n_keys > 1 ? 2 : 1;
	for (size_t i = 0; i < c->n; i++) {
		if (!c->columns[i].info->is_sorting)
			continue;
		c->sorting_col = (uint32_t)(c->n_keys > 1 ? i - 1 : i);
		n++;
	}
	if (n > 1)
		return view_error(err, "view %s: more than one column sorts it", view->id);
	if (c->sorting_col > c->n - c->n_keys)
		c->sorting_col = 1;
	return 0;
}

int view_columns_init(struct view_columns *c, const struct sinsp_view *view, int containers,
		      uint32_t depth, struct view_error *err)
{
	int r;

	*c = (struct view_columns){0};
	c->fields = calloc(view->n_columns + 1, sizeof(*c->fields));
	c->columns = calloc(view->n_columns + 1, sizeof(*c->columns));
	if (!c->fields || !c->columns)
		return -ENOMEM;
	r = add_columns(c, view, containers, depth, err);
	r = r ?: check(c, view, err);
	return r ?: find_sorting(c, view, err);
}

void view_columns_fini(struct view_columns *c)
{
	for (size_t i = 0; i < c->n; i++)
		sinsp_field_fini(&c->fields[i].field);
	free(c->fields);
	free(c->columns);
	*c = (struct view_columns){0};
}
