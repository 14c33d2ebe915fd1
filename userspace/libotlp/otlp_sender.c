/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp_sender.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "clock.h"

#define IDLE_NS 1000000000ull
#define PAUSE_MIN_NS 250000000ull
#define PAUSE_MAX_NS 30000000000ull
#define RETRY_AFTER_MAX_S 300
#define MAX_AGE_NS (3600 * CLOCK_S)
#define REPORT_NS 60000000000ull /* a collector that fails now and then is reported so often */

/* What was reported last. */
enum said { SAID_ACCEPTS, SAID_FAILS, SAID_REFUSES, SAIDS };

struct otlp_target {
	char *urls[OTLP_SIGNALS]; /* owned */
	struct otlp_post *post;
	uint64_t max_age_ns;
};

struct otlp_sender {
	struct otlp_queue *q;
	struct otlp_sender_opts o;
	struct otlp_target *to; /* owned */
	uint64_t pause_ns; /* the last one; 0: the last request was accepted */
	enum said said;
	uint64_t said_ns[SAIDS]; /* when it was; 0: never */
	pthread_t thread;
	int started;
	int ends; /* atomic */
	int failing; /* atomic: the last request is to be sent again */
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	struct otlp_sender_stats st;
	struct otlp_target *next; /* owned: replaces to; NULL: none */
};

/* ---- the target ---- */

static int set_urls(struct otlp_target *t, const char *url)
{
	size_t len = strlen(url);

	while (len && url[len - 1] == '/')
		len--;
	for (size_t i = 0; i < OTLP_SIGNALS; i++)
		if (asprintf(&t->urls[i], "%.*s/v1/%s", (int)len, url, otlp_signal_names[i]) < 0) {
			t->urls[i] = NULL;
			return -ENOMEM;
		}
	return 0;
}

void otlp_target_free(struct otlp_target *t)
{
	if (!t)
		return;
	otlp_post_free(t->post);
	for (size_t i = 0; i < OTLP_SIGNALS; i++)
		free(t->urls[i]);
	free(t);
}

int otlp_target_new(struct otlp_target **out, const struct otlp_sender *s,
		    const struct otlp_sender_opts *opts)
{
	struct otlp_target *t = calloc(1, sizeof(*t));
	const struct otlp_post_opts o = {
		.sz = sizeof(o),
		.ca = opts->ca,
		.headers = opts->headers,
		.n_headers = opts->n_headers,
		.user_agent = opts->user_agent,
		.gzip = opts->gzip,
		.timeout_ns = opts->timeout_ns,
		.ends = &s->ends,
	};
	int err;

	if (!t)
		return -ENOMEM;
	t->max_age_ns = opts->max_age_ns ? opts->max_age_ns : MAX_AGE_NS;
	err = set_urls(t, opts->url) ?: otlp_post_new(&t->post, &o);
	if (err)
		otlp_target_free(t);
	else
		*out = t;
	return err;
}

/* ---- the thread ---- */

/* The thread alone uses the target: others only leave the next one. */
static void take_next(struct otlp_sender *s)
{
	struct otlp_target *old = NULL;

	pthread_mutex_lock(&s->lock);
	if (s->next) {
		old = s->to;
		s->to = s->next;
		s->next = NULL;
		s->pause_ns = 0;
	}
	pthread_mutex_unlock(&s->lock);
	otlp_target_free(old);
}

static uint64_t random_below(uint64_t n)
{
	uint64_t r = 0;

	return getrandom(&r, sizeof(r), 0) == sizeof(r) && n ? r % n : 0;
}

/* Returns the next pause: twice the last one, half of it random, and what the collector wants. */
static uint64_t next_pause(struct otlp_sender *s, uint64_t after_s)
{
	s->pause_ns = s->pause_ns ? 2 * s->pause_ns : PAUSE_MIN_NS;
	if (s->pause_ns > PAUSE_MAX_NS)
		s->pause_ns = PAUSE_MAX_NS;
	if (after_s > RETRY_AFTER_MAX_S)
		after_s = RETRY_AFTER_MAX_S;
	return s->pause_ns / 2 + random_below(s->pause_ns / 2) + after_s * CLOCK_S;
}

static void wait_pause(struct otlp_sender *s, uint64_t ns)
{
	const struct timespec until = clock_deadline(ns);

	pthread_mutex_lock(&s->lock);
	while (!__atomic_load_n(&s->ends, __ATOMIC_RELAXED) && !s->next &&
	       pthread_cond_clockwait(&s->changed, &s->lock, CLOCK_MONOTONIC, &until) == 0)
		;
	pthread_mutex_unlock(&s->lock);
}

static enum said said_of(enum otlp_outcome outcome)
{
	if (outcome == OTLP_ACCEPTED)
		return SAID_ACCEPTS;
	return outcome == OTLP_FINAL ? SAID_REFUSES : SAID_FAILS;
}

/* Reports what changed: each failure at most once a minute, but refused data, which is lost, also
 * if another failure was reported before. */
static void report(struct otlp_sender *s, const struct otlp_answer *a)
{
	const enum said now = said_of(a->outcome);
	const uint64_t now_ns = clock_now_ns();
	char why[320];

	if (now == s->said || !s->o.report || __atomic_load_n(&s->ends, __ATOMIC_RELAXED))
		return;
	if (now != SAID_ACCEPTS && s->said_ns[now] && now_ns < s->said_ns[now] + REPORT_NS)
		return;
	s->said = now;
	s->said_ns[now] = now_ns;
	if (now == SAID_REFUSES)
		snprintf(why, sizeof(why), "it answers with status %ld; what it refuses is dropped",
			 a->status);
	else if (a->status)
		snprintf(why, sizeof(why), "it answers with status %ld; trying again", a->status);
	else
		snprintf(why, sizeof(why), "%s; trying again", a->reason);
	s->o.report(now == SAID_ACCEPTS ? NULL : why);
}

