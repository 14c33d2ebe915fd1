/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver in the running kernel: each case of the lazy enter, each kind of ring, and whether
 * every record is counted. Reads raw records from the rings.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "driver_test.h"
#include "procfs/online_cpus.h"

static void io_calls(void)
{
	char texts[2][8] = {"saker", "falcon"}; /* present: /dev/zero does not read them */
	char buf[16];
	int fd = open("/dev/zero", O_RDWR);

	syscall(SYS_dup3, fd, 700, 0);
	syscall(SYS_read, 700, buf, 10);
	syscall(SYS_pread64, 700, buf, 1, 4711);
	syscall(SYS_write, 700, texts[0], 5);
	syscall(SYS_pwrite64, 700, texts[1], 6, 7);
	syscall(SYS_read, 701, buf, 10);
	syscall(SYS_getppid);
	syscall(SYS_close, 700);
}

/* Each kind of ring delivers the same records. */
static void check_kind(int kind, uint32_t cpus_per_ring)
{
	const struct live_opts o = {.sz = sizeof(o),
				    .ring_kind = kind + 1,
				    .ring_sz = 1 << 20,
				    .cpus_per_ring = cpus_per_ring};
	const struct rec_hdr *r;
	struct capture c;
	size_t at = 0;
	pid_t pid = capture_child(&c, &o, io_calls);

	must_find(&c, &at, pid, SYS_dup3);
	r = must_find(&c, &at, pid, SYS_read);
	assert_int_equal(r->evt.type, EVT_READ_X);
	assert_int_equal(r->flags & ~REC_F_ENTER_SENT, 0);
	assert_true(r->enter_ns && r->enter_ns < r->evt.ts);
	assert_int_equal(num(r, 0), 10);
	assert_bytes(r, 1, "\0\0\0\0\0\0\0\0\0", 10);
	assert_int_equal(num(r, 2), 700);
	assert_int_equal(num(r, 3), 10);
	r = must_find(&c, &at, pid, SYS_pread64);
	assert_int_equal(num(r, 0), 1);
	assert_int_equal(num(r, 4), 4711);
	r = must_find(&c, &at, pid, SYS_write);
	assert_int_equal(num(r, 0), 5);
	assert_bytes(r, 1, "saker", 5);
	r = must_find(&c, &at, pid, SYS_pwrite64);
	assert_bytes(r, 1, "falcon", 6);
	assert_int_equal(num(r, 4), 7);
	r = must_find(&c, &at, pid, SYS_read);
	assert_int_equal(num(r, 0), -EBADF);
	assert_bytes(r, 1, "", 0);
	r = must_find(&c, &at, pid, SYS_getppid);
	assert_int_equal(r->evt.type, EVT_SYSCALL_X);
	assert_string_equal(scap_ppm_sc_name((unsigned int)num(r, 0)), "getppid");
	assert_int_equal(num(r, 1), SYS_getppid);
	assert_int_equal(num(r, 2), getpid());
	r = must_find(&c, &at, pid, SYS_close);
	assert_int_equal(num(r, 0), 0);
	assert_int_equal(num(r, 1), 700);
	assert_int_equal(c.counters.n.records, c.n_records);
	free_capture(&c);
}

static void test_array(void **state)
{
	(void)state;
	check_kind(RING_ARRAY, 1);
}

static void test_ringbuf(void **state)
{
	(void)state;
	check_kind(RING_RINGBUF, 1);
}

static void test_perf(void **state)
{
	(void)state;
	check_kind(RING_PERF, 1);
}

static void test_shared(void **state)
{
	(void)state;
	check_kind(RING_RINGBUF, UINT32_MAX);
}

static const struct live_opts small = {.sz = sizeof(small), .ring_sz = 4 << 20};

/* Calls that few other processes make, so that a busy machine does not disturb the test. */
static const struct scap_calls rare_calls = {
	.bits[0] =
		{
			[SYS_pwrite64 / 64] = 1ull << SYS_pwrite64 % 64,
			[SYS_getppid / 64] = 1ull << SYS_getppid % 64,
		},
};
static const struct scap_select want_rare = {.calls = &rare_calls};

static void many_calls(void)
{
	static char buf[60000];
	int fd = open("/dev/zero", O_RDWR);

	memset(buf, 'x', sizeof(buf)); /* /dev/zero does not touch them: map the pages */
	for (int i = 0; i < 400; i++) {
		syscall(SYS_pwrite64, fd, buf, 1 + i * 149, 0);
		syscall(SYS_getppid);
	}
}

