/* SPDX-License-Identifier: Apache-2.0 */
/* --verify: proves that capture files are whole. */
#ifndef SAKER_VERIFY_H
#define SAKER_VERIFY_H

/* @paths ends with NULL. The exit status: 0 if every file is sound. */
int verify_files(const char *const *paths);

#endif /* SAKER_VERIFY_H */
