/* SPDX-License-Identifier: Apache-2.0 */
#include "top_spectrum.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "top_cell.h"
#include "top_times.h"

#define SECOND ((uint64_t)1000000000)

enum {
	FIRST_POWER = 2, /* 10^2 ns */
	SCALE_ROOM = 3, /* columns of the last name of the scale behind the cells */
};

static uint32_t *line_of(const struct top_spectrum *sp, uint64_t line)
{
	return sp->counts[line % TOP_SPECTRUM_LINES];
}

int top_spectrum_init(struct top_spectrum *sp, uint64_t length_ns)
{
	*sp = (struct top_spectrum){.length_ns = length_ns ?: top_lengths_ns[0],
				    .grows = !length_ns};
	sp->counts = calloc(TOP_SPECTRUM_LINES, sizeof(*sp->counts));
	return sp->counts ? 0 : -ENOMEM;
}

void top_spectrum_fini(struct top_spectrum *sp)
{
	free(sp->counts);
	sp->counts = NULL;
}

void top_spectrum_clear(struct top_spectrum *sp)
{
	sp->begin_ns = sp->from = sp->to = sp->n = 0;
}

/* ---- lines ---- */

static void lengthen(struct top_spectrum *sp)
{
	const struct top_spectrum was = *sp;
	const uint64_t length = top_lengths_ns[++sp->step];

	sp->length_ns = length;
	sp->begin_ns = was.begin_ns - was.begin_ns % length;
	sp->to = 0;
	for (uint64_t i = 0; i < was.to; i++) {
		const uint64_t at = (top_spectrum_ns(&was, i) - sp->begin_ns) / length;
		const uint32_t *const old = line_of(sp, i);
		uint32_t *const line = line_of(sp, at);

		if (at != i && at == sp->to)
			memset(line, 0, sizeof(*sp->counts));
		for (unsigned int k = 0; at != i && k < TOP_SPECTRUM_SLOTS; k++)
			line[k] += old[k];
		sp->to = at + 1;
	}
}

static uint64_t number_of(const struct top_spectrum *sp, uint64_t ns)
{
	return ns > sp->begin_ns ? (ns - sp->begin_ns) / sp->length_ns : 0;
}

void top_spectrum_tick(struct top_spectrum *sp, uint64_t ns)
{
	uint64_t line;

	if (!sp->to)
		sp->begin_ns = ns - ns % sp->length_ns;
	while (sp->grows && sp->step + 1 < TOP_LENGTHS &&
	       number_of(sp, ns) >= TOP_SPECTRUM_FILE_LINES)
		lengthen(sp);
	line = number_of(sp, ns);
	if (line >= sp->to + TOP_SPECTRUM_LINES)
		sp->to = line + 1 - TOP_SPECTRUM_LINES;
	for (; sp->to <= line; sp->to++)
		memset(line_of(sp, sp->to), 0, sizeof(*sp->counts));
	if (sp->to > TOP_SPECTRUM_LINES && sp->from < sp->to - TOP_SPECTRUM_LINES)
		sp->from = sp->to - TOP_SPECTRUM_LINES;
}

static unsigned int slot_of(uint64_t ns)
{
	const double at = ns ? (log10((double)ns) - FIRST_POWER) * TOP_SPECTRUM_FINE : 0;

	if (at >= TOP_SPECTRUM_SLOTS - 1)
		return TOP_SPECTRUM_SLOTS - 1;
	return at > 0 ? (unsigned int)(at + 1e-12) : 0;
}

uint64_t top_spectrum_add(struct top_spectrum *sp, uint64_t ns, uint64_t duration_ns,
			  unsigned int *slot)
{
	uint64_t line;

	top_spectrum_tick(sp, ns);
	line = number_of(sp, ns);
	line = line < sp->from ? sp->from : line;
	*slot = slot_of(duration_ns);
	line_of(sp, line)[*slot]++;
	sp->n++;
	return line;
}

/* ---- cells ---- */

unsigned int top_spectrum_cells(const struct top_spectrum *sp, int width)
{
	const int room = width - top_spectrum_margin(sp) - SCALE_ROOM;

	for (unsigned int per = TOP_SPECTRUM_FINE; per; per--)
		if (TOP_SPECTRUM_FINE % per == 0 && (int)top_spectrum_n_cells(per) <= room)
			return per;
	return 0;
}

/* The slots of cells: from *from up to, not including, *to. */
static void slots_of(unsigned int per, unsigned int first, unsigned int last, unsigned int *from,
		     unsigned int *to)
{
	const unsigned int n = TOP_SPECTRUM_FINE / per;

	*from = first * n;
	*to = (last + 1) * n;
	if (*to > TOP_SPECTRUM_SLOTS)
		*to = TOP_SPECTRUM_SLOTS;
}