/* In a ring that is not read, records that fit are intact and the others count as lost. */
static void check_full(int kind, uint32_t cpus_per_ring)
{
	const struct live_opts o = {
		.sz = sizeof(o),
		.ring_kind = kind + 1,
		.ring_sz = 256 << 10,
		.cpus_per_ring = cpus_per_ring,
		.snaplen = DRV_SNAPLEN_MAX,
		.select = &want_rare,
	};
	struct capture c;
	size_t at = 0;
	pid_t pid = capture_child(&c, &o, many_calls);

	assert_true(drv_dropped(&c.counters.other, DRV_DROP_RING_FULL) +
			    drv_dropped(&c.counters.other, DRV_DROP_SHED) >
		    0);
	assert_int_equal(c.counters.n.records, c.n_records);
	for (int i = 0; i < 5; i++) {
		const struct rec_hdr *r = must_find(&c, &at, pid, SYS_pwrite64);

		assert_int_equal(num(r, 0), 1 + i * 149);
		must_find(&c, &at, pid, SYS_getppid);
	}
	free_capture(&c);
}

static void test_full(void **state)
{
	(void)state;
	for (int kind = 0; kind < RING_KIND_MAX; kind++)
		check_full(kind, 1);
	check_full(RING_RINGBUF, UINT32_MAX);
}

/* A ring that is read while it is filled wraps many times, and no record is lost or torn. */
static void check_wrap(int kind, uint32_t cpus_per_ring)
{
	const struct live_opts o = {
		.sz = sizeof(o),
		.ring_kind = kind + 1,
		.ring_sz = 2 << 20,
		.cpus_per_ring = cpus_per_ring,
		.snaplen = 400,
		.select = &want_rare,
	};
	struct capture c = begin_capture(&o);
	int status, n = 0;
	pid_t pid = fork();

	if (!pid) {
		for (int i = 0; i < 20; i++) {
			many_calls();
			usleep(20000);
		}
		_exit(0);
	}
	c.only = pid;
	while (!waitpid(pid, &status, WNOHANG)) {
		for (unsigned int i = 0; i < live_n_rings(c.d); i++)
			drain(&c, live_ring(c.d, i));
		usleep(1000);
	}
	end_capture(&c);
	assert_int_equal(c.counters.n.records, c.n_records);
	for (size_t at = 0; find(&c, &at, pid, SYS_getppid);)
		n++;
	/* Only if the machine is so busy that the test reads the rings too late. */
	assert_true(n <= 8000);
	assert_true((uint64_t)n + drv_dropped(&c.counters.other, DRV_DROP_RING_FULL) >= 8000);
	free_capture(&c);
}

static void test_wrap(void **state)
{
	(void)state;
	for (int kind = 0; kind < RING_KIND_MAX; kind++)
		check_wrap(kind, 1);
	check_wrap(RING_RINGBUF, UINT32_MAX);
}

/* Returns whether /proc/@pid/@file contains @word. */
static int proc_has(pid_t pid, const char *file, const char *word)
{
	char path[64], text[256];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	fd = open(path, O_RDONLY);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return strstr(text, word) != NULL;
}

/* Waits until the parent's /proc/PID/@file contains @word. */
static void await_parent(pid_t parent, const char *file, const char *word)
{
	while (getppid() == parent && !proc_has(parent, file, word))
		usleep(1000);
}

static void blocking_calls(void)
{
	int fds[2];
	char b;

	if (pipe(fds))
		_exit(1);
	if (!fork()) {
		await_parent(getppid(), "syscall", "0 0x64 "); /* the read below */
		usleep(20000);
		syscall(SYS_write, fds[1], "x", 1);
		_exit(0);
	}
	dup2(fds[0], 100);
	syscall(SYS_read, 100, &b, 1);
}

