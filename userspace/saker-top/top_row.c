/* SPDX-License-Identifier: Apache-2.0 */
/* What the selected row has: values of its fields, and the process of this machine that it is of.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "top_cell.h"
#include "top_screen_state.h"
#include "top_words.h"

enum { STAT_START = 20 /* values of /proc/PID/stat between the name and the start */ };

int top_row_value(void *ctx, const char *field, size_t len, struct sinsp_text *out)
{
	const struct top_screen *s = ctx;
	const struct view_table *t = s->snap->table;
	const size_t row = s->path.v[s->path.n - 1].place.selected;
	const struct sinsp_view_column *key = view_table_key_column(t);
	const struct view_cell *cells = view_table_cells(t, row);
	struct view_type type;
	size_t n;
	const struct view_column *cols = view_table_columns(t, &n);

	if (key && top_is_word(key->field, field, len))
		return top_key_text(out, view_table_key(t, row, &type), &type) ?: 1;
	for (size_t i = 0; i < n; i++)
		if (top_is_word(cols[i].info->field, field, len))
			return top_key_text(out, &cells[i], &cols[i].type) ?: 1;
	return 0;
}

/* Returns when the process began, and its name; 0: there is none. */
static uint64_t start_of(int pid, char name[64])
{
	char path[64], text[1024], *p, *begin;
	uint64_t start = 0;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = 0;
	begin = strchr(text, '(');
	p = strrchr(text, ')');
	if (!begin || !p)
		return 0;
	snprintf(name, 64, "%.*s", (int)(p - begin - 1), begin + 1);
	for (int i = 0; i < STAT_START && p; i++)
		p = strchr(p + 1, ' ');
	if (p)
		start = strtoull(p, NULL, 10);
	return start;
}

static int pid_of_row(struct top_screen *s)
{
	struct sinsp_text text = {0};
	long pid = 0;

	if (s->snap && view_table_n_rows(s->snap->table) &&
	    top_row_value(s, "proc.pid", strlen("proc.pid"), &text) > 0 && !top_put(&text, "%c", 0))
		pid = strtol(text.p, NULL, 10);
	free(text.p);
	return pid > 0 && pid <= INT32_MAX ? (int)pid : 0;
}

struct top_process top_row_process(struct top_screen *s)
{
	struct top_process p = {.pid = pid_of_row(s)};

	if (p.pid)
		p.start = start_of(p.pid, p.name);
	return p;
}

int top_has_ended(struct top_screen *s, const struct top_process *p)
{
	char name[sizeof(p->name)];

	if (start_of(p->pid, name) == p->start)
		return 0;
	top_complain(s, "process %d has ended", p->pid);
	return 1;
}
