/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures what a system call costs: overhead MODE [RING-KIND], one line "call ns" each.
 *
 *	none	nothing is attached
 *	empty	two empty programs
 *	floor	two programs that read the clock
 *	copy	the same, and copy the path of openat, the first bytes of pread64 and write
 *	driver	everything captured, records taken from the rings and thrown away
 *	saker	everything captured, events delivered in order by libscap
 *	calls	by libscap, a selection of calls that matches none of these
 *	pid	the same with a selection of another process
 *	comm	the same with a selection of a name that nobody has
 *
 * The calls are made by a child on CPU 0, the reader is on the last CPU. The figure is the
 * least of many short rounds: what disturbs only adds.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "live/live_load.h"
#include "scap.h"

#include "floor.skel.h"

#define ROUNDS 60
#define NAP_MS 5 /* as the live engine naps while events come */

static int zero_fd, null_fd;
static char buf[4096];

static void do_getppid(void)
{
	syscall(SYS_getppid);
}

static void do_read(void)
{
	syscall(SYS_pread64, zero_fd, buf, 1, 0);
}

static void do_write(void)
{
	syscall(SYS_write, null_fd, buf, sizeof(buf));
}

static void do_open_close(void)
{
	syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY));
}

static const struct {
	const char *name;
	void (*fn)(void);
	int n; /* calls per round: about a millisecond */
} calls[] = {
	{"getppid", do_getppid, 5000},
	{"read", do_read, 4000},
	{"write", do_write, 4000},
	{"open_close", do_open_close, 1000},
};

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fprintf(stderr, "overhead: cannot stay on CPU %d: %s\n", cpu, strerror(errno));
}

static double clock_now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double now_ns(void)
{
	return clock_now(CLOCK_MONOTONIC);
}

/* What the reader took since @begin_ns of its CPU time, for @n records or events. */
static void print_reader(double begin_ns, uint64_t n, const char *of_what)
{
	fprintf(stderr, "the reader took %.1f ns for each of %lu %s\n",
		n ? (clock_now(CLOCK_THREAD_CPUTIME_ID) - begin_ns) / (double)n : 0,
		(unsigned long)n, of_what);
}

static double measure(void (*fn)(void), int n)
{
	double best = 1e18;

	for (int r = 0; r < ROUNDS; r++) {
		double t = now_ns();

		for (int i = 0; i < n; i++)
			fn();
		t = (now_ns() - t) / n;
		if (t < best)
			best = t;
		usleep(500); /* the reader catches up */
	}
	return best;
}

static void measure_all(void)
{
	pin(0);
	zero_fd = open("/dev/zero", O_RDONLY);
	null_fd = open("/dev/null", O_WRONLY);
	memset(buf, 'x', sizeof(buf));
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		printf("%-11s %8.1f\n", calls[i].name, measure(calls[i].fn, calls[i].n));
	fflush(stdout);
}

static volatile sig_atomic_t child_done;

static void on_child(int sig)
{
	(void)sig;
	child_done = 1;
}

/* The child measures, while the caller reads until child_done. */
static pid_t start_child(void)
{
	pid_t pid;

	signal(SIGCHLD, on_child);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		measure_all();
		_exit(0);
	}
	pin((int)sysconf(_SC_NPROCESSORS_ONLN) - 1);
	return pid;
}

static int fail(const char *what, int err)
{
	fprintf(stderr, "overhead: %s: %s\n", what, strerror(-err));
	return 1;
}

static void say(void *ctx, enum scap_log_level level, const char *text)
{
	(void)ctx;
	(void)level;
	fprintf(stderr, "overhead: %s\n", text);
}

/* Attaches the programs of @mode to both ends of calls. */
static int run_floor(const char *mode)
{
	struct floor *f = floor__open();

	if (!f)
		return fail("the floor programs", -errno);
	const struct {
		const char *mode;
		struct bpf_program *enter, *exit;
	} rows[] = {
		{"floor", f->progs.floor_enter, f->progs.floor_exit},
		{"copy", f->progs.copy_enter, f->progs.copy_exit},
		{"empty", f->progs.empty_enter, f->progs.empty_exit},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bpf_program__set_autoload(rows[i].enter, !strcmp(mode, rows[i].mode));
		bpf_program__set_autoload(rows[i].exit, !strcmp(mode, rows[i].mode));
	}
	if (floor__load(f) || floor__attach(f))
		return fail("the floor programs", -errno);
	waitpid(start_child(), NULL, 0);
	if (f->bss->n_failed)
		fprintf(stderr, "overhead: copies that failed: %lu\n", f->bss->n_failed);
	floor__destroy(f);
	return 0;
}

