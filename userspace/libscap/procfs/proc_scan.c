// SPDX-License-Identifier: Apache-2.0
/*
 * Reads /proc on several CPUs: a process costs the kernel some 100 us, and processes do not depend
 * on each other. The snapshot time of a thread is read before its first file, so that an event
 * newer than it is applied at most twice, never missed.
 */
#include "procfs/proc_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "procfs/fd_scan.h"
#include "procfs/machine_scan.h"
#include "procfs/task_rows.h"
#include "procfs/task_scan.h"
#include "shared/convert.h"

#define MAX_HELPERS 3 /* besides the calling thread */

struct scan {
	struct scap_state_build *b;
	const struct scap_log *log;
	struct scap_scan_opts opts;
	int proc_fd;
	struct proc_dir tasks;
	struct task_bufs bufs;
	struct fd_scan fds;
	const struct task_rows *rows; /* NULL: none */
};

/* The list of processes; each of the threads takes the next one. */
struct walk {
	pthread_mutex_t lock;
	struct proc_dir procs;
	uint64_t own; /* our process, which has helpers: read last; 0: not there */
	int own_seen;
	int more; /* result of proc_dir_next; also 0 when a thread has failed */
	int err; /* of that thread */
};

struct helper {
	pthread_t thread;
	struct scan *scan;
	struct walk *walk;
};

static uint64_t clock_now(const struct scan *s)
{
	return clock_boot_ns() + (uint64_t)s->opts.epoch_offset_ns;
}

static int scan_open(struct scan **out, struct scap_state_build *b, const struct scap_log *log,
		     const struct scap_scan_opts *opts)
{
	struct scan *s = calloc(1, sizeof(*s));
	const char *path;
	int err;

	if (!s)
		return -ENOMEM;
	s->b = b;
	s->log = log;
	if (opts)
		memcpy(&s->opts, opts, opts->sz < sizeof(*opts) ? opts->sz : sizeof(*opts));
	path = s->opts.proc ? s->opts.proc : "/proc";
	s->proc_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->proc_fd < 0) {
		err = scap_fail(log, -errno, "%s: %s: is proc mounted there?", path,
				strerror(errno));
		free(s);
		return err;
	}
	task_bufs_init(&s->bufs);
	s->bufs.no_environ = s->opts.no_environ;
	if (proc_read(&s->bufs.v2_controllers, AT_FDCWD, "/sys/fs/cgroup/cgroup.controllers", 4096))
		s->bufs.v2_controllers.len = 0;
	*out = s;
	err = fd_scan_init(&s->fds);
	s->fds.rows = s->opts.file_rows;
	s->fds.rows_ctx = s->opts.file_rows_ctx;
	return err;
}

static void scan_close(struct scan *s)
{
	task_bufs_fini(&s->bufs);
	fd_scan_fini(&s->fds);
	close(s->proc_fd);
	free(s);
}

static int open_number(int dirfd, uint64_t num)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "%llu", (unsigned long long)num);
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int read_own(struct scan *s, struct scap_thread_info *t, struct task_extra *x, uint64_t pid,
		    uint64_t tid, int dirfd)
{
	int err;

	t->snapshot_ns = clock_now(s);
	err = task_read_own(t, x, &s->bufs, dirfd);
	t->start_ns += s->opts.epoch_offset_ns;
	t->pid = pid;
	t->tid = tid;
	return err;
}

/* Reads another thread; @main still has the shared parts. */
static int scan_thread(struct scan *s, const struct scap_thread_info *main, uint64_t tid,
		       int task_fd)
{
	int fd = open_number(task_fd, tid);
	struct scap_thread_info t = *main;
	struct task_extra x;
	int err;

	if (fd < 0)
		return fd;
	t.flags = PPM_CL_CLONE_THREAD | PPM_CL_CLONE_FILES;
	t.ran_ns = t.ran_at_ns = 0;
	err = read_own(s, &t, &x, main->pid, tid, fd);
	close(fd);
	return err ? err : scap_state_build_thread(s->b, &t);
}

