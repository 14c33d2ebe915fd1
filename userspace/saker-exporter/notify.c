/* SPDX-License-Identifier: Apache-2.0 */
#include "notify.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Returns a connected socket, or -1. "@" stands for the NUL of an abstract name. */
static int connect_to(const char *name)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const size_t len = strlen(name);
	int fd;

	if ((*name != '/' && *name != '@') || !name[1] || len >= sizeof(to.sun_path))
		return -1;
	memcpy(to.sun_path, name, len);
	if (*name == '@')
		to.sun_path[0] = 0;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&to,
			       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* $WATCHDOG_PID: the variables may have been inherited from a service that started saker. */
static uint64_t read_watchdog(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	uint64_t us = 0;

	if (pid && strtol(pid, NULL, 10) != getpid())
		return 0;
	if (!usec || sscanf(usec, "%" SCNu64, &us) != 1 || us > UINT64_MAX / 1000)
		return 0;
	return us * 1000;
}

void notify_init(struct notify *n)
{
	const char *name = getenv("NOTIFY_SOCKET");

	*n = (struct notify){.fd = name ? connect_to(name) : -1};
	n->watchdog_ns = n->fd >= 0 ? read_watchdog() : 0;
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

void notify_fini(struct notify *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
}

/* Returns whether the datagram was sent, or there is no service manager. */
static int send_lines(struct notify *n, const char *lines)
{
	return n->fd < 0 || send(n->fd, lines, strlen(lines), MSG_NOSIGNAL) >= 0;
}

int notify_ready(struct notify *n)
{
	return send_lines(n, "READY=1\nSTATUS=capturing");
}

/* The time is that of CLOCK_MONOTONIC: it distinguishes this reload from earlier ones. */
void notify_reloading(struct notify *n, uint64_t now_ns)
{
	char lines[96];

	snprintf(lines, sizeof(lines),
		 "RELOADING=1\nMONOTONIC_USEC=%" PRIu64 "\nSTATUS=reading the configuration",
		 now_ns / 1000);
	send_lines(n, lines);
}

void notify_stopping(struct notify *n)
{
	send_lines(n, "STOPPING=1\nSTATUS=sending what is left");
}

/* Four times as often as required: a datagram may find no room. */
void notify_alive(struct notify *n, uint64_t now_ns)
{
	if (!n->watchdog_ns || now_ns < n->fed_ns + n->watchdog_ns / 4)
		return;
	if (send_lines(n, "WATCHDOG=1"))
		n->fed_ns = now_ns;
}
