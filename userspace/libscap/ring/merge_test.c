/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The merge on simulated CPUs. Each has a script of calls, switches and interrupts with the
 * times at which the driver would note, write and publish them. The simulated clock runs on
 * between any two looks of the reader, so that every interleaving comes up.
 */
#include "ring/merge.h"

#include <stdlib.h>
#include <string.h>

#include "testing/test_main.h"

#define MS 1000000ull
#define START (1000 * MS)
#define GRAIN 50 /* times are multiples of it, so that equal ones are frequent */

struct item {
	uint64_t key, published;
	uint32_t cpu, seq; /* place in the ring */
};

/* From @from to @until the slot has been open since @open_ns, or (open_ns 0) a writer is at work.
 */
struct span {
	uint64_t from, until, open_ns;
};

struct cpu {
	struct sim *sim;
	struct item *items;
	struct span *spans;
	unsigned int n_items, n_spans, cap_items, cap_spans;
	unsigned int head, next,
		released; /* items complete at the last refresh, popped, released */
	unsigned int span; /* spans before this one are over */
	uint64_t t; /* end of the script */
};

struct sim {
	uint64_t now;
	uint64_t rng;
	struct cpu cpus[16];
	void *sources[16];
	unsigned int n_cpus;
	/* chances in 1000 */
	unsigned int p_long, p_slow_writer, p_too_long, p_too_slow;
	uint64_t max_keep; /* most items popped and not released */
};

static uint64_t rnd(struct sim *s, uint64_t below)
{
	s->rng ^= s->rng << 13;
	s->rng ^= s->rng >> 7;
	s->rng ^= s->rng << 17;
	return below ? s->rng % below : 0;
}

static int chance(struct sim *s, unsigned int in_1000)
{
	return rnd(s, 1000) < in_1000;
}

static uint64_t grains(uint64_t ns)
{
	return ns / GRAIN * GRAIN;
}

static void add_item(struct cpu *c, uint64_t key, uint64_t published)
{
	if (c->n_items == c->cap_items) {
		c->cap_items = c->cap_items ? 2 * c->cap_items : 64;
		c->items = realloc(c->items, c->cap_items * sizeof(*c->items));
		assert_non_null(c->items);
	}
	c->items[c->n_items] =
		(struct item){key, published, (uint32_t)(c - c->sim->cpus), c->n_items};
	c->n_items++;
}

static void add_span(struct cpu *c, uint64_t from, uint64_t until, uint64_t open_ns)
{
	if (c->n_spans == c->cap_spans) {
		c->cap_spans = c->cap_spans ? 2 * c->cap_spans : 64;
		c->spans = realloc(c->spans, c->cap_spans * sizeof(*c->spans));
		assert_non_null(c->spans);
	}
	c->spans[c->n_spans++] = (struct span){from, until, open_ns};
}

static uint64_t call_ns(struct sim *s)
{
	if (chance(s, s->p_too_long))
		return grains(MERGE_OPEN_NS + rnd(s, 30 * MS));
	if (chance(s, s->p_long))
		return grains(rnd(s, 40 * MS));
	return grains(100 + rnd(s, 5000));
}

static uint64_t write_ns(struct sim *s)
{
	if (chance(s, s->p_too_slow))
		return grains(3 * MS);
	if (chance(s, s->p_slow_writer))
		return grains(rnd(s, 800000));
	return grains(50 + rnd(s, 500));
}

/* One record for both ends; perhaps an interrupt's record inside its writer. */
static void script_call(struct cpu *c)
{
	struct sim *s = c->sim;
	const uint64_t enter = c->t, exit = enter + call_ns(s), done = exit + write_ns(s);

	add_span(c, enter, done, enter);
	add_span(c, exit, done, 0);
	add_item(c, enter, done);
	add_item(c, exit, done);
	if (chance(s, 100))
		add_item(c, exit + grains(rnd(s, done - exit)), done);
	c->t = done;
}

/* Switched out: the enter is sent ahead. The exit comes from whatever CPU runs it later. */
static void script_switched_call(struct cpu *c)
{
	struct sim *s = c->sim;
	const uint64_t enter = c->t, out = enter + call_ns(s), done = out + write_ns(s);
	struct cpu *there = &s->cpus[rnd(s, s->n_cpus)];
	uint64_t exit, exit_done;

	add_span(c, enter, done, enter);
	add_span(c, out, done, 0);
	add_item(c, enter, done);
	c->t = done + GRAIN;
	if (there->t < c->t)
		there->t = c->t;
	exit = there->t;
	exit_done = exit + write_ns(s);
	add_span(there, exit, exit_done, 0);
	add_item(there, exit, exit_done);
	there->t = exit_done;
}

static void script_lone_event(struct cpu *c)
{
	const uint64_t done = c->t + write_ns(c->sim);

	add_span(c, c->t, done, 0);
	add_item(c, c->t, done);
	c->t = done;
}

