/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JIT code that is known by its bytes: its rules hold wherever these bytes are, so no file of the
 * runtime has to be read, which is written late if at all. Of a mapping that is not of such code
 * the first page alone is read, and nothing that is not in RAM: a process may see to it that it
 * never comes.
 */
#ifndef SCAP_UNWIND_JIT_CODE_H
#define SCAP_UNWIND_JIT_CODE_H

#include "unwind/cfi.h"

#define JIT_CODE_MAX (2u << 20) /* bytes of a mapping that are looked through */
#define JIT_CODE_ROWS_MAX 65536u

/*
 * The rows of what process @pid has from @start to @end, by offset from there; none: it has no such
 * code, or cannot be read. 0 or -ENOMEM. The caller ends @rows with unwind_rows_fini.
 */
int jit_code_rows(struct unwind_rows *rows, uint32_t pid, uint64_t start, uint64_t end);

#endif /* SCAP_UNWIND_JIT_CODE_H */
