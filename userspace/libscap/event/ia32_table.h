/* SPDX-License-Identifier: Apache-2.0 */
/* How 32-bit calls are decoded: syscalls_ia32.def joined with syscalls.def. */
#ifndef SCAP_EVENT_IA32_TABLE_H
#define SCAP_EVENT_IA32_TABLE_H

#include "shared/ia32.h"

/* IA32_TABLE_MAX of them; made at the first call, static storage. */
const struct ia32_call *scap_ia32_calls(void);

/* Puts the arguments of a 32-bit call, as its caller gave them, as its row expects them. 0, or
 * -ENODATA with @args untouched: they lie in the caller's memory. */
int scap_ia32_arrange(const struct ia32_call *c, uint64_t args[6]);

#endif /* SCAP_EVENT_IA32_TABLE_H */
