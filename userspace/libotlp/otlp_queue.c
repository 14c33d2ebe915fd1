/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order is: the batch that was returned (front), files, then memory. The writer moves batches
 * from the beginning of those in memory to the end of the files, so it keeps the order; while it
 * holds one, otlp_queue_take returns no batch of those in memory.
 */
#include "otlp_queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "otlp_files.h"

#define MEMORY_SZ ((size_t)16 << 20)
#define DIR_SZ (256ull << 20)
#define DISK_PAUSE_NS 1000000000ull /* after an error */
#define OUTAGE_NS (5 * CLOCK_S)
#define STOPS_NS 100000000ull /* a source that waits looks so often whether it is to stop */

const char *const otlp_signal_names[OTLP_SIGNALS] = {"traces", "metrics", "logs"};
const char *const otlp_drop_names[OTLP_DROPS] = {
	[OTLP_DROP_QUEUE_FULL] = "queue_full", [OTLP_DROP_REFUSED] = "refused",
	[OTLP_DROP_REJECTED] = "rejected",     [OTLP_DROP_DAMAGED] = "damaged",
	[OTLP_DROP_NO_MEMORY] = "no_memory",   [OTLP_DROP_EXPIRED] = "expired",
	[OTLP_DROP_ENDED] = "ended",
};

struct otlp_queue {
	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t changed;
	size_t memory_max;
	uint64_t dir_max, last_seq;
	int dir; /* descriptor; -1: memory only */
	struct otlp_batch *front; /* returned; NULL: none */
	struct otlp_batch *first, *last; /* in memory */
	size_t memory; /* bytes of front and of those in memory */
	struct otlp_file *files; /* owned; from n_taken to n_files, oldest first */
	size_t n_taken, n_files, files_cap;
	struct otlp_file unread; /* before these: could not be read for now, if has_unread */
	int has_unread;
	struct otlp_queue_stats st;
	int writing, ends;
	int waits; /* the source can: nothing is dropped to make room, but in an outage on disk */
	uint64_t failing_ns; /* since when batches come back; 0: the last one did not */
	pthread_t writer;
	int has_writer;
};

struct otlp_batch *otlp_batch_new(enum otlp_signal signal, const void *p, size_t len,
				  uint32_t n_items)
{
	struct otlp_batch *b = malloc(sizeof(*b) + len);

	if (!b)
		return NULL;
	*b = (struct otlp_batch){.signal = (uint8_t)signal, .n_items = n_items, .len = len};
	memcpy(b->bytes, p, len);
	return b;
}

/* ---- with the lock ---- */

static size_t size_of(const struct otlp_batch *b)
{
	return sizeof(*b) + b->len;
}

static void count_added(struct otlp_queue *q, uint8_t signal, uint32_t n)
{
	q->st.added[signal] += n;
	q->st.queued += n;
}

static void count_dropped(struct otlp_queue *q, uint8_t signal, uint32_t n, enum otlp_drop why)
{
	q->st.dropped[signal][why] += n;
	q->st.queued -= n;
}

static void drop_batch(struct otlp_queue *q, struct otlp_batch *b, enum otlp_drop why)
{
	count_dropped(q, b->signal, b->n_items, why);
	free(b);
}

static struct otlp_batch *pop_memory(struct otlp_queue *q)
{
	struct otlp_batch *b = q->first;

	if (!b)
		return NULL;
	q->first = b->next;
	if (!b->next)
		q->last = NULL;
	b->next = NULL;
	q->memory -= size_of(b);
	return b;
}

static void push_memory(struct otlp_queue *q, struct otlp_batch *b, int before)
{
	b->next = before ? q->first : NULL;
	if (before)
		q->first = b;
	else if (q->last)
		q->last->next = b;
	else
		q->first = b;
	if (!b->next)
		q->last = b;
	q->memory += size_of(b);
}

static struct otlp_batch *pop_front(struct otlp_queue *q)
{
	struct otlp_batch *b = q->front;

	q->front = NULL;
	if (b)
		q->memory -= size_of(b);
	return b;
}

static int has_files(const struct otlp_queue *q)
{
	return q->n_taken < q->n_files;
}

