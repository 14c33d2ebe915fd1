/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter_options.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "account.h"
#include "option_values.h"
#include "otlp_url.h"
#include "redact/redact.h"
#include "say.h"

#define AT(member) offsetof(struct exporter_options, member)
#define DEFAULT_LISTEN "127.0.0.1:9435"

enum {
	MIN_SERIES = 100,
	MAX_SERIES = 10000000,
	DEFAULT_SERIES = 50000,
	DEFAULT_SERIES_OF_MANY = 250000 /* with series of processes or calls */
};

static int parse_address(struct listen_address *a, const char *ip, const char *port)
{
	char *end;
	const unsigned long n = strtoul(port, &end, 10);

	if (*port < '0' || *port > '9' || *end || n > UINT16_MAX)
		return -EINVAL;
	if (inet_pton(AF_INET, ip, &a->v4.sin_addr) == 1) {
		a->v4.sin_family = AF_INET;
		a->v4.sin_port = htons((uint16_t)n);
		return 0;
	}
	if (inet_pton(AF_INET6, ip, &a->v6.sin6_addr) == 1) {
		a->v6.sin6_family = AF_INET6;
		a->v6.sin6_port = htons((uint16_t)n);
		return 0;
	}
	return -EINVAL;
}

/* 127.0.0.1:9435 or [::1]:9435. Names are not resolved: which address is exposed is explicit. */
static int parse_listen(void *member, const struct option_row *row, const char *arg)
{
	struct listen_address *a = member;
	const char *colon = strrchr(arg, ':');
	char ip[INET6_ADDRSTRLEN + 2] = "";
	size_t len = colon ? (size_t)(colon - arg) : 0;
	const int brackets = len > 2 && arg[0] == '[' && arg[len - 1] == ']';

	if (len && len < sizeof(ip))
		memcpy(ip, arg + brackets, len - 2 * (size_t)brackets);
	a->text = arg;
	if (colon && brackets == (strchr(ip, ':') != NULL) && !parse_address(a, ip, colon + 1))
		return 0;
	say("--%s needs an address and a port, as in 127.0.0.1:9435 or [::1]:9435, not '%s'",
	    row->name, arg);
	return -EINVAL;
}

static int parse_max_series(void *member, const struct option_row *row, const char *arg)
{
	int err = parse_count(member, row, arg);

	if (err || (*(uint64_t *)member >= MIN_SERIES && *(uint64_t *)member <= MAX_SERIES))
		return err;
	say("--%s is a number from %d to %d, not %s", row->name, MIN_SERIES, MAX_SERIES, arg);
	return -EINVAL;
}

static int parse_counters(void *member, const struct option_row *row, const char *arg)
{
	if (scap_account_knows_counters(arg))
		return set_text(member, row, arg);
	say("--%s is all, or names of counters with commas between them, not '%s': see saker "
	    "exporter --help",
	    row->name, arg);
	return -EINVAL;
}

static int parse_config(void *member, const struct option_row *row, const char *arg)
{
	struct config_option *config = member;

	if (config->path) {
		say("--config or --check-config is given twice");
		return -EINVAL;
	}
	config->only_check = row->value;
	return set_text(&config->path, row, arg);
}

static int parse_dir(void *member, const struct option_row *row, const char *arg)
{
	struct stat st;

	if (stat(arg, &st) || !S_ISDIR(st.st_mode)) {
		say("--%s needs a directory, not '%s'", row->name, arg);
		return -EINVAL;
	}
	return set_text(member, row, arg);
}

static int parse_otlp_url(void *member, const struct option_row *row, const char *arg)
{
	const char *why = otlp_url_problem(arg);

	if (!why)
		return set_text(member, row, arg);
	say("--%s: the URL %s", row->name, why); /* not printed: it may have a password */
	return -EINVAL;
}

