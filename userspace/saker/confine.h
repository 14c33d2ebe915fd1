/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Confines the process before it reads hostile input: Landlock limits the files that it can open,
 * seccomp refuses system calls that could affect anything else. A kernel that has one of them not
 * is no error: the other one remains. With AddressSanitizer neither is used.
 */
#ifndef SAKER_CONFINE_H
#define SAKER_CONFINE_H

#include <stddef.h>

/* Files that can still be opened. */
struct confine_files {
	const char *const *reads; /* for reading; NULL: none */
	size_t n_reads;
	const char *write; /* created, replaced or written; NULL: none */
};

/*
 * From here on the process can open these files only, create and remove files only in the folder of
 * @write, and connect to no process outside. Open descriptors continue to work. A second call can
 * only take away more. Returns 0, or a negative errno with nothing changed.
 */
int confine_files(const struct confine_files *f);

/* What the process needs that most do not. */
enum confine_needs {
	CONFINE_PATHS = 1, /* rename, link, make folders */
	CONFINE_HELPERS = 2, /* start helper processes, which change their user */
};

/* From here on the process can run no program, connect to nothing, start no process, and affect no
 * other one. Returns 0, or a negative errno with nothing changed. */
int confine_calls(unsigned int needs);

#endif /* SAKER_CONFINE_H */
