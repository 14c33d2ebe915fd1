/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filtering in the kernel: each way to select tasks and calls, and the records that are kept for
 * the state. Checks only records of the test's own children.
 */
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "driver_test.h"

#define SOME_UID 54321

/* Starts a child that waits until it is released, then calls @fn. */
struct child {
	pid_t pid;
	int go;
};

static struct child start(void (*fn)(void))
{
	struct child c;
	int fds[2];
	char byte;

	assert_int_equal(pipe(fds), 0);
	c.pid = fork();
	assert_true(c.pid >= 0);
	if (!c.pid) {
		close(fds[1]);
		if (read(fds[0], &byte, 1) == 1)
			fn();
		_exit(0);
	}
	close(fds[0]);
	c.go = fds[1];
	return c;
}

static void release(struct child *c)
{
	assert_int_equal(write(c->go, "", 1), 1);
	close(c->go);
	c->go = -1;
}

static void finish(struct child *c)
{
	int status;

	if (c->go >= 0)
		release(c);
	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	assert_int_equal(status, 0);
}

static struct capture capture_of(const struct scap_select *select, struct child *child)
{
	const struct live_opts o = {.sz = sizeof(o), .ring_sz = 4 << 20, .select = select};
	struct capture c = begin_capture(&o);

	finish(child);
	end_capture(&c);
	return c;
}

/* Counts the records of @tid's calls @nr: requested ones, or those for the state. */
static size_t count(const struct capture *c, pid_t tid, unsigned int nr, int state_only)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += c->recs[i]->evt.tid == (uint64_t)tid && c->recs[i]->nr == nr &&
		     !(c->recs[i]->flags & REC_F_RAW_ENTER) &&
		     !(c->recs[i]->flags & REC_F_STATE_ONLY) == !state_only;
	return n;
}

static struct scap_calls calls_of(const char *first, const char *second)
{
	struct scap_calls calls = {0};

	assert_int_equal(scap_calls_set(&calls, first, 0), 0);
	if (second)
		assert_int_equal(scap_calls_set(&calls, second, 0), 0);
	return calls;
}

static void files_and_others(void)
{
	char byte;
	int fd = open("/dev/zero", O_RDONLY);

	if (read(fd, &byte, 1) != 1)
		_exit(1);
	close(fd);
	close(777);
	open("/nonexistent", O_RDONLY);
	for (int i = 0; i < 100; i++)
		syscall(SYS_getppid);
	prctl(PR_SET_NAME, "renamed");
}

/* Calls that change descriptors are recorded if descriptors are shown, and only then. */
static void test_calls(void **state)
{
	const struct scap_calls reads = calls_of("read", NULL), kills = calls_of("kill", "getppid");
	struct scap_select select = {.calls = &reads};
	struct child child = start(files_and_others);
	struct capture c = capture_of(&select, &child);

	(void)state;
	assert_int_equal(count(&c, child.pid, SYS_read, 0), 2);
	assert_int_equal(count(&c, child.pid, SYS_openat, 1), 1); /* not the one that failed */
	assert_int_equal(count(&c, child.pid, SYS_close, 1), 2);
	assert_int_equal(count(&c, child.pid, SYS_getppid, 0), 0);
	assert_int_equal(count(&c, child.pid, SYS_prctl, 1), 1);
	assert_true(c.counters.other.n_filtered >= 101);
	free_capture(&c);

	select.calls = &kills;
	child = start(files_and_others);
	c = capture_of(&select, &child);
	assert_int_equal(count(&c, child.pid, SYS_getppid, 0), 100);
	assert_int_equal(count(&c, child.pid, SYS_openat, 1), 0);
	assert_int_equal(count(&c, child.pid, SYS_close, 1), 0);
	assert_int_equal(count(&c, child.pid, SYS_prctl, 1), 1);
	free_capture(&c);
}

