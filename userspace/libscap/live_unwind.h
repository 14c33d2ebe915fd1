/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind tables of a live capture: a thread that hears of each exec and mapping of code, and writes
 * the tables where the driver walks stacks by them. At the start it reads what runs already, those
 * first that used most of the CPU. It never makes the reader of events wait.
 */
#ifndef SCAP_LIVE_UNWIND_H
#define SCAP_LIVE_UNWIND_H

#include "scap.h"

struct live_unwind;

/* @chunks and @procs are the driver's maps; @max_sz bounds the tables, 0: 64 MiB. */
int live_unwind_open(struct live_unwind **out, int chunks, int procs, size_t max_sz,
		     const struct scap_log *log);
void live_unwind_close(struct live_unwind *u);

/* Waits until all that ran at the start has its tables. 0, or -ETIMEDOUT. */
int live_unwind_wait(struct live_unwind *u, int timeout_ms);

void live_unwind_stats(struct live_unwind *u, struct scap_unwind_stats *st);

#endif /* SCAP_LIVE_UNWIND_H */