/* The enter of a call that sleeps is sent while it sleeps, and its exit has REC_F_ENTER_SENT. */
static void test_blocked(void **state)
{
	struct capture c;
	size_t at = 0;
	pid_t pid = capture_child(&c, &small, blocking_calls);
	const struct rec_hdr *e, *x;

	(void)state;
	must_find(&c, &at, pid, SYS_dup2);
	e = must_find(&c, &at, pid, SYS_read);
	assert_int_equal(e->flags, REC_F_RAW_ENTER | REC_F_BLOCKED);
	assert_int_equal(e->evt.type, EVT_READ_E);
	assert_int_equal(e->evt.ts, e->enter_ns);
	assert_true(e->evt.nparams >= 6);
	x = must_find(&c, &at, pid, SYS_read);
	assert_int_equal(x->flags, REC_F_ENTER_SENT);
	assert_int_equal(x->enter_ns, e->enter_ns);
	assert_true(x->evt.ts - x->enter_ns > 10 * 1000 * 1000);
	assert_int_equal(num(x, 0), 1);
	free_capture(&c);
}

static char fifo_path[64];

static void open_fifo(void)
{
	if (!fork()) {
		await_parent(getppid(), "syscall", "257 0x"); /* the openat below */
		usleep(20000);
		open(fifo_path, O_WRONLY);
		_exit(0);
	}
	syscall(SYS_openat, AT_FDCWD, fifo_path, O_RDONLY);
}

/* A raw enter carries the path of an open that waits. */
static void test_blocked_path(void **state)
{
	struct capture c;
	size_t at = 0;
	const struct rec_hdr *e;
	pid_t pid;

	(void)state;
	snprintf(fifo_path, sizeof(fifo_path), "/tmp/driver_test.%d", getpid());
	assert_int_equal(mkfifo(fifo_path, 0600), 0);
	pid = capture_child(&c, &small, open_fifo);
	unlink(fifo_path);
	e = must_find(&c, &at, pid, SYS_openat);
	assert_int_equal(e->flags, REC_F_RAW_ENTER | REC_F_BLOCKED);
	assert_int_equal(e->evt.type, EVT_OPENAT_E);
	assert_int_equal(e->evt.nparams, 7);
	assert_int_equal((int32_t)num(e, 0), AT_FDCWD);
	assert_bytes(e, 6, fifo_path, strlen(fifo_path) + 1);
	free_capture(&c);
}

static void nothing(void)
{
}

/* exit_group has an enter only. */
static void test_exit_group(void **state)
{
	struct capture c;
	size_t at = 0;
	pid_t pid = capture_child(&c, &small, nothing);
	const struct rec_hdr *e = must_find(&c, &at, pid, SYS_exit_group);

	(void)state;
	assert_int_equal(e->flags, REC_F_RAW_ENTER | REC_F_BLOCKED);
	assert_int_equal(e->evt.type, EVT_EXIT_GROUP_E);
	assert_null(find(&c, &at, pid, SYS_exit_group));
	free_capture(&c);
}

/* The child's side of clone exits a call that it never entered. */
static void test_clone_child(void **state)
{
	struct capture c;
	size_t at = 0;
	pid_t pid = capture_child(&c, &small, nothing);
	const struct rec_hdr *x;

	(void)state;
	while (at < c.n && c.recs[at]->evt.tid != (uint64_t)pid)
		at++;
	assert_true(at < c.n);
	x = c.recs[at];
	assert_true(x->nr == SYS_clone || x->nr == SYS_clone3);
	assert_int_equal(x->enter_ns, 0);
	assert_int_equal(x->flags, 0);
	assert_int_equal(num(x, 0), x->evt.type == EVT_SYSCALL_X ? num(x, 0) : 0);
	free_capture(&c);
}

static void *return_at_once(void *arg)
{
	return arg;
}

/* glibc has the struct of clone3 on the caller's stack; the caller may be gone when the child
 * exits. */
static void make_threads(void)
{
	for (int i = 0; i < 50; i++) {
		pthread_t t;

		pthread_create(&t, NULL, return_at_once, NULL);
		pthread_join(t, NULL);
	}
}

/* Parameters of the exit of clone. */
#define CLONE_X_PID 4
#define CLONE_X_FLAGS 15

/* Returns whether @r is the exit of a clone that created a thread of @pid. */
static int made_thread(const struct rec_hdr *r, pid_t pid)
{
	return (r->nr == SYS_clone || r->nr == SYS_clone3) && !(r->flags & REC_F_RAW_ENTER) &&
	       num(r, CLONE_X_PID) == pid && (num(r, 0) || r->evt.tid != (uint64_t)pid);
}

