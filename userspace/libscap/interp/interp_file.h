/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects the interpreter in an ELF file: its language and version, the code of its loop, and where
 * the driver's walker finds the frames (shared/interp.h).
 */
#ifndef SCAP_INTERP_INTERP_FILE_H
#define SCAP_INTERP_INTERP_FILE_H

#include "objfile/elf_file.h"
#include "shared/interp.h"

#define INTERP_RANGES_MAX 2 /* the function of the loop, and its rarely executed part */

struct interp_file {
	struct {
		uint32_t from, to; /* offsets in the file */
	} loop[INTERP_RANGES_MAX]; /* by offset */
	size_t n_loop; /* 0: the runtime compiles all its code */
	uint64_t delta; /* addresses of the file minus offsets, in the segment of the code */
	struct interp_process process; /* with addresses of the file */
	char version[48]; /* language and version, also of one that is not supported */
};

/* Returns 1 with *out; 0: the file, known as @path, is no interpreter; -ENOTSUP: its version, or
 * the way it was built, is not supported. */
int interp_file_detect(struct interp_file *out, const struct elf_file *f, const char *path);

#endif /* SCAP_INTERP_INTERP_FILE_H */
