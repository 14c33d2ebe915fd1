/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of Go code, from Go's own table instead of call frame information. */
#ifndef SCAP_UNWIND_GO_ROWS_H
#define SCAP_UNWIND_GO_ROWS_H

#include "objfile/go_pclntab.h"
#include "unwind/cfi.h"

/* Appends them to @rows, without code that is not in the file. Returns 0 or -ENOMEM, or as
 * unwind_work_spend. */
int go_rows(struct unwind_rows *rows, const struct elf_file *f, const struct go_pclntab *t,
	    struct unwind_work *work);

#endif /* SCAP_UNWIND_GO_ROWS_H */
