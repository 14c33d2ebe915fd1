/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the instructions of call frame information, and makes rows of the result. */
#ifndef SCAP_UNWIND_CFI_RUN_H
#define SCAP_UNWIND_CFI_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi.h"
#include "unwind/cfi_read.h"

enum cfi_how {
	CFI_SAME, /* default */
	CFI_UNDEFINED,
	CFI_AT_CFA, /* in memory at CFA + off */
	CFI_AT_RBP, /* in memory at rbp + off */
	CFI_IN_REG, /* in the register number off */
	CFI_OTHER,
};

struct cfi_rule {
	int32_t off;
	uint8_t how; /* enum cfi_how */
};

enum cfi_cfa {
	CFI_CFA_REG, /* reg + off */
	CFI_CFA_PLT, /* off is the limit of the pc's low bits */
	CFI_CFA_DEREF, /* memory at reg + off, plus add */
	CFI_CFA_OTHER,
};

struct cfi_state {
	int64_t cfa_off;
	uint32_t cfa_add;
	uint8_t cfa_how; /* enum cfi_cfa */
	uint8_t cfa_reg; /* 255: a register above 15 */
	struct cfi_rule rbp, rbx, ra, other;
};

/* A CIE: what functions of one kind share. */
struct cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra; /* column of the return address */
	uint8_t encoding; /* encoding of addresses */
	uint8_t is_signal; /* of a signal frame */
	uint8_t has_data; /* FDEs have augmentation data */
	uint8_t bad; /* its FDEs cannot be used */
	struct cfi_state first; /* state at the begin of a function */
};

/* Runs a CIE's own instructions: sets cie->first. Returns as unwind_work_spend. */
int cfi_run_first(struct cfi_cie *cie, struct cfi_cursor insns, struct unwind_work *work);

#define CFI_DEPTH_MAX 32 /* depth of remembered states; compilers use one or two */

/* Runs a function's instructions, each once, however many parts its rows are requested in. */
struct cfi_runner {
	const struct cfi_cie *cie;
	struct cfi_cursor in;
	uint64_t insns_addr; /* address of the first instruction */
	const uint8_t *first_insn;
	uint32_t start; /* of the function, in the file */
	uint64_t vaddr; /* current place */
	struct cfi_state s;
	uint64_t pc, next; /* range in which s is valid, if has_range is set */
	uint64_t n_steps; /* steps not yet taken from the work limit */
	uint8_t has_range;
	uint8_t depth;
	struct cfi_state stack[CFI_DEPTH_MAX];
};

/* Initializes for the function at @start of the file, address @vaddr. */
void cfi_run_begin(struct cfi_runner *r, const struct cfi_cie *cie, struct cfi_cursor insns,
		   uint32_t start, uint64_t vaddr, uint64_t insns_addr);
/* Appends the rows from @from to @to, neither of which goes back. Returns 0 or -ENOMEM, or as
 * unwind_work_spend. */
int cfi_run_to(struct cfi_runner *r, struct unwind_rows *rows, uint32_t from, uint32_t to,
	       struct unwind_work *work);

#endif /* SCAP_UNWIND_CFI_RUN_H */