static void test_failed_only(void **state)
{
	struct scap_select select = {.failed_only = 1};
	struct child child = start(files_and_others);
	struct capture c = capture_of(&select, &child);

	(void)state;
	assert_int_equal(count(&c, child.pid, SYS_openat, 0), 1);
	assert_int_equal(count(&c, child.pid, SYS_openat, 1), 1);
	assert_int_equal(count(&c, child.pid, SYS_close, 0), 1);
	assert_int_equal(count(&c, child.pid, SYS_close, 1), 1);
	assert_int_equal(count(&c, child.pid, SYS_getppid, 0), 0);
	assert_int_equal(count(&c, child.pid, SYS_getppid, 1), 0);
	free_capture(&c);
}

static void *thread_calls(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "a-thread");
	syscall(SYS_getppid);
	return NULL;
}

/* Calls of a thread, a child and a grandchild: getppid, getuid and getgid. */
static void family(void)
{
	pthread_t t;
	pid_t pid;

	if (pthread_create(&t, NULL, thread_calls, NULL))
		_exit(1);
	pthread_join(t, NULL);
	pid = fork();
	if (!pid) {
		syscall(SYS_getuid);
		pid = fork();
		if (!pid)
			syscall(SYS_getgid);
		waitpid(pid, NULL, 0);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* Counts the requested records of the call @nr, of all tasks of the test. */
static size_t count_any(const struct capture *c, unsigned int nr)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += c->recs[i]->nr == nr && !(c->recs[i]->flags & REC_F_STATE_ONLY);
	return n;
}

static void test_processes(void **state)
{
	struct child other = start(files_and_others), child = start(family);
	struct scap_select select = {.pids = &child.pid, .n_pids = 1};
	const struct live_opts o = {.sz = sizeof(o), .ring_sz = 4 << 20, .select = &select};
	struct capture c = begin_capture(&o);

	(void)state;
	finish(&other);
	finish(&child);
	end_capture(&c);
	assert_int_equal(count(&c, other.pid, SYS_getppid, 0), 0);
	assert_int_equal(count(&c, other.pid, SYS_openat, 0), 0);
	assert_int_equal(count(&c, other.pid, SYS_openat, 1), 0);
	assert_int_equal(count(&c, other.pid, SYS_prctl, 1), 1);
	assert_int_equal(count_any(&c, SYS_getppid), 1);
	assert_int_equal(count_any(&c, SYS_getuid), 0);
	free_capture(&c);
}

/* Selects a running process with its child, and the processes that they create later. */
static int ready[2], go[2];

static void family_with_old_child(void)
{
	char byte;
	pid_t pid = fork();

	if (!pid) {
		if (write(ready[1], "", 1) != 1 || read(go[0], &byte, 1) != 1)
			_exit(1);
		syscall(SYS_getppid);
		_exit(0);
	}
	if (read(go[0], &byte, 1) != 1)
		_exit(1);
	family();
	waitpid(pid, NULL, 0);
}

static void test_descendants(void **state)
{
	struct child other = start(files_and_others), child;
	struct scap_select select = {.n_pids = 1, .descendants = 1};
	const struct live_opts o = {.sz = sizeof(o), .ring_sz = 4 << 20, .select = &select};
	struct capture c;
	char byte;

	(void)state;
	assert_int_equal(pipe(ready) | pipe(go), 0);
	child = start(family_with_old_child);
	release(&child);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	select.pids = &child.pid;
	c = begin_capture(&o);
	assert_int_equal(write(go[1], "xx", 2), 2);
	finish(&other);
	finish(&child);
	end_capture(&c);
	assert_int_equal(count(&c, other.pid, SYS_getppid, 0), 0);
	assert_int_equal(count_any(&c, SYS_getppid), 2);
	assert_int_equal(count_any(&c, SYS_getuid), 1);
	assert_int_equal(count_any(&c, SYS_getgid), 1);
	free_capture(&c);
	for (int i = 0; i < 2; i++) {
		close(ready[i]);
		close(go[i]);
	}
}

static void renames(void)
{
	syscall(SYS_getppid);
	open("/dev/null", O_RDONLY);
	prctl(PR_SET_NAME, "saker-sel-test-long");
	syscall(SYS_getppid);
	syscall(SYS_getppid);
	family();
	prctl(PR_SET_NAME, "something else");
	syscall(SYS_getuid);
}

/* Selects by name: from one rename to the next, both included, and the threads of the process. */
static void test_names(void **state)
{
	static const char *const comms[] = {"saker-sel-test-long"};
	struct scap_select select = {.comms = comms, .n_comms = 1};
	struct child child = start(renames);
	struct capture c = capture_of(&select, &child);

	(void)state;
	assert_int_equal(count(&c, child.pid, SYS_getppid, 0), 2);
	assert_int_equal(count(&c, child.pid, SYS_openat, 1), 1);
	assert_int_equal(count(&c, child.pid, SYS_prctl, 0), 2);
	assert_int_equal(count(&c, child.pid, SYS_getuid, 0), 0);
	assert_int_equal(count_any(&c, SYS_getppid), 3);
	assert_int_equal(count_any(&c, SYS_getgid), 1);
	free_capture(&c);
}

static void changes_user(void)
{
	syscall(SYS_getppid);
	if (syscall(SYS_setresuid, -1, SOME_UID, -1))
		_exit(1);
	syscall(SYS_getppid);
	syscall(SYS_setresuid, -1, 0, -1);
	syscall(SYS_getppid);
}

static void test_users(void **state)
{
	static const uint32_t uids[] = {SOME_UID, SOME_UID + 1};
	struct scap_select select = {.uids = uids, .n_uids = 2};
	struct child child = start(changes_user);
	struct capture c = capture_of(&select, &child);

	(void)state;
	assert_int_equal(count(&c, child.pid, SYS_getppid, 0), 1);
	assert_int_equal(count(&c, child.pid, SYS_setresuid, 0), 2);
	free_capture(&c);
}

static char cgroup_dir[4200];

/* Creates a cgroup for the test. False: there is no writable cgroup2 hierarchy. */
static int make_cgroup(void)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	int found = 0;

	while (f && !found && (m = getmntent(f))) {
		if (strcmp(m->mnt_type, "cgroup2") != 0)
			continue;
		snprintf(cgroup_dir, sizeof(cgroup_dir), "%s/saker-test-%d", m->mnt_dir, getpid());
		found = mkdir(cgroup_dir, 0755) == 0;
	}
	if (f)
		endmntent(f);
	return found;
}

