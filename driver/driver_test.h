/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the driver's tests: captures the calls of a child, and decodes records. */
#ifndef DRIVER_DRIVER_TEST_H
#define DRIVER_DRIVER_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "event/event_table.h"
#include "live/live_load.h"

struct capture {
	struct live_driver *d;
	struct rec_hdr **recs; /* copies, in the order of their rings */
	size_t n, room;
	pid_t only; /* keep only the records of this TID; 0: all */
	uint64_t n_records; /* kept or not */
	struct drv_sums counters;
	uint64_t n_corrupt;
	size_t n_back; /* records with an older key than the one before them in their ring */
};

static inline void say(void *ctx, enum scap_log_level level, const char *text)
{
	(void)ctx;
	(void)level;
	print_message("%s\n", text);
}

static const struct scap_log test_log = {.fn = say};

static inline struct capture begin_capture(const struct live_opts *o)
{
	struct capture c = {0};

	assert_int_equal(live_load(&c.d, o, &test_log), 0);
	assert_int_equal(live_attach(c.d), 0);
	return c;
}

static inline void inout_store(struct capture *c, const struct rec_hdr *rec)
{
	c->n_records++;
	if (c->only && rec->evt.tid != (uint64_t)c->only)
		return;
	if (c->n == c->room) {
		c->room = c->room ? 2 * c->room : 4096;
		c->recs = realloc(c->recs, c->room * sizeof(*c->recs));
		assert_non_null(c->recs);
	}
	c->recs[c->n] = malloc(rec->len);
	assert_non_null(c->recs[c->n]);
	memcpy(c->recs[c->n++], rec, rec->len);
}

static inline void drain(struct capture *c, struct ring *r)
{
	struct ring_bound bound;
	const struct rec_hdr *rec;
	uint64_t last = 0;

	ring_refresh(r, &bound);
	while ((rec = ring_peek(r))) {
		c->n_back += rec_key(rec) < last;
		last = rec_key(rec);
		inout_store(c, rec);
		ring_advance(r);
	}
	ring_release(r);
	assert_int_equal(ring_pending(r), 0);
	c->n_corrupt += ring_n_corrupt(r);
}

static inline int by_time(const void *a, const void *b)
{
	const struct rec_hdr *x = *(struct rec_hdr *const *)a, *y = *(struct rec_hdr *const *)b;

	return (x->evt.ts > y->evt.ts) - (x->evt.ts < y->evt.ts);
}

static inline void end_capture(struct capture *c)
{
	uint64_t dropped = 0;

	live_detach(c->d);
	for (unsigned int i = 0; i < live_n_rings(c->d); i++)
		drain(c, live_ring(c->d, i));
	live_counters(c->d, &c->counters);
	for (int i = 0; i < DRV_DROP_MAX; i++)
		dropped += drv_dropped(&c->counters.other, i);
	assert_int_equal(c->counters.n.seen, c->counters.n.records + dropped);
	assert_int_equal(c->counters.n_bad_record, 0);
	assert_int_equal(c->n_corrupt, 0);
	if (!dropped) /* the exit of a call whose raw enter was dropped stands for both */
		assert_int_equal(c->n_back, 0);
	if (c->n)
		qsort(c->recs, c->n, sizeof(*c->recs), by_time);
}

static inline void free_capture(struct capture *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->recs[i]);
	free(c->recs);
	live_close(c->d);
}

/* Runs @fn in a child while everything is recorded. Returns the child's PID. */
static inline pid_t capture_child(struct capture *c, const struct live_opts *o, void (*fn)(void))
{
	pid_t pid;
	int status;

	*c = begin_capture(o);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		fn();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	end_capture(c);
	return pid;
}

/* Returns the next record of @tid's call @nr from *from on, or NULL; moves *from past it. Leaves
 * out enters of preempted tasks, which may come for any call. */
static inline const struct rec_hdr *find(const struct capture *c, size_t *from, pid_t tid,
					 unsigned int nr)
{
	for (; *from < c->n; ++*from) {
		const struct rec_hdr *r = c->recs[*from];
		const unsigned int enter = r->flags & (REC_F_RAW_ENTER | REC_F_BLOCKED);

		if (r->evt.tid == (uint64_t)tid && r->nr == nr && enter != REC_F_RAW_ENTER)
			return c->recs[(*from)++];
	}
	return NULL;
}

static inline const struct rec_hdr *must_find(const struct capture *c, size_t *from, pid_t tid,
					      unsigned int nr)
{
	const struct rec_hdr *r = find(c, from, tid, nr);

	if (!r)
		fail_msg("no record of call %u of %d", nr, tid);
	return r;
}

/* Returns parameter @i as a number of its own width. */
static inline int64_t num(const struct rec_hdr *r, unsigned int i)
{
	struct scap_params p;
	int64_t v = 0;

	assert_int_equal(scap_evt_params(&r->evt, &p), 0);
	assert_true(i < p.n && p.v[i].len <= sizeof(v));
	memcpy(&v, p.v[i].p, p.v[i].len);
	return v;
}

static inline void assert_bytes(const struct rec_hdr *r, unsigned int i, const void *want,
				size_t len)
{
	struct scap_params p;

	assert_int_equal(scap_evt_params(&r->evt, &p), 0);
	assert_int_equal(p.v[i].len, len);
	assert_memory_equal(p.v[i].p, want, len);
}

#endif /* DRIVER_DRIVER_TEST_H */
