/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the driver into the kernel: settings, only the programs that are needed, rings, unwind
 * tables and the sampler.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "live/live_driver.h"
#include "packed_object.h"
#include "procfs/online_cpus.h"
#include "sampling/live_sampler.h"
#include "tls/live_tls.h"
#include "unwind/live_unwind.h"

#define DEFAULT_RING_SZ (8u << 20)
#define TABLES_WAIT_MS 1000

_Static_assert(offsetof(struct driver__rodata, sampler_cfg) <= 4096,
	       "what each call looks up is in one page: see call_traits");

/* A selection by PID leaves out all other processes. */
static struct chosen_procs chosen_by(const struct scap_select *s)
{
	if (!s)
		return (struct chosen_procs){0};
	return (struct chosen_procs){
		.pids = s->pids,
		.n = s->n_pids,
		.only = s->n_pids && !s->n_tids,
		.descendants = s->descendants,
	};
}

static int open_unwind(struct live_driver *d, const struct live_opts *o)
{
	const struct drv_sampler_config *c =
		(const struct drv_sampler_config *)&d->skel->rodata->sampler_cfg;
	int err;

	if (!c->tables)
		return 0;
	err = live_unwind_open(&d->unwind,
			       &(struct live_unwind_maps){
				       .chunks = bpf_map__fd(d->skel->maps.unwind_chunks),
				       .procs = bpf_map__fd(d->skel->maps.unwind_processes),
				       .interps = bpf_map__fd(d->skel->maps.interp_processes),
				       .copies = bpf_map__fd(d->skel->maps.stack_copies),
			       },
			       &(struct live_unwind_opts){
				       .max_sz = o->sampler->tables_sz,
				       .chosen = chosen_by(o->select),
			       },
			       &d->log);
	if (err)
		return scap_fail(&d->log, err, "cannot build unwind tables: %s", strerror(-err));
	/* Busy processes have their tables soon; the others may follow. */
	live_unwind_wait(d->unwind, TABLES_WAIT_MS);
	return 0;
}

static int open_sampler(struct live_driver *d, const struct live_opts *o)
{
	const struct driver *s = d->skel;
	const struct bpf_program *const tracepoints[SAMPLE_TRACEPOINTS] = {
		s->progs.sample_tp0, s->progs.sample_tp1, s->progs.sample_tp2, s->progs.sample_tp3};
	struct live_sampler_parts parts = {
		.config = (const struct drv_sampler_config *)&s->rodata->sampler_cfg,
		.counts = s->bss->samplers,
		.pause = &s->bss->samples_pause,
	};
	struct bpf_program *p;
	unsigned int n = 0;

	if (!o->sampler)
		return 0;
	if (o->sampler->period_ns)
		parts.clock = s->progs.sample_cpu;
	for (unsigned int i = 0; i < o->sampler->n_tracepoints; i++)
		parts.tracepoints[i] = tracepoints[i];
	bpf_object__for_each_program(p, s->obj) if (live_is_sample(p) && live_is_present(d, p) &&
						    strncmp(bpf_program__section_name(p), "tp_btf",
							    6) == 0) parts.hooks[n++] = p;
	return open_unwind(d, o) ?: live_sampler_open(&d->sampler, &parts, o->sampler, &d->log);
}

struct live_tls *live_tls_of(const struct live_driver *d)
{
	return d->tls;
}

/* Allocates arrays for the rings of all possible CPUs. The rings themselves are allocated when CPUs
 * come online: machines list hundreds that never do. The first is allocated before there is another
 * thread: where a cgroup has no memory for it, the kernel refuses it, but kills whoever touches a
 * new page meanwhile. */
static int make_room(struct live_driver *d, const struct live_opts *o)
{
	const int n = libbpf_num_possible_cpus();

	if (n < 0 || online_cpus(&d->online))
		return scap_fail(&d->log, -EINVAL, "cannot count the CPUs");
	d->n_cpus = n < DRV_MAX_CPUS ? (unsigned int)n : DRV_MAX_CPUS;
	for (unsigned int cpu = 0; cpu < d->n_cpus; cpu++)
		if (CPU_ISSET(cpu, &d->online))
			d->n_first = cpu + 1;
	for (unsigned int cpu = o->first_cpus; o->first_cpus && cpu < d->n_cpus; cpu++)
		CPU_CLR(cpu, &d->online);
	d->cpus_per_ring = o->cpus_per_ring ? o->cpus_per_ring : 1;
	if (d->cpus_per_ring > d->n_first)
		d->cpus_per_ring = d->n_first;
	if (d->cpus_per_ring > 1)
		d->shared = calloc(d->n_cpus, sizeof(*d->shared));
	d->rings = calloc(d->n_cpus, sizeof(*d->rings));
	d->kind_fds = malloc(d->n_cpus * sizeof(*d->kind_fds));
	d->missing = calloc(N_PROGRAM_ROWS, sizeof(*d->missing));
	if (!d->rings || !d->kind_fds || !d->missing || (d->cpus_per_ring > 1 && !d->shared))
		return -ENOMEM;
	memset(d->kind_fds, -1, d->n_cpus * sizeof(*d->kind_fds));
	d->first_map = ring_map_create(d->kind, d->ring_sz);
	if (d->first_map < 0)
		return live_fail_libbpf(&d->log, d->first_map, "cannot create the first ring");
	return 0;
}

