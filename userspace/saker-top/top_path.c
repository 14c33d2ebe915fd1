/* SPDX-License-Identifier: Apache-2.0 */
#include "top_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *top_filter_join(const char *a, const char *b)
{
	char *text;

	if (!*a || !*b)
		return strdup(*a ? a : b);
	return asprintf(&text, "(%s) and (%s)", a, b) < 0 ? NULL : text;
}

/* As top_filter_join, and frees the first one. */
static char *add(char *a, const char *b)
{
	char *text = a && b ? top_filter_join(a, b) : NULL;

	free(a);
	return text;
}

static void place_fini(struct top_place *place)
{
	free(place->key);
	top_tree_fini(&place->tree);
	*place = (struct top_place){0};
}

static void level_fini(struct top_level *level)
{
	free(level->base);
	free(level->once);
	free(level->user);
	free(level->condition);
	free(level->row);
	place_fini(&level->place);
	*level = (struct top_level){0};
}

int top_path_init(struct top_path *p, const struct sinsp_view *view, const char *filter)
{
	struct top_level *root = &p->v[0];

	*p = (struct top_path){.n = 1};
	root->view = view;
	root->key_field = "";
	root->base = strdup(filter ?: "");
	root->once = strdup("");
	root->user = strdup("");
	root->row = strdup("");
	if (root->base && root->once && root->user && root->row)
		return 0;
	return -ENOMEM;
}

void top_path_fini(struct top_path *p)
{
	while (p->n)
		level_fini(&p->v[--p->n]);
}

char *top_level_filter(const struct top_level *level)
{
	return add(add(strdup(level->base), level->once), level->user);
}

/* ---- the condition of a row ---- */

/* A value of any bytes in the quotes of filters. */
static char *quote(const char *value, size_t len)
{
	char *text = malloc(4 * len + 3), *p = text;

	if (!text)
		return NULL;
	*p++ = '"';
	for (size_t i = 0; i < len; i++) {
		const unsigned char c = (unsigned char)value[i];

		if (c == '"' || c == '\\')
			p += sprintf(p, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			p += sprintf(p, "\\x%02x", c);
		else
			*p++ = (char)c;
	}
	*p++ = '"';
	*p = 0;
	return text;
}

static char *condition(const struct top_level *level, const struct sinsp_view_column *key,
		       const char *value, size_t len)
{
	char *quoted = quote(value, len), *text = NULL;
	char *field =
		view_text_at_depth(*key->filterfield ? key->filterfield : key->field, level->depth);

	if (quoted && field && asprintf(&text, "%s=%s", field, quoted) < 0)
		text = NULL;
	free(quoted);
	free(field);
	return text;
}

char *top_level_row_filter(const struct top_level *level, const struct sinsp_view_column *key,
			   const char *value, size_t len)
{
	char *own = view_text_at_depth(level->view->filter, level->depth);
	char *row = condition(level, key, value, len);
	char *text = own && row ? add(add(top_level_filter(level), own), row) : NULL;

	free(own);
	free(row);
	return text;
}

/* ---- down and up ---- */

static char *base_below(const struct top_level *above)
{
	char *base = add(strdup(above->base), above->user);
	char *own = view_text_at_depth(above->view->keeps_filter ? above->view->filter : "",
				       above->depth);

	base = own ? add(base, own) : base;
	if (!own) {
		free(base);
		base = NULL;
	}
	free(own);
	return base;
}

static char *row_name(const struct sinsp_view_column *key, const char *value, size_t len)
{
	char *text;

	return asprintf(&text, "%s=%.*s", key->field, (int)len, value) < 0 ? NULL : text;
}

char *top_level_key_filter(const struct top_level *level, const struct sinsp_view_column *key,
			   const char *value, size_t len, char **name)
{
	*name = row_name(key, value, len);
	return condition(level, key, value, len);
}

int top_path_push(struct top_path *p, const struct sinsp_view *view,
		  const struct sinsp_view_column *key, const char *value, size_t len)
{
	const struct top_level *above = top_path_top(p);
	struct top_level level = {
		.view = view,
		.key_field = key->field,
		.from_ns = above->from_ns,
		.to_ns = above->to_ns,
		.depth = above->depth + above->view->is_deeper,
	};
	char *row;

	if (p->n == TOP_PATH_MAX)
		return -E2BIG;
	row = condition(above, key, value, len);
	level.row = row_name(key, value, len);
	level.user = strdup("");
	level.base = base_below(above);
	level.once = strdup(row && key->filter_in_child_only ? row : "");
	level.condition = row ? strdup(row) : NULL;
	if (row && !key->filter_in_child_only)
		level.base = add(level.base, row);
	if (!row || !level.condition || !level.row || !level.user || !level.base || !level.once) {
		free(row);
		level_fini(&level);
		return -ENOMEM;
	}
	free(row);
	p->v[p->n++] = level;
	return 0;
}

int top_path_narrow(struct top_path *p, const char *condition, const char *name, uint64_t from_ns,
		    uint64_t to_ns)
{
	const struct top_level *above = top_path_top(p);
	struct top_level level = {
		.view = above->view,
		.key_field = above->key_field,
		.depth = above->depth,
		.from_ns = from_ns,
		.to_ns = to_ns,
	};

	if (p->n == TOP_PATH_MAX)
		return -E2BIG;
	level.base = add(add(strdup(above->base), above->user), condition);
	level.once = strdup(above->once);
	level.user = strdup("");
	level.row = strdup(name);
	if (!level.base || !level.once || !level.user || !level.row) {
		level_fini(&level);
		return -ENOMEM;
	}
	level.place.sorting_col = above->place.sorting_col;
	level.place.reversed = above->place.reversed;
	p->v[p->n++] = level;
	return 0;
}

void top_path_pop(struct top_path *p)
{
	if (p->n > 1)
		level_fini(&p->v[--p->n]);
}

void top_path_switch(struct top_path *p, const struct sinsp_view *view)
{
	struct top_level *level = top_path_top(p);

	level->view = view;
	place_fini(&level->place);
}

/* ---- which view comes next ---- */

int top_view_is_spectrum(const struct sinsp_view *view)
{
	return strcmp(view->type, "spectrogram") == 0;
}

int top_view_applies(const struct sinsp_view *view, const char *field)
{
	for (const char *const *a = view->applies_to; *a; a++)
		if (strcmp(*a, field) == 0)
			return 1;
	return 0;
}

const struct sinsp_view *top_path_target(const struct view_list *list,
					 const struct sinsp_view *view,
					 const struct sinsp_view_column *key)
{
	const struct sinsp_view *target = view_list_find(list, view->drilldown_target);

	if (target || !key)
		return target;
	for (size_t i = 0; i < list->n; i++)
		if (top_view_applies(list->v[i].view, key->field))
			return list->v[i].view;
	return NULL;
}
