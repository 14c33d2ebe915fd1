/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter_otlp.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "clock.h"
#include "collect.h"
#include "fields/request_params.h"
#include "hash.h"
#include "metrics.h"
#include "otlp_headers.h"
#include "otlp_logs.h"
#include "otlp_metrics.h"
#include "otlp_resource.h"
#include "otlp_sender.h"
#include "otlp_spans.h"
#include "privileges.h"
#include "say.h"
#include "signals.h"
#include "thread.h"

#define INTERVAL_NS (15 * CLOCK_S)
#define FLUSH_NS CLOCK_S /* spans and logs wait so long for others */
#define STOP_NS (5 * CLOCK_S)
#define STOP_PRINT_NS (60 * CLOCK_S)

struct exporter_otlp {
	const struct exporter_options *o;
	struct pages *pages;
	struct otlp_queue *queue;
	struct otlp_sender *sender;
	struct otlp_spans *spans; /* the capture's thread; NULL: none are sent */
	struct otlp_logs *logs; /* the same */
	struct pb resource;
	uint64_t start_ns, start_monotonic_ns, flushed_ns;
	pthread_t thread; /* sends metrics */
	int started;
	pid_t pid; /* of saker */
	pthread_mutex_t lock; /* of ends and interval_ns */
	pthread_cond_t changed;
	int ends;
	uint64_t interval_ns;
};

/* ---- life ---- */

static void report(const char *why)
{
	if (why)
		say("cannot send to the collector of --otlp: %s", why);
	else
		say_notice("the collector of --otlp accepts data again");
}

static int open_queue(struct exporter_otlp *x)
{
	const struct otlp_options *o = &x->o->otlp;
	const struct otlp_queue_opts opts = {
		.sz = sizeof(opts), .dir = o->queue, .dir_sz = o->queue_sz};
	const int err = otlp_queue_new(&x->queue, &opts);

	if (err)
		say("cannot use %s for --queue: %s", o->queue ?: "memory",
		    err == -EPERM   ? "it belongs to another user, or others can write to it"
		    : err == -EBUSY ? "another saker exporter uses it"
				    : strerror(-err));
	return err;
}

/* Nothing else is to be done than to send. */
static int is_print(const struct exporter_otlp *x)
{
	return x->o->mode == EXPORTER_PRINT;
}

static struct otlp_sender_opts sender_opts(const struct exporter_options *o,
					   const struct otlp_headers *headers)
{
	return (struct otlp_sender_opts){
		.sz = sizeof(struct otlp_sender_opts),
		.url = o->otlp.url,
		.ca = o->otlp.ca,
		.headers = headers->list.v,
		.n_headers = headers->list.n,
		.gzip = o->otlp.gzip,
		.max_age_ns = o->otlp.max_age_ns,
		.user_agent = "saker/" SAKER_VERSION,
	};
}

/* Reads the files that the options name. */
static int read_files(struct otlp_headers *headers, const struct exporter_options *o)
{
	int err = otlp_headers_read(headers, &o->otlp.headers, "--otlp-header");

	if (o->otlp.ca && access(o->otlp.ca, R_OK)) {
		err = -errno;
		say("cannot read %s of --otlp-ca: %s", o->otlp.ca, strerror(-err));
	}
	return err;
}

static int open_sender(struct exporter_otlp *x)
{
	struct otlp_headers headers = {0};
	struct otlp_sender_opts opts;
	int err = read_files(&headers, x->o);

	opts = sender_opts(x->o, &headers);
	opts.patient = is_print(x);
	opts.thread_begins = privileges_drop_all;
	opts.report = report;
	err = err ?: otlp_sender_new(&x->sender, x->queue, &opts);
	otlp_headers_fini(&headers);
	return err;
}

/* Reads the files, and checks the filter of logs: reports each that cannot be used. */
static int check(struct otlp_headers *headers, const struct exporter_options *o)
{
	struct otlp_logs *logs = NULL;
	const int files_err = read_files(headers, o);
	const int err = o->otlp.logs ? otlp_logs_new(&logs, o->otlp.logs, SAKER_VERSION) : 0;

	otlp_logs_free(logs);
	return files_err ?: err;
}

