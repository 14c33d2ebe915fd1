/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A BPF ring buffer of one CPU. The kernel maps its data twice in a row, so a record is
 * always in one piece: a page with the consumer's position, one with the producer's, and
 * the data. Before each record stand its length with two flags, and an offset of the kernel's.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "ring_impl.h"

static int ringbuf_create(unsigned int cpu, size_t sz)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "saker_ring", 0, 0, (uint32_t)sz, NULL);

	(void)cpu;
	return fd < 0 ? -errno : fd;
}

static int ringbuf_open(struct ring *r, int fd)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	r->base_sz = page + 2 * r->sz;
	r->base2 = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (r->base2 == MAP_FAILED)
		return -errno;
	r->base = mmap(NULL, r->base_sz, PROT_READ, MAP_SHARED, fd, (off_t)page);
	return r->base == MAP_FAILED ? -errno : 0;
}

static const char *ringbuf_data(const struct ring *r)
{
	return (const char *)r->base + (r->base_sz - 2 * r->sz);
}

static uint32_t ringbuf_len(const struct ring *r)
{
	const void *p = ringbuf_data(r) + (r->pos & (r->sz - 1));

	return __atomic_load_n((const uint32_t *)p, __ATOMIC_ACQUIRE);
}

static uint64_t ringbuf_head(struct ring *r)
{
	return __atomic_load_n((const uint64_t *)r->base, __ATOMIC_ACQUIRE);
}

static const struct rec_hdr *ringbuf_at(struct ring *r, uint64_t *step)
{
	uint32_t len = ringbuf_len(r);
	const struct rec_hdr *rec;

	if (len & BPF_RINGBUF_BUSY_BIT) { /* reserved, not yet written: wait for it */
		r->head = r->pos;
		*step = 0;
		return NULL;
	}
	rec = (const void *)(ringbuf_data(r) + (r->pos & (r->sz - 1)) + BPF_RINGBUF_HDR_SZ);
	*step = (BPF_RINGBUF_HDR_SZ + (len & ~BPF_RINGBUF_DISCARD_BIT) + 7) & ~7u;
	if (len & BPF_RINGBUF_DISCARD_BIT)
		return NULL;
	if (!ring_rec_ok(rec, len))
		*step = 0;
	return rec;
}

static void ringbuf_release(struct ring *r)
{
	__atomic_store_n((uint64_t *)r->base2, r->pos, __ATOMIC_RELEASE);
}

static void ringbuf_close(struct ring *r)
{
	if (r->base && r->base != MAP_FAILED)
		munmap(r->base, r->base_sz);
	if (r->base2 && r->base2 != MAP_FAILED)
		munmap(r->base2, (size_t)sysconf(_SC_PAGESIZE));
}

const struct ring_ops ring_ringbuf_ops = {
	.name = "ringbuf",
	.create = ringbuf_create,
	.open = ringbuf_open,
	.head = ringbuf_head,
	.at = ringbuf_at,
	.release = ringbuf_release,
	.close = ringbuf_close,
};
