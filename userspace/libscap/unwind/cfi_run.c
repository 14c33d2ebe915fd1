/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/cfi_run.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define REG_HIGH 255

/* DW_CFA_*: the two highest bits, or the whole byte. */
enum {
	OP_ADVANCE_LOC = 0x40,
	OP_OFFSET = 0x80,
	OP_RESTORE = 0xc0,
	OP_NOP = 0x00,
	OP_SET_LOC = 0x01,
	OP_ADVANCE_LOC1 = 0x02,
	OP_ADVANCE_LOC2 = 0x03,
	OP_ADVANCE_LOC4 = 0x04,
	OP_OFFSET_EXTENDED = 0x05,
	OP_RESTORE_EXTENDED = 0x06,
	OP_UNDEFINED = 0x07,
	OP_SAME_VALUE = 0x08,
	OP_REGISTER = 0x09,
	OP_REMEMBER_STATE = 0x0a,
	OP_RESTORE_STATE = 0x0b,
	OP_DEF_CFA = 0x0c,
	OP_DEF_CFA_REGISTER = 0x0d,
	OP_DEF_CFA_OFFSET = 0x0e,
	OP_DEF_CFA_EXPRESSION = 0x0f,
	OP_EXPRESSION = 0x10,
	OP_OFFSET_EXTENDED_SF = 0x11,
	OP_DEF_CFA_SF = 0x12,
	OP_DEF_CFA_OFFSET_SF = 0x13,
	OP_VAL_OFFSET = 0x14,
	OP_VAL_OFFSET_SF = 0x15,
	OP_VAL_EXPRESSION = 0x16,
	OP_ADVANCE_LOC8 = 0x1d,
	OP_GNU_WINDOW_SAVE = 0x2d,
	OP_GNU_ARGS_SIZE = 0x2e,
	OP_GNU_NEGATIVE_OFFSET = 0x2f,
};

/* DW_OP_* */
enum { EXPR_DEREF = 0x06, EXPR_PLUS_UCONST = 0x23, EXPR_BREG0 = 0x70, EXPR_BREG31 = 0x8f };

int unwind_rows_add(struct unwind_rows *rows, struct unwind_row row)
{
	struct unwind_row *last = rows->n ? &rows->v[rows->n - 1] : NULL;

	if (last && last->pc == row.pc) { /* no code has it: an empty range */
		rows->n--;
		last = rows->n ? last - 1 : NULL;
	}
	if (last && last->cfa == row.cfa && last->kind == row.kind && last->saved == row.saved)
		return 0;
	if (rows->n == rows->cap) {
		size_t cap = rows->cap ? rows->cap * 2 : 1024;
		struct unwind_row *v = realloc(rows->v, cap * sizeof(*v));

		if (!v)
			return -ENOMEM;
		rows->v = v;
		rows->cap = cap;
	}
	rows->v[rows->n++] = row;
	return 0;
}

void unwind_rows_fini(struct unwind_rows *rows)
{
	free(rows->v);
	*rows = (struct unwind_rows){0};
}

/* Returns where a register is saved, in a row's four bits. */
static unsigned int saved_nibble(const struct cfi_rule *r, uint8_t how)
{
	int64_t words = -(int64_t)r->off / 8;

	if (r->how == CFI_SAME)
		return UNWIND_UNTOUCHED;
	if (r->how != how || r->off % 8 || words <= UNWIND_LOST || words > UNWIND_SAVED_MAX)
		return UNWIND_LOST;
	return (unsigned int)words;
}

static void row_saved(struct unwind_row *row, const struct cfi_state *s)
{
	if (s->rbp.how == CFI_AT_RBP && s->rbp.off == 0) {
		row->kind |= UNWIND_F_AT_RBP;
		row->saved = UNWIND_SAVED(0, saved_nibble(&s->rbx, CFI_AT_RBP));
	} else {
		row->saved = UNWIND_SAVED(saved_nibble(&s->rbp, CFI_AT_CFA),
					  saved_nibble(&s->rbx, CFI_AT_CFA));
	}
}

static int cfa_of_reg(struct unwind_row *row, const struct cfi_state *s)
{
	int64_t words = s->cfa_off / 8;

	if (s->cfa_off % 8 || s->cfa_off < 0 || s->cfa_reg >= UNWIND_REGS)
		return 0;
	row->kind = s->cfa_reg;
	row->cfa = (uint16_t)words;
	if (words < UNWIND_FAR)
		return 1;
	row->kind = UNWIND_RSP_FAR;
	row->cfa = (uint16_t)(words - UNWIND_FAR);
	return s->cfa_reg == UNWIND_RSP && words < 2 * UNWIND_FAR;
}

