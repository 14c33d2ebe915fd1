/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the unwind table of an ELF file, from all sources of unwind information that files have.
 */
#ifndef SCAP_UNWIND_UNWIND_ROWS_H
#define SCAP_UNWIND_UNWIND_ROWS_H

#include "objfile/elf_file.h"
#include "unwind/cfi.h"

/*
 * Builds the rows of @f, an x86_64 file (else -ENOTSUP). @debug is the separate file with its debug
 * information; NULL: none. A file without unwind information has next to no rows, which is no
 * error; one that exceeds @work (NULL: no limit) is: as unwind_work_spend. On success the caller
 * frees @out with unwind_rows_fini.
 */
int unwind_rows_of_file(struct unwind_rows *out, const struct elf_file *f,
			const struct elf_file *debug, struct unwind_work *work);

#endif /* SCAP_UNWIND_UNWIND_ROWS_H */
