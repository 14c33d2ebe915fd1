/* SPDX-License-Identifier: Apache-2.0 */
/* Returns whether the walked stack equals the path that the program recorded. */
#ifndef SCAP_UNWIND_KNOWN_PATH_TEST_H
#define SCAP_UNWIND_KNOWN_PATH_TEST_H

#include <stddef.h>

#include "shared/stack.h"
#include "unwind/known_path.h"

/* The path in a copy of a stack; NULL: it is not in it. */
const struct known_path *known_path_find(const void *stack, size_t sz);

/* NULL; else what is wrong. @frames are the driver's, innermost first. */
const char *known_path_check(const struct known_path *p, const uint64_t *frames, size_t n,
			     uint32_t end);

#endif /* SCAP_UNWIND_KNOWN_PATH_TEST_H */
