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
	int reads_all; /* any file can be opened for reading */
};

/*
 * From here on the process can open these files only, create and remove files only in the folder of
 * @write, and access no process outside; since Linux 6.12 also not signal it. Open descriptors
 * continue to work. A second call can only take away more. Returns 0, or a negative errno with
 * nothing changed.
 */
int confine_files(const struct confine_files *f);

/* What the process needs that most do not. */
enum confine_needs {
	CONFINE_PATHS = 1, /* rename, link, make folders */
	CONFINE_HELPERS = 2, /* start helper processes, which change their user */
	CONFINE_TERMINAL = 4, /* set the modes of the terminal */
};

/* From here on the process can run no program, connect to nothing, start no process, and affect no
 * other one. Returns 0, or a negative errno with nothing changed. */
int confine_calls(unsigned int needs);

/* Reports with -v that @what does not confine, unless @err is 0. */
void confine_report(const char *what, int err);

/* Confines a process that reads these files and writes none, by both and by dropping capabilities:
 * @paths ends with NULL. With CONFINE_HELPERS it can read any other file, too. */
void confine_reader(const char *const *paths, unsigned int needs);

#endif /* SAKER_CONFINE_H */
