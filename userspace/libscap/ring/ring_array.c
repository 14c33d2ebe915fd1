/* SPDX-License-Identifier: Apache-2.0 */
/* The array ring, in the value of an array map: the driver fills records in place, and the slack
 * after the last place keeps each contiguous (driver/shared/config.h). */
#include <errno.h>
#include <sys/mman.h>

#include "ring/ring_impl.h"

static int array_open(struct ring *r, int fd)
{
	r->base_sz = r->sz + RING_SLACK;
	r->base = mmap(NULL, r->base_sz, PROT_READ, MAP_SHARED, fd, sizeof(struct ring_hdr));
	return r->base == MAP_FAILED ? -errno : 0;
}

static uint64_t array_head(struct ring *r)
{
	return __atomic_load_n(&r->slot->ring.head, __ATOMIC_ACQUIRE);
}

static const struct rec_hdr *array_at(struct ring *r, uint64_t *step)
{
	const struct rec_hdr *rec = (const void *)((char *)r->base + (r->pos & (r->sz - 1)));

	if (!ring_rec_ok(rec, r->head - r->pos))
		return NULL;
	*step = rec->len;
	return rec;
}

static void array_release(struct ring *r)
{
	r->n_read = r->pos;
}

static void array_close(struct ring *r)
{
	if (r->base && r->base != MAP_FAILED)
		munmap(r->base, r->base_sz);
}

const struct ring_ops ring_array_ops = {
	.name = "array",
	.open = array_open,
	.head = array_head,
	.at = array_at,
	.release = array_release,
	.close = array_close,
};
