/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests as services see them, and as edges between processes. A service counts what it served;
 * an edge counts once if both ends are on this machine, as the client saw it.
 */
#include <string.h>

#include "collect.h"
#include "fields/request_params.h"

enum { KIND_REQUEST = 0, KIND_ONEWAY = 1, SIDE_CLIENT = 0, SIDE_SERVER = 1 };

/* What series need of an event. */
struct seen {
	uint64_t kind, side, latency_ns, bytes_in, bytes_out;
	int has_latency; /* there was a response */
	struct label_value proto, error;
	struct exemplar exemplar;
};

/* Returns 0 if the event lacks what every request has. */
static int read_event(struct seen *s, const struct sinsp_evt *evt)
{
	uint64_t ttfb;

	memset(s, 0, sizeof(*s));
	if (!collect_number(evt, REQUEST_P_KIND, &s->kind) ||
	    !collect_number(evt, REQUEST_P_SIDE, &s->side))
		return 0;
	s->has_latency = collect_number(evt, REQUEST_P_TTFB, &ttfb) &&
			 collect_number(evt, REQUEST_P_LATENCY, &s->latency_ns);
	collect_number(evt, REQUEST_P_BYTES_IN, &s->bytes_in);
	collect_number(evt, REQUEST_P_BYTES_OUT, &s->bytes_out);
	s->proto = collect_text(evt, REQUEST_P_PROTO);
	s->error = collect_text(evt, REQUEST_P_ERROR);
	s->exemplar.trace_id = collect_text(evt, REQUEST_P_TRACE_ID);
	s->exemplar.at_ns = evt->raw.ts_ns;
	return 1;
}

static int is_text(struct label_value v, const char *text)
{
	return v.len == strlen(text) && memcmp(v.p, text, v.len) == 0;
}

/* The outcome is unknown to saker: that is no fault of the service. */
static int is_unknown(struct label_value error)
{
	return is_text(error, "lost") || is_text(error, "evicted") || is_text(error, "unfinished");
}

static void add(struct registry *r, enum metric_id id, const struct label_value *labels, uint64_t n,
		uint64_t now_ns)
{
	series_add(registry_series(r, id, labels, now_ns), n);
}

static void add_service(struct registry *r, const struct sinsp_evt *evt, const struct seen *s,
			uint64_t now_ns)
{
	struct label_value labels[METRIC_LABELS] = {0};

	collect_service(labels, evt);
	labels[SERVICE_LABELS] = s->proto;
	labels[SERVICE_LABELS + 1] = s->error;
	add(r, METRIC_SERVICE_RECEIVED, labels, s->bytes_in, now_ns);
	if (s->kind == KIND_ONEWAY) {
		add(r, METRIC_SERVICE_MESSAGES, labels, 1, now_ns);
		return;
	}
	add(r, METRIC_SERVICE_SENT, labels, s->bytes_out, now_ns);
	add(r, METRIC_SERVICE_REQUESTS, labels, 1, now_ns);
	if (s->error.len)
		add(r, METRIC_SERVICE_ERRORS, labels, 1, now_ns);
	if (s->has_latency)
		series_observe(registry_series(r, METRIC_SERVICE_DURATION, labels, now_ns),
			       s->latency_ns, &s->exemplar);
}

/* Cuts the port off, of which a client has a new one for each connection. */
static struct label_value without_port(struct label_value address)
{
	const char *colon = address.len ? memrchr(address.p, ':', address.len) : NULL;

	if (colon)
		address.len = (size_t)(colon - address.p);
	return address;
}

static void add_edge(struct registry *r, const struct sinsp_evt *evt, const struct seen *s,
		     uint64_t now_ns)
{
	const struct label_value peer = collect_text(evt, REQUEST_P_PEER),
				 peer_proc = collect_text(evt, REQUEST_P_PEER_PROC);
	const int is_client = s->side == SIDE_CLIENT;
	struct label_value own[SERVICE_LABELS], labels[METRIC_LABELS] = {0};

	if (!is_client && peer_proc.len)
		return;
	collect_service(own, evt);
	labels[0] = is_client ? own[0] : without_port(peer);
	labels[1] = is_client ? (peer_proc.len ? peer_proc : peer) : own[0];
	labels[2] = s->proto;
	add(r, METRIC_EDGE_SENT, labels, is_client ? s->bytes_out : s->bytes_in, now_ns);
	add(r, METRIC_EDGE_RECEIVED, labels, is_client ? s->bytes_in : s->bytes_out, now_ns);
	if (s->kind == KIND_ONEWAY)
		return;
	add(r, METRIC_EDGE_REQUESTS, labels, 1, now_ns);
	if (s->error.len && !is_unknown(s->error))
		add(r, METRIC_EDGE_ERRORS, labels, 1, now_ns);
	if (s->has_latency)
		series_observe(registry_series(r, METRIC_EDGE_DURATION, labels, now_ns),
			       s->latency_ns, &s->exemplar);
}

void collect_request(struct registry *r, const struct sinsp_evt *evt, uint64_t now_ns)
{
	struct seen s;

	if (!read_event(&s, evt))
		return;
	if (s.side == SIDE_SERVER)
		add_service(r, evt, &s, now_ns);
	add_edge(r, evt, &s, now_ns);
}
