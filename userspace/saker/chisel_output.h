/* SPDX-License-Identifier: Apache-2.0 */
/* The file that chisels print to with -o. */
#ifndef SAKER_CHISEL_OUTPUT_H
#define SAKER_CHISEL_OUTPUT_H

#include <stdio.h>

/* Opens @path for writing; what is written is compressed with gzip if its name ends with .gz. 0, or
 * a negative errno after saying why. To be closed with fclose, whose error is that of all writes.
 */
int chisel_output_open(FILE **out, const char *path);

#endif /* SAKER_CHISEL_OUTPUT_H */
