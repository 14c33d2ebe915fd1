/* SPDX-License-Identifier: Apache-2.0 */
/* Names as the source has them: of C++, and of Rust in both of its schemes. */
#ifndef SINSP_SYMBOLS_DEMANGLE_H
#define SINSP_SYMBOLS_DEMANGLE_H

#include <stddef.h>

/* Writes the name with a NUL, cut if it does not fit, and returns its length. 0: @name is no
 * mangled one, or none that can be read; @out is not touched. */
size_t sinsp_demangle(char *out, size_t sz, const char *name);

#endif /* SINSP_SYMBOLS_DEMANGLE_H */
