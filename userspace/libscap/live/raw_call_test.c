/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each kind of argument, of a call of this process. That the driver makes the same of all calls is
 * the business of enters_test.
 */
#include "live/raw_call.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "event/raw_enter.h"
#include "scap.h"
#include "shared/config.h"
#include "shared/convert.h"
#include "shared/events.h"
#include "testing/test_main.h"

#define N_ARGS 6
#define S 1000000000ull

static uint8_t record[RAW_CALL_MAX];

/* Parts of the record besides the arguments. */
static struct scap_params made;

static int make(uint16_t nr, uint16_t flags, const uint64_t args[N_ARGS], int known)
{
	struct remote_memory mem = {.pid = getpid(), .pagemap = -1};
	struct call_under_way row = {.at_ns = 5, .tid = 42, .cpu = 3, .nr = nr, .flags = flags};
	const struct rec_hdr *rec = (const void *)record;
	int len;

	memcpy(row.args, args, sizeof(row.args));
	memset(record, 0xff, sizeof(record));
	len = scap_raw_call(record, sizeof(record), &row, known ? &mem : NULL);
	remote_memory_close(&mem);
	if (len < 0)
		return len;
	assert_int_equal(len % 8, 0);
	assert_int_equal(rec->len, len);
	assert_int_equal(rec->evt.ts, 5);
	assert_int_equal(rec->evt.tid, 42);
	assert_int_equal(rec->cpu, 3);
	assert_int_equal(rec->nr, nr);
	assert_true(rec->flags & REC_F_RAW_ENTER);
	assert_true(rec->evt.len + offsetof(struct rec_hdr, evt) <= (size_t)len);
	assert_int_equal(scap_evt_params(&rec->evt, &made), 0);
	return len;
}

#define CALL(nr, ...) assert_true(make(nr, 0, (const uint64_t[N_ARGS]){__VA_ARGS__}, 1) > 0)
#define AT(p) ((uintptr_t)(p))

/* The parameter @i of those that pointers point to. */
static const struct scap_param *pointed(unsigned int i)
{
	assert_true(N_ARGS + i < made.n);
	return &made.v[N_ARGS + i];
}

static void is_bytes(unsigned int i, const void *bytes, size_t len)
{
	assert_int_equal(pointed(i)->len, len);
	assert_memory_equal(pointed(i)->p, bytes, len);
}

static void is_number(unsigned int i, uint64_t expected)
{
	uint64_t v;

	assert_int_equal(pointed(i)->len, sizeof(v));
	memcpy(&v, pointed(i)->p, sizeof(v));
	assert_int_equal(v, expected);
}

static void is_nothing(unsigned int i)
{
	assert_int_equal(pointed(i)->len, 0);
}

static void test_text(void **state)
{
	char name[] = "some/path", host[] = {'h', 'o', 's', 't'};

	(void)state;
	CALL(SYS_openat, (uint64_t)-100, AT(name), 0, 0);
	is_bytes(0, name, sizeof(name));
	CALL(SYS_openat, (uint64_t)-100, 0, 0, 0);
	is_nothing(0);
	CALL(SYS_sethostname, AT(host), sizeof(host));
	is_bytes(0, "host", 5);
	CALL(SYS_sethostname, AT(host), (uint64_t)-1);
	is_nothing(0);
}

static void test_addresses(void **state)
{
	struct sockaddr_un a = {AF_UNIX, "/run/x"};
	struct pollfd fds[ARG_POLLFDS_MAX + 4] = {{7, POLLIN, 0}, {8, POLLOUT, 0}};

	(void)state;
	CALL(SYS_connect, 3, AT(&a), sizeof(a));
	is_bytes(0, &a, sizeof(a));
	CALL(SYS_connect, 3, AT(&a), 3);
	is_bytes(0, &a, 3);
	CALL(SYS_connect, 3, AT(&a), (uint32_t)-1);
	is_nothing(0);
	CALL(SYS_poll, AT(fds), 2, (uint64_t)-1);
	is_bytes(0, fds, 2 * sizeof(*fds));
	CALL(SYS_poll, AT(fds), UINT64_MAX, (uint64_t)-1);
	is_bytes(0, fds, ARG_POLLFDS_MAX * sizeof(*fds));
	CALL(SYS_poll, 0, 2, (uint64_t)-1);
	is_nothing(0);
}

