/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_rows_judge N FILE...: compares the rows of each file with libdw's interpretation of its
 * call frame information. At N random addresses in each file's functions both find the caller's
 * registers from the same random registers and memory; then at the first and last byte of gaps.
 * Prints the differences and a sum; status 1 if there are any. scripts/check-unwind-rows runs it
 * over a machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>

#include "shared/user_walk.h"
#include "unwind/unwind_rows.h"

#define STACK_OPS 64
#define SHOWN_MAX 5 /* differences printed per file */

static uint64_t seed;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static uint64_t signal_at; /* memory at this place looks like a signal frame */

/* Memory: each word has a value of its own, which can be a place on the stack. */
static uint64_t word_at(uint64_t addr)
{
	const uint64_t v = (addr + 0x1234567) * 0x9e3779b97f4a7c15ull;

	if (addr - signal_at < 16)
		return addr == signal_at ? UNWIND_SIGNAL_FLAGS : 0;
	return (0x7f0000000000ull + (v >> 28)) & ~7ull;
}

static int walk_fill(struct user_walk *w, u32 sz, u64 addr)
{
	for (u32 i = 0; i + 8 <= sz; i += 8) {
		uint64_t v = word_at(addr + i);

		memcpy(w->window + i, &v, 8);
	}
	return 0;
}

static const u64 *walk_chunk(const struct user_walk *w, u32 chunk)
{
	(void)w;
	(void)chunk;
	return NULL;
}

struct machine {
	uint64_t regs[17]; /* and ip */
	uint64_t cfa;
};

/* The stack of a DWARF expression while it is evaluated. */
struct expression {
	uint64_t s[STACK_OPS];
	int top;
	int is_value;
};

/* Pushes what an operation without operands on the stack yields. Returns 0 for another one. */
static int push_operand(struct expression *e, const struct machine *m, const Dwarf_Op *op)
{
	uint64_t v;

	e->is_value |=
		(op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg16) || op->atom == DW_OP_regx;
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg16)
		v = m->regs[op->atom - DW_OP_breg0] + op->number;
	else if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg16)
		v = m->regs[op->atom - DW_OP_reg0];
	else if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		v = op->atom - DW_OP_lit0;
	else if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts)
		v = op->number;
	else if (op->atom == DW_OP_bregx && op->number <= 16)
		v = m->regs[op->number] + op->number2;
	else if (op->atom == DW_OP_regx && op->number <= 16)
		v = m->regs[op->number];
	else if (op->atom == DW_OP_call_frame_cfa)
		v = m->cfa;
	else
		return 0;
	e->s[e->top++] = v;
	return 1;
}

/* Applies an operation to the two values on top of the stack. Returns 0 for another one. */
static int apply_binary(struct expression *e, unsigned int atom)
{
	const uint64_t a = e->top > 1 ? e->s[e->top - 2] : 0, b = e->top > 1 ? e->s[e->top - 1] : 0;
	uint64_t v;

	switch (atom) {
	case DW_OP_plus:
		v = a + b;
		break;
	case DW_OP_minus:
		v = a - b;
		break;
	case DW_OP_and:
		v = a & b;
		break;
	case DW_OP_shl:
		v = a << (b & 63);
		break;
	case DW_OP_mul:
		v = a * b;
		break;
	case DW_OP_ge:
		v = (int64_t)a >= (int64_t)b;
		break;
	default:
		return 0;
	}
	if (e->top < 2)
		return 0;
	e->s[--e->top - 1] = v;
	return 1;
}

/* Applies an operation to the value on top of the stack. Returns 0 for another one. */
static int apply_unary(struct expression *e, const Dwarf_Op *op)
{
	switch (op->atom) {
	case DW_OP_stack_value:
		e->is_value = 1;
		return 1;
	case DW_OP_deref:
		if (e->top < 1)
			return 0;
		e->s[e->top - 1] = word_at(e->s[e->top - 1]);
		return 1;
	case DW_OP_plus_uconst:
		if (e->top < 1)
			return 0;
		e->s[e->top - 1] += op->number;
		return 1;
	}
	return 0;
}

/* Evaluates an expression of libdw's. Returns 0 if it has operations that no call frame information
 * has. */
static int evaluate(uint64_t *out, const struct machine *m, const Dwarf_Op *ops, size_t n,
		    int *is_value)
{
	struct expression e = {.top = 0};

	for (size_t i = 0; i < n; i++) {
		if (e.top >= STACK_OPS - 2)
			return 0;
		if (!push_operand(&e, m, &ops[i]) && !apply_unary(&e, &ops[i]) &&
		    !apply_binary(&e, ops[i].atom))
			return 0;
	}
	*is_value = e.is_value;
	if (e.top < 1) /* below may be the CFA, with which expressions begin */
		return 0;
	*out = e.s[e.top - 1];
	return 1;
}

enum value { VALUE, UNDEFINED, UNKNOWN };

/* Finds a register of the caller by libdw. */
static enum value judge_reg(uint64_t *out, Dwarf_Frame *frame, const struct machine *m, int reg)
{
	Dwarf_Op mem[3], *ops;
	size_t n;
	int is_value;

