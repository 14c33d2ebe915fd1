/* SPDX-License-Identifier: Apache-2.0 */
/* Work that may never end, as that of a process which keeps a page from coming back: a thread does
 * it, and is left behind. */
#ifndef SCAP_THREAD_WITHIN_H
#define SCAP_THREAD_WITHIN_H

#include <stdint.h>

/*
 * Calls run(arg) in a thread with all signals blocked, and waits for it for @ns at most. Returns 1
 * if it has ended. 0: it has not; the thread calls left(arg) once it does. A negative errno: it was
 * not begun. The caller owns @arg unless 0 is returned, else left() does.
 */
int thread_run_within(void (*run)(void *arg), void (*left)(void *arg), void *arg, uint64_t ns);

#endif /* SCAP_THREAD_WITHIN_H */
