/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that gets its name only when it is complete: until then it lies beside that name under a
 * temporary one. A helper process does the renaming: it survives whatever ends saker, and keeps the
 * one capability that folders of other users need, which saker drops.
 */
#ifndef SAKER_NEW_FILE_H
#define SAKER_NEW_FILE_H

#include <sys/types.h>

struct new_file {
	pid_t keeper; /* 0: none */
	int to_keeper;
};

/* Returns a descriptor owned by the caller, or a negative errno. */
int new_file_open(struct new_file *nf, const char *path, mode_t mode);
/*
 * Renames it. Returns 0, or a negative errno with the file removed. Does nothing if it is not open.
 */
int new_file_keep(struct new_file *nf);
/* Removes it, unless it was renamed. */
void new_file_drop(struct new_file *nf);

#endif /* SAKER_NEW_FILE_H */
