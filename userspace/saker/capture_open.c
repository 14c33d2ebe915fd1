/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the sources of a capture: the live system with its selection and sampler, or files, in the
 * order of their times where they are joined. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture_state.h"
#include "chisels.h"
#include "clock.h"
#include "dispatch_span.h"
#include "fields/field.h"
#include "inspector_open.h"
#include "privileges.h"
#include "redact/redact.h"
#include "say.h"

#define PROFILE_NAP_MS 100 /* what a profile prints comes at its end */

static int is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return a && b && stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) &&
	       x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Opening a file for writing truncates it: refuses one that is also read, or written twice. */
int capture_check_files(const struct options *o)
{
	size_t i;

	for (i = 0; i < o->read.n; i++) {
		if (is_same_file(o->read.v[i], o->write) || is_same_file(o->read.v[i], o->output)) {
			say("cannot write to %s: it is also read; write to another file",
			    o->read.v[i]);
			return -EINVAL;
		}
	}
	if (o->profile.diff &&
	    (strcmp(o->read.v[0], o->read.v[1]) == 0 || is_same_file(o->read.v[0], o->read.v[1]))) {
		say("--diff needs two different files, not %s twice", o->read.v[1]);
		return -EINVAL;
	}
	if (o->write && o->output &&
	    (strcmp(o->write, o->output) == 0 || is_same_file(o->write, o->output))) {
		say("cannot write both lines and events to %s", o->write);
		return -EINVAL;
	}
	return 0;
}

static int is_dash(const char *path)
{
	return path && strcmp(path, "-") == 0;
}

int capture_check_terminals(const struct options *o)
{
	if (is_dash(o->write) && o->command) {
		say("-w - would mix what %s prints into the capture: name a file", o->command[0]);
		return -EINVAL;
	}
	if (is_dash(o->write) && isatty(STDOUT_FILENO)) {
		say("-w - would write a capture file to the terminal: pipe it on, or name a file");
		return -EINVAL;
	}
	if (o->read.n && is_dash(o->read.v[0]) && isatty(STDIN_FILENO)) {
		say("-r - would read a capture file from the terminal: pipe one in, or name it");
		return -EINVAL;
	}
	return 0;
}

static int wants_slices(const struct capture *c)
{
	return !!(c->pushdown.derive & SINSP_DERIVE_SLICES);
}

/* Returns the selection. For a command the kernel records only it and its descendants: @command has
 * room for its PID. */
static struct scap_select selection(struct capture *c, int32_t *command)
{
	const struct options *o = c->o;
	struct scap_select sel = {
		.calls = o->syscalls.given ? &o->syscalls.set : NULL,
		.pids = (const int32_t *)o->pids.v,
		.n_pids = o->pids.n,
		.descendants = o->tree,
		.comms = (const char *const *)o->comms.v,
		.n_comms = o->comms.n,
		.uids = o->uids.v,
		.n_uids = o->uids.n,
		.cgroups = o->cgroups.v,
		.n_cgroups = o->cgroups.n,
		.failed_only = o->failed_only,
		.suppress = o->suppress.v,
		.n_suppress = o->suppress.n,
	};

	*command = c->spawn.pid;
	if (*command && !o->all) {
		sel.pids = command;
		sel.n_pids = 1;
		sel.descendants = 1;
	}
	pushdown_apply(&c->pushdown, &sel);
	pushdown_apply(&c->chisels_pushdown, &sel);
	if (wants_slices(c))
		pushdown_select_slices(&sel, &c->slice_calls, c->o->syscalls.given);
	pushdown_calls(&c->pushdown, &c->chisels_pushdown, o, &sel);
	return sel;
}

/* Returns the sampler options; *on has the names of tracepoints. NULL: no samples. */
static const struct scap_sampler_opts *sampler(struct scap_sampler_opts *so,
					       const struct sample_options *o, const char **on)
{
	*so = (struct scap_sampler_opts){
		.sz = sizeof(*so),
		.period_ns = o->period_ns,
		.depth = o->depth,
		.off_min_ns = o->off_min_ns,
		.threshold = o->threshold,
		.tables_sz = o->tables_sz,
		.interval_ns = o->interval_ns,
		.tracepoints = on,
		.session = getenv("SAKER_SAMPLER_SESSION"),
		.maps = 1,
	};
	for (size_t i = 0; i < o->on.n; i++) {
		if (strcmp(o->on.v[i], "off_cpu") == 0)
			so->off_cpu = 1;
		else if (strcmp(o->on.v[i], "page_fault") == 0)
			so->page_faults = 1;
		else if (strcmp(o->on.v[i], "syscall") == 0)
			so->calls = 1;
		else
			on[so->n_tracepoints++] = o->on.v[i];
	}
	return samples_wanted(o) ? so : NULL;
}

static uint32_t switches_wanted(const struct capture *c)
{
	if (c->chisels_pushdown.turns || wants_slices(c))
		return 2;
	return c->o->switches || c->pushdown.switches || c->chisels_pushdown.switches;
}