static void enters_cgroup(void)
{
	char path[4300];
	int fd;

	syscall(SYS_getppid);
	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup_dir);
	fd = open(path, O_WRONLY);
	if (write(fd, "0", 1) != 1)
		_exit(1);
	sched_yield();
	usleep(1); /* the selection is evaluated at the next task switch */
	syscall(SYS_getuid);
	family();
}

static void test_cgroups(void **state)
{
	const char *paths[] = {cgroup_dir};
	struct scap_select select = {.cgroups = paths, .n_cgroups = 1};
	struct child child;
	struct capture c;

	(void)state;
	if (!make_cgroup()) {
		print_message("skipped: no cgroup2 hierarchy to make a cgroup in\n");
		skip();
	}
	child = start(enters_cgroup);
	c = capture_of(&select, &child);
	rmdir(cgroup_dir);
	assert_int_equal(count(&c, child.pid, SYS_getppid, 0), 0);
	assert_int_equal(count(&c, child.pid, SYS_getuid, 0), 1);
	assert_int_equal(count_any(&c, SYS_getgid), 1);
	free_capture(&c);
}

/* A call that sleeps has a raw enter only if it was requested. */
static void sleeps(void)
{
	struct timespec t = {.tv_nsec = 3000000};
	char byte;
	int fds[2];

	nanosleep(&t, NULL);
	if (pipe(fds) || fork())
		_exit(read(fds[0], &byte, 1) != 1);
	nanosleep(&t, NULL);
	if (write(fds[1], "x", 1) != 1)
		_exit(1);
}

