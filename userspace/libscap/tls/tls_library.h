/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the functions of TLS libraries that --tls probes: in a shared library, or in a program that
 * contains one and has its symbols. The file is hostile. */
#ifndef SCAP_TLS_TLS_LIBRARY_H
#define SCAP_TLS_TLS_LIBRARY_H

#include "objfile/elf_file.h"
#include "tls/tls_probe.h"

/* Returns the number of probes that are written to @v; 0: the file has no such library. A negative
 * errno: it has only crypto/tls of Go, of which tls_go_probes says why it cannot be probed. */
int tls_library_probes(const struct elf_file *f, struct tls_probe v[TLS_PROBES_MAX]);

#endif /* SCAP_TLS_TLS_LIBRARY_H */
