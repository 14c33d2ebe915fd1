/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds crypto/tls in a program of Go by its pclntab, which stripped programs have, too. A probe of
 * a return of the kernel's (uretprobe) replaces the return address on the stack, which Go reads
 * when it moves the stack: each return instruction has a probe instead.
 *
 * Where instructions begin is certain or there is no probe. The table of stack depths says it: the
 * compiler writes a row wherever an instruction changes the depth, and a function that has a frame
 * removes it right before each return. The file is hostile.
 */
#ifndef SCAP_TLS_TLS_GO_H
#define SCAP_TLS_TLS_GO_H

#include "objfile/elf_file.h"
#include "tls/tls_probe.h"

/* Returns the number of probes that are written to @v, 0 if the file has no crypto/tls, or a
 * negative errno: -EOPNOTSUPP: it is that of a Go before 1.17, whose arguments are on the stack;
 * -EBADMSG: its code is not as expected. */
int tls_go_probes(const struct elf_file *f, struct tls_probe v[TLS_GO_PROBES_MAX]);

#endif /* SCAP_TLS_TLS_GO_H */
