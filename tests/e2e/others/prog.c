/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prog: what is no call. It faults, is switched out, gets a signal, and has children that end
 * in different ways. For each event it prints what the line must say: "TID TYPE key=value ...".
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

/* Written to and read from by the program, by the kernel for it, and where it may not be. */
static void faults(void)
{
	const int zero = open("/dev/zero", O_RDONLY);
	volatile char *p =
		mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const int me = getpid();

	must(zero >= 0 && p != MAP_FAILED, "mmap");
	must(!madvise((void *)p, 4 * 4096, MADV_NOHUGEPAGE), "madvise");
	p[17] = 1;
	printf("%d page_fault addr=%lX error=22(PAGE_NOT_PRESENT|WRITE_ACCESS|USER_FAULT)\n", me,
	       (long)p + 17);
	(void)p[4096];
	printf("%d page_fault addr=%lX error=26(PAGE_NOT_PRESENT|READ_ACCESS|USER_FAULT)\n", me,
	       (long)p + 4096);
	must(read(zero, (void *)(p + 8192), 1) == 1, "read");
	printf("%d page_fault addr=%lX error=38(PAGE_NOT_PRESENT|WRITE_ACCESS|SUPERVISOR_FAULT)\n",
	       me, (long)p + 8192);
	/* The driver looks at the name as well, and fails; that is no fault of ours. */
	must(syscall(SYS_chdir, 0x10) == -1, "chdir");
	printf("%d page_fault addr=10 error=42(PAGE_NOT_PRESENT|READ_ACCESS|SUPERVISOR_FAULT)\n",
	       me);
}

static void *wait_for_end(void *fd)
{
	char c;

	must(read(*(int *)fd, &c, 1) == 0, "read");
	return NULL;
}

/* The same beside a thread: then the driver looks at the name when the call enters, too. */
static void fault_beside_a_thread(void)
{
	pthread_t t;
	int p[2];

	must(!pipe(p) && !pthread_create(&t, NULL, wait_for_end, &p[0]), "pthread_create");
	must(syscall(SYS_chdir, 0x20) == -1, "chdir");
	close(p[1]);
	must(!pthread_join(t, NULL), "pthread_join");
	close(p[0]);
}

static void on_signal(int sig)
{
	(void)sig;
}

static void a_signal(void)
{
	struct sigaction sa = {.sa_handler = on_signal};

	must(!sigaction(SIGUSR2, &sa, NULL) && !kill(getpid(), SIGUSR2), "kill");
	printf("%d signaldeliver spid=%d dpid=%d sig=12(SIGUSR2)\n", getpid(), getpid(), getpid());
}

static void a_switch(void)
{
	const struct timespec ms = {.tv_nsec = 1000000};

	must(!nanosleep(&ms, NULL), "nanosleep");
	printf("%d switch\n", getpid());
}

static void end_with(int sig, int how)
{
	const struct rlimit no_core = {0, 0};
	int status;
	pid_t pid = fork();

	if (!pid) {
		setrlimit(RLIMIT_CORE, &no_core);
		if (!sig)
			_exit(how);
		kill(getpid(), sig);
		pause();
	}
	must(pid > 0 && waitpid(pid, &status, 0) == pid, "fork");
	printf("%d procexit status=%d ret=%d sig=%d core=%d\n", pid, status, WEXITSTATUS(status),
	       sig, !!WCOREDUMP(status));
}

int main(void)
{
	static char buf[4096];

	setvbuf(stdout, buf, _IOFBF, sizeof(buf));
	buf[0] = 1; /* faulted in */
	faults();
	fault_beside_a_thread();
	a_signal();
	a_switch();
	fflush(stdout);
	end_with(0, 0);
	fflush(stdout);
	end_with(0, 200);
	fflush(stdout);
	end_with(SIGKILL, 0);
	fflush(stdout);
	end_with(SIGSEGV, 0);
	printf("%d procexit status=1280 ret=5 sig=0 core=0\n", getpid());
	fflush(stdout);
	return 5;
}