/* Both sides of clone have the same flags. */
static void test_clone_flags(void **state)
{
	struct capture c;
	pid_t pid = capture_child(&c, &small, make_threads);
	unsigned int n_parent = 0, n_child = 0;
	int64_t flags = 0;

	(void)state;
	for (size_t i = 0; i < c.n; i++) {
		const struct rec_hdr *r = c.recs[i];

		if (!made_thread(r, pid))
			continue;
		flags = flags ?: num(r, CLONE_X_FLAGS);
		assert_int_equal(num(r, CLONE_X_FLAGS), flags);
		n_parent += num(r, 0) > 0;
		n_child += num(r, 0) == 0 && r->enter_ns == 0;
	}
	assert_int_equal(n_parent, 50);
	assert_int_equal(n_child, 50);
	assert_true(flags & 1u << 13); /* CLONE_THREAD */
	free_capture(&c);
}

static void refuse_getppid(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {.len = sizeof(f) / sizeof(f[0]), .filter = f};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog);
	syscall(SYS_getppid);
}

/* A call refused before sys_enter has an unknown latency, not 0 ns. */
static void test_seccomp(void **state)
{
	struct capture c;
	size_t at = 0;
	pid_t pid = capture_child(&c, &small, refuse_getppid);
	const struct rec_hdr *x = must_find(&c, &at, pid, SYS_getppid);

	(void)state;
	assert_int_equal(x->enter_ns, 0);
	assert_int_equal(num(x, 2), -EPERM);
	assert_true(c.counters.other.n_no_enter > 0);
	free_capture(&c);
}

static void on_signal(int sig)
{
	(void)sig;
}

static void raise_usr1(void)
{
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
}

/* rt_sigreturn restores the registers of another moment, orig_ax included. */
static void test_sigreturn(void **state)
{
	struct capture c;
	size_t at = 0;
	pid_t pid = capture_child(&c, &small, raise_usr1);
	const struct rec_hdr *x = must_find(&c, &at, pid, SYS_rt_sigreturn);

	(void)state;
	assert_true(x->enter_ns && x->enter_ns < x->evt.ts);
	assert_int_equal(num(x, 1), SYS_rt_sigreturn);
	free_capture(&c);
}

static void *exec_true(void *arg)
{
	(void)arg;
	execl("/bin/true", "true", NULL);
	return NULL;
}

static void exec_from_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, exec_true, NULL);
	pthread_join(t, NULL);
}

/* A thread enters execve with its own TID and exits it as the leader. */
static void test_exec_thread(void **state)
{
	struct capture c;
	size_t at = 0;
	pid_t pid = capture_child(&c, &small, exec_from_thread);
	const struct rec_hdr *x, *e = NULL;

	(void)state;
	x = must_find(&c, &at, pid, SYS_execve);
	assert_true(x->enter_ns && x->enter_ns < x->evt.ts);
	assert_int_equal(x->flags & REC_F_RAW_ENTER, 0);
	for (size_t i = 0; i < c.n; i++)
		if (c.recs[i]->nr == SYS_execve && c.recs[i]->enter_ns == x->enter_ns &&
		    c.recs[i]->flags & REC_F_RAW_ENTER)
			e = c.recs[i];
	assert_int_equal(!!(x->flags & REC_F_ENTER_SENT), !!e);
	if (e)
		assert_int_not_equal(e->evt.tid, pid);
	free_capture(&c);
}

/* A nanosleep that is stopped and continued ends with ERESTART_RESTARTBLOCK and goes on as
 * restart_syscall. */
static void sleep_a_while(void)
{
	struct timespec t = {.tv_sec = 1};
	pid_t parent = getpid();

	if (!fork()) {
		await_parent(parent, "syscall", "35 0x"); /* nanosleep */
		kill(parent, SIGSTOP);
		await_parent(parent, "stat", ") T ");
		kill(parent, SIGCONT);
		_exit(0);
	}
	syscall(SYS_nanosleep, &t, NULL);
}

static void test_restart(void **state)
{
	/* Ignores records of other processes: the rings are not read. */
	static const struct scap_calls calls = {
		.bits[0] =
			{
				[SYS_nanosleep / 64] = 1ull << SYS_nanosleep % 64,
				[SYS_restart_syscall / 64] = 1ull << SYS_restart_syscall % 64,
			},
	};
	static const struct scap_select select = {.calls = &calls};
	const struct live_opts o = {.sz = sizeof(o), .ring_sz = 4 << 20, .select = &select};
	struct capture c;
	size_t at = 0;
	pid_t pid = capture_child(&c, &o, sleep_a_while);
	const struct rec_hdr *x;

	(void)state;
	must_find(&c, &at, pid, SYS_nanosleep);
	x = must_find(&c, &at, pid, SYS_nanosleep);
	assert_int_equal(x->flags, REC_F_ENTER_SENT);
	assert_int_equal(num(x, x->evt.type == EVT_SYSCALL_X ? 2 : 0), -516);
	must_find(&c, &at, pid, SYS_restart_syscall);
	x = must_find(&c, &at, pid, SYS_restart_syscall);
	assert_int_equal(num(x, 2), 0);
	free_capture(&c);
}

