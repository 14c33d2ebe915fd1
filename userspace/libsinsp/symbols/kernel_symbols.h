/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the running kernel's code, its modules and BPF programs, from /proc/kallsyms. */
#ifndef SINSP_SYMBOLS_KERNEL_SYMBOLS_H
#define SINSP_SYMBOLS_KERNEL_SYMBOLS_H

#include <stdio.h>

#include "symtab.h"

/* Owned. -EPERM: the kernel hides its addresses; -ENODATA: there are none; -ENOMEM. A name of a
 * module or a BPF program ends with " [MODULE]", " [bpf]". */
int sinsp_kernel_symbols_read(struct symtab **out, FILE *kallsyms);
int sinsp_kernel_symbols_load(struct symtab **out);

#endif /* SINSP_SYMBOLS_KERNEL_SYMBOLS_H */
