/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pointers that the verifier does not trust. For each pointer that a program reads behind a trusted
 * one, it searches the kernel's types by name up to four times, which takes most of a millisecond;
 * not so behind an untrusted one. The cast is a move of a register.
 */
#ifndef DRIVER_UNTRUSTED_BPF_H
#define DRIVER_UNTRUSTED_BPF_H

#include "kernel.h"
#include "shared/kfuncs.h"

#ifdef NEVER_PREEMPTIBLE /* in programs that libbpf loads unchanged, for tests */
#define untrusted_task(task) (task)
#else
static void *(*const untrusted)(const void *p, u64 type) = (void *)KFUNC_UNTRUSTED;
static u64 (*const task_type)(void) = (void *)KFUNC_TASK_TYPE;

static __always_inline struct task_struct *untrusted_task(const struct task_struct *task)
{
	return untrusted(task, task_type());
}
#endif

#endif /* DRIVER_UNTRUSTED_BPF_H */
