/* SPDX-License-Identifier: Apache-2.0 */
/* Tests where the unwind table of a file is searched if the file itself has hardly any. */
#include "testing/test_main.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unwind/unwind_files.h"

#define NO_PID 0x7ffffff0u /* no process has it: files are found by their names */

static char dir[] = "/tmp/unwind_files_test.XXXXXX";

static int sh(const char *cmd)
{
	char all[1024];

	snprintf(all, sizeof(all), "cd %s && { %s; } >log 2>&1", dir, cmd);
	return system(all);
}

/* A program without .eh_frame of its own, whose .debug_frame is in another file, and no build id.
 */
static int setup(void **state)
{
	char path[64];
	FILE *f;

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/x.c", dir);
	f = fopen(path, "w");
	if (!f)
		return -1;
	for (int i = 0; i < 40; i++)
		fprintf(f, "int f%d(int x) { volatile char a[%d]; a[0] = x; return a[0]; }\n", i,
			100 + i);
	fputs("int main(void) { return 0; }\n", f);
	fclose(f);
	return sh("gcc -O1 -g -fno-asynchronous-unwind-tables -fno-unwind-tables "
		  "-Wl,--build-id=none -o whole x.c && objcopy --only-keep-debug whole x.debug && "
		  "strip -o x whole && objcopy --add-gnu-debuglink=x.debug x && "
		  "cp x.debug good && mkdir -p app .debug "
		  "usr/lib/debug/app && cp x app && mv x.debug usr/lib/debug/app");
}

static int teardown(void **state)
{
	char cmd[64];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
	return system(cmd);
}

/* Bytes of the table of the file @path of the process @pid; @found is where we find it. */
static uint64_t table_sz(uint32_t pid, const char *path, const char *found)
{
	struct unwind_source src = {.pid = pid, .start = 0x1000, .end = 0x100000, .path = path};
	struct unwind_files *files;
	struct unwind_pool *pool;
	struct unwind_file *f;
	struct stat st;
	uint64_t n;

	assert_int_equal(stat(found, &st), 0);
	src.ino = st.st_ino;
	assert_int_equal(unwind_pool_new(&pool, -1, 8u << 20), 0);
	assert_int_equal(unwind_files_new(&files, pool), 0);
	assert_int_equal(unwind_file_get(files, &f, &src, 1), 0);
	assert_non_null(f);
	n = unwind_file_sz(f);
	unwind_file_put(f);
	unwind_files_free(files);
	unwind_pool_free(pool);
	return n;
}

/* The same of the program before it was taken apart. */
static uint64_t whole_sz(void)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/whole", dir);
	return table_sz(NO_PID, path, path);
}

static void test_debug_link(void **state)
{
	char path[64];
	uint64_t none;

	(void)state;
	snprintf(path, sizeof(path), "%s/x", dir);
	none = table_sz(NO_PID, path, path);
	assert_true(none + 20 * sizeof(struct unwind_row) < whole_sz());
	assert_int_equal(sh("cp good x.debug"), 0);
	assert_int_equal(table_sz(NO_PID, path, path), whole_sz());
	/* Bytes that are not those that the link is about. */
	assert_int_equal(sh("printf x >>x.debug"), 0);
	assert_int_equal(table_sz(NO_PID, path, path), none);
	assert_int_equal(sh("cp good .debug/x.debug"), 0);
	assert_int_equal(table_sz(NO_PID, path, path), whole_sz());
	assert_int_equal(sh("rm x.debug .debug/x.debug"), 0);
}

/* As in a container: the process's root has the folder of debug files, ours has not. */
static void test_in_its_root(void **state)
{
	char found[64], byte = 0;
	int ready[2], status;
	pid_t pid;

	(void)state;
	snprintf(found, sizeof(found), "%s/app/x", dir);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ready[0]);
		byte = chroot(dir) == 0;
		if (write(ready[1], &byte, 1) == 1)
			pause();
		_exit(0);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	if (byte)
		assert_int_equal(table_sz((uint32_t)pid, "/app/x", found), whole_sz());
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!byte)
		skip(); /* another root requires privileges */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_debug_link),
		cmocka_unit_test(test_in_its_root),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