static void test_select(void **state)
{
	static const uint8_t expected[] = {
		2, 0,  3, 0, 0, 0, 0, 0, 0, 0,           PPM_POLLIN | PPM_POLLPRI,
		0, 70, 0, 0, 0, 0, 0, 0, 0, PPM_POLLOUT, 0};
	struct timeval timeout = {2, 5};
	fd_set in, out, pri;

	(void)state;
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_ZERO(&pri);
	FD_SET(3, &in);
	FD_SET(3, &pri);
	FD_SET(70, &out);
	FD_SET(90, &out); /* not looked at */
	CALL(SYS_select, 71, AT(&in), AT(&out), AT(&pri), AT(&timeout));
	is_number(0, 2 * S + 5000);
	is_bytes(1, expected, sizeof(expected));
	for (int fd = 0; fd < 100; fd++)
		FD_SET(fd, &in);
	CALL(SYS_select, INT32_MAX, AT(&in), 0, 0, 0);
	is_nothing(0);
	assert_int_equal(pointed(1)->len, 2 + 10 * ARG_POLLFDS_MAX);
	CALL(SYS_select, (uint64_t)-1, AT(&in), 0, 0, 0);
	is_bytes(1, "\0", 2);
}

static void test_sums(void **state)
{
	struct iovec v[ARG_IOVEC_MAX + 1];
	struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};

	(void)state;
	for (unsigned int i = 0; i <= ARG_IOVEC_MAX; i++)
		v[i] = (struct iovec){NULL, 10};
	CALL(SYS_writev, 1, AT(v), 3);
	is_number(0, 30);
	CALL(SYS_writev, 1, AT(v), UINT64_MAX);
	is_number(0, 10 * ARG_IOVEC_MAX);
	CALL(SYS_writev, 1, 0, 3);
	is_nothing(0);
	CALL(SYS_sendmsg, 1, AT(&m));
	is_number(0, 20);
	m.msg_iov = NULL;
	CALL(SYS_sendmsg, 1, AT(&m));
	is_nothing(0);
}