static uint64_t empty_rings(struct live_driver *d)
{
	struct ring_bound bound;
	uint64_t n = 0;

	for (unsigned int i = 0; i < live_n_rings(d); i++) {
		struct ring *r = live_ring(d, i);

		ring_refresh(r, &bound);
		for (; ring_peek(r); n++)
			ring_advance(r);
		ring_release(r);
	}
	return n;
}

static int run_driver(int kind)
{
	const struct live_opts o = {.sz = sizeof(o), .ring_kind = kind};
	const struct scap_log log = {.fn = say};
	struct drv_sums c;
	struct live_driver *d;
	uint64_t n = 0;
	double begin_ns;
	int err = live_load(&d, &o, &log) ?: live_attach(d);

	if (err)
		return fail("the driver", err);
	start_child();
	begin_ns = clock_now(CLOCK_THREAD_CPUTIME_ID);
	while (!child_done) {
		n += empty_rings(d);
		usleep(1000 * NAP_MS);
	}
	print_reader(begin_ns, n, "records");
	live_counters(d, &c);
	fprintf(stderr, "%s: read %lu, seen %lu, dropped %lu\n", live_ring_kind(d),
		(unsigned long)n, (unsigned long)c.n.seen, (unsigned long)(c.n.seen - c.n.records));
	live_close(d);
	return 0;
}

/* Returns a filter that matches none of the measured calls; NULL: no such mode. */
static const struct scap_select *select_of(const char *mode)
{
	static const char *const nobody[] = {"no-such-name"};
	static const int32_t init[] = {1};
	static const struct scap_select comm = {.comms = nobody, .n_comms = 1};
	static const struct scap_select pid = {.pids = init, .n_pids = 1};
	static struct scap_calls kill;
	static const struct scap_select calls = {.calls = &kill};

	scap_calls_set(&kill, "kill", 0);
	return !strcmp(mode, "calls")  ? &calls
	       : !strcmp(mode, "pid")  ? &pid
	       : !strcmp(mode, "comm") ? &comm
				       : NULL;
}

static int run_saker(int kind, const struct scap_select *select)
{
	const struct scap_open_opts o = {
		.sz = sizeof(o), .ring_kind = kind, .select = select, .log = say};
	struct scap_stats st;
	struct scap_evt evt;
	struct scap *s;
	uint64_t n = 0;
	double begin_ns;
	int err = scap_open(&s, &o);

	if (err)
		return fail("the capture", err);
	start_child();
	begin_ns = clock_now(CLOCK_THREAD_CPUTIME_ID);
	while (!child_done && err >= 0) {
		err = scap_next(s, &evt, 10);
		n += err == 1;
	}
	print_reader(begin_ns, n, "events");
	if (!scap_stats(s, &st))
		fprintf(stderr, "%s: %lu events, seen %lu, dropped %lu\n", st.ring_kind,
			(unsigned long)st.n_events, (unsigned long)st.n_seen,
			(unsigned long)st.n_dropped);
	scap_close(s);
	return err < 0 ? fail("the capture", err) : 0;
}

static int kind_of(const char *name)
{
	static const char *const names[] = {"perf", "ringbuf", "array"};

	for (int i = 0; name && i < 3; i++)
		if (!strcmp(names[i], name))
			return i + 1;
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int kind = kind_of(argc > 2 ? argv[2] : NULL);

	if (!strcmp(mode, "none")) {
		measure_all();
		return 0;
	}
	if (!strcmp(mode, "floor") || !strcmp(mode, "copy") || !strcmp(mode, "empty"))
		return run_floor(mode);
	if (!strcmp(mode, "driver"))
		return run_driver(kind);
	if (!strcmp(mode, "saker") || select_of(mode))
		return run_saker(kind, select_of(mode));
	fprintf(stderr, "usage: overhead none|empty|floor|copy|driver|saker|calls|pid|comm "
			"[perf|ringbuf|array]\n");
	return 2;
}
