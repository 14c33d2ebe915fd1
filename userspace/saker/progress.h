/* SPDX-License-Identifier: Apache-2.0 */
/* -P: how much of the files was read, on standard error: a bar on a terminal, else lines. */
#ifndef SAKER_PROGRESS_H
#define SAKER_PROGRESS_H

#include <stdint.h>

struct progress_bar {
	int on;
	int terminal;
	int shown; /* percentage on display; -1: none */
	uint64_t shown_ms;
};

/* @lines: lines are printed to a terminal, where a bar would disturb them. */
void progress_init(struct progress_bar *p, int on, int lines_on_terminal);
void progress_show(struct progress_bar *p, double share);
/* Live: the number of samples, whose total is unknown. About once a second. */
void progress_samples(struct progress_bar *p, uint64_t seconds, uint64_t n);
void progress_end(struct progress_bar *p);

#endif /* SAKER_PROGRESS_H */
