/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding of 32-bit calls: joins syscalls_ia32.def with syscalls.def. */
#ifndef SCAP_EVENT_IA32_TABLE_H
#define SCAP_EVENT_IA32_TABLE_H

#include "shared/ia32.h"

/* Returns IA32_TABLE_MAX rows, built at the first call; static storage. */
const struct ia32_call *scap_ia32_calls(void);

/* Orders the arguments of a 32-bit call as its row expects them. Returns 0, or -ENODATA with @args
 * untouched if they lie in the caller's memory. */
int scap_ia32_arrange(const struct ia32_call *c, uint64_t args[6]);

#endif /* SCAP_EVENT_IA32_TABLE_H */
