/* SPDX-License-Identifier: Apache-2.0 */
/* Where saker writes as root: through links of its own, never to what others put in the way. */
#include "file/open_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "testing/test_main.h"

enum { OTHER = 65534 };

/* A folder that everybody may write to, as /tmp, and one of our own, which is the directory. */
struct places {
	char own[32], shared[32];
};

static struct places begin(void)
{
	struct places p = {"/tmp/saker-own-XXXXXX", "/tmp/saker-shared-XXXXXX"};

	assert_non_null(mkdtemp(p.own));
	assert_non_null(mkdtemp(p.shared));
	assert_int_equal(chmod(p.shared, 0777), 0);
	assert_int_equal(chdir(p.own), 0);
	return p;
}

static void end(struct places *p)
{
	char command[128];

	assert_int_equal(chdir("/"), 0);
	snprintf(command, sizeof(command), "rm -r %s %s", p->own, p->shared);
	assert_int_equal(system(command), 0);
}

static const char *in_shared(const struct places *p, const char *name)
{
	static char path[2][128];
	static int i;

	i = !i;
	snprintf(path[i], sizeof(path[i]), "%s/%s", p->shared, name);
	return path[i];
}

static void make_file(const char *path, uid_t owner)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	assert_int_equal(write(fd, "old", 3), 3);
	assert_int_equal(fchown(fd, owner, owner), 0);
	close(fd);
}

static void make_link(const char *to, const char *path, uid_t owner)
{
	assert_int_equal(symlink(to, path), 0);
	assert_int_equal(lchown(path, owner, owner), 0);
}

static void assert_size(const char *path, off_t size)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, size);
}

static void opens(const char *path)
{
	const int fd = scap_open_output(path, O_TRUNC, 0600);

	assert_in_range(fd, 3, 1000);
	assert_int_equal(write(fd, "new content", 11), 11);
	close(fd);
	assert_size(path, 11);
}

static void refuses(const char *path, int err)
{
	assert_int_equal(scap_open_output(path, O_TRUNC, 0600), err);
	if (err == -EACCES)
		assert_non_null(
			strstr(scap_open_output_error(path, err), "belongs to another user"));
	else
		assert_string_equal(scap_open_output_error(path, err), strerror(-err));
}

static void test_links_of_our_own(void **state)
{
	struct places p = begin();
	struct stat st;

	(void)state;
	make_file("file", 0);
	make_link("file", "link", 0);
	make_link("../../tmp/../proc/self/cwd/link", "to_link", 0);
	opens("link");
	opens("to_link");
	make_link("not_there", "to_nothing", 0);
	opens("to_nothing");
	assert_int_equal(stat("not_there", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	make_link("loop", "loop", 0);
	refuses("loop", -ELOOP);
	make_link("/no_such_folder/x", "nowhere", 0);
	refuses("nowhere", -ENOENT);
	make_link("/dev/null", "null", 0);
	assert_in_range(scap_open_output("null", O_TRUNC, 0600), 3, 1000);
	end(&p);
}

/* Standard output may be anybody's: the one who started saker chose it. */
static void test_descriptors(void **state)
{
	struct places p = begin();
	int pipes[2], fd;
	char path[64];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", pipes[1]);
	fd = scap_open_output(path, O_TRUNC, 0600);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	make_file(in_shared(&p, "theirs"), OTHER);
	fd = open(in_shared(&p, "theirs"), O_WRONLY);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	opens(path);
	close(fd);
	close(pipes[0]);
	close(pipes[1]);
	end(&p);
}

static void test_what_others_put_there(void **state)
{
	struct places p = begin();

	(void)state;
	if (geteuid()) {
		end(&p);
		skip(); /* needs root, to make files of others */
	}
	make_file("file", 0);
	make_file(in_shared(&p, "theirs"), OTHER);
	make_link("file", "link_of_other", OTHER);
	refuses("link_of_other", -EACCES);
	refuses(in_shared(&p, "theirs"), -EACCES);
	/* A link of our own does not make it better. */
	make_link(in_shared(&p, "theirs"), "own_link", 0);
	refuses("own_link", -EACCES);
	make_link("link_of_other", "own_link_to_theirs", 0);
	refuses("own_link_to_theirs", -EACCES);
	assert_int_equal(mkfifo(in_shared(&p, "pipe"), 0666), 0);
	assert_int_equal(chown(in_shared(&p, "pipe"), OTHER, OTHER), 0);
	make_link(in_shared(&p, "pipe"), "own_link_to_pipe", 0);
	refuses("own_link_to_pipe", -EACCES);
	assert_int_equal(link("file", in_shared(&p, "hard_link")), 0);
	refuses(in_shared(&p, "hard_link"), -EACCES);
	assert_size("file", 3);
	assert_size(in_shared(&p, "theirs"), 3);
	opens("file"); /* the same file, in our own folder */
	/* A file in its owner's folder is no trap: -o may be the file of a user who is helped. */
	assert_int_equal(mkdir("theirs", 0755), 0);
	assert_int_equal(chown("theirs", OTHER, OTHER), 0);
	make_file("theirs/file", OTHER);
	opens("theirs/file");
	end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links_of_our_own),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_what_others_put_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