static void test_sleeping(void **state)
{
	const struct scap_calls reads = calls_of("read", NULL);
	struct scap_select select = {.calls = &reads};
	struct child child = start(sleeps);
	struct capture c = capture_of(&select, &child);
	size_t at = 0, n_raw = 0;

	(void)state;
	while (at < c.n) {
		const struct rec_hdr *r = find(&c, &at, child.pid, SYS_read);

		n_raw += r && r->flags & REC_F_RAW_ENTER && r->flags & REC_F_BLOCKED;
	}
	assert_true(n_raw >= 1);
	assert_int_equal(count_any(&c, SYS_clock_nanosleep), 0);
	free_capture(&c);
}

static char link_dir[] = "/tmp/saker-select-XXXXXX";

/* Runs this program in another role, under the name of a link to it. */
static void exec_as(const char *name, const char *role)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", link_dir, name);
	execl(path, name, role, link_dir, NULL);
	_exit(1);
}

/* The roles. A suppressed one makes calls that are counted, and then changes its name. */
static int play(const char *role)
{
	char byte;
	pid_t pid;

	if (!strcmp(role, "leave")) {
		syscall(SYS_getppid);
		pid = fork();
		if (!pid) {
			syscall(SYS_getuid);
			exec_as("saker-plain", "descend");
		}
		waitpid(pid, NULL, 0);
		exec_as("saker-plain", "left");
	} else if (!strcmp(role, "left")) {
		syscall(SYS_getgid);
	} else if (!strcmp(role, "descend")) {
		syscall(SYS_geteuid);
	} else if (!strcmp(role, "old")) {
		if (write(101, "", 1) != 1 || read(100, &byte, 1) != 1)
			return 1;
		syscall(SYS_getppid);
	}
	return 0;
}

static void make_links(void)
{
	static const char *const names[] = {"saker-quiet", "saker-plain"};
	char self[256], path[300];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(n > 0);
	self[n] = '\0';
	memcpy(link_dir + sizeof(link_dir) - 7, "XXXXXX", 6);
	assert_non_null(mkdtemp(link_dir));
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", link_dir, names[i]);
		assert_int_equal(symlink(self, path), 0);
	}
}

static void remove_links(void)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/saker-quiet", link_dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/saker-plain", link_dir);
	unlink(path);
	rmdir(link_dir);
}

static void becomes_quiet(void)
{
	exec_as("saker-quiet", "leave");
}

static const char *const quiet[] = {"saker-quiet"};

static void test_suppressed(void **state)
{
	struct scap_select select = {
		.n_pids = 1, .descendants = 1, .suppress = quiet, .n_suppress = 1};
	struct child child;
	struct capture c;
	size_t n_procexit = 0;

	(void)state;
	make_links();
	child = start(becomes_quiet);
	select.pids = &child.pid;
	c = capture_of(&select, &child);
	remove_links();
	assert_int_equal(count_any(&c, SYS_getppid), 0);
	assert_int_equal(count_any(&c, SYS_getuid), 0);
	assert_int_equal(count_any(&c, SYS_geteuid), 0);
	assert_int_equal(count(&c, child.pid, SYS_getgid, 0), 1);
	assert_int_equal(count(&c, child.pid, SYS_execve, 0), 1); /* from the name, not to it */
	for (size_t i = 0; i < c.n; i++)
		n_procexit += c.recs[i]->evt.type == EVT_PROCEXIT_E &&
			      !(c.recs[i]->flags & REC_F_STATE_ONLY);
	assert_int_equal(n_procexit, 1);
	free_capture(&c);
}

static void is_quiet(void)
{
	if (dup2(go[0], 100) != 100 || dup2(ready[1], 101) != 101)
		_exit(1);
	exec_as("saker-quiet", "old");
}

