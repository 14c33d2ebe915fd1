/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of programs.def and account_programs.def: which programs are required. */
#ifndef SCAP_LIVE_PROGRAM_ROWS_H
#define SCAP_LIVE_PROGRAM_ROWS_H

struct bpf_program;

struct program_row {
	const char *name;
	int required;
	unsigned int max_insns; /* instructions that the verifier processes; 0: not limited */
	const char *what; /* what a capture lacks without it */
};

enum {
	N_PROGRAM_ROWS = 0
#define PROG(name, ...) +1
#include "programs.def"
};

extern const struct program_row program_rows[N_PROGRAM_ROWS];

/* Returns the row of a program; each has one. */
const struct program_row *program_row_of(const struct bpf_program *prog);

/* A program that a capture needs and does not have. */
struct program_missing {
	const struct program_row *row;
	int err; /* negative errno of loading or attaching it; -ENOENT: the kernel lacks the hook */
};

#endif /* SCAP_LIVE_PROGRAM_ROWS_H */
