/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* An open file of a process, as the iterator file_rows writes it. */
#ifndef DRIVER_SHARED_FILE_ROW_H
#define DRIVER_SHARED_FILE_ROW_H

#include "shared/types.h"

struct file_row {
	u64 ino;
	u64 dentry, mnt; /* addresses: files that have the same ones have the same path */
	u64 ops; /* address of its operations: one for each kind of anonymous inode */
	u32 fd;
	u32 flags; /* of open(2), and O_CLOEXEC of the descriptor, as in fdinfo */
	u32 dev; /* of its superblock, encoded as in stat(2) */
	u32 tid; /* of the thread: before Linux 6.1 the iterator visits all of them */
};

#endif /* DRIVER_SHARED_FILE_ROW_H */