uint64_t top_spectrum_count(const struct top_spectrum *sp, uint64_t line, unsigned int per,
			    unsigned int cell)
{
	unsigned int from, to;
	uint64_t sum = 0;

	if (line < sp->from || line >= sp->to)
		return 0;
	slots_of(per, cell, cell, &from, &to);
	for (; from < to; from++)
		sum += line_of(sp, line)[from];
	return sum;
}

static uint64_t bound(unsigned int per, unsigned int cell)
{
	return (uint64_t)ceil(pow(10, FIRST_POWER + (double)cell / per) - 1e-6);
}

void top_spectrum_bounds(unsigned int per, unsigned int first, unsigned int last, uint64_t *from,
			 uint64_t *to)
{
	*from = first ? bound(per, first) : 0;
	*to = last + 1 < top_spectrum_n_cells(per) ? bound(per, last + 1) : UINT64_MAX;
}

int top_spectrum_has(unsigned int per, unsigned int first, unsigned int last, unsigned int slot)
{
	unsigned int from, to;

	slots_of(per, first, last, &from, &to);
	return slot >= from && slot < to;
}

/* ---- text ---- */

/* Counts from which on a cell has this character. */
static const struct {
	uint32_t count;
	char sign;
	const char *name;
} levels[TOP_SPECTRUM_LEVELS] = {
	{1, '.', "1"},     {3, ':', "3"},     {10, '-', "10"},
	{30, '=', "30"},   {100, '+', "100"}, {300, '*', "300"},
	{1000, '#', "1k"}, {3000, '%', "3k"}, {10000, '@', "10k"},
};

unsigned int top_spectrum_level(uint64_t count)
{
	unsigned int level = 0;

	while (level < TOP_SPECTRUM_LEVELS && count >= levels[level].count)
		level++;
	return level;
}

char top_spectrum_sign(unsigned int level)
{
	return level ? levels[level - 1].sign : ' ';
}

const char *top_spectrum_level_name(unsigned int level)
{
	return level ? levels[level - 1].name : "0";
}

int top_spectrum_legend(struct sinsp_text *out)
{
	int err = top_put(out, "number in a cell:");

	for (unsigned int i = 0; i < TOP_SPECTRUM_LEVELS && !err; i++)
		err = top_put(out, " %c %s", levels[i].sign, levels[i].name);
	return err;
}

/* Digits behind the second that distinguish lines. */
static unsigned int digits_of(const struct top_spectrum *sp)
{
	unsigned int n = 0;

	for (uint64_t unit = SECOND; n < 3 && sp->length_ns % unit; unit /= 10)
		n++;
	return n;
}

int top_spectrum_margin(const struct top_spectrum *sp)
{
	const unsigned int n = digits_of(sp);

	return (int)(sizeof("00:00:00 ") - 1 + (n ? n + 1 : 0));
}

int top_spectrum_time(struct sinsp_text *out, const struct top_spectrum *sp, uint64_t line)
{
	return top_put_time(out, top_spectrum_ns(sp, line), digits_of(sp));
}

int top_spectrum_line(struct sinsp_text *out, const struct top_spectrum *sp, uint64_t line,
		      unsigned int per)
{
	int err = 0;

	for (unsigned int i = 0; i < top_spectrum_n_cells(per) && !err; i++)
		err = top_put(out, "%c",
			      top_spectrum_sign(
				      top_spectrum_level(top_spectrum_count(sp, line, per, i))));
	return err;
}

int top_spectrum_duration(struct sinsp_text *out, uint64_t ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	double value = (double)ns;
	int i = 0;

	for (; value >= 999.5 && i < 3; i++)
		value /= 1000;
	return top_put(out, "%.3g%s", value, units[i]);
}

/* Where the names of decades do not fit, each has only its mark, but for every third. */
int top_spectrum_scale(struct sinsp_text *out, const struct top_spectrum *sp, unsigned int per)
{
	static const char *const names[] = {"100ns", "1us",   "10us", "100us", "1ms",
					    "10ms",  "100ms", "1s",   "10s"};
	int err = top_put(out, "%*s", top_spectrum_margin(sp), "");

	for (unsigned int i = 0; i <= TOP_SPECTRUM_DECADES && !err; i++) {
		const int is_named = per >= 7 || i % 3 == 1;

		err = top_put(out, "|%-*s", i < TOP_SPECTRUM_DECADES ? (int)per - 1 : 0,
			      is_named && 3 * per > 6 ? names[i] : "");
	}
	return err;
}
