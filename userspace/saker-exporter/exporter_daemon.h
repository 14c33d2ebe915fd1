/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exporter as a daemon: reports to the service manager that it is ready, alive and about to
 * end, and reads its configuration again on SIGHUP. The thread that captures does all of it,
 * between two events: a report that it is alive shows that the capture proceeds.
 *
 * A reload applies all options that can change, or none, and changes no counter.
 */
#ifndef SAKER_EXPORTER_DAEMON_H
#define SAKER_EXPORTER_DAEMON_H

#include "exporter_options.h"
#include "exporter_otlp.h"
#include "notify.h"
#include "page.h"
#include "server.h"

struct exporter_daemon {
	int argc; /* the command line, to be parsed again */
	char **argv;
	const struct exporter_options *start; /* borrowed */
	struct exporter_options *now; /* owned, of the last reload; NULL: start */
	struct notify notify;
	struct pages *pages; /* borrowed */
	struct server *server; /* owned; NULL: none */
	struct exporter_otlp *otlp; /* borrowed; NULL: none */
	int ready;
};

/* Borrows all. */
void exporter_daemon_init(struct exporter_daemon *d, const struct exporter_options *o, int argc,
			  char **argv);
/* To be called while the capture proceeds. */
void exporter_daemon_tick(struct exporter_daemon *d, uint64_t now_ns);
void exporter_daemon_stopping(struct exporter_daemon *d);
/* Applies --max-series and --series-idle, at the start and after a reload. */
void exporter_set_limits(struct registry *r, const struct exporter_options *o);
/* Ends the server, and frees what a reload made. */
void exporter_daemon_fini(struct exporter_daemon *d);

#endif /* SAKER_EXPORTER_DAEMON_H */
