/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the iterator, from a file. */
#include "live/calls_under_way.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scap.h"
#include "shared/call_under_way.h"
#include "testing/test_main.h"

#define BEGIN_NS 1000

static char name[] = "what/it/waits/for";

/* A descriptor of @n rows, and of @more bytes. */
static int rows_fd(const struct call_under_way *rows, size_t n, size_t more)
{
	const int fd = memfd_create("rows", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, rows, n * sizeof(*rows)), n * sizeof(*rows));
	assert_int_equal(write(fd, rows, more), more);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static struct call_under_way open_of(pid_t pid, uint64_t at_ns)
{
	return (struct call_under_way){.at_ns = at_ns,
				       .tid = (uint32_t)pid,
				       .pid = (uint32_t)pid,
				       .nr = SYS_openat,
				       .flags = UNDER_WAY_F_SLEEPS,
				       .args = {(uint64_t)-100, (uintptr_t)name}};
}

static struct calls_under_way *read_all(const struct call_under_way *rows, size_t n)
{
	struct calls_under_way *s = NULL;
	const int fd = rows_fd(rows, n, 0);

	assert_int_equal(calls_under_way_read(&s, fd, BEGIN_NS), 0);
	close(fd);
	return s;
}

/* The name that the next record has. */
static struct scap_param next_name(struct calls_under_way *s, uint64_t at_ns)
{
	const struct rec_hdr *rec = calls_under_way_first(s);
	struct scap_params p;

	assert_non_null(rec);
	assert_int_equal(rec->evt.ts, at_ns);
	assert_int_equal(rec->flags, REC_F_RAW_ENTER | REC_F_BLOCKED);
	assert_int_equal(scap_evt_params(&rec->evt, &p), 0);
	assert_int_equal(p.n, 7);
	return p.v[6];
}

static void test_rows(void **state)
{
	enum { N = 1000 }; /* more than one read brings */
	struct call_under_way *rows = calloc(N, sizeof(*rows));
	struct calls_under_way *s;

	(void)state;
	assert_non_null(rows);
	for (size_t i = 0; i < N; i++)
		rows[i] = open_of(getpid(), i);
	s = read_all(rows, N);
	for (size_t i = 0; i < N; i++) {
		const struct scap_param v = next_name(s, i);

		assert_int_equal(v.len, sizeof(name));
		assert_string_equal(v.p, name);
		calls_under_way_pop(s);
	}
	assert_null(calls_under_way_first(s));
	calls_under_way_pop(s);
	assert_null(calls_under_way_first(s));
	calls_under_way_free(s);
	free(rows);
}

/* Calls that were entered after the rings began to be read are in the rings. */
static void test_what_is_in_the_rings(void **state)
{
	struct call_under_way rows[3] = {open_of(getpid(), 1), open_of(getpid(), 2),
					 open_of(getpid(), 3)};
	struct calls_under_way *s;

	(void)state;
	rows[0].enter_ns = BEGIN_NS;
	rows[1].enter_ns = BEGIN_NS - 1;
	rows[2].enter_ns = BEGIN_NS + 1;
	s = read_all(rows, 3);
	next_name(s, 2);
	calls_under_way_pop(s);
	assert_null(calls_under_way_first(s));
	calls_under_way_free(s);
}

/* A process that has ended loses only its own pointed-to values. */
static void test_gone(void **state)
{
	const pid_t pid = fork();
	struct call_under_way rows[3] = {open_of(getpid(), 1), open_of(pid, 2),
					 open_of(getpid(), 3)};
	struct calls_under_way *s;

	(void)state;
	if (!pid)
		_exit(0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	s = read_all(rows, 3);
	for (uint64_t i = 1; i <= 3; i++) {
		assert_int_equal(next_name(s, i).len, i == 2 ? 0 : sizeof(name));
		calls_under_way_pop(s);
	}
	calls_under_way_free(s);
}

static void test_nothing(void **state)
{
	struct calls_under_way *s = read_all(NULL, 0);

	(void)state;
	assert_null(calls_under_way_first(s));
	calls_under_way_free(s);
	calls_under_way_free(NULL);
}

static void test_errors(void **state)
{
	const struct call_under_way row = open_of(getpid(), 1);
	struct calls_under_way *s = (void *)&row;
	int fd = rows_fd(&row, 1, sizeof(row) / 2);

	(void)state;
	assert_int_equal(calls_under_way_read(&s, fd, BEGIN_NS), -EPROTO);
	close(fd);
	assert_int_equal(calls_under_way_read(&s, fd, BEGIN_NS), -EBADF);
	fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(calls_under_way_read(&s, fd, BEGIN_NS), -EISDIR);
	close(fd);
	assert_ptr_equal(s, &row);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),   cmocka_unit_test(test_what_is_in_the_rings),
		cmocka_unit_test(test_gone),   cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
