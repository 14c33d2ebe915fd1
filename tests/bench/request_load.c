/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP requests over loopback, at a rate: request_load RATE SECONDS
 *
 * One client and one server, each a thread, with one connection that stays open: four calls per
 * request. A client that is late catches up. Prints the number of requests.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char response[] =
	"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok";

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static void set_no_delay(int fd)
{
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
}

static void *serve(void *arg)
{
	const int fd = accept(*(int *)arg, NULL, NULL);
	char request[512];

	set_no_delay(fd);
	while (read(fd, request, sizeof(request)) > 0)
		if (write(fd, response, sizeof(response) - 1) < 0)
			break;
	close(fd);
	return NULL;
}

static int listen_on_loopback(struct sockaddr_in *addr)
{
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(*addr);

	*addr = (struct sockaddr_in){.sin_family = AF_INET,
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (fd < 0 || bind(fd, (struct sockaddr *)addr, sizeof(*addr)) || listen(fd, 1) ||
	    getsockname(fd, (struct sockaddr *)addr, &len))
		return -1;
	return fd;
}

static int request(int fd, unsigned int i)
{
	char text[128], answer[512];
	const int len =
		snprintf(text, sizeof(text), "GET /item/%u HTTP/1.1\r\nHost: localhost\r\n\r\n", i);

	return write(fd, text, (size_t)len) != len || read(fd, answer, sizeof(answer)) <= 0;
}

/* Returns 0 when @seconds have passed. */
static int send_requests(int fd, uint64_t period_ns, uint64_t seconds, unsigned int *n)
{
	const uint64_t begin = now_ns(), end = begin + seconds * 1000000000;
	uint64_t now = begin, due;

	for (*n = 0; now < end; ++*n) {
		if (request(fd, *n))
			return 1;
		due = begin + (*n + 1) * period_ns;
		while ((now = now_ns()) < due && now < end)
			if (due - now > 100000)
				nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const unsigned long rate = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
	struct sockaddr_in addr;
	pthread_t server;
	unsigned int n;
	int listener, fd;

	if (!rate)
		return fputs("usage: request_load RATE SECONDS\n", stderr), 2;
	listener = listen_on_loopback(&addr);
	if (listener < 0)
		return fail("listen");
	if (pthread_create(&server, NULL, serve, &listener))
		return fail("thread");
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return fail("connect");
	set_no_delay(fd);
	if (send_requests(fd, 1000000000 / rate, strtoul(argv[2], NULL, 10), &n))
		return fail("request");
	close(fd);
	pthread_join(server, NULL);
	printf("%u\n", n);
	return 0;
}
