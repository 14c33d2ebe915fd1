/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of TCP on other kernels (scripts/test-kernel): a refused connect, a peer that drops
 * packets, a full listen queue. Prints what the kernel counted: segments retransmitted, connection
 * requests that were dropped, and connects. */
#include <arpa/inet.h>
#include <linux/filter.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Returns the number named @name in a file of rows of names, each with a row of numbers. */
static long counter(const char *path, const char *name)
{
	char names[8192], numbers[8192];
	FILE *f = fopen(path, "r");

	while (f && fgets(names, sizeof(names), f) && fgets(numbers, sizeof(numbers), f)) {
		char *ns, *vs, *n = strtok_r(names, " \n", &ns), *v = strtok_r(numbers, " \n", &vs);

		for (; n && v; n = strtok_r(NULL, " \n", &ns), v = strtok_r(NULL, " \n", &vs)) {
			long value;

			if (strcmp(n, name) == 0 && sscanf(v, "%ld", &value) == 1) {
				fclose(f);
				return value;
			}
		}
	}
	if (f)
		fclose(f);
	return -1;
}

static int begin_connect(const struct sockaddr_in *to, int flags)
{
	int fd = socket(AF_INET, SOCK_STREAM | flags, 0);

	connect(fd, (const struct sockaddr *)to, sizeof(*to));
	return fd;
}

static int serve(struct sockaddr_in *at, int backlog)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(*at);

	*at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	bind(fd, (const struct sockaddr *)at, sizeof(*at));
	listen(fd, backlog);
	getsockname(fd, (struct sockaddr *)at, &len);
	return fd;
}

/* What the kernel counted since it began, or since @before. */
struct counts {
	long segs, drops, opens;
};

static struct counts count(struct counts before)
{
	return (struct counts){
		counter("/proc/net/snmp", "RetransSegs") - before.segs,
		counter("/proc/net/netstat", "ListenDrops") - before.drops,
		counter("/proc/net/snmp", "ActiveOpens") - before.opens,
	};
}

int main(void)
{
	const struct counts before = count((struct counts){0});
	struct counts made;
	struct sock_filter nothing = {.code = BPF_RET | BPF_K, .k = 0};
	const struct sock_fprog drop = {1, &nothing};
	struct sockaddr_in at, full;
	int fds[4], s, c, d, zero = 0;
	char byte;

	s = serve(&at, 1);
	close(s);
	close(begin_connect(&at, 0)); /* refused */
	s = serve(&at, 8);
	c = begin_connect(&at, 0);
	d = accept(s, NULL, NULL);
	setsockopt(d, SOL_SOCKET, SO_ATTACH_FILTER, &drop, sizeof(drop));
	if (write(c, "x", 1) != 1)
		return 1;
	int l = serve(&full, 0);
	for (int i = 0; i < 4; i++)
		fds[i] = begin_connect(&full, SOCK_NONBLOCK);
	sleep(2);
	setsockopt(d, SOL_SOCKET, SO_DETACH_FILTER, &zero, sizeof(zero));
	if (read(d, &byte, 1) != 1)
		return 1;
	for (int i = 0; i < 4; i++)
		close(fds[i]);
	close(l);
	close(c);
	close(d);
	sleep(1);
	made = count(before);
	printf("tcp %ld %ld %ld\n", made.segs, made.drops, made.opens);
	return 0;
}
