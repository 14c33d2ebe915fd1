/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots of accounting. A read folds all tasks, then copies the tables. The node is the sum of
 * the cgroups that are listed, of those that were retired, and of those that found no room.
 *
 * A cgroup that was removed is retired by a read that finds it unchanged: its last tasks are freed
 * somewhat after it is removed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "account_impl.h"
#include "procfs/online_cpus.h"

#include "account_bpf.skel.h"

#define FIRST_ROOM 256
#define STALE_NS 10000000000ull /* a process is freed within this time after its end */

static uint64_t boot_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

int account_fold(const struct scap_account *a)
{
	int fd = bpf_iter_create(bpf_link__fd(a->skel->links.account_fold)), err = 0;
	char none[64];
	ssize_t n;

	if (fd < 0)
		return -errno;
	do
		n = read(fd, none, sizeof(none));
	while (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)));
	if (n < 0)
		err = -errno;
	close(fd);
	return err;
}

/* ---- tables ---- */

static int grow(struct account_batch *b, size_t key_sz, size_t value_sz)
{
	const uint32_t room = b->room ? b->room * 2 : FIRST_ROOM;
	void *keys = realloc(b->keys, room * key_sz), *values;

	if (!keys)
		return -ENOMEM;
	b->keys = keys;
	values = realloc(b->values, room * value_sz);
	if (!values)
		return -ENOMEM;
	b->values = values;
	b->room = room;
	return 0;
}

/* Copies all entries of a hash map. */
static int copy_map(struct account_batch *b, const struct bpf_map *map)
{
	const size_t key_sz = bpf_map__key_size(map), value_sz = bpf_map__value_size(map);
	uint32_t next = 0, count;
	int has_next = 0, err = 0, ret;

	b->n = 0;
	do {
		err = b->room - b->n < FIRST_ROOM / 2 ? grow(b, key_sz, value_sz) : 0;
		if (err)
			return err;
		count = b->room - b->n;
		ret = bpf_map_lookup_batch(bpf_map__fd(map), has_next ? &next : NULL, &next,
					   (char *)b->keys + b->n * key_sz,
					   (char *)b->values + b->n * value_sz, &count, NULL);
		if (ret < 0 && errno == ENOSPC) { /* more entries in a bucket than room */
			err = grow(b, key_sz, value_sz);
			ret = 0; /* once more */
			continue;
		}
		if (ret < 0 && errno != ENOENT)
			return -errno;
		b->n += count;
		has_next = 1;
	} while (!err && ret == 0);
	return err;
}

