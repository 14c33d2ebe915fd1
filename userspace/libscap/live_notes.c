/* SPDX-License-Identifier: Apache-2.0 */
#include "live_notes.h"

#include <stdlib.h>
#include <string.h>

#include "event_table.h"
#include "scap.h"

#define N_NOTES 64 /* a power of two */
#define NOTE_SZ 192

struct note {
	uint16_t cpu;
	union {
		struct ppm_evt_hdr hdr;
		uint8_t bytes[NOTE_SZ];
	};
};

struct live_notes {
	struct note v[N_NOTES];
	unsigned int first, end; /* positions, masked for the place */
	uint64_t (*told)[DRV_DROP_MAX]; /* by ring: drops that are noted */
};

struct live_notes *live_notes_new(unsigned int n_rings)
{
	struct live_notes *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->told = calloc(n_rings, sizeof(*n->told));
	if (!n->told) {
		free(n);
		return NULL;
	}
	return n;
}

void live_notes_free(struct live_notes *n)
{
	if (!n)
		return;
	free(n->told);
	free(n);
}

struct value {
	const void *p;
	uint16_t len;
};

/* False: there is no room. */
static int add(struct live_notes *n, uint64_t boot_ns, uint16_t cpu, unsigned int type,
	       const struct value *values, unsigned int n_values)
{
	struct note *note = &n->v[n->end % N_NOTES];
	uint8_t *lens = note->bytes + sizeof(note->hdr);
	uint8_t *p = lens + n_values * sizeof(values->len);

	if (n->end - n->first == N_NOTES)
		return 0;
	for (unsigned int i = 0; i < n_values; i++) {
		memcpy(lens + i * sizeof(values->len), &values[i].len, sizeof(values->len));
		memcpy(p, values[i].p, values[i].len);
		p += values[i].len;
	}
	note->cpu = cpu;
	note->hdr = (struct ppm_evt_hdr){boot_ns, UINT64_MAX, (uint32_t)(p - note->bytes), type,
					 n_values};
	n->end++;
	return 1;
}

void live_notes_drops(struct live_notes *n, uint64_t boot_ns, unsigned int ring, unsigned int cpu,
		      const struct drv_counters *c)
{
	for (unsigned int why = 0; why < DRV_DROP_MAX; why++) {
		const uint64_t lost = c->dropped[why] - n->told[ring][why];
		const char *reason = scap_drop_reason(why);
		const uint32_t cpu32 = cpu;
		const struct value values[] = {
			{&cpu32, sizeof(cpu32)},
			{&lost, sizeof(lost)},
			{reason, (uint16_t)(strlen(reason) + 1)},
		};

		if (lost && add(n, boot_ns, (uint16_t)cpu, EVT_LOST_E, values, 3))
			n->told[ring][why] = c->dropped[why];
	}
}

#define X(sym, text)                                                                               \
	_Static_assert(sizeof(struct ppm_evt_hdr) + 3 * 2 + 4 + 8 + sizeof(text) <= NOTE_SZ,       \
		       "a reason is longer than a note may be");
DRV_DROP_REASONS(X)
#undef X

void live_notes_clock_step(struct live_notes *n, uint64_t boot_ns, int64_t step, int64_t offset)
{
	const struct value values[] = {{&step, sizeof(step)}, {&offset, sizeof(offset)}};

	add(n, boot_ns, 0, EVT_CLOCK_STEP_E, values, 2);
}

const struct ppm_evt_hdr *live_notes_first(const struct live_notes *n, uint16_t *cpu)
{
	const struct note *note = &n->v[n->first % N_NOTES];

	if (n->first == n->end)
		return NULL;
	*cpu = note->cpu;
	return &note->hdr;
}

void live_notes_pop(struct live_notes *n)
{
	if (n->first != n->end)
		n->first++;
}
