/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of what chisels can call, as a page. */
#include "chisel_host.h"

static void put_table(FILE *f, const char *table, const char *dot,
		      const struct sinsp_chisel_binding *b)
{
	fprintf(f, "\n## %s\n\n| function | what it does |\n|---|---|\n", table);
	for (; b->name; b++)
		fprintf(f, "| `%s%s%s` | %s |\n", table, dot, b->use, b->help);
}

void sinsp_chisel_api_markdown(FILE *f)
{
	fputs("# What chisels can call\n\n"
	      "Made of the tables in userspace/libsinsp/chisel by `saker -cl --markdown`. "
	      "The interface is sysdig's.\n",
	      f);
	put_table(f, "chisel", ".", sinsp_chisel_chisel);
	put_table(f, "counter", ":", sinsp_chisel_counting);
	put_table(f, "evt", ".", sinsp_chisel_evt);
	put_table(f, "sysdig", ".", sinsp_chisel_sysdig);
}