static int scan_task_dir(struct scan *s, const struct scap_thread_info *main, int pid_fd)
{
	int err = 0, more = 0;
	uint64_t tid;

	if (proc_dir_open(&s->tasks, pid_fd, "task"))
		return 0;
	while (err != -ENOMEM && (more = proc_dir_next(&s->tasks, &tid)) > 0)
		if (tid != main->pid)
			err = scan_thread(s, main, tid, s->tasks.fd);
	proc_dir_close(&s->tasks);
	/* ENOENT: the process ended meanwhile. */
	if (more < 0 && more != -ENOENT && more != -ESRCH)
		scap_say(s->log, SCAP_LOG_WARN,
			 "cannot list all threads of process %llu: %s; others are found when they "
			 "are used",
			 (unsigned long long)main->pid, strerror(-more));
	return err == -ENOMEM ? err : 0;
}

static void set_ran(const struct scan *s, struct scap_thread_info *t, const struct task_row *r)
{
	t->ran_ns = r->ran_ns;
	t->ran_at_ns = r->snapshot_ns + s->opts.epoch_offset_ns;
}

static int add_row(struct scan *s, const struct scap_thread_info *main, const struct task_row *r)
{
	struct scap_thread_info t = *main;
	char comm[sizeof(r->comm) + 1] = {0};

	memcpy(comm, r->comm, sizeof(r->comm));
	t.comm = comm;
	t.tid = r->tid;
	t.vtid = r->vtid;
	t.uid = r->uid;
	t.gid = r->gid;
	t.flags = PPM_CL_CLONE_THREAD | PPM_CL_CLONE_FILES;
	t.pfmajor = r->pfmajor;
	t.pfminor = r->pfminor;
	t.cap_inheritable = r->cap_inheritable;
	t.cap_permitted = r->cap_permitted;
	t.cap_effective = r->cap_effective;
	t.start_ns = r->start_ns + s->opts.epoch_offset_ns;
	t.snapshot_ns = r->snapshot_ns + s->opts.epoch_offset_ns;
	set_ran(s, &t, r);
	return scap_state_build_thread(s->b, &t);
}

/* The iterator may have missed threads (this happens): then its rows are not used, and /proc is
 * read. */
static int scan_threads(struct scan *s, const struct scap_thread_info *main, uint64_t n_threads,
			int pid_fd)
{
	const struct task_row *row;
	size_t n = s->rows ? task_rows_of(s->rows, &row, main->pid) : 0;
	int err = 0;

	if (n < n_threads)
		return scan_task_dir(s, main, pid_fd);
	for (; n && !err; n--, row++)
		if (row->tid != main->pid)
			err = add_row(s, main, row);
	return err;
}

static int scan_files(struct scan *s, uint64_t pid, int pid_fd)
{
	int err = fd_scan_process(&s->fds, s->b, pid, pid_fd);

	if (err == -EFBIG) {
		scap_say(s->log, SCAP_LOG_WARN,
			 "process %llu has more than %d open files; others are found when they are "
			 "used",
			 (unsigned long long)pid, FD_SCAN_MAX);
		return 0;
	}
	if (err && err != -ENOMEM) {
		scap_say(s->log, SCAP_LOG_WARN,
			 "cannot list all files of process %llu: %s; others are found when they "
			 "are used",
			 (unsigned long long)pid, strerror(-err));
		return 0;
	}
	return err;
}

/* A main thread that ended before the others has lost what threads share. Returns the directory of
 * another thread, -1: there is none. */
static int open_survivor(struct scan *s, uint64_t pid, int pid_fd)
{
	uint64_t tid;
	int fd = -1;

	if (proc_dir_open(&s->tasks, pid_fd, "task"))
		return -1;
	while (fd < 0 && proc_dir_next(&s->tasks, &tid) > 0)
		if (tid != pid)
			fd = open_number(s->tasks.fd, tid);
	proc_dir_close(&s->tasks);
	return fd;
}