#define X32_GETPID 0x40000027

/* Numbers without a call, up to the last one that fits the tables. */
#define UNLISTED_FIRST 490
#define UNLISTED_END DRV_MAX_NR

static void large_numbers(void)
{
	syscall(X32_GETPID);
	syscall(70000);
	syscall(DRV_MAX_NR);
}

/* A record's header has 16 bits for the number of a call. */
static void test_large_numbers(void **state)
{
	struct capture c;
	size_t at = 0;
	pid_t pid = capture_child(&c, &small, large_numbers);
	const struct rec_hdr *x = must_find(&c, &at, pid, REC_NR_NONE);

	(void)state;
	assert_int_equal(x->evt.type, EVT_SYSCALL_X);
	assert_int_equal(num(x, 1), REC_NR_NONE);
	assert_int_equal(num(x, 3), X32_GETPID);
	x = must_find(&c, &at, pid, REC_NR_NONE);
	assert_int_equal(num(x, 3), 70000);
	x = must_find(&c, &at, pid, DRV_MAX_NR);
	assert_int_equal(num(x, 1), DRV_MAX_NR);
	assert_int_equal(num(x, 3), 0); /* empty */
	free_capture(&c);
}

static void unlisted_numbers(void)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct cmsghdr *c = (struct cmsghdr *)control;
	struct msghdr msg = {.msg_control = control, .msg_controllen = sizeof(control)};

	/* Arguments that would yield a file event if a program took them for those of a message. */
	*c = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
	for (long nr = UNLISTED_FIRST; nr < UNLISTED_END; nr++)
		syscall(nr, 3, &msg, 0, 0, 1, 0);
}

/* A call that syscalls.def lacks is one generic record with its number and result. */
static void test_unlisted_numbers(void **state)
{
	struct capture c;
	size_t n = 0;
	pid_t pid = capture_child(&c, &small, unlisted_numbers);

	(void)state;
	for (size_t i = 0; i < c.n; i++) {
		const struct rec_hdr *r = c.recs[i];

		if (r->evt.tid != (uint64_t)pid || r->flags & REC_F_RAW_ENTER)
			continue;
		assert_int_not_equal(r->evt.type, EVT_FILE_E);
		if (r->nr < UNLISTED_FIRST || r->nr >= UNLISTED_END)
			continue;
		assert_int_equal(r->nr, UNLISTED_FIRST + n++);
		assert_int_equal(r->evt.type, EVT_SYSCALL_X);
		assert_int_equal(num(r, 0), 0);
		assert_int_equal(num(r, 1), r->nr);
		assert_int_equal(num(r, 2), -ENOSYS);
	}
	assert_int_equal(n, UNLISTED_END - UNLISTED_FIRST);
	free_capture(&c);
}

static void ia32_getpid(void)
{
	long ret = 20;

	__asm__ volatile("int $0x80" : "+a"(ret) : : "memory", "r8", "r9", "r10", "r11");
	_exit(ret == getpid() ? 0 : 1);
}

/* A kernel without 32-bit calls kills a process that makes one. */
static int has_ia32(void)
{
	const pid_t pid = fork();
	int status;

	if (!pid) {
		signal(SIGSEGV, SIG_DFL); /* cmocka's handler would end the test in the child */
		ia32_getpid();
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status))
		assert_int_equal(WEXITSTATUS(status), 0);
	else
		assert_int_equal(WTERMSIG(status), SIGSEGV);
	return WIFEXITED(status);
}

