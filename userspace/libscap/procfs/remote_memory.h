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

/* Switches to process @pid. */
void remote_memory_of(struct remote_memory *m, int pid);
void remote_memory_close(struct remote_memory *m);

#endif /* SCAP_PROCFS_REMOTE_MEMORY_H */
