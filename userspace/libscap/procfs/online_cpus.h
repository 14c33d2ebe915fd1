/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCAP_PROCFS_ONLINE_CPUS_H
#define SCAP_PROCFS_ONLINE_CPUS_H

#include <sched.h>

/* The CPUs that are online now; where the kernel does not list them, all that are possible. 0 or a
 * negative errno. Those from CPU_SETSIZE on are left out. */
int online_cpus(cpu_set_t *out);

#endif /* SCAP_PROCFS_ONLINE_CPUS_H */
