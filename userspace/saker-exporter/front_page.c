/* SPDX-License-Identifier: Apache-2.0 */
#include "front_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"

/* Names of files may have any bytes. */
static void put_html(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", f);
		else if (*text == '>')
			fputs("&gt;", f);
		else if (*text == '&')
			fputs("&amp;", f);
		else if ((unsigned char)*text >= 0x20)
			fputc(*text, f);
	}
}

static void put_row(FILE *f, const char *what, const char *state, const char *why)
{
	fputs("<tr><td>", f);
	put_html(f, what);
	fputs("</td><td>", f);
	put_html(f, state);
	fputs("</td><td>", f);
	put_html(f, why);
	fputs("</td></tr>\n", f);
}

static void put_features(FILE *f)
{
	const struct scap_capability *rows;
	const int n = scap_capabilities(&rows);

	for (int i = 0; i < n; i++)
		if (rows[i].used && rows[i].have <= 0)
			put_row(f, rows[i].sentence, "not supported by this kernel",
				rows[i].why ? rows[i].why : "");
}

static const char *accounting_why(const struct exporter_options *o, int has_accounting)
{
	if (has_accounting)
		return "exceptions: see saker_accounting_supported";
	if (o->read)
		return "a file is read";
	return o->no_accounting ? "saker exporter runs with --no-accounting"
				: "the kernel refused it: see the messages of saker exporter";
}

/* Subjects, and whether they are measured. */
static void put_subjects(FILE *f, const struct exporter_options *o, int has_accounting)
{
	const char *of_file = o->read ? "as far as the file has it" : "";

	put_row(f, "requests by service, calls between services", "measured", of_file);
	put_row(f, "requests inside TLS connections", o->tls ? "measured" : "not measured",
		o->tls ? "of OpenSSL and GnuTLS" : "start saker exporter with --tls");
	put_row(f, "TCP: connects, retransmits, resets, drops, overflows", "measured", of_file);
	put_row(f, "events seen, delivered and lost", o->read ? "not measured" : "measured",
		o->read ? "a file is read" : "");
	put_row(f, "CPU time, waits, faults, I/O, network by node, cgroup, container and pod",
		has_accounting ? "measured" : "not measured", accounting_why(o, has_accounting));
	put_row(f, "the same by process",
		has_accounting && o->processes ? "measured" : "not measured",
		o->processes ? "" : "start saker exporter with --processes");
	put_row(f, "syscalls by container",
		has_accounting && o->syscalls ? "measured" : "not measured",
		o->syscalls ? "" : "start saker exporter with --syscalls");
	put_row(f, "hardware counters", has_accounting && o->counters ? "measured" : "not measured",
		o->counters ? "exceptions: see saker_accounting_supported"
			    : "start saker exporter with --counters");
	put_row(f, "energy", has_accounting ? "measured" : "not measured",
		"as far as the machine has meters: see saker_energy_supported");
	put_row(f, "frequency", has_accounting && o->counters ? "measured" : "not measured",
		o->counters ? "if cpu_cycles and cpu_reference_cycles are: see "
			      "saker_accounting_supported"
			    : "start saker exporter with --counters");
	put_row(f, "metrics, spans and logs for OpenTelemetry", o->otlp.url ? "sent" : "not sent",
		o->otlp.url ? "saker_otlp_items_total and the next ones say what arrived"
			    : "start saker exporter with --otlp URL");
	if (!o->read)
		put_features(f);
}

char *front_page_new(const struct exporter_options *o, int has_accounting)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	fputs("<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>saker "
	      "exporter</title>"
	      "<style>body{font-family:sans-serif;margin:2em}td{padding:.2em 1em .2em "
	      "0;vertical-align:top}"
	      "</style></head><body>\n<h1>saker exporter " SAKER_VERSION "</h1>\n<p>",
	      f);
	put_html(f, o->read ? "Metrics of the capture file " : "Metrics of this machine");
	if (o->read)
		put_html(f, o->read);
	fputs(": <a href=\"/metrics\">/metrics</a>. <a href=\"/healthz\">/healthz</a> answers "
	      "whether "
	      "saker captures.</p>\n<h2>What is measured, and what is not</h2>\n<table>\n",
	      f);
	put_subjects(f, o, has_accounting);
	fputs("</table>\n<h2>Metrics</h2>\n<p>A metric without a line has no value yet, or cannot "
	      "be measured: unknown is not zero.</p>\n<table>\n",
	      f);
	for (size_t i = 0; i < METRIC_MAX; i++)
		put_row(f, metric_rows[i].name, "", metric_rows[i].help);
	fputs("</table>\n</body></html>\n", f);
	return fclose(f) ? NULL : text;
}
