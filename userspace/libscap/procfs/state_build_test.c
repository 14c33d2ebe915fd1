/* SPDX-License-Identifier: Apache-2.0 */
#include "procfs/state_build.h"

#include <stdio.h>
#include <string.h>

#include "testing/test_main.h"

static void test_empty(void **state)
{
	struct scap_state_build *b = scap_state_build_new();
	const struct scap_state *s = scap_state_build_done(b);

	(void)state;
	assert_int_equal(s->n_threads, 0);
	assert_int_equal(s->n_users, 0);
	scap_state_build_free(b);
	scap_state_build_free(NULL);
}

/* Given texts may be freed as soon as the call returns. */
static void test_everything_is_copied(void **state)
{
	struct scap_state_build *b = scap_state_build_new();
	char comm[] = "cat", args[] = "-n\0/etc/hosts", name[] = "root";
	struct scap_thread_info t = {
		.tid = 7, .comm = comm, .args = {args, sizeof(args)}, .env = {NULL, 0}};
	struct scap_user u = {.uid = 0, .name = name};
	const struct scap_state *s;

	(void)state;
	assert_int_equal(scap_state_build_thread(b, &t), 0);
	assert_int_equal(scap_state_build_user(b, &u), 0);
	memset(comm, 'x', sizeof(comm));
	memset(args, 'x', sizeof(args));
	memset(name, 'x', sizeof(name));
	s = scap_state_build_done(b);
	assert_string_equal(s->threads[0].comm, "cat");
	assert_string_equal(s->threads[0].cwd, "");
	assert_int_equal(s->threads[0].args.len, sizeof(args));
	assert_memory_equal(s->threads[0].args.p, "-n\0/etc/hosts", sizeof(args));
	assert_non_null(s->threads[0].env.p);
	assert_int_equal(s->threads[0].env.len, 0);
	assert_string_equal(s->users[0].name, "root");
	assert_string_equal(s->users[0].shell, "");
	scap_state_build_free(b);
}

static void add_fd(struct scap_state_build *b, uint64_t tid, int64_t fd, const char *name)
{
	struct scap_fd_info info = {.fd = fd, .type = SCAP_FD_FILE_V2, .name = name};

	assert_int_equal(scap_state_build_fd(b, tid, &info), 0);
}

static void test_files_find_their_threads(void **state)
{
	struct scap_state_build *b = scap_state_build_new();
	struct scap_thread_info t1 = {.tid = 20}, t2 = {.tid = 10}, none = {.tid = 15};
	const struct scap_state *s;

	(void)state;
	add_fd(b, 20, 1, "/b"); /* before its thread */
	scap_state_build_thread(b, &t1);
	scap_state_build_thread(b, &none);
	scap_state_build_thread(b, &t2);
	add_fd(b, 10, 0, "/a");
	add_fd(b, 99, 0, "/nobody's");
	add_fd(b, 20, 0, "/c");
	s = scap_state_build_done(b);
	assert_int_equal(s->n_threads, 3);
	assert_int_equal(s->threads[0].n_fds, 2);
	assert_string_equal(s->threads[0].fds[0].name, "/b");
	assert_string_equal(s->threads[0].fds[1].name, "/c");
	assert_int_equal(s->threads[1].n_fds, 0);
	assert_int_equal(s->threads[2].n_fds, 1);
	assert_string_equal(s->threads[2].fds[0].name, "/a");
	scap_state_build_free(b);
}

static void test_files_of_a_repeated_tid(void **state)
{
	struct scap_state_build *b = scap_state_build_new();
	struct scap_thread_info t = {.tid = 7};
	const struct scap_state *s;

	(void)state;
	for (int i = 0; i < 3; i++)
		scap_state_build_thread(b, &t);
	add_fd(b, 7, 0, "/a");
	add_fd(b, 7, 1, "/b");
	scap_state_build_done(b);
	s = scap_state_build_done(b);
	assert_int_equal(s->n_threads, 3);
	assert_int_equal(s->threads[0].n_fds, 2);
	assert_int_equal(s->threads[1].n_fds, 0);
	assert_int_equal(s->threads[2].n_fds, 0);
	scap_state_build_free(b);
}

