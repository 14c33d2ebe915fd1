/* SPDX-License-Identifier: Apache-2.0 */
/* --verify: checks that capture files are complete and undamaged. */
#ifndef SAKER_VERIFY_H
#define SAKER_VERIFY_H

/* @paths ends with NULL. Returns the exit status: 0 if every file is sound. */
int verify_files(const char *const *paths);

#endif /* SAKER_VERIFY_H */