int exporter_otlp_check(const struct exporter_options *o)
{
	struct otlp_headers headers = {0};
	const int err = check(&headers, o);

	otlp_headers_fini(&headers);
	return err;
}

int exporter_otlp_prepare(struct otlp_target **out, const struct exporter_otlp *x,
			  const struct exporter_options *o)
{
	struct otlp_headers headers = {0};
	struct otlp_sender_opts opts;
	int err;

	*out = NULL;
	if (!x != !o->otlp.url) {
		say("only a restart begins or ends --otlp");
		return -EINVAL;
	}
	if (!x)
		return 0;
	err = check(&headers, o);
	opts = sender_opts(o, &headers);
	err = err ?: otlp_target_new(out, x->sender, &opts);
	otlp_headers_fini(&headers);
	return err;
}

void exporter_otlp_set(struct exporter_otlp *x, const struct exporter_options *o,
		       struct otlp_target *t)
{
	if (!x)
		return;
	otlp_sender_set(x->sender, t);
	pthread_mutex_lock(&x->lock);
	x->interval_ns = o->otlp.interval_ns ?: INTERVAL_NS;
	pthread_mutex_unlock(&x->lock);
}

int exporter_otlp_new(struct exporter_otlp **out, const struct exporter_options *o)
{
	struct exporter_otlp *x;
	int err;

	if (!o->otlp.url)
		return 0;
	x = calloc(1, sizeof(*x));
	if (!x)
		return -ENOMEM;
	x->o = o;
	x->pid = getpid();
	x->start_ns = clock_read_ns(CLOCK_REALTIME);
	x->start_monotonic_ns = clock_now_ns();
	pthread_mutex_init(&x->lock, NULL);
	pthread_cond_init(&x->changed, NULL);
	pb_init(&x->resource, 4096);
	x->interval_ns = o->otlp.interval_ns ?: INTERVAL_NS;
	err = open_queue(x) ?: open_sender(x);
	if (!err && o->otlp.logs)
		err = otlp_logs_new(&x->logs, o->otlp.logs, SAKER_VERSION);
	if (err)
		exporter_otlp_free(x);
	else
		*out = x;
	return err;
}

void exporter_otlp_types(const struct exporter_otlp *x, uint64_t *types)
{
	if (x && x->logs)
		otlp_logs_types(x->logs, types);
}

/* Batches of a file can wait for room; those of a live capture never do. */
static void add(struct exporter_otlp *x, struct otlp_batch *batch)
{
	if (x->o->read)
		otlp_queue_add_wait(x->queue, batch, signals_stop_requested);
	else
		otlp_queue_add(x->queue, batch);
}

/* ---- metrics ---- */

struct snapshot {
	struct exporter_otlp *x;
	struct otlp_batch *first;
	uint32_t n_lost;
};

static void encode(void *ctx, const struct registry *r)
{
	struct snapshot *s = ctx;
	const struct otlp_metrics_opts o = {
		.resource = &s->x->resource,
		.version = SAKER_VERSION,
		.start_ns = s->x->start_ns,
		.start_monotonic_ns = s->x->start_monotonic_ns,
		.now_ns = clock_read_ns(CLOCK_REALTIME),
	};

	s->n_lost = otlp_metrics_encode(&s->first, r, &o);
}

static void send_metrics(struct exporter_otlp *x)
{
	struct snapshot s = {.x = x};
	struct otlp_batch *b, *next;

	if (x->o->otlp.no_metrics)
		return;
	pages_read(x->pages, encode, &s);
	otlp_queue_lost(x->queue, OTLP_METRICS, s.n_lost);
	for (b = s.first; b; b = next) {
		next = b->next;
		b->next = NULL;
		add(x, b);
	}
}

/* Returns whether the thread is to go on. */
static int wait_interval(struct exporter_otlp *x)
{
	struct timespec until;
	int r = 0;

	pthread_mutex_lock(&x->lock);
	until = clock_deadline(x->interval_ns);
	while (!x->ends && !r)
		r = pthread_cond_clockwait(&x->changed, &x->lock, CLOCK_MONOTONIC, &until);
	r = !x->ends;
	pthread_mutex_unlock(&x->lock);
	return r;
}

