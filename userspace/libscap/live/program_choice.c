/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the BPF programs that a capture needs, and notes those that the kernel refuses.
 *
 * syscalls.def alone decides which program (filler) fills the record of a call: a row with open
 * uses fill_open; sys_exit itself fills generic and inline ones.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "event/ia32_table.h"
#include "live/live_driver.h"

static const char *const fillers[DRV_MAX_NR] = {
#define SYS(nr, name, event, filler, ...) [nr] = "fill_" #filler,
#include "syscalls.def"
#undef SYS
};

/* Finds the filler of each call; NULL: sys_exit fills it. Many calls share one. */
static void find_fillers(struct live_driver *d)
{
	for (unsigned int nr = 0; nr < DRV_MAX_NR; nr++) {
		unsigned int same = 0;

		if (!fillers[nr])
			continue;
		while (same < nr && fillers[same] != fillers[nr])
			same++;
		d->fillers[nr] =
			same < nr ? d->fillers[same]
				  : bpf_object__find_program_by_name(d->skel->obj, fillers[nr]);
	}
}

int live_is_filler(const struct bpf_program *p)
{
	return !strncmp(bpf_program__name(p), "fill_", strlen("fill_"));
}

static int is_wanted(const struct live_driver *d, unsigned int nr, int ia32)
{
	const struct drv_config *c = (const struct drv_config *)&d->skel->rodata->cfg;

	return c->want.bits[ia32][nr / 64] >> (nr % 64) & 1;
}

/* The verifier of Linux 6.1 refuses these, after a long time: they are loaded on newer kernels
 * only. */
static int is_io_uring(const struct bpf_program *p)
{
	return !strncmp(bpf_program__name(p), "io_uring_", strlen("io_uring_"));
}

static int is_page_fault(const struct bpf_program *p)
{
	return !strncmp(bpf_program__name(p), "page_fault_", strlen("page_fault_"));
}

/* Programs that take samples; the sampler attaches them. */
int live_is_sample(const struct bpf_program *p)
{
	return !strncmp(bpf_program__name(p), "sample_", strlen("sample_"));
}

/* Programs of TLS. Those of its functions are attached later: live_tls.c. */
static int is_tls(const struct live_driver *d, const struct bpf_program *p)
{
	return live_is_uprobe(p) || p == d->skel->progs.tls_call;
}

int live_is_uprobe(const struct bpf_program *p)
{
	return !strcmp(bpf_program__section_name(p), "uprobe") ||
	       !strcmp(bpf_program__section_name(p), "?uprobe");
}

static int is_wanted_sample(const struct live_driver *d, const struct live_opts *o,
			    const struct bpf_program *p)
{
	const struct driver *s = d->skel;
	const struct bpf_program *const tracepoints[SAMPLE_TRACEPOINTS] = {
		s->progs.sample_tp0, s->progs.sample_tp1, s->progs.sample_tp2, s->progs.sample_tp3};

	if (!o->sampler)
		return 0;
	if (p == s->progs.sample_cpu)
		return o->sampler->period_ns != 0;
	if (p == s->progs.sample_fault_user || p == s->progs.sample_fault_kernel)
		return o->sampler->page_faults != 0;
	for (unsigned int i = 0; i < SAMPLE_TRACEPOINTS; i++)
		if (p == tracepoints[i])
			return i < o->sampler->n_tracepoints;
	return o->sampler->off_cpu != 0;
}

static int shows_event(const struct drv_config *c, unsigned int type)
{
	const unsigned int i = evt_index(type);

	return c->show_events[i / 64] >> (i % 64) & 1;
}

/* Sampling by process needs the marks of processes, which children inherit and which end. */
static int keeps_marks(const struct driver *s, const struct bpf_program *p)
{
	const struct drv_config *c = (const struct drv_config *)&s->rodata->cfg;

	if (p == s->progs.sched_process_fork)
		return c->tasks & (DRV_TASKS_INHERIT | DRV_TASKS_SUPPRESS);
	if (p == s->progs.sched_process_free)
		return c->self_tgid || c->tasks & DRV_TASKS_MARKS;
	if (p == s->progs.sched_process_exit)
		return c->tasks & DRV_TASKS_MARKS;
	return p == s->progs.suppress_exec && c->tasks & DRV_TASKS_SUPPRESS;
}

