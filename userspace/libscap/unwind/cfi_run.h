/* SPDX-License-Identifier: Apache-2.0 */
/* What the instructions of call frame information make of registers, as rows. */
#ifndef SCAP_UNWIND_CFI_RUN_H
#define SCAP_UNWIND_CFI_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi.h"
#include "unwind/cfi_read.h"

enum cfi_how {
	CFI_SAME, /* as long as nothing is said */
	CFI_UNDEFINED,
	CFI_AT_CFA, /* in memory, off from the CFA */
	CFI_AT_RBP, /* in memory, off from rbp */
	CFI_IN_REG, /* in the register of the number off */
	CFI_OTHER,
};

struct cfi_rule {
	int32_t off;
	uint8_t how; /* enum cfi_how */
};

enum cfi_cfa {
	CFI_CFA_REG, /* reg + off */
	CFI_CFA_PLT, /* off is the pc's bound */
	CFI_CFA_DEREF, /* memory at reg + off, plus add */
	CFI_CFA_OTHER,
};

struct cfi_state {
	int64_t cfa_off;
	uint32_t cfa_add;
	uint8_t cfa_how; /* enum cfi_cfa */
	uint8_t cfa_reg; /* 255: one above 15 */
	struct cfi_rule rbp, rbx, ra, other;
};

/* What the functions of one kind have in common. */
struct cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra; /* the return address's register */
	uint8_t encoding; /* of addresses */
	uint8_t is_signal; /* of the frame that a signal makes */
	uint8_t has_data; /* entries have augmentation data */
	uint8_t bad; /* its entries cannot be used */
	struct cfi_state first; /* with which a function begins */
};

/* Runs a CIE's own instructions: gives cie->first. As unwind_work_take. */
int cfi_run_first(struct cfi_cie *cie, struct cfi_cursor insns, struct unwind_work *work);

#define CFI_DEPTH_MAX 32 /* of remembered states; compilers use one or two */

/* A function's instructions, as far as they were run: each runs once, in however many parts rows
 * are asked for. */
struct cfi_runner {
	const struct cfi_cie *cie;
	struct cfi_cursor in;
	uint64_t insns_addr; /* of the first instruction */
	const uint8_t *first_insn;
	uint32_t start; /* of the function in the file */
	uint64_t vaddr; /* of that */
	struct cfi_state s;
	uint64_t pc, next; /* where s counts, if has_range is set */
	uint64_t n_steps; /* that were not taken of any work yet */
	uint8_t has_range;
	uint8_t depth;
	struct cfi_state stack[CFI_DEPTH_MAX];
};

/* Of the function that begins at @start of the file, @vaddr in its own terms. */
void cfi_run_begin(struct cfi_runner *r, const struct cfi_cie *cie, struct cfi_cursor insns,
		   uint32_t start, uint64_t vaddr, uint64_t insns_addr);
/* Appends the rows between @from and @to, neither of which goes back. 0 or -ENOMEM, or as
 * unwind_work_take. */
int cfi_run_to(struct cfi_runner *r, struct unwind_rows *rows, uint32_t from, uint32_t to,
	       struct unwind_work *work);

#endif /* SCAP_UNWIND_CFI_RUN_H */