static int scan_main(struct scan *s, uint64_t pid, int pid_fd, struct scap_thread_info *main,
		     struct task_extra *x)
{
	const struct task_row *row = s->rows ? task_rows_main(s->rows, (u32)pid) : NULL;
	int err = read_own(s, main, x, pid, pid, pid_fd), other, fd;

	if (err)
		return err;
	if (row)
		set_ran(s, main, row);
	other = x->ended && x->n_threads > 1 ? open_survivor(s, pid, pid_fd) : -1;
	fd = other < 0 ? pid_fd : other;
	task_read_shared(main, &s->bufs, fd, x->kthread);
	err = scap_state_build_thread(s->b, main);
	if (!err && !x->kthread && !s->opts.no_files)
		err = scan_files(s, pid, fd);
	if (other >= 0)
		close(other);
	return err;
}

/* also 0 if the process ended meanwhile. */
static int scan_process(struct scan *s, uint64_t pid)
{
	struct scap_thread_info main = {0};
	struct task_extra x = {0};
	int fd = open_number(s->proc_fd, pid);
	int err;

	if (fd < 0)
		return 0;
	err = scan_main(s, pid, fd, &main, &x);
	if (!err && x.n_threads != 1)
		err = scan_threads(s, &main, x.n_threads, fd);
	close(fd);
	return err == -ENOMEM ? err : 0;
}

static int next_process(struct walk *w, uint64_t *pid)
{
	int more;

	pthread_mutex_lock(&w->lock);
	if (w->more > 0)
		w->more = proc_dir_next(&w->procs, pid);
	more = w->more;
	pthread_mutex_unlock(&w->lock);
	return more > 0;
}

static void scan_share(struct scan *s, struct walk *w)
{
	uint64_t pid;
	int err = 0;

	while (!err && next_process(w, &pid)) {
		if (w->own && pid == w->own)
			w->own_seen = 1;
		else if (!s->opts.skip_pid || pid != s->opts.skip_pid)
			err = scan_process(s, pid);
	}
	if (!err)
		return;
	pthread_mutex_lock(&w->lock);
	w->err = err;
	w->more = 0;
	pthread_mutex_unlock(&w->lock);
}

static void *help(void *arg)
{
	struct helper *h = arg;

	scan_share(h->scan, h->walk);
	return NULL;
}

/* Starts a thread that builds a state of its own. If that fails the others do the work. */
static int helper_start(struct helper *h, const struct scan *s, struct walk *w)
{
	struct scap_state_build *b = scap_state_build_new();

	*h = (struct helper){.walk = w};
	if (b && !scan_open(&h->scan, b, s->log, &s->opts)) {
		h->scan->rows = s->rows;
		if (!pthread_create(&h->thread, NULL, help, h))
			return 1;
	}
	if (h->scan)
		scan_close(h->scan);
	scap_state_build_free(b);
	return 0;
}

static int helper_end(struct helper *h, struct scap_state_build *into)
{
	int err;

	pthread_join(h->thread, NULL);
	err = scap_state_build_join(into, h->scan->b);
	scap_state_build_free(h->scan->b);
	scan_close(h->scan);
	return err;
}

static int scan_shared(struct scan *s, struct walk *w)
{
	const long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct helper helpers[MAX_HELPERS];
	unsigned int n = 0;
	int err = 0;

	while (n < MAX_HELPERS && n + 1 < n_cpus && helper_start(&helpers[n], s, w))
		n++;
	scan_share(s, w);
	for (unsigned int i = 0; i < n; i++)
		err = helper_end(&helpers[i], s->b) ?: err;
	err = w->err ?: err;
	if (!err && w->own_seen && s->opts.skip_pid != w->own)
		err = scan_process(s, w->own);
	return err;
}

