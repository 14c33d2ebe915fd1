/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of code that Go's compiler made, which has its own table instead of call frame
 * information. */
#ifndef SCAP_UNWIND_GO_ROWS_H
#define SCAP_UNWIND_GO_ROWS_H

#include "objfile/go_pclntab.h"
#include "unwind/cfi.h"

/* Appends them to @rows, code that is nowhere in the file left out. 0 or -ENOMEM, or as
 * unwind_work_take. */
int go_rows(struct unwind_rows *rows, const struct elf_file *f, const struct go_pclntab *t,
	    struct unwind_work *work);

#endif /* SCAP_UNWIND_GO_ROWS_H */