/* Returns *array with room for n elements; it is reallocated if needed. NULL: no memory. */
static void *room_for(const void *array, size_t n, size_t sz)
{
	return realloc((void *)array, (n ? n : 1) * sz);
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* ---- processes ---- */

static int by_pid(const void *a, const void *b)
{
	const struct scap_account_process *x = a, *y = b;

	return compare_u64(x->pid, y->pid);
}

/* Returns whether the process has ended: the fold before, which finds all that exist, did not find
 * it. Its entry is removed when it is freed; here if that was not seen. */
static int has_ended(struct scap_account *a, uint32_t pid, const struct acct_process *p)
{
	if (p->seen_ns >= a->folded_ns)
		return 0;
	if (p->seen_ns + STALE_NS < a->snapshot.at_ns) {
		bpf_map__delete_elem(a->skel->maps.acct_processes, &pid, sizeof(pid), 0);
		a->n_stale++;
	}
	return 1;
}

static int read_processes(struct scap_account *a)
{
	struct scap_account_snapshot *s = &a->snapshot;
	struct scap_account_process *list;
	int err = copy_map(&a->processes, a->skel->maps.acct_processes);

	if (err)
		return err;
	list = room_for(s->processes, a->processes.n, sizeof(*list));
	if (!list)
		return -ENOMEM;
	s->processes = list;
	s->n_processes = 0;
	for (uint32_t i = 0; i < a->processes.n; i++) {
		const struct acct_process *p = (struct acct_process *)a->processes.values + i;
		const uint32_t pid = ((uint32_t *)a->processes.keys)[i];
		struct scap_account_process *to = &list[s->n_processes];

		if (has_ended(a, pid, p))
			continue;
		s->n_processes++;
		to->pid = pid;
		to->start_ns = p->start_ns;
		to->cgroup = p->cgroup;
		memcpy(to->comm, p->comm, sizeof(to->comm));
		to->comm[sizeof(to->comm) - 1] = '\0';
		memcpy(to->n, p->n, sizeof(to->n));
	}
	qsort(list, s->n_processes, sizeof(*list), by_pid);
	return 0;
}

/* ---- cgroups ---- */

static int by_id(const void *a, const void *b)
{
	const struct scap_account_cgroup *x = a, *y = b;

	return compare_u64(x->id, y->id);
}

static void sum(uint64_t *to, const uint64_t *n)
{
	for (unsigned int i = 0; i < SCAP_ACCT_MAX; i++)
		to[i] += n[i];
}

/* Returns whether the snapshot before has the cgroup as removed, with the same values. */
static int is_over(const struct scap_account *a, uint64_t id, const struct acct_cgroup *c)
{
	const struct scap_account_cgroup key = {.id = id}, *old;

	if (!c->is_gone || !a->n_old_cgroups)
		return 0;
	old = bsearch(&key, a->old_cgroups, a->n_old_cgroups, sizeof(key), by_id);
	return old && old->is_gone && !memcmp(old->n, c->n, sizeof(c->n));
}

/* Moves the values of a cgroup from the table to those of the node. */
static int retire(struct scap_account *a, uint64_t id)
{
	struct acct_cgroup last;

	if (bpf_map__lookup_and_delete_elem(a->skel->maps.acct_cgroups, &id, sizeof(id), &last,
					    sizeof(last), 0))
		return 0;
	sum(a->retired, last.n);
	return 1;
}

static void describe(struct scap_account_cgroup *to, uint64_t id, struct acct_cgroup *c)
{
	c->path[sizeof(c->path) - 1] = '\0';
	to->id = id;
	to->path = c->is_named ? c->path : NULL;
	to->name = c->is_named && c->path[1] ? strrchr(c->path, '/') + 1 : c->is_named ? "/" : "";
	to->is_gone = (int)c->is_gone;
	memcpy(to->n, c->n, sizeof(to->n));
}

static int read_cgroups(struct scap_account *a)
{
	struct scap_account_snapshot *s = &a->snapshot;
	struct scap_account_cgroup *list;
	int err = copy_map(&a->cgroups, a->skel->maps.acct_cgroups);

	if (err)
		return err;
	list = room_for(a->old_cgroups, a->cgroups.n, sizeof(*list));
	if (!list)
		return -ENOMEM;
	/* The present list becomes the old one, whose memory the new one gets. */
	a->old_cgroups = (struct scap_account_cgroup *)s->cgroups;
	a->n_old_cgroups = s->n_cgroups;
	s->cgroups = list;
	s->n_cgroups = 0;
	for (uint32_t i = 0; i < a->cgroups.n; i++) {
		const uint64_t id = ((uint64_t *)a->cgroups.keys)[i];
		struct acct_cgroup *c = (struct acct_cgroup *)a->cgroups.values + i;

		if (!is_over(a, id, c) || !retire(a, id))
			describe(&list[s->n_cgroups++], id, c);
	}
	qsort(list, s->n_cgroups, sizeof(*list), by_id);
	memcpy(s->node, a->retired, sizeof(s->node));
	sum(s->node, (const uint64_t *)a->skel->bss->acct_rest);
	for (uint32_t i = 0; i < s->n_cgroups; i++)
		sum(s->node, list[i].n);
	return 0;
}

/* ---- CPUs ---- */

/* Copies the times of a CPU, between two changes of them. */
static void read_times(struct scap_account_cpu *to, const struct acct_cpu *from)
{
	uint64_t seq, since, now;
	uint32_t is_idle;

	do {
		seq = __atomic_load_n(&from->seq, __ATOMIC_ACQUIRE);
		to->busy_ns = __atomic_load_n(&from->busy_ns, __ATOMIC_RELAXED);
		to->idle_ns = __atomic_load_n(&from->idle_ns, __ATOMIC_RELAXED);
		to->switches = __atomic_load_n(&from->switches, __ATOMIC_RELAXED);
		since = __atomic_load_n(&from->since_ns, __ATOMIC_RELAXED);
		is_idle = __atomic_load_n(&from->is_idle, __ATOMIC_RELAXED);
		now = boot_ns();
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (seq & 1 || seq != __atomic_load_n(&from->seq, __ATOMIC_RELAXED));
	/* The slice that has not ended yet. */
	if (to->is_online && now > since)
		*(is_idle ? &to->idle_ns : &to->busy_ns) += now - since;
}

static int read_cpus(struct scap_account *a)
{
	struct scap_account_snapshot *s = &a->snapshot;
	struct scap_account_cpu *list = room_for(s->cpus, a->n_cpus, sizeof(*list));
	cpu_set_t online;

	if (!list)
		return -ENOMEM;
	s->cpus = list;
	s->n_cpus = 0;
	if (online_cpus(&online))
		CPU_ZERO(&online);
	for (uint32_t cpu = 0; cpu < a->n_cpus; cpu++) {
		const struct acct_cpu *from = &a->cpus[cpu];
		struct scap_account_cpu *to = &list[s->n_cpus];

		if (!from->since_ns)
			continue;
		s->n_cpus++;
		to->cpu = cpu;
		to->is_online = cpu < CPU_SETSIZE && CPU_ISSET(cpu, &online);
		read_times(to, from);
		for (unsigned int i = 0; i < SCAP_ACCT_SOFTIRQS; i++) {
			to->softirqs[i].n = from->softirqs[i].n;
			to->softirqs[i].ns = from->softirqs[i].ns;
		}
	}
	return 0;
}

/* ---- calls and disks ---- */

static int by_cgroup(const void *a, const void *b)
{
	const struct scap_account_call *x = a, *y = b;

	return compare_u64(x->cgroup, y->cgroup) ?: compare_u64(x->nr, y->nr);
}

/*
 * Returns whether the cgroup of an entry was retired, or found no room. @at: 0 at first; @cgroup
 * ascends from call to call. An entry may be made after that: a request ends late.
 */
static int is_orphan(const struct scap_account *a, uint32_t *at, uint64_t cgroup)
{
	const struct scap_account_snapshot *s = &a->snapshot;
	struct acct_cgroup new;

	while (*at < s->n_cgroups && s->cgroups[*at].id < cgroup)
		++*at;
	if (*at < s->n_cgroups && s->cgroups[*at].id == cgroup)
		return 0;
	return bpf_map__lookup_elem(a->skel->maps.acct_cgroups, &cgroup, sizeof(cgroup), &new,
				    sizeof(new), 0) == -ENOENT;
}

/* Removes the calls of cgroups that were retired, for the room, and lists the others. */
static void drop_calls(struct scap_account *a, struct scap_account_call *list, uint32_t n)
{
	uint32_t at = 0, *kept = &a->snapshot.n_calls;

	*kept = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct acct_call_key key = {.cgroup = list[i].cgroup, .nr = list[i].nr};

		if (is_orphan(a, &at, key.cgroup))
			bpf_map__delete_elem(a->skel->maps.acct_calls, &key, sizeof(key), 0);
		else
			list[(*kept)++] = list[i];
	}
}

static int read_calls(struct scap_account *a)
{
	struct scap_account_snapshot *s = &a->snapshot;
	struct scap_account_call *list;
	int err = copy_map(&a->calls, a->skel->maps.acct_calls);

	if (err)
		return err;
	list = room_for(s->calls, a->calls.n, sizeof(*list));
	if (!list)
		return -ENOMEM;
	s->calls = list;
	for (uint32_t i = 0; i < a->calls.n; i++) {
		const struct acct_call_key *k = (struct acct_call_key *)a->calls.keys + i;
		const struct acct_call *c = (struct acct_call *)a->calls.values + i;

		list[i] = (struct scap_account_call){
			.cgroup = k->cgroup, .nr = k->nr, .n = c->n, .n_failed = c->n_failed};
	}
	qsort(list, a->calls.n, sizeof(*list), by_cgroup);
	drop_calls(a, list, a->calls.n);
	return 0;
}

static int by_device(const void *a, const void *b)
{
	const struct scap_account_disk *x = a, *y = b;

	return compare_u64(x->major, y->major) ?: compare_u64(x->minor, y->minor);
}

static int read_disks(struct scap_account *a)
{
	struct scap_account_snapshot *s = &a->snapshot;
	struct scap_account_disk *list;
	int err = copy_map(&a->disks, a->skel->maps.acct_disks);

	_Static_assert(sizeof(list->io) == sizeof(((struct acct_disk *)0)->io), "the same layout");
	if (err)
		return err;
	list = room_for(s->disks, a->disks.n, sizeof(*list));
	if (!list)
		return -ENOMEM;
	s->disks = list;
	s->n_disks = a->disks.n;
	for (uint32_t i = 0; i < s->n_disks; i++) {
		const struct acct_disk_key *k = (struct acct_disk_key *)a->disks.keys + i;

		list[i].major = k->major;
		list[i].minor = k->minor;
		memcpy(list[i].io, ((struct acct_disk *)a->disks.values + i)->io,
		       sizeof(list[i].io));
	}
	qsort(list, s->n_disks, sizeof(*list), by_device);
	return 0;
}

static int by_operation(const void *a, const void *b)
{
	const struct scap_account_cgroup_io *x = a, *y = b;

	return compare_u64(x->cgroup, y->cgroup) ?: compare_u64(x->operation, y->operation);
}

/* As drop_calls. */
static void drop_cgroup_io(struct scap_account *a, struct scap_account_cgroup_io *list, uint32_t n)
{
	uint32_t at = 0, *kept = &a->snapshot.n_cgroup_io;

	*kept = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct acct_cgroup_io_key key = {.cgroup = list[i].cgroup,
						       .op = list[i].operation};

		if (is_orphan(a, &at, key.cgroup))
			bpf_map__delete_elem(a->skel->maps.acct_cgroup_io, &key, sizeof(key), 0);
		else
			list[(*kept)++] = list[i];
	}
}

