/* SPDX-License-Identifier: Apache-2.0 */
#include "energies.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "energy.h"
#include "metrics.h"
#include "owners.h"
#include "shares.h"

struct zone {
	uint64_t uj; /* split so far */
	uint64_t idle_uj, active_uj;
	const char *why; /* as it was exported; NULL: known */
	int has_state; /* it was exported */
};

struct energies {
	struct scap_energy *source;
	struct zone zones[SHARE_ZONES];
	const struct scap_energy_zone *read; /* of this update */
	size_t n;
	uint64_t busy_ns, idle_ns, cpu_ns; /* of the last update */
	struct shares *cgroup_shares, *process_shares; /* NULL: not exported */
	struct owners *cgroups, *containers, *pods, *processes;
};

int energies_open(struct energies **out, const char *sysfs, int processes)
{
	struct energies *e = calloc(1, sizeof(*e));
	int err = e ? scap_energy_open(&e->source, sysfs) : -ENOMEM;

	err = err ?: shares_new(&e->cgroup_shares, SHARE_ZONES);
	err = err ?: owners_new(&e->cgroups, METRIC_CGROUP_ENERGY, 1);
	err = err ?: owners_new(&e->containers, METRIC_CONTAINER_ENERGY, 1);
	err = err ?: owners_new(&e->pods, METRIC_POD_ENERGY, 1);
	if (processes)
		err = err ?: shares_new(&e->process_shares, SHARE_ZONES);
	if (processes)
		err = err ?: owners_new(&e->processes, METRIC_PROCESS_ENERGY, 1);
	if (err) {
		energies_close(e);
		return err;
	}
	*out = e;
	return 0;
}

void energies_close(struct energies *e)
{
	if (!e)
		return;
	scap_energy_close(e->source);
	shares_free(e->cgroup_shares);
	shares_free(e->process_shares);
	owners_free(e->cgroups);
	owners_free(e->containers);
	owners_free(e->pods);
	owners_free(e->processes);
	free(e);
}

/* Exports whether the zone is known, in place of what was exported before. */
static void add_state(struct energies *e, struct registry *r, size_t zone, uint64_t now_ns)
{
	const struct scap_energy_zone *from = &e->read[zone];
	struct zone *z = &e->zones[zone];
	struct label_value labels[METRIC_LABELS] = {label_of(from->name), label_of(from->package),
						    label_of(z->why)};

	if (z->has_state && z->why != from->why)
		registry_end(r, registry_find(r, METRIC_ENERGY_SUPPORTED, labels));
	labels[2] = label_of(from->why);
	series_set(registry_series(r, METRIC_ENERGY_SUPPORTED, labels, now_ns), !from->why);
	z->why = from->why;
	z->has_state = 1;
}

static void add_node(struct energies *e, struct registry *r, size_t zone, const char *mode,
		     uint64_t uj)
{
	const struct label_value labels[METRIC_LABELS] = {
		label_of(e->read[zone].name), label_of(e->read[zone].package), label_of(mode)};

	series_set(registry_series(r, METRIC_NODE_ENERGY, labels, 0), uj);
}

/* The part of owners that do not exist any more. */
static void add_rest(struct registry *r, size_t row, uint64_t uj, uint64_t now_ns)
{
	const struct label_value labels[METRIC_LABELS] = {{"other", 5}};

	if (uj)
		series_add(registry_series(r, row, labels, now_ns), uj);
}

/* Splits what a zone used since the last update. @busy_ns of @all_ns: of the CPUs. */
static void split(struct energies *e, struct registry *r, size_t zone, uint64_t busy_ns,
		  uint64_t all_ns, uint64_t cpu_ns, uint64_t now_ns)
{
	struct zone *z = &e->zones[zone];
	const uint64_t uj = e->read[zone].uj - z->uj;
	const uint64_t active = (uint64_t)((unsigned __int128)uj * busy_ns / all_ns);

	z->uj += uj;
	z->active_uj += active;
	z->idle_uj += uj - active;
	add_node(e, r, zone, "active", z->active_uj);
	add_node(e, r, zone, "idle", z->idle_uj);
	add_rest(r, METRIC_CGROUP_ENERGY, shares_split(e->cgroup_shares, zone, active, cpu_ns),
		 now_ns);
	if (e->process_shares)
		add_rest(r, METRIC_PROCESS_ENERGY,
			 shares_split(e->process_shares, zone, active, cpu_ns), now_ns);
}

/* The owner's labels, and those of the zone behind them. */
struct labels {
	struct label_value v[METRIC_LABELS];
};

static struct labels with_zone(const struct label_value *own, size_t n,
			       const struct scap_energy_zone *z)
{
	struct labels l = {0};

	memcpy(l.v, own, n * sizeof(*own));
	l.v[n] = label_of(z->name);
	l.v[n + 1] = label_of(z->package);
	return l;
}

/* Adds the parts of an owner, a series for each zone that is or was known: one whose meter cannot
 * be read now gives no more parts, and those before are not added again when it can. */
