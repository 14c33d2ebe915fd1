/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#include "clock.h"

enum { BAR_WIDTH = 40, REDRAW_MS = 100, LINE_STEP = 10 };

void progress_init(struct progress_bar *p, int on, int lines_on_terminal)
{
	*p = (struct progress_bar){.on = on, .terminal = isatty(STDERR_FILENO), .shown = -1};
	if (p->terminal && lines_on_terminal)
		p->on = 0;
}

static void draw_bar(int percent)
{
	static const char full[] = "########################################";
	int n = percent * BAR_WIDTH / 100;

	fprintf(stderr, "\r[%.*s%*s] %3d %%", n, full, BAR_WIDTH - n, "", percent);
	fflush(stderr);
}

void progress_show(struct progress_bar *p, double share)
{
	int percent = share * 100;
	uint64_t now;

	if (!p->on || percent == p->shown)
		return;
	now = clock_coarse_ms();
	if (p->terminal && now - p->shown_ms >= REDRAW_MS)
		draw_bar(percent);
	else if (!p->terminal && percent / LINE_STEP != p->shown / LINE_STEP)
		fprintf(stderr, "%d %%\n", percent / LINE_STEP * LINE_STEP);
	else
		return;
	p->shown = percent;
	p->shown_ms = now;
}

void progress_samples(struct progress_bar *p, uint64_t seconds, uint64_t n)
{
	if (!p->terminal)
		return;
	fprintf(stderr, "\rsaker: %llu s, %llu samples", (unsigned long long)seconds,
		(unsigned long long)n);
	fflush(stderr);
	p->on = 1;
	p->shown = 0;
}

void progress_end(struct progress_bar *p)
{
	if (p->on && p->terminal && p->shown >= 0)
		fputs("\r\033[K", stderr);
	p->on = 0;
}
