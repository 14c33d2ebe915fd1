/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go's table has the stack depth at each instruction, which gives the CFA. Where it is above zero,
 * rbp is saved right below the return address; for the two instructions that save it this is too
 * early, but no Go function's own CFA depends on it.
 */
#include "unwind/go_rows.h"

#include <errno.h>
#include <string.h>

/* Special functions, by what their code does. */
struct special {
	const char *name;
	uint8_t kind;
};

/* Assembler functions have ".abi0" after their names. */
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
	/* They switch to another stack, from which rbp still leads back to the caller's caller. */
	{"runtime.asmcgocall", UNWIND_RBP},
	{"runtime.systemstack", UNWIND_GO_SWITCH},
};

#define SPECIAL_MAX 64

static const struct special *special_of(const char *name)
{
	char start[SPECIAL_MAX + 1] = "";
	const char *suffix;
	size_t len = strnlen(name, sizeof(start));

	if (len == sizeof(start)) /* a name may be as long as its table */
		return NULL;
	memcpy(start, name, len);
	suffix = strstr(start, ".abi0");
	if (suffix && !suffix[5])
		len = (size_t)(suffix - start);

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
	/* A handler returns to the very first byte, which is looked up one byte before. */
	return add(rows, kind == UNWIND_SIGNAL ? offset - 1 : offset, row);
}

#define SWITCH_SZ 256 /* maximum bytes of code that are searched */

/* Facts from the code of systemstack, in the order of its instructions. */
struct go_switch {
	uint32_t tls, g_m, curg, g_sp; /* bytes */
	uint32_t from, to; /* between these the stack is the system's */
};

/* Finds the first place at or after @at with these bytes, or @sz; @at ends after them. */
static int find_code(size_t *at, const uint8_t *code, size_t sz, const char *bytes, size_t n)
{
	for (size_t i = *at; i + n + sizeof(uint32_t) <= sz; i++) {
		if (!memcmp(code + i, bytes, n)) {
			*at = i + n;
			return 1;
		}
	}
	return 0;
}

#define FIND(at, code, sz, bytes) find_code(at, code, sz, bytes, sizeof(bytes) - 1)

static int32_t number_at(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* rax = g, rbx = its m, rsp = from the system stack's g; and back: rax = m's curg, rsp = its.
 * Compilers before 1.20 use rbx in between. */
static int read_switch(struct go_switch *s, const uint8_t *code, size_t sz)
{
	size_t at = 0, on;

	/* mov %fs:X,%rax, or mov $X,%rcx, mov %fs:(%rcx),%rax */
	if (!FIND(&at, code, sz, "\x64\x48\x8b\x04\x25") && !FIND(&at, code, sz, "\x48\xc7\xc1"))
		return -ENOENT;
	s->tls = (uint32_t)-number_at(code + at);
	if (!FIND(&at, code, sz, "\x48\x8b\x58")) /* mov X(%rax),%rbx */
		return -ENOENT;
	s->g_m = code[at];
	on = at;
	if (FIND(&at, code, sz, "\x48\x89\xdc")) /* mov %rbx,%rsp */
		s->from = (uint32_t)at;
	else if (at = on, FIND(&at, code, sz, "\x48\x8b\x62")) /* mov X(%rdx),%rsp */
		s->from = (uint32_t)at + 1;
	else
		return -ENOENT;
	if (!FIND(&at, code, sz, "\x48\x8b\x83")) /* mov X(%rbx),%rax */
		return -ENOENT;
	s->curg = (uint32_t)number_at(code + at);
	if (!FIND(&at, code, sz, "\x48\x8b\x60")) /* mov X(%rax),%rsp */
		return -ENOENT;
	s->g_sp = code[at];
	s->to = (uint32_t)at + 1;
	return (s->tls | s->g_m | s->curg | s->g_sp) % 8 || !s->tls || s->tls / 8 > 15 ||
			       s->g_m / 8 > 15 || s->curg / 8 > 255 || s->g_sp / 8 > 15
		       ? -ENOENT
		       : 0;
}

/* By its code it leads back to the exact caller; if that is not the expected one, by rbp. */
static int add_switch(struct unwind_rows *rows, const struct elf_file *f, uint64_t offset,
		      uint64_t sz)
{
	uint8_t code[SWITCH_SZ];
	struct go_switch s;
	int err;

	if (sz > sizeof(code))
		sz = sizeof(code);
	if (elf_file_read(f, code, offset, sz) || read_switch(&s, code, sz))
		return add_special(rows, offset, UNWIND_RBP);
	err = add(rows, offset, row_of(0));
	err = err
		      ?: add(rows, offset + s.from,
			     (struct unwind_row){
				     .kind = UNWIND_GO_SWITCH,
				     .cfa = UNWIND_GO_CFA(s.g_m / 8, s.g_sp / 8, s.curg / 8),
				     .saved = UNWIND_SAVED(s.tls / 8, UNWIND_UNTOUCHED),
			     });
	return err ?: add(rows, offset + s.to, row_of(0));
}

static int add_func(struct unwind_rows *rows, const struct elf_file *f, const struct go_pclntab *t,
		    const struct go_func *func, uint64_t offset, struct unwind_work *work)
{
	const struct special *special = special_of(func->name);
	struct go_pcsp p;
	int err;

	if (special)
		return special->kind == UNWIND_GO_SWITCH
			       ? add_switch(rows, f, offset, func->end - func->start)
			       : add_special(rows, offset, special->kind);
	go_pcsp_first(&p, t, func);
	if (!go_pcsp_next(&p))
		return add(rows, offset, (struct unwind_row){.kind = UNWIND_NONE});
	do {
		err = unwind_work_spend(work, 1);
		err = err ?: add(rows, offset + (p.from - func->start), row_of(p.taken));
	} while (!err && go_pcsp_next(&p));
	return err;
}

int go_rows(struct unwind_rows *rows, const struct elf_file *f, const struct go_pclntab *t,
	    struct unwind_work *work)
{
	const struct elf_segment *v;
	const size_t n_segments = elf_file_segments(f, &v);
	uint64_t end = 0, offset;
	int err = 0;

	for (size_t i = 0; i < go_pclntab_n(t) && !err; i++) {
		struct go_func func;

		err = unwind_work_spend(work, 1 + n_segments / 8);
		if (err || go_pclntab_func(t, &func, i) ||
		    elf_file_offset_of(f, &offset, func.start))
			continue;
		end = offset + (func.end - func.start);
		err = add_func(rows, f, t, &func, offset, work);
	}
	if (!err && end)
		err = add(rows, end, (struct unwind_row){.kind = UNWIND_NONE});
	return err;
}