static void add_owner(struct energies *e, struct registry *r, struct owners *os, uint64_t id,
		      uint64_t start, const struct label_value *own, size_t n, int changed,
		      const uint64_t *parts, uint64_t now_ns)
{
	for (size_t i = 0; i < e->n && parts; i++) {
		const uint64_t key = start * SHARE_ZONES + i;
		const struct labels l = with_zone(own, n, &e->read[i]);

		if (e->read[i].why && !e->zones[i].uj)
			continue;
		if (changed)
			owners_rename(os, r, id, key, l.v, now_ns);
		owners_update(os, r, id, key, l.v, &parts[i], 0, now_ns);
	}
}

static void add_cgroup(struct energies *e, struct registry *r, const struct identity *id,
		       uint64_t cgroup, uint64_t now_ns)
{
	const uint64_t *parts = shares_of(e->cgroup_shares, cgroup, 0);

	if (!id)
		return;
	add_owner(e, r, e->cgroups, cgroup, 0, id->cgroup, CGROUP_LABELS, id->changed, parts,
		  now_ns);
	if (id->has_container)
		add_owner(e, r, e->containers, cgroup, 0, id->container, CONTAINER_LABELS,
			  id->changed, parts, now_ns);
	if (id->has_pod)
		add_owner(e, r, e->pods, cgroup, 0, id->pod, POD_LABELS, id->changed, parts,
			  now_ns);
}

static void add_process(struct energies *e, struct registry *r,
			const struct scap_account_process *p, uint64_t now_ns)
{
	char pid[16];
	const struct label_value own[] = {{pid, (size_t)snprintf(pid, sizeof(pid), "%u", p->pid)},
					  {p->comm, strnlen(p->comm, sizeof(p->comm))}};

	add_owner(e, r, e->processes, p->pid, p->start_ns, own, 2, 1,
		  shares_of(e->process_shares, p->pid, p->start_ns), now_ns);
}

/* A cgroup that was gone before its path was read has no series: its part is of `other`. */
static void weigh(struct energies *e, const struct identities *ids,
		  const struct scap_account_snapshot *s)
{
	shares_begin(e->cgroup_shares);
	for (size_t i = 0; i < s->n_cgroups; i++)
		if (identities_find(ids, s->cgroups[i].id))
			shares_weigh(e->cgroup_shares, s->cgroups[i].id, 0,
				     s->cgroups[i].n[SCAP_ACCT_CPU]);
	if (!e->process_shares)
		return;
	shares_begin(e->process_shares);
	for (size_t i = 0; i < s->n_processes; i++)
		shares_weigh(e->process_shares, s->processes[i].pid, s->processes[i].start_ns,
			     s->processes[i].n[SCAP_ACCT_CPU]);
}

static void add_owners(struct energies *e, struct registry *r, const struct identities *ids,
		       const struct scap_account_snapshot *s, uint64_t now_ns)
{
	struct owners *const all[] = {e->cgroups, e->containers, e->pods, e->processes};
	const size_t n = e->processes ? 4 : 3;

	for (size_t i = 0; i < n; i++)
		owners_begin(all[i]);
	for (size_t i = 0; i < s->n_cgroups; i++)
		add_cgroup(e, r, identities_find(ids, s->cgroups[i].id), s->cgroups[i].id, now_ns);
	for (size_t i = 0; i < s->n_processes && e->processes; i++)
		add_process(e, r, &s->processes[i], now_ns);
	for (size_t i = 0; i < n; i++)
		owners_end(all[i], r);
}

void energies_update(struct energies *e, struct registry *r, const struct identities *ids,
		     const struct scap_account_snapshot *s, uint64_t now_ns)
{
	uint64_t busy_ns = 0, idle_ns = 0;

	e->n = scap_energy_read(e->source, &e->read);
	if (!e->n) {
		metric_set(r, METRIC_ENERGY_SUPPORTED, NULL, NULL, 0);
		return;
	}
	for (size_t i = 0; i < s->n_cpus; i++) {
		busy_ns += s->cpus[i].busy_ns;
		idle_ns += s->cpus[i].idle_ns;
	}
	weigh(e, ids, s);
	for (size_t i = 0; i < e->n; i++) {
		add_state(e, r, i, now_ns);
		if (!e->read[i].why && busy_ns >= e->busy_ns &&
		    busy_ns + idle_ns > e->busy_ns + e->idle_ns)
			split(e, r, i, busy_ns - e->busy_ns,
			      busy_ns + idle_ns - e->busy_ns - e->idle_ns,
			      s->node[SCAP_ACCT_CPU] - e->cpu_ns, now_ns);
	}
	add_owners(e, r, ids, s, now_ns);
	shares_end(e->cgroup_shares);
	if (e->process_shares)
		shares_end(e->process_shares);
	e->busy_ns = busy_ns;
	e->idle_ns = idle_ns;
	e->cpu_ns = s->node[SCAP_ACCT_CPU];
}
