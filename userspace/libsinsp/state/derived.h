/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Derived events: events that libsinsp computes from others and puts into the stream. They come
 * behind the event that completes them, have its time, and take no number.
 *
 * A file must not get them twice. So before the first one the stream has an event `derived`, which
 * lists the kinds that follow; each piece of a file repeats it. A kind that the source lists, or
 * has an event of, is not derived.
 */
#ifndef SINSP_STATE_DERIVED_H
#define SINSP_STATE_DERIVED_H

#include "event/event_build.h"
#include "sinsp.h"

struct sinsp_derived {
	uint32_t kinds; /* SINSP_DERIVE_*: derived now */
	uint8_t *bytes; /* waiting events, each with its head in front; owned */
	size_t begin, end, cap;
	uint64_t n_dropped; /* events that found no room */
	uint64_t ts_ns; /* of the event of the source that derived events come behind */
	uint16_t cpu;
	uint8_t announced; /* the event `derived` was added */
};

/* Begins with the state of a source, or of a new section. @kinds: SINSP_DERIVE_*. */
void sinsp_derived_reset(struct sinsp_derived *d, uint32_t kinds);
void sinsp_derived_fini(struct sinsp_derived *d);

/* The time is that of the event @raw of the source: derived events come behind it from now on, also
 * those of what it ends when it is parsed. */
void sinsp_derived_at(struct sinsp_derived *d, const struct scap_evt *raw);

/* Notes an event of the source, after sinsp_derived_at. Kinds that the source has itself are
 * removed from d->kinds. */
void sinsp_derived_note(struct sinsp_derived *d, const struct sinsp_evt *evt);

/* Adds an event of the type @type, which belongs to thread @tid. Ignores it if its kind is not
 * derived; without room it is dropped and counted. */
void sinsp_derived_add(struct sinsp_derived *d, unsigned int type, int64_t tid,
		       const struct evt_value *values, unsigned int n);

/* Returns 1 with the oldest waiting event, valid until the next call of a function here; 0: none.
 */
int sinsp_derived_take(struct sinsp_derived *d, struct sinsp_evt *evt);

static inline int sinsp_derived_waits(const struct sinsp_derived *d)
{
	return d->begin != d->end;
}

#endif /* SINSP_STATE_DERIVED_H */
