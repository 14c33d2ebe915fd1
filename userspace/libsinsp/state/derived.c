/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of derived events: one block of memory, used from the beginning whenever it is empty.
 * At most 64 MiB. */
#include "derived.h"

#include <stdlib.h>
#include <string.h>

#define DERIVED_MAX (64u << 20)
#define DERIVED_EVENT_MAX (64u << 10)

/* In front of each waiting event. */
struct head {
	uint64_t ts_ns;
	uint32_t len; /* of the event, without padding */
	uint16_t cpu;
	uint16_t type;
};

static size_t padded(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

/* Makes room for @n more bytes. Returns 0, or -1: no room. */
static int make_room(struct sinsp_derived *d, size_t n)
{
	size_t cap = d->cap ? d->cap : 4096;
	uint8_t *bytes;

	if (d->cap - d->end >= n)
		return 0;
	if (d->begin)
		memmove(d->bytes, d->bytes + d->begin, d->end - d->begin);
	d->end -= d->begin;
	d->begin = 0;
	while (cap - d->end < n)
		cap *= 2;
	if (cap > DERIVED_MAX)
		return -1;
	if (cap == d->cap)
		return 0;
	bytes = realloc(d->bytes, cap);
	if (!bytes)
		return -1;
	d->bytes = bytes;
	d->cap = cap;
	return 0;
}

static size_t size_of(const struct evt_value *values, unsigned int n)
{
	size_t sz = sizeof(struct ppm_evt_hdr) + n * sizeof(uint16_t);

	for (unsigned int i = 0; i < n; i++)
		sz += values[i].len;
	return sz;
}

static void push(struct sinsp_derived *d, unsigned int type, uint64_t tid,
		 const struct evt_value *values, unsigned int n)
{
	const size_t sz = size_of(values, n);
	const struct head head = {d->ts_ns, (uint32_t)sz, d->cpu, (uint16_t)type};

	if (sz > DERIVED_EVENT_MAX || make_room(d, sizeof(head) + padded(sz))) {
		d->n_dropped++;
		return;
	}
	memcpy(d->bytes + d->end, &head, sizeof(head));
	scap_evt_build(d->bytes + d->end + sizeof(head), sz, type, d->ts_ns, tid, values, n);
	d->end += sizeof(head) + padded(sz);
}

/* Returns the kind that events of the type are; 0: they are not derived. */
static uint32_t kind_of(unsigned int type)
{
	switch (type) {
	case EVT_REQUEST_E:
		return SINSP_DERIVE_REQUESTS;
	case EVT_SLICE_E:
		return SINSP_DERIVE_SLICES;
	case EVT_MARKER_E:
	case EVT_MARKER_X:
		return SINSP_DERIVE_TRACERS;
	default:
		return 0;
	}
}

/* Adds the event that lists the kinds. */
static void announce(struct sinsp_derived *d)
{
	const struct evt_value kinds = {&d->kinds, sizeof(d->kinds)};

	d->announced = 1;
	push(d, EVT_DERIVED_E, UINT64_MAX, &kinds, 1);
}

void sinsp_derived_at(struct sinsp_derived *d, const struct scap_evt *raw)
{
	d->ts_ns = raw->ts_ns;
	d->cpu = raw->cpu;
}

void sinsp_derived_note(struct sinsp_derived *d, const struct sinsp_evt *evt)
{
	const struct scap_param *kinds = evt->params.v;

	d->kinds &= ~kind_of(evt->raw.type);
	if (evt->raw.type == EVT_DERIVED_E && evt->params.n && kinds->len == sizeof(d->kinds))
		d->kinds &= ~get_u32(kinds->p);
	if (!d->announced && d->kinds)
		announce(d);
}

void sinsp_derived_add(struct sinsp_derived *d, unsigned int type, int64_t tid,
		       const struct evt_value *values, unsigned int n)
{
	if (d->kinds & kind_of(type))
		push(d, type, (uint64_t)tid, values, n);
}

int sinsp_derived_take(struct sinsp_derived *d, struct sinsp_evt *evt)
{
	struct head head;
	const struct ppm_evt_hdr *hdr;

	if (!sinsp_derived_waits(d))
		return 0;
	memcpy(&head, d->bytes + d->begin, sizeof(head));
	hdr = (const void *)(d->bytes + d->begin + sizeof(head));
	evt->raw = (struct scap_evt){
		.hdr = hdr,
		.ts_ns = head.ts_ns,
		.true_ns = head.ts_ns,
		.cpu = head.cpu,
		.type = head.type,
		.nr = REC_NR_NONE,
	};
	d->begin += sizeof(head) + padded(head.len);
	if (d->begin == d->end)
		d->begin = d->end = 0;
	return scap_evt_params(hdr, &evt->params) ? 0 : 1;
}

void sinsp_derived_reset(struct sinsp_derived *d, uint32_t kinds)
{
	d->kinds = kinds;
	d->begin = d->end = 0;
	d->announced = 0;
}

void sinsp_derived_fini(struct sinsp_derived *d)
{
	free(d->bytes);
	*d = (struct sinsp_derived){0};
}
