/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwind table of an ELF file: everything that it says of how its code is unwound, by all the
 * ways in which files say it.
 */
#ifndef SCAP_UNWIND_UNWIND_ROWS_H
#define SCAP_UNWIND_UNWIND_ROWS_H

#include "objfile/elf_file.h"
#include "unwind/cfi.h"

/*
 * Makes the rows of @f, which is of x86_64 (else -ENOTSUP). @debug is the file with its debugging
 * information, where that is another one; NULL: none. A file that says nothing of its code has
 * next to no rows, which is no error; one that takes more than @work (NULL: no bound) is: as
 * unwind_work_take. On success the caller ends @out with unwind_rows_fini.
 */
int unwind_rows_of_file(struct unwind_rows *out, const struct elf_file *f,
			const struct elf_file *debug, struct unwind_work *work);

#endif /* SCAP_UNWIND_UNWIND_ROWS_H */
