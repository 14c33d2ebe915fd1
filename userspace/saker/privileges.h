/* SPDX-License-Identifier: Apache-2.0 */
/* Root only where it is needed. */
#ifndef SAKER_PRIVILEGES_H
#define SAKER_PRIVILEGES_H

/* Whether the kernel would let us load the driver: CAP_SYS_ADMIN (root), or CAP_BPF with
 * CAP_PERFMON. */
int privileges_can_capture(void);

/*
 * Once everything is open: keeps only what reading the rings, looking at /proc and passing
 * signals to a command need, and, if stacks are to be named, what reading names needs. What
 * cannot be dropped stays; that is no reason to fail.
 */
void privileges_drop(int names_stacks);

/* In the thread that asks about containers: keeps only what reaching a user's socket needs. */
void privileges_drop_to_ask(void);

#endif /* SAKER_PRIVILEGES_H */
