/* SPDX-License-Identifier: Apache-2.0 */
#include "switches.h"

#include <stdlib.h>
#include <string.h>

struct sinsp_turn *sinsp_switches_of(struct sinsp_switches *w, uint32_t cpu)
{
	uint32_t n = w->n ? w->n : 16;
	struct sinsp_turn *v;

	if (cpu < w->n)
		return &w->turns[cpu];
	if (cpu >= SINSP_CPUS_MAX)
		return NULL;
	while (n <= cpu)
		n *= 2;
	v = realloc(w->turns, n * sizeof(*v));
	if (!v)
		return NULL;
	memset(v + w->n, 0, (n - w->n) * sizeof(*v));
	w->turns = v;
	w->n = n;
	return &v[cpu];
}

void sinsp_switches_fini(struct sinsp_switches *w)
{
	free(w->turns);
	memset(w, 0, sizeof(*w));
}
