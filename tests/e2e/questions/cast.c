/* SPDX-License-Identifier: Apache-2.0 */
/* Daemons and tools that stage.sh needs and that may not be installed: one program, which acts by
 * its name. It runs in its own network namespace, so it can use well-known ports. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define WWW_DATA 33
#define BIG (24 << 20)
#define LOG_SZ (32 << 20)

static struct sockaddr_in inet(const char *ip, int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};

	inet_pton(AF_INET, ip, &a.sin_addr);
	return a;
}

static int must(int r, const char *what)
{
	if (r < 0)
		err(1, "%s", what);
	return r;
}

static int listen_at(const char *ip, int port)
{
	struct sockaddr_in a = inet(ip, port);
	int s = must(socket(AF_INET, SOCK_STREAM, 0), "socket");

	must(bind(s, (struct sockaddr *)&a, sizeof(a)), "bind");
	must(listen(s, 8), "listen");
	return s;
}

/* A file of @size bytes as one call reads it. */
static char *slurp(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY);
	char *p = malloc(BIG);

	if (fd < 0)
		return NULL;
	*size = (size_t)must((int)read(fd, p, BIG), path);
	close(fd);
	return p;
}

/* ---- ifup: the loopback of a namespace is down at first; here it gets a second address, too ----
 */

static int ifup(void)
{
	const struct sockaddr_in second = inet("198.51.100.9", 0);
	struct ifreq up = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	struct ifreq addr = {.ifr_name = "lo:1"};
	int s = must(socket(AF_INET, SOCK_DGRAM, 0), "socket");

	memcpy(&addr.ifr_addr, &second, sizeof(second));
	must(ioctl(s, SIOCSIFFLAGS, &up), "lo");
	return must(ioctl(s, SIOCSIFADDR, &addr), "lo:1");
}

/* ---- nginx: a server that answers until it is asked for /quit ---- */

/* 0 once it was requested to end. */
static int serve(int conn, int log)
{
	char request[512] = "", path[300] = "", answer[1024], name[320];
	size_t size = 0;
	char *page;

	must((int)read(conn, request, sizeof(request) - 1), "request");
	sscanf(request, "GET %255s", path);
	if (strcmp(path, "/status") == 0 && system("cat /proc/loadavg >/dev/null"))
		warnx("status");
	snprintf(name, sizeof(name), "/srv/www%s", path);
	page = slurp(name, &size);
	if (page)
		snprintf(answer, sizeof(answer), "HTTP/1.0 200 OK\r\n\r\n%.*s", (int)size, page);
	else
		snprintf(answer, sizeof(answer), "HTTP/1.0 404 Not Found\r\n\r\n");
	free(page);
	must((int)send(conn, answer, strlen(answer), 0), "answer");
	dprintf(log, "GET %s\n", path);
	close(conn);
	return strcmp(path, "/quit") != 0;
}

static int nginx(void)
{
	int log = must(open("/var/log/access.log", O_WRONLY | O_CREAT | O_APPEND, 0644), "log");
	int s = listen_at("127.0.0.1", 80);

	must(setgid(WWW_DATA), "setgid");
	must(setuid(WWW_DATA), "setuid");
	puts("ready");
	fclose(stdout);
	while (serve(must(accept4(s, NULL, NULL, SOCK_CLOEXEC), "accept"), log))
		;
	return 0;
}

/* ---- curl PATH ---- */

static int curl(const char *path)
{
	struct sockaddr_in a = inet("127.0.0.1", 80);
	int s = must(socket(AF_INET, SOCK_STREAM, 0), "socket");
	char text[1024];
	ssize_t n;

	must(connect(s, (struct sockaddr *)&a, sizeof(a)), "connect");
	n = snprintf(text, sizeof(text), "GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n", path);
	must((int)send(s, text, n, 0), "send");
	while ((n = recv(s, text, sizeof(text), 0)) > 0)
		must((int)write(1, text, n), "write");
	return 0;
}

/* ---- app: a program on a bad day ---- */

