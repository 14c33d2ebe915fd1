/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter_daemon.h"

#include <errno.h>
#include <stdlib.h>

#include "collect.h"
#include "otlp_sender.h"
#include "say.h"
#include "signals.h"

void exporter_daemon_init(struct exporter_daemon *d, const struct exporter_options *o, int argc,
			  char **argv)
{
	*d = (struct exporter_daemon){.start = o, .argc = argc, .argv = argv};
	notify_init(&d->notify);
	if (o->config.path)
		signals_catch_reload();
}

static void free_options(struct exporter_options *o)
{
	if (o)
		exporter_options_fini(o);
	free(o);
}

void exporter_set_limits(struct registry *r, const struct exporter_options *o)
{
	const struct registry_opts opts = {
		.sz = sizeof(opts),
		.max_lines = (uint32_t)o->max_series,
		.idle_ns = o->idle_ns,
	};

	registry_set_limits(r, &opts);
	metric_set(r, METRIC_SERIES_MAX, NULL, NULL, o->max_series);
}

/* Names the options that differ from those of the start, and that a reload does not apply. */
static void say_fixed(const struct exporter_daemon *d, const struct exporter_options *o)
{
	char names[512];

	if (exporter_config_fixed(names, sizeof(names), exporter_rows, &d->start->values,
				  &o->values))
		say_warning("%s: only a restart changes %s", o->config.path, names);
}

/* Returns 0, or a negative errno after reporting it, with nothing changed. */
static int reload(struct exporter_daemon *d)
{
	struct exporter_options *o = calloc(1, sizeof(*o));
	struct otlp_target *target = NULL;
	int err = !o ? -ENOMEM : exporter_options_parse(o, d->argc, d->argv);

	err = err ?: exporter_otlp_prepare(&target, d->otlp, o);
	if (!err && d->server)
		err = server_replace(&d->server, o); /* last: nothing can fail after it */
	if (err) {
		otlp_target_free(target);
		free_options(o);
		return err;
	}
	free_options(d->now);
	d->now = o;
	exporter_set_limits(pages_lock(d->pages), o);
	pages_unlock(d->pages);
	exporter_otlp_set(d->otlp, o, target);
	say_fixed(d, o);
	return 0;
}

static void on_reload(struct exporter_daemon *d, uint64_t now_ns)
{
	const char *path = d->start->config.path;

	notify_reloading(&d->notify, now_ns);
	if (reload(d))
		say("%s: not applied: the options are as before", path);
	else
		say_notice("%s: applied", path);
	d->ready = notify_ready(&d->notify);
}

void exporter_daemon_tick(struct exporter_daemon *d, uint64_t now_ns)
{
	if (!d->ready)
		d->ready = notify_ready(&d->notify);
	notify_alive(&d->notify, now_ns);
	if (signals_take_reload())
		on_reload(d, now_ns);
	if (d->server)
		server_tick(d->server, now_ns);
}

void exporter_daemon_stopping(struct exporter_daemon *d)
{
	notify_stopping(&d->notify);
}

void exporter_daemon_fini(struct exporter_daemon *d)
{
	server_free(d->server);
	free_options(d->now);
	notify_fini(&d->notify);
}