	if (dwarf_frame_register(frame, reg, mem, &ops, &n))
		return UNKNOWN;
	if (!n) {
		*out = m->regs[reg];
		return ops == mem ? UNDEFINED : VALUE; /* as documented: NULL means same value */
	}
	if (!evaluate(out, m, ops, n, &is_value))
		return UNKNOWN;
	if (!is_value)
		*out = word_at(*out);
	return VALUE;
}

struct counts {
	uint64_t n, differ, beyond; /* beyond: rules that a row declares it cannot express */
};

struct subject {
	const char *path;
	struct elf_file *f;
	struct unwind_rows rows;
	Dwarf_CFI *cfi;
	int shown;
};

static const struct unwind_row *row_at(const struct unwind_rows *rows, uint64_t offset)
{
	size_t lo = 0, hi = rows->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (rows->v[mid].pc <= offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &rows->v[lo - 1] : NULL;
}

static int differ(struct subject *s, uint64_t vaddr, const struct unwind_row *row, const char *what)
{
	if (s->shown++ < SHOWN_MAX)
		printf("%s: %#" PRIx64 ": %s (row: kind %#x cfa %u saved %#x)\n", s->path, vaddr,
		       what, row ? row->kind : 0, row ? row->cfa : 0, row ? row->saved : 0);
	return 1;
}

/* @at_rbp: rbp points into its frame, which marks code that aligned its stack. */
static void random_machine(struct machine *m, struct user_walk *w, uint64_t vaddr, int at_rbp)
{
	for (int i = 0; i < 16; i++)
		m->regs[i] = w->regs[i] = 0x7f0000000000ull + (next_random() >> 28 << 3);
	if (at_rbp) {
		m->regs[UNWIND_RSP] = w->regs[UNWIND_RSP] = 0x7e0000000000ull;
		m->regs[UNWIND_RBP] = w->regs[UNWIND_RBP] = 0x7e0000000040ull;
	}
	m->regs[16] = w->ip = vaddr;
	w->bp = w->regs[UNWIND_RBP];
	w->sp = w->regs[UNWIND_RSP];
	w->known = 0xffff;
	w->window_sz = 0;
	w->switches = 0;
	w->end = STACK_END_MAX;
}

/* Returns whether the row restores @reg as libdw does. A register that the row has as lost is no
 * error if that is rare: it is counted. */
static const char *compare_reg(struct counts *c, Dwarf_Frame *frame, const struct machine *m,
			       const struct user_walk *w, int reg)
{
	uint64_t want = 0;
	enum value how = judge_reg(&want, frame, m, reg);

	if (!(w->known & KNOWN(reg))) {
		c->beyond += how == VALUE;
		return NULL;
	}
	/* For undescribed registers libdw 0.188 assumes that rbx, unlike rbp, is not preserved: its
	 * table of preserved registers has another one there. */
	if (how != VALUE && !(how == UNDEFINED && reg == UNWIND_RBX))
		return "libdw does not know the register";
	return want == w->regs[reg] ? NULL : "another value of a saved register";
}

static const char *compare(struct counts *c, Dwarf_Frame *frame, const struct unwind_row *row,
			   uint64_t vaddr)
{
	uint64_t want = 0;
	const uint8_t kind = row->kind & UNWIND_KIND_MASK;
	static struct user_walk w;
	struct machine m;
	Dwarf_Op *ops;
	const char *wrong;
	size_t n;
	enum value ra;
	int is_value;

	random_machine(&m, &w, vaddr, row->kind & UNWIND_F_AT_RBP);
	signal_at = kind == UNWIND_SIGNAL ? w.sp : 0;
	if (dwarf_frame_cfa(frame, &ops, &n) || !evaluate(&m.cfa, &m, ops, n, &is_value)) {
		c->beyond++;
		return kind == UNWIND_ODD || kind == UNWIND_END ? NULL
								: "a rule libdw cannot follow";
	}
	ra = judge_reg(&want, frame, &m, 16);
	if (kind == UNWIND_END)
		return ra == UNDEFINED || want == m.regs[16] ? NULL : "libdw has a caller";
	if (kind == UNWIND_ODD) {
		c->beyond++;
		return NULL;
	}
	w.rule = (u64)row->cfa << 32 | (u64)row->kind << 48 | (u64)row->saved << 56 | RULE_MAPPED;
	if (kind == UNWIND_SIGNAL ? signal_step(&w) : row_step(&w))
		return "the row cannot be followed";
	if (ra != VALUE || w.ip != want)
		return "another return address";
	if (w.sp != m.cfa)
		return "another CFA";
	/* After the last pop, which the compiler's rule does not describe. */
	if (row->kind & UNWIND_F_AT_RBP && kind == UNWIND_RSP)
		return NULL;
	wrong = compare_reg(c, frame, &m, &w, UNWIND_RBP);
	return wrong ? wrong : compare_reg(c, frame, &m, &w, UNWIND_RBX);
}

/* Compares at one address of a function. */
static void judge_at(struct subject *s, struct counts *c, uint64_t vaddr)
{
	const struct unwind_row *row;
	const char *wrong;
	uint64_t offset;
	Dwarf_Frame *frame;

	if (elf_file_offset_of(s->f, &offset, vaddr))
		return;
	row = row_at(&s->rows, offset);
	c->n++;
	if (dwarf_cfi_addrframe(s->cfi, vaddr, &frame)) {
		/* After a function that a gap of a few bytes follows the rows continue. */
		c->differ += row && (row->kind & UNWIND_KIND_MASK) != UNWIND_NONE &&
			     differ(s, vaddr, row, "libdw has no rule");
		return;
	}
	wrong = !row || (row->kind & UNWIND_KIND_MASK) == UNWIND_NONE
			? "no row"
			: compare(c, frame, row, vaddr);
	free(frame);
	if (wrong)
		c->differ += (uint64_t)differ(s, vaddr, row, wrong);
}

/* Functions by the section itself: FDEs as libdw reads them, so that rows take no part. */
struct ranges {
	struct {
		uint64_t start, sz;
	} * v;
	size_t n, cap;
};

static int keep_range(struct ranges *r, uint64_t start, uint64_t sz)
{
	if (r->n == r->cap) {
		r->cap = r->cap ? 2 * r->cap : 1024;
		r->v = realloc(r->v, r->cap * sizeof(*r->v));
		if (!r->v)
			return -ENOMEM;
	}
	r->v[r->n].start = start;
	r->v[r->n++].sz = sz;
	return 0;
}

static int64_t read_sdata4(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, 4);
	return v;
}