/* Suppresses a running process: only its exit is recorded, which the state needs. */
static void test_suppressed_before(void **state)
{
	struct scap_select select = {.suppress = quiet, .n_suppress = 1};
	const struct live_opts o = {.sz = sizeof(o), .ring_sz = 4 << 20, .select = &select};
	struct child child;
	struct capture c;
	char byte;
	size_t n = 0;

	(void)state;
	make_links();
	assert_int_equal(pipe(ready) | pipe(go), 0);
	child = start(is_quiet);
	release(&child);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	c = begin_capture(&o);
	assert_int_equal(write(go[1], "", 1), 1);
	finish(&child);
	end_capture(&c);
	remove_links();
	for (size_t i = 0; i < c.n; i++) {
		if (c.recs[i]->evt.tid != (uint64_t)child.pid)
			continue;
		assert_int_equal(c.recs[i]->evt.type, EVT_PROCEXIT_E);
		assert_int_equal(c.recs[i]->flags & REC_F_STATE_ONLY, REC_F_STATE_ONLY);
		n++;
	}
	assert_int_equal(n, 1);
	free_capture(&c);
	for (int i = 0; i < 2; i++) {
		close(ready[i]);
		close(go[i]);
	}
}

#define MANY DRV_SNAPLEN_MAX

static uint8_t many[MANY + 100];

/* Sends a message with an address and a descriptor: the most that a record has besides its data. */
static void moves_much(void)
{
	union {
		struct cmsghdr hdr;
		uint8_t room[CMSG_SPACE(sizeof(int))];
	} control = {.hdr = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct sockaddr_un from = {AF_UNIX, ""}, at = {AF_UNIX, ""};
	struct iovec iov[2] = {{many, 1000}, {many + 1000, sizeof(many) - 1000}};
	struct msghdr m = {.msg_iov = iov,
			   .msg_iovlen = 2,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	int a = socket(AF_UNIX, SOCK_DGRAM, 0), b = socket(AF_UNIX, SOCK_DGRAM, 0), fd = a;

	snprintf(from.sun_path + 1, sizeof(from.sun_path) - 1, "saker-%d-%090d", getpid(), 1);
	snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, "saker-%d-%090d", getpid(), 2);
	memcpy(CMSG_DATA(&control.hdr), &fd, sizeof(fd));
	if (bind(a, (void *)&from, sizeof(from)) || bind(b, (void *)&at, sizeof(at)) ||
	    connect(a, (void *)&at, sizeof(at)) || sendmsg(a, &m, 0) != sizeof(many))
		_exit(1);
	m.msg_name = &from;
	m.msg_namelen = sizeof(from);
	if (recvmsg(b, &m, 0) != sizeof(many))
		_exit(1);
	fd = open("/dev/null", O_WRONLY);
	if (write(fd, many, sizeof(many)) != sizeof(many))
		_exit(1);
}

static void check_much(int kind)
{
	struct scap_calls calls = calls_of("write", "recvmsg");
	struct scap_select select = {.calls = &calls};
	const struct live_opts o = {
		.sz = sizeof(o),
		.ring_kind = kind + 1,
		.ring_sz = 4 << 20,
		.snaplen = DRV_SNAPLEN_MAX,
		.select = &select,
	};
	struct child child = start(moves_much);
	struct capture c;
	size_t at = 0;

	select.pids = &child.pid;
	select.n_pids = 1;
	c = begin_capture(&o);
	finish(&child);
	end_capture(&c);
	assert_bytes(must_find(&c, &at, child.pid, SYS_recvmsg), 2, many, MANY);
	assert_bytes(must_find(&c, &at, child.pid, SYS_write), 1, many, MANY);
	assert_int_equal(drv_dropped(&c.counters.other, DRV_DROP_TOO_BIG), 0);
	free_capture(&c);
}

static void test_most_data(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(many); i++)
		many[i] = (uint8_t)(i * 7 + i / 251);
	for (int kind = 0; kind < RING_KIND_MAX; kind++)
		check_much(kind);
}

