/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time of threads by switch events and by the counts of the kernel. */
#include "switches.h"

#include <stdlib.h>
#include <string.h>

#include "thread.h"

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

int sinsp_cpu_time_since(const struct sinsp_thread *t, uint64_t count, uint64_t now, uint64_t *ns)
{
	uint64_t most;

	if (!t->ran_at_ns || count < t->ran_ns)
		return 0;
	/* The count before may be from the last tick. A larger difference belongs to another
	 * thread. */
	most = (now > t->ran_at_ns ? now - t->ran_at_ns : 0) + SINSP_TICK_NS;
	*ns = count - t->ran_ns < most ? count - t->ran_ns : most;
	return 1;
}

uint64_t sinsp_cpu_time_at(const struct sinsp_thread *t, const struct sinsp_turn *turn,
			   uint64_t count, uint64_t now)
{
	uint64_t since, by_clock;

	if (!t->ran_at_ns || !turn || !turn->since_ns || turn->tid != t->tid)
		return count;
	since = turn->since_ns > t->ran_at_ns ? turn->since_ns : t->ran_at_ns;
	by_clock = t->ran_ns + (now > since ? now - since : 0);
	if (by_clock <= count)
		return count;
	return by_clock - count < SINSP_TICK_NS ? by_clock : count + SINSP_TICK_NS;
}
