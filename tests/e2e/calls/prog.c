/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prog DIR [CALL...]: every case, or those of the calls named, in the new directory DIR. For
 * each it prints
 *
 *	= CALL TID STATUS		ok | skip WHY | broken WHY
 *	TID [>] NAME key=value ...	what the lines of the call must say, in their order
 *
 * The lines are kept in memory that is shared with the case's process and written by this one,
 * so that the calls stand alone.
 */
#include "case.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define CASE_TIMEOUT_MS 60000

/* What a case has said. */
static struct {
	size_t len;
	char text[64 << 10];
	char why[256];
} * said;

static long case_tid;
char self_path[PATH_MAX];

enum { STATUS_OK = 0, STATUS_SKIP = 77, STATUS_BROKEN = 78 };

static void vsay(long tid, const char *fmt, va_list ap)
{
	char *at = said->text + said->len;
	const size_t room = sizeof(said->text) - said->len;
	size_t n = (size_t)snprintf(at, room, "%ld ", tid);

	n += (size_t)vsnprintf(at + n, room - n, fmt, ap);
	if (n + 1 >= room)
		broken("says too much");
	at[n] = '\n';
	said->len += n + 1;
}

void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsay(case_tid, fmt, ap);
	va_end(ap);
}

void say_of(long tid, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsay(tid, fmt, ap);
	va_end(ap);
}

void skip(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(said->why, sizeof(said->why), fmt, ap);
	va_end(ap);
	_exit(STATUS_SKIP);
}

void broken(const char *what)
{
	snprintf(said->why, sizeof(said->why), "%s: %s", what, strerror(errno));
	_exit(STATUS_BROKEN);
}

int make_file(const char *name, const char *text)
{
	const size_t n = strlen(text);
	int fd = open(name, O_CREAT | O_TRUNC | O_RDWR, 0644);

	if (fd < 0 || write(fd, text, n) != (ssize_t)n)
		broken(name);
	return fd;
}

const char *when(long sec, long nsec)
{
	static char texts[4][48];
	static unsigned int n;
	char *text = texts[n++ % 4];
	struct tm tm;
	size_t len;

	gmtime_r(&sec, &tm);
	len = strftime(text, sizeof(texts[0]), "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(text + len, sizeof(texts[0]) - len, ".%09ld +0000", nsec);
	return text;
}

/* The first call is a chdir, at which the reader sees where the case begins. */
static void run_case(const struct call_case *c)
{
	if (chdir(c->name))
		broken("chdir");
	case_tid = gettid();
	c->fn();
	_exit(STATUS_OK);
}

/* Waits for the case; kills one that hangs. */
static int wait_case(int pid)
{
	struct pollfd p = {(int)CALL(pidfd_open, pid, 0), POLLIN, 0};
	int status;

	if (p.fd >= 0 && poll(&p, 1, CASE_TIMEOUT_MS) == 0) {
		snprintf(said->why, sizeof(said->why), "hangs");
		kill(pid, SIGKILL);
	}
	close(p.fd);
	if (waitpid(pid, &status, 0) != pid)
		exit(2);
	return status;
}

static void print_status(const char *name, int pid, int status)
{
	printf("= %s %d ", name, pid);
	if (WIFSIGNALED(status))
		printf("broken signal %d %s\n", WTERMSIG(status), said->why);
	else if (WEXITSTATUS(status) == STATUS_SKIP)
		printf("skip %s\n", said->why);
	else if (WEXITSTATUS(status) != STATUS_OK)
		printf("broken exit %d %s\n", WEXITSTATUS(status), said->why);
	else
		printf("ok\n");
}

static int is_wanted(const char *name, char *const *wanted)
{
	if (!*wanted)
		return 1;
	for (; *wanted; wanted++)
		if (!strcmp(name, *wanted))
			return 1;
	return 0;
}

static void run_family(const struct call_case *c, char *const *wanted)
{
	int pid, status;

	for (; c->name; c++) {
		if (!is_wanted(c->name, wanted))
			continue;
		said->len = 0;
		said->why[0] = '\0';
		if (mkdir(c->name, 0755))
			exit(2);
		fflush(stdout);
		pid = fork();
		if (!pid)
			run_case(c);
		if (pid < 0)
			exit(2);
		status = wait_case(pid);
		print_status(c->name, pid, status);
		fwrite(said->text, 1, said->len, stdout);
	}
}

int main(int argc, char **argv)
{
#define X(family) cases_##family,
	static const struct call_case *const families[] = {CALL_FAMILIES(X)};
#undef X

	if (argc > 1 && !strcmp(argv[1], "exit"))
		return 7;
	said = mmap(NULL, sizeof(*said), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (argc < 2 || said == MAP_FAILED || !realpath(argv[0], self_path) || chdir(argv[1])) {
		perror("usage: prog DIR [CALL...]");
		return 1;
	}
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
		run_family(families[i], argv + 2);
	return fflush(stdout) != 0;
}
