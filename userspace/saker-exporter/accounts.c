/* SPDX-License-Identifier: Apache-2.0 */
#include "accounts.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "clock.h"
#include "energies.h"
#include "event/event_table.h"
#include "hash.h"
#include "identities.h"
#include "inspector_open.h"
#include "metrics.h"
#include "owners.h"
#include "say.h"

#define RATE_NS 1000000000ull /* a frequency is the average over at least this time */
#define WAIT_NS 2000000000ull /* a scrape waits this long at most for a read */

struct accounts {
	struct scap_account *source;
	struct pages *pages;
	struct identities *identities;
	struct owners *cgroups, *containers, *pods;
	struct owners *processes, *calls; /* NULL: not exported */
	struct owners *pod_labels;
	struct owners *cgroup_io; /* histograms, by cgroup and operation */
	struct energies *energies;
	uint64_t rated_ns, rated[SCAP_ACCT_MAX]; /* the node, when its frequency was set last */
	uint64_t skipped; /* bit i: counter i is not supported */
	pthread_t thread;
	int started;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	uint64_t n_requested, n_done;
	uint64_t n_failed; /* reads; of the thread */
	int ends;
};

/* Adds what a cgroup used to one of those that it belongs to. */
static void add_part_of(struct owners *os, struct registry *r, const struct scap_account_cgroup *c,
			const struct label_value *values, size_t n, int changed, uint64_t skipped,
			uint64_t now_ns)
{
	struct label_value labels[METRIC_LABELS] = {0};

	memcpy(labels, values, n * sizeof(*values));
	if (changed)
		owners_rename(os, r, c->id, 0, labels, now_ns);
	owners_update(os, r, c->id, 0, labels, c->n, skipped, now_ns);
}

/* Identifies a text among those of a cgroup. */
static uint64_t text_key(const char *text)
{
	return scap_hash_bytes(0, text, strlen(text));
}

/* Adds the labels of the pod that a cgroup belongs to. */
static void add_pod_labels(struct accounts *a, struct registry *r, uint64_t cgroup,
			   const struct identity *id, uint64_t now_ns)
{
	const char *p = id->labels_of_pod, *const end = p + id->labels_of_pod_sz;
	struct label_value labels[METRIC_LABELS] = {0};
	const uint64_t one = 1;

	memcpy(labels, id->pod, sizeof(id->pod));
	for (size_t n; p < end; p += n + 1) {
		const char *value = strchr(p, '=') ?: "=";

		n = strlen(p);
		labels[POD_LABELS] = (struct label_value){p, strcspn(p, "=")};
		labels[POD_LABELS + 1] = label_of(value + 1);
		if (id->changed)
			owners_rename(a->pod_labels, r, cgroup, text_key(p), labels, now_ns);
		owners_update(a->pod_labels, r, cgroup, text_key(p), labels, &one, 0, now_ns);
	}
}

static void add_cgroup(struct accounts *a, struct registry *r, const struct scap_account_cgroup *c,
		       uint64_t now_ns)
{
	const struct identity *id = identities_find(a->identities, c->id);

	if (!id) /* it is being added */
		return;
	add_part_of(a->cgroups, r, c, id->cgroup, CGROUP_LABELS, id->changed, a->skipped, now_ns);
	if (id->has_container)
		add_part_of(a->containers, r, c, id->container, CONTAINER_LABELS, id->changed,
			    a->skipped, now_ns);
	if (!id->has_pod)
		return;
	add_part_of(a->pods, r, c, id->pod, POD_LABELS, id->changed, a->skipped, now_ns);
	add_pod_labels(a, r, c->id, id, now_ns);
}