/* Makes room in the list for one more file. Returns 0 or -ENOMEM. */
static int reserve_file(struct otlp_queue *q)
{
	const size_t cap = q->files_cap ? 2 * q->files_cap : 64;
	struct otlp_file *more;

	if (q->n_taken && q->n_files == q->files_cap) {
		memmove(q->files, q->files + q->n_taken,
			(q->n_files - q->n_taken) * sizeof(*q->files));
		q->n_files -= q->n_taken;
		q->n_taken = 0;
	}
	if (q->n_files < q->files_cap)
		return 0;
	more = realloc(q->files, cap * sizeof(*more));
	if (!more)
		return -ENOMEM;
	q->files = more;
	q->files_cap = cap;
	return 0;
}

/* Appends a file to the list, which has room. */
static void push_file(struct otlp_queue *q, const struct otlp_file *f)
{
	q->files[q->n_files++] = *f;
	q->st.disk += f->size;
}

/* Makes room in memory by dropping the oldest batches. */
static void make_room(struct otlp_queue *q, size_t n)
{
	struct otlp_batch *b;

	while (q->memory + n > q->memory_max) {
		b = q->front && !q->front->on_disk ? pop_front(q) : pop_memory(q);
		if (!b)
			return;
		drop_batch(q, b, OTLP_DROP_QUEUE_FULL);
	}
}

static int fits(const struct otlp_queue *q, const struct otlp_batch *b)
{
	return q->memory + size_of(b) <= q->memory_max;
}

static void add(struct otlp_queue *q, struct otlp_batch *b)
{
	count_added(q, b->signal, b->n_items);
	if (size_of(b) > q->memory_max) {
		drop_batch(q, b, OTLP_DROP_NO_MEMORY);
		return;
	}
	make_room(q, size_of(b));
	b->seq = ++q->last_seq;
	push_memory(q, b, 0);
	pthread_cond_broadcast(&q->changed);
}

/* ---- the writer ---- */

static int wait_for_change(struct otlp_queue *q, uint64_t ns)
{
	const struct timespec until = clock_deadline(ns);

	return pthread_cond_clockwait(&q->changed, &q->lock, CLOCK_MONOTONIC, &until);
}

/* Takes the oldest files for which there is no room out of the list, and removes them. Returns 0 or
 * -ENOSPC: none is removed for what has no room even then. */
static int make_room_on_disk(struct otlp_queue *q, uint64_t n)
{
	struct otlp_file f;

	if (n > q->dir_max)
		return -ENOSPC;
	while (has_files(q) && q->st.disk + n > q->dir_max) {
		f = q->files[q->n_taken++];
		q->st.disk -= f.size;
		count_dropped(q, f.signal, f.n_items, OTLP_DROP_QUEUE_FULL);
		pthread_mutex_unlock(&q->lock);
		otlp_file_remove(q->dir, &f);
		pthread_mutex_lock(&q->lock);
	}
	return q->st.disk + n > q->dir_max ? -ENOSPC : 0;
}

/* Moves the oldest batch in memory to a file. Returns 0, or a negative errno with it in memory, and
 * no file: one that is not in the list would be sent again after a restart. */
static int write_one(struct otlp_queue *q, enum otlp_sync sync)
{
	struct otlp_batch *b = pop_memory(q);
	const struct otlp_file f = {.seq = b->seq,
				    .n_items = b->n_items,
				    .signal = b->signal,
				    .size = otlp_file_size(b->len)};
	int err = reserve_file(q);

	q->writing = 1;
	err = err ?: make_room_on_disk(q, f.size);
	if (!err) {
		pthread_mutex_unlock(&q->lock);
		err = otlp_file_write(q->dir, b, sync);
		pthread_mutex_lock(&q->lock);
	}
	q->writing = 0;
	if (err) {
		q->st.disk_errors++;
		push_memory(q, b, 1);
	} else {
		push_file(q, &f);
		free(b);
	}
	pthread_cond_broadcast(&q->changed);
	return err;
}

static int is_outage(const struct otlp_queue *q)
{
	return q->failing_ns && clock_now_ns() >= q->failing_ns + OUTAGE_NS;
}