/* clang-format off */
const struct option_row exporter_rows[] = {
	{0, "config", "FILE", GROUP_NOT_IN_FILE,
	 "Read options from FILE: a line NAME = VALUE for each, as in listen = 127.0.0.1:9435; yes or no for "
	 "those without an argument. The command line overrides FILE. SIGHUP reads FILE again, and the files "
	 "that it names.", parse_config, AT(config)},
	{0, "check-config", "FILE", GROUP_NOT_IN_FILE,
	 "Check FILE and the files that it names, and end.", parse_config, AT(config), 1},
	{0, "listen", "ADDRESS:PORT", GROUP_RELOADED,
	 "Serve metrics at this address (default " DEFAULT_LISTEN "). 0.0.0.0:9435 or [::]:9435 is every "
	 "address of the machine: use --tls-cert and --auth-file then. Port 0 is any free port, which is "
	 "printed.", parse_listen, AT(listen)},
	{0, "tls-cert", "FILE", GROUP_RELOADED,
	 "Serve HTTPS with this certificate (PEM, with its chain). Needs --tls-key.", set_text, AT(cert)},
	{0, "tls-key", "FILE", GROUP_RELOADED, "Private key of the certificate (PEM).", set_text, AT(key)},
	{0, "auth-file", "FILE", GROUP_RELOADED,
	 "Require basic authentication. Each line of FILE is USER:PASSWORD; others must not be able to read "
	 "it.", set_text, AT(auth)},
	{0, "max-series", "NUM", GROUP_RELOADED,
	 "At most NUM lines of metrics whose labels programs choose (default 50000; with --processes or "
	 "--syscalls 250000, of which these get three quarters). Beyond, values are added to the series other "
	 "of their metric.", parse_max_series, AT(max_series)},
	{0, "series-idle", "SECONDS", GROUP_RELOADED,
	 "When there is no room, a series that did not change for SECONDS ends for a new one (default 3600).",
	 parse_seconds, AT(idle_ns)},
	{0, "tls", NULL, GROUP_LIVE,
	 "Also measure requests inside TLS connections of programs that use OpenSSL, GnuTLS, or Go's crypto/tls.",
	 set_value, AT(tls), 1},
	{0, "processes", NULL, GROUP_LIVE,
	 "Also export what each process used: many series.", set_value, AT(processes), 1},
	{0, "syscalls", NULL, GROUP_LIVE,
	 "Also export the syscalls of each container and their errors, by name: many series.",
	 set_value, AT(syscalls), 1},
	{0, "counters", "LIST", GROUP_LIVE,
	 "Also count cycles, instructions and more with the counters of the CPU: all, or some of cpu_cycles, "
	 "cpu_reference_cycles, cpu_instructions, cache_references, cache_misses, branch_misses. "
	 "NAME=PMU:EVENT, as in cpu_cycles=software:cpu-clock, selects another source.",
	 parse_counters, AT(counters)},
	{0, "sysfs", "DIR", GROUP_LIVE,
	 "Read energy meters below DIR (default /sys): for tests, and for containers.", parse_dir, AT(sysfs)},
	{0, "host-root", "DIR", GROUP_LIVE,
	 "In a container with the PID namespace of the host: the root of the host is at DIR. Names of containers "
	 "and energy meters are read there.", parse_dir, AT(host_root)},
	{0, "no-accounting", NULL, GROUP_LIVE,
	 "Do not count what the node and its cgroups used: CPU time, waits, faults, I/O, network.",
	 set_value, AT(no_accounting), 1},
	OPTION_ROW_REDACT(GROUP_LIVE, AT(redact)),
	OPTION_ROWS_OF_SOURCE(AT(ring_sz), AT(container_socket), AT(cri_socket)),
	{'r', "read", "FILE", GROUP_LIVE,
	 "Read a capture file instead of the live system, and serve what it has until a signal comes.",
	 set_only_capture, AT(read)},
	{0, "otlp", "URL", GROUP_RELOADED,
	 "Also send metrics and a span for each request to the OpenTelemetry collector at URL, by OTLP over "
	 "HTTP: http://127.0.0.1:4318.", parse_otlp_url, AT(otlp.url)},
	{0, "otlp-interval", "SECONDS", GROUP_RELOADED, "Send metrics each SECONDS (default 15).",
	 parse_seconds, AT(otlp.interval_ns)},
	{0, "otlp-header", "HEADER", GROUP_RELOADED,
	 "Send this header, NAME: VALUE; may be repeated. @FILE: the lines of FILE, which others must not be "
	 "able to read, while they can see a command line.", parse_list, AT(otlp.headers)},
	{0, "otlp-ca", "FILE", GROUP_RELOADED,
	 "Trust the certificates in FILE (PEM) instead of those of the system.", set_text, AT(otlp.ca)},
	{0, "otlp-max-age", "SECONDS", GROUP_RELOADED,
	 "Drop a batch to which the collector answered 429, 502, 503 or 504, or nothing, for SECONDS (default "
	 "3600).",
	 parse_seconds, AT(otlp.max_age_ns)},
	{0, "otlp-gzip", NULL, GROUP_RELOADED, "Compress what is sent.", set_value, AT(otlp.gzip), 1},
	{0, "otlp-no-metrics", NULL, GROUP_LIVE, "Do not send metrics.", set_value, AT(otlp.no_metrics), 1},
	{0, "otlp-no-traces", NULL, GROUP_LIVE, "Do not send spans.", set_value, AT(otlp.no_traces), 1},
	{0, "otlp-logs", "FILTER", GROUP_LIVE,
	 "Also send a log record for each event that matches FILTER; name its types (evt.type=execve), else "
	 "everything is captured.", set_text, AT(otlp.logs)},
	{0, "queue", "DIR", GROUP_LIVE,
	 "Keep in DIR what the collector does not accept yet, beyond 16 MiB of memory and when saker ends.",
	 set_text, AT(otlp.queue)},
	{0, "queue-size", "SIZE", GROUP_LIVE,
	 "At most SIZE bytes in the DIR of --queue, with optional suffix K, M or G (default 256M); then the "
	 "oldest is dropped.", parse_file_size, AT(otlp.queue_sz)},
	{0, "print", NULL, GROUP_NOT_IN_FILE,
	 "With -r: print the metrics of the file instead of serving them.", set_value, AT(mode), EXPORTER_PRINT},
	{0, "openmetrics", NULL, GROUP_NOT_IN_FILE,
	 "With --print: print OpenMetrics, which has exemplars.", set_value, AT(openmetrics), 1},
	{0, "list-metrics", NULL, GROUP_NOT_IN_FILE, "List the metrics.", set_value, AT(mode), EXPORTER_LIST},
	{0, "markdown", NULL, GROUP_NOT_IN_FILE, "With --list-metrics: print Markdown.", set_value, AT(markdown), 1},
	{'v', "verbose", NULL, GROUP_LIVE, "Also print what the kernel refused, and other details.",
	 set_value, AT(verbose), 1},
	{'h', "help", NULL, GROUP_NOT_IN_FILE, "Show this text.", set_value, AT(mode), EXPORTER_HELP},
	{0, "version", NULL, GROUP_NOT_IN_FILE, "Show the version.", set_value, AT(mode), EXPORTER_VERSION},
	{0},
};
/* clang-format on */

