/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that has its name only when it is kept: until then it is beside that, under another one. A
 * process of its own sees to that, which outlives whatever ends this one, and which may still
 * rename when privileges are dropped here.
 */
#ifndef SAKER_NEW_FILE_H
#define SAKER_NEW_FILE_H

#include <sys/types.h>

struct new_file {
	pid_t keeper; /* 0: none */
	int to_keeper;
};

/* A descriptor that the caller owns, or a negative errno. */
int new_file_open(struct new_file *nf, const char *path, mode_t mode);
/* Gives it its name. 0, or a negative errno, with no file left. Of what is not open: 0. */
int new_file_keep(struct new_file *nf);
/* Removes it, unless it was kept. */
void new_file_drop(struct new_file *nf);

#endif /* SAKER_NEW_FILE_H */