static int scan_processes(struct scan *s)
{
	struct walk w = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.more = 1,
		.own = s->opts.proc ? 0 : (uint64_t)getpid(),
	};
	int err = proc_dir_open(&w.procs, s->proc_fd, ".");

	if (err)
		return err;
	err = scan_shared(s, &w);
	proc_dir_close(&w.procs);
	if (!err && w.more < 0)
		err = scap_fail(s->log, w.more, "cannot list all processes in /proc: %s; try again",
				strerror(-w.more));
	return err;
}

int scap_scan_machine(struct scap_state_build *b, const struct scap_log *log,
		      const struct scap_scan_opts *opts)
{
	struct task_rows rows = {0};
	struct scan *s = NULL;
	int err = scan_open(&s, b, log, opts);

	if (!err)
		err = machine_scan_self(b, s->proc_fd, s->opts.epoch_offset_ns);
	if (!err && !s->opts.no_users)
		err = machine_scan_users(b);
	if (!err)
		err = machine_scan_ifaces(b);
	if (!err && s->opts.task_rows_fd > 0)
		err = task_rows_read(&rows, s->opts.task_rows_fd) == -ENOMEM ? -ENOMEM : 0;
	if (!err) {
		s->rows = &rows;
		err = scan_processes(s);
	}
	if (s)
		scan_close(s);
	task_rows_fini(&rows);
	return err;
}

/* Finds the process of a thread: /proc/TID exists for every thread, though not listed. */
static int open_process_of(struct scan *s, uint64_t tid, uint64_t *pid)
{
	int fd = open_number(s->proc_fd, tid);

	if (fd < 0)
		return fd;
	*pid = task_read_tgid(&s->bufs, fd);
	if (*pid == tid)
		return fd;
	close(fd);
	return open_number(s->proc_fd, *pid);
}

static int scan_one_thread(struct scan *s, const struct scap_thread_info *main, uint64_t tid,
			   int pid_fd)
{
	int fd = openat(pid_fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = scan_thread(s, main, tid, fd);
	close(fd);
	return err;
}

static int scan_one(struct scan *s, uint64_t tid)
{
	struct scap_thread_info main = {0};
	struct task_extra x = {0};
	uint64_t pid;
	int fd = open_process_of(s, tid, &pid), err;

	if (fd < 0)
		return -ESRCH;
	err = scan_main(s, pid, fd, &main, &x);
	if (!err && tid != pid)
		err = scan_one_thread(s, &main, tid, fd);
	close(fd);
	return !err || err == -ENOMEM ? err : -ESRCH;
}

int scap_scan_thread(struct scap_state_build *b, uint64_t tid, const struct scap_scan_opts *opts)
{
	struct scan *s = NULL;
	int err = scan_open(&s, b, NULL, opts);

	if (!err)
		err = scan_one(s, tid);
	if (s)
		scan_close(s);
	return err;
}

int scap_scan_file(struct scap_state_build *b, uint64_t tid, uint64_t num,
		   const struct scap_scan_opts *opts)
{
	struct scan *s = NULL;
	int err = scan_open(&s, b, NULL, opts), fd;

	if (!err) {
		fd = open_number(s->proc_fd, tid);
		err = fd < 0 ? fd : fd_scan_one(&s->fds, b, tid, fd, num);
		if (fd >= 0)
			close(fd);
	}
	if (s)
		scan_close(s);
	return !err || err == -ENOMEM ? err : -ESRCH;
}

int scap_thread_lives(uint64_t tid)
{
	return tid > INT32_MAX || kill((pid_t)tid, 0) == 0 || errno != ESRCH;
}

int scap_proc_is_global(void)
{
	static const char first[] = "pid:[4026531836]"; /* PROC_PID_INIT_INO */
	char text[sizeof(first)];

	return readlink("/proc/self/ns/pid", text, sizeof(text)) == sizeof(first) - 1 &&
	       !memcmp(text, first, sizeof(first) - 1);
}
