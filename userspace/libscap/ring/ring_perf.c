/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The perf ring: a perf buffer of one CPU, a page of positions followed by the data. It is mapped
 * once: since the fix of CVE-2025-38563 kernels refuse the overlapping double mapping of older
 * readers. Only a record that wraps is copied.
 *
 * A sample is the header (type, misc, size), the size of BPF's data, and the data.
 *
 * The kernel reports a record without room to the driver at once, which counts it with CPU, reason
 * and time (perf_refusal). PERF_FORMAT_LOST, since Linux 6.0, counts the same records without these
 * details, so it is not read.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ring/perf_buffer.h"
#include "ring/ring_impl.h"

#define SAMPLE_HDR_SZ (sizeof(struct perf_event_header) + sizeof(uint32_t))
#define STRADDLE_SZ 65536u /* header.size is a u16 */

static int perf_create(unsigned int cpu, size_t sz)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type = PERF_SAMPLE_RAW,
		.sample_period = 1,
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX, /* the doorbell is saker's own */
	};
	int fd = (int)syscall(SYS_perf_event_open, &a, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	(void)sz; /* as the mapping says */
	return fd < 0 ? -errno : fd;
}

static int perf_open(struct ring *r, int fd)
{
	struct perf_buffer b = {0};
	int err;

	r->base2 = malloc(STRADDLE_SZ);
	if (!r->base2)
		return -ENOMEM;
	err = perf_buffer_map(&b, fd, r->sz);
	if (err)
		return err;
	r->base = b.page;
	r->base_sz = b.page_sz + b.data_sz;
	return 0;
}

static struct perf_buffer buffer_of(const struct ring *r)
{
	return (struct perf_buffer){r->base, r->base_sz - r->sz, r->sz};
}

static uint64_t perf_head(struct ring *r)
{
	const struct perf_buffer b = buffer_of(r);

	return perf_buffer_head(&b);
}

/* Returns the @len bytes at r->pos contiguously. */
static const uint8_t *perf_piece(struct ring *r, size_t len)
{
	const struct perf_buffer b = buffer_of(r);
	size_t contiguous = len;
	const uint8_t *p = perf_buffer_at(&b, r->pos, &contiguous);

	if (contiguous == len)
		return p;
	perf_buffer_copy(&b, r->pos, r->base2, len);
	return r->base2;
}

static const struct rec_hdr *perf_at(struct ring *r, uint64_t *step)
{
	struct perf_event_header h;
	const struct rec_hdr *rec;

	memcpy(&h, perf_piece(r, sizeof(h)), sizeof(h)); /* 8-aligned: never wraps */
	if (h.size < sizeof(h) || (h.size & 7) || h.size > r->head - r->pos)
		return NULL;
	*step = h.size;
	if (h.type != PERF_RECORD_SAMPLE)
		return NULL;
	rec = (const void *)(perf_piece(r, h.size) + SAMPLE_HDR_SZ);
	if (h.size < SAMPLE_HDR_SZ || !ring_rec_ok(rec, h.size - SAMPLE_HDR_SZ))
		*step = 0;
	return rec;
}

static void perf_release(struct ring *r)
{
	const struct perf_buffer b = buffer_of(r);

	perf_buffer_release(&b, r->pos);
}

static void perf_close(struct ring *r)
{
	struct perf_buffer b = buffer_of(r);

	perf_buffer_unmap(&b);
	free(r->base2);
}

const struct ring_ops ring_perf_ops = {
	.name = "perf",
	.create = perf_create,
	.open = perf_open,
	.head = perf_head,
	.at = perf_at,
	.release = perf_release,
	.close = perf_close,
};