static int listener[2]; /* with a port range of its own, and without */

static uint16_t listen_somewhere(int *fd)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);

	*fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(*fd, (void *)&a, sizeof(a)) | listen(*fd, 1), 0);
	assert_int_equal(getsockname(*fd, (void *)&a, &len), 0);
	return ntohs(a.sin_port);
}

/* Writes and reads at both ends of a connection. */
static void talk(int listening)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);
	int client = socket(AF_INET, SOCK_STREAM, 0), server;

	getsockname(listening, (void *)&a, &len);
	if (connect(client, (void *)&a, len))
		_exit(1);
	server = accept(listening, NULL, NULL);
	if (write(client, many, 1000) != 1000 || send(server, many, 1000, 0) != 1000 ||
	    recv(client, many, 1000, MSG_WAITALL) != 1000)
		_exit(1);
}

static void talk_by_unix(void)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || write(ends[0], many, 1000) != 1000 ||
	    recv(ends[1], many, 1000, 0) != 1000)
		_exit(1);
}

static void talks(void)
{
	char byte;

	talk(listener[0]);
	talk(listener[1]);
	talk_by_unix();
	if (read(open("/dev/zero", O_RDONLY), &byte, 1) != 1)
		_exit(1);
}

static void test_ports(void **state)
{
	uint16_t port = listen_somewhere(&listener[0]), other = listen_somewhere(&listener[1]);
	struct scap_snap_port ports[] = {{port, port, 300}, {port, port, 200}, {0, 1, 900}};
	struct child child = start(talks);
	struct scap_select select = {.pids = &child.pid, .n_pids = 1};
	const struct live_opts o = {.sz = sizeof(o),
				    .snaplen = 20,
				    .snap_ports = ports,
				    .n_snap_ports = 3,
				    .ring_sz = 4 << 20,
				    .select = &select};
	struct capture c = begin_capture(&o);
	size_t at = 0;

	(void)state;
	assert_int_not_equal(port, other);
	finish(&child);
	end_capture(&c);
	for (int i = 0; i < 2; i++) {
		const size_t want = i ? 20 : 300;

		assert_bytes(must_find(&c, &at, child.pid, SYS_write), 1, many, want);
		assert_bytes(must_find(&c, &at, child.pid, SYS_sendto), 1, many, want);
		assert_bytes(must_find(&c, &at, child.pid, SYS_recvfrom), 1, many, want);
	}
	assert_bytes(must_find(&c, &at, child.pid, SYS_write), 1, many, 900);
	assert_bytes(must_find(&c, &at, child.pid, SYS_recvfrom), 1, many, 900);
	assert_bytes(must_find(&c, &at, child.pid, SYS_read), 1, "", 1);
	free_capture(&c);
	close(listener[0]);
	close(listener[1]);
}

static unsigned int *n_made; /* number of the child's calls, shared with it */

static double part_of_second(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_nsec / 1e9;
}

/* Makes calls between @from and @to of a second; retries if it was too slow. */
static void calls_between(double from, double to)
{
	do {
		while (part_of_second() < from || part_of_second() > to)
			usleep(1000);
		for (int i = 0; i < 100; i++)
			syscall(SYS_getppid);
		*n_made += 100;
	} while (part_of_second() < from || part_of_second() > to);
}

static void sampled_calls(void)
{
	calls_between(0.1, 0.4);
	prctl(PR_SET_NAME, "sampled");
	calls_between(0.6, 0.9);
	for (int i = 0; i < 10; i++)
		prctl(PR_SET_NAME, "not sampled");
	calls_between(0.1, 0.4);
}

