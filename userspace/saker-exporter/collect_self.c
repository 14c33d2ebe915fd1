/* SPDX-License-Identifier: Apache-2.0 */
/* What the capture saw and lost, what the kernel supports, and what the exporter uses. */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "clock.h"
#include "collect.h"
#include "requests/requests.h"

static void collect_features(struct registry *r)
{
	const struct scap_capability *rows;
	const int n = scap_capabilities(&rows);

	for (int i = 0; i < n; i++)
		metric_set(r, METRIC_SUPPORTED, rows[i].name, NULL, rows[i].have > 0);
}

void collect_about(struct registry *r, int live)
{
	metric_set(r, METRIC_BUILD, SAKER_VERSION, NULL, 1);
	metric_set(r, METRIC_START, NULL, NULL, clock_read_ns(CLOCK_REALTIME));
	if (live)
		collect_features(r);
}

/* As otlp_resource_self has it. */
void collect_target(struct registry *r, const char *host)
{
	const struct label_value values[] = {label_of("saker"), label_of(SAKER_VERSION),
					     label_of(host), label_of(host)};

	series_set(registry_series(r, METRIC_TARGET, values, 0), 1);
}

void collect_host(char *host, size_t sz, const struct sinsp *s)
{
	*host = host[sz - 1] = 0;
	gethostname(host, sz - 1);
	if (*sinsp_hostname(s))
		snprintf(host, sz, "%s", sinsp_hostname(s));
}

void collect_capture(struct registry *r, const struct scap_stats *st, int running)
{
	const char *reason;

	metric_set(r, METRIC_UP, NULL, NULL, (uint64_t)running);
	if (!st)
		return;
	metric_set(r, METRIC_EVENTS_SEEN, NULL, NULL, st->n_seen);
	metric_set(r, METRIC_EVENTS_DELIVERED, NULL, NULL, st->n_seen - st->n_dropped);
	metric_set(r, METRIC_EVENTS_FILTERED, NULL, NULL, st->n_filtered);
	for (unsigned int i = 0; i < sizeof(st->dropped_by) / sizeof(st->dropped_by[0]); i++) {
		reason = scap_drop_reason(i);
		if (reason)
			metric_set(r, METRIC_EVENTS_LOST, reason, NULL, st->dropped_by[i]);
	}
	if (st->bpf_run_ns)
		metric_set(r, METRIC_DRIVER_TIME, NULL, NULL, st->bpf_run_ns);
}

void collect_request_losses(struct registry *r, const struct sinsp *s)
{
	struct sinsp_requests_stats st;

	sinsp_requests_get_stats(s, &st);
	metric_set(r, METRIC_REQUEST_LOSSES, "evicted_connections", NULL, st.n_evicted_conns);
	metric_set(r, METRIC_REQUEST_LOSSES, "evicted_requests", NULL, st.n_evicted_requests);
	metric_set(r, METRIC_REQUEST_LOSSES, "dropped_requests", NULL, st.n_dropped);
}

static uint64_t ns_of(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

static void collect_memory(struct registry *r)
{
	unsigned long long pages;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f)
		return;
	if (fscanf(f, "%*u %llu", &pages) == 1)
		metric_set(r, METRIC_MEMORY, NULL, NULL, pages * (uint64_t)sysconf(_SC_PAGESIZE));
	fclose(f);
}

void collect_self(void *ctx, struct registry *r, uint64_t now_ns)
{
	struct rusage use;

	(void)ctx, (void)now_ns;
	if (getrusage(RUSAGE_SELF, &use) == 0) {
		metric_set(r, METRIC_CPU, "user", NULL, ns_of(use.ru_utime));
		metric_set(r, METRIC_CPU, "system", NULL, ns_of(use.ru_stime));
	}
	collect_memory(r);
}
