/* SPDX-License-Identifier: Apache-2.0 */
/* The sockets of the machine by inode number, read one network namespace at a time. Inode numbers
 * of sockets are unique on the machine, so one table holds all. */
#ifndef SCAP_PROCFS_SOCK_SCAN_H
#define SCAP_PROCFS_SOCK_SCAN_H

#include "state.h"

struct sock_table;

struct sock_table *sock_table_new(void); /* NULL: no memory */
void sock_table_free(struct sock_table *t);

/* Adds the sockets in the network namespace of the process whose /proc directory is @pid_fd, unless
 * that was read before. Returns 0 or -ENOMEM; what cannot be read is left out. */
int sock_table_read(struct sock_table *t, int pid_fd);

/*
 * Fills in the socket @fd->ino: type, protocol, addresses, name (borrowed from the table). Returns
 * 1, or 0 if no namespace read so far has it. unix_src and unix_dst are the inode numbers of the
 * two ends. The connecting end of a unix socket has no name, by which readers of a capture
 * distinguish it from the accepting end.
 */
int sock_table_find(const struct sock_table *t, struct scap_fd_info *fd);

#endif /* SCAP_PROCFS_SOCK_SCAN_H */