/* Each call is recorded or counted as not sampled; calls that change the state are recorded. */
static void test_sampling(void **state)
{
	const struct scap_calls calls = calls_of("getppid", "prctl");
	struct scap_select select = {.calls = &calls};
	const struct live_opts o = {
		.sz = sizeof(o), .ring_sz = 16 << 20, .sampling = 2, .select = &select};
	struct child child;
	struct capture c;
	size_t n_getppid, n_phases[2] = {0, 0};

	(void)state;
	n_made = mmap(NULL, sizeof(*n_made), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	assert_true(n_made != MAP_FAILED);
	child = start(sampled_calls);
	select.pids = &child.pid;
	select.n_pids = 1;
	c = begin_capture(&o);
	finish(&child);
	end_capture(&c);
	n_getppid = count(&c, child.pid, SYS_getppid, 0);
	assert_int_equal(n_getppid + live_n_unsampled(c.d), *n_made);
	assert_true(n_getppid >= 200 && live_n_unsampled(c.d) >= 100);
	assert_int_equal(count(&c, child.pid, SYS_prctl, 0), 11);
	for (size_t i = 0; i < c.n; i++)
		if (c.recs[i]->evt.type == EVT_DROP_E || c.recs[i]->evt.type == EVT_DROP_X) {
			assert_int_equal(num(c.recs[i], 0), 2);
			n_phases[c.recs[i]->evt.type & 1]++;
		}
	assert_true(n_phases[0] > 0);
	assert_true(n_phases[0] - n_phases[1] <= 1);
	free_capture(&c);
	munmap(n_made, sizeof(*n_made));
}

static void fill_rings(void)
{
	char byte;
	int fd = open("/dev/zero", O_RDONLY);

	for (int i = 0; i < 60000; i++) {
		syscall(SYS_pread64, fd, &byte, 1, 0);
		syscall(SYS_getppid);
	}
	for (int i = 0; i < 100; i++)
		close(dup(fd));
}

/* A ring that is not read has room at its end for records that change the state. */
static void check_shed(int kind)
{
	struct child child = start(fill_rings);
	struct scap_select select = {.pids = &child.pid, .n_pids = 1};
	const struct live_opts o = {
		.sz = sizeof(o), .ring_kind = kind + 1, .ring_sz = 4 << 20, .select = &select};
	struct capture c = begin_capture(&o);

	finish(&child);
	end_capture(&c);
	assert_true(drv_dropped(&c.counters.other, DRV_DROP_SHED) > 0);
	assert_int_equal(count(&c, child.pid, SYS_dup, 0), 100);
	assert_true(count(&c, child.pid, SYS_close, 0) >= 100);
	assert_true(count(&c, child.pid, SYS_getppid, 0) > count(&c, child.pid, SYS_pread64, 0));
	free_capture(&c);
}

static void test_shed(void **state)
{
	(void)state;
	for (int kind = 0; kind < RING_KIND_MAX; kind++)
		check_shed(kind);
}

static void forks_and_execs(void)
{
	pid_t pid;

	syscall(SYS_getppid);
	prctl(PR_SET_NAME, "renamed");
	pid = fork();
	if (!pid)
		execl("/bin/true", "zero", "one", NULL);
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		_exit(1);
}

/* Counts the records of an event of @tid; *last is the last one. */
static size_t count_events(const struct capture *c, uint64_t tid, unsigned int type,
			   const struct rec_hdr **last)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (c->recs[i]->evt.tid != tid || c->recs[i]->evt.type != type)
			continue;
		*last = c->recs[i];
		n++;
	}
	return n;
}

