/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go's table tells for each instruction how much stack its function has taken, which gives the
 * CFA. Where that is more than nothing, rbp is saved right below the return address; for the two
 * instructions that do so it is taken for saved too early, which no Go function's own CFA depends
 * on.
 */
#include "unwind/go_rows.h"

#include <errno.h>
#include <string.h>

/* Functions that are no ordinary ones, by what their code does. */
struct special {
	const char *name;
	uint8_t kind;
};

/* Those of assembler have ".abi0" behind their names. */
static const struct special specials[] = {
	{"runtime.goexit", UNWIND_END},
	{"runtime.mstart", UNWIND_END},
	{"runtime.rt0_go", UNWIND_END},
	{"_rt0_amd64_linux", UNWIND_END},
	{"_rt0_amd64", UNWIND_END},
	/* They leave a goroutine, which others may run before the scheduler's stack ends. */
	{"runtime.mcall", UNWIND_END},
	{"runtime.morestack", UNWIND_END},
	{"runtime.sigreturn", UNWIND_SIGNAL},
	{"runtime.sigreturn__sigaction", UNWIND_SIGNAL},
	/* They go over to another stack, which rbp still leads back from. */
	{"runtime.asmcgocall", UNWIND_RBP},
	{"runtime.systemstack", UNWIND_RBP},
};

static const struct special *special_of(const char *name)
{
	const char *suffix = strstr(name, ".abi0");
	const size_t len = suffix && !suffix[5] ? (size_t)(suffix - name) : strlen(name);

	for (size_t i = 0; i < sizeof(specials) / sizeof(specials[0]); i++)
		if (!strncmp(specials[i].name, name, len) && !specials[i].name[len])
			return &specials[i];
	return NULL;
}

static int add(struct unwind_rows *rows, uint64_t offset, struct unwind_row row)
{
	/* Damaged tables may go back. */
	if (offset > UINT32_MAX || (rows->n && rows->v[rows->n - 1].pc > offset))
		return 0;
	row.pc = (uint32_t)offset;
	return unwind_rows_add(rows, row);
}

static struct unwind_row row_of(int64_t taken)
{
	if (taken < 0 || taken % 8)
		return (struct unwind_row){.kind = UNWIND_NONE};
	if (taken / 8 + 1 >= UNWIND_FAR)
		return (struct unwind_row){.kind = UNWIND_ODD};
	return (struct unwind_row){
		.kind = UNWIND_RSP,
		.cfa = (uint16_t)(taken / 8 + 1),
		.saved = UNWIND_SAVED(taken ? 2 : UNWIND_UNTOUCHED, UNWIND_LOST),
	};
}

static int add_special(struct unwind_rows *rows, uint64_t offset, uint8_t kind)
{
	struct unwind_row row = {.kind = kind};

	if (kind == UNWIND_RBP) {
		row.cfa = 2;
		row.saved = UNWIND_SAVED(2, UNWIND_LOST);
	}
	/* A handler returns to the very first byte, which is looked up as the one before. */
	return add(rows, kind == UNWIND_SIGNAL ? offset - 1 : offset, row);
}

int go_rows(struct unwind_rows *rows, const struct elf_file *f, const struct go_pclntab *t)
{
	uint64_t end = 0, offset;
	int err = 0;

	for (size_t i = 0; i < go_pclntab_n(t) && !err; i++) {
		const struct special *special;
		struct go_func func;
		struct go_pcsp p;

		if (go_pclntab_func(t, &func, i) || elf_file_offset_of(f, &offset, func.start))
			continue;
		end = offset + (func.end - func.start);
		special = special_of(func.name);
		if (special) {
			err = add_special(rows, offset, special->kind);
			continue;
		}
		go_pcsp_first(&p, t, &func);
		if (!go_pcsp_next(&p)) {
			err = add(rows, offset, (struct unwind_row){.kind = UNWIND_NONE});
			continue;
		}
		do {
			err = add(rows, offset + (p.from - func.start), row_of(p.taken));
		} while (!err && go_pcsp_next(&p));
	}
	if (!err && end)
		err = add(rows, end, (struct unwind_row){.kind = UNWIND_NONE});
	return err;
}
