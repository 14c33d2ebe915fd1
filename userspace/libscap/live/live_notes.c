/* SPDX-License-Identifier: Apache-2.0 */
#include "live/live_notes.h"

#include <stdlib.h>
#include <string.h>

#include "event/event_build.h"
#include "event/event_table.h"
#include "scap.h"

#define N_NOTES 128 /* a power of two */
/* Losses take no more than this, since they can wait: the rest is for notes that are made once. */
#define N_LOST_MAX (N_NOTES / 2)
#define N_FULL (N_NOTES - 2) /* from here on a note replaces one of its type */
#define NOTE_SZ 256
#define LOST_VALUES 5 /* parameters of EVT_LOST_E before those by kind of loss */

struct note {
	uint16_t cpu;
	union {
		struct ppm_evt_hdr hdr;
		uint8_t raw[NOTE_SZ];
	};
};

struct live_notes {
	struct note v[N_NOTES];
	unsigned int first, end; /* positions, masked for the place */
	uint64_t (*noted)[DRV_DROP_ROOM][LOST_ROOM]; /* by CPU: losses that were noted */
};

struct live_notes *live_notes_new(void)
{
	struct live_notes *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->noted = calloc(DRV_MAX_CPUS, sizeof(*n->noted));
	if (!n->noted) {
		free(n);
		return NULL;
	}
	return n;
}

void live_notes_free(struct live_notes *n)
{
	if (!n)
		return;
	free(n->noted);
	free(n);
}

/* Notes are sorted by time: one of a CPU may begin before one of another that was made earlier. */
static struct note *make_place(struct live_notes *n, uint64_t boot_ns)
{
	unsigned int at = n->end++;

	for (; at != n->first && n->v[(at - 1) % N_NOTES].hdr.ts > boot_ns; at--)
		n->v[at % N_NOTES] = n->v[(at - 1) % N_NOTES];
	return &n->v[at % N_NOTES];
}

/* Frees the place of the note at @at. */
static void take_out(struct live_notes *n, unsigned int at)
{
	for (; at + 1 != n->end; at++)
		n->v[at % N_NOTES] = n->v[(at + 1) % N_NOTES];
	n->end--;
}

/* Returns the latest note of that type; NULL: none. */
static struct note *youngest(struct live_notes *n, unsigned int type, unsigned int *at)
{
	for (*at = n->end; (*at)-- != n->first;)
		if (n->v[*at % N_NOTES].hdr.type == type)
			return &n->v[*at % N_NOTES];
	return NULL;
}

/* Returns false if there is no room. */
static int add_note(struct live_notes *n, uint64_t boot_ns, uint16_t cpu, unsigned int type,
		    const struct evt_value *values, unsigned int n_values)
{
	struct note *note;

	if (n->end - n->first == N_NOTES)
		return 0;
	if (type == EVT_LOST_E && n->end - n->first >= N_LOST_MAX)
		return 0;
	note = make_place(n, boot_ns);
	note->cpu = cpu;
	scap_evt_build(note->raw, NOTE_SZ, type, boot_ns, UINT64_MAX, values, n_values);
	return 1;
}

int live_notes_lost(struct live_notes *n, unsigned int cpu, unsigned int why,
		    const struct ring_lost *lost, const struct clock_offset *epoch)
{
	uint64_t *noted = n->noted[cpu][why], new[LOST_ROOM], sum = 0;
	const uint64_t from = clock_offset_at(epoch, lost->from_ns),
		       to = clock_offset_at(epoch, lost->to_ns);
	const char *reason = scap_drop_reason(why);
	const uint32_t cpu32 = cpu;
	struct evt_value values[LOST_VALUES + LOST_OTHER] = {
		{&cpu32, sizeof(cpu32)},
		{&sum, sizeof(sum)},
		{reason, (uint16_t)(strlen(reason) + 1)},
		{&from, sizeof(from)},
		{&to, sizeof(to)},
	};

#define CHECK(sym, text)                                                                           \
	_Static_assert(sizeof(struct ppm_evt_hdr) + (LOST_VALUES + LOST_OTHER) * (2 + 8) +         \
				       sizeof(text) <=                                             \
			       NOTE_SZ,                                                            \
		       "a reason is longer than a note may be");
	DRV_DROP_REASONS(CHECK)
#undef CHECK
	for (unsigned int kind = 0; kind < LOST_ROOM; kind++) {
		new[kind] = lost->n[kind] - noted[kind];
		sum += new[kind];
		if (kind < LOST_OTHER)
			values[LOST_VALUES + kind] =
				(struct evt_value){&new[kind], sizeof(new[kind])};
	}
	if (!sum)
		return 1;
	if (!add_note(n, lost->from_ns, (uint16_t)cpu, EVT_LOST_E, values,
		      LOST_VALUES + LOST_OTHER))
		return 0;
	memcpy(noted, lost->n, sizeof(lost->n));
	return 1;
}

void live_notes_clock_step(struct live_notes *n, uint64_t boot_ns, int64_t step, int64_t offset)
{
	const struct evt_value values[] = {{&step, sizeof(step)}, {&offset, sizeof(offset)}};
	struct scap_params ps;
	struct note *last;
	unsigned int at;

	/* Without room this step and the one before are merged. */
	if (n->end - n->first >= N_FULL && (last = youngest(n, EVT_CLOCK_STEP_E, &at))) {
		if (scap_evt_params(&last->hdr, &ps) == 0)
			step += (int64_t)get_u64(ps.v[0].p);
		take_out(n, at);
	}
	add_note(n, boot_ns, 0, EVT_CLOCK_STEP_E, values, 2);
}

void live_notes_sampler(struct live_notes *n, uint64_t boot_ns, enum sampler_action action,
			const struct scap_sampler_stats *st)
{
	const uint8_t what = (uint8_t)action;
	const struct evt_value values[] = {
		{&what, sizeof(what)},
		{&st->period_ns, st->period_ns ? sizeof(st->period_ns) : 0},
		{&st->depth, sizeof(st->depth)},
		{&st->threshold, st->threshold ? sizeof(st->threshold) : 0},
		{&st->interval_ns, st->threshold ? sizeof(st->interval_ns) : 0},
		{&st->n_due, sizeof(st->n_due)},
		{&st->n_runs, sizeof(st->n_runs)},
		{&st->n_samples, sizeof(st->n_samples)},
		{&st->n_dropped, sizeof(st->n_dropped)},
		{&st->n_filtered, sizeof(st->n_filtered)},
	};

	unsigned int at;

	/* Without room the latest state replaces earlier ones: its counts continue theirs. */
	if (n->end - n->first >= N_FULL && youngest(n, EVT_SAMPLER_E, &at))
		take_out(n, at);
	add_note(n, boot_ns, 0, EVT_SAMPLER_E, values, sizeof(values) / sizeof(values[0]));
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