/* Without hooked calls, threads are reported all the same. */
static void test_no_calls(void **state)
{
	const struct scap_calls none = {0};
	const struct scap_select select = {.calls = &none, .no_calls = 1};
	struct child child = start(forks_and_execs);
	struct capture c = capture_of(&select, &child);
	const struct rec_hdr *rec = NULL, *born = NULL;
	uint64_t pid = 0;

	(void)state;
	for (size_t i = 0; i < c.n; i++)
		if (c.recs[i]->evt.type == EVT_CLONE_X && num(c.recs[i], 5) == child.pid)
			born = c.recs[i];
	assert_non_null(born);
	pid = born->evt.tid;
	assert_int_equal(num(born, 0), 0);
	assert_int_equal(num(born, 3), pid);
	assert_int_equal(num(born, 4), pid);
	assert_bytes(born, 13, "renamed", sizeof("renamed"));
	assert_int_equal(num(born, 15), 0);
	assert_int_equal(count_events(&c, pid, EVT_EXECVE_X, &rec), 1);
	assert_bytes(rec, 1, "zero", sizeof("zero"));
	assert_bytes(rec, 2, "one", sizeof("one"));
	assert_bytes(rec, 13, "true", sizeof("true"));
	assert_bytes(rec, 30, "/bin/true", sizeof("/bin/true"));
	assert_int_equal(count_events(&c, pid, EVT_COMM_E, &rec), 0);
	assert_int_equal(count_events(&c, child.pid, EVT_COMM_E, &rec), 1);
	assert_int_equal(count_events(&c, pid, EVT_PROCEXIT_E, &rec), 1);
	for (size_t i = 0; i < c.n; i++) {
		assert_int_equal(c.recs[i]->nr, REC_NR_NONE);
		assert_int_not_equal(c.recs[i]->flags & REC_F_STATE_ONLY, 0);
	}
	free_capture(&c);
}

/* A selected process that ended is deselected, although its parent has not reaped it yet. */
static void test_nobody_left(void **state)
{
	struct scap_select select = {.n_pids = 1, .no_calls = 1};
	const struct live_opts o = {.sz = sizeof(o), .ring_sz = 4 << 20, .select = &select};
	struct child child = start(forks_and_execs);
	struct capture c;
	siginfo_t info;

	(void)state;
	select.pids = &child.pid;
	c = begin_capture(&o);
	assert_int_equal(live_nobody_left(c.d), 0);
	release(&child);
	assert_int_equal(waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(live_nobody_left(c.d), 1);
	finish(&child);
	assert_int_equal(live_nobody_left(c.d), 1);
	end_capture(&c);
	free_capture(&c);
}

static void test_refused(void **state)
{
	static const int32_t nobody[] = {0x3fffffff};
	static const char *const nowhere[] = {"/no/such/cgroup"};
	const struct scap_select bad[] = {
		{.pids = nobody, .n_pids = 1},
		{.cgroups = nowhere, .n_cgroups = 1},
		{.cgroups = nowhere, .n_cgroups = DRV_MAX_CGROUPS + 1},
		{.uids = (const uint32_t *)nobody, .n_uids = DRV_MAX_LISTED + 1},
	};
	struct scap_calls calls = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct live_opts o = {.sz = sizeof(o), .select = &bad[i]};
		struct live_driver *d = NULL;

		assert_true(live_load(&d, &o, &test_log) < 0);
		assert_null(d);
	}
	assert_int_equal(scap_calls_set(&calls, "nosuchcall", 0), -ENOENT);
	assert_int_equal(scap_calls_set(&calls, "signaldeliver", 0), 0);
}

int main(int argc, char **argv)
{
	if (argc == 3) {
		snprintf(link_dir, sizeof(link_dir), "%s", argv[2]);
		_exit(play(argv[1])); /* a sanitizer looks for leaks at an exit, with calls of its
					 own */
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),      cmocka_unit_test(test_failed_only),
		cmocka_unit_test(test_processes),  cmocka_unit_test(test_descendants),
		cmocka_unit_test(test_names),      cmocka_unit_test(test_users),
		cmocka_unit_test(test_cgroups),    cmocka_unit_test(test_sleeping),
		cmocka_unit_test(test_most_data),  cmocka_unit_test(test_ports),
		cmocka_unit_test(test_suppressed), cmocka_unit_test(test_suppressed_before),
		cmocka_unit_test(test_sampling),   cmocka_unit_test(test_shed),
		cmocka_unit_test(test_no_calls),   cmocka_unit_test(test_nobody_left),
		cmocka_unit_test(test_refused),
	};

	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK)) {
		puts("skipped: needs root and a kernel with BTF");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
