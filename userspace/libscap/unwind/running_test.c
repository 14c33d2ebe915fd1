// SPDX-License-Identifier: Apache-2.0
/* Tests which processes are listed, against a family of this test. */
#include "unwind/running.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing/test_main.h"

struct family {
	pid_t child, grandchild;
};

static int start(void **state)
{
	static struct family f;
	int ends[2];

	if (pipe(ends))
		return -1;
	f.child = fork();
	if (!f.child) {
		const pid_t pid = fork();

		if (pid && write(ends[1], &pid, sizeof(pid)) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	*state = &f;
	return read(ends[0], &f.grandchild, sizeof(f.grandchild)) == sizeof(f.grandchild) ? 0 : -1;
}

static int end(void **state)
{
	const struct family *f = *state;

	kill(f->grandchild, SIGKILL);
	kill(f->child, SIGKILL);
	return waitpid(f->child, NULL, 0) == f->child ? 0 : -1;
}

static size_t place_of(const struct running *v, size_t n, pid_t pid)
{
	size_t i = 0;

	while (i < n && v[i].pid != (uint32_t)pid)
		i++;
	return i;
}

static void all_processes_with_the_chosen_first(void **state)
{
	const struct family *f = *state;
	struct running *v;
	const size_t n = running_list(&v, &(struct chosen_procs){(const int32_t *)&f->child, 1});

	assert_int_equal(place_of(v, n, f->child), 0);
	assert_in_range(place_of(v, n, f->grandchild), 1, n - 1);
	assert_in_range(place_of(v, n, getpid()), 1, n - 1);
	assert_int_equal(v[0].parent, getpid());
	for (size_t i = 2; i < n; i++)
		assert_true(v[i - 1].cpu >= v[i].cpu);
	free(v);
}

static void only_the_chosen(void **state)
{
	const struct family *f = *state;
	struct chosen_procs c = {(const int32_t *)&f->child, 1, .only = 1};
	struct running *v;

	assert_int_equal(running_list(&v, &c), 1);
	assert_int_equal(v[0].pid, f->child);
	free(v);
	c.descendants = 1;
	assert_int_equal(running_list(&v, &c), 2);
	assert_int_equal(place_of(v, 2, f->child) + place_of(v, 2, f->grandchild), 1);
	free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_processes_with_the_chosen_first),
		cmocka_unit_test(only_the_chosen),
	};

	return cmocka_run_group_tests(tests, start, end);
}
