/* SPDX-License-Identifier: Apache-2.0 */
#include "list_fields.h"

#include <string.h>

#include "fields/field.h"
#include "wrap.h"

enum { NAME_COLUMN_MAX = 30, TYPE_WIDTH = 9 };

static const char *const type_names[FIELD_TYPE_MAX] = {
	[FIELD_NONE] = "any",          [FIELD_INT] = "number",  [FIELD_UINT] = "number",
	[FIELD_DOUBLE] = "number",     [FIELD_BOOL] = "bool",   [FIELD_STR] = "text",
	[FIELD_PATH] = "path",         [FIELD_BYTES] = "bytes", [FIELD_IP] = "address",
	[FIELD_NET] = "network",       [FIELD_PORT] = "port",   [FIELD_TIME] = "time",
	[FIELD_DURATION] = "duration",
};

static int is_listed(const struct sinsp_field_row *row, int all)
{
	return !(row->flags & FIELD_F_UNSUPPORTED) && (all || !(row->flags & FIELD_F_HIDDEN));
}

/* Syntax of the argument. */
static const char *argument(const struct sinsp_field_row *row)
{
	if (row->flags & FIELD_F_ARG_NEEDED)
		return row->flags & FIELD_F_ARG_KEY ? ".NAME" : "[N]";
	if (!(row->flags & FIELD_F_ARG_OK))
		return "";
	return row->flags & FIELD_F_ARG_INDEX ? "[[N]]" : "[.NAME]";
}

static int name_width(const struct sinsp_field_row *row)
{
	return (int)(strlen(row->name) + strlen(argument(row)));
}

static int name_column(const struct sinsp_field_class *c, int all)
{
	int column = 0;

	for (size_t i = 0; i < c->n_rows; i++) {
		const int n = name_width(&c->rows[i]) + 2;

		if (is_listed(&c->rows[i], all) && n > column && n <= NAME_COLUMN_MAX)
			column = n;
	}
	return column;
}

static void put_row(FILE *f, const struct sinsp_field_row *row, int column, int all, int width)
{
	const int at = fprintf(f, "%s%s", row->name, argument(row));

	if (at > column - 2)
		fprintf(f, "\n%*s", column, "");
	else
		fprintf(f, "%*s", column - at, "");
	if (all)
		fprintf(f, "%-*s ", TYPE_WIDTH, type_names[row->type]);
	put_wrapped_to(f, row->help, column + (all ? TYPE_WIDTH + 1 : 0), width);
}

void list_fields(FILE *f, int all, int width)
{
	for (const struct sinsp_field_class *const *c = sinsp_field_classes; *c; c++) {
		const int column = name_column(*c, all);
		const int at =
			fprintf(f, "%s%s: ", c == sinsp_field_classes ? "" : "\n", (*c)->title);

		put_wrapped_to(f, (*c)->help, c == sinsp_field_classes ? at : at - 1, width);
		fputc('\n', f);
		for (size_t i = 0; i < (*c)->n_rows; i++)
			if (is_listed(&(*c)->rows[i], all))
				put_row(f, &(*c)->rows[i], column, all, width);
	}
}

static void put_markdown_text(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (strchr("|<>*_", *text))
			fputc('\\', f);
		fputc(*text, f);
	}
}

static void put_markdown_row(FILE *f, const struct sinsp_field_row *row)
{
	const char *type = type_names[row->type];
	const char *plural = type[strlen(type) - 1] == 's' ? "es" : "s";

	fprintf(f, "| `%s%s` | %s%s | ", row->name, argument(row), type,
		row->flags & FIELD_F_LIST ? plural : "");
	put_markdown_text(f, row->help);
	fputs(row->flags & FIELD_F_FILTER_ONLY ? " (filters only) |\n" : " |\n", f);
}

void list_fields_markdown(FILE *f)
{
	fputs("# Fields\n"
	      "\n"
	      "Made by `saker -l --markdown` of the rows in userspace/libsinsp/fields; a test "
	      "keeps "
	      "it\n"
	      "current. `saker -l` lists the same in a terminal, `saker -lv` hidden ones, "
	      "too.\n"
	      "\n"
	      "A field stands in a format as `%evt.num` ([formats.md](formats.md)) and in a filter "
	      "as\n"
	      "`evt.num > 100`. `.NAME` is an argument: `evt.arg.fd`, or `evt.arg[fd]`; `[N]` is a "
	      "number,\n"
	      "`proc.aname[2]`. `[[N]]` and `[.NAME]` may be left out. Fields with several values "
	      "have a\n"
	      "type in the plural. An event without the field has no value of it, which is neither "
	      "0 "
	      "nor an\n"
	      "empty text.\n",
	      f);
	for (const struct sinsp_field_class *const *c = sinsp_field_classes; *c; c++) {
		fprintf(f, "\n## %s\n\n", (*c)->title);
		put_markdown_text(f, (*c)->help);
		fputs(".\n\n| field | type | what it is |\n|---|---|---|\n", f);
		for (size_t i = 0; i < (*c)->n_rows; i++)
			if (is_listed(&(*c)->rows[i], 0))
				put_markdown_row(f, &(*c)->rows[i]);
	}
}