static int cfa_of_deref(struct unwind_row *row, const struct cfi_state *s)
{
	int64_t at = s->cfa_off / 8;

	if (s->cfa_off % 8 || s->cfa_add % 8 || s->cfa_add / 8 > 7 || at < -4096 || at > 4095)
		return 0;
	row->kind = s->cfa_reg == UNWIND_RBP ? UNWIND_DEREF_RBP : UNWIND_DEREF_RSP;
	row->cfa = UNWIND_DEREF_CFA(at, s->cfa_add / 8);
	return s->cfa_reg == UNWIND_RBP || s->cfa_reg == UNWIND_RSP;
}

static int is_signal(const struct cfi_cie *cie, const struct cfi_state *s)
{
	/* The kernel's signal frame on x86_64: rsp is the sixteenth of mcontext's registers. */
	return cie->is_signal && s->cfa_how == CFI_CFA_DEREF && s->cfa_reg == UNWIND_RSP &&
	       s->cfa_off == UNWIND_SIGNAL_REGS_AT + 15 * 8 && !s->cfa_add;
}

static int row_cfa(struct unwind_row *row, const struct cfi_state *s)
{
	switch (s->cfa_how) {
	case CFI_CFA_REG:
		return cfa_of_reg(row, s);
	case CFI_CFA_PLT:
		row->kind = UNWIND_PLT;
		row->cfa = (uint16_t)s->cfa_off;
		return 1;
	case CFI_CFA_DEREF:
		return cfa_of_deref(row, s);
	}
	return 0;
}

/* Used by vfork, whose child would overwrite a return address on the stack. */
static int row_ra_reg(struct unwind_row *row, const struct cfi_state *s)
{
	const int64_t words = s->cfa_off / 8;

	if (s->ra.how != CFI_IN_REG || s->ra.off < 0 || s->ra.off >= UNWIND_REGS ||
	    s->cfa_how != CFI_CFA_REG || s->cfa_reg != UNWIND_RSP || s->cfa_off % 8 || words < 0 ||
	    words > 4095)
		return 0;
	row->kind = UNWIND_RA_REG;
	row->cfa = UNWIND_RA_REG_CFA(s->ra.off, words);
	row_saved(row, s);
	return 1;
}

static struct unwind_row make_row(const struct cfi_cie *cie, const struct cfi_state *s, uint32_t pc)
{
	struct unwind_row row = {.pc = pc};

	if (is_signal(cie, s))
		row.kind = UNWIND_SIGNAL;
	else if (s->ra.how == CFI_SAME || s->ra.how == CFI_UNDEFINED)
		row.kind = UNWIND_END;
	else if (row_ra_reg(&row, s))
		;
	else if (s->ra.how != CFI_AT_CFA || s->ra.off != -8 || !row_cfa(&row, s))
		row = (struct unwind_row){.pc = pc, .kind = UNWIND_ODD};
	else
		row_saved(&row, s);
	return row;
}

static struct cfi_rule *rule_of(struct cfi_runner *r, uint64_t reg)
{
	if (reg == UNWIND_RBP)
		return &r->s.rbp;
	if (reg == UNWIND_RBX)
		return &r->s.rbx;
	return reg == r->cie->ra ? &r->s.ra : &r->s.other;
}

static void restore(struct cfi_runner *r, uint64_t reg)
{
	const struct cfi_state *first = &r->cie->first;

	*rule_of(r, reg) = reg == UNWIND_RBP   ? first->rbp
			   : reg == UNWIND_RBX ? first->rbx
			   : reg == r->cie->ra ? first->ra
					       : first->other;
}

static void set_rule(struct cfi_runner *r, uint64_t reg, uint8_t how, int64_t off)
{
	struct cfi_rule *rule = rule_of(r, reg);

	if (off != (int32_t)off)
		how = CFI_OTHER;
	*rule = (struct cfi_rule){.off = (int32_t)off, .how = how};
}

static void set_cfa(struct cfi_runner *r, uint64_t reg, int64_t off)
{
	r->s.cfa_how = CFI_CFA_REG;
	r->s.cfa_reg = reg < REG_HIGH ? (uint8_t)reg : REG_HIGH;
	r->s.cfa_off = off;
	r->s.cfa_add = 0;
}

/* The CFA in a procedure linkage table depends on how far into its 16-byte entry the pc is: breg7
 * 8, breg16 0, lit15, and, litN, ge, lit3, shl, plus. */
static int is_plt(const struct cfi_cursor *e)
{
	static const uint8_t want[11] = {0x77, 8, 0x80, 0, 0x3f, 0x1a, 0, 0x2a, 0x33, 0x24, 0x22};

	if (e->end - e->p != sizeof(want) || e->p[6] < 0x30 || e->p[6] > 0x3f)
		return 0;
	return !memcmp(e->p, want, 6) && !memcmp(e->p + 7, want + 7, 4);
}

