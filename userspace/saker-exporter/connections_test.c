/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlines of connections: only a complete response gives more time. */
#include "connections.h"

#include <sys/socket.h>
#include <unistd.h>

#include "testing/test_main.h"

static int is_shut(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_DONTWAIT) == 0;
}

static void test_deadline(void **state)
{
	struct connections cs;
	struct connection *a, *b;
	int x[2], y[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, x), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, y), 0);
	connections_init(&cs);
	a = connections_add(&cs, x[0], 1);
	b = connections_add(&cs, y[0], 1);
	assert_int_equal(connections_check(&cs, CONNECTION_NS), 0);
	assert_int_equal(write(x[1], "G", 1), 1); /* a byte is no response */
	connections_restart(&cs, b, CONNECTION_NS);
	assert_int_equal(connections_check(&cs, CONNECTION_NS + 1), 1);
	assert_true(is_shut(x[1]));
	assert_false(is_shut(y[1]));
	connections_remove(&cs, a);
	assert_int_equal(connections_check(&cs, CONNECTION_NS + 1), 0);
	connections_remove(&cs, b);
	assert_int_equal(connections_check(&cs, 10 * CONNECTION_NS), 0);
	for (int i = 0; i < 2; i++) {
		close(x[i]);
		close(y[i]);
	}
}

static void test_places(void **state)
{
	struct connections cs;
	struct connection *c = NULL;

	(void)state;
	connections_init(&cs);
	for (int i = 0; i < CONNECTIONS_MAX; i++) {
		c = connections_add(&cs, 1000 + i, 1);
		assert_non_null(c);
	}
	assert_null(connections_add(&cs, 1, 1));
	connections_restart(&cs, NULL, 1);
	connections_remove(&cs, NULL);
	connections_remove(&cs, c);
	assert_non_null(connections_add(&cs, 1, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