static void write_scripts(struct sim *s, unsigned int n_steps)
{
	for (unsigned int i = 0; i < n_steps; i++) {
		struct cpu *c = &s->cpus[rnd(s, s->n_cpus)];

		c->t += grains(rnd(s, chance(s, 20) ? 200000 : 2000));
		switch (rnd(s, 4)) {
		case 0:
			script_switched_call(c);
			break;
		case 1:
			script_lone_event(c);
			break;
		default:
			script_call(c);
		}
	}
}

static void run_on(struct sim *s, uint64_t ns)
{
	s->now += rnd(s, ns);
}

static int span_now(const struct cpu *c, int open, uint64_t *open_ns)
{
	for (unsigned int i = c->span; i < c->n_spans && c->spans[i].from <= c->sim->now; i++)
		if (c->spans[i].until > c->sim->now && !!c->spans[i].open_ns == open) {
			*open_ns = c->spans[i].open_ns;
			return 1;
		}
	return 0;
}

/* In the reverse order of the driver's writes, as ring_refresh reads. */
static void sim_refresh(void *source, struct ring_bound *bound)
{
	struct cpu *c = source;
	uint64_t unused;

	while (c->span < c->n_spans && c->spans[c->span].until <= c->sim->now)
		c->span++;
	if (!span_now(c, 1, &bound->open_ns))
		bound->open_ns = UINT64_MAX;
	run_on(c->sim, 100);
	bound->in_flight = span_now(c, 0, &unused);
	run_on(c->sim, 100);
	while (c->head < c->n_items && c->items[c->head].published <= c->sim->now)
		c->head++;
	run_on(c->sim, 100);
}

static uint64_t sim_key(void *source)
{
	struct cpu *c = source;

	return c->next < c->head ? c->items[c->next].key : MERGE_NO_KEY;
}

static uint64_t sim_pop(void *source)
{
	struct cpu *c = source;

	assert_true(c->next < c->head);
	c->next++;
	if (c->next - c->released > c->sim->max_keep)
		c->sim->max_keep = c->next - c->released;
	run_on(c->sim, 100);
	return sim_key(source);
}

static void sim_release(void *source)
{
	struct cpu *c = source;

	c->released = c->next;
}

static uint64_t sim_now(void *ctx)
{
	struct sim *s = ctx;

	run_on(s, 50);
	return s->now;
}

static const struct merge_ops sim_ops = {sim_refresh, sim_key, sim_pop, sim_release, sim_now};

static struct sim *sim_new(unsigned int n_cpus, uint64_t seed)
{
	struct sim *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	*s = (struct sim){.now = START, .rng = seed, .n_cpus = n_cpus};
	for (unsigned int i = 0; i < n_cpus; i++) {
		s->cpus[i].sim = s;
		s->cpus[i].t = START;
		s->sources[i] = &s->cpus[i];
	}
	return s;
}

static void sim_free(struct sim *s)
{
	for (unsigned int i = 0; i < s->n_cpus; i++) {
		free(s->cpus[i].items);
		free(s->cpus[i].spans);
	}
	free(s);
}

static unsigned int n_items(const struct sim *s)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < s->n_cpus; i++)
		n += s->cpus[i].n_items;
	return n;
}

static uint64_t end_of_scripts(const struct sim *s)
{
	uint64_t end = 0;

	for (unsigned int i = 0; i < s->n_cpus; i++)
		if (s->cpus[i].t > end)
			end = s->cpus[i].t;
	return end;
}

struct outcome {
	struct item *items;
	unsigned int n;
	unsigned int n_moved; /* delivered with another order than their key */
};

/* Reads to the end of all scripts, as the engine does: merge, sleep, merge. */
static struct outcome run(struct sim *s)
{
	struct outcome o = {.items = calloc(n_items(s), sizeof(struct item))};
	struct merge *m = merge_new(&sim_ops, s->sources, s->n_cpus, s->n_cpus, s);
	const uint64_t end = end_of_scripts(s);
	uint64_t last = 0;
	struct merge_item item;
	int draining = 0;

	assert_non_null(m);
	for (;;) {
		const struct cpu *c;

		if (!merge_next(m, &item)) {
			if (draining)
				break;
			draining = s->now > end;
			if (draining)
				merge_drain(m);
			run_on(s, 5 * MS);
			continue;
		}
		c = &s->cpus[item.source];
		assert_true(o.n < n_items(s));
		assert_int_equal(c->items[c->next].key, item.key);
		assert_true(item.order >= last);
		assert_true(item.order >= item.key);
		last = item.order;
		o.n_moved += item.order != item.key;
		o.items[o.n++] = c->items[c->next];
	}
	assert_int_equal(o.n, n_items(s));
	assert_int_equal(o.n_moved, merge_n_late(m));
	merge_free(m);
	return o;
}

