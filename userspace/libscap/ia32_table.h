/* SPDX-License-Identifier: Apache-2.0 */
/* How 32-bit calls are decoded: syscalls_ia32.def joined with syscalls.def. */
#ifndef SCAP_IA32_TABLE_H
#define SCAP_IA32_TABLE_H

#include "ia32.h"

/* IA32_TABLE_MAX of them; made at the first call, static storage. */
const struct ia32_call *scap_ia32_calls(void);

#endif /* SCAP_IA32_TABLE_H */