static const char *help_of(const struct option_row *rows)
{
	(void)rows;
	return "saker exporter --help";
}

static int check(const struct exporter_options *o)
{
	const struct {
		int found;
		const char *text;
	} rows[] = {
		{!o->cert != !o->key, "--tls-cert and --tls-key need each other"},
		{o->mode == EXPORTER_PRINT && !o->read,
		 "--print needs a file: saker exporter -r FILE --print"},
		{o->openmetrics && o->mode != EXPORTER_PRINT,
		 "--openmetrics needs --print; clients request it"},
		{o->markdown && o->mode != EXPORTER_LIST, "--markdown needs --list-metrics"},
		{o->processes && o->no_accounting,
		 "--processes and --no-accounting exclude each other"},
		{o->syscalls && o->no_accounting,
		 "--syscalls and --no-accounting exclude each other"},
		{o->counters && o->no_accounting,
		 "--counters and --no-accounting exclude each other"},
		{o->sysfs && o->no_accounting, "--sysfs and --no-accounting exclude each other"},
		{o->read && (o->processes || o->syscalls || o->counters || o->sysfs ||
			     o->no_accounting),
		 "--processes, --syscalls, --counters, --sysfs and --no-accounting apply to a "
		 "live capture, not to -r"},
		{o->read && o->tls, "--tls applies to a live capture, not to -r"},
		{!o->otlp.url && (o->otlp.ca || o->otlp.queue || o->otlp.logs ||
				  o->otlp.headers.n || o->otlp.interval_ns || o->otlp.gzip ||
				  o->otlp.max_age_ns || o->otlp.no_metrics || o->otlp.no_traces),
		 "--queue and the options that begin with --otlp- need --otlp URL"},
		{o->otlp.queue_sz && !o->otlp.queue, "--queue-size needs --queue DIR"},
		{o->otlp.no_metrics && o->otlp.no_traces && !o->otlp.logs,
		 "--otlp-no-metrics and --otlp-no-traces leave nothing to send"},
		{o->read && (o->ring_sz || o->container_socket || o->cri_socket || o->host_root),
		 "--ring-size, --container-socket, --cri-socket and --host-root apply to a live "
		 "capture, not to -r"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].found) {
			say("%s", rows[i].text);
			return -EINVAL;
		}
	}
	return 0;
}

