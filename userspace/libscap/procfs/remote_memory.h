/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the memory of another process, as far as it is in RAM. */
#ifndef SCAP_PROCFS_REMOTE_MEMORY_H
#define SCAP_PROCFS_REMOTE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct remote_memory {
	int pid;
	int pagemap; /* a descriptor; -1: not opened, or not available */
};

/* Copies up to @len bytes at @addr into @buf, up to the first page that is not in RAM. Returns
 * their number. */
size_t remote_memory_read(struct remote_memory *m, void *buf, uint64_t addr, size_t len);

/*
 * Works as remote_memory_read of @pid, for callers that must go on: the process can take a page
 * away after it was seen in RAM, and never give it back. The read is made by a thread of its own,
 * which is left behind after a while: it ends with the wait, or with this process. Returns 0 also
 * then, and from then on where too many threads were left behind.
 */
size_t remote_memory_read_within(int pid, void *buf, uint64_t addr, size_t len);

/* Switches to process @pid. */
void remote_memory_of(struct remote_memory *m, int pid);
void remote_memory_close(struct remote_memory *m);

#endif /* SCAP_PROCFS_REMOTE_MEMORY_H */
