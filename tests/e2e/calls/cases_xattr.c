/* SPDX-License-Identifier: Apache-2.0 */
/* Extended attributes. */
#include "case.h"

#include <stddef.h>

/* clang-format off */
const struct call_case cases_xattr[] = {
	{NULL, NULL},
};
