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
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#ifdef NEVER_PREEMPTIBLE /* in programs that libbpf loads unchanged, for tests */
#define untrusted_task(task) (task)
#define untrusted(p, type) ((void *)(p))
#define can_cast() 0
#else
static void *(*const untrusted)(const void *p, u64 type) = (void *)KFUNC_UNTRUSTED;
static u64 (*const can_cast)(void) = (void *)KFUNC_CAN_CAST;
static u64 (*const task_type)(void) = (void *)KFUNC_TASK_TYPE;
static u64 (*const word_type)(void) = (void *)KFUNC_WORD_TYPE;

static __always_inline struct task_struct *untrusted_task(const struct task_struct *task)
{
	return untrusted(task, task_type());
}
#endif

/* Returns the 8 bytes of the kernel at @p; 0: they cannot be read. A load where the kernel can
 * cast, which is a constant when the program is loaded, else a helper, which takes longer. */
static __always_inline u64 peek_word(const void *p)
{
	u64 word = 0;

	if (can_cast())
		return *(const volatile u64 *)untrusted(p, word_type());
	bpf_probe_read_kernel(&word, sizeof(word), p);
	return word;
}

/* Returns a field of at most 8 bytes, as BPF_CORE_READ does. */
#define PEEK(p, field)                                                                             \
	((typeof((p)->field))peek_word((const void *)(p) + bpf_core_field_offset((p)->field)))

#endif /* DRIVER_UNTRUSTED_BPF_H */