static void add_process(struct accounts *a, struct registry *r,
			const struct scap_account_process *p, uint64_t now_ns)
{
	char pid[16];
	struct label_value labels[METRIC_LABELS] = {0};

	snprintf(pid, sizeof(pid), "%u", p->pid);
	labels[0] = label_of(pid);
	labels[1] = (struct label_value){p->comm, strnlen(p->comm, sizeof(p->comm))};
	/* Its name changes when it executes another program. */
	owners_rename(a->processes, r, p->pid, p->start_ns, labels, now_ns);
	owners_update(a->processes, r, p->pid, p->start_ns, labels, p->n, a->skipped, now_ns);
}

static void add_cpu(struct registry *r, const struct scap_account_cpu *c, int has_softirqs)
{
	char cpu[16];

	snprintf(cpu, sizeof(cpu), "%u", c->cpu);
	metric_set(r, METRIC_CPU_TIME, cpu, "busy", c->busy_ns);
	metric_set(r, METRIC_CPU_TIME, cpu, "idle", c->idle_ns);
	metric_set(r, METRIC_CPU_SWITCHES, cpu, NULL, c->switches);
	for (size_t i = 0; i < SCAP_ACCT_SOFTIRQS && has_softirqs; i++) {
		metric_set(r, METRIC_SOFTIRQS, cpu, scap_account_softirqs[i], c->softirqs[i].n);
		metric_set(r, METRIC_SOFTIRQ_TIME, cpu, scap_account_softirqs[i],
			   c->softirqs[i].ns);
	}
}

static const char *const operations[SCAP_ACCT_IO_MAX] = {"read", "write", "other"};

static void add_latency(struct registry *r, const char *device, const char *operation,
			const uint64_t *buckets, uint64_t ns)
{
	const struct label_value labels[METRIC_LABELS] = {label_of(device), label_of(operation)};

	series_set_buckets(registry_series(r, METRIC_DISK_LATENCY, labels, 0), buckets, ns);
}

static void add_disk(struct registry *r, const struct scap_account_disk *d)
{
	char device[32];

	snprintf(device, sizeof(device), "%u:%u", d->major, d->minor);
	for (size_t i = 0; i < SCAP_ACCT_IO_MAX; i++) {
		metric_set(r, METRIC_DISK_REQUESTS, device, operations[i], d->io[i].n);
		metric_set(r, METRIC_DISK_BYTES, device, operations[i], d->io[i].bytes);
		metric_set(r, METRIC_DISK_ERRORS, device, operations[i], d->io[i].errors);
		metric_set(r, METRIC_DISK_TIME, device, operations[i], d->io[i].ns);
		add_latency(r, device, operations[i], d->io[i].buckets, d->io[i].ns);
	}
}

static void add_losses(const struct accounts *a, struct registry *r,
		       const struct scap_account_losses *l)
{
	metric_set(r, METRIC_UNACCOUNTED, "processes", NULL, l->processes);
	metric_set(r, METRIC_UNACCOUNTED, "cgroups", NULL, l->cgroups);
	if (a->calls)
		metric_set(r, METRIC_UNACCOUNTED, "calls", NULL, l->calls);
	metric_set(r, METRIC_UNACCOUNTED, "requests", NULL, l->requests);
	metric_set(r, METRIC_UNACCOUNTED, "tasks", NULL, l->tasks);
	metric_set(r, METRIC_UNACCOUNTED, "missed", NULL, l->missed);
}

static void add_counter(struct registry *r, const struct scap_account_counter *c)
{
	const char *name = scap_account_rows[c->id].name;

	metric_set(r, METRIC_COUNTER_ENABLED, name, NULL, c->enabled_ns);
	metric_set(r, METRIC_COUNTER_RUNNING, name, NULL, c->running_ns);
}

/* Sets the frequency at most once in RATE_NS: several scrapers get the same one. */
static void add_frequency(struct accounts *a, struct registry *r,
			  const struct scap_account_snapshot *s)
{
	uint64_t hz;

	if (!s->reference_hz || s->at_ns < a->rated_ns + RATE_NS)
		return;
	metric_set(r, METRIC_REFERENCE_FREQUENCY, NULL, NULL, s->reference_hz);
	hz = scap_account_frequency(a->rated, s->node, s->reference_hz);
	if (hz)
		metric_set(r, METRIC_FREQUENCY, NULL, NULL, hz);
	memcpy(a->rated, s->node, sizeof(a->rated));
	a->rated_ns = s->at_ns;
}