/*
 * Hooks of a capture without calls: threads that begin, are renamed and end, and requested events.
 */
static int is_wanted_without_calls(const struct driver *s, const struct live_opts *o,
				   const struct bpf_program *p)
{
	const struct drv_config *c = (const struct drv_config *)&s->rodata->cfg;
	const struct bpf_program *const always[] = {
		s->progs.report_fork,        s->progs.report_exec, s->progs.task_rename,
		s->progs.sched_process_exit, s->progs.task_rows,   s->progs.file_rows,
		s->progs.cpuhp_enter};

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		if (p == always[i])
			return 1;
	if (p == s->progs.sched_switch || p == s->progs.running_rows)
		return o->switches != 0;
	if (p == s->progs.sched_waking)
		return o->wakeups != 0;
	if (p == s->progs.signal_deliver)
		return shows_event(c, EVT_SIGNALDELIVER_E);
	return (is_page_fault(p) && o->page_faults) || keeps_marks(s, p);
}

/* The iterators over threads that wait when sampling begins and ends. The helper of perf rings
 * needs the context of an event. */
static int is_wanted_wait(const struct live_driver *d, const struct live_opts *o,
			  const struct bpf_program *p)
{
	return o->sampler && o->sampler->off_cpu && d->kind != RING_PERF &&
	       (p != d->skel->progs.waits_stacks || d->skel->rodata->sampler_cfg.tables);
}

static int is_wait(const struct live_driver *d, const struct bpf_program *p)
{
	return p == d->skel->progs.waits_begun || p == d->skel->progs.waits_stacks ||
	       p == d->skel->progs.waits_left;
}

/* Hooks that only a capture without calls has. */
static int stands_for_calls(const struct driver *s, const struct bpf_program *p)
{
	return p == s->progs.report_fork || p == s->progs.report_exec ||
	       p == s->progs.sched_process_free;
}

static int is_wanted_hook(const struct live_driver *d, const struct live_opts *o,
			  const struct bpf_program *p)
{
	const struct drv_config *c = (const struct drv_config *)&d->skel->rodata->cfg;

	if (p == d->skel->progs.helper_fork)
		return c->self_tgid != 0;
	if (is_wait(d, p))
		return is_wanted_wait(d, o, p);
	if (p == d->skel->progs.stack_of_call)
		return o->sampler && o->sampler->calls && c->calls;
	if (live_is_sample(p))
		return is_wanted_sample(d, o, p);
	if (live_is_tcp(p))
		return o->tcp && live_is_wanted_tcp(d, p);
	if (is_tls(d, p))
		return o->tls && !o->only_samples;
	if (o->only_samples)
		return keeps_marks(d->skel, p);
	if (!c->calls)
		return is_wanted_without_calls(d->skel, o, p);
	if (live_is_filler(p) || stands_for_calls(d->skel, p) ||
	    (is_page_fault(p) && !o->page_faults))
		return 0;
	if (p == d->skel->progs.running_rows)
		return o->switches != 0;
	if (p == d->skel->progs.sched_waking)
		return o->wakeups != 0;
	if (p == d->skel->progs.calls_under_way)
		return !c->failed_only && !(c->tasks & DRV_TASKS_CGROUP);
	return p != d->skel->progs.suppress_exec || c->tasks & DRV_TASKS_SUPPRESS;
}

/* Returns the key of an entry in the table of 32-bit calls. */
static unsigned int ia32_nr(unsigned int i)
{
	return i < IA32_SOCKETCALLS ? i : i < IA32_IPCS ? NR_IA32_SOCKETCALL : NR_IA32_IPC;
}

