/* SPDX-License-Identifier: Apache-2.0 */
/* The user's folders of chisels and views. */
#ifndef SAKER_CHISEL_DIRS_H
#define SAKER_CHISEL_DIRS_H

enum { CHISEL_DIRS_MAX = 4 };

/* Sets @dirs, which is all NULL, to them: paths to free, then NULL. @views: those that have views,
 * too. Returns 0, or -ENOMEM with those that were set before. */
int chisel_dirs(char *dirs[CHISEL_DIRS_MAX + 1], int views);

#endif /* SAKER_CHISEL_DIRS_H */
