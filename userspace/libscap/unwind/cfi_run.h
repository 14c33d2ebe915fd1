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

/* Runs a CIE's own instructions: gives cie->first. */
void cfi_run_first(struct cfi_cie *cie, struct cfi_cursor insns);

/*
 * Appends the rows of a function that begins at @pc of the file, those between @from and @to.
 * @vaddr is the address of @pc; @insns_addr that of the first instruction. 0 or -ENOMEM.
 */
struct cfi_range {
	uint32_t pc, from, to;
	uint64_t vaddr, insns_addr;
};
int cfi_run(struct unwind_rows *rows, const struct cfi_cie *cie, struct cfi_cursor insns,
	    const struct cfi_range *range);

#endif /* SCAP_UNWIND_CFI_RUN_H */
