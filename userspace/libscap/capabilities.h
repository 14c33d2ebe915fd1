/* SPDX-License-Identifier: Apache-2.0 */
/* Capabilities of the calling thread, as sets of bits: 1ull << CAP_*. */
#ifndef SCAP_CAPABILITIES_H
#define SCAP_CAPABILITIES_H

#include <linux/capability.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Drops all but @kept, and gains none. A capability that cannot be dropped is kept silently. */
static inline void capabilities_keep(uint64_t kept)
{
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &h, sets))
		return;
	for (unsigned int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		sets[i].effective &= (uint32_t)(kept >> 32 * i);
		sets[i].permitted &= (uint32_t)(kept >> 32 * i);
		sets[i].inheritable = 0;
	}
	syscall(SYS_capset, &h, sets);
}

/* Returns whether the kernel lets the thread load the driver: CAP_SYS_ADMIN (root), or CAP_BPF with
 * CAP_PERFMON. */
static inline int capabilities_allow_bpf(void)
{
	const uint64_t both = 1ull << CAP_BPF | 1ull << CAP_PERFMON;
	struct __user_cap_header_struct h = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
	uint64_t has;

	if (syscall(SYS_capget, &h, sets))
		return geteuid() == 0;
	has = sets[0].effective | (uint64_t)sets[1].effective << 32;
	return has >> CAP_SYS_ADMIN & 1 || (has & both) == both;
}

#endif /* SCAP_CAPABILITIES_H */
