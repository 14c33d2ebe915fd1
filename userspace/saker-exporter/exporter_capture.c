/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter_capture.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "clock.h"
#include "collect.h"
#include "inspector_open.h"
#include "requests/requests.h"
#include "say.h"
#include "shared/config.h"
#include "signals.h"

enum { IDLE_MS = 100, TICK_NS = 100000000, TICK_EVENTS = 512 };

/* What of TCP becomes a metric. */
static const unsigned int tcp_types[] = {
	EVT_TCP_CONNECT_E, EVT_TCP_RETRANSMIT_E, EVT_TCP_RESET_E,
	EVT_TCP_DROP_E,    EVT_TCP_OVERFLOW_E,
};

/* The kernel records these calls and events, and what changes the state of threads and files. */
static void select_calls(struct scap_calls *calls, const struct exporter_options *o,
			 const struct exporter_otlp *otlp)
{
	uint64_t types[(EVT_INDEX_MAX + 63) / 64] = {0};

	sinsp_requests_types(types);
	for (size_t i = 0; i < sizeof(tcp_types) / sizeof(tcp_types[0]); i++)
		scap_types_add(types, tcp_types[i]);
	if (o->tls) {
		scap_types_add(types, EVT_TLS_READ_X);
		scap_types_add(types, EVT_TLS_WRITE_X);
	}
	exporter_otlp_types(otlp, types);
	scap_calls_set_types(calls, types);
}

int exporter_capture_open(struct sinsp **out, const struct exporter_options *o,
			  const struct exporter_otlp *otlp)
{
	const char *const paths[] = {o->read, NULL};
	struct scap_calls calls;
	const struct scap_select select = {.calls = &calls, .files = 1, .peers = 1};
	struct scap_open_opts opts = {
		.sz = sizeof(opts),
		.paths = o->read ? paths : NULL,
		.log = say_log,
		.ring_sz = o->ring_sz,
		.select = &select,
		.tcp = 1,
		.tls = (uint32_t)o->tls,
		.redact = o->redact,
	};
	const struct sinsp_opts inspector = {
		.sz = sizeof(inspector),
		.log = say_log,
		.resync = !o->read,
		.containers = !o->read,
		.derive = SINSP_DERIVE_REQUESTS,
		.lookup = o->read ? NULL
				  : inspector_lookup(o->container_socket, o->cri_socket,
						     o->host_root),
	};

	inspector_keep_requests(&opts);
	select_calls(&calls, o, otlp);
	return inspector_open(out, &opts, &inspector);
}

/* State of the loop. */
struct run {
	struct sinsp *s;
	struct exporter_daemon *daemon;
	uint64_t ticked_ns;
	int said_full, said_lost;
	int live, ended; /* ended: the file has no more events */
};

static int is_measured(const struct sinsp_evt *evt)
{
	if (evt->raw.flags & SCAP_EVT_F_STATE_ONLY)
		return 0;
	return evt->raw.type == EVT_REQUEST_E ||
	       (evt->raw.type >= EVT_TCP_STATE_E && evt->raw.type <= EVT_TCP_OVERFLOW_E);
}

/* Says once that there is no room for series. */
static void report_full(struct run *run, const struct registry *r)
{
	struct registry_stats st;

	registry_get_stats(r, &st);
	if (!st.n_refused || run->said_full)
		return;
	run->said_full = 1;
	say_warning("there is no room for more series: their values are added to the series other "
		    "of their metric; raise --max-series");
}

/* Says once that events are lost, and how many were so far. */
static void report_lost(struct run *run, const struct scap_stats *st)
{
	unsigned int reason;

	if (!st->n_dropped || run->said_lost)
		return;
	run->said_lost = 1;
	reason = scap_main_drop_reason(st);
	say_warning("%llu of %llu events were lost: %s%s; saker_events_lost_total counts what is "
		    "lost later",
		    (unsigned long long)st->n_dropped, (unsigned long long)st->n_seen,
		    scap_drop_reason(reason),
		    reason == DRV_DROP_RING_FULL || reason == DRV_DROP_SHED
			    ? "; use a larger --ring-size"
			    : "");
}

static void tick(struct run *run)
{
	const uint64_t now_ns = clock_now_ns();
	struct scap_stats st = {0};
	struct registry *r;
	int has_stats;

	if (now_ns < run->ticked_ns + TICK_NS)
		return;
	run->ticked_ns = now_ns;
	has_stats = run->live && scap_stats(sinsp_source(run->s), &st) == 0;
	r = pages_lock(run->daemon->pages);
	collect_request_losses(r, run->s);
	collect_capture(r, has_stats ? &st : NULL, !run->ended);
	report_lost(run, &st);
	report_full(run, r);
	pages_unlock(run->daemon->pages);
	exporter_daemon_tick(run->daemon, now_ns);
	exporter_otlp_tick(run->daemon->otlp, now_ns, run->ended);
}

/* Returns what sinsp_next returns. */
static int next(struct run *run, int timeout_ms)
{
	struct sinsp_evt evt;
	const int n = sinsp_next(run->s, &evt, timeout_ms);

	if (n > 0 && is_measured(&evt)) {
		collect_event(pages_lock(run->daemon->pages), &evt, clock_now_ns());
		pages_unlock(run->daemon->pages);
	}
	if (n > 0)
		exporter_otlp_event(run->daemon->otlp, &evt);
	return n;
}

/* Serves what a file had, up to its damage if it has some. */
static void serve(struct run *run)
{
	run->ended = 1;
	run->ticked_ns = 0; /* says so at once */
	tick(run);
	while (run->daemon->server && !signals_stop_requested()) {
		tick(run);
		poll(NULL, 0, IDLE_MS);
	}
}

int exporter_capture_run(struct sinsp *s, const struct exporter_options *o,
			 struct exporter_daemon *daemon)
{
	struct run run = {.s = s, .daemon = daemon, .live = !o->read};
	const unsigned int before = say_n_errors();
	unsigned int n_events = 0;
	int n = 0;

	while (!signals_stop_requested()) {
		n = next(&run, IDLE_MS); /* a pipe waits, too */
		if (n < 0 && n != -EINTR)
			break;
		if (n <= 0 || ++n_events % TICK_EVENTS == 0)
			tick(&run);
	}
	if (n >= 0 || n == -EINTR)
		return 0;
	if (n != -ENODATA || run.live)
		say_cause(before, run.live ? "the capture stopped" : o->read, n);
	if (run.live)
		return n;
	serve(&run);
	if (n == -ENODATA && scap_is_damaged(sinsp_source(s)))
		return -EBADMSG;
	return n == -ENODATA ? 0 : n;
}
