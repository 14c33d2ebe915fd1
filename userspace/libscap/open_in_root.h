/* SPDX-License-Identifier: Apache-2.0 */
/* Files as a process sees them, whose folders others may have made. */
#ifndef SCAP_OPEN_IN_ROOT_H
#define SCAP_OPEN_IN_ROOT_H

/*
 * Opens the regular file @path for reading as one whose root is @root ("/proc/PID/root"; NULL:
 * ours) would: no link leads out of there. A descriptor, or a negative errno.
 */
int open_in_root(const char *root, const char *path);

#endif /* SCAP_OPEN_IN_ROOT_H */
