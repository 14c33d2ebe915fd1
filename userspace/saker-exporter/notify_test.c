/* SPDX-License-Identifier: Apache-2.0 */
/* A service manager is a datagram socket that reads lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "notify.h"
#include "testing/test_main.h"

struct manager {
	int fd;
	char name[64], text[256];
};

static void manager_open(struct manager *m)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	socklen_t len;

	snprintf(m->name, sizeof(m->name), "@saker-notify-test-%d", getpid());
	len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(m->name));
	memcpy(at.sun_path, m->name, strlen(m->name));
	at.sun_path[0] = 0;
	m->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(m->fd, (const struct sockaddr *)&at, len), 0);
	setenv("NOTIFY_SOCKET", m->name, 1);
}

/* Returns the next datagram; "": there is none. */
static const char *heard(struct manager *m)
{
	const ssize_t n = recv(m->fd, m->text, sizeof(m->text) - 1, 0);

	m->text[n > 0 ? n : 0] = 0;
	return m->text;
}

static void test_states(void **state)
{
	struct manager m;
	struct notify n;

	(void)state;
	manager_open(&m);
	notify_init(&n);
	assert_null(getenv("NOTIFY_SOCKET")); /* not for those that saker starts */
	notify_ready(&n);
	assert_string_equal(heard(&m), "READY=1\nSTATUS=capturing");
	notify_reloading(&n, 5000000);
	assert_string_equal(heard(&m), "RELOADING=1\nMONOTONIC_USEC=5000\n"
				       "STATUS=reading the configuration");
	notify_stopping(&n);
	assert_string_equal(heard(&m), "STOPPING=1\nSTATUS=sending what is left");
	notify_alive(&n, 1); /* not wanted */
	assert_string_equal(heard(&m), "");
	notify_fini(&n);
	close(m.fd);
}

static void test_watchdog(void **state)
{
	const uint64_t second = 1000000000;
	struct manager m;
	struct notify n;
	char pid[16];

	(void)state;
	manager_open(&m);
	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("WATCHDOG_PID", pid, 1);
	setenv("WATCHDOG_USEC", "4000000", 1);
	notify_init(&n);
	notify_alive(&n, 10 * second);
	assert_string_equal(heard(&m), "WATCHDOG=1");
	notify_alive(&n, 10 * second + second / 2);
	assert_string_equal(heard(&m), "");
	notify_alive(&n, 11 * second);
	assert_string_equal(heard(&m), "WATCHDOG=1");
	notify_fini(&n);
	setenv("NOTIFY_SOCKET", m.name, 1);
	setenv("WATCHDOG_PID", "1", 1); /* the watchdog is that of another process */
	setenv("WATCHDOG_USEC", "4000000", 1);
	notify_init(&n);
	assert_int_equal(n.watchdog_ns, 0);
	notify_fini(&n);
	close(m.fd);
}

/* A manager that does not read cannot make the capture wait. */
static void test_full(void **state)
{
	struct manager m;
	struct notify n;

	(void)state;
	manager_open(&m);
	setenv("WATCHDOG_USEC", "4", 1);
	notify_init(&n);
	for (uint64_t i = 1; i < 5000; i++)
		notify_alive(&n, i * 1000000);
	assert_true(n.fed_ns < 4999 * 1000000ull);
	assert_false(notify_ready(&n)); /* to be said again */
	while (*heard(&m))
		;
	assert_true(notify_ready(&n));
	assert_string_equal(heard(&m), "READY=1\nSTATUS=capturing");
	notify_alive(&n, 5000 * 1000000ull);
	assert_string_equal(heard(&m), "WATCHDOG=1");
	notify_fini(&n);
	close(m.fd);
}

static void test_no_manager(void **state)
{
	static const char *const names[] = {NULL, "", "/", "relative", "/run/missing/socket", "@"};
	char far[200];

	(void)state;
	memset(far, 'x', sizeof(far));
	far[0] = '/';
	far[sizeof(far) - 1] = 0;
	for (size_t i = 0; i <= sizeof(names) / sizeof(names[0]); i++) {
		const char *name = i < sizeof(names) / sizeof(names[0]) ? names[i] : far;
		struct notify n;

		if (name)
			setenv("NOTIFY_SOCKET", name, 1);
		setenv("WATCHDOG_USEC", "4000000", 1);
		notify_init(&n);
		assert_int_equal(n.fd, -1);
		notify_ready(&n);
		notify_alive(&n, 1);
		notify_fini(&n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_watchdog),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_no_manager),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
