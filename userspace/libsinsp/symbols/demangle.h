/* SPDX-License-Identifier: Apache-2.0 */
/* Demangles names of C++, and of Rust in both schemes. */
#ifndef SINSP_SYMBOLS_DEMANGLE_H
#define SINSP_SYMBOLS_DEMANGLE_H

#include <stddef.h>

/* Writes the demangled name with a NUL, truncated if it does not fit, and returns its length. 0:
 * @name is not mangled, or invalid; @out is unchanged. */
size_t sinsp_demangle(char *out, size_t sz, const char *name);

#endif /* SINSP_SYMBOLS_DEMANGLE_H */
