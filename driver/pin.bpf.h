/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Since Linux 7.0 programs of tracepoints run preemptibly, though they do not migrate: another task
 * can run the same or another program on the same CPU in the middle of one. What is a CPU's own
 * (its slot, its ring) is touched between pin and unpin only, and no task's call lies in the slot
 * while another runs: sched_switch, which the kernel runs with interrupts off, moves it to the
 * task.
 *
 * On older kernels preemption is off in any case: live_progs.c takes these calls out (kfuncs.h).
 *
 * Iterators never had it off, as they run in a read. They write between pin_iter and unpin_iter.
 * Before Linux 6.15 the verifier allows no global function between these, if it has them at all.
 * What preempts an iterator there is not preemptible itself and so nests on it as an interrupt
 * does, but for as long as the reader is off the CPU: page faults there are taken for the driver's
 * own meanwhile.
 */
#ifndef DRIVER_PIN_BPF_H
#define DRIVER_PIN_BPF_H

#include "kernel.h"
#include "shared/kfuncs.h"

#ifdef NEVER_PREEMPTIBLE /* by programs that libbpf loads as they are, for tests */
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

/* What a program that is no filler returns. */
#define PINNED(body) (pin(), (void)(body), unpin(), 0)

#endif /* DRIVER_PIN_BPF_H */