static int by_key(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* The delivered events are the stable sort of all events by time. */
static void expect_sorted(struct outcome *o)
{
	struct item *sorted = calloc(o->n, sizeof(*sorted));

	assert_non_null(sorted);
	memcpy(sorted, o->items, o->n * sizeof(*sorted));
	qsort(sorted, o->n, sizeof(*sorted), by_key);
	for (unsigned int i = 0; i < o->n; i++) {
		assert_int_equal(o->items[i].cpu, sorted[i].cpu);
		assert_int_equal(o->items[i].seq, sorted[i].seq);
	}
	free(sorted);
	assert_int_equal(o->n_moved, 0);
}

static void test_random_interleavings(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct sim *s = sim_new(1 + seed % 9, seed * 0x9e3779b97f4a7c15ull);
		struct outcome o;

		s->p_long = seed % 3 ? 2 : 0;
		s->p_slow_writer = seed % 2 ? 5 : 0;
		write_scripts(s, 3000);
		o = run(s);
		expect_sorted(&o);
		assert_true(s->max_keep <= 128);
		free(o.items);
		sim_free(s);
	}
}

/* Beyond the bounds nothing is lost, nothing goes back, and every late one is counted. */
static void test_late_items(void **state)
{
	uint64_t n_late = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct sim *s = sim_new(2 + seed % 7, seed * 0x9e3779b97f4a7c15ull);
		struct outcome o;

		s->p_too_long = 2;
		s->p_too_slow = 2;
		write_scripts(s, 3000);
		o = run(s);
		n_late += o.n_moved;
		free(o.items);
		sim_free(s);
	}
	assert_true(n_late > 0);
}

/*
 * The raw enter of a call was dropped, as its ring was full, and so its exit stands for both and
 * is older than what lies before it. It comes where it lies, not earlier than its predecessor.
 */
static void test_exit_whose_enter_was_dropped(void **state)
{
	const uint64_t keys[] = {START + 10 * MS, START + 2 * MS, START + 12 * MS};
	const uint64_t orders[] = {START + 10 * MS, START + 10 * MS, START + 12 * MS};
	struct sim *s = sim_new(2, 1);
	struct merge *m = merge_new(&sim_ops, s->sources, 2, 2, s);
	struct merge_item item;

	(void)state;
	for (int i = 0; i < 3; i++)
		add_item(&s->cpus[0], keys[i], START + 12 * MS);
	add_item(&s->cpus[1], START + 11 * MS, START + 11 * MS);
	s->now = START + 20 * MS;
	for (int i = 0; i < 3; i++) {
		if (i == 2) { /* the other CPU's is not overtaken */
			assert_int_equal(merge_next(m, &item), 1);
			assert_int_equal(item.source, 1);
		}
		assert_int_equal(merge_next(m, &item), 1);
		assert_int_equal(item.source, 0);
		assert_true(item.key == keys[i]);
		assert_true(item.order == orders[i]);
	}
	assert_int_equal(merge_next(m, &item), 0);
	assert_int_equal(merge_n_late(m), 1);
	merge_free(m);
	sim_free(s);
}

/* A call of 40 ms on one CPU holds back what others did meanwhile, until it is over. */
static void test_open_call_is_waited_for(void **state)
{
	struct sim *s = sim_new(2, 1);
	struct merge *m = merge_new(&sim_ops, s->sources, 2, 2, s);
	struct merge_item item;

	(void)state;
	add_span(&s->cpus[0], START, START + 40 * MS, START);
	add_item(&s->cpus[0], START, START + 40 * MS);
	add_item(&s->cpus[1], START + MS, START + MS);
	s->now = START + 39 * MS;
	assert_int_equal(merge_next(m, &item), 0);
	s->now = START + 41 * MS;
	assert_int_equal(merge_next(m, &item), 1);
	assert_int_equal(item.source, 0);
	assert_int_equal(merge_next(m, &item), 1);
	assert_int_equal(item.source, 1);
	assert_int_equal(merge_next(m, &item), 0);
	assert_int_equal(merge_n_late(m), 0);
	merge_free(m);
	sim_free(s);
}

/* A call that never ends delays nothing for longer than 50 ms. */
static void test_open_call_is_not_waited_for_forever(void **state)
{
	struct sim *s = sim_new(2, 1);
	struct merge *m = merge_new(&sim_ops, s->sources, 2, 2, s);
	struct merge_item item;

	(void)state;
	add_span(&s->cpus[0], START, START + 70 * MS, START);
	add_item(&s->cpus[0], START, START + 70 * MS);
	add_item(&s->cpus[1], START + MS, START + MS);
	s->now = START + 51 * MS;
	assert_int_equal(merge_next(m, &item), 1);
	assert_int_equal(item.source, 1);
	s->now = START + 71 * MS;
	assert_int_equal(merge_next(m, &item), 1);
	assert_int_equal(item.source, 0);
	assert_int_equal(item.key, START);
	assert_int_equal(item.order, START + MS);
	assert_int_equal(merge_n_late(m), 1);
	merge_free(m);
	sim_free(s);
}

