/* SPDX-License-Identifier: Apache-2.0 */
/* -P: how far the files are read, on standard error: a bar on a terminal, else lines. */
#ifndef SAKER_PROGRESS_H
#define SAKER_PROGRESS_H

#include <stdint.h>

struct progress_bar {
	int on;
	int terminal;
	int shown; /* percent that stands there; -1: none */
	uint64_t shown_ms;
};

/* @lines: lines are printed to a terminal, where a bar would only be in their way. */
void progress_init(struct progress_bar *p, int on, int lines_on_terminal);
void progress_show(struct progress_bar *p, double share);
/* Live: the same for samples, which have no end that is known. Once a second or so. */
void progress_samples(struct progress_bar *p, uint64_t seconds, uint64_t n);
void progress_end(struct progress_bar *p);

#endif /* SAKER_PROGRESS_H */
