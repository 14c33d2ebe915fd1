/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pins a task: disables preemption while per-CPU data is in use. A program that was unpinned claims
 * its call again (call_claim, writer.bpf.h).
 *
 * Since Linux 7.0 programs of tracepoints are preemptible, though they do not migrate: another task
 * can run the same or another program on the same CPU in the middle of one. Per-CPU data (slot,
 * ring) is accessed only between pin and unpin, and a task's call never lies in the slot while
 * another task runs: sched_switch, which runs with interrupts off, moves it to the task's storage.
 *
 * On older kernels preemption is off anyway: live_progs.c removes these calls (kfuncs.h).
 *
 * Iterators have always been preemptible, since they run in a read. They write between pin_iter and
 * unpin_iter. Before Linux 6.15 the verifier allows no global function in between, if the kernel
 * has these functions at all. A program that preempts an iterator there is not preemptible itself,
 * so it nests on the iterator as an interrupt does, but for as long as the reader is off the CPU:
 * page faults in that time are taken for the driver's own.
 */
#ifndef DRIVER_PIN_BPF_H
#define DRIVER_PIN_BPF_H

#include "kernel.h"
#include "shared/kfuncs.h"

#ifdef NEVER_PREEMPTIBLE /* in programs that libbpf loads unchanged, for tests */
#define pin() ((void)0)
#define unpin() ((void)0)
#define pin_iter() ((void)0)
#define unpin_iter() ((void)0)
#define is_preemptible() 0
#else
static void (*const pin)(void) = (void *)KFUNC_PIN;
static void (*const unpin)(void) = (void *)KFUNC_UNPIN;
static void (*const pin_iter)(void) = (void *)KFUNC_PIN_ITER;
static void (*const unpin_iter)(void) = (void *)KFUNC_UNPIN_ITER;
static u64 (*const is_preemptible)(void) = (void *)KFUNC_IS_PREEMPTIBLE;
#endif

/* Returns what a program that is no filler returns. */
#define PINNED(body) (pin(), (void)(body), unpin(), 0)

#endif /* DRIVER_PIN_BPF_H */
