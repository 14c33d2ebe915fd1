/* SPDX-License-Identifier: Apache-2.0 */
/* Files as a process sees them, whose folders others may have made. */
#ifndef SINSP_SYMBOLS_OPEN_IN_ROOT_H
#define SINSP_SYMBOLS_OPEN_IN_ROOT_H

/*
 * Opens the regular file @path for reading as one whose root is @root ("/proc/PID/root"; NULL:
 * ours) would: no link leads out of there. A descriptor, or a negative errno.
 */
int sinsp_open_in_root(const char *root, const char *path);

#endif /* SINSP_SYMBOLS_OPEN_IN_ROOT_H */
