/* SPDX-License-Identifier: Apache-2.0 */
/* The built-in chisels: the files in chisels/, converted to text by CMake. */
#ifndef SAKER_CHISEL_FILES_H
#define SAKER_CHISEL_FILES_H

#include "chisel/chisel.h"

extern const struct sinsp_chisel_file chisel_files[]; /* ends with a NULL name */

#endif /* SAKER_CHISEL_FILES_H */
