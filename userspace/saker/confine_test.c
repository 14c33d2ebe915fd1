/* SPDX-License-Identifier: Apache-2.0 */
/* Each test runs in a child, which is confined and reports by its exit status. */
#include "testing/test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "confine.h"
#include "objfile/helper_process.h"
#include "symbols/seal_process.h"

enum { SKIPPED = 77 };

static char dir[] = "/tmp/saker-confine-XXXXXX";

/* Borrowed until the eighth next call. */
static char *in_dir(const char *name)
{
	static char path[8][256];
	static unsigned int n;
	char *p = path[n++ % 8];

	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

static int write_file(const char *path)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0)
		return errno;
	if (write(fd, "x", 1) != 1)
		return EIO;
	close(fd);
	return 0;
}

static int read_file(const char *path)
{
	const int fd = open(path, O_RDONLY);
	char byte;

	if (fd < 0)
		return errno;
	if (read(fd, &byte, 1) != 1)
		return EIO;
	close(fd);
	return 0;
}

/* Returns the status of a child that calls @fn, which returns the line of what failed, or 0. */
static int in_child(int (*fn)(void))
{
	const pid_t pid = fork();
	int status;

	if (!pid)
		_exit(fn());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void check(int (*fn)(void))
{
	const int status = in_child(fn);

	if (status == SKIPPED)
		skip();
	assert_int_equal(status, 0);
}

/* A step is its number, so that the status shows which failed. */
#define STEP(number, condition)                                                                    \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return number;                                                             \
	} while (0)

