/* SPDX-License-Identifier: Apache-2.0 */
#include "sampling/sideband_thread.h"

#include "capabilities.h"

void sideband_thread_limit_capabilities(uint64_t more)
{
	capabilities_keep(more | 1ull << CAP_BPF | 1ull << CAP_PERFMON | 1ull << CAP_SYS_PTRACE |
			  1ull << CAP_DAC_READ_SEARCH | 1ull << CAP_CHECKPOINT_RESTORE);
}
