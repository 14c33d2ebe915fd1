/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ringbuf ring: a BPF ring buffer, of one CPU or shared by several. The kernel maps its data
 * twice in a row, so a record is always contiguous: a page with the consumer's position, one with
 * the producer's, and the data. Each record follows its length with two flags, and an offset of the
 * kernel's.
 *
 * In a shared one the records of each CPU are in order, but not those of different CPUs: the record
 * of a long call lies behind younger ones of others. So each CPU has its own position and passes
 * over records of others, and the merge orders them as it does separate rings. The kernel gets back
 * what all CPUs have passed.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "ring/ring_impl.h"

#define WRITTEN_TRIES 200

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

static uint32_t ringbuf_len(const struct ring *r, uint64_t pos)
{
	const void *p = ringbuf_data(r) + (pos & (r->sz - 1));

	return __atomic_load_n((const uint32_t *)p, __ATOMIC_ACQUIRE);
}

static uint64_t ringbuf_step(uint32_t len)
{
	return (BPF_RINGBUF_HDR_SZ + (len & ~BPF_RINGBUF_DISCARD_BIT) + 7) & ~7u;
}

/*
 * Advances to @head, once everything below is written: a record that another CPU is still writing
 * would hide those behind it. Takes a fraction of a microsecond, unless the writer was interrupted.
 */
static uint64_t shared_head(struct ring *r, uint64_t head)
{
	struct ring_shared *s = r->shared;
	unsigned int tries = 0;

	while (s->written < head && tries < WRITTEN_TRIES) {
		uint32_t len = ringbuf_len(r, s->written);

		if (len & BPF_RINGBUF_BUSY_BIT) {
			tries++;
			__builtin_ia32_pause();
		} else {
			s->written += ringbuf_step(len);
		}
	}
	r->held_back = s->written < head;
	return s->written;
}

static uint64_t ringbuf_head(struct ring *r)
{
	uint64_t head = __atomic_load_n((const uint64_t *)r->base, __ATOMIC_ACQUIRE);

	return r->shared ? shared_head(r, head) : head;
}

static const struct rec_hdr *ringbuf_at(struct ring *r, uint64_t *step)
{
	uint32_t len = ringbuf_len(r, r->pos);
	const struct rec_hdr *rec;

	if (len & BPF_RINGBUF_BUSY_BIT) { /* reserved, not written yet: wait for it */
		r->head = r->pos;
		*step = 0;
		return NULL;
	}
	rec = (const void *)(ringbuf_data(r) + (r->pos & (r->sz - 1)) + BPF_RINGBUF_HDR_SZ);
	*step = ringbuf_step(len);
	if (len & BPF_RINGBUF_DISCARD_BIT)
		return NULL;
	if (!ring_rec_ok(rec, len))
		*step = 0;
	else if (r->shared && rec->cpu != r->cpu)
		return NULL;
	return rec;
}

void ring_share(struct ring *r, struct ring_shared *shared)
{
	r->shared = shared;
	r->next_sharer = shared->first;
	shared->first = r;
}

static void ringbuf_release(struct ring *r)
{
	uint64_t pos = r->pos;

	for (const struct ring *o = r->shared ? r->shared->first : NULL; o; o = o->next_sharer)
		if (o->pos < pos)
			pos = o->pos;
	__atomic_store_n((uint64_t *)r->base2, pos, __ATOMIC_RELEASE);
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
