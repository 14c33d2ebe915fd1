/* SPDX-License-Identifier: Apache-2.0 */
/* A perf buffer: the mapped page of positions of a perf event, and the data that follow it. */
#ifndef SCAP_RING_PERF_BUFFER_H
#define SCAP_RING_PERF_BUFFER_H

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct perf_buffer {
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	size_t page_sz, data_sz; /* powers of two */
};

/* Maps the buffer of the perf event @fd. Returns 0 or -errno. */
static inline int perf_buffer_map(struct perf_buffer *b, int fd, size_t data_sz)
{
	const size_t page_sz = (size_t)sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, page_sz + data_sz, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	*b = (struct perf_buffer){p, page_sz, data_sz};
	return 0;
}

static inline void perf_buffer_unmap(struct perf_buffer *b)
{
	if (b->page)
		munmap(b->page, b->page_sz + b->data_sz);
	b->page = NULL;
}

/* Returns the end of what the kernel has written. */
static inline uint64_t perf_buffer_head(const struct perf_buffer *b)
{
	return __atomic_load_n(&b->page->data_head, __ATOMIC_ACQUIRE);
}

/* Gives the room up to @pos back to the kernel. */
static inline void perf_buffer_release(const struct perf_buffer *b, uint64_t pos)
{
	__atomic_store_n(&b->page->data_tail, pos, __ATOMIC_RELEASE);
}

/* Returns the byte at @pos; *len is lowered to what lies contiguously there. */
static inline const uint8_t *perf_buffer_at(const struct perf_buffer *b, uint64_t pos, size_t *len)
{
	const size_t at = pos & (b->data_sz - 1), left = b->data_sz - at;

	if (*len > left)
		*len = left;
	return (const uint8_t *)b->page + b->page_sz + at;
}

/* Copies @len bytes from @pos on, which may wrap. */
static inline void perf_buffer_copy(const struct perf_buffer *b, uint64_t pos, void *to, size_t len)
{
	size_t first = len;
	const uint8_t *p = perf_buffer_at(b, pos, &first);

	memcpy(to, p, first);
	memcpy((uint8_t *)to + first, (const uint8_t *)b->page + b->page_sz, len - first);
}

#endif /* SCAP_RING_PERF_BUFFER_H */
