/* SPDX-License-Identifier: Apache-2.0 */
/* Attaches the hooks of the driver, in an order in which no exit misses its enter, and detaches
 * them. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "live/bpf_wait.h"
#include "live/live_driver.h"
#include "sampling/live_sampler.h"
#include "tls/live_tls.h"

/* Their sections have handlers of our own, see live_progs.c, so libbpf cannot attach them. */
static int attach(struct live_driver *d, struct bpf_link **link, struct bpf_program *p)
{
	if (*link)
		return 0;
	if (d->refuse_attach && !strcmp(d->refuse_attach, bpf_program__name(p)))
		return -EINVAL;
	*link = bpf_program__expected_attach_type(p) == BPF_TRACE_ITER
			? bpf_program__attach_iter(p, NULL)
			: bpf_program__attach_trace(p);
	return *link ? 0 : -errno;
}

/* Attaches a hook, if it exists: a missing optional one is not an error. */
static int attach_hook(struct live_driver *d, struct bpf_link **link, struct bpf_program *p)
{
	int err = live_is_present(d, p) ? attach(d, link, p) : 0;

	if (!err || program_row_of(p)->required)
		return err;
	live_note_missing(d, p, err);
	return 0;
}

/*
 * Our PIDs equal the driver's only outside of PID namespaces: elsewhere these helpers are recorded.
 */
static void add_running_helpers(struct live_driver *d, uint32_t self_tgid)
{
	struct driver__bss *bss = d->skel->bss;
	const size_t n_places = sizeof(bss->n_helpers) / sizeof(*bss->n_helpers);
	pid_t pids[HELPERS_RUNNING_MAX];
	unsigned int n = self_tgid == (uint32_t)getpid() ? helpers_running(pids) : 0;
	int err = 0;

	for (unsigned int i = 0; i < n && !err; i++) {
		const uint32_t pid = (uint32_t)pids[i];

		err = bpf_map__update_elem(d->skel->maps.helper_pids, &pid, sizeof(pid), &pid,
					   sizeof(pid), BPF_NOEXIST);
		if (!err)
			__sync_fetch_and_add(&bss->n_helpers[pid % n_places], 1);
		else if (err == -EEXIST)
			err = 0;
	}
	if (err)
		scap_say(&d->log, SCAP_LOG_WARN,
			 "cannot exclude the helper processes of saker from the capture: %s",
			 strerror(-err));
}

/* Helpers that begin from here on are marked as saker's own: those that build unwind tables begin
 * before the capture. */
int live_attach_own(struct live_driver *d)
{
	const uint32_t self = ((const struct drv_config *)&d->skel->rodata->cfg)->self_tgid;
	int err;

	if (!self)
		return 0;
	err = attach_hook(d, &d->skel->links.helper_fork, d->skel->progs.helper_fork);
	if (err)
		return live_fail_libbpf(&d->log, err, "cannot attach the driver");
	/* With too many captures at once, helpers of this one are recorded. */
	helpers_watch(&d->skel->bss->helper_forking);
	add_running_helpers(d, self);
	return 0;
}

/* Attaches to TLS libraries, if requested. */
static int open_tls(struct live_driver *d)
{
	const struct driver *s = d->skel;
	struct live_tls_opts opts = {.chosen = d->chosen};

	if (!d->with_tls)
		return 0;
	opts.multi = live_progs_uprobe_multi();
	opts.programs[TLS_AT_ENTRY] = bpf_program__fd(s->progs.tls_enter);
	opts.programs[TLS_GO_AT_ENTRY] = bpf_program__fd(s->progs.tls_go_enter);
	opts.programs[TLS_AT_RETURN] = bpf_program__fd(s->progs.tls_return);
	opts.programs[TLS_GO_AT_RETURN] = bpf_program__fd(s->progs.tls_go_return);
	return live_tls_open(&d->tls, &opts, &d->log);
}

/*
 * Attaches sched_switch first and sys_enter last: no call is open that could be lost at a switch.
 */
int live_attach(struct live_driver *d)
{
	struct driver *s = d->skel;
	int err = 0;

	if (bpf_program__autoload(s->progs.sched_switch))
		err = attach(d, &s->links.sched_switch, s->progs.sched_switch);
	for (int i = 0; i < s->skeleton->prog_cnt && !err; i++) {
		struct bpf_program *p = *s->skeleton->progs[i].prog;

		if (!live_is_filler(p) && !live_is_sample(p) && !live_is_uprobe(p) &&
		    p != s->progs.sys_exit && p != s->progs.sys_enter && p != s->progs.file_rows)
			err = attach_hook(d, s->skeleton->progs[i].link, p);
	}
	err = err ?: live_select_mark(&d->select_maps, d->select);
	live_run_iterator(s->links.tcp_begun);
	if (bpf_program__autoload(s->progs.sys_exit))
		err = err ?: attach(d, &s->links.sys_exit, s->progs.sys_exit)
			  ?: attach(d, &s->links.sys_enter, s->progs.sys_enter);
	if (err) {
		live_detach(d);
		err = live_fail_libbpf(&d->log, err, "cannot attach the driver");
	}
	err = err ?: open_tls(d);
	d->select = NULL;
	d->chosen = (struct chosen_procs){0};
	return err;
}

static void detach(struct bpf_link **link)
{
	bpf_link__destroy(*link);
	*link = NULL;
}

void live_detach(struct live_driver *d)
{
	struct driver *s = d->skel;
	int err;

	live_tls_close(d->tls);
	d->tls = NULL;
	if (d->sampler && !live_sampler_stop(d->sampler))
		live_run_iterator(s->links.waits_left);
	live_run_iterator(s->links.tcp_left);
	/* Otherwise exits without enters would be recorded, and readers would pair them with other
	 * enters. */
	detach(&s->links.sys_exit);
	detach(&s->links.sys_enter);
	for (int i = 0; i < s->skeleton->prog_cnt; i++)
		if (s->skeleton->progs[i].link != &s->links.running_rows)
			detach(s->skeleton->progs[i].link);
	err = bpf_wait();
	if (err)
		scap_say(&d->log, SCAP_LOG_WARN,
			 "cannot wait for the BPF programs that still run: %s; the last events may "
			 "be missing",
			 strerror(-err));
}
