/* SPDX-License-Identifier: Apache-2.0 */
/* Paths that other processes chose: only regular files are opened, and a file system that never
 * answers blocks nothing. */
#include "testing/test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "objfile/fuse_server_test.h"
#include "objfile/helper_process.h"
#include "objfile/open_in_root.h"

#define DEADLINE_S 30

static char dir[] = "/tmp/saker_open.XXXXXX";
static struct fuse_server server;
static int has_server;

static const char *in_dir(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static int begin(void **state)
{
	int fd;

	(void)state;
	/* First: helpers stay in the mount namespace that they began in. */
	has_server = !geteuid() && !fuse_server_start(&server);
	if (!mkdtemp(dir))
		return -1;
	fd = open(in_dir("file"), O_WRONLY | O_CREAT, 0600);
	return fd < 0 || write(fd, "text\n", 5) != 5 || close(fd) || mkfifo(in_dir("fifo"), 0600) ||
	       symlink("fifo", in_dir("link")) || symlink("/etc/passwd", in_dir("out"));
}

static int end(void **state)
{
	static const char *const names[] = {"file", "fifo", "link", "out"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(in_dir(names[i]));
	fuse_server_end(&server);
	return rmdir(dir);
}

static void test_file(void **state)
{
	struct stat st, own;
	char text[8];
	int fd;

	(void)state;
	assert_int_equal(stat(in_dir("file"), &own), 0);
	fd = open_in_root(NULL, in_dir("file"), &st);
	assert_true(fd >= 0);
	assert_int_equal(st.st_ino, own.st_ino);
	assert_int_equal(pread(fd, text, sizeof(text), 0), 5);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	fd = open_in_root(dir, "/file", &st);
	assert_true(fd >= 0);
	assert_int_equal(st.st_ino, own.st_ino);
	close(fd);
	assert_int_equal(open_in_root(dir, "/out", NULL), -ENOENT); /* it leads out of the root */
	assert_int_equal(open_in_root(NULL, in_dir("none"), NULL), -ENOENT);
}

/* Opening a device or a FIFO may have side effects: neither is opened (inotify would report it). */
static void test_what_is_no_file(void **state)
{
	const int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	char event[4096];

	(void)state;
	assert_true(inotify_add_watch(watch, dir, IN_OPEN) >= 0);
	assert_int_equal(open_in_root(NULL, in_dir("fifo"), NULL), -EINVAL);
	assert_int_equal(open_in_root(NULL, in_dir("link"), NULL), -EINVAL);
	assert_int_equal(open_in_root(dir, "/link", NULL), -EINVAL);
	assert_int_equal(read(watch, event, sizeof(event)), -1);
	close(watch);
	assert_int_equal(open_in_root(NULL, "/dev/null", NULL), -EINVAL);
	assert_int_equal(open_in_root(NULL, "/tmp", NULL), -EINVAL);
	/* Files of the kernel: to read /proc/kmsg or trace_pipe takes what others wait for. */
	assert_int_equal(open_in_root(NULL, "/proc/self/status", NULL), -EINVAL);
	assert_int_equal(open_in_root(NULL, "/sys/kernel/uevent_seqnum", NULL), -EINVAL);
}

static const char *served(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", server.dir, name);
	return path;
}

/* A descriptor of the file itself could not even be closed. */
static void expect_copy(const char *name)
{
	struct stat st, own;
	char text[64];
	const int fd = open_in_root(NULL, served(name), &st);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &own), 0);
	assert_true(own.st_dev != st.st_dev);
	assert_int_equal(st.st_mtime, 12345);
	assert_int_equal(own.st_size, sizeof(FUSE_TEST_TEXT) - 1);
	assert_int_equal(pread(fd, text, sizeof(text), 0), own.st_size);
	assert_memory_equal(text, FUSE_TEST_TEXT, own.st_size);
	assert_int_equal(pwrite(fd, "x", 1, 0), -1);
	close(fd);
}

/* Whoever ends while a helper hangs is not held up by it. */
static void expect_end(void)
{
	const pid_t pid = fork();
	int status, ended = 0;

	if (!pid)
		_exit(open_in_root(NULL, served("d90/lookup"), NULL) == -ETIMEDOUT ? 0 : 1);
	for (time_t until = time(NULL) + DEADLINE_S; !ended && time(NULL) < until;) {
		ended = waitpid(pid, &status, WNOHANG) == pid;
		usleep(1000);
	}
	assert_true(ended);
	assert_int_equal(status, 0);
}

static void expect_late(const char *name)
{
	struct scap_open_stats before, after;

	scap_open_stats(&before);
	assert_int_equal(open_in_root(NULL, served(name), NULL), -ETIMEDOUT);
	scap_open_stats(&after);
	assert_int_equal(after.n_late, before.n_late + 1);
	/* Others at that place are not even tried. */
	assert_int_equal(open_in_root(NULL, served(name), NULL), -ETIMEDOUT);
	scap_open_stats(&after);
	assert_int_equal(after.n_late, before.n_late + 1);
	assert_int_equal(after.n_refused, before.n_refused + 1);
}

static void test_server_that_never_answers(void **state)
{
	struct scap_open_stats st;
	char name[32];
	int fd;

	(void)state;
	if (!has_server) {
		print_message("skipped: no file system can be mounted here\n");
		skip();
	}
	expect_copy("file");
	expect_end();
	expect_late("d0/lookup");
	expect_late("d1/open");
	expect_late("d2/read");
	expect_copy("d3/file"); /* elsewhere files are still opened */
	for (unsigned int i = 3; i < HELPERS_HUNG_MAX; i++) {
		snprintf(name, sizeof(name), "d%u/lookup", i);
		expect_late(name);
	}
	scap_open_stats(&st);
	assert_int_equal(st.n_hung, HELPERS_HUNG_MAX);
	/* The ninth finds the helpers that are there, and then none. */
	fd = open_in_root(NULL, in_dir("file"), NULL);
	assert_true(fd >= 0 || fd == -EBUSY);
	if (fd >= 0)
		close(fd);
	scap_open_stats(&st);
	assert_int_equal(st.n_hung, HELPERS_HUNG_MAX);
	fuse_server_end(&server);
	for (time_t until = time(NULL) + DEADLINE_S; st.n_hung && time(NULL) < until;)
		scap_open_stats(&st);
	assert_int_equal(st.n_hung, 0);
	fd = open_in_root(NULL, in_dir("file"), NULL);
	assert_true(fd >= 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_what_is_no_file),
		cmocka_unit_test(test_server_that_never_answers),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
