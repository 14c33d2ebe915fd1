/* SPDX-License-Identifier: Apache-2.0 */
#include "sampling/live_maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "event/event_build.h"
#include "sampling/map_build_id.h"
#include "sampling/perf_sideband.h"
#include "sampling/proc_maps.h"
#include "shared/events.h"

#define PID_LIMIT (1u << 22)
#define N_FORKS 1024 /* children of unknown processes; a power of two */

/* One CPU's. */
struct map_source {
	struct code_ring *ring;
	unsigned int cpu;
	union {
		struct ppm_evt_hdr hdr;
		uint8_t raw[MAP_EVENT_MAX];
	} event;
};

struct fork {
	uint32_t pid, parent;
};

struct live_maps {
	struct scap_log log;
	struct map_source *sources;
	unsigned int n;
	uint64_t known[PID_LIMIT / 64]; /* by process: its mappings are in the stream */
	struct fork forks[N_FORKS];
	unsigned int n_forks;
	uint8_t *waiting; /* events, one after the other */
	size_t waiting_len, waiting_sz, waiting_at;
	struct map_build_ids ids;
};

/* Records were lost: the mappings that /proc still has are read again. */
static void forget_all(struct live_maps *m)
{
	memset(m->known, 0, sizeof(m->known));
}

int live_maps_open(struct live_maps **out, const struct scap_log *log)
{
	const int n_cpus = libbpf_num_possible_cpus();
	struct live_maps *m = calloc(1, sizeof(*m));
	int err = n_cpus < 0 ? n_cpus : 0;

	if (!m)
		return -ENOMEM;
	m->log = *log;
	m->sources = calloc(n_cpus > 0 ? (size_t)n_cpus : 1, sizeof(*m->sources));
	if (!m->sources)
		err = -ENOMEM;
	for (int cpu = 0; cpu < n_cpus && !err; cpu++) {
		err = code_ring_open(&m->sources[m->n].ring, (unsigned int)cpu,
				     CODE_RING_BUILD_IDS);
		if (!err)
			m->sources[m->n++].cpu = (unsigned int)cpu;
		else if (err == -ENODEV) /* it is offline */
			err = 0;
		else
			scap_fail(log, err, "cannot follow mappings on CPU %d: %s", cpu,
				  strerror(-err));
	}
	if (err) {
		live_maps_close(m);
		return err;
	}
	*out = m;
	return 0;
}

/* Returns the index of @cpu's buffer; m->n: none. */
static unsigned int find_source(const struct live_maps *m, unsigned int cpu)
{
	unsigned int i = 0;

	while (i < m->n && m->sources[i].cpu != cpu)
		i++;
	return i;
}

void live_maps_cpu_online(struct live_maps *m, unsigned int cpu)
{
	const unsigned int i = find_source(m, cpu);
	struct code_ring *ring;

	if (code_ring_open(&ring, cpu, CODE_RING_BUILD_IDS))
		return;
	code_ring_close(m->sources[i].ring);
	m->sources[i].ring = ring;
	m->sources[i].cpu = cpu;
	m->n += i == m->n;
	forget_all(m);
}

void live_maps_close(struct live_maps *m)
{
	if (!m)
		return;
	for (unsigned int i = 0; i < m->n; i++)
		code_ring_close(m->sources[i].ring);
	free(m->sources);
	free(m->waiting);
	free(m);
}

unsigned int live_maps_n(const struct live_maps *m)
{
	return m->n;
}

unsigned int live_maps_cpu(const struct live_maps *m, unsigned int i)
{
	return m->sources[i].cpu;
}

void live_maps_refresh(struct live_maps *m, unsigned int i)
{
	code_ring_refresh(m->sources[i].ring);
}

uint64_t live_maps_key(struct live_maps *m, unsigned int i)
{
	const struct code_record *rec = code_ring_peek(m->sources[i].ring);

	return rec ? rec->boot_ns : UINT64_MAX;
}

void live_maps_pop(struct live_maps *m, unsigned int i)
{
	code_ring_pop(m->sources[i].ring);
}

void live_maps_release(struct live_maps *m, unsigned int i)
{
	code_ring_release(m->sources[i].ring);
}

/* ---- records as events ---- */

static int is_followed(const struct live_maps *m, uint32_t pid)
{
	return pid < PID_LIMIT && m->known[pid / 64] >> (pid % 64) & 1;
}

static void set_known(struct live_maps *m, uint32_t pid, int known)
{
	const uint64_t bit = 1ull << (pid % 64);

	if (pid >= PID_LIMIT)
		return;
	if (known)
		m->known[pid / 64] |= bit;
	else
		m->known[pid / 64] &= ~bit;
}

static void build_fork(struct live_maps *m, void *buf, const struct code_record *rec)
{
	const int64_t pid = rec->pid, parent = rec->parent;
	const struct evt_value values[] = {{&pid, sizeof(pid)}, {&parent, sizeof(parent)}};

	set_known(m, rec->pid, is_followed(m, rec->parent));
	if (!is_followed(m, rec->parent))
		m->forks[m->n_forks++ & (N_FORKS - 1)] = (struct fork){rec->pid, rec->parent};
	/* The PID of the parent, which the reader already has, and so whether it is selected. */
	scap_evt_build(buf, MAP_EVENT_MAX, EVT_MAP_FORK_E, rec->boot_ns, rec->parent, values, 2);
}