static int has_part(const struct accounts *a, enum scap_account_part part)
{
	return scap_account_part_state(a->source, part, NULL) == SCAP_ACCT_SUPPORTED;
}

static void add_parts(struct accounts *a, struct registry *r, const struct scap_account_snapshot *s)
{
	for (size_t i = 0; i < s->n_cpus && has_part(a, SCAP_ACCT_CPUS); i++)
		add_cpu(r, &s->cpus[i], has_part(a, SCAP_ACCT_SOFTIRQ));
	for (size_t i = 0; i < s->n_disks && has_part(a, SCAP_ACCT_BLOCK); i++)
		add_disk(r, &s->disks[i]);
	for (size_t i = 0; i < s->n_counters; i++)
		add_counter(r, &s->counters[i]);
	add_frequency(a, r, s);
	add_losses(a, r, &s->losses);
}

static void add_cgroups(struct accounts *a, struct registry *r,
			const struct scap_account_snapshot *s, uint64_t now_ns)
{
	struct owners *const parts[] = {a->containers, a->pods, a->pod_labels};

	owners_begin_whole(a->cgroups, s->node, a->skipped);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		owners_begin(parts[i]);
	for (size_t i = 0; i < s->n_cgroups; i++)
		add_cgroup(a, r, &s->cgroups[i], now_ns);
	owners_end(a->cgroups, r);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		owners_end(parts[i], r);
}

static void add_one_cgroup_io(struct accounts *a, struct registry *r,
			      const struct scap_account_cgroup_io *io, uint64_t now_ns)
{
	const struct identity *id = identities_find(a->identities, io->cgroup);
	struct label_value labels[METRIC_LABELS] = {0};
	uint64_t totals[SCAP_ACCT_BUCKETS + 1];

	if (!id || io->operation == SCAP_ACCT_IO_OTHER) /* flushes are the disk's */
		return;
	memcpy(totals, io->buckets, sizeof(io->buckets));
	totals[SCAP_ACCT_BUCKETS] = io->ns;
	memcpy(labels, id->cgroup, sizeof(id->cgroup));
	labels[CGROUP_LABELS] = label_of(operations[io->operation]);
	if (id->changed)
		owners_rename(a->cgroup_io, r, io->cgroup, io->operation, labels, now_ns);
	owners_update(a->cgroup_io, r, io->cgroup, io->operation, labels, totals, 0, now_ns);
}

/* Sums up the reads and writes of all disks: other has those of cgroups that are gone. */
static void sum_io(uint64_t *totals, const struct scap_account_snapshot *s)
{
	for (size_t i = 0; i < s->n_disks; i++) {
		for (size_t op = 0; op < SCAP_ACCT_IO_OTHER; op++) {
			for (size_t k = 0; k < SCAP_ACCT_BUCKETS; k++)
				totals[k] += s->disks[i].io[op].buckets[k];
			totals[SCAP_ACCT_BUCKETS] += s->disks[i].io[op].ns;
		}
	}
}

static void add_cgroup_io(struct accounts *a, struct registry *r,
			  const struct scap_account_snapshot *s, uint64_t now_ns)
{
	uint64_t all[SCAP_ACCT_BUCKETS + 1] = {0};

	sum_io(all, s);
	owners_begin_whole(a->cgroup_io, all, 0);
	for (size_t i = 0; i < s->n_cgroup_io; i++)
		add_one_cgroup_io(a, r, &s->cgroup_io[i], now_ns);
	owners_end(a->cgroup_io, r);
}

