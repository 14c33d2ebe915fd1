/* SPDX-License-Identifier: Apache-2.0 */
#include "list_capabilities.h"

#include <string.h>
#include <sys/utsname.h>

#include "scap.h"
#include "wrap.h"

enum { NAME_COLUMN = 11 };

static int widest_name(const struct scap_capability *rows, int n)
{
	int i, len, max = 0;

	for (i = 0; i < n; i++) {
		len = strlen(rows[i].name);
		if (len > max)
			max = len;
	}
	return max;
}

static const char *state_of(const struct scap_capability *c)
{
	if (!c->have)
		return "missing";
	return c->used ? "used" : "available";
}

static void put_row(FILE *f, const struct scap_capability *row, int name_width)
{
	int column = NAME_COLUMN + name_width + 2;
	char why[256];

	fprintf(f, "%-*s%-*s  ", NAME_COLUMN, state_of(row), name_width, row->name);
	put_wrapped(f, row->sentence, column);
	if (!row->why)
		return;
	snprintf(why, sizeof(why), "(%s)", row->why);
	fprintf(f, "%*s", column, "");
	put_wrapped(f, why, column);
}

static void put_interpreters(FILE *f)
{
	const char *text;

	fputs("\nInterpreters whose functions are shown in sampled stacks:\n", f);
	for (unsigned int i = 0; (text = scap_interpreter(i)); i++)
		fprintf(f, "  %s\n", text);
}

void list_capabilities(FILE *f)
{
	const struct scap_capability *rows;
	int i, n = scap_capabilities(&rows), name_width = widest_name(rows, n);
	struct utsname u;

	if (uname(&u) == 0)
		fprintf(f, "%s %s on %s\n", u.sysname, u.release, u.machine);
	fputs("used: by live captures and replays; available: in this kernel, but not used\n\n", f);
	for (i = 0; i < n; i++)
		put_row(f, &rows[i], name_width);
	put_interpreters(f);
}
