/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCAP_PROCFS_ONLINE_CPUS_H
#define SCAP_PROCFS_ONLINE_CPUS_H

#include <sched.h>

/* Returns the CPUs that are online; if the kernel does not list them, all possible ones. 0 or a
 * negative errno. CPUs from CPU_SETSIZE on are left out. */
int online_cpus(cpu_set_t *out);

#endif /* SCAP_PROCFS_ONLINE_CPUS_H */
