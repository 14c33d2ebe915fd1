/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/live_unwind.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "clock.h"
#include "sampling/perf_sideband.h"
#include "sampling/sideband_thread.h"
#include "sampling/walked_stacks.h"
#include "shared/stack.h"
#include "thread_start.h"
#include "unwind/copy_walk.h"
#include "unwind/running.h"
#include "unwind/unwind_procs.h"

#define MAX_SZ (64u << 20)
#define SWEEP_MS 1000
#define NICE -15
#define PUBLISH_NS 1000000 /* records of one process do not wait longer for another's tables */

/* Taken out of a ring: a record with its path, or a stack. */
struct update {
	struct code_record rec;
	char *path;
	struct stack_copy *copy; /* NULL: it is a record; else only its time is set */
};

struct live_unwind {
	struct scap_log log;
	pthread_t thread;
	int started;
	int stop; /* an eventfd */
	int request; /* another: a caller waits until all is done */
	struct pollfd *fds; /* of the rings, then of fd_place */
	struct code_ring **rings; /* by CPU; NULL: never online */
	unsigned int n_rings;
	int32_t *pids; /* those of chosen */
	struct chosen_procs chosen; /* their tables are built first */
	const struct running *listed; /* processes that a scan reads, or has read */
	size_t n_listed;
	struct unwind_pool *pool;
	struct unwind_files *files;
	struct kept_files *kept;
	struct unwind_procs *procs;
	struct ring_buffer *copies; /* NULL: none */
	struct copy_walk *walk;
	struct walked_stacks *whole;
	uint64_t ends[STACK_END_ROOM]; /* of walked stacks */
	struct update *updates;
	size_t n_updates, cap_updates;
	pthread_mutex_t lock; /* of the members below */
	pthread_cond_t progress;
	uint8_t *online; /* by ring: its CPU was offline, and is back */
	int ready; /* what callers wait for at the start is done */
	uint64_t n_requested, n_done; /* for live_unwind_settle */
	struct scap_unwind_stats stats;
};

/* After the descriptors of rings. */
enum fd_place { FD_COPIES, FD_REQUEST, FD_STOP, N_FDS };

/* ---- updates ---- */

/* Makes room for one more; NULL: no memory. */
static struct update *add_update(struct live_unwind *u)
{
	struct update *v;

	if (u->n_updates == u->cap_updates) {
		v = realloc(u->updates, (u->cap_updates ? 2 * u->cap_updates : 256) * sizeof(*v));
		if (!v)
			return NULL;
		u->updates = v;
		u->cap_updates = u->cap_updates ? 2 * u->cap_updates : 256;
	}
	return &u->updates[u->n_updates];
}

static int queue_record(struct live_unwind *u, const struct code_record *rec)
{
	struct update *v = add_update(u);

	if (!v)
		return -ENOMEM;
	*v = (struct update){.rec = *rec};
	if (rec->type == CODE_MAP) {
		v->path = strdup(rec->map.path);
		if (!v->path)
			return -ENOMEM;
		v->rec.map.path = v->path;
	}
	u->n_updates++;
	return 0;
}

/* A callback of ring_buffer__consume. */
static int queue_copy(void *ctx, void *data, size_t sz)
{
	struct live_unwind *u = ctx;
	struct update *v = add_update(u);
	struct stack_copy *c;

	if (!v || !stack_copy_is_valid(data, sz))
		return 0;
	c = malloc(sz);
	if (!c)
		return 0;
	memcpy(c, data, sz);
	*v = (struct update){.rec.boot_ns = c->boot_ns, .copy = c};
	u->n_updates++;
	return 0;
}

static int compare_times(const void *a, const void *b)
{
	const struct update *x = a, *y = b;

	return x->rec.boot_ns < y->rec.boot_ns ? -1 : x->rec.boot_ns > y->rec.boot_ns;
}

