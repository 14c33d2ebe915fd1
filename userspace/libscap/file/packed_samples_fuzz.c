/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzz target: packed events of one file, each after a byte for its type and one for its length.
 * Unpacked events are packed and unpacked again, and must be the same.
 */
#include <stdlib.h>

#include "event/event_build.h"
#include "file/scap_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

static void *must(void *p)
{
	return p ? p : (abort(), NULL);
}

static void fuzz_event(struct packed_texts *texts[], struct file_buf bufs[], uint16_t type,
		       const uint8_t *data, size_t sz)
{
	const struct evt_value v[] = {{&type, sizeof(type)}, {data, sz}};
	const size_t room = sizeof(struct ppm_evt_hdr) + 3 * sizeof(uint16_t) + sz;
	void *dense = must(malloc(room));
	const struct ppm_evt_hdr *evt, *written, *again;

	if (scap_evt_build(dense, room, EVT_DENSE_E, 1, 2, v, 2) != (int)room)
		abort();
	if (!packed_samples_get(&bufs[0], &evt, texts[0], dense) && evt != dense) {
		if (event_block_check(evt, evt->len) ||
		    packed_samples_put(&bufs[1], &written, texts[1], evt))
			abort();
		again = written;
		if (written != evt && packed_samples_get(&bufs[2], &again, texts[2], written))
			abort();
		if (again->len != evt->len || memcmp(again, evt, evt->len))
			abort();
	}
	free(dense);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	struct packed_texts *texts[3];
	struct file_buf bufs[3] = {0};

	for (int i = 0; i < 3; i++)
		texts[i] = must(packed_texts_new());
	while (sz > 2) {
		const size_t len = data[1] < sz - 2 ? data[1] : sz - 2;

		fuzz_event(texts, bufs, EVT_SAMPLE_E + data[0] % 0x12, data + 2, len);
		data += 2 + len;
		sz -= 2 + len;
	}
	for (int i = 0; i < 3; i++) {
		packed_texts_free(texts[i]);
		free(bufs[i].p);
	}
	return 0;
}
