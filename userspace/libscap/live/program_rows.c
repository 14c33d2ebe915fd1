/* SPDX-License-Identifier: Apache-2.0 */
#include "live/program_rows.h"

#include <string.h>

#include <bpf/libbpf.h>

#include "shared/config.h"
#include "shared/ia32.h"
#include "shared/sampler.h"

#include "driver.skel.h"

enum need { OPTIONAL, REQUIRED };

const struct program_row program_rows[N_PROGRAM_ROWS] = {
#define PROG(name, need, max_insns, what) {#name, (need) == REQUIRED, max_insns, what},
#include "programs.def"
};

/* Those of accounting are in an object of their own. */
static const struct program_row account_rows[] = {
#define PROG(name, need, part, what) {#name, (need) == REQUIRED, 0, what},
#include "account_programs.def"
};

/* Each row belongs to a program, and every program has one. */
enum {
	N_PROGRAMS_WITH_ROW = 0
#define PROG(name, ...) +(sizeof(((struct driver *)0)->progs.name) == sizeof(void *))
#include "programs.def"
};
_Static_assert(sizeof(((struct driver *)0)->progs) / sizeof(void *) == N_PROGRAMS_WITH_ROW,
	       "programs.def lacks a program of the driver");

const struct program_row *program_row_of(const struct bpf_program *prog)
{
	const char *name = bpf_program__name(prog);

	for (unsigned int i = 0; i < N_PROGRAM_ROWS; i++)
		if (!strcmp(program_rows[i].name, name))
			return &program_rows[i];
	for (unsigned int i = 0; i < sizeof(account_rows) / sizeof(account_rows[0]); i++)
		if (!strcmp(account_rows[i].name, name))
			return &account_rows[i];
	return NULL;
}
