/* SPDX-License-Identifier: Apache-2.0 */
#include "top_times.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "top_cell.h"

#define MS ((uint64_t)1000000)
#define SECOND ((uint64_t)1000000000)

enum { COUNT_WIDTH = 10, MS_DIGITS = 3 };

const uint64_t top_lengths_ns[TOP_LENGTHS] = {
	MS,          10 * MS,      100 * MS,      SECOND,         10 * SECOND,
	60 * SECOND, 600 * SECOND, 3600 * SECOND, 86400 * SECOND, 864000 * SECOND};

uint64_t top_times_length_ns(const struct top_times *t)
{
	return top_lengths_ns[t->length];
}

static void lengthen(struct top_times *t)
{
	const struct top_times was = *t;
	const uint64_t length = top_lengths_ns[++t->length];

	memset(t->counts, 0, sizeof(t->counts));
	t->begin_ns = was.begin_ns - was.begin_ns % length;
	for (size_t i = 0; i < was.n; i++) {
		const size_t at =
			(was.begin_ns + i * top_lengths_ns[was.length] - t->begin_ns) / length;

		t->counts[at] += was.counts[i];
		t->n = at + 1;
	}
}

void top_times_add(struct top_times *t, uint64_t ns)
{
	size_t at;

	if (!ns)
		return;
	if (!t->n)
		t->begin_ns = ns - ns % top_lengths_ns[t->length];
	if (ns < t->begin_ns)
		ns = t->begin_ns;
	while ((ns - t->begin_ns) / top_lengths_ns[t->length] >= TOP_TIMES_MAX &&
	       t->length + 1 < TOP_LENGTHS)
		lengthen(t);
	at = (ns - t->begin_ns) / top_lengths_ns[t->length];
	at = at < TOP_TIMES_MAX ? at : TOP_TIMES_MAX - 1;
	t->counts[at]++;
	if (at >= t->n)
		t->n = at + 1;
}

int top_put_time(struct sinsp_text *out, uint64_t ns, unsigned int digits)
{
	const time_t seconds = (time_t)(ns / SECOND);
	char ms[8];
	struct tm tm;
	int err;

	snprintf(ms, sizeof(ms), "%03u", (unsigned int)(ns % SECOND / MS));
	localtime_r(&seconds, &tm);
	err = top_put(out, "%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
	if (digits)
		err = err ?: top_put(out, ".%.*s", (int)digits, ms);
	return err;
}

int top_times_label(struct sinsp_text *out, const struct top_times *t, size_t i)
{
	const uint64_t ns = t->begin_ns + i * top_times_length_ns(t);

	return top_put_time(out, ns, top_times_length_ns(t) < SECOND ? MS_DIGITS : 0);
}

int top_times_text(struct sinsp_text *out, const struct top_times *t, size_t width)
{
	uint64_t most = 1;
	int err = 0;

	for (size_t i = 0; i < t->n; i++)
		most = t->counts[i] > most ? t->counts[i] : most;
	for (size_t i = 0; i < t->n && !err; i++) {
		const size_t bar = (size_t)((double)t->counts[i] * (double)width / (double)most);

		err = top_times_label(out, t, i);
		err = err ?: top_put(out, " %*" PRIu64 " ", COUNT_WIDTH, t->counts[i]);
		for (size_t k = 0; k < bar && !err; k++)
			err = top_put(out, "#");
		err = err ?: top_put(out, "\n");
	}
	return err;
}