/* Returns whether the writer is to move a batch. A source that can wait does so for a collector
 * that is slow; in an outage the directory has the newest data. */
static int has_to_write(const struct otlp_queue *q)
{
	if (!q->first || q->memory <= q->memory_max / 2)
		return 0;
	return !q->waits || is_outage(q) ||
	       q->st.disk + otlp_file_size(q->first->len) <= q->dir_max;
}

static void *write_files(void *ctx)
{
	struct otlp_queue *q = ctx;

	pthread_mutex_lock(&q->lock);
	while (!q->ends) {
		if (has_to_write(q)) {
			if (write_one(q, OTLP_SYNC_NOW))
				wait_for_change(q, DISK_PAUSE_NS);
		} else if (q->waits) { /* an outage is no change */
			wait_for_change(q, CLOCK_S);
		} else {
			pthread_cond_wait(&q->changed, &q->lock);
		}
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

/* ---- life ---- */

static int open_dir(struct otlp_queue *q, const char *path)
{
	struct otlp_file *list = NULL;
	int n, err = 0;

	q->dir = otlp_dir_open(path);
	if (q->dir < 0)
		return q->dir;
	n = otlp_dir_list(&list, q->dir);
	for (int i = 0; i < n; i++) {
		err = reserve_file(q);
		if (err)
			break;
		push_file(q, &list[i]);
		count_added(q, list[i].signal, list[i].n_items);
		q->last_seq = list[i].seq;
	}
	free(list);
	return n < 0 ? n : err;
}

int otlp_queue_new(struct otlp_queue **out, const struct otlp_queue_opts *o)
{
	struct otlp_queue *q = calloc(1, sizeof(*q));
	int err;

	if (!q)
		return -ENOMEM;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->changed, NULL);
	q->memory_max = o->memory_sz ? o->memory_sz : MEMORY_SZ;
	q->dir_max = o->dir_sz ? o->dir_sz : DIR_SZ;
	q->dir = -1;
	err = o->dir ? open_dir(q, o->dir) : 0;
	if (err)
		otlp_queue_free(q);
	else
		*out = q;
	return err;
}

int otlp_queue_start(struct otlp_queue *q)
{
	const int err = q->dir < 0 ? 0 : pthread_create(&q->writer, NULL, write_files, q);

	q->has_writer = q->dir >= 0 && !err;
	return -err;
}

void otlp_queue_end(struct otlp_queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->ends = 1;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
}

void otlp_queue_save(struct otlp_queue *q)
{
	struct otlp_batch *b;
	int writes;

	otlp_queue_end(q);
	if (q->has_writer)
		pthread_join(q->writer, NULL);
	q->has_writer = 0;
	pthread_mutex_lock(&q->lock);
	b = pop_front(q);
	if (b && !b->on_disk)
		push_memory(q, b, 1);
	else
		free(b);
	writes = q->first && q->dir >= 0;
	while (q->first)
		if (q->dir < 0 || write_one(q, OTLP_SYNC_LATER))
			drop_batch(q, pop_memory(q), OTLP_DROP_ENDED);
	pthread_mutex_unlock(&q->lock);
	if (writes)
		otlp_dir_sync(q->dir); /* once for all of them: the end does not take long */
}

void otlp_queue_free(struct otlp_queue *q)
{
	if (!q)
		return;
	otlp_queue_save(q);
	if (q->dir >= 0)
		close(q->dir);
	free(q->files);
	pthread_cond_destroy(&q->changed);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

/* ---- use ---- */

void otlp_queue_add(struct otlp_queue *q, struct otlp_batch *batch)
{
	if (!batch)
		return;
	pthread_mutex_lock(&q->lock);
	add(q, batch);
	pthread_mutex_unlock(&q->lock);
}

void otlp_queue_add_wait(struct otlp_queue *q, struct otlp_batch *batch, int (*stops)(void))
{
	if (!batch)
		return;
	pthread_mutex_lock(&q->lock);
	q->waits = 1;
	while (!q->ends && !stops() && q->memory && !fits(q, batch))
		wait_for_change(q, STOPS_NS);
	add(q, batch);
	pthread_mutex_unlock(&q->lock);
}

void otlp_queue_lost(struct otlp_queue *q, enum otlp_signal signal, uint32_t n_items)
{
	pthread_mutex_lock(&q->lock);
	count_added(q, (uint8_t)signal, n_items);
	count_dropped(q, (uint8_t)signal, n_items, OTLP_DROP_NO_MEMORY);
	pthread_mutex_unlock(&q->lock);
}

/* Reads the oldest file, which stays until the batch is done. NULL: it was damaged, or it is
 * unread. */
static struct otlp_batch *take_file(struct otlp_queue *q)
{
	const struct otlp_file f = q->has_unread ? q->unread : q->files[q->n_taken++];
	struct otlp_batch *b = NULL;
	int err;

	q->has_unread = 0;
	pthread_mutex_unlock(&q->lock);
	err = otlp_file_read(&b, q->dir, &f);
	if (err == -EBADMSG)
		otlp_file_remove(q->dir, &f);
	pthread_mutex_lock(&q->lock);
	if (err == -EBADMSG) {
		q->st.disk -= f.size;
		count_dropped(q, f.signal, f.n_items, OTLP_DROP_DAMAGED);
	} else if (err) {
		q->unread = f;
		q->has_unread = 1;
	}
	return b;
}

static struct otlp_batch *take(struct otlp_queue *q)
{
	struct otlp_batch *b = NULL;

	if (q->front)
		return pop_front(q);
	while (!b && (q->has_unread || has_files(q))) {
		b = take_file(q);
		if (q->has_unread)
			return NULL;
	}
	return b ? b : q->writing ? NULL : pop_memory(q);
}

struct otlp_batch *otlp_queue_take(struct otlp_queue *q, uint64_t wait_ns)
{
	const uint64_t until_ns = clock_now_ns() + wait_ns;
	struct otlp_batch *b;
	uint64_t now_ns;

	pthread_mutex_lock(&q->lock);
	while (!(b = take(q)) && !q->ends && (now_ns = clock_now_ns()) < until_ns)
		wait_for_change(q, until_ns - now_ns);
	pthread_cond_broadcast(&q->changed); /* there may be room */
	pthread_mutex_unlock(&q->lock);
	return b;
}

/* Removes the file of a batch that was taken. */
static void remove_file(struct otlp_queue *q, const struct otlp_batch *b)
{
	const struct otlp_file f = {.seq = b->seq, .n_items = b->n_items, .signal = b->signal};

	if (!b->on_disk)
		return;
	otlp_file_remove(q->dir, &f);
	pthread_mutex_lock(&q->lock);
	q->st.disk -= otlp_file_size(b->len);
	pthread_mutex_unlock(&q->lock);
}

void otlp_queue_done(struct otlp_queue *q, struct otlp_batch *b, uint64_t rejected)
{
	if (rejected > b->n_items)
		rejected = b->n_items;
	remove_file(q, b);
	pthread_mutex_lock(&q->lock);
	q->failing_ns = 0;
	q->st.queued -= b->n_items - rejected;
	q->st.sent[b->signal] += b->n_items - rejected;
	count_dropped(q, b->signal, (uint32_t)rejected, OTLP_DROP_REJECTED);
	pthread_mutex_unlock(&q->lock);
	free(b);
}

void otlp_queue_drop(struct otlp_queue *q, struct otlp_batch *b, enum otlp_drop why)
{
	remove_file(q, b);
	pthread_mutex_lock(&q->lock);
	q->failing_ns = 0;
	drop_batch(q, b, why);
	pthread_mutex_unlock(&q->lock);
}

void otlp_queue_return(struct otlp_queue *q, struct otlp_batch *b)
{
	pthread_mutex_lock(&q->lock);
	q->failing_ns = q->failing_ns ?: clock_now_ns();
	q->front = b;
	q->memory += size_of(b);
	if (!b->on_disk && !q->waits)
		make_room(q, 0);
	pthread_mutex_unlock(&q->lock);
}

void otlp_queue_get_stats(struct otlp_queue *q, struct otlp_queue_stats *st)
{
	pthread_mutex_lock(&q->lock);
	*st = q->st;
	st->memory = q->memory;
	pthread_mutex_unlock(&q->lock);
}
