/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the options of a live capture and writes them to the driver before it is loaded: read-only
 * settings, and which maps exist at which size.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "capabilities.h"
#include "event/ia32_table.h"
#include "live/live_driver.h"
#include "ring/clock_offset.h"
#include "sampling/live_sampler.h"
#include "shared/stack_copy.h"

#define DEFAULT_SNAPLEN 80

int live_check_opts(const struct live_opts *o, const struct scap_log *log)
{
	if (o->ring_kind < 0 || o->ring_kind > RING_KIND_MAX)
		return scap_fail(log, -EINVAL, "there is no ring kind %d", o->ring_kind);
	if (o->cpus_per_ring > 1 && o->ring_kind && o->ring_kind != RING_RINGBUF + 1)
		return scap_fail(log, -EINVAL, "--cpus-per-ring needs --ring ringbuf, not %s",
				 live_ring_ops(o->ring_kind - 1)->name);
	if (o->ring_sz &&
	    (o->ring_sz & (o->ring_sz - 1) || o->ring_sz < RING_SZ_MIN || o->ring_sz > RING_SZ_MAX))
		return scap_fail(log, -EINVAL,
				 "a ring of %zu bytes: give a power of two from %u to %u",
				 o->ring_sz, RING_SZ_MIN, RING_SZ_MAX);
	if (o->snaplen > DRV_SNAPLEN_MAX)
		return scap_fail(log, -EINVAL, "%u bytes of each buffer: at most %u can be kept",
				 o->snaplen, DRV_SNAPLEN_MAX);
	if (o->sampling & (o->sampling - 1) || o->sampling > DRV_SAMPLING_MAX)
		return scap_fail(log, -EINVAL, "sampling by %u: give a power of two up to %u",
				 o->sampling, DRV_SAMPLING_MAX);
	if (o->n_snap_ports > DRV_MAX_SNAP_PORTS)
		return scap_fail(log, -E2BIG, "at most %d ranges of ports can be given",
				 DRV_MAX_SNAP_PORTS);
	for (size_t i = 0; i < o->n_snap_ports; i++)
		if (o->snap_ports[i].snaplen > DRV_SNAPLEN_MAX)
			return scap_fail(log, -EINVAL,
					 "%u bytes of each buffer: at most %u can be kept",
					 o->snap_ports[i].snaplen, DRV_SNAPLEN_MAX);
	if (!capabilities_allow_bpf())
		return scap_fail(log, -EPERM,
				 "a live capture needs root, or CAP_BPF and CAP_PERFMON; run as "
				 "root, or read a file with -r");
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return scap_fail(log, -errno,
				 "this kernel has no /sys/kernel/btf/vmlinux, which the driver "
				 "needs; boot one built with CONFIG_DEBUG_INFO_BTF");
	return 0;
}

/* Returns our PID as the driver sees it: getpid() differs inside a PID namespace. */
int live_self_tgid(void)
{
	static const struct bpf_insn prog[] = {
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_pid_tgid},
		{.code = BPF_ALU64 | BPF_RSH | BPF_K, .dst_reg = BPF_REG_0, .imm = 32},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_test_run_opts, run);
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "saker_self", "GPL", prog,
			       sizeof(prog) / sizeof(prog[0]), NULL);
	int err;

	if (fd < 0)
		return -errno;
	err = bpf_prog_test_run_opts(fd, &run) ? -errno : 0;
	close(fd);
	return err ?: (int)run.retval;
}

static void set_snap_ports(struct drv_config *c, const struct live_opts *o)
{
	c->snaplen_max = c->snaplen;
	c->n_snap_ports = (uint32_t)o->n_snap_ports;
	for (size_t i = 0; i < o->n_snap_ports; i++) {
		const struct scap_snap_port *p = &o->snap_ports[i];

		c->snap_ports[i] = (struct drv_snap_port){p->from, p->to, p->snaplen};
		if (p->snaplen > c->snaplen_max)
			c->snaplen_max = p->snaplen;
	}
}

void live_set_config(struct live_driver *d, const struct live_opts *o, int self_tgid)
{
	struct driver__rodata *ro = d->skel->rodata;
	struct drv_config *c = (struct drv_config *)&ro->cfg;

	c->self_tgid = o->record_self ? 0 : (uint32_t)self_tgid;
	c->ring_kind = (uint32_t)d->kind;
	c->ring_sz = (uint32_t)d->ring_sz;
	c->snaplen = o->snaplen ? o->snaplen : DEFAULT_SNAPLEN;
	set_snap_ports(c, o);
	c->cpus_per_ring = d->cpus_per_ring;
	c->wake_sz = o->wake_sz ? o->wake_sz : (uint32_t)d->ring_sz / 8 / d->cpus_per_ring;
	c->switches = (uint32_t)o->switches;
	c->wakeups = (uint32_t)o->wakeups;
	c->calls = !o->only_samples && !(o->select && o->select->no_calls);
	c->sampling = o->sampling;
	c->shed = 1;
	/* arguments: its data, ring, request, completion */
	c->io_cqe_at = live_progs_hook_args(d->progs, "btf_trace_io_uring_complete") == 4;
	c->tcp_args = live_tcp_args(d);
	if (o->tcp)
		live_set_tcp_reasons(d);
	c->task_storage = (uint32_t)kernel_is_6_4();
	c->epoch_offset = clock_offset_read();
	memcpy((void *)ro->ia32_calls, scap_ia32_calls(), sizeof(ro->ia32_calls));
	for (unsigned int nr = 0; nr < DRV_MAX_NR; nr++) {
		((uint16_t *)ro->ppm_sc)[nr] =
			(uint16_t)scap_syscall_ppm_sc(scap_syscall_name(nr, 0));
		((uint16_t *)ro->ppm_sc_ia32)[nr] =
			(uint16_t)scap_syscall_ppm_sc(scap_syscall_name(nr, 1));
	}
}