/* Only the encoding that compilers for x86_64 write, from which random addresses are drawn; others
 * are ignored here. */
static int find_ranges(struct ranges *r, Elf *elf, const struct elf_section *s, const uint8_t *data)
{
	Elf_Data d = {.d_buf = (void *)data, .d_size = s->sz, .d_version = EV_CURRENT};
	Dwarf_Off at = 0, next;
	Dwarf_CFI_Entry e;
	unsigned char ident[EI_NIDENT];
	int got;

	memcpy(ident, elf_getident(elf, NULL), EI_NIDENT);
	while ((got = dwarf_next_cfi(ident, &d, true, at, &next, &e)) == 0 || got == -1) {
		if (got == 0 && !dwarf_cfi_cie_p(&e) && e.fde.end - e.fde.start >= 8) {
			const uint64_t addr = s->addr + (uint64_t)(e.fde.start - data);
			uint32_t sz;

			memcpy(&sz, e.fde.start + 4, 4);
			if (sz && keep_range(r, addr + (uint64_t)read_sdata4(e.fde.start), sz))
				return -ENOMEM;
		}
		if (next <= at)
			break;
		at = next;
	}
	return 0;
}

static int judge_file(struct counts *sum, const char *path, size_t n)
{
	struct subject s = {.path = path};
	struct elf_data data = {0};
	struct ranges ranges = {0};
	struct counts c = {0};
	const struct elf_section *section;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf;

	if (fd < 0 || elf_file_open(&s.f, fd)) {
		if (fd >= 0)
			close(fd);
		return 0; /* not an ELF file */
	}
	section = elf_file_section(s.f, ".eh_frame");
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	s.cfi = elf ? dwarf_getcfi_elf(elf) : NULL;
	if (s.cfi && section && !elf_file_section_copy(s.f, &data, section) &&
	    !find_ranges(&ranges, elf, section, data.data) &&
	    !unwind_rows_of_file(&s.rows, s.f, NULL, NULL)) {
		for (size_t i = 0; ranges.n && i < n; i++) {
			const size_t at = next_random() % ranges.n;

			judge_at(&s, &c, ranges.v[at].start + next_random() % ranges.v[at].sz);
		}
		for (size_t i = 0; ranges.n && i < n / 4; i++) {
			const size_t at = next_random() % ranges.n;

			judge_at(&s, &c, ranges.v[at].start);
			judge_at(&s, &c, ranges.v[at].start + ranges.v[at].sz - 1);
		}
	}
	unwind_rows_fini(&s.rows);
	free(ranges.v);
	free(data.data);
	if (s.cfi)
		dwarf_cfi_end(s.cfi);
	if (elf)
		elf_end(elf);
	elf_file_close(s.f);
	close(fd);
	sum->n += c.n;
	sum->differ += c.differ;
	sum->beyond += c.beyond;
	return c.n > 0;
}

int main(int argc, char **argv)
{
	struct counts sum = {0};
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 0, files = 0;
	const char *from = getenv("SEED");

	if (!n) {
		fprintf(stderr, "usage: [SEED=N] %s ADDRESSES-PER-FILE FILE...\n", argv[0]);
		return 2;
	}
	seed = from ? strtoull(from, NULL, 0) | 1 : 0x853c49e6748fea9bull;
	elf_version(EV_CURRENT);
	for (int i = 2; i < argc; i++)
		files += (size_t)judge_file(&sum, argv[i], n);
	printf("%zu files, %" PRIu64 " addresses: %" PRIu64 " differ, %" PRIu64
	       " have a rule or register that no row can express\n",
	       files, sum.n, sum.differ, sum.beyond);
	return sum.differ != 0;
}
