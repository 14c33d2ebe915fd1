/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JIT code that is recognized by its bytes: its rules hold wherever these bytes are, so no file of
 * the runtime is needed: such a file is written late, or never. Of a mapping without such code only
 * the first page is read, and only pages in RAM: a process can withhold others for ever.
 */
#ifndef SCAP_UNWIND_JIT_CODE_H
#define SCAP_UNWIND_JIT_CODE_H

#include "unwind/cfi.h"

#define JIT_CODE_MAX (2u << 20) /* maximum bytes of a mapping that are searched */
#define JIT_CODE_ROWS_MAX 65536u

/* Finds the rows of process @pid from @start to @end, by offset from there; none if it has no such
 * code or is unreadable. Returns 0 or -ENOMEM. The caller frees @rows with unwind_rows_fini. */
int jit_code_rows(struct unwind_rows *rows, uint32_t pid, uint64_t start, uint64_t end);

#endif /* SCAP_UNWIND_JIT_CODE_H */