static int is_stopped(void *ctx)
{
	const struct live_unwind *u = ctx;
	struct pollfd p = {.fd = u->stop, .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

static void scan_lost(struct live_unwind *u, int serve);

/* Returns whether the process can be sampled. One that a scan has yet to read is not known. */
static int is_followed(const struct live_unwind *u, uint32_t pid)
{
	return unwind_procs_has(u->procs, pid) || is_chosen(&u->chosen, pid) ||
	       is_running(u->listed, u->n_listed, pid);
}

/* Returns whether the record is of a process that can be sampled. */
static int is_needed(const struct live_unwind *u, const struct code_record *rec)
{
	if (!u->chosen.only || rec->type == CODE_LOST)
		return 1;
	if (rec->type != CODE_FORK)
		return is_followed(u, rec->pid);
	return is_chosen(&u->chosen, rec->pid) ||
	       (u->chosen.descendants && is_followed(u, rec->parent));
}

static void apply_record(struct live_unwind *u, const struct code_record *rec)
{
	if (!is_needed(u, rec))
		return;
	switch (rec->type) {
	case CODE_MAP:
		unwind_procs_map(u->procs, &rec->map, rec->boot_ns);
		break;
	case CODE_FORK:
		unwind_procs_fork(u->procs, rec->pid, rec->parent, rec->boot_ns);
		break;
	case CODE_EXEC:
		unwind_procs_exec(u->procs, rec->pid, rec->boot_ns);
		break;
	case CODE_EXIT:
		unwind_procs_exit(u->procs, rec->pid, rec->boot_ns);
		break;
	case CODE_LOST: /* of unknown processes */
		scan_lost(u, 0);
		break;
	}
}

/* The bytes of a stack are not needed any more: clear them. */
static void free_copy(struct stack_copy *c)
{
	if (c)
		explicit_bzero(c, offsetof(struct stack_copy, stack) + c->sz);
	free(c);
}

static void walk_copy(struct live_unwind *u, struct stack_copy *c)
{
	struct copy_frames f;
	const int err = copy_walk(u->walk, &f, c, u->procs);

	if (err) {
		walked_stacks_put_none(u->whole, c->id);
	} else {
		u->ends[f.end % STACK_END_ROOM]++;
		walked_stacks_put(u->whole, c->id, c->pid, f.v, f.n, (uint8_t)f.end);
	}
	/* At the start processes are sampled before they were read: read these first. */
	if (err == -ENOENT)
		unwind_procs_scan(u->procs, c->pid, clock_boot_ns());
	free_copy(c);
}

/* Records that do not fit in memory stay in the ring for the next time. */
static void empty_ring(struct live_unwind *u, struct code_ring *r)
{
	const struct code_record *rec;

	if (!r)
		return;
	code_ring_refresh(r);
	while ((rec = code_ring_peek(r)) && !queue_record(u, rec))
		code_ring_pop(r);
	code_ring_release(r);
}

/* Processes everything in the rings, in order of time. Reads the ring of stacks first: the records
 * that precede a stack are in the other rings by then. */
static void serve_rings(struct live_unwind *u)
{
	uint64_t published = clock_boot_ns();
	int stopped = 0;

	if (u->copies)
		ring_buffer__consume(u->copies);
	for (unsigned int i = 0; i < u->n_rings; i++)
		empty_ring(u, u->rings[i]);
	if (!u->n_updates)
		return;
	qsort(u->updates, u->n_updates, sizeof(*u->updates), compare_times);
	for (size_t i = 0; i < u->n_updates; i++) {
		stopped = stopped || is_stopped(u);
		if (stopped)
			free_copy(u->updates[i].copy);
		else if (u->updates[i].copy)
			walk_copy(u, u->updates[i].copy);
		else
			apply_record(u, &u->updates[i].rec);
		free(u->updates[i].path);
		if (clock_boot_ns() - published > PUBLISH_NS) {
			unwind_procs_publish(u->procs, clock_boot_ns());
			published = clock_boot_ns();
		}
	}
	u->n_updates = 0;
	unwind_procs_publish(u->procs, clock_boot_ns());
}

/* ---- what runs ---- */

static void set_ready(struct live_unwind *u)
{
	pthread_mutex_lock(&u->lock);
	u->ready = 1;
	pthread_cond_broadcast(&u->progress);
	pthread_mutex_unlock(&u->lock);
}

/* Reads the processes that are needed: those that @c chooses, then those with the most CPU time;
 * @serve: and processes new records in between. */
static void scan_all(struct live_unwind *u, const struct chosen_procs *c, int serve)
{
	const struct running *const listed = u->listed;
	const size_t n_listed = u->n_listed;
	struct running *v;
	const size_t n = running_list(&v, c);

	u->listed = v;
	u->n_listed = n;
	for (size_t i = 0; i < n && !is_stopped(u); i++) {
		if (i && v[i - 1].chosen && !v[i].chosen)
			set_ready(u);
		unwind_procs_scan(u->procs, v[i].pid, clock_boot_ns());
		unwind_procs_publish(u->procs, clock_boot_ns());
		if (serve)
			serve_rings(u);
	}
	u->listed = listed;
	u->n_listed = n_listed;
	free(v);
}

/* Reads processes again after records were lost. Descendants whose parents have ended are known by
 * these alone: then all processes are read. */
static void scan_lost(struct live_unwind *u, int serve)
{
	struct chosen_procs c = u->chosen;

	if (c.descendants)
		c.only = 0;
	scan_all(u, &c, serve);
}

/* ---- the thread ---- */

static void publish_stats(struct live_unwind *u)
{
	struct unwind_files_stats f;
	struct unwind_procs_stats p;

	unwind_files_stats(u->files, &f);
	unwind_procs_stats(u->procs, &p);
	pthread_mutex_lock(&u->lock);
	u->stats = (struct scap_unwind_stats){
		.n_processes = p.n,
		.n_mappings = p.n_maps,
		.n_refused = p.n_refused,
		.n_tables = f.n_files,
		.n_rows = f.n_rows,
		.n_evicted = f.n_evicted,
		.n_no_room = f.n_no_room,
		.n_unreadable = f.n_unreadable,
		.n_too_much = f.n_too_much,
		.n_unsupported = f.n_unsupported,
		.n_processes_too_much = p.n_too_much,
		.build_ns = f.build_ns,
		.used_sz = unwind_pool_used(u->pool),
		.sz = unwind_pool_sz(u->pool),
	};
	memcpy(u->stats.unsupported, f.unsupported, sizeof(u->stats.unsupported));
	memcpy(u->stats.ends, u->ends, sizeof(u->stats.ends));
	pthread_mutex_unlock(&u->lock);
}

/* Returns the number of requests so far: the next serve_rings completes them. */
static uint64_t read_requests(struct live_unwind *u)
{
	uint64_t n;

	while (read(u->request, &n, sizeof(n)) < 0 && errno == EINTR)
		;
	pthread_mutex_lock(&u->lock);
	n = u->n_requested;
	pthread_mutex_unlock(&u->lock);
	return n;
}

static void complete_requests(struct live_unwind *u, uint64_t n)
{
	pthread_mutex_lock(&u->lock);
	u->n_done = n;
	u->ready = 1;
	pthread_cond_broadcast(&u->progress);
	pthread_mutex_unlock(&u->lock);
}

/* The old ring stays empty. Mappings made on the CPU until now may be unknown. */
static void reopen_ring(struct live_unwind *u, unsigned int i)
{
	struct code_ring *ring;

	if (code_ring_open(&ring, i, CODE_RING_WAKES))
		return;
	empty_ring(u, u->rings[i]);
	code_ring_close(u->rings[i]);
	u->rings[i] = ring;
	u->fds[i].fd = code_ring_fd(ring);
	scan_lost(u, 1);
}

static void reopen_rings(struct live_unwind *u)
{
	for (unsigned int i = 0; i < u->n_rings; i++) {
		int is_online;

		pthread_mutex_lock(&u->lock);
		is_online = u->online[i];
		u->online[i] = 0;
		pthread_mutex_unlock(&u->lock);
		if (is_online)
			reopen_ring(u, i);
	}
}

static void *run_thread(void *arg)
{
	struct live_unwind *u = arg;
	struct pollfd *stop = &u->fds[u->n_rings + FD_STOP];
	uint64_t n_requested;
	int more = 0;

	/* It has little to do, but stacks of new programs wait for it. */
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
	sideband_thread_limit_capabilities(0);
	scan_all(u, &u->chosen, 1);
	do {
		n_requested = read_requests(u);
		reopen_rings(u);
		serve_rings(u);
		more = unwind_procs_make_room(u->procs, clock_boot_ns());
		unwind_procs_sweep(u->procs, clock_boot_ns());
		publish_stats(u);
		complete_requests(u, n_requested);
		if (poll(u->fds, u->n_rings + N_FDS, more ? UNWIND_RETRY_MS : SWEEP_MS) < 0 &&
		    errno != EINTR)
			break;
	} while (!(stop->revents & POLLIN));
	return NULL;
}

static int open_rings(struct live_unwind *u)
{
	const int n = libbpf_num_possible_cpus();
	int err = 0;

	if (n < 0)
		return n;
	u->rings = calloc((size_t)n, sizeof(struct code_ring *));
	u->online = calloc((size_t)n, sizeof(*u->online));
	u->fds = calloc((size_t)n + N_FDS, sizeof(*u->fds));
	if (!u->rings || !u->online || !u->fds)
		return -ENOMEM;
	for (; u->n_rings < (unsigned int)n; u->n_rings++) {
		const unsigned int cpu = u->n_rings;

		u->fds[cpu] = (struct pollfd){.fd = -1, .events = POLLIN};
		err = code_ring_open(&u->rings[cpu], cpu, CODE_RING_WAKES);
		if (err == -ENODEV) /* the CPU is offline */
			continue;
		if (err)
			return scap_fail(&u->log, err, "cannot follow mappings on CPU %u: %s", cpu,
					 strerror(-err));
		u->fds[cpu].fd = code_ring_fd(u->rings[cpu]);
	}
	return 0;
}

static int open_wakers(struct live_unwind *u)
{
	struct pollfd *fds = u->fds + u->n_rings;

	u->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	u->request = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (u->stop < 0 || u->request < 0)
		return -errno;
	fds[FD_COPIES] = (struct pollfd){.fd = u->copies ? ring_buffer__epoll_fd(u->copies) : -1,
					 .events = POLLIN};
	fds[FD_REQUEST] = (struct pollfd){.fd = u->request, .events = POLLIN};
	fds[FD_STOP] = (struct pollfd){.fd = u->stop, .events = POLLIN};
	return 0;
}

/* @map is the driver's ring of stacks that wait for tables; -1: none. */
static int open_copies(struct live_unwind *u, int map)
{
	if (map < 0)
		return 0;
	u->walk = copy_walk_new(u->pool);
	u->whole = walked_stacks_new();
	if (!u->walk || !u->whole)
		return -ENOMEM;
	u->copies = ring_buffer__new(map, queue_copy, u, NULL);
	return u->copies ? 0 : -errno;
}

static int open_kept_files(struct live_unwind *u)
{
	u->kept = kept_files_new();
	if (!u->kept)
		return -ENOMEM;
	unwind_files_use_kept(u->files, u->kept);
	return 0;
}

static int copy_chosen(struct live_unwind *u, const struct chosen_procs *chosen)
{
	const size_t sz = chosen->n * sizeof(*chosen->pids);

	if (!sz)
		return 0;
	u->pids = malloc(sz);
	if (!u->pids)
		return -ENOMEM;
	memcpy(u->pids, chosen->pids, sz);
	u->chosen = *chosen;
	u->chosen.pids = u->pids;
	return 0;
}

int live_unwind_open(struct live_unwind **out, const struct live_unwind_maps *maps,
		     const struct live_unwind_opts *opts, const struct scap_log *log)
{
	struct live_unwind *u = calloc(1, sizeof(*u));
	int err;

	if (!u)
		return -ENOMEM;
	u->log = *log;
	u->stop = u->request = -1;
	pthread_mutex_init(&u->lock, NULL);
	pthread_cond_init(&u->progress, NULL);
	err = open_rings(u);
	err = err ?: copy_chosen(u, &opts->chosen);
	err = err ?: unwind_pool_new(&u->pool, maps->chunks, opts->max_sz ? opts->max_sz : MAX_SZ);
	err = err ?: unwind_files_new(&u->files, u->pool);
	err = err ?: open_kept_files(u);
	if (!err)
		unwind_files_stop_by(u->files, is_stopped, u);
	err = err ?: unwind_procs_new(&u->procs, u->pool, u->files, maps->procs);
	if (!err)
		unwind_procs_write_interps(u->procs, maps->interps);
	err = err ?: open_copies(u, maps->copies);
	err = err ?: open_wakers(u);
	err = err ?: thread_start(&u->thread, run_thread, u);
	u->started = !err;
	if (err) {
		live_unwind_close(u);
		return err;
	}
	*out = u;
	return 0;
}

static void wake(int fd)
{
	const uint64_t one = 1;

	while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

void live_unwind_close(struct live_unwind *u)
{
	if (!u)
		return;
	if (u->started) {
		wake(u->stop);
		pthread_join(u->thread, NULL);
	}
	for (unsigned int i = 0; u->rings && i < u->n_rings; i++)
		code_ring_close(u->rings[i]);
	free(u->rings);
	free(u->online);
	free(u->pids);
	free(u->fds);
	if (u->stop >= 0)
		close(u->stop);
	if (u->request >= 0)
		close(u->request);
	ring_buffer__free(u->copies);
	copy_walk_free(u->walk);
	walked_stacks_free(u->whole);
	unwind_procs_free(u->procs);
	unwind_files_free(u->files);
	kept_files_free(u->kept);
	unwind_pool_free(u->pool);
	pthread_mutex_destroy(&u->lock);
	pthread_cond_destroy(&u->progress);
	free(u->updates);
	free(u);
}

/* Waits, with the lock held, until the thread is ready and has done request @n. */
static int wait_until(struct live_unwind *u, uint64_t n, int timeout_ms)
{
	const struct timespec until = clock_deadline((uint64_t)timeout_ms * 1000000);
	int err = 0;

	while ((!u->ready || u->n_done < n) && !err)
		err = pthread_cond_clockwait(&u->progress, &u->lock, CLOCK_MONOTONIC, &until);
	return -err;
}

int live_unwind_wait(struct live_unwind *u, int timeout_ms)
{
	int err;

	pthread_mutex_lock(&u->lock);
	err = wait_until(u, 0, timeout_ms);
	pthread_mutex_unlock(&u->lock);
	return err;
}

void live_unwind_cpu_online(struct live_unwind *u, unsigned int cpu)
{
	pthread_mutex_lock(&u->lock);
	if (cpu < u->n_rings)
		u->online[cpu] = 1;
	pthread_mutex_unlock(&u->lock);
	wake(u->request);
}

int live_unwind_open_file(struct live_unwind *u, uint32_t dev, uint64_t ino)
{
	return kept_files_open(u->kept, dev, ino);
}

int live_unwind_settle(struct live_unwind *u, int timeout_ms)
{
	int err;

	pthread_mutex_lock(&u->lock);
	u->n_requested++;
	wake(u->request);
	err = wait_until(u, u->n_requested, timeout_ms);
	pthread_mutex_unlock(&u->lock);
	return err;
}

int live_unwind_pop_stack(struct live_unwind *u, struct ppm_evt_hdr **out, uint64_t id)
{
	return u->whole ? walked_stacks_pop(u->whole, out, id) : 0;
}

void live_unwind_stats(struct live_unwind *u, struct scap_unwind_stats *st)
{
	pthread_mutex_lock(&u->lock);
	*st = u->stats;
	pthread_mutex_unlock(&u->lock);
}
