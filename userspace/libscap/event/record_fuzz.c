/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzz target: a record of the driver, whose strings processes control, expanded into the events
 * of a call. The input is the record; its lengths are set to the size of the input. */
#include "testing/fuzz.h"

#include "event/expand.h"
#include "file/scap_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	static struct scap_expand *x;
	struct scap_evt evt = {0};
	struct rec_hdr *rec;

	if (!x)
		x = fuzz_must(scap_expand_new());
	if (sz < sizeof(*rec) || sz > UINT16_MAX)
		return 0;
	rec = fuzz_must(malloc(sz));
	memcpy(rec, data, sz);
	rec->len = (uint16_t)sz;
	rec->evt.len = (uint32_t)(sz - offsetof(struct rec_hdr, evt));
	if (!scap_expand_enter(x, &evt, NULL, rec) && event_block_check(evt.hdr, evt.hdr->len))
		abort();
	scap_expand_exit(&evt, NULL, rec);
	free(rec);
	return 0;
}
