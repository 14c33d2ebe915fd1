/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exporter's server over a registry of known size, for scripts/bench exporter:
 *   exporter_load SERVICES   2 edges and 10 counters for each of them, in a tenth as many
 * containers Adds to all series all the time, as a capture would, until standard input ends. Prints
 * how often a second, and the longest time that an addition waited for a scrape.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "exporter_options.h"
#include "metrics.h"
#include "server.h"

enum { EVENTS_PER_MS = 20 };

static struct label_value label(const char *s)
{
	return (struct label_value){s, strlen(s)};
}

/* Adds what requests of service @i add. */
static void add_event(struct registry *r, unsigned int i, uint64_t now_ns)
{
	static const char *const kinds[] = {"http", "redis", "pgsql"};
	char service[32], container[32], pod[48];
	struct label_value labels[METRIC_LABELS] = {0};

	snprintf(service, sizeof(service), "service-%u", i);
	snprintf(container, sizeof(container), "container-%u", i / 10);
	snprintf(pod, sizeof(pod), "pod-%u-7d4b9c6f5-x2k8p", i / 10);
	labels[0] = label(service);
	labels[1] = label(container);
	labels[2] = label("production");
	labels[3] = label(pod);
	for (size_t k = 0; k < 3; k++) {
		labels[4] = label(kinds[k]);
		labels[5] = label("500");
		series_add(registry_series(r, METRIC_SERVICE_REQUESTS, labels, now_ns), 1);
		series_add(registry_series(r, METRIC_SERVICE_ERRORS, labels, now_ns), 1);
		series_add(registry_series(r, METRIC_SERVICE_SENT, labels, now_ns), 1000);
	}
	labels[4] = label(kinds[0]);
	series_observe(registry_series(r, METRIC_SERVICE_DURATION, labels, now_ns),
		       now_ns % 100000000, NULL);
}

/* Returns how long the addition waited. */
static uint64_t add_some(struct pages *ps, unsigned int n_services, unsigned int *next)
{
	const uint64_t begin_ns = clock_now_ns();
	struct registry *r = pages_lock(ps);
	const uint64_t now_ns = clock_now_ns();

	for (int i = 0; i < EVENTS_PER_MS; i++)
		add_event(r, (*next)++ % n_services, now_ns);
	pages_unlock(ps);
	return now_ns - begin_ns;
}

static void run(struct server *server, struct pages *ps, unsigned int n_services)
{
	struct pollfd in = {.events = POLLIN};
	uint64_t waited_ns, longest_ns = 0, begin_ns = clock_now_ns();
	unsigned int next = 0;

	while (poll(&in, 1, 1) == 0) {
		waited_ns = add_some(ps, n_services, &next);
		if (waited_ns > longest_ns)
			longest_ns = waited_ns;
		server_tick(server, clock_now_ns());
	}
	printf("%.0f events/s, longest wait %.3f ms\n",
	       next * 1e9 / (double)(clock_now_ns() - begin_ns), (double)longest_ns / 1e6);
}

int main(int argc, char **argv)
{
	static char *const args[] = {"exporter_load", "--listen", "127.0.0.1:0"};
	const struct registry_opts opts = {.sz = sizeof(opts), .max_lines = 1000000};
	const unsigned int n_services = argc > 1 ? (unsigned int)atoi(argv[1]) : 2000;
	struct exporter_options o = {0};
	struct server *server;
	struct registry *r;
	struct pages *ps;

	if (exporter_options_parse(&o, 3, (char **)args) || server_new(&server, &o) ||
	    registry_new(&r, metric_rows, METRIC_MAX, &opts))
		return 1;
	for (unsigned int i = 0; i < n_services; i++)
		add_event(r, i, clock_now_ns());
	if (pages_new(&ps, r, NULL, NULL) || server_start(server, ps, ""))
		return 1;
	server_say_where(server);
	run(server, ps, n_services);
	server_free(server);
	pages_free(ps);
	return 0;
}
