/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs run inside RCU read-side sections, so the end of a grace period is enough. membarrier
 * waits for one, but the kernel refuses it (EINVAL) if CPUs run without ticks (nohz_full). Updating
 * a map of maps works there: before it returns, the kernel waits for programs that can still use
 * the old entry (maybe_wait_bpf_programs).
 */
#include "live/bpf_wait.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

static int small_array(void)
{
	return bpf_map_create(BPF_MAP_TYPE_ARRAY, "saker_wait_in", sizeof(__u32), sizeof(__u32), 1,
			      NULL);
}

static int update(int outer, int inner)
{
	const __u32 key = 0, value = (__u32)inner;

	return bpf_map_update_elem(outer, &key, &value, BPF_ANY) ? -errno : 0;
}

static int wait_by_map(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);
	int inner = small_array(), outer, err;

	if (inner < 0)
		return -errno;
	opts.inner_map_fd = (__u32)inner;
	outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "saker_wait", sizeof(__u32),
			       sizeof(__u32), 1, &opts);
	err = outer < 0 ? -errno : update(outer, inner);
	if (outer >= 0)
		close(outer);
	close(inner);
	return err;
}

int bpf_wait(void)
{
	return syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) ? wait_by_map() : 0;
}
