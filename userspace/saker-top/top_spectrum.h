/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heat map of durations over time: lines of equal length, each with counts by a logarithmic scale
 * of durations. No screen. Live the length is given, and the oldest lines go; of a file it grows,
 * so that all lines fit.
 */
#ifndef SAKER_TOP_SPECTRUM_H
#define SAKER_TOP_SPECTRUM_H

#include "sinsp.h"

enum {
	TOP_SPECTRUM_DECADES = 8, /* 100 ns to 10 s */
	TOP_SPECTRUM_FINE = 48, /* slots of a decade; what cells divide */
	TOP_SPECTRUM_SLOTS =
		TOP_SPECTRUM_DECADES * TOP_SPECTRUM_FINE + 1, /* the last one: longer */
	TOP_SPECTRUM_LINES = 1000,
	TOP_SPECTRUM_FILE_LINES = 200,
};

struct top_spectrum {
	uint64_t begin_ns; /* of line 0 */
	uint64_t length_ns; /* of a line */
	unsigned int step; /* index in top_lengths_ns of a length that grows */
	uint8_t grows;
	uint64_t from, to; /* numbers of the lines that are kept: to is one behind the last */
	uint64_t n; /* values counted */
	uint32_t (*counts)[TOP_SPECTRUM_SLOTS]; /* owned; of line i at i % TOP_SPECTRUM_LINES */
};

/* @length_ns 0: it grows. Returns 0 or -ENOMEM. */
int top_spectrum_init(struct top_spectrum *sp, uint64_t length_ns);
void top_spectrum_fini(struct top_spectrum *sp);
void top_spectrum_clear(struct top_spectrum *sp);

/* The time is @ns now: lines up to it exist. Time never goes back: an earlier event counts in the
 * line of its time as long as that is kept. */
void top_spectrum_tick(struct top_spectrum *sp, uint64_t ns);
/* Counts a duration at time @ns. Returns the number of its line; *slot is that of the duration. */
uint64_t top_spectrum_add(struct top_spectrum *sp, uint64_t ns, uint64_t duration_ns,
			  unsigned int *slot);

/* ---- cells ---- */

/* Returns how many cells of a decade fit in @width columns, behind the time of the line and beside
 * one cell for longer durations; 0: not one. */
unsigned int top_spectrum_cells(const struct top_spectrum *sp, int width);
/* Returns the count of a cell of @per decade, from 0, of a line. */
uint64_t top_spectrum_count(const struct top_spectrum *sp, uint64_t line, unsigned int per,
			    unsigned int cell);
/* Sets the durations of the cells from @first to @last: from *from up to, not including, *to; 0 and
 * UINT64_MAX where the scale is open. */
void top_spectrum_bounds(unsigned int per, unsigned int first, unsigned int last, uint64_t *from,
			 uint64_t *to);
/* Returns whether the cells from @first to @last have the duration of the slot. */
int top_spectrum_has(unsigned int per, unsigned int first, unsigned int last, unsigned int slot);

static inline unsigned int top_spectrum_n_cells(unsigned int per)
{
	return TOP_SPECTRUM_DECADES * per + 1;
}

/* Returns the begin of a line. */
static inline uint64_t top_spectrum_ns(const struct top_spectrum *sp, uint64_t line)
{
	return sp->begin_ns + line * sp->length_ns;
}

/* ---- text ---- */

enum { TOP_SPECTRUM_LEVELS = 9 };

/* Returns the level of a count, from 1; 0: none. */
unsigned int top_spectrum_level(uint64_t count);
/* Return the character of a level, and from which count on it is, as text. */
char top_spectrum_sign(unsigned int level);
const char *top_spectrum_level_name(unsigned int level);
/* Appends the time of day at which a line begins, as precise as lines are long. Returns 0 or
 * -ENOMEM. */
int top_spectrum_time(struct sinsp_text *out, const struct top_spectrum *sp, uint64_t line);
/* Returns the columns before the cells: that text and a blank. */
int top_spectrum_margin(const struct top_spectrum *sp);
/* Appends the cells of a line as characters. Returns 0 or -ENOMEM. */
int top_spectrum_line(struct sinsp_text *out, const struct top_spectrum *sp, uint64_t line,
		      unsigned int per);
/* Appends the scale below the cells, and what the characters count. Return 0 or -ENOMEM. */
int top_spectrum_scale(struct sinsp_text *out, const struct top_spectrum *sp, unsigned int per);
int top_spectrum_legend(struct sinsp_text *out);
/* Appends a bound of a duration with its unit: 1ms. Returns 0 or -ENOMEM. */
int top_spectrum_duration(struct sinsp_text *out, uint64_t ns);

#endif /* SAKER_TOP_SPECTRUM_H */
