/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzz target: the bytes of an event, after two for its type and one for the number of its
 * parameters, whose lengths follow. Header and lengths must remain, the pattern must find nothing
 * in what it left, and redacting by kinds again must change nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "redact/redact.h"

#define PATTERN "s3cr3t|(x+)+y"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

static struct scap_redact *new_redact(int kinds, int pattern)
{
	struct scap_redact *r;
	char why[256];
	size_t at;

	if (scap_redact_new(&r) ||
	    (pattern && scap_redact_add_pattern(r, PATTERN, sizeof(PATTERN) - 1, why, &at)))
		abort();
	for (unsigned int i = 0; kinds && scap_redact_name(i); i++)
		scap_redact_add(r, scap_redact_name(i));
	return r;
}

/* Returns an event that ends where its memory ends. */
static struct ppm_evt_hdr *event_of(const uint8_t *data, size_t sz)
{
	const uint32_t len = (uint32_t)(sizeof(struct ppm_evt_hdr) + sz - 3);
	struct ppm_evt_hdr *evt = malloc(len);

	if (!evt)
		abort();
	*evt = (struct ppm_evt_hdr){
		.tid = 1, .len = len, .type = get_u16(data), .nparams = data[2]};
	memcpy(evt + 1, data + 3, sz - 3);
	return evt;
}

static struct ppm_evt_hdr *redacted(struct scap_redact *r, const struct ppm_evt_hdr *evt)
{
	struct ppm_evt_hdr *copy = malloc(evt->len);
	struct scap_params params;

	if (!copy)
		abort();
	memcpy(copy, evt, evt->len);
	scap_evt_params(evt, &params);
	scap_redact_event(r, copy, evt, &params);
	if (!scap_redact_wants(r, evt, &params) && memcmp(copy, evt, evt->len))
		abort();
	return copy;
}

/* Redacts by @first, and what it left by @second, which must change nothing there. */
static void redact_twice(struct scap_redact *first, struct scap_redact *second,
			 const struct ppm_evt_hdr *evt)
{
	struct ppm_evt_hdr *once = redacted(first, evt), *twice = redacted(second, once);
	struct scap_params params;

	if (memcmp(once, evt, sizeof(*evt)) || memcmp(once, twice, evt->len))
		abort();
	if (!scap_evt_params(evt, &params) && params.n &&
	    memcmp(once, evt, (size_t)(params.v[0].p - (const uint8_t *)evt)))
		abort();
	free(once);
	free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	static struct scap_redact *kinds, *pattern, *both;
	struct ppm_evt_hdr *evt;

	if (sz < 3)
		return 0;
	if (!kinds) {
		kinds = new_redact(1, 0);
		pattern = new_redact(0, 1);
		both = new_redact(1, 1);
	}
	evt = event_of(data, sz);
	redact_twice(kinds, kinds, evt);
	redact_twice(both, pattern, evt);
	free(evt);
	return 0;
}
