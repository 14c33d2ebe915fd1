/* SPDX-License-Identifier: Apache-2.0 */
#include "objfile/helper_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"

enum { DYING_MS = 100 }; /* time that a working one may take */

static struct {
	pthread_mutex_t lock;
	pid_t v[HELPERS_HUNG_MAX];
	unsigned int n;
} hung = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
	pthread_mutex_t lock; /* held while a helper is forked */
	volatile uint32_t *v[HELPER_WATCHERS_MAX];
	pid_t running[HELPERS_RUNNING_MAX]; /* 0: none. Some may have ended */
} watchers = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- beginning and end ---- */

/* A reader of our output waits until all have closed it, so a hung helper must not have it open. */
static int leave_all_but(int fd)
{
	const int null = open("/dev/null", O_RDWR);

	if (null < 0 || fd <= STDERR_FILENO || null <= STDERR_FILENO)
		return -EBADF;
	for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
		if (dup2(null, i) < 0)
			return -errno;
	if (fd != HELPER_FD && dup2(fd, HELPER_FD) < 0)
		return -errno;
	return syscall(SYS_close_range, HELPER_FD + 1, ~0u, 0) ? -errno : 0;
}

static __attribute__((noreturn)) void run(int fd, void (*serve)(void))
{
	const struct rlimit none = {0, 0};

	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	setrlimit(RLIMIT_CORE, &none);
	if (!leave_all_but(fd))
		serve();
	_exit(0);
}

static void tell_watchers(uint32_t tid)
{
	for (unsigned int i = 0; i < HELPER_WATCHERS_MAX; i++)
		if (watchers.v[i])
			*watchers.v[i] = tid;
}

static int watch_instead(const volatile uint32_t *old, volatile uint32_t *new)
{
	int err = -ENOSPC;

	pthread_mutex_lock(&watchers.lock);
	for (unsigned int i = 0; i < HELPER_WATCHERS_MAX && err; i++)
		if (watchers.v[i] == old) {
			watchers.v[i] = new;
			err = 0;
		}
	pthread_mutex_unlock(&watchers.lock);
	return err;
}

int helpers_watch(volatile uint32_t *tid)
{
	return watch_instead(NULL, tid);
}

void helpers_unwatch(const volatile uint32_t *tid)
{
	watch_instead(tid, NULL);
}

/* Returns whether it is a running child of ours, without reaping it. */
static int is_running(pid_t pid)
{
	siginfo_t info = {0};

	return !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) && !info.si_pid;
}

/* Called with the lock held. */
static void note_running(pid_t pid)
{
	pid_t *place = NULL;

	for (unsigned int i = 0; i < HELPERS_RUNNING_MAX; i++) {
		pid_t *p = &watchers.running[i];

		if (*p && (*p == pid || !is_running(*p)))
			*p = 0;
		if (!*p)
			place = p;
	}
	if (place)
		*place = pid;
}

unsigned int helpers_running(pid_t v[HELPERS_RUNNING_MAX])
{
	unsigned int n = 0;

	pthread_mutex_lock(&watchers.lock);
	for (unsigned int i = 0; i < HELPERS_RUNNING_MAX; i++)
		if (watchers.running[i] && is_running(watchers.running[i]))
			v[n++] = watchers.running[i];
	pthread_mutex_unlock(&watchers.lock);
	return n;
}

pid_t helper_fork(void)
{
	pid_t pid;

	pthread_mutex_lock(&watchers.lock);
	tell_watchers((uint32_t)gettid());
	pid = fork();
	if (pid) {
		tell_watchers(0);
		if (pid > 0)
			note_running(pid);
		pthread_mutex_unlock(&watchers.lock);
	}
	return pid;
}

int helper_start(struct helper *h, void (*serve)(void))
{
	sigset_t all, old;
	int ends[2];
	pid_t pid;

	if (helpers_hung() >= HELPERS_HUNG_MAX)
		return -EBUSY;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	/* A signal for us must not run our handlers in the helper. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pid = helper_fork();
	if (!pid)
		run(ends[1], serve);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return -EAGAIN;
	}
	*h = (struct helper){pid, ends[0]};
	return 0;
}

static int has_ended(pid_t pid)
{
	const pid_t r = waitpid(pid, NULL, WNOHANG);

	return r == pid || (r < 0 && errno == ECHILD);
}

void helper_end(struct helper *h)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	const int64_t until = clock_now_ms() + DYING_MS;
	int ended;

	if (!h->pid)
		return;
	close(h->fd);
	kill(h->pid, SIGKILL);
	while (!(ended = has_ended(h->pid)) && clock_now_ms() < until)
		nanosleep(&moment, NULL);
	pthread_mutex_lock(&hung.lock);
	if (!ended && hung.n < HELPERS_HUNG_MAX)
		hung.v[hung.n++] = h->pid;
	pthread_mutex_unlock(&hung.lock);
	*h = (struct helper){0};
}

unsigned int helpers_hung(void)
{
	unsigned int n = 0;

	pthread_mutex_lock(&hung.lock);
	for (unsigned int i = 0; i < hung.n; i++)
		if (!has_ended(hung.v[i]))
			hung.v[n++] = hung.v[i];
	hung.n = n;
	pthread_mutex_unlock(&hung.lock);
	return n;
}

/* ---- messages ---- */

union passed_fd {
	struct cmsghdr h;
	char room[CMSG_SPACE(sizeof(int))];
};

int helper_send(int fd, const void *msg, size_t sz, int passed)
{
	struct iovec part = {(void *)msg, sz};
	union passed_fd control = {.room = {0}};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t n;

	if (passed >= 0) {
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		control.h.cmsg_level = SOL_SOCKET;
		control.h.cmsg_type = SCM_RIGHTS;
		control.h.cmsg_len = CMSG_LEN(sizeof(passed));
		memcpy(CMSG_DATA(&control.h), &passed, sizeof(passed));
	}
	do {
		n = sendmsg(fd, &m, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n == (ssize_t)sz ? 0 : -EMSGSIZE;
}

ssize_t helper_receive(int fd, void *msg, size_t sz, int *passed)
{
	struct iovec part = {msg, sz};
	union passed_fd control = {.room = {0}};
	struct msghdr m = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	const struct cmsghdr *c;
	ssize_t n;

	*passed = -1;
	do {
		n = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(*passed)))
		memcpy(passed, CMSG_DATA(c), sizeof(*passed));
	return n;
}

int helper_wait(int fd, int timeout_ms)
{
	const int64_t until = clock_now_ms() + timeout_ms;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int r;

	do {
		const int64_t left = until - clock_now_ms();

		r = poll(&p, 1, left > 0 ? (int)left : 0);
	} while (r < 0 && errno == EINTR);
	return r > 0 ? 0 : -ETIMEDOUT;
}
