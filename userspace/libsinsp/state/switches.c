/* SPDX-License-Identifier: Apache-2.0 */
#include "switches.h"

#include <stdlib.h>
#include <string.h>

uint64_t *sinsp_switches_of(struct sinsp_switches *w, uint32_t cpu)
{
	uint32_t n = w->n ? w->n : 16;
	uint64_t *v;

	if (cpu < w->n)
		return &w->last_ns[cpu];
	if (cpu >= SINSP_CPUS_MAX)
		return NULL;
	while (n <= cpu)
		n *= 2;
	v = realloc(w->last_ns, n * sizeof(*v));
	if (!v)
		return NULL;
	memset(v + w->n, 0, (n - w->n) * sizeof(*v));
	w->last_ns = v;
	w->n = n;
	return &v[cpu];
}

void sinsp_switches_fini(struct sinsp_switches *w)
{
	free(w->last_ns);
	memset(w, 0, sizeof(*w));
}
