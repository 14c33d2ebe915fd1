/* SPDX-License-Identifier: Apache-2.0 */
#include "event/event_build.h"

#include <errno.h>
#include <string.h>

int scap_evt_build(void *buf, size_t sz, unsigned int type, uint64_t ts, uint64_t tid,
		   const struct evt_value *values, unsigned int n)
{
	struct ppm_evt_hdr hdr = {.ts = ts, .tid = tid, .type = (uint16_t)type, .nparams = n};
	const size_t lens_sz = n * sizeof(values->len);
	uint8_t *lens = (uint8_t *)buf + sizeof(hdr), *p = lens + lens_sz;
	size_t len = sizeof(hdr) + lens_sz;

	for (unsigned int i = 0; i < n; i++)
		len += values[i].len;
	if (len > sz)
		return -ENOSPC;
	hdr.len = (uint32_t)len;
	memcpy(buf, &hdr, sizeof(hdr));
	for (unsigned int i = 0; i < n; i++) {
		memcpy(lens + i * sizeof(values->len), &values[i].len, sizeof(values->len));
		if (values[i].len)
			p = (uint8_t *)mempcpy(p, values[i].p, values[i].len);
	}
	return (int)len;
}