static int parse_words(struct exporter_options *o, int argc, char **argv)
{
	struct option_args args = {argv, argc, 1, exporter_rows, help_of, NULL};
	int err = 0;

	while (!err && args.next < args.n) {
		const char *text = args.v[args.next++];

		if (option_is_one(text)) {
			err = option_parse(o, text, &args);
		} else {
			say("unexpected argument '%s': see saker exporter --help", text);
			err = -EINVAL;
		}
	}
	return err;
}

static int set_defaults(struct exporter_options *o)
{
	return parse_listen(&o->listen, exporter_rows, DEFAULT_LISTEN);
}

/* Reads the file, and then the words again, which override it. */
static int parse_file(struct exporter_options *o, int argc, char **argv)
{
	const char *path = o->config.path;
	int err;

	exporter_options_fini(o);
	*o = (struct exporter_options){0};
	err = set_defaults(o) ?: exporter_config_read(&o->values, o, exporter_rows, path);
	return err ?: parse_words(o, argc, argv);
}

static int settle(struct exporter_options *o)
{
	const int err = check(o);

	if (!o->max_series)
		o->max_series =
			o->processes || o->syscalls ? DEFAULT_SERIES_OF_MANY : DEFAULT_SERIES;
	if (err || !o->host_root || o->sysfs)
		return err;
	if (asprintf(&o->host_sysfs, "%s/sys", o->host_root) < 0) {
		o->host_sysfs = NULL;
		return -ENOMEM;
	}
	o->sysfs = o->host_sysfs;
	return 0;
}

int exporter_options_parse(struct exporter_options *o, int argc, char **argv)
{
	int err = set_defaults(o) ?: parse_words(o, argc, argv);

	if (err || o->mode == EXPORTER_HELP || o->mode == EXPORTER_VERSION)
		return err;
	if (o->config.path)
		err = parse_file(o, argc, argv);
	return err ?: settle(o);
}

void exporter_options_fini(struct exporter_options *o)
{
	free(o->otlp.headers.v);
	free(o->host_sysfs);
	scap_redact_free(o->redact);
	exporter_config_fini(&o->values);
}

void exporter_help(FILE *f)
{
	fputs("Usage: saker exporter [OPTION...]                measure this machine\n"
	      "       saker exporter --config FILE              the same, options in a file\n"
	      "       saker exporter --otlp URL [OPTION...]     also send it to OpenTelemetry\n"
	      "       saker exporter [OPTION...] -r FILE        measure a capture file\n"
	      "\n"
	      "Serves metrics for Prometheus: requests by service, calls between services,\n"
	      "faults of TCP, what the node, cgroups, containers and pods used, and what\n"
	      "saker itself saw, lost and used. Measuring needs root. /metrics has the\n"
	      "metrics, /healthz answers whether saker captures, and / says what is measured\n"
	      "and what is not. Ctrl-C or SIGTERM end it.\n"
	      "\n",
	      f);
	for (const struct option_row *row = exporter_rows; row->name; row++)
		help_put_row(f, row);
}