static void test_times(void **state)
{
	struct timespec t = {3, 7}, set[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
	const struct itimerval timer = {{1, 2}, {3, 4}};

	(void)state;
	CALL(SYS_nanosleep, AT(&t));
	is_number(0, 3 * S + 7);
	CALL(SYS_clock_nanosleep, 0, 0, AT(&t));
	is_number(0, 3 * S + 7);
	CALL(SYS_clock_settime, 0, AT(&t));
	is_number(0, 3 * S + 7);
	CALL(SYS_setitimer, 0, AT(&timer));
	is_number(0, S + 2000);
	is_number(1, 3 * S + 4000);
	CALL(SYS_utimensat, 3, 0, AT(set));
	is_number(made.n - N_ARGS - 2, ABSTIME_NOW);
	is_number(made.n - N_ARGS - 1, ABSTIME_OMIT);
}

static void test_numbers(void **state)
{
	uint64_t mask = 0x1234, offset = 77, how[3] = {0x80042, 0640, 1};
	struct {
		uint64_t *at;
		size_t size;
	} via = {&mask, sizeof(mask)};
	struct timespec t = {1, 0};
	int priority = -5;

	(void)state;
	CALL(SYS_ppoll, 0, 0, AT(&t), AT(&mask), 8);
	is_number(2, 0x1234);
	CALL(SYS_sendfile, 1, 2, AT(&offset), 9);
	is_number(0, 77);
	CALL(SYS_copy_file_range, 1, AT(&offset), 2, 0, 9);
	is_number(0, 77);
	CALL(SYS_sched_setparam, 1, AT(&priority));
	is_number(0, (uint64_t)-5);
	CALL(SYS_openat2, 3, AT("x"), AT(how), sizeof(how));
	is_number(made.n - N_ARGS - 3, convert_open_flags(0x80042));
	is_number(made.n - N_ARGS - 2, 0640);
	is_number(made.n - N_ARGS - 1, convert_openat2_resolve(1));
	CALL(SYS_pselect6, 0, 0, 0, 0, AT(&t), AT(&via));
	is_number(0, S);
	is_number(1, 0x1234);
	via.at = NULL;
	CALL(SYS_pselect6, 0, 0, 0, 0, AT(&t), AT(&via));
	is_nothing(1);
}

static void test_arrays(void **state)
{
	uint8_t bytes[ARG_ARRAY_MAX + 8];

	(void)state;
	memset(bytes, 'b', sizeof(bytes));
	CALL(SYS_setgroups, 3, AT(bytes));
	is_bytes(0, bytes, 12);
	CALL(SYS_setgroups, INT32_MAX, AT(bytes));
	is_bytes(0, bytes, ARG_ARRAY_MAX);
	CALL(SYS_setgroups, (uint64_t)-3, AT(bytes));
	is_nothing(0);
	CALL(SYS_fsetxattr, 3, AT("user.x"), AT(bytes), UINT64_MAX, 0);
	is_bytes(1, bytes, 80);
	CALL(SYS_semtimedop, 1, AT(bytes), 2, 0);
	is_bytes(0, bytes, 12);
}

/* Makes each call of the table with bad pointers only, with and without readable memory. */
static void test_bad_pointers(void **state)
{
	static const uint64_t bad[] = {
		0, 1, 4095, 1ull << 47, 0xffff888000000000, UINT64_MAX - 3, UINT64_MAX};
	static const uint8_t zeros[8];
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(page, MAP_FAILED);
	memset(page, 'x', 4096); /* text without an end, structures that are cut off */
	for (uint16_t nr = 0; nr < DRV_MAX_NR + 1; nr++)
		for (int ia32 = 0; ia32 <= UNDER_WAY_F_IA32; ia32 += UNDER_WAY_F_IA32) {
			for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
				const uint64_t a = bad[i], args[N_ARGS] = {a, a, a, a, a, a};

				assert_true(make(nr, ia32, args, 1) > 0);
				assert_true(make(nr, ia32, args, 0) > 0);
				/* Except for empty texts and empty lists. */
				for (unsigned int k = N_ARGS; k < made.n; k++)
					assert_true(made.v[k].len <= sizeof(zeros) &&
						    !memcmp(made.v[k].p, zeros, made.v[k].len));
			}
			for (unsigned int at = 4080; at < 4096; at += 5) {
				const uint64_t a = AT(page) + at, args[N_ARGS] = {a, a, a, a, a, a};

				assert_true(make(nr, ia32, args, 1) > 0);
			}
		}
	munmap(page, 4096);
}

/* The longest that there are: of each call, all at once. */
static void test_room(void **state)
{
	char *text = malloc(ARG_PATH_MAX);
	const uint64_t a = AT(text), args[N_ARGS] = {a, a, a, a, a, a};
	struct call_under_way row = {.nr = SYS_openat};

	(void)state;
	memset(text, 'x', ARG_PATH_MAX - 1);
	text[ARG_PATH_MAX - 1] = '\0';
	for (uint16_t nr = 0; nr < DRV_MAX_NR; nr++)
		assert_true(make(nr, 0, args, 1) > 0);
	assert_int_equal(scap_raw_call(record, RAW_CALL_MAX - 1, &row, NULL), -ENOSPC);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),   cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_select), cmocka_unit_test(test_sums),
		cmocka_unit_test(test_times),  cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_arrays), cmocka_unit_test(test_bad_pointers),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