/* 20 is getpid as a 32-bit call and writev as a 64-bit call. */
static void test_ia32(void **state)
{
	const struct rec_hdr *x;
	struct capture c;
	size_t at = 0;
	pid_t pid;

	(void)state;
	if (!has_ia32()) {
		print_message("skipped: this kernel has no 32-bit calls\n");
		skip();
	}
	pid = capture_child(&c, &small, ia32_getpid);
	x = must_find(&c, &at, pid, 20);
	assert_int_equal(x->flags & ~REC_F_ENTER_SENT, REC_F_IA32);
	assert_int_equal(x->evt.type, EVT_SYSCALL_X);
	assert_string_equal(scap_ppm_sc_name((unsigned int)num(x, 0)), "getpid");
	assert_int_equal(num(x, 1), 20);
	assert_int_equal(num(x, 2), pid);
	free_capture(&c);
}

static int pipe_fds[2];

static void read_pipe(void)
{
	char b;

	syscall(SYS_read, pipe_fds[0], &b, 1);
}

/* A call entered before the capture began has only an exit. */
static void test_older_call(void **state)
{
	struct capture c;
	size_t at = 0;
	const struct rec_hdr *x;
	char call[16];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(pipe_fds), 0);
	snprintf(call, sizeof(call), "%d %#x ", SYS_read, pipe_fds[0]);
	pid = fork();
	if (!pid) {
		close(pipe_fds[1]); /* it ends with this process */
		read_pipe();
		_exit(0);
	}
	for (int i = 0; !proc_has(pid, "syscall", call); i++) {
		assert_true(i < 20000);
		usleep(1000);
	}
	c = begin_capture(&small);
	assert_int_equal(write(pipe_fds[1], "x", 1), 1);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	end_capture(&c);
	x = must_find(&c, &at, pid, SYS_read);
	assert_int_equal(x->enter_ns, 0);
	assert_int_equal(num(x, 0), 1);
	assert_int_equal(num(x, 2), pipe_fds[0]);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	free_capture(&c);
}

/* Only requested calls are recorded, and the programs of the others are not loaded. */
static void test_want(void **state)
{
	static const struct scap_calls calls = {
		.bits[0][SYS_getppid / 64] = 1ull << SYS_getppid % 64,
	};
	static const struct scap_select select = {.calls = &calls};
	const struct live_opts o = {.sz = sizeof(o), .ring_sz = 1 << 20, .select = &select};
	struct capture c;
	size_t at = 0;
	pid_t pid = capture_child(&c, &o, io_calls);

	(void)state;
	must_find(&c, &at, pid, SYS_getppid);
	for (size_t i = 0; i < c.n; i++)
		assert_true(c.recs[i]->nr == SYS_getppid || c.recs[i]->flags & REC_F_STATE_ONLY);
	free_capture(&c);
}

/* The capturing process's own calls are not recorded, but counted. */
static void test_self(void **state)
{
	struct capture c = begin_capture(&small);

	(void)state;
	for (int i = 0; i < 10; i++)
		syscall(SYS_getppid);
	end_capture(&c);
	assert_true(c.counters.other.n_self >= 10);
	for (size_t i = 0; i < c.n; i++)
		assert_int_not_equal(c.recs[i]->evt.tid, getpid());
	free_capture(&c);
}

/* Runs as the first process of a PID namespace, whose getpid() is 1. */
static void self_in_pidns(void)
{
	struct live_driver *d = NULL;
	struct drv_sums c;

	if (getpid() != 1 || live_load(&d, &small, &test_log) || live_attach(d))
		_exit(1);
	for (int i = 0; i < 10000; i++)
		syscall(SYS_getppid);
	live_detach(d);
	live_counters(d, &c);
	_exit(c.other.n_self >= 10000 ? 0 : 2);
}