/* Parses an expression of a register and an offset. @e ends after it. */
static int is_reg_and_offset(struct cfi_cursor *e, uint8_t *reg, int64_t *off)
{
	uint8_t op = cfi_u8(e);

	if (op < EXPR_BREG0 || op > EXPR_BREG31)
		return 0;
	*reg = (uint8_t)(op - EXPR_BREG0);
	*off = cfi_sleb(e);
	return !e->bad;
}

static void set_cfa_expression(struct cfi_runner *r, struct cfi_cursor e)
{
	uint64_t add = 0;

	r->s.cfa_how = CFI_CFA_OTHER;
	if (is_plt(&e)) {
		r->s.cfa_how = CFI_CFA_PLT;
		r->s.cfa_off = e.p[6] - 0x30;
		return;
	}
	if (!is_reg_and_offset(&e, &r->s.cfa_reg, &r->s.cfa_off))
		return;
	if (e.p == e.end) { /* DEF_CFA only */
		r->s.cfa_how = CFI_CFA_REG;
		return;
	}
	if (cfi_u8(&e) != EXPR_DEREF)
		return;
	if (e.p != e.end && cfi_u8(&e) == EXPR_PLUS_UCONST)
		add = cfi_uleb(&e);
	if (e.bad || e.p != e.end || add > UINT32_MAX)
		return;
	r->s.cfa_add = (uint32_t)add;
	r->s.cfa_how = CFI_CFA_DEREF;
}

static void set_expression(struct cfi_runner *r, uint64_t reg, struct cfi_cursor e)
{
	uint8_t base;
	int64_t off;

	if (is_reg_and_offset(&e, &base, &off) && e.p == e.end && base == UNWIND_RBP)
		set_rule(r, reg, CFI_AT_RBP, off);
	else
		set_rule(r, reg, CFI_OTHER, 0);
}

static void remember(struct cfi_runner *r)
{
	if (r->depth < CFI_DEPTH_MAX)
		r->stack[r->depth++] = r->s;
	else
		r->in.bad = 1;
}

static void recall(struct cfi_runner *r)
{
	if (r->depth)
		r->s = r->stack[--r->depth];
	else
		r->in.bad = 1;
}

static int64_t scaled(const struct cfi_runner *r, int64_t n)
{
	return (int64_t)((uint64_t)n * (uint64_t)r->cie->data_align);
}

/* Runs an instruction that sets the CFA. Returns 0 for another one. */
static int change_cfa(struct cfi_runner *r, uint8_t op)
{
	struct cfi_cursor *in = &r->in;
	uint64_t reg;

	switch (op) {
	case OP_DEF_CFA_OFFSET:
		r->s.cfa_off = (int64_t)cfi_uleb(in);
		return 1;
	case OP_DEF_CFA_OFFSET_SF:
		r->s.cfa_off = scaled(r, cfi_sleb(in));
		return 1;
	case OP_DEF_CFA_REGISTER:
		set_cfa(r, cfi_uleb(in), r->s.cfa_off);
		return 1;
	case OP_DEF_CFA:
		reg = cfi_uleb(in);
		set_cfa(r, reg, (int64_t)cfi_uleb(in));
		return 1;
	case OP_DEF_CFA_SF:
		reg = cfi_uleb(in);
		set_cfa(r, reg, scaled(r, cfi_sleb(in)));
		return 1;
	case OP_DEF_CFA_EXPRESSION:
		set_cfa_expression(r, cfi_block(in, cfi_uleb(in)));
		return 1;
	}
	return 0;
}

/* Runs an instruction that sets where the caller's register @reg is. Returns 0 for another one. */
static int change_register(struct cfi_runner *r, uint8_t op, uint64_t reg)
{
	struct cfi_cursor *in = &r->in;

	switch (op) {
	case OP_OFFSET_EXTENDED:
		set_rule(r, reg, CFI_AT_CFA, scaled(r, (int64_t)cfi_uleb(in)));
		return 1;
	case OP_OFFSET_EXTENDED_SF:
		set_rule(r, reg, CFI_AT_CFA, scaled(r, cfi_sleb(in)));
		return 1;
	case OP_GNU_NEGATIVE_OFFSET:
		set_rule(r, reg, CFI_AT_CFA, scaled(r, -(int64_t)cfi_uleb(in)));
		return 1;
	case OP_RESTORE_EXTENDED:
		restore(r, reg);
		return 1;
	case OP_UNDEFINED:
		set_rule(r, reg, CFI_UNDEFINED, 0);
		return 1;
	case OP_SAME_VALUE:
		set_rule(r, reg, CFI_SAME, 0);
		return 1;
	case OP_REGISTER:
		set_rule(r, reg, CFI_IN_REG, (int64_t)cfi_uleb(in));
		return 1;
	case OP_VAL_OFFSET:
	case OP_VAL_OFFSET_SF:
		set_rule(r, reg, CFI_OTHER, 0);
		cfi_uleb(in);
		return 1;
	case OP_EXPRESSION:
		set_expression(r, reg, cfi_block(in, cfi_uleb(in)));
		return 1;
	case OP_VAL_EXPRESSION:
		cfi_block(in, cfi_uleb(in));
		set_rule(r, reg, CFI_OTHER, 0);
		return 1;
	}
	return 0;
}