static long landlock_version(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

static int nothing(void)
{
	const struct confine_files none = {0};
	const int fd = open(in_dir("old"), O_WRONLY);
	const int err = confine_files(&none);

	if (err)
		return SKIPPED;
	STEP(1, read_file("/etc/passwd") == EACCES);
	STEP(2, write_file(in_dir("new")) == EACCES);
	STEP(3, read_file(in_dir("old")) == EACCES);
	STEP(4, open("/", O_RDONLY | O_DIRECTORY) < 0 && errno == EACCES);
	STEP(5, unlink(in_dir("old")) && errno == EACCES);
	STEP(6, mkdir(in_dir("folder"), 0700) && errno == EACCES);
	STEP(7, write(fd, "y", 1) == 1);
	return 0;
}

static void test_no_files(void **state)
{
	(void)state;
	assert_int_equal(write_file(in_dir("old")), 0);
	check(nothing);
}

static int some(void)
{
	const char *reads[] = {"-", in_dir("read"), "/nonexistent"};
	const struct confine_files files = {reads, 3, in_dir("out/file")}, fewer = {reads, 3, NULL};

	if (confine_files(&files))
		return SKIPPED;
	STEP(1, read_file(reads[1]) == 0);
	STEP(2, write_file(reads[1]) == EACCES);
	STEP(3, write_file(in_dir("out/file")) == 0 && write_file(in_dir("out/file1")) == 0);
	STEP(4, unlink(in_dir("out/file1")) == 0);
	STEP(5, write_file(in_dir("other")) == EACCES);
	STEP(6, read_file("/etc/passwd") == EACCES);
	STEP(7, read_file("/nonexistent") == ENOENT);
	STEP(8, confine_files(&fewer) == 0);
	STEP(9, read_file(in_dir("read")) == 0);
	STEP(10, write_file(in_dir("out/file")) == EACCES);
	return 0;
}

static void test_some_files(void **state)
{
	(void)state;
	assert_int_equal(write_file(in_dir("read")), 0);
	assert_int_equal(mkdir(in_dir("out"), 0700), 0);
	check(some);
}

static int through_links(void)
{
	const struct confine_files files = {NULL, 0, in_dir("link")},
				   device = {NULL, 0, "/dev/null"};

	if (confine_files(&files))
		return SKIPPED;
	STEP(1, write_file(in_dir("link")) == 0);
	STEP(2, write_file(in_dir("dangling")) == EACCES);
	STEP(3, confine_files(&device) == 0 && write_file(in_dir("link")) == EACCES);
	return 0;
}

static int through_dangling(void)
{
	const char *loop = in_dir("loop");
	const struct confine_files files = {&loop, 1, in_dir("dangling")};

	STEP(1, confine_files(&files) == 0);
	STEP(2, write_file(in_dir("dangling")) == 0);
	STEP(3, write_file(in_dir("other")) == EACCES);
	STEP(4, read_file(loop) == ELOOP);
	return 0;
}

/* Whoever made it chose what it leads to. */
static int through_link_of_other(void)
{
	const struct confine_files files = {.write = in_dir("link of other")};

	if (confine_files(&files))
		return SKIPPED;
	STEP(1, write_file(in_dir("far/file")) == EACCES);
	return 0;
}

static void test_link_of_other(void **state)
{
	(void)state;
	if (geteuid())
		skip(); /* only root can make one */
	assert_int_equal(symlink(in_dir("far/file"), in_dir("link of other")), 0);
	assert_int_equal(lchown(in_dir("link of other"), NOBODY, NOBODY), 0);
	check(through_link_of_other);
}

static void test_links(void **state)
{
	(void)state;
	assert_int_equal(mkdir(in_dir("far"), 0700), 0);
	assert_int_equal(write_file(in_dir("far/file")), 0);
	assert_int_equal(symlink(in_dir("far/file"), in_dir("link")), 0);
	assert_int_equal(symlink(in_dir("far/none"), in_dir("dangling")), 0);
	assert_int_equal(symlink("loop", in_dir("loop")), 0);
	check(through_links);
	check(through_dangling);
}

static int all_reads(void)
{
	const struct confine_files files = {.reads_all = 1, .write = in_dir("out/file")},
				   later = {.reads_all = 1};
	const pid_t parent = getppid();
	int ends[2];

	if (confine_files(&files))
		return SKIPPED;
	STEP(1, read_file("/etc/passwd") == 0);
	STEP(2, read_file(in_dir("read")) == 0);
	STEP(3, write_file(in_dir("read")) == EACCES);
	STEP(4, write_file("/proc/self/comm") == EACCES);
	STEP(5, write_file(in_dir("out/file")) == 0);
	STEP(6, rename(in_dir("read"), in_dir("renamed")) && errno == EACCES);
	STEP(7, open("/dev/null", O_RDWR) >= 0);
	STEP(8, ptrace(PTRACE_ATTACH, parent, 0, 0) && errno == EPERM);
	STEP(9, confine_files(&later) == 0);
	STEP(10, read_file("/etc/passwd") == 0);
	STEP(11, write_file(in_dir("out/file")) == EACCES);
	STEP(12, kill(getpid(), 0) == 0);
	STEP(13, socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
	if (landlock_version() < 6)
		return 0;
	STEP(14, kill(parent, 0) && errno == EPERM);
	return 0;
}

static void test_all_reads(void **state)
{
	(void)state;
	check(all_reads);
}

static void *in_thread(void *arg)
{
	*(int *)arg = 1;
	return NULL;
}

/* What saker and libraries do. */
static int usual(void)
{
	pthread_t thread;
	int ran = 0;
	FILE *f;

	STEP(101, pthread_create(&thread, NULL, in_thread, &ran) == 0);
	STEP(102, pthread_join(thread, NULL) == 0 && ran);
	f = tmpfile();
	STEP(103, f && fputs("text", f) >= 0 && fclose(f) == 0);
	STEP(104, kill(getpid(), 0) == 0);
	signal(SIGUSR1, SIG_IGN);
	STEP(105, raise(SIGUSR1) == 0);
	STEP(106, setvbuf(stdout, NULL, _IOFBF, 1 << 16) == 0);
	return 0;
}

static int is_refused(long result)
{
	return result < 0 && errno == EPERM;
}

static long own_clone(unsigned long flags)
{
	const long pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);

	if (!pid)
		_exit(0);
	return pid;
}

/* Refused whatever else is needed. Returns the number of a step from @step on, or 0. */
static int refused_always(int step)
{
	const pid_t parent = getppid();
	int fd;

	/* a socket that was standard input when saker began */
	STEP(step, is_refused(ioctl(0, FIOSETOWN, &parent)));
	STEP(step + 1, is_refused(ioctl(0, TIOCSTI, "x")));
	STEP(step + 2, is_refused(ioctl(0, TIOCSETD, &parent)));
	STEP(step + 3, is_refused(fcntl(0, F_SETOWN, parent)));
	STEP(step + 4, is_refused(own_clone(CLONE_NEWUSER)));
	STEP(step + 5, is_refused(unshare(CLONE_NEWUSER)));
	STEP(step + 6, syscall(SYS_clone3, NULL, 0) < 0 && errno == ENOSYS);
	STEP(step + 7, syscall(SYS_openat2, -1, NULL, NULL, 0) < 0 && errno == ENOSYS);
	STEP(step + 8, is_refused(open(in_dir("program"), O_WRONLY | O_CREAT, 04755)));
	fd = open(in_dir("new"), O_WRONLY | O_CREAT, 0600);
	STEP(step + 9, fd >= 0 && is_refused(fchmod(fd, 06755)));
	STEP(step + 10, fchmod(fd, 0644) == 0 && close(fd) == 0);
	STEP(step + 11, is_refused(open(in_dir("new"), O_RDONLY | O_TRUNC)));
	STEP(step + 12, is_refused(creat(in_dir("new"), 0600)));
	STEP(step + 13, is_refused(setuid(1)));
	STEP(step + 14, is_refused(setresuid(1, 1, 1)));
	return 0;
}

static int few_calls(void)
{
	char *argv[] = {"true", NULL};
	const pid_t parent = getppid();
	int ends[2];

	if (confine_calls(0))
		return SKIPPED;
	STEP(1, is_refused(execv("/bin/true", argv)));
	STEP(2, is_refused(fork()));
	STEP(3, is_refused(syscall(SYS_vfork)));
	STEP(4, is_refused(socket(AF_UNIX, SOCK_STREAM, 0)));
	STEP(5, is_refused(socket(AF_INET, SOCK_STREAM, 0)));
	STEP(6, is_refused(socketpair(AF_UNIX, SOCK_STREAM, 0, ends)));
	STEP(7, is_refused(ptrace(PTRACE_ATTACH, parent, 0, 0)));
	STEP(8, is_refused(kill(parent, 0)));
	STEP(9, is_refused(kill(0, 0)));
	STEP(10, is_refused(syscall(SYS_tgkill, parent, parent, 0)));
	STEP(11, is_refused(syscall(SYS_bpf, 0, NULL, 0)));
	STEP(12, is_refused(syscall(SYS_io_uring_setup, 1, NULL)));
	STEP(13, is_refused(chmod(dir, 0777)));
	STEP(14, is_refused(rename(dir, "/tmp/x")));
	STEP(15, is_refused(syscall(SYS_prlimit64, parent, 0, NULL, NULL)));
	STEP(16, syscall(1000) < 0 && errno == ENOSYS);
	STEP(17, syscall(0x40000000 | SYS_getpid) < 0 && errno == ENOSYS);
	STEP(18, is_refused(ioctl(0, TCFLSH, TCIFLUSH)));
	return refused_always(20) ?: usual();
}

static int pipe_end; /* no terminal */

static int of_terminal(void)
{
	struct termios modes = {0};

	if (confine_calls(CONFINE_TERMINAL))
		return SKIPPED;
	STEP(1, tcgetattr(pipe_end, &modes) && errno == ENOTTY);
	STEP(2, tcsetattr(pipe_end, TCSANOW, &modes) && errno == ENOTTY);
	STEP(3, tcflush(pipe_end, TCIFLUSH) && errno == ENOTTY);
	return refused_always(20);
}

static void test_terminal(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	pipe_end = ends[0];
	check(of_terminal);
	close(ends[0]);
	close(ends[1]);
}

static void test_calls(void **state)
{
	(void)state;
	check(few_calls);
}

static void sealed(void)
{
	if (!seal_process())
		helper_send(HELPER_FD, "ok", 2, -1);
}

static int with_helpers(void)
{
	char *argv[] = {"true", NULL}, answer[2];
	struct helper h;
	int fd = -1;

	if (confine_calls(CONFINE_HELPERS | CONFINE_PATHS))
		return SKIPPED;
	STEP(1, is_refused(execv("/bin/true", argv)));
	STEP(2, is_refused(socket(AF_INET, SOCK_STREAM, 0)));
	STEP(3, helper_start(&h, sealed) == 0);
	STEP(4, helper_receive(h.fd, answer, sizeof(answer), &fd) == 2);
	helper_end(&h);
	STEP(5, mkdir(in_dir("made"), 0700) == 0 && rename(in_dir("made"), in_dir("named")) == 0);
	return refused_always(20) ?: usual();
}

static void test_helpers(void **state)
{
	(void)state;
	check(with_helpers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_files),  cmocka_unit_test(test_some_files),
		cmocka_unit_test(test_links),     cmocka_unit_test(test_link_of_other),
		cmocka_unit_test(test_all_reads), cmocka_unit_test(test_calls),
		cmocka_unit_test(test_helpers),   cmocka_unit_test(test_terminal),
	};
	char command[64];
	int failed;

	if (!mkdtemp(dir))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command) || failed;
}
