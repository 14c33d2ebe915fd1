/* SPDX-License-Identifier: Apache-2.0 */
/* saker exporter: opens what needs privileges, drops them, then counts and serves. */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounts.h"
#include "clock.h"
#include "collect.h"
#include "confine.h"
#include "exporter_capture.h"
#include "exporter_daemon.h"
#include "exporter_options.h"
#include "exporter_otlp.h"
#include "front_page.h"
#include "inspector_open.h"
#include "page.h"
#include "privileges.h"
#include "say.h"
#include "server.h"
#include "signals.h"
#include "standard_streams.h"

/* As in saker: large blocks, such as pages, are returned to the system. */
static void give_memory_back(void)
{
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	mallopt(M_TRIM_THRESHOLD, 1 << 20);
	mallopt(M_ARENA_MAX, 2);
}

/* Values that are read when they are to be shown. */
static void collect_read(void *ctx, struct registry *r, uint64_t now_ns)
{
	collect_self(NULL, r, now_ns);
	exporter_otlp_collect(ctx, r);
}

static int new_pages(struct pages **out, const struct exporter_options *o,
		     struct exporter_otlp *otlp, const struct sinsp *s)
{
	char host[256];
	struct registry *r;
	int err = registry_new(&r, metric_rows, METRIC_MAX, NULL);

	if (!err) {
		exporter_set_limits(r, o);
		collect_about(r, !o->read);
		collect_host(host, sizeof(host), s);
		collect_target(r, host);
	}
	err = err ?: pages_new(out, r, collect_read, otlp);
	if (err == -ENOMEM)
		say("no memory for the metrics");
	return err;
}

static int print_page(struct pages *ps, const struct exporter_options *o)
{
	const struct page *page = pages_get(
		ps, o->openmetrics ? EXPOSITION_OPENMETRICS : EXPOSITION_TEXT, clock_now_ns());
	int err;

	if (!page) {
		say("no memory for the page");
		return -ENOMEM;
	}
	err = stdout_put(page->p, page->len);
	pages_put(page);
	return err == -EPIPE ? 0 : err;
}

/* The accounting of a kernel that refuses it costs its metrics only. */
static struct accounts *open_accounts(const struct exporter_options *o)
{
	struct accounts *a = NULL;

	if (!o->read && !o->no_accounting && accounts_open(&a, o))
		say_log(NULL, SCAP_LOG_WARN, "what processes and cgroups use is not measured");
	return a;
}

/* What is open besides what the daemon has. */
struct opened {
	struct sinsp *s;
	struct accounts *accounts;
	char *front;
};

/* It opens nothing but a file, which others may have written. */
static int only_prints_file(const struct exporter_options *o)
{
	return o->read && o->mode == EXPORTER_PRINT && !o->otlp.url;
}

/* Before the first byte of a file. A server and a sender go on to open files and sockets. */
static void confine(const struct exporter_options *o)
{
	const char *const paths[] = {o->read, "/proc/self/statm", NULL}; /* collect_self */

	if (only_prints_file(o))
		confine_reader(paths, 0);
	else if (o->read)
		privileges_drop_to_replay(1, 0);
}

/* From the start of the capture until it is read, its rings fill: so what takes long is before it,
 * the probing of features for the front page, too. */
static int open_all(struct exporter_daemon *d, struct opened *all, const struct exporter_options *o)
{
	int err = o->mode == EXPORTER_SERVE ? server_new(&d->server, o) : 0;

	err = err ?: exporter_otlp_new(&d->otlp, o);
	if (err)
		return err;
	all->accounts = open_accounts(o);
	all->front = front_page_new(o, all->accounts != NULL);
	if (!all->front) {
		say("no memory for the front page");
		return -ENOMEM;
	}
	confine(o);
	err = exporter_capture_open(&all->s, o, d->otlp);
	return err ?: new_pages(&d->pages, o, d->otlp, all->s);
}

static int run(const struct exporter_options *o, int argc, char **argv)
{
	struct opened all = {0};
	struct exporter_daemon d;
	int err;

	exporter_daemon_init(&d, o, argc, argv);
	err = open_all(&d, &all, o);
	signals_install(0);
	if (!err) {
		if (only_prints_file(o))
			privileges_drop_all();
		else
			privileges_drop(0, 0);
		err = all.accounts ? accounts_start(all.accounts, d.pages) : 0;
	}
	if (!err && d.server)
		err = server_start(d.server, d.pages, all.front);
	err = err ?: exporter_otlp_start(d.otlp, d.pages, all.s);
	if (!err) {
		if (d.server)
			server_say_where(d.server);
		err = exporter_capture_run(all.s, o, &d);
		exporter_daemon_stopping(&d);
		exporter_otlp_stop(d.otlp);
		err = (d.server ? 0 : print_page(d.pages, o)) ?: err;
		inspector_report_redacted(o->redact);
	}
	exporter_daemon_fini(&d);
	accounts_close(all.accounts);
	exporter_otlp_free(d.otlp);
	pages_free(d.pages);
	sinsp_close(all.s);
	free(all.front);
	return err ? 1 : 0;
}

/* Checks the options and the files that they name. It does not check the port, the kernel and the
 * directory of the queue, which a start does, maybe on another machine. */
static int check_only(const struct exporter_options *o)
{
	const int server_err = server_check(o);
	const int err = o->otlp.url ? exporter_otlp_check(o) : 0;

	if (server_err || err)
		return 1;
	printf("%s: valid\n", o->config.path);
	return 0;
}

static int run_mode(const struct exporter_options *o, int argc, char **argv)
{
	if (o->verbose)
		say_info_too();
	switch ((enum exporter_mode)o->mode) {
	case EXPORTER_LIST:
		(o->markdown ? metrics_list_markdown : metrics_list)(stdout);
		return 0;
	case EXPORTER_HELP:
		exporter_help(stdout);
		return 0;
	case EXPORTER_VERSION:
		printf("saker %s\n", SAKER_VERSION);
		return 0;
	case EXPORTER_SERVE:
	case EXPORTER_PRINT:
		break;
	}
	if (o->config.only_check)
		return check_only(o);
	if (!o->read && !privileges_allow("measuring this machine", "saker exporter"))
		return 1;
	return run(o, argc, argv);
}

int main(int argc, char **argv)
{
	struct exporter_options o = {0};
	int status;

	standard_fds_fill();
	give_memory_back();
	signals_begin();
	signal(SIGPIPE, SIG_IGN);
	say_to_journal();
	status = exporter_options_parse(&o, argc, argv) ? 1 : 0;
	status = status ?: run_mode(&o, argc, argv);
	exporter_options_fini(&o);
	return stdout_end(status);
}
