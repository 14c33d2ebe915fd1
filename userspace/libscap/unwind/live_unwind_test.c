// SPDX-License-Identifier: Apache-2.0
/* Tests which processes are followed, against a family of this test. */
#include "unwind/live_unwind.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "testing/test_main.h"

enum { CHILDREN = 100, WAIT_MS = 10000 };

struct family {
	pid_t parent;
	int begin; /* closed: each child forks */
};

static _Noreturn void run_child(const int *begin, int ready)
{
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(begin[1]);
	if (write(ready, "", 1) != 1 || read(begin[0], &c, 1))
		_exit(1);
	if (!fork())
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

/* Leads the process group of the family. */
static _Noreturn void run_parent(const int *begin, int ready)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	for (int i = 0; i < CHILDREN; i++)
		if (!fork())
			run_child(begin, ready);
	close(begin[1]);
	for (;;)
		pause();
}

static int start(void **state)
{
	static struct family f;
	int begin[2], ready[2];
	char c;

	if (pipe(begin) || pipe(ready))
		return -1;
	f.parent = fork();
	if (!f.parent)
		run_parent(begin, ready[1]);
	setpgid(f.parent, 0);
	close(begin[0]);
	close(ready[1]);
	f.begin = begin[1];
	*state = &f;
	for (int i = 0; i < CHILDREN; i++)
		if (read(ready[0], &c, 1) != 1)
			return -1;
	close(ready[0]);
	return 0;
}

/* A process whose parent is gone when it asks for PDEATHSIG never gets it: the group does. */
static int end(void **state)
{
	const struct family *f = *state;

	kill(-f->parent, SIGKILL);
	return waitpid(f->parent, NULL, 0) == f->parent ? 0 : -1;
}

/* Children fork while they wait for their turn to be read. */
static void descendants_of_processes_that_were_not_read_yet(void **state)
{
	const struct family *f = *state;
	const struct live_unwind_maps maps = {-1, -1, -1, -1};
	const struct live_unwind_opts opts = {
		.chosen = {&f->parent, 1, .only = 1, .descendants = 1}};
	const struct timespec pause = {.tv_nsec = 1000000};
	struct scap_unwind_stats st = {0};
	struct live_unwind *u;
	const int err = live_unwind_open(&u, &maps, &opts, &(struct scap_log){0});

	if (err == -EPERM || err == -EACCES)
		skip();
	assert_int_equal(err, 0);
	close(f->begin);
	for (int i = 0; i < WAIT_MS && st.n_processes < 1 + 2 * CHILDREN; i++) {
		nanosleep(&pause, NULL);
		live_unwind_settle(u, WAIT_MS);
		live_unwind_stats(u, &st);
	}
	assert_int_equal(st.n_processes, 1 + 2 * CHILDREN);
	live_unwind_close(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(descendants_of_processes_that_were_not_read_yet),
	};

	return cmocka_run_group_tests(tests, start, end);
}