static void *run(void *ctx)
{
	struct exporter_otlp *x = ctx;

	privileges_drop_all();
	while (wait_interval(x))
		send_metrics(x);
	return NULL;
}

/* ---- start and stop ---- */

/* Identifiers of a file are the same whenever it is read. */
static uint64_t make_seed(const struct exporter_otlp *x, const char *host)
{
	uint64_t seed = 0;

	if (x->o->read || getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = scap_hash_bytes(x->o->read ? 0 : x->start_ns, host, strlen(host));
	return seed;
}

int exporter_otlp_start(struct exporter_otlp *x, struct pages *ps, struct sinsp *s)
{
	struct otlp_spans_opts spans = {.version = SAKER_VERSION};
	char host[256];
	int err = 0;

	if (!x)
		return 0;
	collect_host(host, sizeof(host), s);
	otlp_resource_self(&x->resource, host, SAKER_VERSION);
	spans.seed = make_seed(x, host);
	x->pages = ps;
	if (!x->o->otlp.no_traces)
		err = otlp_spans_new(&x->spans, &spans);
	err = err ?: otlp_queue_start(x->queue) ?: otlp_sender_start(x->sender);
	err = err ?: -pthread_create(&x->thread, NULL, run, x);
	x->started = !err;
	if (err)
		say("cannot start the threads of --otlp: %s", strerror(-err));
	return err;
}

static void flush(struct exporter_otlp *x)
{
	add(x, x->spans ? otlp_spans_flush(x->spans) : NULL);
	add(x, x->logs ? otlp_logs_flush(x->logs) : NULL);
	otlp_queue_lost(x->queue, OTLP_TRACES, x->spans ? otlp_spans_take_lost(x->spans) : 0);
	otlp_queue_lost(x->queue, OTLP_LOGS, x->logs ? otlp_logs_take_lost(x->logs) : 0);
}

static uint64_t sum_of(const struct otlp_queue_stats *st, enum otlp_drop a, enum otlp_drop b)
{
	uint64_t n = 0;

	for (size_t i = 0; i < OTLP_SIGNALS; i++)
		n += st->dropped[i][a] + st->dropped[i][b];
	return n;
}

/* What had no room, or was left when saker ended. */
static uint64_t count_lost(const struct otlp_queue_stats *st)
{
	return sum_of(st, OTLP_DROP_ENDED, OTLP_DROP_QUEUE_FULL);
}

/* @before: what was lost before the end. */
static void say_rest(const struct exporter_otlp *x, const struct otlp_queue_stats *before)
{
	struct otlp_queue_stats st;
	uint64_t lost, refused;

	otlp_queue_get_stats(x->queue, &st);
	lost = count_lost(&st) - count_lost(before);
	refused = sum_of(&st, OTLP_DROP_REFUSED, OTLP_DROP_REJECTED);
	if (refused)
		say("the collector refused %llu spans, data points and log records",
		    (unsigned long long)refused);
	if (st.queued)
		say("%llu spans, data points and log records were not sent; they stay in %s",
		    (unsigned long long)st.queued, x->o->otlp.queue);
	if (lost)
		say("%llu spans, data points and log records were not sent%s%s",
		    (unsigned long long)lost,
		    x->o->otlp.queue ? "; they could not be written to " : "",
		    x->o->otlp.queue ?: "");
}

void exporter_otlp_stop(struct exporter_otlp *x)
{
	struct otlp_queue_stats before;

	if (!x || !x->started)
		return;
	otlp_queue_get_stats(x->queue, &before);
	pthread_mutex_lock(&x->lock);
	x->ends = 1;
	pthread_cond_broadcast(&x->changed);
	pthread_mutex_unlock(&x->lock);
	pthread_join(x->thread, NULL);
	x->started = 0;
	flush(x);
	send_metrics(x);
	otlp_sender_end(x->sender, is_print(x) ? STOP_PRINT_NS : STOP_NS);
	otlp_queue_save(x->queue);
	say_rest(x, &before);
}

void exporter_otlp_free(struct exporter_otlp *x)
{
	if (!x)
		return;
	otlp_sender_free(x->sender);
	otlp_queue_free(x->queue);
	otlp_spans_free(x->spans);
	otlp_logs_free(x->logs);
	pb_fini(&x->resource);
	pthread_cond_destroy(&x->changed);
	pthread_mutex_destroy(&x->lock);
	free(x);
}

/* ---- the capture's thread ---- */

static int ends_with(struct label_value v, const char *end)
{
	const size_t n = strlen(end);

	return v.len >= n && memcmp(v.p + v.len - n, end, n) == 0;
}

/* Spans of what saker, a collector or another exporter sends by OTLP would make it send more. The
 * query is anybody's. */
static int is_otlp(const struct sinsp_evt *evt)
{
	static const char grpc[] = "/opentelemetry.proto.collector.";
	const struct label_value method = collect_text(evt, REQUEST_P_METHOD);
	struct label_value path = collect_text(evt, REQUEST_P_RESOURCE);
	const char *query = path.len ? memchr(path.p, '?', path.len) : NULL;

	if (method.len != 4 || memcmp(method.p, "POST", 4) != 0)
		return 0;
	if (query)
		path.len = (uint32_t)(query - path.p);
	return ends_with(path, "/v1/traces") || ends_with(path, "/v1/metrics") ||
	       ends_with(path, "/v1/logs") || ends_with(path, "/v1development/profiles") ||
	       (path.len >= sizeof(grpc) && memcmp(path.p, grpc, sizeof(grpc) - 1) == 0);
}

/* The same of scrapes, as they come. */
static int is_own(const struct exporter_otlp *x, const struct sinsp_evt *evt)
{
	uint64_t peer = 0;

	if (x->o->read)
		return 0;
	if (is_otlp(evt))
		return 1;
	collect_number(evt, REQUEST_P_PEER_PID, &peer);
	return peer == (uint64_t)x->pid || (evt->thread && evt->thread->pid == x->pid);
}

static int is_request(const struct sinsp_evt *evt)
{
	return evt->raw.type == EVT_REQUEST_E && !(evt->raw.flags & SCAP_EVT_F_STATE_ONLY);
}

void exporter_otlp_event(struct exporter_otlp *x, const struct sinsp_evt *evt)
{
	if (!x)
		return;
	if (x->spans && is_request(evt) && !is_own(x, evt))
		add(x, otlp_spans_add(x->spans, evt));
	if (x->logs)
		add(x, otlp_logs_add(x->logs, evt));
}

void exporter_otlp_tick(struct exporter_otlp *x, uint64_t now_ns, int ended)
{
	if (!x || (now_ns < x->flushed_ns + FLUSH_NS && !ended))
		return;
	x->flushed_ns = now_ns;
	flush(x);
}

void exporter_otlp_collect(struct exporter_otlp *x, struct registry *r)
{
	struct otlp_sender_stats sent;
	struct otlp_queue_stats st;

	if (!x)
		return;
	otlp_sender_get_stats(x->sender, &sent);
	otlp_queue_get_stats(x->queue, &st);
	for (size_t i = 0; i < OTLP_SIGNALS; i++) {
		metric_set(r, METRIC_OTLP_ADDED, otlp_signal_names[i], NULL, st.added[i]);
		metric_set(r, METRIC_OTLP_SENT, otlp_signal_names[i], NULL, st.sent[i]);
		for (size_t k = 0; k < OTLP_DROPS; k++)
			metric_set(r, METRIC_OTLP_DROPPED, otlp_signal_names[i], otlp_drop_names[k],
				   st.dropped[i][k]);
	}
	for (size_t i = 0; i < OTLP_OUTCOMES; i++)
		metric_set(r, METRIC_OTLP_REQUESTS, otlp_outcome_names[i], NULL, sent.requests[i]);
	metric_set(r, METRIC_OTLP_QUEUED, NULL, NULL, st.queued);
	metric_set(r, METRIC_OTLP_QUEUE_BYTES, "memory", NULL, st.memory);
	metric_set(r, METRIC_OTLP_QUEUE_BYTES, "disk", NULL, st.disk);
	metric_set(r, METRIC_OTLP_DISK_ERRORS, NULL, NULL, st.disk_errors);
}
