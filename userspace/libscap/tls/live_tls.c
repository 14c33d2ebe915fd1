/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/live_tls.h"

#include <errno.h>
#include <glob.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "clock.h"
#include "objfile/open_in_root.h"
#include "sampling/perf_sideband.h"
#include "sampling/proc_maps.h"
#include "sampling/sideband_thread.h"
#include "thread_start.h"
#include "tls/tls_probes.h"

#define SEEN_MAX 4096 /* files that were looked at; a power of two */
#define SEEN_NS 30000000000ull /* then a file is looked at again: its inode may be another one */
#define READY_MS 20000 /* maximum time that the start waits */
#define POLL_MS 1000

struct seen_file {
	uint32_t major, minor;
	uint64_t ino, until_ns;
};

struct live_tls {
	struct scap_log log;
	struct tls_probes *probes;
	int multi; /* as in struct live_tls_opts */
	struct seen_file seen[SEEN_MAX];
	int32_t *pids; /* those of chosen */
	struct chosen_procs chosen;
	struct code_ring **rings; /* by CPU; NULL: offline */
	struct pollfd *fds; /* of the rings, then that of stop, and of tls_probes_fd */
	unsigned int n_rings;
	int stop; /* an eventfd */
	pthread_t thread;
	int started;
	pthread_mutex_t lock; /* of the members below */
	pthread_cond_t progress;
	uint8_t *online; /* by CPU: it was offline, and is back */
	int ready; /* what was mapped at the start has probes */
};

/* ---- preemption ---- */

/* Reads the first line of a file, "" if there is none. */
static void read_line(char *to, int sz, const char *path)
{
	FILE *f = fopen(path, "re");

	*to = '\0';
	if (!f)
		return;
	if (!fgets(to, sz, f))
		*to = '\0';
	fclose(f);
}

/* Returns whether a program that does not sleep may be preempted. A kernel that can switch shows
 * its model as "none (voluntary) full", or has it as a boot parameter. */
static int is_preemptible(void)
{
	char version[256], model[128], boot[4096];

	read_line(version, sizeof(version), "/proc/sys/kernel/version");
	if (*version && !strstr(version, "PREEMPT"))
		return 0;
	if (!strstr(version, "PREEMPT_DYNAMIC"))
		return 1;
	read_line(model, sizeof(model), "/sys/kernel/debug/sched/preempt");
	if (*model)
		return !strstr(model, "(none)") && !strstr(model, "(voluntary)");
	read_line(boot, sizeof(boot), "/proc/cmdline");
	return !strstr(boot, "preempt=none") && !strstr(boot, "preempt=voluntary");
}

int live_tls_check(int has_pin, const struct scap_log *log)
{
	if (has_pin || !is_preemptible())
		return 0;
	return scap_fail(log, -EOPNOTSUPP,
			 "--tls needs Linux 6.15, or a kernel without full preemption (boot with "
			 "preempt=voluntary)");
}

/* ---- files ---- */

static void add_file(struct live_tls *t, int fd, const struct stat *st, const char *name)
{
	struct stat now;

	/* A file that another machine or a process serves was copied: probes of the copy are
	 * useless. */
	if (!fstat(fd, &now) && now.st_dev == st->st_dev && now.st_ino == st->st_ino)
		tls_probes_add(t->probes, fd, st, name);
	close(fd);
}

static struct seen_file *seen_place(struct live_tls *t, const struct code_map *m)
{
	const uint64_t hash = (m->ino ^ (uint64_t)m->minor << 20 ^ (uint64_t)m->major << 40) *
			      0x9e3779b97f4a7c15ull;

	return &t->seen[hash >> 40 & (SEEN_MAX - 1)];
}

/* Returns whether the file was looked at. Marks it. */
static int was_seen(struct live_tls *t, const struct code_map *m)
{
	struct seen_file *s = seen_place(t, m);
	const uint64_t now = clock_boot_ns();

	if (s->until_ns > now && s->ino == m->ino && s->minor == m->minor && s->major == m->major)
		return 1;
	*s = (struct seen_file){m->major, m->minor, m->ino, now + SEEN_NS};
	return 0;
}