/* A writer at work is waited for on the spot: its record has its place; but only for 1 ms. */
static void test_writer_is_waited_for(void **state)
{
	struct sim *s = sim_new(2, 1);
	struct merge *m = merge_new(&sim_ops, s->sources, 2, 2, s);
	struct merge_item item;

	(void)state;
	add_span(&s->cpus[0], START, START + MS, 0);
	add_item(&s->cpus[0], START, START + MS);
	add_item(&s->cpus[1], START + GRAIN, START + GRAIN);
	s->now = START + MS / 2;
	assert_int_equal(merge_next(m, &item), 1);
	assert_int_equal(item.source, 0);
	assert_true(s->now >= START + MS);
	assert_int_equal(merge_next(m, &item), 1);

	add_span(&s->cpus[0], START + 2 * MS, START + 90 * MS, 0);
	add_item(&s->cpus[1], START + 2 * MS, START + 2 * MS);
	s->now = START + 3 * MS;
	assert_int_equal(merge_next(m, &item), 1);
	assert_int_equal(item.source, 1);
	assert_true(s->now >= START + 4 * MS && s->now < START + 6 * MS);
	merge_free(m);
	sim_free(s);
}

/* Recent events are held back for the slack, except while draining. */
static void test_slack_and_drain(void **state)
{
	struct sim *s = sim_new(1, 1);
	struct merge *m = merge_new(&sim_ops, s->sources, 1, 1, s);
	struct merge_item item;

	(void)state;
	add_item(&s->cpus[0], START, START);
	add_span(&s->cpus[0], START, START + 1000 * MS, START); /* detached before its exit */
	s->now = START + 1000;
	assert_int_equal(merge_next(m, &item), 0);
	merge_drain(m);
	assert_int_equal(merge_next(m, &item), 1);
	assert_int_equal(merge_next(m, &item), 0);
	merge_free(m);
	sim_free(s);
}

/* What came since a round is read a pace later, but for the end. */
static void test_pace(void **state)
{
	struct sim *s = sim_new(1, 1);
	struct merge *m = merge_new(&sim_ops, s->sources, 1, 1, s);
	struct merge_item item;

	(void)state;
	merge_set_pace(m, MS);
	add_item(&s->cpus[0], START, START);
	s->now = START + MS;
	assert_int_equal(merge_next(m, &item), 1);
	add_item(&s->cpus[0], START + MS, START + MS);
	add_item(&s->cpus[0], START + 2 * MS, START + 2 * MS);
	s->now = START + 2 * MS - MS / 4;
	assert_int_equal(merge_next(m, &item), 0);
	s->now = START + 2 * MS + MS / 4;
	assert_int_equal(merge_next(m, &item), 1);
	assert_int_equal(item.key, START + MS);
	s->now += MS / 4;
	merge_drain(m);
	assert_int_equal(merge_next(m, &item), 1);
	merge_free(m);
	sim_free(s);
}

/* CPUs come online while an item is lent: theirs are merged with what was there. */
static void test_sources_that_come_later(void **state)
{
	static const unsigned int order[] = {0, 1, 4, 3, 0};
	struct sim *s = sim_new(5, 1);
	struct merge *m = merge_new(&sim_ops, s->sources, 2, 5, s);
	struct merge_item item;

	(void)state;
	for (uint64_t i = 0; i < 5; i++) {
		if (i == 2) {
			s->now = START + 2 * MS - MS / 2;
			assert_int_equal(merge_next(m, &item), 1);
			merge_extend(m, 5);
		}
		add_item(&s->cpus[order[i]], START + i * MS, START + i * MS);
	}
	s->now = START + 20 * MS;
	for (int i = 1; i < 5; i++) {
		assert_int_equal(merge_next(m, &item), 1);
		assert_int_equal(item.source, order[i]);
	}
	assert_int_equal(merge_next(m, &item), 0);
	assert_int_equal(merge_n_late(m), 0);
	merge_free(m);
	sim_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_interleavings),
		cmocka_unit_test(test_late_items),
		cmocka_unit_test(test_exit_whose_enter_was_dropped),
		cmocka_unit_test(test_open_call_is_waited_for),
		cmocka_unit_test(test_open_call_is_not_waited_for_forever),
		cmocka_unit_test(test_writer_is_waited_for),
		cmocka_unit_test(test_slack_and_drain),
		cmocka_unit_test(test_pace),
		cmocka_unit_test(test_sources_that_come_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
