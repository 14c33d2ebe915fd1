/* SPDX-License-Identifier: Apache-2.0 */
/* Events of TCP by the process that has the connection; without one the label service is missing.
 */
#include "collect.h"
#include "fields/tcp_params.h"

static void add(struct registry *r, enum metric_id id, const struct label_value *labels, uint64_t n,
		uint64_t now_ns)
{
	series_add(registry_series(r, id, labels, now_ns), n);
}

void collect_tcp(struct registry *r, const struct sinsp_evt *evt, uint64_t now_ns)
{
	struct label_value labels[METRIC_LABELS] = {0};
	uint64_t n = 0;

	collect_service(labels, evt);
	labels[SERVICE_LABELS] = collect_name(evt, TCP_P_OWN);
	switch (evt->raw.type) {
	case EVT_TCP_CONNECT_E:
		add(r, METRIC_TCP_CONNECTS, labels, 1, now_ns);
		if (collect_number(evt, TCP_P_OWN + 1, &n))
			series_observe(
				registry_series(r, METRIC_TCP_CONNECT_DURATION, labels, now_ns), n,
				NULL);
		break;
	case EVT_TCP_RETRANSMIT_E:
		if (collect_number(evt, TCP_P_OWN + 1, &n))
			add(r, METRIC_TCP_RETRANSMITS, labels, n, now_ns);
		break;
	case EVT_TCP_RESET_E:
		labels[SERVICE_LABELS + 1] = collect_text(evt, TCP_P_OWN + 1);
		add(r, METRIC_TCP_RESETS, labels, 1, now_ns);
		break;
	case EVT_TCP_DROP_E:
		labels[SERVICE_LABELS + 1] = collect_text(evt, TCP_P_OWN + 1);
		add(r, METRIC_TCP_DROPS, labels, 1, now_ns);
		break;
	case EVT_TCP_OVERFLOW_E:
		if (collect_number(evt, TCP_P_OWN, &n))
			add(r, METRIC_TCP_OVERFLOWS, labels, n, now_ns);
		break;
	}
}

void collect_event(struct registry *r, const struct sinsp_evt *evt, uint64_t now_ns)
{
	if (evt->raw.type == EVT_REQUEST_E)
		collect_request(r, evt, now_ns);
	else
		collect_tcp(r, evt, now_ns);
}