/* Adds the calls of a cgroup in a container, by name: two numbers may have the same one. */
static void add_call(struct accounts *a, struct registry *r, const struct scap_account_call *c,
		     uint64_t now_ns)
{
	const struct identity *id = identities_find(a->identities, c->cgroup);
	const char *name = scap_syscall_name(c->nr & ~SCAP_ACCT_IA32, !!(c->nr & SCAP_ACCT_IA32));
	const uint64_t totals[] = {c->n, c->n_failed};
	struct label_value labels[METRIC_LABELS] = {0};
	char number[16];

	if (!id || !id->has_container)
		return;
	snprintf(number, sizeof(number), "%u", c->nr & ~SCAP_ACCT_IA32);
	memcpy(labels, id->container, sizeof(id->container));
	labels[CONTAINER_LABELS] = label_of(name ?: number);
	if (id->changed)
		owners_rename(a->calls, r, c->cgroup, c->nr, labels, now_ns);
	owners_update(a->calls, r, c->cgroup, c->nr, labels, totals, 0, now_ns);
}

static void add_calls(struct accounts *a, struct registry *r, const struct scap_account_snapshot *s,
		      uint64_t now_ns)
{
	owners_begin(a->calls);
	for (size_t i = 0; i < s->n_calls; i++)
		add_call(a, r, &s->calls[i], now_ns);
	owners_end(a->calls, r);
}

static void add_processes(struct accounts *a, struct registry *r,
			  const struct scap_account_snapshot *s, uint64_t now_ns)
{
	owners_begin_whole(a->processes, s->node, a->skipped);
	for (size_t i = 0; i < s->n_processes; i++)
		add_process(a, r, &s->processes[i], now_ns);
	owners_end(a->processes, r);
}

/* Adds a snapshot: all of it, or nothing, is in a page. */
static void add_snapshot(struct accounts *a, const struct scap_account_snapshot *s)
{
	const uint64_t now_ns = clock_now_ns();
	struct registry *r;

	identities_update(a->identities, s->cgroups, s->n_cgroups);
	r = pages_lock(a->pages);
	for (size_t i = 0; i < SCAP_ACCT_MAX; i++)
		if (!(a->skipped >> i & 1))
			series_set(registry_series(r, METRIC_NODE_CPU + i, NULL, now_ns),
				   s->node[i]);
	add_cgroups(a, r, s, now_ns);
	if (has_part(a, SCAP_ACCT_BLOCK))
		add_cgroup_io(a, r, s, now_ns);
	if (a->processes)
		add_processes(a, r, s, now_ns);
	if (a->calls)
		add_calls(a, r, s, now_ns);
	if (has_part(a, SCAP_ACCT_CPUS))
		energies_update(a->energies, r, a->identities, s, now_ns);
	add_parts(a, r, s);
	pages_unlock(a->pages);
}