static void test_self_in_pidns(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (!pid) {
		if (unshare(CLONE_NEWPID))
			_exit(3);
		pid = fork();
		if (!pid)
			self_in_pidns();
		waitpid(pid, &status, 0);
		_exit(WEXITSTATUS(status));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void ring_the_bell(void)
{
	for (int i = 0; i < 20000; i++)
		syscall(SYS_getppid);
}

/* The doorbell wakes a sleeping reader once the watermark is crossed. */
static void check_bell(int kind, uint32_t cpus_per_ring)
{
	const struct live_opts o = {
		.sz = sizeof(o),
		.ring_kind = kind + 1,
		.ring_sz = 4 << 20,
		.cpus_per_ring = cpus_per_ring,
		.wake_sz = 64 << 10,
	};
	struct capture c = begin_capture(&o);
	pid_t pid;
	int rung;

	for (unsigned int i = 0; i < live_n_rings(c.d); i++)
		ring_set_asleep(live_ring(c.d, i), 1);
	pid = fork();
	if (!pid) {
		ring_the_bell();
		_exit(0);
	}
	rung = live_wait(c.d, 5000);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	end_capture(&c);
	assert_int_equal(rung, 1);
	live_wait(c.d, 0); /* another CPU may have rung too */
	assert_int_equal(live_wait(c.d, 0), 0);
	free_capture(&c);
}

static void test_bell(void **state)
{
	(void)state;
	for (int kind = 0; kind < RING_KIND_MAX; kind++)
		check_bell(kind, 1);
	check_bell(RING_RINGBUF, UINT32_MAX);
}

static void test_bad_opts(void **state)
{
	const struct live_opts bad[] = {
		{.sz = sizeof(bad[0]), .ring_kind = 7},
		{.sz = sizeof(bad[0]), .ring_kind = RING_ARRAY + 1, .cpus_per_ring = 2},
		{.sz = sizeof(bad[0]), .ring_kind = RING_PERF + 1, .cpus_per_ring = 2},
		{.sz = sizeof(bad[0]), .ring_sz = 3000000},
		{.sz = sizeof(bad[0]), .ring_sz = 4096},
		{.sz = sizeof(bad[0]), .snaplen = 1 << 20},
	};
	struct live_driver *d = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(live_load(&d, &bad[i], NULL), -EINVAL);
	assert_null(d);
}

#define N_CALLS 200

/* Makes calls in a child on @cpu. Returns its PID. */
static pid_t call_on(size_t cpu)
{
	cpu_set_t one;
	pid_t pid = fork();

	if (pid) {
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		return pid;
	}
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (int i = 0; i < N_CALLS; i++)
		syscall(SYS_getppid);
	_exit(0);
}

/* The rings also have the records of other processes; they are read at the end. */
static void late_cpu(int kind)
{
	const struct live_opts o = {
		.sz = sizeof(o), .ring_kind = kind + 1, .ring_sz = 1 << 24, .first_cpus = 1};
	struct capture c;
	cpu_set_t online;
	uint64_t lost;
	size_t at = 0;
	int n = 0;

	assert_int_equal(online_cpus(&online), 0);
	if (!CPU_ISSET(1, &online)) {
		print_message("there is no second CPU\n");
		return;
	}
	c = begin_capture(&o);
	assert_int_equal(live_n_rings(c.d), 1);
	call_on(1);
	lost = live_n_no_ring(c.d, 1);
	assert_true(lost >= N_CALLS);
	live_follow_cpus(c.d, &online);
	assert_int_equal(live_n_rings(c.d), CPU_COUNT(&online));
	c.only = call_on(1);
	end_capture(&c);
	while (find(&c, &at, c.only, SYS_getppid))
		n++;
	assert_int_equal(n, N_CALLS);
	assert_true(drv_dropped(&c.counters.other, DRV_DROP_NO_RING) >= lost);
	free_capture(&c);
}

/* A CPU without a ring at the start of the capture, as if it came online later. */
static void test_late_cpu(void **state)
{
	(void)state;
	for (int kind = 0; kind < RING_KIND_MAX; kind++)
		late_cpu(kind);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_array),         cmocka_unit_test(test_ringbuf),
		cmocka_unit_test(test_perf),          cmocka_unit_test(test_full),
		cmocka_unit_test(test_wrap),          cmocka_unit_test(test_blocked),
		cmocka_unit_test(test_blocked_path),  cmocka_unit_test(test_exit_group),
		cmocka_unit_test(test_clone_child),   cmocka_unit_test(test_seccomp),
		cmocka_unit_test(test_sigreturn),     cmocka_unit_test(test_exec_thread),
		cmocka_unit_test(test_restart),       cmocka_unit_test(test_ia32),
		cmocka_unit_test(test_large_numbers), cmocka_unit_test(test_older_call),
		cmocka_unit_test(test_want),          cmocka_unit_test(test_self),
		cmocka_unit_test(test_bell),          cmocka_unit_test(test_clone_flags),
		cmocka_unit_test(test_self_in_pidns), cmocka_unit_test(test_bad_opts),
		cmocka_unit_test(test_shared),        cmocka_unit_test(test_unlisted_numbers),
		cmocka_unit_test(test_late_cpu),
	};

	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK)) {
		fprintf(stderr,
			"driver_test: skipped: it needs root and /sys/kernel/btf/vmlinux\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