/* Opens the skeleton against the kernel's types. */
static int open_skeleton(struct live_driver *d, const struct live_opts *o)
{
	LIBBPF_OPTS(bpf_object_open_opts, oo);
	int err;

	oo.btf_custom_path = live_progs_types(d->progs);
	live_progs_refuse(d->progs, o->refuse_load);
	d->refuse_attach = o->refuse_attach;
	d->skel = PACKED_OBJECT_OPEN(driver, &oo);
	if (!d->skel)
		return live_fail_libbpf(&d->log, -errno, "cannot open the driver");
	err = live_progs_opened(d->progs, d->skel->obj);
	if (err)
		return live_fail_libbpf(&d->log, err, "cannot read the kernel's BTF");
	return d->with_tls ? live_tls_check(live_progs_can_pin(d->progs), &d->log) : 0;
}

/* Writes the settings, and chooses maps and programs. */
static int configure(struct live_driver *d, const struct live_opts *o)
{
	const int self_tgid = live_self_tgid();
	int err;

	if (self_tgid < 0)
		return live_fail_libbpf(&d->log, self_tgid, "cannot find the PID of saker");
	live_set_config(d, o, self_tgid);
	err = live_select_config((struct drv_config *)&d->skel->rodata->cfg, o->select, &d->log)
		      ?: live_set_sampler(d, o);
	if (err)
		return err;
	err = live_set_maps(d, o) ?: live_choose_programs(d, o);
	return err ? live_fail_libbpf(&d->log, err, "cannot configure the driver") : 0;
}

static int load_programs(struct live_driver *d)
{
	int err = driver__load(d->skel);

	if (err)
		return live_fail_libbpf(&d->log, err, "the kernel refuses the driver");
	/* Meanwhile threads load the programs. */
	err = live_open_rings(d) ?: live_progs_finish(d->progs, &d->log);
	if (err)
		return err;
	live_note_refused(d);
	err = live_fill_dispatch_table(d);
	return err ? live_fail_libbpf(&d->log, err, "cannot fill the dispatch table of the driver")
		   : 0;
}

static int load_all(struct live_driver *d, const struct live_opts *o)
{
	int err;

	d->kind = o->ring_kind           ? o->ring_kind - 1
		  : o->cpus_per_ring > 1 ? RING_RINGBUF
					 : RING_ARRAY;
	d->ring_sz = o->ring_sz ? o->ring_sz : DEFAULT_RING_SZ;
	d->with_tls = o->tls && !o->only_samples;
	d->chosen = chosen_by(o->select);
	err = make_room(d, o);
	if (err)
		return err;
	err = live_progs_new(&d->progs);
	if (err)
		return live_fail_libbpf(&d->log, err,
					"cannot start the threads that load the driver");
	err = open_skeleton(d, o) ?: configure(d, o) ?: load_programs(d);
	if (err)
		return err;
	d->select = o->select;
	d->select_maps = (struct live_select_maps){
		.marks = bpf_map__fd(d->skel->maps.marks),
		.comms = bpf_map__fd(d->skel->maps.sel_comms),
		.suppressed = bpf_map__fd(d->skel->maps.suppressed_comms),
		.uids = bpf_map__fd(d->skel->maps.sel_uids),
		.cgroups = bpf_map__fd(d->skel->maps.sel_cgroups),
	};
	return live_select_fill(&d->select_maps, d->select, &d->log)
		       ?: live_open_bell(d)
		       ?: live_attach_own(d)
		       ?: open_sampler(d, o);
}

int live_load(struct live_driver **out, const struct live_opts *opts, const struct scap_log *log)
{
	static const struct live_opts defaults = {.sz = sizeof(defaults)};
	struct live_driver *d;
	int err;

	if (!opts)
		opts = &defaults;
	err = live_check_opts(opts, log);
	if (err)
		return err;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->first_map = -1;
	if (log)
		d->log = *log;
	live_collect_warnings();
	err = load_all(d, opts);
	if (err) {
		live_close(d);
		return err;
	}
	*out = d;
	return 0;
}

void live_close(struct live_driver *d)
{
	if (!d)
		return;
	helper_end(&d->stacks);
	if (d->skel)
		live_detach(d);
	live_sampler_close(d->sampler);
	live_unwind_close(d->unwind);
	for (unsigned int i = 0; d->rings && i < d->n_rings; i++)
		ring_close(d->rings[i]);
	for (unsigned int i = 0; d->kind_fds && i < d->n_cpus; i++)
		if (d->kind_fds[i] >= 0)
			close(d->kind_fds[i]);
	if (d->first_map >= 0)
		close(d->first_map);
	live_close_bell(d);
	live_progs_free(d->progs);
	if (d->skel && d->skel->bss)
		helpers_unwatch(&d->skel->bss->helper_forking);
	driver__destroy(d->skel);
	free(d->rings);
	free(d->kind_fds);
	free(d->shared);
	free(d->missing);
	free(d);
}

struct live_unwind *live_unwind_of(const struct live_driver *d)
{
	return d->unwind;
}

struct live_sampler *live_sampler_of(const struct live_driver *d)
{
	return d->sampler;
}