static void *serve(void *ctx)
{
	const struct scap_account_snapshot *s;
	struct accounts *a = ctx;

	pthread_mutex_lock(&a->lock);
	while (!a->ends) {
		const uint64_t n = a->n_requested;

		if (n == a->n_done) {
			pthread_cond_wait(&a->changed, &a->lock);
			continue;
		}
		pthread_mutex_unlock(&a->lock);
		if (scap_account_read(a->source, &s) == 0)
			add_snapshot(a, s);
		else
			a->n_failed++;
		metric_set(pages_lock(a->pages), METRIC_READ_FAILURES, NULL, NULL, a->n_failed);
		pages_unlock(a->pages);
		pthread_mutex_lock(&a->lock);
		a->n_done = n;
		pthread_cond_broadcast(&a->changed);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* Requests a read and waits for its end. */
static void refresh(void *ctx)
{
	const struct timespec until = clock_deadline(WAIT_NS);
	struct accounts *a = ctx;
	uint64_t n;

	pthread_mutex_lock(&a->lock);
	n = ++a->n_requested;
	pthread_cond_broadcast(&a->changed);
	while (a->n_done < n && !a->ends &&
	       pthread_cond_clockwait(&a->changed, &a->lock, CLOCK_MONOTONIC, &until) == 0)
		;
	pthread_mutex_unlock(&a->lock);
}

/* What accounting counts, and why not. */
static void add_support(struct accounts *a)
{
	struct registry *r = pages_lock(a->pages);
	const char *why;

	for (size_t i = 0; i < SCAP_ACCT_MAX; i++) {
		const int has = scap_account_state(a->source, i, &why) == SCAP_ACCT_SUPPORTED;

		if (!has)
			a->skipped |= 1ull << i;
		metric_set(r, METRIC_ACCOUNTED, scap_account_rows[i].name, has ? NULL : why,
			   (uint64_t)has);
	}
	pages_unlock(a->pages);
}

int accounts_open(struct accounts **out, const struct exporter_options *o)
{
	const struct scap_account_opts opts = {
		.sz = sizeof(opts),
		.parts = SCAP_ACCT_ALL & ~(o->syscalls ? 0u : SCAP_ACCT_CALLS),
		.counters = o->counters,
		.log = say_log,
	};
	struct accounts *a = calloc(1, sizeof(*a));
	int err = a ? owners_new(&a->cgroups, METRIC_CGROUP_CPU, SCAP_ACCT_MAX) : -ENOMEM;

	err = err ?: owners_new(&a->containers, METRIC_CONTAINER_CPU, SCAP_ACCT_MAX);
	err = err ?: owners_new(&a->pods, METRIC_POD_CPU, SCAP_ACCT_MAX);
	err = err ?: owners_new(&a->pod_labels, METRIC_POD_LABEL, 1);
	err = err ?: owners_new_histogram(&a->cgroup_io, METRIC_CGROUP_DISK_LATENCY, OWNER_BUCKETS);
	err = err
		      ?: identities_new(&a->identities,
					inspector_lookup(o->container_socket, o->cri_socket,
							 o->host_root));
	err = err ?: energies_open(&a->energies, o->sysfs ?: "/sys", o->processes);
	if (!err && o->processes)
		err = owners_new(&a->processes, METRIC_PROCESS_CPU, SCAP_ACCT_MAX);
	if (!err && o->syscalls)
		err = owners_new(&a->calls, METRIC_CONTAINER_CALLS, 2);
	if (!err)
		err = scap_account_open(&a->source, &opts);
	if (err) {
		accounts_close(a);
		return err;
	}
	*out = a;
	return 0;
}

int accounts_start(struct accounts *a, struct pages *ps)
{
	int err;

	a->pages = ps;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	add_support(a);
	err = pthread_create(&a->thread, NULL, serve, a);
	if (err) {
		say("cannot start the thread of accounting: %s", strerror(err));
		return -err;
	}
	a->started = 1;
	pages_set_refresh(ps, refresh, a);
	return 0;
}

void accounts_close(struct accounts *a)
{
	if (!a)
		return;
	if (a->started) {
		pthread_mutex_lock(&a->lock);
		a->ends = 1;
		pthread_cond_broadcast(&a->changed);
		pthread_mutex_unlock(&a->lock);
		pthread_join(a->thread, NULL);
	}
	scap_account_close(a->source);
	owners_free(a->cgroups);
	owners_free(a->containers);
	owners_free(a->pods);
	owners_free(a->cgroup_io);
	owners_free(a->pod_labels);
	owners_free(a->processes);
	owners_free(a->calls);
	identities_free(a->identities);
	energies_close(a->energies);
	free(a);
}

_Static_assert(SCAP_ACCT_BUCKETS == METRIC_POWERS_BUCKETS + 1, "the driver's buckets and +Inf");
_Static_assert(SCAP_ACCT_CPU == 0 && SCAP_ACCT_MAX <= 64,
	       "rows begin with CPU, and fit into a mask");