static uint32_t wakeups_wanted(const struct capture *c)
{
	if (wants_slices(c))
		return 2;
	return c->o->wakeups || c->pushdown.wakeups || c->chisels_pushdown.wakeups;
}

static uint32_t tcp_wanted(const struct capture *c)
{
	const struct pushdown *lines = &c->pushdown, *chisels = &c->chisels_pushdown;

	return c->o->tcp || lines->tcp || chisels->tcp ||
	       (lines->needed | chisels->needed) & FIELD_NEEDS_TCP;
}

/* Whether the input can be read twice: then it is known before the file begins what can be left
 * out. */
static int wants_first_pass(const struct capture *c)
{
	const struct options *o = c->o;
	struct stat st;

	for (size_t i = 0; i < o->read.n; i++)
		if (stat(o->read.v[i], &st) || !S_ISREG(st.st_mode))
			return 0;
	return !c->live && o->write && c->dispatch.filter && !o->whole_state &&
	       !pieces_begin_with_event(o);
}

/* Errors in the file are reported when it is read again. */
static int first_pass(struct capture *c, const struct scap_open_opts *opts,
		      const struct sinsp_opts *sinsp_opts)
{
	struct sinsp_opts quiet_too = *sinsp_opts;
	struct scap_open_opts quiet = *opts;
	struct sinsp *inspector;
	struct scap *src;
	int err;

	quiet.log = quiet_too.log = NULL;
	err = scap_open(&src, &quiet) ?: sinsp_open(&inspector, src, &quiet_too);
	if (err)
		return 0;
	err = dispatch_first_pass(&c->dispatch, c->o, inspector);
	sinsp_close(inspector);
	if (opts->redact)
		scap_redact_restart(opts->redact);
	return err;
}

/* Returns how the inspector of @path is opened. */
static struct sinsp_opts inspector_opts(const struct capture *c, const char *path)
{
	const struct options *o = c->o;
	struct sinsp_filter *f = dispatch_filter(&c->dispatch);

	return (struct sinsp_opts){
		.sz = sizeof(struct sinsp_opts),
		.enter_events = o->enter_events || c->dispatch.chisels ||
				(f && sinsp_filter_needs_enters(f)),
		.tree_root = c->spawn.pid && !o->all ? c->spawn.pid : 0,
		.suppress_comms = o->suppress.v,
		.resync = c->live,
		.source_name = path,
		.debug_dirs = o->debug_dirs,
		.interpreter_frames = (uint8_t)o->interpreter_frames,
		.log = say_log,
		.containers = c->live,
		.derive = pushdown_derives(f, c->dispatch.chisels, o),
	};
}

/* Opens the source, the file that is written, and the inspector @i. */
static int open_inspector(struct capture *c, size_t i, const struct scap_open_opts *opts,
			  struct sinsp_opts *sinsp_opts)
{
	struct scap *src;
	int err = wants_first_pass(c) ? first_pass(c, opts, sinsp_opts) : 0;

	if (!err)
		err = scap_open(&src, opts);
	if (!err && c->live)
		c->dispatch.settled_ns = scap_begin_ns(src);
	if (!err)
		c->dispatch.in_order = c->o->read.n == 1 && scap_in_order(src);
	if (!err && c->o->write) {
		err = dispatch_open_file(&c->dispatch, src);
		if (err)
			scap_close(src);
	}
	if (err) {
		sinsp_lookup_free(sinsp_opts->lookup);
		return err;
	}
	return sinsp_open(&c->inspectors[i], src, sinsp_opts);
}

/* Requests need more of the data on sockets, unless the user set a limit. */
static void keep_more(const struct capture *c, struct scap_open_opts *opts)
{
	if (c->pushdown.derive & SINSP_DERIVE_REQUESTS && !c->o->snaplen && !c->o->snap_ports.n)
		inspector_keep_requests(opts);
}

/* Whether all that is shown needs no more of the events before --from than the state of threads and
 * files. */
static int can_skip(const struct capture *c)
{
	return !pushdown_derives(dispatch_filter(&c->dispatch), c->dispatch.chisels, c->o) &&
	       !(c->dispatch.chisels && c->dispatch.chisels->run.follows);
}

/* Returns from_ns of the source: 1, before which there is no event, to know whether --to can end
 * it. */
static uint64_t from_ns(const struct capture *c)
{
	if (c->dispatch.settled_ns && can_skip(c))
		return c->dispatch.settled_ns;
	return c->o->to.kind != TIME_ARG_NONE;
}