static void look_for(const char *path)
{
	int fd = open(path, O_RDONLY);

	if (fd >= 0)
		close(fd);
}

static void connect_to(const char *ip, int port, int type)
{
	struct sockaddr_in a = inet(ip, port);
	int s = must(socket(AF_INET, type, 0), "socket");

	if (connect(s, (struct sockaddr *)&a, sizeof(a)) == 0)
		send(s, "\0\1example", 9, MSG_NOSIGNAL);
	close(s);
}

static void connect_without_waiting(const char *ip, int port)
{
	struct sockaddr_in a = inet(ip, port);
	int s = must(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), "socket"), error = 0;
	struct pollfd p = {.fd = s, .events = POLLOUT};
	socklen_t size = sizeof(error);

	if (connect(s, (struct sockaddr *)&a, sizeof(a)) == 0 || errno != EINPROGRESS)
		_exit(1);
	must(poll(&p, 1, -1), "poll");
	must(getsockopt(s, SOL_SOCKET, SO_ERROR, &error, &size), "getsockopt");
	close(s);
}

/* A connect that gets no answer: the backlog has place for one, which is taken. */
static void give_up(const char *ip, int port)
{
	struct sockaddr_in a = inet(ip, port);
	int l = must(socket(AF_INET, SOCK_STREAM, 0), "socket");
	int first = must(socket(AF_INET, SOCK_STREAM, 0), "socket");
	int s = must(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), "socket");
	struct pollfd p = {.fd = s, .events = POLLOUT};

	must(bind(l, (struct sockaddr *)&a, sizeof(a)), "bind");
	must(listen(l, 0), "listen");
	must(connect(first, (struct sockaddr *)&a, sizeof(a)), "connect");
	if (connect(s, (struct sockaddr *)&a, sizeof(a)) == 0 || poll(&p, 1, 30))
		_exit(1);
	close(s);
	close(first);
	close(l);
}

static void talk_to(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int l = must(socket(AF_UNIX, SOCK_STREAM, 0), "socket");
	int s = must(socket(AF_UNIX, SOCK_STREAM, 0), "socket");

	strcpy(a.sun_path, path);
	must(bind(l, (struct sockaddr *)&a, sizeof(a)), "bind");
	must(listen(l, 1), "listen");
	must(connect(s, (struct sockaddr *)&a, sizeof(a)), "connect");
	must((int)send(s, "ping", 4, 0), "send");
	close(s);
	close(l);
}

/* Waits until the parent is in this call, and then for a while that one can see. */
static void until_parent_waits(long nr)
{
	char path[64], text[32];
	FILE *f;
	int there = 0;

	snprintf(path, sizeof(path), "/proc/%d/syscall", getppid());
	while (!there && (f = fopen(path, "r"))) {
		there = fgets(text, sizeof(text), f) && atol(text) == nr && strncmp(text, "run", 3);
		fclose(f);
		usleep(5000);
	}
	usleep(200000);
}

static void wait_for_a_lock(const char *path)
{
	int fd = must(open(path, O_RDWR | O_CREAT, 0600), path), own, p[2];
	char c;

	must(pipe(p), "pipe");
	if (fork() == 0) {
		own = must(open(path, O_RDWR), path);
		must(flock(own, LOCK_EX), "lock");
		must((int)write(p[1], "", 1), "pipe");
		until_parent_waits(SYS_flock);
		_exit(0);
	}
	must((int)read(p[0], &c, 1), "pipe");
	must(flock(fd, LOCK_EX), "lock");
	wait(NULL);
}

static void wait_for_an_answer(void)
{
	int p[2];
	char c;

	must(pipe(p), "pipe");
	if (fork() == 0) {
		until_parent_waits(SYS_read);
		_exit(write(p[1], "", 1) != 1);
	}
	must((int)read(p[0], &c, 1), "pipe");
	wait(NULL);
}

