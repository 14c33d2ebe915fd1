/* SPDX-License-Identifier: Apache-2.0 */
/* Common to the three kinds of ring: the page of positions and counters, and the protocol. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>

#include "ring/ring_impl.h"

/* Returns the size of the value of one CPU's map. */
static size_t ring_value_sz(int kind, size_t ring_sz)
{
	return sizeof(struct ring_hdr) + (kind == RING_ARRAY ? ring_sz : SCRATCH_SZ) + RING_SLACK;
}

int ring_rec_ok(const struct rec_hdr *rec, uint64_t room)
{
	return room >= sizeof(*rec) && rec->len >= sizeof(*rec) && rec->len <= room &&
	       rec->len <= DRV_REC_MAX && !(rec->len & 7) && rec->evt.len >= sizeof(rec->evt) &&
	       rec->evt.len <= rec->len - (sizeof(*rec) - sizeof(rec->evt));
}

int ring_map_create(int kind, size_t ring_sz)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "saker_cpu", sizeof(uint32_t),
				(uint32_t)ring_value_sz(kind, ring_sz), 1, &opts);

	return fd < 0 ? -errno : fd;
}

int ring_open(struct ring **out, const struct ring_ops *ops, unsigned int cpu, size_t ring_sz,
	      int map_fd, int kind_fd, struct drv_slot *slots)
{
	struct ring *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->ops = ops;
	r->cpu = cpu;
	r->sz = ring_sz;
	r->slot = &slots[cpu];
	r->hdr = mmap(NULL, sizeof(*r->hdr), PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	if (r->hdr == MAP_FAILED) {
		err = -errno;
		free(r);
		return err;
	}
	err = ops->open(r, kind_fd);
	if (err) {
		ring_close(r);
		return err;
	}
	*out = r;
	return 0;
}

void ring_close(struct ring *r)
{
	if (!r)
		return;
	r->ops->close(r);
	munmap(r->hdr, sizeof(*r->hdr));
	free(r);
}

/*
 * Reads slot, writers, head: the reverse of the order in which the driver clears and publishes. A
 * nested record below the first head without a writer has its interrupted one, if any, below the
 * head read afterwards.
 */
void ring_refresh(struct ring *r, struct ring_bound *bound)
{
	const uint64_t before = r->ops->head(r);
	const struct drv_slot *s = r->slot;

	bound->open_ns = UINT64_MAX;
	if (__atomic_load_n(&s->task, __ATOMIC_ACQUIRE) &&
	    __atomic_load_n(&s->call.state, __ATOMIC_ACQUIRE) != CALL_SENT)
		bound->open_ns = __atomic_load_n(&s->call.ts, __ATOMIC_ACQUIRE);
	bound->in_flight = __atomic_load_n(&r->slot->ring.nest, __ATOMIC_ACQUIRE) != 0;
	r->head = r->ops->head(r);
	bound->in_flight |= r->held_back;
	if (!bound->in_flight)
		r->settled = before;
}

static void skip_corrupt(struct ring *r)
{
	r->n_corrupt++;
	r->pos = r->head;
	r->n_read = __atomic_load_n(&r->slot->ring.resv, __ATOMIC_RELAXED);
}

/*
 * The record of a nested writer may lie before that of the writer it interrupted, whose key is
 * lower. Such a run is delivered by keys. A nested record that no record with a lower key follows
 * is in its place, or the interrupted one was lost.
 */
static int in_run(const struct ring *r, const struct rec_hdr *rec, uint64_t key)
{
	if (!r->n_run)
		return 1;
	return r->n_run < RING_RUN_MAX && (REC_LEVEL(rec->flags) || key < r->run[0].key);
}

static void run_insert(struct ring *r, struct ring_item item)
{
	unsigned int i = r->n_run++;

	for (; i && r->run[i - 1].key <= item.key; i--)
		r->run[i] = r->run[i - 1];
	r->run[i] = item;
}

enum run_state {
	RUN_COMPLETE,
	RUN_INCOMPLETE, /* records that belong to it may be missing */
};

/* Finds the run that begins at r->pos with a nested record. */
static enum run_state find_run(struct ring *r)
{
	const uint64_t start = r->pos;
	int open = 1;

	while (open && r->pos < r->head) {
		uint64_t step = 0, key;
		const struct rec_hdr *rec = r->ops->at(r, &step);

		if (r->pos >= r->head || !step || r->pos + step > r->head)
			break; /* ring_peek comes back to it */
		key = rec ? rec_key(rec) : 0;
		open = !rec || (REC_LEVEL(rec->flags) && r->n_run < RING_RUN_MAX);
		if (rec && !in_run(r, rec, key))
			break;
		if (rec)
			run_insert(r, (struct ring_item){r->pos, step, key});
		r->pos += step;
	}
	r->run_end = r->pos;
	r->pos = start;
	return open && r->run_end > r->settled ? RUN_INCOMPLETE : RUN_COMPLETE;
}

/* The records from r->pos on are read after the next refresh. */
static void postpone_run(struct ring *r)
{
	r->n_run = 0;
	r->head = r->pos;
}

static __attribute__((noinline)) void peek_run(struct ring *r)
{
	const struct ring_item *item = &r->run[r->n_run - 1];
	const uint64_t start = r->pos;

	r->pos = item->pos;
	r->rec = r->ops->at(r, &r->step);
	r->pos = start;
}

/* Goes on to a record that can be read, behind what is at r->pos, of @step bytes. */
static __attribute__((noinline)) void peek_other(struct ring *r, const struct rec_hdr *rec,
						 uint64_t step)
{
	if (!step || r->pos + step > r->head)
		skip_corrupt(r);
	else if (!rec) /* an invalid record, but of a known length */
		r->pos += step;
	else if (find_run(r) == RUN_COMPLETE)
		peek_run(r);
	else
		postpone_run(r);
}

/* Bytes behind a record that are prefetched: two or three records. */
#define PREFETCH 256

const struct rec_hdr *ring_peek(struct ring *r)
{
	if (!r->step && r->n_run)
		peek_run(r);
	while (!r->step && r->pos < r->head) {
		const struct rec_hdr *rec = r->ops->at(r, &r->step);
		const uint64_t step = r->step;

		if (rec && step && r->pos + step <= r->head && !REC_LEVEL(rec->flags)) {
			r->rec = rec;
			__builtin_prefetch((const char *)rec + step + PREFETCH);
			return rec;
		}
		r->step = 0;
		if (r->pos >= r->head) /* not complete yet */
			break;
		peek_other(r, rec, step);
	}
	return r->step ? r->rec : NULL;
}

void ring_advance(struct ring *r)
{
	if (!r->step)
		return;
	r->n_read += r->rec->len;
	if (!r->n_run)
		r->pos += r->step;
	else if (--r->n_run == 0)
		r->pos = r->run_end;
	r->step = 0;
}

void ring_release(struct ring *r)
{
	r->ops->release(r);
	if (r->slot->ring.tail != r->n_read)
		__atomic_store_n(&r->slot->ring.tail, r->n_read, __ATOMIC_RELEASE);
}

uint64_t ring_pending(const struct ring *r)
{
	return r->head - r->pos;
}

int ring_unread(const struct ring *r)
{
	return __atomic_load_n(&r->slot->ring.resv, __ATOMIC_SEQ_CST) != r->slot->ring.tail;
}

static uint64_t n_used(const struct ring *r)
{
	return __atomic_load_n(&r->slot->ring.resv, __ATOMIC_RELAXED) - r->slot->ring.tail;
}

int ring_is_half_full(const struct ring *r)
{
	uint64_t used = 0;

	if (!r->shared)
		return n_used(r) > r->sz / 2;
	for (const struct ring *of = r->shared->first; of; of = of->next_sharer)
		used += n_used(of);
	return used > r->sz / 2;
}

void ring_set_asleep(struct ring *r, enum ring_sleep how)
{
	__atomic_store_n(&r->slot->ring.asleep, (uint64_t)how, __ATOMIC_SEQ_CST);
}

unsigned int ring_cpu(const struct ring *r)
{
	return r->cpu;
}

uint64_t ring_n_corrupt(const struct ring *r)
{
	return r->n_corrupt;
}

static void add(uint64_t *sum, const uint64_t *v)
{
	*sum += __atomic_load_n(v, __ATOMIC_RELAXED);
}

void ring_counters(const struct ring *r, struct drv_sums *sum)
{
	add(&sum->n_bad_record, &r->slot->ring.n_bad_record);
	for (int l = 0; l < DRV_LEVELS; l++) {
		const struct drv_counts *n = &r->slot->ring.counts[l];
		const struct drv_counters *c = &r->hdr->counters[l];

		add(&sum->n.seen, &n->seen);
		add(&sum->n.records, &n->records);
		add(&sum->n.n_enters, &n->n_enters);
		add(&sum->n.n_others, &n->n_others);
		for (int why = 0; why < DRV_DROP_MAX; why++)
			for (int kind = 0; kind < LOST_ROOM; kind++)
				add(&sum->other.lost[why][kind], &c->lost[why][kind]);
		add(&sum->other.n_saved, &c->n_saved);
		add(&sum->other.n_no_enter, &c->n_no_enter);
		add(&sum->other.n_storage_fail, &c->n_storage_fail);
		add(&sum->other.n_self, &c->n_self);
		add(&sum->other.n_filtered, &c->n_filtered);
		add(&sum->other.n_unmarked, &c->n_unmarked);
	}
}

uint64_t ring_n_lost(const struct ring *r)
{
	return __atomic_load_n(&r->slot->ring.n_lost, __ATOMIC_ACQUIRE);
}

void ring_set_reported(struct ring *r, unsigned int why, uint64_t to_ns)
{
	__atomic_store_n(&r->hdr->reported_ns[why], to_ns, __ATOMIC_RELEASE);
}

/* The driver writes times before counts. A loss in between may be in the times and not yet in the
 * count: it is noted next time, as of the end of this span. */
void ring_lost(const struct ring *r, unsigned int why, struct ring_lost *lost)
{
	const uint64_t reported = r->hdr->reported_ns[why];

	memset(lost, 0, sizeof(*lost));
	for (int l = 0; l < DRV_LEVELS; l++) {
		const struct drv_counters *c = &r->hdr->counters[l];
		uint64_t first, last;

		for (int kind = 0; kind < LOST_ROOM; kind++)
			add(&lost->n[kind], &c->lost[why][kind]);
		last = __atomic_load_n(&c->lost_at[why].last_ns, __ATOMIC_ACQUIRE);
		first = __atomic_load_n(&c->lost_at[why].first_ns, __ATOMIC_ACQUIRE);
		if (last <= reported)
			continue;
		if (first <= reported)
			first = reported + 1;
		if (!lost->from_ns || first < lost->from_ns)
			lost->from_ns = first;
		if (last > lost->to_ns)
			lost->to_ns = last;
	}
}
