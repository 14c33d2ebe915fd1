/* SPDX-License-Identifier: Apache-2.0 */
/* The list of chisels (-cl), and the description of one (-i). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chisels.h"
#include "fields/field.h"
#include "say.h"
#include "spawn.h"
#include "wrap.h"

struct listed {
	char *category, *name, *summary; /* owned */
};

struct listing {
	struct sinsp_chisel_run *run;
	struct listed *v;
	size_t n;
};

static int list_one(void *ctx, const char *name)
{
	struct listing *l = ctx;
	const struct sinsp_chisel_info *info;
	struct sinsp_chisel *c;
	struct listed *v;
	int err = sinsp_chisel_open(&c, l->run, name);

	if (err)
		return err == -ENOMEM ? err : 0; /* a module, or broken: -i reports more */
	info = sinsp_chisel_info(c);
	if (!info->hidden && !info->view && *info->description) {
		v = realloc(l->v, (l->n + 1) * sizeof(*v));
		if (v) {
			l->v = v;
			v[l->n++] = (struct listed){strdup(info->category), strdup(name),
						    strdup(info->short_description)};
		} else {
			err = -ENOMEM;
		}
	}
	sinsp_chisel_close(c);
	return err == -ENOMEM ? err : 0;
}

static int compare_listed(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	return strcmp(x->category, y->category) ?: strcmp(x->name, y->name);
}

static void put_listing(const struct listing *l)
{
	enum { SUMMARY_COLUMN = 22 };

	for (size_t i = 0; i < l->n; i++) {
		const struct listed *x = &l->v[i];

		if (!i || strcmp(x->category, x[-1].category) != 0)
			printf("%s%s\n", i ? "\n" : "", *x->category ? x->category : "Others");
		printf("  %-*s", SUMMARY_COLUMN - 3, x->name);
		putchar(' ');
		put_wrapped_to(stdout, x->summary, SUMMARY_COLUMN, terminal_width(stdout));
	}
}

int chisels_list(const struct options *o)
{
	struct listing l = {0};
	struct chisels cs = {0};
	int err;

	if (o->markdown) {
		sinsp_chisel_api_markdown(stdout);
		return STATUS_OK;
	}
	sinsp_chisel_run_init(&cs.run);
	cs.run.out = stderr; /* suppresses what a file prints when it is loaded */
	l.run = &cs.run;
	err = chisels_find_dirs(&cs);
	if (!err)
		err = sinsp_chisel_each(&cs.run, list_one, &l);
	if (err) {
		say("cannot list chisels: %s", strerror(-err));
	} else {
		qsort(l.v, l.n, sizeof(*l.v), compare_listed);
		put_listing(&l);
	}
	for (size_t i = 0; i < l.n; i++) {
		free(l.v[i].category);
		free(l.v[i].name);
		free(l.v[i].summary);
	}
	free(l.v);
	chisels_close(&cs);
	return err ? STATUS_FAILED : STATUS_OK;
}

/* Returns why a field of another tool does not exist; NULL: it does. */
static char *why_no_field(const char *name)
{
	struct sinsp_field f = {0};
	const char *why = "";
	char *copy = NULL;
	size_t at;

	if (sinsp_field_parse(&f, name, &why, &at) < 0)
		copy = strdup(why);
	sinsp_field_fini(&f);
	return copy;
}

static void put_column(const struct sinsp_view_column *column, int width)
{
	char *why = why_no_field(column->field);

	printf("  %s (%s)\n", column->name, column->field);
	if (why || *column->description) {
		printf("      ");
		put_wrapped_to(stdout, why ?: column->description, 6, width);
	}
	free(why);
}

static void put_view(const struct sinsp_chisel_info *info)
{
	const struct sinsp_view *view = info->view;
	const int width = terminal_width(stdout);

	printf("%s: %s, a view: data for a table on the terminal, not to be run with -c\nFile: "
	       "%s\n\n",
	       info->name, view->name, info->path);
	put_wrapped_to(stdout, view->description, 0, width);
	printf("\nFilter: %s\nColumns:\n", *view->filter ? view->filter : "none");
	for (size_t i = 0; i < view->n_columns; i++)
		if (!view->columns[i].is_key && !view->columns[i].is_groupby_key)
			put_column(&view->columns[i], width);
}

static void put_info(const struct sinsp_chisel_info *info)
{
	const int width = terminal_width(stdout);

	printf("%s: ", info->name);
	put_wrapped_to(stdout, *info->short_description ? info->short_description : "no summary", 2,
		       width);
	printf("Category: %s\nFile: %s\n\n", *info->category ? info->category : "none", info->path);
	put_wrapped_to(stdout, info->description, 0, width);
	printf("\nArguments:%s\n", info->n_args ? "" : " none");
	for (size_t i = 0; i < info->n_args; i++) {
		const struct sinsp_chisel_arg *a = &info->args[i];

		printf("  %s (%s%s): ", a->name, *a->type ? a->type : "string",
		       a->optional ? ", optional" : "");
		put_wrapped_to(stdout, a->description, 6, width);
	}
}

int chisels_show(const struct options *o)
{
	struct chisels cs = {0};
	struct sinsp_chisel *c = NULL;
	int err;

	sinsp_chisel_run_init(&cs.run);
	cs.run.log = say_log;
	err = chisels_find_dirs(&cs);
	if (!err)
		err = sinsp_chisel_open(&c, &cs.run, o->chisel_info);
	if (!err)
		(sinsp_chisel_info(c)->view ? put_view : put_info)(sinsp_chisel_info(c));
	sinsp_chisel_close(c);
	chisels_close(&cs);
	return err ? STATUS_FAILED : STATUS_OK;
}
