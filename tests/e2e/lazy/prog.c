/* SPDX-License-Identifier: Apache-2.0 */
/* prog CASE: runs a short sequence of calls in which an exit finds its enter in an unusual way, or
 * has none. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void sleep_ms(long ms)
{
	struct timespec ts = {ms / 1000, ms % 1000 * 1000000};

	syscall(SYS_nanosleep, &ts, NULL);
}

static void *exec_self(void *arg)
{
	sleep_ms(5);
	execl("/proc/self/exe", "prog", "nothing", NULL);
	return arg;
}

/* A thread that is not the leader execs: it enters with one tid, exits with the leader's. */
static int exec_from_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, exec_self, NULL);
	pthread_join(t, NULL);
	return 1;
}

/* getppid is refused before sys_enter fires: its exit has no enter. */
static int seccomp_refusal(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {sizeof(code) / sizeof(code[0]), code};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog);
	return syscall(SYS_getppid) == -1 && errno == EPERM ? 0 : 1;
}

static void on_signal(int sig)
{
	(void)sig;
}

/* A read interrupted by a handler with SA_RESTART: ERESTARTSYS, then the read again. */
static int restart(void)
{
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	int p[2];
	char c;

	sigaction(SIGUSR1, &sa, NULL);
	if (pipe(p))
		return 1;
	pid_t parent = getpid(), child = fork();
	if (!child) {
		sleep_ms(30);
		kill(parent, SIGUSR1);
		sleep_ms(30);
		_exit(write(p[1], "x", 1) == 1 ? 0 : 1);
	}
	if (read(p[0], &c, 1) != 1)
		return 1;
	waitpid(child, NULL, 0);
	return 0;
}

/* A sleep stopped and continued: ERESTART_RESTARTBLOCK, then restart_syscall. */
static int restart_block(void)
{
	pid_t child = fork();

	if (!child) {
		sleep_ms(150);
		_exit(0);
	}
	sleep_ms(40);
	kill(child, SIGSTOP);
	sleep_ms(40);
	kill(child, SIGCONT);
	waitpid(child, NULL, 0);
	return 0;
}

static void *work(void *arg)
{
	for (int i = 0; i < 50; i++) {
		syscall(SYS_getppid);
		syscall(SYS_sched_yield);
		if (i % 10 == 0)
			sleep_ms(1);
	}
	return arg;
}

/* Four threads on fewer CPUs: calls are switched out, preempted and moved. */
static int threads(void)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	return 0;
}

static int nothing(void)
{
	return 0;
}

/* Blocks in a read that begins before the capture; prints a line just before. */
static int older(void)
{
	char c;

	puts("reading");
	fflush(stdout);
	if (read(STDIN_FILENO, &c, 1) != 1)
		return 1;
	syscall(SYS_getppid);
	return 0;
}

/* A 32-bit call from 64-bit code: number 20 is getpid there, writev here. */
static int ia32(void)
{
	long ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(20) : "memory", "r8", "r9", "r10", "r11");
	return ret == getpid() ? 0 : 1;
}

/* Numbers that are write's, read's and write's in their low bits only. */
static int large_numbers(void)
{
	syscall(0x40000001, 1, "x", 0);
	syscall(0x10000, 0, NULL, 0);
	syscall(0x10001, 1, "x", 0);
	return 0;
}

static const struct {
	const char *name;
	int (*fn)(void);
} cases[] = {
	{"exec_from_thread", exec_from_thread},
	{"seccomp_refusal", seccomp_refusal},
	{"restart", restart},
	{"restart_block", restart_block},
	{"threads", threads},
	{"nothing", nothing},
	{"older", older},
	{"ia32", ia32},
	{"large_numbers", large_numbers},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (argc == 2 && !strcmp(argv[1], cases[i].name))
			return cases[i].fn();
	fprintf(stderr, "usage: prog CASE\n");
	return 99;
}
