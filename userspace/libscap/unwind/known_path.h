/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call path of a program that records it: known_path_prog.c keeps one per thread, in the first
 * frame of the thread, and tests compare it with a walk. Written by the thread alone, consistent at
 * any instant.
 */
#ifndef SCAP_UNWIND_KNOWN_PATH_H
#define SCAP_UNWIND_KNOWN_PATH_H

#include <stdint.h>

#define KNOWN_MAX 256
#define KNOWN_MAGIC_SZ 4
#define KNOWN_MAGIC(i) (0x6b6e6f776e706174ull * (2 * (i) + 1)) /* magic words at the start */

struct known_path {
	uint64_t magic[KNOWN_MAGIC_SZ];
	uint64_t text, text_end; /* functions that record the path; others may lie between */
	uint64_t unsure; /* not 0: not recorded at the moment */
	uint64_t n;
	uint64_t ra[KNOWN_MAX]; /* return address of each of the functions, outermost first */
};

#endif /* SCAP_UNWIND_KNOWN_PATH_H */