int live_set_sampler(struct live_driver *d, const struct live_opts *o)
{
	struct drv_sampler_config *c = (struct drv_sampler_config *)&d->skel->rodata->sampler_cfg;
	int err;

	*c = (struct drv_sampler_config){0};
	if (!o->sampler)
		return 0;
	err = live_sampler_config(c, o->sampler, &d->log);
	if (err)
		return err;
	for (unsigned int i = 0; i < SAMPLE_TRACEPOINTS && c->tracepoints[i][0]; i++)
		if (!live_progs_has_tracepoint(d->progs, c->tracepoints[i]))
			return scap_fail(&d->log, -ENOENT,
					 "no tracepoint %s in this kernel; use a name (behind the "
					 "colon) of /sys/kernel/tracing/available_events",
					 c->tracepoints[i]);
	c->tables = c->user && !o->sampler->frame_pointers;
	/* The program that completes a stack sends it without a context, which a perf ring
	 * requires. */
	c->deferred = d->kind != RING_PERF && live_progs_has_kfuncs(d->progs);
	return 0;
}

/* A power of two: holds what a busy CPU sends while tables of large files are built. */
static uint32_t copies_ring_sz(unsigned int n_cpus)
{
	uint32_t sz = STACK_COPIES_SZ_MIN;

	while (sz < STACK_COPIES_SZ_MAX && sz < (size_t)n_cpus << 21)
		sz *= 2;
	return sz;
}

static int set_interpreter_maps(struct live_driver *d, const struct drv_sampler_config *sc)
{
	int err = bpf_map__set_autocreate(d->skel->maps.interp_processes, sc->on);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.scripts_sent, sc->on);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.other_pages, sc->on);
	if (!err && !(sc->tables && sc->off_cpu)) /* walkers refer to it */
		err = bpf_map__set_max_entries(d->skel->maps.other_pages, 1);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.script_places, sc->on);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.places_new, sc->on);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.node_blocks, sc->on);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.java_places, sc->on);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.java_methods, sc->on);
	return err;
}

int live_set_maps(struct live_driver *d, const struct live_opts *o)
{
	const struct drv_sampler_config *sc =
		(const struct drv_sampler_config *)&d->skel->rodata->sampler_cfg;
	const struct drv_config *c = (const struct drv_config *)&d->skel->rodata->cfg;
	int err = bpf_map__set_inner_map_fd(d->skel->maps.rings, d->first_map);

	err = err ?: bpf_map__set_max_entries(d->skel->maps.rings, d->n_cpus);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.perf_rings, d->kind == RING_PERF);
	err = err ?: bpf_map__set_max_entries(d->skel->maps.perf_rings, d->n_cpus);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.ringbuf_rings, d->kind == RING_RINGBUF);
	err = err ?: bpf_map__set_max_entries(d->skel->maps.ringbuf_rings, d->n_cpus);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.saved_storage, c->task_storage);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.saved_hash, !c->task_storage);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.marks, c->tasks & DRV_TASKS_MARKS);
	err = err
		      ?: bpf_map__set_autocreate(d->skel->maps.suppressed_comms,
						 c->tasks & DRV_TASKS_SUPPRESS);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.sel_comms, c->tasks & DRV_TASKS_COMM);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.sel_uids, c->tasks & DRV_TASKS_UID);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.sel_cgroups, c->n_cgroups > 0);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.user_walks, sc->on);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.unwind_chunks, sc->on);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.unwind_processes, sc->tables);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.unwind_caches, sc->on);
	/* CPUs beyond those that were online at the start walk without a cache. */
	err = err
		      ?: bpf_map__set_max_entries(d->skel->maps.unwind_caches,
						  d->n_cpus < 2 * d->n_first ? d->n_cpus
									     : 2 * d->n_first);
	err = err ?: live_set_tcp_maps(d, o->tcp);
	err = err ?: set_interpreter_maps(d, sc);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.tls_threads, d->with_tls);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.tls_fds, d->with_tls);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.tls_owners, d->with_tls);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.tls_goroutines, d->with_tls);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.stack_copies, sc->tables);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.stack_copy_scratch, sc->tables);
	err = err
		      ?: bpf_map__set_max_entries(d->skel->maps.stack_copies,
						  copies_ring_sz(d->n_first));
	err = err ?: bpf_map__set_autocreate(d->skel->maps.waits_stack, sc->tables && sc->off_cpu);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.waits_walks, sc->tables && sc->off_cpu);
	err = err ?: bpf_map__set_autocreate(d->skel->maps.deferred_stacks, sc->deferred);
	err = err
		      ?: bpf_map__set_autocreate(d->skel->maps.off_storage,
						 sc->off_cpu && c->task_storage);
	err = err
		      ?: bpf_map__set_autocreate(d->skel->maps.off_more_storage,
						 sc->off_cpu && c->task_storage);
	err = err
		      ?: bpf_map__set_autocreate(d->skel->maps.off_hash,
						 sc->off_cpu && !c->task_storage);
	err = err
		      ?: bpf_map__set_autocreate(d->skel->maps.off_more_hash,
						 sc->off_cpu && !c->task_storage);
	return err;
}
