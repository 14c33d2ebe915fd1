/* SPDX-License-Identifier: Apache-2.0 */
#include "sampling/sideband_thread.h"

#include <linux/capability.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int sideband_thread_start(pthread_t *thread, void *(*run)(void *arg), void *arg)
{
	sigset_t all, was;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	err = pthread_create(thread, NULL, run, arg);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	return -err;
}

void sideband_thread_limit_capabilities(uint64_t more)
{
	const uint64_t kept = more | 1ull << CAP_BPF | 1ull << CAP_PERFMON |
			      1ull << CAP_SYS_PTRACE | 1ull << CAP_DAC_READ_SEARCH |
			      1ull << CAP_CHECKPOINT_RESTORE;
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
