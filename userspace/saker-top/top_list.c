/* SPDX-License-Identifier: Apache-2.0 */
#include "top_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fields/field_text.h"

int top_list_text(FILE *f, const struct view_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct sinsp_view *v = list->v[i].view;

		fprintf(f, "%-24s %-11s %s\n", v->id, v->type, v->name);
	}
	return 0;
}

/* Views are files of users: texts may have any bytes. */
static int put_string(FILE *f, const char *text)
{
	const size_t n = strlen(text);
	struct sinsp_text out = {0};
	char *clean = malloc(n + 1), *p = text_begin(&out, 2 * n + 8);
	int err = clean && p ? 0 : -ENOMEM;

	if (!err) {
		const size_t len = (size_t)(put_utf8(clean, text, n) - clean);

		err = text_end(&out, json_string_put(&out, p, clean, len));
	}
	if (!err)
		fwrite(out.p, 1, out.len, f);
	free(clean);
	free(out.p);
	return err;
}

static int put_member(FILE *f, const char *name, const char *text)
{
	fprintf(f, "\"%s\":", name);
	return put_string(f, text);
}

static int put_list(FILE *f, const char *name, const char *const *texts)
{
	int err = 0;

	if (!*texts)
		return 0;
	fprintf(f, "\"%s\":[", name);
	for (size_t i = 0; texts[i] && !err; i++) {
		fputs(i ? "," : "", f);
		err = put_string(f, texts[i]);
	}
	fputs("],", f);
	return err;
}

static int put_view(FILE *f, const struct sinsp_view *v)
{
	int err;

	fputc('{', f);
	err = put_list(f, "appliesTo", v->applies_to);
	fprintf(f, "\"canDrillDown\":%s,", strcmp(v->type, "table") == 0 ? "true" : "false");
	err = err ?: put_member(f, "description", v->description);
	fputc(',', f);
	err = err ?: put_member(f, "drilldownTarget", v->drilldown_target);
	fputc(',', f);
	err = err ?: put_member(f, "filter", v->filter);
	fputc(',', f);
	err = err ?: put_member(f, "id", v->id);
	fprintf(f, ",\"isRoot\":%s,", v->is_root ? "true" : "false");
	err = err ?: put_member(f, "name", v->name);
	fputc(*v->tags || *v->tips ? ',' : '}', f);
	return err;
}

/* The last members of a view, which end without a comma. */
static int put_tags(FILE *f, const struct sinsp_view *v)
{
	const char *const *const lists[] = {v->tags, v->tips};
	static const char *const names[] = {"tags", "tips"};
	int err = 0, n = 0;

	for (size_t i = 0; i < 2; i++) {
		if (!*lists[i])
			continue;
		fprintf(f, "%s\"%s\":[", n++ ? "," : "", names[i]);
		for (size_t k = 0; lists[i][k] && !err; k++) {
			fputs(k ? "," : "", f);
			err = put_string(f, lists[i][k]);
		}
		fputc(']', f);
	}
	if (n)
		fputc('}', f);
	return err;
}

int top_list_json(FILE *f, const struct view_list *list)
{
	int err = 0;

	fputc('[', f);
	for (size_t i = 0; i < list->n && !err; i++) {
		fputs(i ? "," : "", f);
		err = put_view(f, list->v[i].view);
		err = err ?: put_tags(f, list->v[i].view);
	}
	fputc(']', f);
	return err;
}