static void count(struct otlp_sender *s, enum otlp_outcome outcome)
{
	pthread_mutex_lock(&s->lock);
	s->st.requests[outcome]++;
	pthread_mutex_unlock(&s->lock);
}

static void signal_change(struct otlp_sender *s)
{
	pthread_mutex_lock(&s->lock);
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

static void expire(struct otlp_sender *s, struct otlp_batch *b)
{
	char why[160];

	snprintf(why, sizeof(why),
		 "it did not accept %u of the %s for %.6g s; they are dropped, and the next ones "
		 "tried",
		 b->n_items, otlp_signal_names[b->signal], (double)b->age_ns / 1e9);
	if (s->o.report)
		s->o.report(why);
	s->said = SAID_FAILS;
	s->said_ns[SAID_FAILS] = clock_now_ns();
	s->pause_ns = 0;
	otlp_queue_drop(s->q, b, OTLP_DROP_EXPIRED);
}

/* Waits before the batch is sent again, or drops it. */
static void retry(struct otlp_sender *s, struct otlp_batch *b, const struct otlp_answer *a,
		  uint64_t began_ns)
{
	const uint64_t pause_ns = next_pause(s, a->after_s);

	if (!a->absent)
		b->age_ns += clock_now_ns() - began_ns + pause_ns;
	if (b->age_ns >= s->to->max_age_ns) {
		expire(s, b);
		return;
	}
	otlp_queue_return(s->q, b);
	signal_change(s);
	wait_pause(s, pause_ns);
}

/* The sender drops or returns each batch that it takes. */
static void handle(struct otlp_sender *s, struct otlp_batch *b)
{
	const uint64_t began_ns = clock_now_ns();
	struct otlp_answer a;

	otlp_post_send(s->to->post, &a, s->to->urls[b->signal], b->bytes, b->len);
	if (!a.status && __atomic_load_n(&s->ends, __ATOMIC_RELAXED)) {
		otlp_queue_return(s->q, b);
		return;
	}
	__atomic_store_n(&s->failing, a.outcome == OTLP_THROTTLED || a.outcome == OTLP_FAILED,
			 __ATOMIC_RELAXED);
	report(s, &a);
	count(s, a.outcome);
	if (a.outcome == OTLP_ACCEPTED) {
		s->pause_ns = 0;
		otlp_queue_done(s->q, b, a.rejected);
	} else if (a.outcome == OTLP_FINAL) {
		s->pause_ns = 0;
		otlp_queue_drop(s->q, b, OTLP_DROP_REFUSED);
	} else {
		retry(s, b, &a, began_ns);
	}
}

static void *run(void *ctx)
{
	struct otlp_sender *s = ctx;

	if (s->o.thread_begins)
		s->o.thread_begins();
	while (!__atomic_load_n(&s->ends, __ATOMIC_RELAXED)) {
		struct otlp_batch *b = otlp_queue_take(s->q, IDLE_NS);

		take_next(s);
		if (b)
			handle(s, b);
		signal_change(s); /* the queue may be empty */
	}
	return NULL;
}

/* ---- life ---- */

int otlp_sender_new(struct otlp_sender **out, struct otlp_queue *q,
		    const struct otlp_sender_opts *opts)
{
	struct otlp_sender *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->q = q;
	s->o = *opts;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	err = otlp_target_new(&s->to, s, opts);
	if (err)
		otlp_sender_free(s);
	else
		*out = s;
	return err;
}

void otlp_sender_set(struct otlp_sender *s, struct otlp_target *t)
{
	struct otlp_target *old;

	pthread_mutex_lock(&s->lock);
	old = s->next;
	s->next = t;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	otlp_target_free(old);
}

int otlp_sender_start(struct otlp_sender *s)
{
	const int err = pthread_create(&s->thread, NULL, run, s);

	s->started = !err;
	return -err;
}

/* Waits until nothing is queued, if not patient only while the collector accepts data. */
static void drain(struct otlp_sender *s, uint64_t wait_ns)
{
	const struct timespec until = clock_deadline(wait_ns);
	struct otlp_queue_stats st;

	pthread_mutex_lock(&s->lock);
	do {
		otlp_queue_get_stats(s->q, &st);
	} while (st.queued && (s->o.patient || !__atomic_load_n(&s->failing, __ATOMIC_RELAXED)) &&
		 pthread_cond_clockwait(&s->changed, &s->lock, CLOCK_MONOTONIC, &until) == 0);
	pthread_mutex_unlock(&s->lock);
}

void otlp_sender_end(struct otlp_sender *s, uint64_t wait_ns)
{
	if (!s->started)
		return;
	drain(s, wait_ns);
	pthread_mutex_lock(&s->lock);
	__atomic_store_n(&s->ends, 1, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	otlp_queue_end(s->q);
	pthread_join(s->thread, NULL);
	s->started = 0;
}

void otlp_sender_free(struct otlp_sender *s)
{
	if (!s)
		return;
	otlp_sender_end(s, 0);
	otlp_target_free(s->to);
	otlp_target_free(s->next);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

void otlp_sender_get_stats(struct otlp_sender *s, struct otlp_sender_stats *st)
{
	pthread_mutex_lock(&s->lock);
	*st = s->st;
	pthread_mutex_unlock(&s->lock);
}
