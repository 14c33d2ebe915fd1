/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/unwind_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

/* A walk takes microseconds, with interrupts or preemption off. */
#define REST_NS 500000000ull

struct span {
	uint32_t at, n; /* words */
};

struct resting {
	struct span span;
	uint64_t since_ns;
};

struct chunk {
	uint64_t *words;
	int fd; /* descriptor of the map; -1: malloc */
};

struct unwind_pool {
	int map;
	size_t max_chunks;
	struct chunk chunks[UNWIND_CHUNKS_MAX];
	uint32_t n_chunks;
	struct span *free; /* by place; not adjacent, and within one chunk each */
	size_t n_free, cap_free;
	struct resting *resting; /* a queue, the oldest first */
	size_t n_resting, cap_resting;
	size_t used; /* words */
};

int unwind_pool_new(struct unwind_pool **out, int map, size_t max_sz)
{
	struct unwind_pool *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->map = map;
	p->max_chunks = max_sz / UNWIND_CHUNK_SZ;
	if (p->max_chunks > UNWIND_CHUNKS_MAX)
		p->max_chunks = UNWIND_CHUNKS_MAX;
	if (!p->max_chunks)
		p->max_chunks = 1;
	*out = p;
	return 0;
}

void unwind_pool_free(struct unwind_pool *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->n_chunks; i++) {
		if (p->chunks[i].fd < 0) {
			free(p->chunks[i].words);
			continue;
		}
		munmap(p->chunks[i].words, UNWIND_CHUNK_SZ);
		close(p->chunks[i].fd);
	}
	free(p->free);
	free(p->resting);
	free(p);
}

static int grow(void **v, size_t *cap, size_t n, size_t item)
{
	size_t more = *cap ? 2 * *cap : 64;
	void *p;

	if (n < *cap)
		return 0;
	p = realloc(*v, more * item);
	if (!p)
		return -ENOMEM;
	*v = p;
	*cap = more;
	return 0;
}

/* Returns the first free span after @at. */
static size_t find_free(const struct unwind_pool *p, uint32_t at)
{
	size_t lo = 0, hi = p->n_free;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (p->free[mid].at < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int same_chunk(uint32_t a, uint32_t b)
{
	return UNWIND_PLACE_CHUNK(a) == UNWIND_PLACE_CHUNK(b);
}

static int add_free(struct unwind_pool *p, struct span s)
{
	size_t i = find_free(p, s.at);
	struct span *before = i ? &p->free[i - 1] : NULL;
	struct span *after = i < p->n_free ? &p->free[i] : NULL;

	if (before && before->at + before->n == s.at && same_chunk(before->at, s.at)) {
		before->n += s.n;
		if (after && before->at + before->n == after->at &&
		    same_chunk(before->at, after->at)) {
			before->n += after->n;
			memmove(after, after + 1, (--p->n_free - i) * sizeof(*after));
		}
		return 0;
	}
	if (after && s.at + s.n == after->at && same_chunk(s.at, after->at)) {
		*after = (struct span){s.at, s.n + after->n};
		return 0;
	}
	if (grow((void **)&p->free, &p->cap_free, p->n_free, sizeof(*p->free)))
		return -ENOMEM; /* lost until the end, which is harmless */
	memmove(p->free + i + 1, p->free + i, (p->n_free++ - i) * sizeof(*p->free));
	p->free[i] = s;
	return 0;
}

static int make_shared(struct unwind_pool *p, struct chunk *c)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_MMAPABLE);
	const uint32_t at = p->n_chunks;
	int err;

	c->fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "saker_unwind", sizeof(uint32_t),
			       UNWIND_CHUNK_SZ, 1, &o);
	if (c->fd < 0)
		return -errno;
	c->words = mmap(NULL, UNWIND_CHUNK_SZ, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
	if (c->words == MAP_FAILED || bpf_map_update_elem(p->map, &at, &c->fd, BPF_ANY)) {
		err = -errno;
		if (c->words != MAP_FAILED)
			munmap(c->words, UNWIND_CHUNK_SZ);
		close(c->fd);
		return err;
	}
	return 0;
}

static int add_chunk(struct unwind_pool *p)
{
	struct chunk c = {.fd = -1};
	int err = 0;

	if (p->n_chunks == p->max_chunks)
		return -ENOSPC;
	if (p->map >= 0)
		err = make_shared(p, &c);
	else
		c.words = calloc(1, UNWIND_CHUNK_SZ);
	if (err || !c.words)
		return err ? err : -ENOMEM;
	p->chunks[p->n_chunks++] = c;
	return add_free(p,
			(struct span){(p->n_chunks - 1) * UNWIND_CHUNK_WORDS, UNWIND_CHUNK_WORDS});
}

/* Returns the smallest free span that has room, so that large ones stay. */
static struct span *best_fit(struct unwind_pool *p, uint32_t words)
{
	struct span *best = NULL;

	for (size_t i = 0; i < p->n_free; i++)
		if (p->free[i].n >= words && (!best || p->free[i].n < best->n))
			best = &p->free[i];
	return best;
}

int64_t unwind_pool_alloc(struct unwind_pool *p, uint32_t words)
{
	struct span *s;
	uint32_t at;
	int err;

	if (!words || words > UNWIND_CHUNK_WORDS)
		return -EINVAL;
	s = best_fit(p, words);
	if (!s) {
		err = add_chunk(p);
		if (err)
			return err;
		s = best_fit(p, words);
	}
	at = s->at;
	s->at += words;
	s->n -= words;
	if (!s->n)
		memmove(s, s + 1, (size_t)(p->free + --p->n_free - s) * sizeof(*s));
	p->used += words;
	return at;
}

void unwind_pool_release(struct unwind_pool *p, uint32_t place, uint32_t words, uint64_t now_ns)
{
	if (!words)
		return;
	p->used -= words;
	if (grow((void **)&p->resting, &p->cap_resting, p->n_resting, sizeof(*p->resting)))
		return; /* lost until the end */
	p->resting[p->n_resting++] = (struct resting){{place, words}, now_ns};
}

void unwind_pool_settle(struct unwind_pool *p, uint64_t now_ns)
{
	size_t n = 0;

	while (n < p->n_resting && now_ns - p->resting[n].since_ns >= REST_NS)
		add_free(p, p->resting[n++].span);
	if (!n)
		return;
	p->n_resting -= n;
	memmove(p->resting, p->resting + n, p->n_resting * sizeof(*p->resting));
}

uint64_t *unwind_pool_at(const struct unwind_pool *p, uint32_t place)
{
	return p->chunks[UNWIND_PLACE_CHUNK(place)].words + UNWIND_PLACE_WORD(place);
}

const uint64_t *unwind_pool_chunk(const struct unwind_pool *p, uint32_t chunk)
{
	return chunk < p->n_chunks ? p->chunks[chunk].words : NULL;
}

size_t unwind_pool_max(const struct unwind_pool *p)
{
	return p->max_chunks * UNWIND_CHUNK_SZ;
}

size_t unwind_pool_sz(const struct unwind_pool *p)
{
	return (size_t)p->n_chunks * UNWIND_CHUNK_SZ;
}

size_t unwind_pool_used(const struct unwind_pool *p)
{
	return p->used * sizeof(uint64_t);
}