/* Records that the capture goes on without the optional program @p. */
void live_note_missing(struct live_driver *d, const struct bpf_program *p, int err)
{
	const struct program_row *row = program_row_of(p);

	d->missing[d->n_missing++] = (struct program_missing){row, err};
	if (err == -ENOENT)
		scap_say(&d->log, SCAP_LOG_INFO,
			 "no hook in this kernel for the program %s; not captured: %s", row->name,
			 row->what);
	else
		scap_say(&d->log, SCAP_LOG_INFO,
			 "the kernel refuses the program %s (%s); not captured: %s", row->name,
			 strerror(-err), row->what);
}

unsigned int live_missing(const struct live_driver *d, const struct program_missing **out)
{
	*out = d->missing;
	return d->n_missing;
}

static int is_missing(const struct live_driver *d, const struct bpf_program *p)
{
	const struct program_row *row = d->n_missing ? program_row_of(p) : NULL;

	for (unsigned int i = 0; i < d->n_missing; i++)
		if (d->missing[i].row == row)
			return 1;
	return 0;
}

/* Whether the program is loaded, and is to be attached or called. */
int live_is_present(const struct live_driver *d, const struct bpf_program *p)
{
	return bpf_program__autoload(p) && !is_missing(d, p);
}

/* Collects what the kernel refused, including programs that are not attached: fillers. */
void live_note_refused(struct live_driver *d)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p, d->skel->obj)
	{
		const int err = live_progs_load_error(d->progs, p);

		if (err && !is_missing(d, p))
			live_note_missing(d, p, err);
	}
}

/* Enables a hook, unless the kernel lacks it and a capture works without. */
static int choose_hook(struct live_driver *d, const struct live_opts *o, struct bpf_program *p)
{
	int wanted = is_wanted_hook(d, o, p), err = 0;

	if (wanted && !program_row_of(p)->required) {
		if (!live_progs_has_hook(d->progs, p))
			err = -ENOENT;
		else if (is_io_uring(p) && !kernel_is_6_4())
			err = -EOPNOTSUPP;
	}
	if (err)
		live_note_missing(d, p, err);
	return bpf_program__set_autoload(p, wanted && !err);
}

/* Enables the hooks that are needed, and the fillers of selected calls. */
int live_choose_programs(struct live_driver *d, const struct live_opts *o)
{
	struct bpf_program *p;
	int err = 0;

	bpf_object__for_each_program(p, d->skel->obj) err = err ?: choose_hook(d, o, p);
	if (!((const struct drv_config *)&d->skel->rodata->cfg)->calls)
		return err;
	find_fillers(d);
	for (unsigned int nr = 0; nr < DRV_MAX_NR && !err; nr++) {
		p = d->fillers[nr];
		if (p && is_wanted(d, nr, 0))
			err = bpf_program__set_autoload(p, true);
	}
	for (unsigned int i = 0; i < IA32_TABLE_MAX && !err; i++) {
		const unsigned int row = scap_ia32_calls()[i].row;

		p = row == REC_NR_NONE ? NULL : d->fillers[row];
		if (p && is_wanted(d, ia32_nr(i), 1))
			err = bpf_program__set_autoload(p, true);
	}
	if (is_wanted(d, SYS_recvmsg, 0) || is_wanted(d, SYS_recvmmsg, 0))
		err = err ?: bpf_program__set_autoload(d->skel->progs.fill_passed, true);
	return err;
}

static int fill_followers(struct live_driver *d)
{
	const uint32_t at = DRV_FOLLOWER_PASSED;
	const struct bpf_program *p = d->skel->progs.fill_passed;
	const int fd = bpf_program__fd(p);

	if (!live_is_present(d, p))
		return 0;
	return bpf_map_update_elem(bpf_map__fd(d->skel->maps.followers), &at, &fd, BPF_ANY);
}

int live_fill_dispatch_table(struct live_driver *d)
{
	int map = bpf_map__fd(d->skel->maps.fillers);
	int err = fill_followers(d);

	for (uint32_t nr = 0; nr < DRV_MAX_NR && !err; nr++) {
		const struct bpf_program *p = d->fillers[nr];
		int fd = p && live_is_present(d, p) ? bpf_program__fd(p) : -ENOENT;

		if (fd >= 0)
			err = bpf_map_update_elem(map, &nr, &fd, BPF_ANY);
	}
	return err;
}
