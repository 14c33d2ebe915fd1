/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which functions of an interpreted program belong to the language's runtime: builtins, and the
 * standard library written in the language. Packages of others count as the program's own.
 */
#ifndef SINSP_SYMBOLS_RUNTIME_CODE_H
#define SINSP_SYMBOLS_RUNTIME_CODE_H

#include <stdint.h>

/* Returns whether a function is the runtime's. @language: enum stack_walker; @file: NULL: none. */
int runtime_code_has(uint8_t language, const char *function, const char *file);

#endif /* SINSP_SYMBOLS_RUNTIME_CODE_H */
