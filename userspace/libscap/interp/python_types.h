/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCAP_INTERP_PYTHON_TYPES_H
#define SCAP_INTERP_PYTHON_TYPES_H

#include <stdint.h>

#include "objfile/elf_file.h"
#include "shared/interp.h"

/* Returns whether the file's own types of code and frame objects have these sizes, and code objects
 * the members of the row. */
int python_types_agree(const struct elf_file *f, const struct interp_python *p, uint64_t code_sz,
		       uint64_t frame_sz);

#endif /* SCAP_INTERP_PYTHON_TYPES_H */