static void see_mapping(struct live_tls *t, const struct code_map *m)
{
	char name[MAP_PATH_MAX];
	struct stat st;
	int fd;

	if (!m->ino || m->path_len >= sizeof(name) || !m->path_len || m->path[0] != '/' ||
	    was_seen(t, m))
		return;
	memcpy(name, m->path, m->path_len);
	name[m->path_len] = '\0';
	fd = open_mapped(m->pid, m->addr, m->addr + m->length, name, m->ino, &st);
	if (fd >= 0)
		add_file(t, fd, &st, name);
	else if (fd == -ENOENT || fd == -ESRCH || fd == -ESTALE)
		seen_place(t, m)->until_ns = 0; /* the process has ended: another one may map it */
}

static int is_stopped(struct live_tls *t)
{
	struct pollfd p = {.fd = t->stop, .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

static void scan_process(struct live_tls *t, uint32_t pid)
{
	struct proc_maps r;
	struct code_map m;

	if (proc_maps_open(&r, pid))
		return; /* it has ended */
	while (proc_maps_next(&r, &m))
		see_mapping(t, &m);
	proc_maps_close(&r);
}

static void scan_processes(struct live_tls *t)
{
	struct running *v;
	const size_t n = running_list(&v, &t->chosen);

	for (size_t i = 0; i < n && !is_stopped(t); i++)
		scan_process(t, v[i].pid);
	free(v);
}

/* Libraries of the machine have probes before a program maps them: its first bytes are seen. */
static void scan_usual(struct live_tls *t)
{
	static const char *const patterns[] = {
		"/usr/lib/*/libssl.so.*",     "/usr/lib/*/libgnutls.so.*",
		"/usr/lib64/libssl.so.*",     "/usr/lib64/libgnutls.so.*",
		"/usr/lib/libssl.so.*",       "/usr/lib/libgnutls.so.*",
		"/usr/local/lib/libssl.so.*", "/usr/local/lib64/libssl.so.*",
	};
	glob_t g = {0};

	if (t->chosen.only && !t->chosen.descendants)
		return;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &g);
	for (size_t i = 0; i < g.gl_pathc && !is_stopped(t); i++) {
		struct stat st;
		const int fd = open_in_root(NULL, g.gl_pathv[i], &st);

		if (fd >= 0)
			add_file(t, fd, &st, g.gl_pathv[i]);
	}
	globfree(&g);
}

/* ---- the thread ---- */

static void see_record(struct live_tls *t, const struct code_record *r)
{
	if (r->type == CODE_LOST)
		scan_processes(t);
	else if (r->type == CODE_MAP &&
		 (!t->chosen.only || t->chosen.descendants || is_chosen(&t->chosen, r->map.pid)))
		see_mapping(t, &r->map);
}

static void empty_ring(struct live_tls *t, struct code_ring *ring)
{
	const struct code_record *r;

	if (!ring)
		return;
	code_ring_refresh(ring);
	while ((r = code_ring_peek(ring)) && !is_stopped(t)) {
		see_record(t, r);
		code_ring_pop(ring);
	}
	code_ring_release(ring);
}

/* The old ring of a CPU that was offline stays empty. */
static void reopen_ring(struct live_tls *t, unsigned int cpu)
{
	struct code_ring *ring;

	if (code_ring_open(&ring, cpu, CODE_RING_WAKES))
		return;
	empty_ring(t, t->rings[cpu]);
	code_ring_close(t->rings[cpu]);
	t->rings[cpu] = ring;
	t->fds[cpu].fd = code_ring_fd(ring);
	scan_processes(t);
}

static void serve(struct live_tls *t)
{
	if (tls_probes_see_changes(t->probes))
		memset(t->seen, 0, sizeof(t->seen));
	for (unsigned int cpu = 0; cpu < t->n_rings; cpu++) {
		int back;

		pthread_mutex_lock(&t->lock);
		back = t->online[cpu];
		t->online[cpu] = 0;
		pthread_mutex_unlock(&t->lock);
		if (back)
			reopen_ring(t, cpu);
		empty_ring(t, t->rings[cpu]);
	}
}

static void set_ready(struct live_tls *t)
{
	pthread_mutex_lock(&t->lock);
	t->ready = 1;
	pthread_cond_broadcast(&t->progress);
	pthread_mutex_unlock(&t->lock);
}

static void *run_thread(void *arg)
{
	struct live_tls *t = arg;

	/* Without multi the kernel requires CAP_SYS_ADMIN for probes. */
	sideband_thread_limit_capabilities(t->multi ? 0 : 1ull << CAP_SYS_ADMIN);
	scan_usual(t);
	scan_processes(t);
	serve(t);
	set_ready(t);
	while (!is_stopped(t)) {
		if (poll(t->fds, t->n_rings + 2, POLL_MS) < 0 && errno != EINTR)
			break;
		serve(t);
	}
	return NULL;
}

/* ---- begin and end ---- */

static int open_rings(struct live_tls *t)
{
	const int n = libbpf_num_possible_cpus();
	int err;

	if (n < 0)
		return n;
	t->rings = calloc((size_t)n, sizeof(struct code_ring *));
	t->online = calloc((size_t)n, sizeof(*t->online));
	t->fds = calloc((size_t)n + 2, sizeof(*t->fds));
	if (!t->rings || !t->online || !t->fds)
		return -ENOMEM;
	for (; t->n_rings < (unsigned int)n; t->n_rings++) {
		struct pollfd *p = &t->fds[t->n_rings];

		*p = (struct pollfd){.fd = -1, .events = POLLIN};
		err = code_ring_open(&t->rings[t->n_rings], t->n_rings, CODE_RING_WAKES);
		if (err == -ENODEV) /* the CPU is offline */
			continue;
		if (err)
			return err;
		p->fd = code_ring_fd(t->rings[t->n_rings]);
	}
	t->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	t->fds[n] = (struct pollfd){.fd = t->stop, .events = POLLIN};
	t->fds[n + 1] = (struct pollfd){.fd = tls_probes_fd(t->probes), .events = POLLIN};
	return t->stop < 0 ? -errno : 0;
}

static int copy_chosen(struct live_tls *t, const struct chosen_procs *chosen)
{
	const size_t sz = chosen->n * sizeof(*chosen->pids);

	if (!sz)
		return 0;
	t->pids = malloc(sz);
	if (!t->pids)
		return -ENOMEM;
	memcpy(t->pids, chosen->pids, sz);
	t->chosen = *chosen;
	t->chosen.pids = t->pids;
	return 0;
}

static void wait_ready(struct live_tls *t)
{
	const struct timespec until = clock_deadline(READY_MS * 1000000ull);

	pthread_mutex_lock(&t->lock);
	while (!t->ready &&
	       !pthread_cond_clockwait(&t->progress, &t->lock, CLOCK_MONOTONIC, &until))
		;
	pthread_mutex_unlock(&t->lock);
}

int live_tls_open(struct live_tls **out, const struct live_tls_opts *opts,
		  const struct scap_log *log)
{
	struct live_tls *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->log = *log;
	t->stop = -1;
	t->multi = opts->multi;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->progress, NULL);
	err = tls_probes_new(&t->probes, opts->programs, opts->multi);
	err = err ?: copy_chosen(t, &opts->chosen) ?: open_rings(t);
	err = err ?: thread_start(&t->thread, run_thread, t);
	t->started = !err;
	if (err) {
		live_tls_close(t);
		return scap_fail(log, err, "cannot probe TLS libraries: %s", strerror(-err));
	}
	wait_ready(t);
	*out = t;
	return 0;
}

void live_tls_cpu_online(struct live_tls *t, unsigned int cpu)
{
	if (cpu >= t->n_rings)
		return;
	pthread_mutex_lock(&t->lock);
	t->online[cpu] = 1;
	pthread_mutex_unlock(&t->lock);
}

static void stop_thread(struct live_tls *t)
{
	const uint64_t one = 1;

	if (!t->started)
		return;
	while (write(t->stop, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(t->thread, NULL);
	tls_probes_report(t->probes, &t->log);
}

void live_tls_close(struct live_tls *t)
{
	if (!t)
		return;
	stop_thread(t);
	tls_probes_free(t->probes);
	for (unsigned int i = 0; t->rings && i < t->n_rings; i++)
		code_ring_close(t->rings[i]);
	free(t->rings);
	free(t->online);
	free(t->fds);
	free(t->pids);
	if (t->stop >= 0)
		close(t->stop);
	pthread_cond_destroy(&t->progress);
	pthread_mutex_destroy(&t->lock);
	free(t);
}
