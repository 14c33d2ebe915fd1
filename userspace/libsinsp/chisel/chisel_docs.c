/* SPDX-License-Identifier: Apache-2.0 */
/* Writes docs/chisel-api.md from the tables of the Lua API. */
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
	fputs("# Chisel API\n\n"
	      "The Lua functions that a chisel can call; the interface is sysdig's. Generated "
	      "from\n"
	      "the tables in userspace/libsinsp/chisel by `saker -cl --markdown`.\n",
	      f);
	put_table(f, "chisel", ".", sinsp_chisel_chisel);
	put_table(f, "counter", ":", sinsp_chisel_counting);
	put_table(f, "log", ":", sinsp_chisel_logging);
	put_table(f, "evt", ".", sinsp_chisel_evt);
	put_table(f, "sysdig", ".", sinsp_chisel_sysdig);
}
