/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a container of soak.py runs: short_lives PORT CGROUP...
 *
 * Joins the cgroups, executes itself as a runtime executes the program of a container, runs short
 * processes one after another, requests a page at PORT, prints a line, and ends with its standard
 * input. It is linked statically, since most of what a short process uses is its loading.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_SHORT = 9 };

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static int join(const char *cgroup)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	f = fopen(path, "we");
	return f && fprintf(f, "0\n") > 0 && fclose(f) == 0 ? 0 : fail(path);
}

/* A process with a name and arguments of its own. */
static void run_short(const char *self, int n)
{
	char name[64];
	const pid_t pid = vfork();

	if (!pid) {
		snprintf(name, sizeof(name), "short-%d-of-%d", n, getppid());
		execl(self, name, (char *)NULL);
		_exit(1);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static int request(int port)
{
	static const char text[] = "GET /page HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n";
	const struct sockaddr_in to = {.sin_family = AF_INET,
				       .sin_port = htons((uint16_t)port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char page[4096];

	if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof(to)) ||
	    write(fd, text, sizeof(text) - 1) < 0)
		return fail("short_lives: request");
	while (read(fd, page, sizeof(page)) > 0)
		;
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	const char *self = "/proc/self/exe";
	char c;

	if (argc < 2) /* a short one, or what was executed in the container */
		return 0;
	if (argc > 2) {
		for (int i = 2; i < argc; i++)
			if (join(argv[i]))
				return 1;
		execl(self, "web", argv[1], (char *)NULL);
		return fail("short_lives: exec");
	}
	for (int i = 0; i < N_SHORT; i++)
		run_short(self, i);
	if (request(atoi(argv[1])) || write(STDOUT_FILENO, "\n", 1) != 1)
		return 1;
	return read(STDIN_FILENO, &c, 1) ? 1 : 0;
}
