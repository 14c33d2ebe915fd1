/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path of a program that knows it: known_path_prog.c keeps one per thread, in the first frame
 * of the thread, and tests compare what a walk finds. Written by the thread alone, at any instant
 * whole.
 */
#ifndef SCAP_UNWIND_KNOWN_PATH_H
#define SCAP_UNWIND_KNOWN_PATH_H

#include <stdint.h>

#define KNOWN_MAX 256
#define KNOWN_MAGIC_SZ 4
#define KNOWN_MAGIC(i) (0x6b6e6f776e706174ull * (2 * (i) + 1)) /* the words that it begins with */

struct known_path {
	uint64_t magic[KNOWN_MAGIC_SZ];
	uint64_t text, text_end; /* the functions that keep the path; others may lie between */
	uint64_t unsure; /* not 0: just now it is not kept */
	uint64_t n;
	uint64_t ra[KNOWN_MAX]; /* where each of the functions returns to, the outermost first */
};

#endif /* SCAP_UNWIND_KNOWN_PATH_H */