static void build_exec(struct live_maps *m, void *buf, const struct code_record *rec)
{
	const int64_t pid = rec->pid;
	const struct evt_value values[] = {{&pid, sizeof(pid)},
					   {rec->comm, (uint16_t)(strlen(rec->comm) + 1)}};

	set_known(m, rec->pid, 1); /* its mappings are gone, new ones will be reported */
	scap_evt_build(buf, MAP_EVENT_MAX, EVT_MAP_EXEC_E, rec->boot_ns, rec->pid, values, 2);
}

/* The kernel had no room for records of unknown processes, so the mappings that /proc still has are
 * read again. */
static void build_lost(struct live_maps *m, void *buf, const struct code_record *rec, uint32_t cpu)
{
	static const char reason[] = "the ring of mappings was full";
	const struct evt_value values[] = {
		{&cpu, sizeof(cpu)}, {&rec->n_lost, sizeof(rec->n_lost)}, {reason, sizeof(reason)}};

	forget_all(m);
	scap_evt_build(buf, MAP_EVENT_MAX, EVT_LOST_E, rec->boot_ns, UINT64_MAX, values, 3);
}

static void build_map(struct live_maps *m, void *buf, const struct code_record *rec)
{
	struct code_map map = rec->map;

	map_build_id_find(&m->ids, &map);
	map_event_build(buf, rec->boot_ns, &map);
}

const struct ppm_evt_hdr *live_maps_event(struct live_maps *m, unsigned int i)
{
	struct map_source *s = &m->sources[i];
	const struct code_record *rec = code_ring_peek(s->ring);

	if (!rec)
		return NULL;
	switch (rec->type) {
	case CODE_MAP:
		build_map(m, s->event.raw, rec);
		return &s->event.hdr;
	case CODE_FORK:
		build_fork(m, s->event.raw, rec);
		return &s->event.hdr;
	case CODE_EXEC:
		build_exec(m, s->event.raw, rec);
		return &s->event.hdr;
	case CODE_LOST:
		build_lost(m, s->event.raw, rec, s->cpu);
		return &s->event.hdr;
	case CODE_EXIT: /* the stream has an event of the driver for it */
		return NULL;
	}
	return NULL;
}

/* ---- what /proc has ---- */

static int wait_event(struct live_maps *m, const struct ppm_evt_hdr *hdr)
{
	const size_t need = m->waiting_len + hdr->len;
	uint8_t *p;

	if (need > m->waiting_sz) {
		p = realloc(m->waiting, need + need / 2);
		if (!p)
			return -ENOMEM;
		m->waiting = p;
		m->waiting_sz = need + need / 2;
	}
	memcpy(m->waiting + m->waiting_len, hdr, hdr->len);
	m->waiting_len = need;
	return 0;
}

/* Reads the mappings of @pid, for process @as. Returns -ENOENT if it has ended, or has none. */
static int read_maps(struct live_maps *m, uint32_t pid, uint32_t as)
{
	struct proc_maps maps;
	struct code_map map;
	union {
		struct ppm_evt_hdr hdr;
		uint8_t raw[MAP_EVENT_MAX];
	} event;
	int err = -ENOENT;

	if (proc_maps_open(&maps, pid))
		return -ENOENT;
	while ((err == -ENOENT || !err) && proc_maps_next(&maps, &map)) {
		map_build_id_find(&m->ids, &map); /* of @pid: @as may have ended */
		map.pid = as;
		map_event_build(event.raw, 0, &map);
		err = wait_event(m, &event.hdr);
	}
	proc_maps_close(&maps);
	return err;
}

static uint32_t parent_of(const struct live_maps *m, uint32_t pid)
{
	for (unsigned int i = 0; i < N_FORKS && i < m->n_forks; i++) {
		const struct fork *f = &m->forks[(m->n_forks - 1 - i) & (N_FORKS - 1)];

		if (f->pid == pid)
			return f->parent;
	}
	return 0;
}

void live_maps_need(struct live_maps *m, uint32_t pid)
{
	uint32_t parent;

	if (!pid || pid >= PID_LIMIT || is_followed(m, pid))
		return;
	set_known(m, pid, 1); /* readable or not: not once for each sample */
	if (read_maps(m, pid, pid) != -ENOENT)
		return;
	parent = parent_of(m, pid);
	if (parent)
		read_maps(m, parent, pid);
}

void live_maps_drop(struct live_maps *m, uint32_t pid)
{
	set_known(m, pid, 0);
}

const struct ppm_evt_hdr *live_maps_next(struct live_maps *m)
{
	const struct ppm_evt_hdr *hdr;

	if (m->waiting_at == m->waiting_len) {
		m->waiting_at = m->waiting_len = 0;
		return NULL;
	}
	hdr = (const void *)(m->waiting + m->waiting_at);
	m->waiting_at += hdr->len;
	return hdr;
}
