/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the file of a program as execvp(3) does. */
#ifndef SAKER_PROGRAM_PATH_H
#define SAKER_PROGRAM_PATH_H

/* Returns 0 with *out owned by the caller, or a negative errno: -EACCES, it cannot be executed. */
int program_path_find(const char *name, char **out);

#endif /* SAKER_PROGRAM_PATH_H */