/* Runs an instruction that changes the row and does not advance the location. */
static void change(struct cfi_runner *r, uint8_t op)
{
	struct cfi_cursor *in = &r->in;

	switch (op) {
	case OP_NOP:
	case OP_GNU_WINDOW_SAVE:
		return;
	case OP_REMEMBER_STATE:
		remember(r);
		return;
	case OP_RESTORE_STATE:
		recall(r);
		return;
	case OP_GNU_ARGS_SIZE:
		cfi_uleb(in);
		return;
	}
	if (!change_cfa(r, op) && !change_register(r, op, cfi_uleb(in)))
		in->bad = 1;
}

/* Runs up to the next instruction that advances the location. Returns the distance in bytes, or
 * UINT64_MAX at the end. */
static uint64_t run_to_advance(struct cfi_runner *r)
{
	struct cfi_cursor *in = &r->in;

	while (in->p != in->end && !in->bad) {
		const uint8_t op = *in->p++;
		uint64_t at;

		r->n_steps++;
		switch (op & 0xc0) {
		case OP_ADVANCE_LOC:
			return (op & 0x3f) * r->cie->code_align;
		case OP_OFFSET:
			set_rule(r, op & 0x3f, CFI_AT_CFA, scaled(r, (int64_t)cfi_uleb(in)));
			continue;
		case OP_RESTORE:
			restore(r, op & 0x3f);
			continue;
		}
		switch (op) {
		case OP_ADVANCE_LOC1:
			return cfi_u8(in) * r->cie->code_align;
		case OP_ADVANCE_LOC2:
			return cfi_fixed(in, 2) * r->cie->code_align;
		case OP_ADVANCE_LOC4:
			return cfi_fixed(in, 4) * r->cie->code_align;
		case OP_ADVANCE_LOC8:
			return cfi_fixed(in, 8) * r->cie->code_align;
		case OP_SET_LOC:
			at = r->insns_addr + (uint64_t)(in->p - r->first_insn);
			if ((r->cie->encoding & CFI_PE_BASE) != CFI_PE_PCREL)
				at = 0;
			at += cfi_encoded(in, r->cie->encoding);
			return at - (r->vaddr + (r->pc - r->start));
		}
		change(r, op);
	}
	return UINT64_MAX;
}

static int pay(struct cfi_runner *r, struct unwind_work *work)
{
	const uint64_t n = r->n_steps;

	r->n_steps = 0;
	return unwind_work_spend(work, n + 1);
}

int cfi_run_first(struct cfi_cie *cie, struct cfi_cursor insns, struct unwind_work *work)
{
	struct cfi_runner r = {.cie = cie, .in = insns, .first_insn = insns.p};

	r.s.cfa_how = CFI_CFA_OTHER;
	run_to_advance(&r);
	cie->first = r.s;
	if (r.in.bad)
		cie->bad = 1;
	return pay(&r, work);
}

void cfi_run_begin(struct cfi_runner *r, const struct cfi_cie *cie, struct cfi_cursor insns,
		   uint32_t start, uint64_t vaddr, uint64_t insns_addr)
{
	memset(r, 0, offsetof(struct cfi_runner, stack));
	r->cie = cie;
	r->in = insns;
	r->first_insn = insns.p;
	r->insns_addr = insns_addr;
	r->start = start;
	r->vaddr = vaddr;
	r->s = cie->first;
	r->pc = start;
}

static void find_range(struct cfi_runner *r)
{
	uint64_t by;

	if (r->has_range)
		return;
	by = run_to_advance(r);
	r->next = by > UINT64_MAX - r->pc ? UINT64_MAX : r->pc + by;
	r->has_range = 1;
}

int cfi_run_to(struct cfi_runner *r, struct unwind_rows *rows, uint32_t from, uint32_t to,
	       struct unwind_work *work)
{
	int err = 0;

	while (!err && r->pc < to) {
		struct unwind_row row;

		find_range(r);
		row = r->in.bad ? (struct unwind_row){.kind = UNWIND_ODD}
				: make_row(r->cie, &r->s, 0);
		row.pc = (uint32_t)(r->pc > from ? r->pc : from);
		if (r->next > from && r->next > r->pc)
			err = unwind_rows_add(rows, row);
		err = err ?: pay(r, work);
		if (r->next >= to) /* the rest follows with the next range */
			break;
		r->pc = r->next;
		r->has_range = 0;
	}
	return err;
}
