/* SPDX-License-Identifier: GPL-2.0 */
/* Measures the least cost of hooks: programs that read the clock, at both ends of each call and at
 * each task switch. */
#include <linux/bpf.h>

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