static int read_cgroup_io(struct scap_account *a)
{
	struct scap_account_snapshot *s = &a->snapshot;
	struct scap_account_cgroup_io *list;
	int err = copy_map(&a->cgroup_io, a->skel->maps.acct_cgroup_io);

	if (err)
		return err;
	list = room_for(s->cgroup_io, a->cgroup_io.n, sizeof(*list));
	if (!list)
		return -ENOMEM;
	s->cgroup_io = list;
	for (uint32_t i = 0; i < a->cgroup_io.n; i++) {
		const struct acct_cgroup_io_key *k =
			(struct acct_cgroup_io_key *)a->cgroup_io.keys + i;
		const struct acct_cgroup_io *io = (struct acct_cgroup_io *)a->cgroup_io.values + i;

		list[i] = (struct scap_account_cgroup_io){
			.cgroup = k->cgroup, .operation = k->op, .ns = io->ns};
		memcpy(list[i].buckets, io->buckets, sizeof(list[i].buckets));
	}
	qsort(list, a->cgroup_io.n, sizeof(*list), by_operation);
	drop_cgroup_io(a, list, a->cgroup_io.n);
	return 0;
}

/* ---- losses ---- */

/* Returns how many runs of the programs the kernel skipped. */
static uint64_t missed_runs(const struct scap_account *a)
{
	struct bpf_program *p;
	uint64_t n = 0;

	bpf_object__for_each_program(p, a->skel->obj)
	{
		struct bpf_prog_info info = {};
		uint32_t sz = sizeof(info);

		if (bpf_program__fd(p) >= 0 &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &sz))
			n += info.recursion_misses;
	}
	return n;
}

