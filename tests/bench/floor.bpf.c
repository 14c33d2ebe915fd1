/* SPDX-License-Identifier: GPL-2.0 */
/* Measures the least cost of hooks: programs that read the clock, at both ends of each call and at
 * each task switch; and of a copy of the caller's memory beside it. */
#include <linux/bpf.h>

#include <asm/unistd.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

SEC("tp_btf/sys_enter")
int floor_enter(void *ctx)
{
	(void)ctx;
	return bpf_ktime_get_boot_ns() == 1;
}

SEC("tp_btf/sys_exit")
int floor_exit(void *ctx)
{
	(void)ctx;
	return bpf_ktime_get_boot_ns() == 1;
}

struct pt_regs {
	unsigned long si, orig_ax;
} __attribute__((preserve_access_index));

/* Copies go to the stack, for which the kernel's check of a copy is the shortest. Failed ones are
 * counted. */
#define COPIED_SZ 80

unsigned long n_failed;

SEC("?tp_btf/sys_enter")
int copy_enter(unsigned long long *ctx)
{
	struct pt_regs *regs = (void *)ctx[0];
	char copied[COPIED_SZ];

	if (ctx[1] == __NR_openat)
		n_failed += bpf_probe_read_user_str(copied, sizeof(copied), (void *)regs->si) < 0;
	return bpf_ktime_get_boot_ns() == 1;
}

SEC("?tp_btf/sys_exit")
int copy_exit(unsigned long long *ctx)
{
	struct pt_regs *regs = (void *)ctx[0];
	long n = (long)ctx[1];
	char copied[COPIED_SZ];

	if ((regs->orig_ax == __NR_pread64 || regs->orig_ax == __NR_write) && n > 0)
		n_failed += bpf_probe_read_user(copied, n < COPIED_SZ ? n : COPIED_SZ,
						(void *)regs->si) < 0;
	return bpf_ktime_get_boot_ns() == 1;
}

SEC("?tp_btf/sys_enter")
int empty_enter(void *ctx)
{
	(void)ctx;
	return 0;
}

SEC("?tp_btf/sys_exit")
int empty_exit(void *ctx)
{
	(void)ctx;
	return 0;
}

SEC("?tp_btf/sched_switch")
int floor_switch(void *ctx)
{
	(void)ctx;
	return bpf_ktime_get_boot_ns() == 1;
}
