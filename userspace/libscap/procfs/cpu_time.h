/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the CPU time of a thread from /proc, in steps of a tick (1/100 s), its memory and
 * page faults. */
#ifndef SCAP_PROCFS_CPU_TIME_H
#define SCAP_PROCFS_CPU_TIME_H

#include <stdint.h>

struct scap_cpu_time {
	uint64_t start_ns; /* of the thread, CLOCK_BOOTTIME: with its TID its identity */
	uint64_t user_ns, system_ns; /* since its start */
	uint32_t vmsize_kb, vmrss_kb; /* of its process */
	uint64_t pfminor, pfmajor; /* page faults since its start */
};

/* Reads the time of thread @tid of process @pid; @proc_fd is /proc. Returns 0, or -errno with *out
 * untouched: -ENOENT or -ESRCH if the thread is gone. */
int scap_cpu_time_read(struct scap_cpu_time *out, int proc_fd, int64_t pid, int64_t tid);

#endif /* SCAP_PROCFS_CPU_TIME_H */
