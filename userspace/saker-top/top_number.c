/* SPDX-License-Identifier: Apache-2.0 */
#include "top_number.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Each row is for durations from @from on; two decimals below 10 of a unit, and for seconds. */
static const struct {
	uint64_t from, unit;
	const char *name;
	int decimals;
} durations[] = {
	{1000000000, 1000000000, "s", 1}, {10000000, 1000000, "ms", 0}, {1000000, 1000000, "ms", 1},
	{10000, 1000, "us", 0},           {1000, 1000, "us", 1},        {0, 1, "ns", 0},
};

void top_duration_text(char text[TOP_NUMBER_SZ], uint64_t ns)
{
	size_t i = 0;

	while (ns < durations[i].from)
		i++;
	if (durations[i].decimals)
		snprintf(text, TOP_NUMBER_SZ, "%" PRIu64 ".%02u%s", ns / durations[i].unit,
			 (unsigned int)(ns % durations[i].unit / (durations[i].unit / 100)),
			 durations[i].name);
	else
		snprintf(text, TOP_NUMBER_SZ, "%" PRIu64 "%s", ns / durations[i].unit,
			 durations[i].name);
}

void top_size_text(char text[TOP_NUMBER_SZ], double v, int is_whole)
{
	static const char *const units[] = {"", "K", "M", "G", "T", "P"};
	size_t n = 0;

	while (v > 1024 && n + 1 < sizeof(units) / sizeof(units[0])) {
		v /= 1024;
		n++;
	}
	if (is_whole)
		snprintf(text, TOP_NUMBER_SZ, "%.0f%s", v, units[n]);
	else
		snprintf(text, TOP_NUMBER_SZ, "%.2f%s", v, units[n]);
}

void top_json_double(char text[TOP_NUMBER_SZ], double v)
{
	if (!isfinite(v)) {
		snprintf(text, TOP_NUMBER_SZ, "null");
		return;
	}
	snprintf(text, TOP_NUMBER_SZ, "%.17g", v);
	if (!strpbrk(text, ".e"))
		strcat(text, ".0");
}
