/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what belongs to no thread: the machine, its users and groups, its interfaces. */
#ifndef SCAP_PROCFS_MACHINE_SCAN_H
#define SCAP_PROCFS_MACHINE_SCAN_H

#include "procfs/state_build.h"

/* Each returns 0 or -ENOMEM; what cannot be read is left out. */
int machine_scan_self(struct scap_state_build *b, int proc_fd, int64_t epoch_offset_ns);
int machine_scan_users(struct scap_state_build *b); /* of /etc/passwd and /etc/group */
int machine_scan_ifaces(struct scap_state_build *b); /* of saker's own network namespace */

#endif /* SCAP_PROCFS_MACHINE_SCAN_H */