static void write_byte_by_byte(const char *path)
{
	int fd = must(open(path, O_WRONLY | O_CREAT, 0600), path);

	for (int i = 0; i < 20; i++)
		must((int)write(fd, "x", 1), path);
	must(fsync(fd), path);
	close(fd);
}

static int app(void)
{
	look_for("/srv/app/app.conf");
	look_for("/root/.apprc");
	look_for("/etc/app/app.conf");
	connect_to("127.0.0.1", 5432, SOCK_STREAM);
	connect_to("192.0.2.7", 443, SOCK_STREAM);
	connect_to("127.0.0.1", 53, SOCK_DGRAM);
	connect_to("198.51.100.9", 514, SOCK_DGRAM);
	connect_without_waiting("127.0.0.1", 6379);
	give_up("127.0.0.1", 9200);
	talk_to("/run/app.sock");
	wait_for_a_lock("/run/app.lock");
	wait_for_an_answer();
	write_byte_by_byte("/srv/app.state");
	must(setgid(WWW_DATA), "setgid");
	must(setuid(WWW_DATA), "setuid");
	look_for("/etc/shadow");
	return kill(getpid(), SIGABRT);
}

/* ---- supervisor: starts api again and again ---- */

static int supervisor(void)
{
	pid_t pid;

	for (int i = 0; i < 3; i++) {
		pid = must(fork(), "fork");
		if (!pid) {
			execlp("api", "api", "--listen", "80", NULL);
			_exit(127);
		}
		waitpid(pid, NULL, 0);
		usleep(20000);
	}
	return 0;
}

static int api(void)
{
	look_for("/srv/api/api.conf");
	return 78; /* EX_CONFIG */
}

/* ---- db and shop: two queries, of which the second is slow ---- */

static int db(void)
{
	char query[100];
	int s = listen_at("127.0.0.1", 3306), c;
	int log = must(open("/srv/db.log", O_WRONLY | O_CREAT | O_EXCL, 0600), "db.log");

	must(-posix_fallocate(log, 0, LOG_SZ), "posix_fallocate");
	must(ftruncate(log, 100L * LOG_SZ), "ftruncate"); /* longer, not larger */
	puts("ready");
	fclose(stdout);
	c = must(accept(s, NULL, NULL), "accept");
	while (must((int)read(c, query, sizeof(query)), "query") > 0) {
		usleep(strstr(query, "sum(") ? 200000 : 0);
		must((int)write(c, "3 rows", 6), "rows");
	}
	return 0;
}

static int shop(void)
{
	static const char *const queries[] = {"select name from goods",
					      "select sum(price) from goods"};
	struct sockaddr_in a = inet("127.0.0.1", 3306);
	int s = must(socket(AF_INET, SOCK_STREAM, 0), "socket");
	char rows[100];

	must(connect(s, (struct sockaddr *)&a, sizeof(a)), "connect");
	for (int i = 0; i < 2; i++) {
		must((int)write(s, queries[i], strlen(queries[i])), "query");
		must((int)read(s, rows, sizeof(rows)), "rows");
	}
	return 0;
}

/* ---- backup: much in few calls ---- */

static int backup(void)
{
	size_t size = 0;
	char *data = slurp("/srv/data.img", &size);
	int fd = must(open("/srv/backup.tmp", O_WRONLY | O_CREAT | O_EXCL, 0600), "backup");

	must((int)write(fd, data, size), "write");
	must(fsync(fd), "fsync");
	close(fd);
	must(chmod("/srv/backup.tmp", 0644), "chmod");
	return must(rename("/srv/backup.tmp", "/srv/backup.img"), "rename");
}

static const struct {
	const char *name;
	int (*play)(void);
} parts[] = {{"ifup", ifup}, {"nginx", nginx},   {"app", app}, {"supervisor", supervisor},
	     {"api", api},   {"backup", backup}, {"db", db},   {"shop", shop}};

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];

	alarm(100);
	if (strcmp(name, "curl") == 0 && argc > 1)
		return curl(argv[1]);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strcmp(name, parts[i].name) == 0)
			return parts[i].play();
	errx(2, "%s: no such part", name);
}