/* Opens the source @i: the only one, or a file of several. */
static int open_source(struct capture *c, size_t i)
{
	const struct options *o = c->o;
	const char *const one[] = {o->read.n ? o->read.v[i] : NULL, NULL};
	const char *const *const path = c->joined ?: one;
	int32_t command;
	const struct scap_select select = selection(c, &command);
	const char *tracepoints[o->sample.on.n + 1];
	struct scap_sampler_opts so;
	struct scap_open_opts opts = {
		.sz = sizeof(opts),
		.paths = c->live ? NULL : path,
		.log = say_log,
		.ring_kind = o->ring_kind,
		.ring_sz = o->ring_sz,
		.snaplen = o->snaplen,
		.page_faults = o->page_faults || c->pushdown.page_faults ||
			       c->chisels_pushdown.page_faults,
		.switches = switches_wanted(c),
		.wakeups = wakeups_wanted(c),
		.tcp = tcp_wanted(c),
		.select = &select,
		.snap_ports = o->snap_ports.v,
		.n_snap_ports = o->snap_ports.n,
		.sampling = (uint32_t)o->sampling,
		.cpus_per_ring = o->cpus_per_ring,
		.no_users = (uint32_t)o->no_users,
		.tls = (uint32_t)o->tls,
		.nap_ms = o->profile.on ? PROFILE_NAP_MS : 0,
		.sampler = sampler(&so, &o->sample, tracepoints),
		.redact = o->redact,
		/* Of files that are merged each would have a thread of its own. */
		.one_thread = o->one_thread || (!c->joined && o->read.n > 1),
		.from_ns = from_ns(c),
	};
	struct sinsp_opts sinsp_opts = inspector_opts(c, path[0]);
	unsigned int before = say_n_errors();
	int err;

	keep_more(c, &opts);
	/* First, since loading the driver takes longer than an answer. */
	if (c->live)
		sinsp_opts.lookup = inspector_lookup(o->container_socket, o->cri_socket, NULL);
	if (c->dispatch.chisels)
		c->dispatch.chisels->run.no_calls = (uint8_t)select.no_calls;
	err = open_inspector(c, i, &opts, &sinsp_opts);
	if (err)
		say_cause(before, c->live ? "cannot capture" : path[0], err);
	else
		c->n_inspectors++;
	return err;
}

/* Several files are joined, a section each. */
static int joins_files(const struct options *o)
{
	return o->write && o->read.n > 1;
}

/* Returns the time of its first event; 0: it can be read only once, or not at all. */
static uint64_t first_time(const char *path)
{
	const char *const paths[] = {path, NULL};
	const struct scap_open_opts opts = {.sz = sizeof(opts), .paths = paths, .one_thread = 1};
	struct scap_evt evt;
	uint64_t ns = 0;
	struct stat st;
	struct scap *src;

	if (strcmp(path, "-") == 0 || stat(path, &st) || !S_ISREG(st.st_mode) ||
	    scap_open(&src, &opts))
		return 0;
	while (!ns && scap_next(src, &evt, -1) >= 0)
		ns = evt_begins_capture(evt.type) ? evt.ts_ns : 0;
	scap_close(src);
	return ns;
}

/* Orders the files by the times of their first events; owned, NULL without memory. */
static const char **files_in_order(const struct options *o)
{
	const char **v = calloc(o->read.n + 1, sizeof(*v));
	uint64_t *times = calloc(o->read.n, sizeof(*times));

	for (size_t i = 0; v && times && i < o->read.n; i++) {
		const uint64_t ns = first_time(o->read.v[i]);
		size_t at = i;

		for (; at && ns && times[at - 1] > ns; at--) {
			v[at] = v[at - 1];
			times[at] = times[at - 1];
		}
		v[at] = o->read.v[i];
		times[at] = ns;
	}
	if (!times) {
		free(v);
		v = NULL;
	}
	free(times);
	return v;
}

/* Sets what --from and --to mean, if the files can be read twice. */
static void set_times(struct capture *c)
{
	const struct options *o = c->o;
	uint64_t first_ns = 0;

	for (size_t i = 0; (o->from.kind || o->to.kind) && i < o->read.n; i++) {
		const uint64_t ns = first_time(o->read.v[i]);

		if (ns && (!first_ns || ns < first_ns))
			first_ns = ns;
	}
	dispatch_set_times(&c->dispatch, o, first_ns);
}

int capture_open_sources(struct capture *c)
{
	const size_t n = c->live || joins_files(c->o) ? 1 : c->o->read.n;
	unsigned int before = say_n_errors();
	int err = 0;

	set_times(c);
	if (joins_files(c->o)) {
		c->joined = files_in_order(c->o);
		err = c->joined ? 0 : -ENOMEM;
	}
	c->inspectors = calloc(n, sizeof(struct sinsp *));
	c->samples = calloc(n, sizeof(*c->samples));
	if (!c->inspectors || !c->samples)
		err = -ENOMEM;
	for (size_t i = 0; i < n && !err; i++)
		err = open_source(c, i);
	if (!err && n > 1)
		err = sinsp_streams_new(&c->streams, c->inspectors, n);
	if (err)
		say_cause(before, "cannot read", err);
	c->report.opened_ns = clock_now_ns();
	return err;
}
