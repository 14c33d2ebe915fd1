/* SPDX-License-Identifier: Apache-2.0 */
#include "top_needs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event/event_table.h"
#include "fields/evt_io.h"
#include "fields/field.h"
#include "filter/filter.h"

/* A live capture has no switches. */
#define NO_SWITCH "evt.type!=switch"
#define ANY_TASK "thread.tid>=-1"

static int begins(const char *text, const char *begin)
{
	return strncmp(text, begin, strlen(begin)) == 0;
}

static void add_io(void *types, const struct scap_event_info *info)
{
	if (sinsp_io_moves(info))
		scap_types_add(types, info->id);
}

/* Time on a CPU and memory are read at the end of intervals. */
static int is_of_thread(const char *name, unsigned int needs)
{
	static const char *const classes[] = {"proc.",  "thread.",    "user.",
					      "group.", "container.", NULL};
	const unsigned int allowed = FIELD_NEEDS_CPU_TIME | FIELD_NEEDS_CALLS | FIELD_NEEDS_FILES;
	const int is_read =
		needs & FIELD_NEEDS_CPU_TIME || strstr(name, ".vmsize") || strstr(name, ".vmrss");

	if (strstr(name, "exectime"))
		return 0; /* of switches */
	if (needs & ~(is_read ? allowed | FIELD_NEEDS_HISTORY : allowed))
		return 0;
	for (const char *const *c = classes; *c; c++)
		if (begins(name, *c))
			return 1;
	return 0;
}

/* Returns whether the field needs no events but those that it adds to the set. */
static int add_field(struct top_needs *n, const char *name)
{
	struct sinsp_field field;
	const char *why;
	size_t at;
	const int r = sinsp_field_parse(&field, name, &why, &at);
	const unsigned int needs = r > 0 ? field.row->needs : 0;

	sinsp_field_fini(&field);
	if (r <= 0)
		return 0;
	if (begins(name, "evt.io.") || begins(name, "evt.buflen")) {
		scap_event_each(add_io, n->types);
		return 1;
	}
	return is_of_thread(name, needs);
}

/* Returns whether the filter selects threads alone, whatever they do. */
static int selects_threads(const char *filter)
{
	const struct sinsp_filter_opts opts = {.sz = sizeof(opts), .threads_only = 1};
	struct sinsp_filter *f = NULL;
	char *text = strdup(filter), *p;
	int r;

	if (!text)
		return -ENOMEM;
	while ((p = strstr(text, NO_SWITCH))) { /* that of the views above */
		memset(p, ' ', strlen(NO_SWITCH));
		memcpy(p, ANY_TASK, strlen(ANY_TASK));
	}
	if (!text[strspn(text, " ")]) {
		free(text);
		return 1;
	}
	r = sinsp_filter_new(&f, text, &opts, NULL);
	free(text);
	if (!r)
		r = !(sinsp_filter_field_needs(f) &
		      ~(unsigned int)(FIELD_NEEDS_CALLS | FIELD_NEEDS_NAMES));
	sinsp_filter_free(f);
	return r == -EINVAL ? 0 : r;
}

int top_needs_init(struct top_needs *n, const struct sinsp_view *view, const char *filter)
{
	int r;

	*n = (struct top_needs){0};
	if (strcmp(view->type, "table") != 0 ||
	    (*view->filter && strcmp(view->filter, NO_SWITCH) != 0))
		return 0;
	r = filter ? selects_threads(filter) : 1;
	if (r <= 0)
		return r;
	for (size_t i = 0; i < view->n_columns; i++)
		if (!add_field(n, view->columns[i].field))
			return 0;
	n->few = 1;
	return 0;
}

int top_needs_cover(const struct top_needs *n, const struct top_needs *other)
{
	for (size_t i = 0; i < sizeof(n->types) / sizeof(n->types[0]) && n->few; i++)
		if (!other->few || other->types[i] & ~n->types[i])
			return 0;
	return 1;
}