/* done() may be called several times, with entries added in between. */
static void test_growth(void **state)
{
	struct scap_state_build *b = scap_state_build_new();
	const struct scap_state *s = NULL;
	static char env[300 * 1024]; /* larger than a chunk of the arena */
	char comm[16];

	(void)state;
	memset(env, 'e', sizeof(env));
	for (unsigned int i = 0; i < 1000; i++) {
		struct scap_thread_info t = {.tid = i, .comm = comm};

		if (i % 250 == 0)
			t.env = (struct scap_text){env, sizeof(env)};
		snprintf(comm, sizeof(comm), "t%u", i);
		assert_int_equal(scap_state_build_thread(b, &t), 0);
		add_fd(b, i, 0, comm);
		if (i % 100 == 99)
			s = scap_state_build_done(b);
	}
	assert_int_equal(s->n_threads, 1000);
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(comm, sizeof(comm), "t%u", i);
		assert_string_equal(s->threads[i].comm, comm);
		assert_int_equal(s->threads[i].n_fds, 1);
		assert_string_equal(s->threads[i].fds[0].name, comm);
	}
	assert_int_equal(s->threads[750].env.len, sizeof(env));
	assert_int_equal(s->threads[750].env.p[sizeof(env)], '\0');
	scap_state_build_free(b);
}

static void test_the_rest(void **state)
{
	struct scap_state_build *b = scap_state_build_new();
	struct scap_machine m = {.n_cpus = 4};
	struct scap_group g = {.gid = 5, .name = "tty"};
	struct scap_iface i = {.name = "lo", .addr = {127, 0, 0, 1}};
	const struct scap_state *s;

	(void)state;
	memset(m.hostname, 'h', sizeof(m.hostname));
	assert_int_equal(scap_state_build_machine(b, &m), 0);
	assert_int_equal(scap_state_build_group(b, &g), 0);
	assert_int_equal(scap_state_build_iface(b, &i), 0);
	s = scap_state_build_done(b);
	assert_int_equal(s->machine.n_cpus, 4);
	assert_int_equal(strlen(s->machine.hostname), sizeof(m.hostname) - 1);
	assert_string_equal(s->groups[0].name, "tty");
	assert_string_equal(s->ifaces[0].name, "lo");
	scap_state_build_free(b);
}

static void add_thread(struct scap_state_build *b, uint64_t pid, uint64_t tid, const char *comm)
{
	struct scap_thread_info t = {.pid = pid, .tid = tid, .comm = comm};

	assert_int_equal(scap_state_build_thread(b, &t), 0);
}

/* State that was built beside it is complete, with its texts, when the other one is freed. */
static void test_join(void **state)
{
	static const uint64_t tids[] = {1, 2, 21, 3, 4};
	struct scap_state_build *b = scap_state_build_new(), *from = scap_state_build_new();
	const struct scap_state *s;

	(void)state;
	add_thread(b, 1, 1, "one");
	add_fd(b, 1, 0, "of one");
	add_thread(b, 3, 3, "three");
	add_thread(from, 2, 2, "two");
	add_thread(from, 2, 21, "two");
	add_thread(from, 4, 4, "four");
	add_fd(from, 2, 0, "of two");
	add_fd(from, 2, 1, "also of two");
	assert_int_equal(scap_state_build_join(b, from), 0);
	scap_state_build_free(from);
	s = scap_state_build_done(b);
	assert_int_equal(s->n_threads, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(s->threads[i].tid, tids[i]);
	assert_string_equal(s->threads[2].comm, "two");
	assert_string_equal(s->threads[4].comm, "four");
	assert_int_equal(s->threads[0].n_fds, 1);
	assert_int_equal(s->threads[1].n_fds, 2);
	assert_string_equal(s->threads[1].fds[1].name, "also of two");
	assert_int_equal(s->threads[3].n_fds, 0);
	scap_state_build_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_everything_is_copied),
		cmocka_unit_test(test_files_find_their_threads),
		cmocka_unit_test(test_files_of_a_repeated_tid),
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