static void read_losses(struct scap_account *a)
{
	const struct acct_losses *from = (const struct acct_losses *)&a->skel->bss->acct_losses;
	struct scap_account_losses *to = &a->snapshot.losses;

	*to = (struct scap_account_losses){
		.processes = from->processes,
		.cgroups = from->cgroups,
		.calls = from->calls,
		.requests = from->requests,
		.tasks = from->tasks + a->n_stale,
		.missed = missed_runs(a),
	};
	if (a->has_told_losses ||
	    !(to->processes + to->cgroups + to->calls + to->requests + to->tasks))
		return;
	a->has_told_losses = 1;
	scap_say(&a->log, SCAP_LOG_WARN,
		 "accounting is not complete: a table is full, memory was short, or the end of a "
		 "process was not seen; the losses are counted");
}

int scap_account_read(struct scap_account *a, const struct scap_account_snapshot **out)
{
	struct scap_account_snapshot *s = &a->snapshot;
	const uint64_t began_ns = boot_ns();
	int err;

	if (a->counters)
		account_counters_read(a);
	err = account_fold(a);
	a->folded_ns = began_ns;
	s->began_ns = a->began_ns;
	s->at_ns = boot_ns();
	err = err ?: read_processes(a) ?: read_cgroups(a) ?: read_cpus(a);
	if (!err && a->parts & SCAP_ACCT_CALLS)
		err = read_calls(a);
	if (!err && a->parts & SCAP_ACCT_BLOCK)
		err = read_cgroup_io(a) ?: read_disks(a);
	if (err)
		return scap_fail(&a->log, err, "cannot read the accounting: %s", strerror(-err));
	read_losses(a);
	s->read_ns = boot_ns() - began_ns;
	*out = s;
	return 0;
}

static void free_batch(struct account_batch *b)
{
	free(b->keys);
	free(b->values);
}

void account_free_snapshot(struct scap_account *a)
{
	free_batch(&a->processes);
	free_batch(&a->cgroups);
	free_batch(&a->calls);
	free_batch(&a->disks);
	free_batch(&a->cgroup_io);
	free((void *)a->snapshot.processes);
	free((void *)a->snapshot.cgroups);
	free((void *)a->snapshot.cpus);
	free((void *)a->snapshot.calls);
	free((void *)a->snapshot.disks);
	free((void *)a->snapshot.cgroup_io);
	free(a->old_cgroups);
}
