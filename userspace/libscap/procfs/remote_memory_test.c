/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a child, and what it may do to be a nuisance. */
#include "procfs/remote_memory.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing/test_main.h"

#define PAGE 4096u
#define N_PAGES 4u

/* Pages of both children: 0 and 1 in RAM, 2 never touched, 3 in RAM. */
static uint8_t *pages;

static pid_t begin_child(uint8_t fill)
{
	int ready[2];
	char b;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (unsigned int i = 0; i < N_PAGES; i++)
			if (i != 2)
				memset(pages + i * PAGE, fill + (int)i, PAGE);
		if (write(ready[1], "r", 1) == 1)
			pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &b, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static int setup(void **state)
{
	(void)state;
	pages = mmap(NULL, N_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (pages == MAP_FAILED)
		return -1;
	madvise(pages, N_PAGES * PAGE,
		MADV_NOHUGEPAGE); /* fails where the kernel has no large ones */
	return 0;
}

static size_t read_at(struct remote_memory *m, uint8_t *buf, uint64_t addr, size_t len)
{
	memset(buf, 0xee, N_PAGES * PAGE);
	return remote_memory_read(m, buf, addr, len);
}

static void test_pages(void **state)
{
	static uint8_t buf[N_PAGES * PAGE];
	const uint64_t at = (uintptr_t)pages;
	struct remote_memory m = {.pid = begin_child('a'), .pagemap = -1};

	(void)state;
	assert_int_equal(read_at(&m, buf, at + 10, 20), 20);
	assert_int_equal(buf[0], 'a');
	assert_int_equal(buf[19], 'a');
	assert_int_equal(buf[20], 0xee);
	assert_int_equal(read_at(&m, buf, at + PAGE - 1, 2), 2);
	assert_memory_equal(buf, "ab", 2);
	/* Up to the page that is not there: nothing brings it in. */
	assert_int_equal(read_at(&m, buf, at, sizeof(buf)), 2 * PAGE);
	assert_int_equal(buf[2 * PAGE - 1], 'b');
	assert_int_equal(buf[2 * PAGE], 0xee);
	assert_int_equal(read_at(&m, buf, at + 2 * PAGE, 8), 0);
	assert_int_equal(read_at(&m, buf, at + 3 * PAGE, 8), 8);
	assert_int_equal(buf[0], 'd');
	assert_int_equal(read_at(&m, buf, at, 0), 0);
	end_child(m.pid);
	remote_memory_close(&m);
}

static void test_hostile_addresses(void **state)
{
	static uint8_t buf[N_PAGES * PAGE];
	static const uint64_t bad[] = {0,
				       1,
				       PAGE - 1,
				       (1ull << 47) - PAGE,
				       1ull << 47,
				       1ull << 63,
				       0xffffffffff600000,
				       0xffff888000000000,
				       UINT64_MAX - PAGE,
				       UINT64_MAX - 1,
				       UINT64_MAX};
	static const size_t lens[] = {1, 8, PAGE, 2 * PAGE, sizeof(buf)};
	struct remote_memory m = {.pid = begin_child('a'), .pagemap = -1};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		for (size_t k = 0; k < sizeof(lens) / sizeof(*lens); k++) {
			assert_int_equal(read_at(&m, buf, bad[i], lens[k]), 0);
			assert_int_equal(buf[0], 0xee);
		}
	/* A length larger than any memory ends with the last page. */
	assert_int_equal(read_at(&m, buf, (uintptr_t)pages, SIZE_MAX), 2 * PAGE);
	end_child(m.pid);
	remote_memory_close(&m);
}

static unsigned int n_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void test_one_after_the_other(void **state)
{
	uint8_t buf[N_PAGES * PAGE];
	const pid_t a = begin_child('a'), b = begin_child('p');
	const unsigned int n_before = n_descriptors();
	struct remote_memory m = {.pagemap = -1};

	(void)state;
	assert_int_equal(read_at(&m, buf, (uintptr_t)pages, 1), 0);
	for (int i = 0; i < 3; i++) {
		remote_memory_of(&m, a);
		assert_int_equal(read_at(&m, buf, (uintptr_t)pages, 1), 1);
		assert_int_equal(buf[0], 'a');
		remote_memory_of(&m, b);
		remote_memory_of(&m, b);
		assert_int_equal(read_at(&m, buf, (uintptr_t)pages, 1), 1);
		assert_int_equal(buf[0], 'p');
	}
	assert_true(n_descriptors() <= n_before + 1);
	end_child(b); /* while it is looked at */
	assert_int_equal(read_at(&m, buf, (uintptr_t)pages, 1), 0);
	end_child(a);
	remote_memory_of(&m, a); /* when it is over */
	assert_int_equal(read_at(&m, buf, (uintptr_t)pages, 1), 0);
	remote_memory_close(&m);
	assert_int_equal(n_descriptors(), n_before);
}

/* ---- a page that goes away for ever ---- */

enum { AT = 3 }; /* the page */

/* Gives the page and takes it away in turn, until somebody waits for it: that one never gets it. */
static void hold(uint8_t *mem)
{
	static uint8_t page[PAGE] __attribute__((aligned(PAGE)));
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg = {.range = {(uintptr_t)mem, N_PAGES * PAGE},
				      .mode = UFFDIO_REGISTER_MODE_MISSING};
	struct pollfd p = {.fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK),
			   .events = POLLIN};
	const uint64_t at = (uintptr_t)mem + AT * PAGE;

	memset(mem, 'x', N_PAGES * PAGE);
	if (p.fd < 0 || ioctl(p.fd, UFFDIO_API, &api) || ioctl(p.fd, UFFDIO_REGISTER, &reg))
		_exit(1);
	for (;;) {
		struct uffdio_copy copy = {.dst = at, .src = (uintptr_t)page, .len = PAGE};

		madvise((void *)at, PAGE, MADV_DONTNEED);
		for (volatile int k = 0; k < 500; k++)
			;
		if (poll(&p, 1, 0) > 0)
			pause();
		ioctl(p.fd, UFFDIO_COPY, &copy);
	}
}

static int waits_for_page(void)
{
	char path[300], text[64] = "";
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *e;
	int waits = 0;

	while ((e = readdir(dir))) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%s/wchan", e->d_name);
		f = fopen(path, "r");
		if (f && fgets(text, sizeof(text), f))
			waits |= strstr(text, "userfault") != NULL;
		if (f)
			fclose(f);
	}
	closedir(dir);
	return waits;
}

/* The caller goes on, and reads others; the thread ends when the process does. */
static void test_held_page(void **state)
{
	static uint8_t buf[N_PAGES * PAGE];
	const uint64_t at = (uintptr_t)pages;
	pid_t holder, other;
	int status;

	(void)state;
	other = begin_child('a');
	holder = fork();
	if (!holder) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		hold(pages);
	}
	alarm(100);
	while (!waits_for_page()) {
		remote_memory_read_within(holder, buf, at, N_PAGES * PAGE);
		if (waitpid(holder, &status, WNOHANG) == holder) {
			end_child(other);
			skip(); /* no userfaultfd for this user */
		}
	}
	assert_int_equal(remote_memory_read_within(other, buf, at, 2 * PAGE), 2 * PAGE);
	assert_int_equal(buf[PAGE], 'b');
	end_child(holder);
	end_child(other);
	while (waits_for_page())
		;
	alarm(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages),
		cmocka_unit_test(test_hostile_addresses),
		cmocka_unit_test(test_one_after_the_other),
		cmocka_unit_test(test_held_page),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
