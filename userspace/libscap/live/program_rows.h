/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of programs.def: which of the driver's programs a capture can do without. */
#ifndef SCAP_LIVE_PROGRAM_ROWS_H
#define SCAP_LIVE_PROGRAM_ROWS_H

struct bpf_program;

struct program_row {
	const char *name;
	int required;
	unsigned int max_insns; /* that the verifier processes */
	const char *what; /* what is missing from a capture without it */
};

enum {
	N_PROGRAM_ROWS = 0
#define PROG(name, ...) +1
#include "programs.def"
};

extern const struct program_row program_rows[N_PROGRAM_ROWS];

/* Each program of the driver has a row. */
const struct program_row *program_row_of(const struct bpf_program *prog);

/* A program that a capture wants and does not have. */
struct program_missing {
	const struct program_row *row;
	int err; /* negative errno of its load or its attachment; -ENOENT: there is no such hook */
};

#endif /* SCAP_LIVE_PROGRAM_ROWS_H */
