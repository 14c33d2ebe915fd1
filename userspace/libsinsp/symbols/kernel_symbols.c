/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_BEGIN (1ull << 63) /* lower values are offsets of per-CPU data */

struct row {
	uint64_t addr;
	const char *name, *module; /* length of a line */
	size_t name_len, module_len;
	char type;
};

/* Parses "ffffffff81000000 T name\t[module]\n"; returns 0 for something else. */
static int parse_row(struct row *r, char *line)
{
	char *end, *p;

	r->addr = strtoull(line, &end, 16);
	if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ')
		return 0;
	r->type = end[1];
	r->name = end + 3;
	r->name_len = strcspn(r->name, "\t\n");
	p = end + 3 + r->name_len;
	r->module_len = 0;
	if (*p == '\t' && p[1] == '[') {
		r->module = p + 1;
		r->module_len = strcspn(r->module, "\n");
	}
	return r->name_len != 0;
}

static int is_code(char type)
{
	return strchr("tTwW", type) != NULL;
}

static int add_row(struct symtab *t, const struct row *r)
{
	const unsigned int rank = r->type == 'T' ? 2 : r->type == 't' ? 1 : 0;
	char name[SYMTAB_MAX_NAME];
	int len;

	if (!is_code(r->type))
		return symtab_add_bound(t, r->addr);
	if (!r->module_len)
		return symtab_add(t, r->addr, 0, r->name, r->name_len, rank);
	len = snprintf(name, sizeof(name), "%.*s %.*s", (int)(r->name_len & 0xfff), r->name,
		       (int)(r->module_len & 0xff), r->module);
	return symtab_add(t, r->addr, 0, name, (size_t)len, rank);
}

int sinsp_kernel_symbols_read(struct symtab **out, FILE *kallsyms)
{
	struct symtab *t = symtab_new(SYMTAB_INNERMOST);
	size_t cap = 0, n_rows = 0;
	char *line = NULL;
	struct row r;
	int err = t ? 0 : -ENOMEM;

	while (!err && getline(&line, &cap, kallsyms) > 0) {
		if (!parse_row(&r, line))
			continue;
		n_rows++;
		if (r.addr >= KERNEL_BEGIN)
			err = add_row(t, &r);
	}
	free(line);
	if (!err)
		err = symtab_seal(t);
	if (!err && !symtab_count(t))
		err = n_rows ? -EPERM : -ENODATA;
	if (err)
		symtab_free(t);
	else
		*out = t;
	return err;
}

int sinsp_kernel_symbols_load(struct symtab **out)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	int err;

	if (!f)
		return -errno;
	err = sinsp_kernel_symbols_read(out, f);
	fclose(f);
	return err;
}
