/* SPDX-License-Identifier: Apache-2.0 */
/* The inspector: threads and descriptors through races of clone, exec, exit and close, on the fake
 * source. */
#include "sinsp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "state/family.h"
#include "state/inspector.h"
#include "state/pathname.h"
#include "testing/engine_fake.h"
#include "testing/test_main.h"

enum { FILES = SINSP_CL_FILES, THREAD = SINSP_CL_FILES | SINSP_CL_FS | SINSP_CL_THREAD };
enum { RDONLY = 1, CLOEXEC = SINSP_O_CLOEXEC };

/* A source that is being built. Events are a microsecond apart. */
struct world {
	struct scap_fake *f;
	uint64_t now;
};

static struct world begin(void)
{
	return (struct world){scap_fake_new(), 1000000};
}

static uint64_t tick(struct world *w)
{
	return w->now += 1000;
}

static void has_thread(struct world *w, int64_t tid, int64_t pid, int64_t ptid, const char *comm)
{
	const struct scap_thread_info t = {
		.tid = tid,
		.pid = pid,
		.ptid = ptid,
		.vtid = tid,
		.vpid = pid,
		.comm = comm,
		.exe = comm,
		.cwd = "/home",
		.flags = tid == pid ? 0 : THREAD,
	};

	assert_int_equal(scap_state_build_thread(scap_fake_state(w->f), &t), 0);
}

static void has_file(struct world *w, int64_t tid, int64_t num, const char *name, uint32_t flags)
{
	const struct scap_fd_info fd = {
		.fd = num,
		.type = SCAP_FD_FILE_V2,
		.name = name,
		.open_flags = flags,
	};

	assert_int_equal(scap_state_build_fd(scap_fake_state(w->f), tid, &fd), 0);
}

/* A record of saker's driver. The child's event of a clone has no enter. */
#define RECORD(w, enter_ns, tid, type, ...)                                                        \
	do {                                                                                       \
		uint64_t enter_ = (enter_ns), exit_ = tick(w);                                     \
                                                                                                   \
		assert_int_equal(                                                                  \
			scap_fake_add_call((w)->f, enter_, exit_, 0, tid, type, __VA_ARGS__), 0);  \
	} while (0)
#define CALL(w, tid, type, ...) RECORD(w, tick(w), tid, type, __VA_ARGS__)
/* An event of a capture of another tool. */
#define EVENT(w, tid, type, ...)                                                                   \
	assert_int_equal(scap_fake_add((w)->f, tick(w), 0, tid, type, __VA_ARGS__), 0)

#define I(x) ((int64_t)(x))
#define NOTHING "", I(0)

static void opens(struct world *w, int64_t tid, int64_t num, const char *path, uint32_t flags)
{
	CALL(w, tid, EVT_OPENAT_X, 7, num, I(-100), path, I(flags), I(0), I(0), I(0));
}

static void closes(struct world *w, int64_t tid, int64_t num)
{
	CALL(w, tid, EVT_CLOSE_X, 2, I(0), num);
}

static void clones(struct world *w, uint64_t enter_ns, int64_t tid, int64_t pid, int64_t ptid,
		   int64_t res, uint32_t flags, const char *comm)
{
	RECORD(w, enter_ns, tid, EVT_CLONE_X, 20, res, comm, NOTHING, tid, pid, ptid, "/", I(1024),
	       I(0), I(0), I(0), I(0), I(0), comm, NOTHING, I(flags), I(7), I(8), tid, pid);
}

static void caller_clones(struct world *w, int64_t tid, int64_t pid, int64_t child, uint32_t flags)
{
	clones(w, tick(w), tid, pid, 1, child, flags, "parent");
}

static void child_begins(struct world *w, int64_t tid, int64_t pid, int64_t ptid, uint32_t flags)
{
	clones(w, 0, tid, pid, ptid, 0, flags, "parent");
}

static void execs(struct world *w, uint64_t enter_ns, int64_t tid, const char *comm)
{
	RECORD(w, enter_ns, tid, EVT_EXECVE_X, 20, I(0), comm, "x\0y", I(4), tid, tid, I(1), "",
	       I(1024), I(0), I(0), I(0), I(0), I(0), comm, NOTHING, NOTHING, I(0), I(0), I(0),
	       I(0));
}

static void exits(struct world *w, int64_t tid, int64_t reaper)
{
	EVENT(w, tid, EVT_PROCEXIT_E, 5, I(0), I(0), I(0), I(0), reaper);
}

static struct sinsp *start(struct world *w, const struct sinsp_opts *opts)
{
	struct scap *src;
	struct sinsp *s;

	assert_int_equal(scap_fake_open(&src, w->f), 0);
	assert_int_equal(sinsp_open(&s, src, opts), 0);
	return s;
}

/* Reads the source to its end. */
static struct sinsp *play(struct world *w)
{
	struct sinsp *s = start(w, NULL);
	struct sinsp_evt evt;
	int r;

	while ((r = sinsp_next(s, &evt, 0)) == 1)
		;
	assert_int_equal(r, -ENODATA);
	return s;
}

/* Reads the next event of @type. */
static void next_of(struct sinsp *s, struct sinsp_evt *evt, unsigned int type)
{
	do
		assert_int_equal(sinsp_next(s, evt, 0), 1);
	while (evt->raw.type != type);
}

static void assert_file(struct sinsp *s, int64_t tid, int64_t num, const char *name)
{
	const struct sinsp_fd *fd = sinsp_thread_fd(sinsp_thread_find(s, tid), num);

	if (!name) {
		assert_null(fd);
		return;
	}
	assert_non_null(fd);
	assert_string_equal(fd->name, name);
}

static void assert_comm(struct sinsp *s, int64_t tid, const char *comm)
{
	const struct sinsp_thread *t = sinsp_thread_find(s, tid);

	if (!comm) {
		assert_null(t);
		return;
	}
	assert_non_null(t);
	assert_string_equal(t->comm, comm);
}

/* Both orders of the two events of a fork make one child, with a copy of the descriptors. */
static void test_fork_in_both_orders(void **state)
{
	(void)state;
	for (int child_first = 0; child_first < 2; child_first++) {
		struct world w = begin();
		uint64_t enter = tick(&w);
		struct sinsp *s;

		has_thread(&w, 10, 10, 1, "parent");
		has_file(&w, 10, 3, "/a", RDONLY);
		if (!child_first) {
			clones(&w, enter, 10, 10, 1, 11, 0, "parent");
			w.now += 5000000000; /* the child waits for a CPU */
		}
		child_begins(&w, 11, 11, 10, 0);
		opens(&w, 11, 4, "b", RDONLY);
		closes(&w, 11, 3);
		if (child_first)
			clones(&w, enter, 10, 10, 1, 11, 0, "parent");
		s = play(&w);
		assert_comm(s, 11, "parent");
		assert_file(s, 11, 4, "/home/b");
		assert_file(s, 11, 3, NULL);
		assert_file(s, 10, 3, "/a");
		assert_file(s, 10, 4, NULL);
		assert_int_equal(sinsp_thread_find(s, 11)->ptid, 10);
		assert_int_equal(sinsp_thread_find(s, 11)->uid, 7);
		sinsp_close(s);
	}
}

/* Threads share a table: what one closes is closed for all. */
static void test_threads_share_files(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "parent");
	caller_clones(&w, 10, 10, 11, THREAD);
	child_begins(&w, 11, 10, 1, THREAD);
	opens(&w, 11, 3, "/a", RDONLY);
	opens(&w, 10, 4, "/b", RDONLY);
	CALL(&w, 11, EVT_CHDIR_X, 2, I(0), "/tmp");
	closes(&w, 10, 3);
	s = play(&w);
	assert_file(s, 10, 3, NULL);
	assert_file(s, 11, 3, NULL);
	assert_file(s, 11, 4, "/b");
	assert_ptr_equal(sinsp_thread_find(s, 10)->proc, sinsp_thread_find(s, 11)->proc);
	assert_string_equal(sinsp_thread_cwd(sinsp_thread_find(s, 10)), "/tmp/");
	sinsp_close(s);
}

/* CLONE_FILES between processes: shared until one of them executes a program. */
static void test_processes_share_files_until_exec(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "parent");
	caller_clones(&w, 10, 10, 11, FILES);
	opens(&w, 11, 3, "/shared", RDONLY);
	execs(&w, tick(&w), 11, "new");
	opens(&w, 11, 4, "/own", RDONLY);
	s = play(&w);
	assert_file(s, 10, 3, "/shared");
	assert_file(s, 11, 3, "/shared");
	assert_file(s, 10, 4, NULL);
	sinsp_close(s);
}

/* The child of a vfork runs first; its exec must not change the parent. */
static void test_vfork(void **state)
{
	struct world w = begin();
	uint64_t enter = tick(&w);
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "parent");
	has_file(&w, 10, 3, "/a", RDONLY | CLOEXEC);
	child_begins(&w, 11, 11, 10, 0);
	execs(&w, tick(&w), 11, "new");
	clones(&w, enter, 10, 10, 1, 11, 0, "parent");
	s = play(&w);
	assert_comm(s, 10, "parent");
	assert_comm(s, 11, "new");
	assert_file(s, 10, 3, "/a");
	assert_file(s, 11, 3, NULL);
	assert_int_equal(sinsp_thread_args(sinsp_thread_find(s, 11)).len, 4);
	sinsp_close(s);
}

/* exec closes what O_CLOEXEC, F_DUPFD_CLOEXEC and F_SETFD marked, and nothing else. */
static void test_cloexec(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "parent");
	opens(&w, 10, 3, "/goes", RDONLY | CLOEXEC);
	opens(&w, 10, 4, "/stays", RDONLY);
	CALL(&w, 10, EVT_FCNTL_X, 4, I(5), I(4), I(26), I(5)); /* F_DUPFD_CLOEXEC */
	CALL(&w, 10, EVT_DUP2_X, 3, I(6), I(3), I(6));
	CALL(&w, 10, EVT_DUP3_X, 4, I(7), I(4), I(7), I(CLOEXEC));
	opens(&w, 10, 8, "/marked", RDONLY);
	CALL(&w, 10, EVT_FCNTL_X, 4, I(0), I(8), I(3), I(1)); /* F_SETFD, FD_CLOEXEC */
	CALL(&w, 10, EVT_EPOLL_CREATE1_X, 2, I(9), I(1)); /* EPOLL_CLOEXEC */
	CALL(&w, 10, EVT_EPOLL_CREATE1_X, 2, I(10), I(0));
	CALL(&w, 10, EVT_EVENTFD2_X, 3, I(11), I(CLOEXEC), I(0));
	execs(&w, tick(&w), 10, "new");
	s = play(&w);
	assert_file(s, 10, 9, NULL);
	assert_file(s, 10, 10, "");
	assert_file(s, 10, 11, NULL);
	assert_file(s, 10, 3, NULL);
	assert_file(s, 10, 4, "/stays");
	assert_file(s, 10, 5, NULL);
	assert_file(s, 10, 6, "/goes");
	assert_file(s, 10, 7, NULL);
	assert_file(s, 10, 8, NULL);
	sinsp_close(s);
}

/* pidfd_getfd copies a descriptor of another process; a damaged record names the descriptor
 * itself. */
static void test_pidfd_getfd(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "parent");
	has_thread(&w, 20, 20, 1, "other");
	has_file(&w, 20, 5, "/theirs", RDONLY);
	CALL(&w, 10, EVT_PIDFD_OPEN_X, 3, I(3), I(20), I(0));
	CALL(&w, 10, EVT_PIDFD_GETFD_X, 4, I(4), I(3), I(5), I(0));
	CALL(&w, 20, EVT_PIDFD_OPEN_X, 3, I(3), I(20), I(0));
	CALL(&w, 20, EVT_PIDFD_GETFD_X, 4, I(5), I(3), I(5), I(0));
	s = play(&w);
	assert_file(s, 10, 4, "/theirs");
	assert_file(s, 20, 5, "/theirs");
	sinsp_close(s);
}

/* An inet address, or two for a tuple: byte 0 is the family. */
#define ADDR4(a, b, c, d, port) a, b, c, d, (port)&0xff, (port) >> 8
#define TUPLE(name, ...) static const uint8_t name[] = {2, __VA_ARGS__}

enum { ASKS = 49509, ANSWERS = 53, OTHER = 5353 };

static void has_loopback(struct world *w)
{
	const struct scap_iface lo = {.name = "lo", .addr = {127, 0, 0, 1}, .netmask = {255}};

	assert_int_equal(scap_state_build_iface(scap_fake_state(w->f), &lo), 0);
}

static void sends(struct world *w, int64_t num, const uint8_t *tuple, size_t n)
{
	CALL(w, 10, EVT_SENDTO_X, 6, I(4), "ping", (size_t)4, num, I(4), tuple, n, "", (size_t)0);
}

static void receives(struct world *w, int64_t num, const uint8_t *tuple, size_t n)
{
	CALL(w, 10, EVT_RECVFROM_X, 6, I(4), "pong", (size_t)4, tuple, n, num, I(99), "",
	     (size_t)0);
}

/* A client whose address the kernel chooses per message: its tuple runs from it to the peer,
 * whichever way data flows. */
static void test_unconnected_client(void **state)
{
	TUPLE(out, ADDR4(0, 0, 0, 0, ASKS), ADDR4(127, 0, 0, 1, ANSWERS));
	TUPLE(in, ADDR4(127, 0, 0, 1, ANSWERS), ADDR4(0, 0, 0, 0, ASKS));

	(void)state;
	for (int known = 0; known < 2; known++) {
		const char *name =
			known ? "127.0.0.1:49509->127.0.0.1:53" : "0.0.0.0:49509->127.0.0.1:53";
		struct world w = begin();
		struct sinsp *s;

		has_thread(&w, 10, 10, 1, "a");
		if (known)
			has_loopback(&w);
		for (int i = 0; i < 3; i++)
			CALL(&w, 10, EVT_SOCKET_X, 5, I(3 + i), I(2), I(2), I(0), I(0));
		sends(&w, 3, out, sizeof(out));
		sends(&w, 4, out, sizeof(out));
		receives(&w, 4, in, sizeof(in));
		for (int i = 0; i < 2; i++) {
			sends(&w, 5, out, sizeof(out));
			receives(&w, 5, in, sizeof(in));
		}
		s = play(&w);
		for (int i = 3; i < 6; i++)
			assert_file(s, 10, i, name);
		sinsp_close(s);
	}
}

static void test_client_of_two(void **state)
{
	TUPLE(first, ADDR4(0, 0, 0, 0, ASKS), ADDR4(127, 0, 0, 1, ANSWERS));
	TUPLE(second, ADDR4(0, 0, 0, 0, ASKS), ADDR4(127, 0, 0, 2, OTHER));
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "a");
	CALL(&w, 10, EVT_SOCKET_X, 5, I(3), I(2), I(2), I(0), I(0));
	sends(&w, 3, first, sizeof(first));
	sends(&w, 3, second, sizeof(second));
	s = play(&w);
	assert_file(s, 10, 3, "0.0.0.0:49509->127.0.0.2:5353");
	sinsp_close(s);
}

/* A socket that receives first is a server: the tuple runs from the last sender to it. */
static void test_unconnected_server(void **state)
{
	TUPLE(ask, ADDR4(127, 0, 0, 1, ASKS), ADDR4(127, 0, 0, 1, ANSWERS));
	TUPLE(answer, ADDR4(127, 0, 0, 1, ANSWERS), ADDR4(127, 0, 0, 1, ASKS));
	TUPLE(another, ADDR4(127, 0, 0, 3, OTHER), ADDR4(127, 0, 0, 1, ANSWERS));
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "a");
	for (int i = 3; i < 5; i++) {
		CALL(&w, 10, EVT_SOCKET_X, 5, I(i), I(2), I(2), I(0), I(0));
		receives(&w, i, ask, sizeof(ask));
		sends(&w, i, answer, sizeof(answer));
	}
	receives(&w, 4, another, sizeof(another));
	s = play(&w);
	assert_file(s, 10, 3, "127.0.0.1:49509->127.0.0.1:53");
	assert_file(s, 10, 4, "127.0.0.3:5353->127.0.0.1:53");
	sinsp_close(s);
}

/* The same call in a capture of another tool, and in saker's. */
static void makes_udp_socket(struct world *w, int native, int64_t num)
{
	if (native) {
		CALL(w, 10, EVT_SOCKET_X, 5, num, I(2), I(2), I(0), I(0));
		return;
	}
	EVENT(w, 10, EVT_SOCKET_E, 3, I(2), I(2), I(0));
	EVENT(w, 10, EVT_SOCKET_X, 1, num);
}

static void binds(struct world *w, int native, int64_t num, const uint8_t *addr, size_t n)
{
	if (native) {
		CALL(w, 10, EVT_BIND_X, 4, I(0), addr, n, num, addr, n);
		return;
	}
	EVENT(w, 10, EVT_BIND_E, 1, num);
	EVENT(w, 10, EVT_BIND_X, 2, I(0), addr, n);
}

static void is_sent_to(struct world *w, int native, int64_t num, const uint8_t *tuple, size_t n)
{
	if (native) {
		receives(w, num, tuple, n);
		return;
	}
	EVENT(w, 10, EVT_RECVFROM_E, 2, num, I(99));
	EVENT(w, 10, EVT_RECVFROM_X, 3, I(4), "pong", (size_t)4, tuple, n);
}

/* Without a sender's address a socket has its local address only, in captures of any tool. A later
 * message with both ends sets both. */
static void test_server_without_a_peer(void **state)
{
	TUPLE(bound, ADDR4(192, 168, 1, 2, 514));
	TUPLE(nobody, ADDR4(0, 0, 0, 0, 0), ADDR4(192, 168, 1, 2, 514));
	TUPLE(asked, ADDR4(10, 0, 0, 9, ASKS), ADDR4(192, 168, 1, 2, 514));

	(void)state;
	for (int native = 0; native < 2; native++) {
		struct world w = begin();
		struct sinsp *s;

		has_thread(&w, 10, 10, 1, "a");
		for (int i = 3; i < 6; i++) {
			makes_udp_socket(&w, native, i);
			if (i < 5)
				binds(&w, native, i, bound, sizeof(bound));
			is_sent_to(&w, native, i, nobody, sizeof(nobody));
		}
		is_sent_to(&w, native, 4, asked, sizeof(asked));
		s = play(&w);
		assert_int_equal(s->native, native);
		assert_file(s, 10, 3, "192.168.1.2:514");
		assert_file(s, 10, 4, "10.0.0.9:49509->192.168.1.2:514");
		assert_file(s, 10, 5, "192.168.1.2:514");
		sinsp_close(s);
	}
}

/* An IPv6 socket that is bound and receives is a server, also in captures of other tools. */
static void test_server_of_ipv6(void **state)
{
	static const uint8_t bound[19] = {10, [16] = 1, [17] = 53};
	static const uint8_t asked[37] = {
		10, 0xfd, [16] = 9, [17] = 1, [18] = 2, [34] = 1, [35] = 53};
	struct world w = begin();
	const struct sinsp_fd *fd;
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "a");
	EVENT(&w, 10, EVT_SOCKET_E, 3, I(10), I(2), I(0));
	EVENT(&w, 10, EVT_SOCKET_X, 1, I(3));
	binds(&w, 0, 3, bound, sizeof(bound));
	is_sent_to(&w, 0, 3, asked, sizeof(asked));
	s = play(&w);
	assert_file(s, 10, 3, "fd00::9:513->::1:53");
	fd = sinsp_thread_fd(sinsp_thread_find(s, 10), 3);
	assert_int_equal(fd->type, SCAP_FD_IPV6_SOCK);
	assert_true(fd->flags & SINSP_FD_F_SERVER);
	assert_int_equal(sinsp_fd_tuple(fd)->sport, 513);
	assert_int_equal(sinsp_fd_tuple(fd)->dport, 53);
	sinsp_close(s);
}

/* A second connect whose enter was not seen: the tuple has the new peer. */
static void test_connected_to_another(void **state)
{
	TUPLE(first, ADDR4(10, 0, 0, 1, ASKS), ADDR4(10, 0, 0, 2, ANSWERS));
	TUPLE(second, ADDR4(10, 0, 0, 1, ASKS), ADDR4(10, 0, 0, 3, OTHER));
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "a");
	CALL(&w, 10, EVT_SOCKET_X, 5, I(3), I(2), I(2), I(0), I(0));
	CALL(&w, 10, EVT_CONNECT_X, 4, I(0), first, sizeof(first), I(3), "", (size_t)0);
	CALL(&w, 10, EVT_CONNECT_X, 4, I(0), second, sizeof(second), I(3), "", (size_t)0);
	s = play(&w);
	assert_file(s, 10, 3, "10.0.0.1:49509->10.0.0.3:5353");
	sinsp_close(s);
}

/* ---- outcomes of connects ---- */

static const uint8_t to_server[] = {2, 127, 0, 0, 1, 1, 2, 127, 0, 0, 1, 3, 4};

static void connects(struct world *w, int64_t num, int64_t res)
{
	CALL(w, 10, EVT_CONNECT_X, 4, res, to_server, sizeof(to_server), num, "", (size_t)0);
}

static void asks_so_error(struct world *w, int64_t num, int64_t error)
{
	uint8_t val[9] = {1};

	memcpy(val + 1, &error, sizeof(error));
	CALL(w, 10, EVT_GETSOCKOPT_X, 6, I(0), num, I(1), I(4), val, sizeof(val), I(4));
}

static void writes(struct world *w, int64_t num, int64_t res)
{
	CALL(w, 10, EVT_WRITE_X, 4, res, "", (size_t)0, num, I(1));
}

static void asks_peer(struct world *w, int64_t num, int64_t res)
{
	CALL(w, 10, EVT_GETPEERNAME_X, 3, res, num, "", (size_t)0);
}

enum { IN_PROGRESS = -115, ALREADY = -114, REFUSED = -111, IS_CONNECTED = -106 };
enum { UNKNOWN = -1 };

static void assert_outcome(struct sinsp *s, int64_t num, int error, uint64_t latency_ns)
{
	const struct sinsp_fd *fd = sinsp_thread_fd(sinsp_thread_find(s, 10), num);
	const struct sinsp_connect *c = fd ? sinsp_fd_connect(fd) : NULL;

	assert_non_null(c);
	assert_int_equal(c->known ? c->error : UNKNOWN, error);
	if (c->known)
		assert_int_equal(c->latency_ns, latency_ns);
	assert_int_equal(!!(fd->flags & SINSP_FD_F_CONNECTED), error == 0);
	assert_int_equal(!!(fd->flags & SINSP_FD_F_CONNECT_FAILED), error > 0);
}

static struct world begin_sockets(int n)
{
	struct world w = begin();

	has_thread(&w, 10, 10, 1, "a");
	for (int i = 0; i < n; i++)
		CALL(&w, 10, EVT_SOCKET_X, 5, I(3 + i), I(2), I(1), I(0), I(0));
	return w;
}

/* A capture may have any result. */
static void test_results_that_are_no_errors(void **state)
{
	struct world w = begin_sockets(2);
	struct sinsp *s;

	(void)state;
	connects(&w, 3, INT64_MIN);
	connects(&w, 4, IN_PROGRESS);
	connects(&w, 4, INT64_MIN);
	writes(&w, 4, INT64_MIN);
	s = play(&w);
	assert_outcome(s, 3, 22, 1000);
	sinsp_close(s);
}

/* Each call takes a microsecond and begins one after the previous. */
static void test_outcomes_of_connects(void **state)
{
	struct world w = begin_sockets(8);
	struct sinsp *s;

	(void)state;
	connects(&w, 3, 0);
	connects(&w, 4, REFUSED);
	for (int i = 5; i < 10; i++)
		connects(&w, i, IN_PROGRESS);
	asks_so_error(&w, 5, REFUSED);
	asks_so_error(&w, 5, 0); /* the error is reported once */
	asks_so_error(&w, 6, 0);
	writes(&w, 7, REFUSED);
	writes(&w, 8, -11); /* EAGAIN */
	writes(&w, 8, 1);
	asks_peer(&w, 9, 0);
	connects(&w, 10, IN_PROGRESS);
	s = play(&w);
	assert_outcome(s, 3, 0, 1000);
	assert_outcome(s, 4, 111, 1000);
	assert_outcome(s, 5, 111, 11000);
	assert_outcome(s, 6, 0, 13000);
	assert_outcome(s, 7, 111, 13000);
	assert_outcome(s, 8, 0, 15000);
	assert_outcome(s, 9, 0, 15000);
	assert_outcome(s, 10, UNKNOWN, 0);
	sinsp_close(s);
}

/* A second connect of a socket, and SO_ERROR read too early. */
static void test_outcomes_by_another_connect(void **state)
{
	struct world w = begin_sockets(6);
	struct sinsp *s;

	(void)state;
	for (int i = 3; i < 8; i++)
		connects(&w, i, IN_PROGRESS);
	connects(&w, 3, ALREADY);
	connects(&w, 3, IS_CONNECTED);
	connects(&w, 3, IS_CONNECTED); /* stays connected */
	connects(&w, 4, REFUSED);
	connects(&w, 4, -103); /* ECONNABORTED, as the kernel returns the second time */
	asks_so_error(&w, 5, 0);
	connects(&w, 5, ALREADY);
	asks_so_error(&w, 6, 0);
	writes(&w, 6, REFUSED);
	connects(&w, 7, -4); /* EINTR: it continues */
	connects(&w, 7, -14); /* EFAULT: does not affect the first */
	connects(&w, 7, 0);
	connects(&w, 8, -4);
	s = play(&w);
	assert_outcome(s, 3, 0, 13000);
	assert_outcome(s, 4, 111, 15000);
	assert_outcome(s, 5, UNKNOWN, 0);
	assert_outcome(s, 6, 111, 21000);
	assert_outcome(s, 7, 0, 25000);
	assert_outcome(s, 8, UNKNOWN, 0);
	sinsp_close(s);
}

/* An unrelated descriptor, a copy of the socket, and one that connects again. */
static void test_outcomes_and_files(void **state)
{
	struct world w = begin_sockets(3);
	struct sinsp *s;

	(void)state;
	connects(&w, 3, REFUSED);
	CALL(&w, 10, EVT_DUP2_X, 3, I(9), I(3), I(9));
	connects(&w, 4, REFUSED);
	connects(&w, 4, 0); /* it listens now */
	connects(&w, 5, 0);
	closes(&w, 10, 5);
	CALL(&w, 10, EVT_SOCKET_X, 5, I(5), I(2), I(1), I(0), I(0));
	s = play(&w);
	assert_outcome(s, 9, 111, 1000);
	assert_outcome(s, 4, 0, 1000);
	assert_outcome(s, 5, UNKNOWN, 0);
	sinsp_close(s);
}

/* The kernel chooses a port at bind or listen; only a socket that listens is a server. */
static void test_port_of_the_kernel(void **state)
{
	TUPLE(any, ADDR4(127, 0, 0, 1, 0));
	TUPLE(chosen, ADDR4(127, 0, 0, 1, ASKS));
	struct world w = begin();
	const struct sinsp_fd *fd;
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "a");
	for (int i = 3; i < 7; i++)
		CALL(&w, 10, EVT_SOCKET_X, 5, I(i), I(2), I(1), I(0), I(0));
	for (int i = 3; i < 5; i++)
		CALL(&w, 10, EVT_BIND_X, 4, I(0), any, sizeof(any), I(i), chosen, sizeof(chosen));
	for (int i = 4; i < 6; i++)
		CALL(&w, 10, EVT_LISTEN_X, 4, I(0), I(i), I(5), chosen, sizeof(chosen));
	CALL(&w, 10, EVT_LISTEN_X, 4, I(-95), I(6), I(5), "", (size_t)0);
	s = play(&w);
	for (int i = 3; i < 6; i++) {
		assert_file(s, 10, i, "127.0.0.1:49509");
		fd = sinsp_thread_fd(sinsp_thread_find(s, 10), i);
		assert_int_equal(fd->type, i == 3 ? SCAP_FD_IPV4_SOCK : SCAP_FD_IPV4_SERVSOCK);
		assert_int_equal(!!(fd->flags & SINSP_FD_F_SERVER), i != 3);
		assert_int_equal(sinsp_fd_tuple(fd)->sport, i == 3 ? 0 : ASKS);
	}
	assert_file(s, 10, 6, "");
	sinsp_close(s);
}

/* The driver's event of a descriptor received in a message. */
static void passes(struct world *w, int64_t tid, int64_t num, uint32_t mode, uint32_t flags,
		   uint64_t ino, const char *name)
{
	EVENT(w, tid, EVT_FILE_E, 11, num, I(mode), I(flags), I(5), ino, I(0), I(0), I(0), I(0), "",
	      (size_t)0, name);
}

static void test_passed_files(void **state)
{
	static const uint8_t tcp[] = {2, 127, 0, 0, 1, 80, 0, 127, 0, 0, 1, 0x39, 0x30};
	static const uint8_t listens[] = {2, 0, 0, 0, 0, 80, 0, 0, 0, 0, 0, 0, 0};
	static const uint8_t cut[] = {2, 127, 0};
	struct world w = begin();
	const struct sinsp_fd *fd;
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "a");
	opens(&w, 10, 3, "/closed-unseen", RDONLY);
	CALL(&w, 10, EVT_CHROOT_X, 2, I(0), "/jail");
	passes(&w, 10, 3, 0100644, RDONLY, 7, "/etc/passwd");
	passes(&w, 10, 4, 0040755, RDONLY | CLOEXEC, 8, "/etc");
	passes(&w, 10, 5, 0010600, RDONLY, 9, "");
	passes(&w, 10, 6, 0600, RDONLY, 10, "[eventfd]");
	passes(&w, 10, 7, 0100777, RDONLY, 11, "memfd:x");
	EVENT(&w, 10, EVT_FILE_E, 11, I(8), I(0140777), I(3), I(6), I(12), I(2), I(1), I(6), I(1),
	      tcp, sizeof(tcp), "");
	EVENT(&w, 10, EVT_FILE_E, 11, I(9), I(0140777), I(3), I(6), I(12), I(2), I(1), I(6), I(10),
	      listens, sizeof(listens), "");
	EVENT(&w, 10, EVT_FILE_E, 11, I(10), I(0140777), I(3), I(6), I(12), I(16), I(3), I(0), I(7),
	      "", (size_t)0, "");
	EVENT(&w, 10, EVT_FILE_E, 11, I(11), I(0140777), I(3), I(6), I(12), I(2), I(1), I(6), I(1),
	      cut, sizeof(cut), "");
	opens(&w, 10, 12, "/run/fifo", RDONLY | SINSP_O_FIFO);
	EVENT(&w, 10, EVT_FILE_E, 1, I(-1));
	EVENT(&w, 99, EVT_FILE_E, 1, I(3)); /* an unknown thread */
	s = play(&w);
	assert_file(s, 10, 3, "/jail/etc/passwd");
	assert_file(s, 10, 4, "/jail/etc");
	fd = sinsp_thread_fd(sinsp_thread_find(s, 10), 4);
	assert_int_equal(fd->type, SCAP_FD_DIRECTORY);
	assert_true(fd->flags & SINSP_FD_F_CLOEXEC);
	assert_file(s, 10, 5, "");
	assert_int_equal(sinsp_thread_fd(sinsp_thread_find(s, 10), 5)->type, SCAP_FD_FIFO);
	assert_int_equal(sinsp_thread_fd(sinsp_thread_find(s, 10), 6)->type, SCAP_FD_EVENT);
	assert_file(s, 10, 7, "x");
	assert_int_equal(sinsp_thread_fd(sinsp_thread_find(s, 10), 7)->type, SCAP_FD_MEMFD);
	assert_file(s, 10, 8, "127.0.0.1:80->127.0.0.1:12345");
	assert_file(s, 10, 9, "0.0.0.0:80");
	assert_int_equal(sinsp_thread_fd(sinsp_thread_find(s, 10), 9)->type, SCAP_FD_IPV4_SERVSOCK);
	assert_int_equal(sinsp_thread_fd(sinsp_thread_find(s, 10), 10)->type, SCAP_FD_NETLINK);
	assert_non_null(sinsp_thread_fd(sinsp_thread_find(s, 10), 11));
	assert_file(s, 10, 12, "/jail/run/fifo");
	assert_int_equal(sinsp_thread_fd(sinsp_thread_find(s, 10), 12)->type, SCAP_FD_FIFO);
	assert_comm(s, 99, NULL);
	sinsp_close(s);
}

static void test_getcwd(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "parent");
	CALL(&w, 10, EVT_GETCWD_X, 2, I(6), "/srv");
	CALL(&w, 10, EVT_GETCWD_X, 2, I(20), "(unreachable)/x");
	s = play(&w);
	assert_string_equal(sinsp_thread_cwd(sinsp_thread_find(s, 10)), "/srv/");
	sinsp_close(s);
}

/* sysdig ignores O_CLOEXEC at exec, and its captures must print the same names. */
static void test_cloexec_of_sysdig(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "parent");
	has_file(&w, 10, 3, "/a", RDONLY | CLOEXEC);
	EVENT(&w, 10, EVT_EXECVE_X, 20, I(0), "new", NOTHING, I(10), I(10), I(1), "", I(1024), I(0),
	      I(0), I(0), I(0), I(0), "new", NOTHING, NOTHING, I(0), I(0), I(0), I(0));
	s = play(&w);
	assert_comm(s, 10, "new");
	assert_file(s, 10, 3, "/a");
	sinsp_close(s);
}

/* exec in a thread: the other threads end, and it continues under the leader's TID. */
static void test_exec_from_a_thread(void **state)
{
	struct world w = begin();
	uint64_t enter;
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "leader");
	has_thread(&w, 11, 10, 1, "caller");
	has_thread(&w, 12, 10, 1, "other");
	has_file(&w, 10, 3, "/a", RDONLY);
	enter = tick(&w);
	exits(&w, 12, 0);
	exits(&w, 10, 0);
	execs(&w, enter, 10, "new");
	closes(&w, 10, 3);
	opens(&w, 10, 3, "/b", RDONLY);
	s = play(&w);
	assert_comm(s, 10, "new");
	assert_comm(s, 11, NULL);
	assert_comm(s, 12, NULL);
	assert_file(s, 10, 3, "/b");
	assert_int_equal(s->threads.n, 1);
	assert_int_equal(s->threads.procs.n_used, 1);
	sinsp_close(s);
}

/* It keeps its own descriptors and directory, not those of the leader. */
static void test_exec_from_a_thread_of_its_own(void **state)
{
	struct world w = begin();
	struct sinsp_evt evt;
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "leader");
	has_thread(&w, 11, 10, 1, "caller");
	has_file(&w, 10, 3, "/a", RDONLY);
	CALL(&w, 11, EVT_UNSHARE_X, 2, I(0), I(FILES | SINSP_CL_FS));
	CALL(&w, 11, EVT_CHDIR_X, 2, I(0), "/own");
	opens(&w, 11, 4, "b", RDONLY);
	opens(&w, 10, 5, "/lost", RDONLY);
	/* The driver sends the enter early: exec waits for the other threads. */
	EVENT(&w, 11, EVT_EXECVE_E, 1, "/bin/new");
	exits(&w, 10, 0);
	execs(&w, 0, 10, "new");
	opens(&w, 10, 6, "c", RDONLY);
	s = start(&w, NULL);
	while (sinsp_next(s, &evt, 0) == 1)
		;
	assert_comm(s, 11, NULL);
	assert_file(s, 10, 3, "/a");
	assert_file(s, 10, 4, "/own/b");
	assert_file(s, 10, 5, NULL);
	assert_file(s, 10, 6, "/own/c");
	sinsp_close(s);
}

/* The exit of the first thread with the TID was not seen. */
static void test_tid_reuse(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "parent");
	caller_clones(&w, 10, 10, 11, 0);
	execs(&w, tick(&w), 11, "first");
	opens(&w, 11, 3, "/first", RDONLY);
	w.now += 3000000000;
	child_begins(&w, 11, 11, 10, 0);
	s = play(&w);
	assert_comm(s, 11, "parent");
	assert_file(s, 11, 3, NULL);
	sinsp_close(s);
}

/* The same within the time of one clone: a thread starts only once. */
static void test_fast_tid_reuse(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "parent");
	has_thread(&w, 20, 20, 1, "other");
	caller_clones(&w, 10, 10, 11, 0);
	child_begins(&w, 11, 11, 10, 0);
	opens(&w, 11, 3, "/first", RDONLY);
	child_begins(&w, 11, 11, 20, 0);
	s = play(&w);
	assert_file(s, 11, 3, NULL);
	assert_int_equal(sinsp_thread_find(s, 11)->ptid, 20);
	assert_int_equal(s->threads.procs.n_used, 3);
	sinsp_close(s);

	/* The event of the second parent comes first. */
	w = begin();
	has_thread(&w, 10, 10, 1, "parent");
	caller_clones(&w, 10, 10, 11, 0);
	child_begins(&w, 11, 11, 10, 0);
	opens(&w, 11, 3, "/first", RDONLY);
	caller_clones(&w, 10, 10, 11, 0);
	s = play(&w);
	assert_comm(s, 11, "parent");
	assert_file(s, 11, 3, NULL);
	sinsp_close(s);
}

/* A late event of the parent must not add a child again that ended. */
static void test_late_caller(void **state)
{
	struct world w = begin();
	uint64_t enter = tick(&w);
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "parent");
	child_begins(&w, 11, 11, 10, 0);
	exits(&w, 11, 0);
	clones(&w, enter, 10, 10, 1, 11, 0, "parent");
	s = play(&w);
	assert_comm(s, 11, NULL);
	assert_int_equal(s->threads.n, 1);
	sinsp_close(s);

	/* An earlier end of another thread with its TID does not count. */
	w = begin();
	has_thread(&w, 10, 10, 1, "parent");
	child_begins(&w, 11, 11, 10, 0);
	exits(&w, 11, 0);
	caller_clones(&w, 10, 10, 11, 0);
	s = play(&w);
	assert_comm(s, 11, "parent");
	sinsp_close(s);
}

/* A file that begins between the end of a vfork's child and the return of its parent has no
 * child. */
static void test_vfork_that_began_before(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "parent");
	clones(&w, 0, 10, 10, 1, 11, SINSP_CL_VFORK, "parent");
	s = play(&w);
	assert_comm(s, 11, NULL);
	sinsp_close(s);

	/* A child that started in the section, with its own event lost, is added. */
	w = begin();
	has_thread(&w, 10, 10, 1, "parent");
	closes(&w, 10, 3);
	clones(&w, tick(&w), 10, 10, 1, 11, SINSP_CL_VFORK, "parent");
	s = play(&w);
	assert_comm(s, 11, "parent");
	sinsp_close(s);
}

static void test_exit(void **state)
{
	struct world w = begin();
	struct sinsp_evt evt;
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "parent");
	has_file(&w, 10, 3, "/a", RDONLY);
	closes(&w, 10, 3);
	exits(&w, 10, 1);
	s = start(&w, NULL);
	/* A thread or descriptor can be printed with the event that ends it. */
	next_of(s, &evt, EVT_CLOSE_X);
	assert_non_null(evt.fd);
	assert_string_equal(evt.fd->name, "/a");
	next_of(s, &evt, EVT_PROCEXIT_E);
	assert_string_equal(evt.thread->comm, "parent");
	assert_null(sinsp_thread_fd(evt.thread, 3));
	assert_int_equal(sinsp_next(s, &evt, 0), -ENODATA);
	assert_comm(s, 10, NULL);
	assert_int_equal(s->threads.n, 0);
	sinsp_threads_drop_dead(&s->threads);
	assert_int_equal(s->threads.procs.n_used, 0);
	sinsp_close(s);
}

static void samples(struct world *w, int64_t tid)
{
	EVENT(w, tid, EVT_SAMPLE_E, 3, I(1), I(0), tid);
}

static void assert_next_sample_of(struct sinsp *s, const char *comm, int64_t pid)
{
	struct sinsp_evt evt;

	next_of(s, &evt, EVT_SAMPLE_E);
	if (!comm) {
		assert_null(evt.thread);
		return;
	}
	assert_non_null(evt.thread);
	assert_string_equal(evt.thread->comm, comm);
	assert_int_equal(evt.thread->proc->pid, pid);
	assert_int_equal(sinsp_evt_shown(s, &evt), 1);
}

/* Samples after procexit belong to the ended thread, also in a tree, and when its process ended or
 * its PID was reused. */
static void test_samples_of_the_dying(void **state)
{
	const struct sinsp_opts opts = {.sz = sizeof(opts), .tree_root = 10};
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "leader");
	has_thread(&w, 11, 10, 1, "thread");
	exits(&w, 11, 0);
	samples(&w, 11);
	exits(&w, 10, 1);
	samples(&w, 11);
	samples(&w, 10);
	samples(&w, 12);
	s = start(&w, &opts);
	assert_next_sample_of(s, "thread", 10);
	assert_next_sample_of(s, "thread", 10);
	assert_comm(s, 11, NULL);
	assert_next_sample_of(s, "leader", 10);
	assert_comm(s, 10, NULL);
	assert_next_sample_of(s, NULL, -1);
	assert_int_equal(s->threads.n, 0);
	sinsp_close(s);

	/* The TID is reused. */
	w = begin();
	has_thread(&w, 10, 10, 1, "parent");
	has_thread(&w, 11, 11, 10, "first");
	exits(&w, 11, 0);
	samples(&w, 11);
	child_begins(&w, 11, 11, 10, 0);
	samples(&w, 11);
	exits(&w, 11, 0);
	samples(&w, 11);
	s = start(&w, &opts);
	assert_next_sample_of(s, "first", 11);
	assert_next_sample_of(s, "parent", 11);
	assert_next_sample_of(s, "parent", 11);
	sinsp_close(s);
}

static void assert_main(struct sinsp *s, const struct sinsp_thread *t, const char *comm)
{
	assert_non_null(t);
	assert_string_equal(sinsp_family_main(s, t)->comm, comm);
}

/* A thread that exits late may outlast its main thread: it belongs to that process, not to the next
 * one with its PID. */
static void test_the_main_thread_of_the_dying(void **state)
{
	struct world w = begin();
	struct sinsp_evt evt;
	struct sinsp *s;

	(void)state;
	has_thread(&w, 9, 9, 1, "parent");
	has_thread(&w, 10, 10, 1, "leader");
	has_thread(&w, 11, 10, 1, "worker");
	exits(&w, 11, 0);
	samples(&w, 11);
	exits(&w, 10, 0);
	samples(&w, 11);
	child_begins(&w, 10, 10, 9, 0);
	samples(&w, 11);
	s = start(&w, NULL);
	for (int i = 0; i < 3; i++) {
		next_of(s, &evt, EVT_SAMPLE_E);
		assert_main(s, evt.thread, "leader");
	}
	assert_main(s, sinsp_threads_find(&s->threads, 10), "parent");
	sinsp_close(s);
}

/* The number of ended threads that are kept is limited, over all processes. */
static void test_many_dying(void **state)
{
	enum { N = 2 * SINSP_DEAD_MAX };
	struct world w = begin();
	struct sinsp_evt evt;
	struct sinsp *s;

	(void)state;
	for (int64_t i = 0; i < N; i++)
		has_thread(&w, 1000 + i, 1000 + i / 2000 * 2000, 1, "many");
	for (int64_t i = N; i-- > 0;)
		exits(&w, 1000 + i, 0);
	samples(&w, 1000 + N - 1);
	samples(&w, 1000);
	samples(&w, 1000 + SINSP_DEAD_MAX - 1);
	samples(&w, 1000 + SINSP_DEAD_MAX);
	s = start(&w, NULL);
	assert_next_sample_of(s, NULL, -1);
	assert_next_sample_of(s, "many", 1000);
	assert_next_sample_of(s, "many", 1000);
	assert_int_equal(s->threads.n, 0);
	assert_int_equal(s->threads.threads.n_used, SINSP_DEAD_MAX);
	assert_next_sample_of(s, NULL, -1);
	assert_int_equal(sinsp_next(s, &evt, 0), -ENODATA);
	sinsp_threads_drop_dead(&s->threads);
	assert_int_equal(s->threads.threads.n_used, 0);
	assert_int_equal(s->threads.procs.n_used, 0);
	sinsp_close(s);
}

/* If the leader exits first, process and descriptors live on with the other threads. */
static void test_leader_exits_first(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "leader");
	has_thread(&w, 11, 10, 1, "thread");
	has_file(&w, 10, 3, "/a", RDONLY);
	exits(&w, 10, 0);
	opens(&w, 11, 4, "b", RDONLY);
	s = play(&w);
	assert_file(s, 11, 3, "/a");
	assert_file(s, 11, 4, "/home/b");
	sinsp_close(s);

	w = begin();
	has_thread(&w, 10, 10, 1, "leader");
	has_thread(&w, 11, 10, 1, "thread");
	exits(&w, 10, 0);
	exits(&w, 11, 0);
	s = play(&w);
	assert_int_equal(s->threads.n, 0);
	sinsp_threads_drop_dead(&s->threads);
	assert_int_equal(s->threads.procs.n_used, 0);
	sinsp_close(s);
}

static void test_reparenting(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 1, 1, 0, "init");
	has_thread(&w, 5, 5, 1, "reaper");
	has_thread(&w, 10, 10, 5, "parent");
	has_thread(&w, 11, 11, 10, "child");
	has_thread(&w, 12, 11, 10, "thread");
	caller_clones(&w, 10, 10, 13, 0);
	exits(&w, 10, 5);
	s = play(&w);
	assert_int_equal(sinsp_thread_find(s, 11)->ptid, 5);
	assert_int_equal(sinsp_thread_find(s, 12)->ptid, 5);
	assert_int_equal(sinsp_thread_find(s, 13)->ptid, 5);
	assert_ptr_equal(sinsp_thread_find(s, 13)->proc->parent, sinsp_thread_find(s, 5)->proc);
	sinsp_close(s);
}

/* The children of a thread that ends go to another thread of its process. */
static void test_parent_thread_ends(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "leader");
	has_thread(&w, 11, 10, 1, "forks");
	has_thread(&w, 12, 10, 1, "other");
	clones(&w, tick(&w), 11, 10, 1, 20, 0, "forks");
	clones(&w, tick(&w), 10, 10, 1, 21, 0, "leader");
	exits(&w, 11, 12);
	s = play(&w);
	assert_int_equal(sinsp_thread_find(s, 20)->ptid, 12);
	assert_int_equal(sinsp_thread_find(s, 21)->ptid, 10);
	assert_ptr_equal(sinsp_thread_find(s, 20)->proc->parent, sinsp_thread_find(s, 10)->proc);
	sinsp_close(s);
}

/* A process whose parent ended without a known reaper has no parent, and never gets one by a reused
 * TID. */
static void test_unknown_reaper(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "parent");
	caller_clones(&w, 10, 10, 11, 0);
	exits(&w, 10, 77);
	child_begins(&w, 10, 10, 1, 0);
	s = play(&w);
	assert_null(sinsp_thread_find(s, 11)->proc->parent);
	sinsp_close(s);
}

/* Another thread may reuse a number between close and its return. */
static void test_number_reused_inside_close(void **state)
{
	struct world w = begin();
	uint64_t enter;
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "a");
	has_thread(&w, 11, 10, 1, "b");
	has_file(&w, 10, 3, "/old", RDONLY);
	enter = tick(&w);
	opens(&w, 11, 3, "/new", RDONLY);
	RECORD(&w, enter, 10, EVT_CLOSE_X, 2, I(0), I(3));
	s = play(&w);
	assert_file(s, 10, 3, "/new");
	sinsp_close(s);
}

/* Linux frees the number even if close fails, except with EBADF. */
static void test_failed_close(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "a");
	has_file(&w, 10, 3, "/a", RDONLY);
	has_file(&w, 10, 4, "/b", RDONLY);
	CALL(&w, 10, EVT_CLOSE_X, 2, I(-EIO), I(3));
	CALL(&w, 10, EVT_CLOSE_X, 2, I(-EBADF), I(4));
	s = play(&w);
	assert_file(s, 10, 3, NULL);
	assert_file(s, 10, 4, "/b");
	sinsp_close(s);
}

static void test_close_range(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "a");
	for (int64_t i = 0; i < 200; i++)
		has_file(&w, 10, i * 7, "/f", RDONLY);
	CALL(&w, 10, EVT_CLOSE_RANGE_X, 4, I(0), I(3), I(UINT32_MAX), I(0));
	s = play(&w);
	assert_file(s, 10, 0, "/f");
	for (int64_t i = 1; i < 200; i++)
		assert_file(s, 10, i * 7, NULL);
	sinsp_close(s);
}

/* CLOSE_RANGE_UNSHARE changes only the caller's copy of a shared table. */
static void test_close_range_unshares(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "a");
	has_thread(&w, 11, 10, 1, "b");
	has_file(&w, 10, 3, "/a", RDONLY);
	has_file(&w, 10, 4, "/b", RDONLY);
	CALL(&w, 11, EVT_CLOSE_RANGE_X, 4, I(0), I(4), I(UINT32_MAX), I(2)); /* UNSHARE */
	opens(&w, 11, 5, "/c", RDONLY);
	s = play(&w);
	assert_file(s, 10, 4, "/b");
	assert_file(s, 10, 5, NULL);
	assert_file(s, 11, 3, "/a");
	assert_file(s, 11, 4, NULL);
	assert_file(s, 11, 5, "/c");
	sinsp_close(s);
}

static void test_close_range_cloexec(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "a");
	for (int64_t i = 0; i < 40; i++)
		has_file(&w, 10, i, "/f", RDONLY);
	CALL(&w, 10, EVT_CLOSE_RANGE_X, 4, I(0), I(5), I(30), I(4)); /* CLOEXEC */
	caller_clones(&w, 10, 10, 11, 0);
	execs(&w, tick(&w), 10, "new");
	s = play(&w);
	for (int64_t i = 0; i < 40; i++) {
		assert_file(s, 10, i, i >= 5 && i <= 30 ? NULL : "/f");
		assert_file(s, 11, i, "/f");
	}
	sinsp_close(s);
}

/* unshare() gives a thread its own descriptors, its own directory, or both. */
static void test_unshare(void **state)
{
	static const int64_t flags[] = {FILES, SINSP_CL_FS, SINSP_CL_NEWNS, SINSP_CL_NEWUSER};

	(void)state;
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		struct world w = begin();
		struct sinsp *s;

		has_thread(&w, 10, 10, 1, "a");
		has_thread(&w, 11, 10, 1, "b");
		CALL(&w, 11, EVT_UNSHARE_X, 2, I(-EPERM), I(FILES | SINSP_CL_FS));
		opens(&w, 10, 3, "/shared", RDONLY);
		CALL(&w, 11, EVT_UNSHARE_X, 2, I(0), flags[i]);
		opens(&w, 11, 4, "/mine", RDONLY);
		CALL(&w, 11, EVT_CHDIR_X, 2, I(0), "/mine");
		s = play(&w);
		assert_file(s, 11, 3, "/shared");
		assert_file(s, 10, 4, i ? "/mine" : NULL);
		assert_string_equal(sinsp_thread_cwd(sinsp_thread_find(s, 10)),
				    i ? "/home/" : "/mine/");
		assert_string_equal(sinsp_thread_cwd(sinsp_thread_find(s, 11)), "/mine/");
		sinsp_close(s);
	}
}

/* CLONE_FS shares the directory, also between processes and after exec. */
static void test_shared_directory(void **state)
{
	(void)state;
	for (int shared = 0; shared < 2; shared++) {
		struct world w = begin();
		struct sinsp *s;

		has_thread(&w, 10, 10, 1, "parent");
		caller_clones(&w, 10, 10, 11, shared ? SINSP_CL_FS : 0);
		execs(&w, tick(&w), 11, "new");
		CALL(&w, 11, EVT_CHDIR_X, 2, I(0), "sub");
		opens(&w, 10, 3, "a", RDONLY);
		exits(&w, 10, 1);
		opens(&w, 11, 3, "b", RDONLY);
		s = play(&w);
		assert_file(s, 11, 3, "/home/sub/b");
		sinsp_close(s);

		w = begin();
		has_thread(&w, 10, 10, 1, "parent");
		caller_clones(&w, 10, 10, 11, shared ? SINSP_CL_FS : 0);
		CALL(&w, 11, EVT_CHDIR_X, 2, I(0), "sub");
		opens(&w, 10, 3, "a", RDONLY);
		s = play(&w);
		assert_file(s, 10, 3, shared ? "/home/sub/a" : "/home/a");
		sinsp_close(s);
	}
}

/* Names begin at the real root, also after chroot. */
static void test_chroot(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "a");
	has_file(&w, 10, 9, "/out", RDONLY);
	CALL(&w, 10, EVT_CHROOT_X, 2, I(-EPERM), "/elsewhere");
	CALL(&w, 10, EVT_CHROOT_X, 2, I(0), "jail"); /* below /home, which stays the directory */
	opens(&w, 10, 3, "a", RDONLY);
	CALL(&w, 10, EVT_FCHDIR_X, 2, I(0), I(9));
	opens(&w, 10, 4, "b", RDONLY);
	CALL(&w, 10, EVT_CHDIR_X, 2, I(0), "/");
	opens(&w, 10, 5, "../../c", RDONLY);
	opens(&w, 10, 6, "/etc/../../../passwd", RDONLY);
	CALL(&w, 10, EVT_CHDIR_X, 2, I(0), "sub");
	opens(&w, 10, 7, "../d", RDONLY);
	CALL(&w, 10, EVT_GETCWD_X, 2, I(5), "/sub");
	opens(&w, 10, 8, "e", RDONLY);
	opens(&w, 10, 9, "/", RDONLY);
	caller_clones(&w, 10, 10, 11, 0);
	CALL(&w, 11, EVT_CHROOT_X, 2, I(0), "/cell");
	opens(&w, 11, 10, "/f", RDONLY);
	s = play(&w);
	assert_file(s, 10, 3, "/home/a");
	assert_file(s, 10, 4, "/out/b");
	assert_file(s, 10, 5, "/home/jail/c");
	assert_file(s, 10, 6, "/home/jail/passwd");
	assert_file(s, 10, 7, "/home/jail/d");
	assert_file(s, 10, 8, "/home/jail/sub/e");
	assert_file(s, 10, 9, "/home/jail");
	assert_file(s, 11, 10, "/home/jail/cell/f");
	sinsp_close(s);
}

/* setns enters another mount namespace at its root. */
static void test_setns(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "a");
	opens(&w, 10, 3, "/proc/5/ns/net", RDONLY);
	opens(&w, 10, 4, "/proc/5/ns/mnt", RDONLY);
	CALL(&w, 10, EVT_SETNS_X, 3, I(0), I(3), I(0));
	opens(&w, 10, 5, "a", RDONLY);
	CALL(&w, 10, EVT_SETNS_X, 3, I(0), I(4), I(0));
	opens(&w, 10, 6, "a", RDONLY);
	s = play(&w);
	assert_file(s, 10, 5, "/home/a");
	assert_file(s, 10, 6, "/a");
	sinsp_close(s);
}

/* Live, events arrive while threads are read: the snapshot contains them. */
static void test_events_older_than_the_snapshot(void **state)
{
	struct scap_thread_info t = {.tid = 10, .pid = 10, .ptid = 1, .comm = "now", .cwd = "/now"};
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	t.snapshot_ns = w.now + 100000;
	assert_int_equal(scap_state_build_thread(scap_fake_state(w.f), &t), 0);
	has_file(&w, 10, 3, "/now", RDONLY);
	opens(&w, 10, 3, "/before", RDONLY);
	closes(&w, 10, 3);
	caller_clones(&w, 5, 5, 10, 0);
	exits(&w, 10, 1);
	w.now = t.snapshot_ns;
	opens(&w, 10, 4, "after", RDONLY);
	s = play(&w);
	assert_comm(s, 10, "now");
	assert_file(s, 10, 3, "/now");
	assert_file(s, 10, 4, "/now/after");
	sinsp_close(s);
}

static void test_unknown_thread(void **state)
{
	struct world w = begin();
	struct sinsp_evt evt;
	struct sinsp *s;

	(void)state;
	opens(&w, 10, 3, "a", RDONLY);
	s = start(&w, NULL);
	next_of(s, &evt, EVT_OPENAT_X);
	assert_string_equal(evt.thread->comm, "<NA>");
	assert_false(evt.thread->known);
	assert_string_equal(evt.fd->name, "a");
	sinsp_close(s);
}

/* An exit event of sysdig has no descriptor: it has that of the enter, if that is the previous
 * event. */
static void test_binding_of_2022(void **state)
{
	struct world w = begin();
	struct sinsp_evt evt;
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "a");
	has_file(&w, 10, 3, "/a", RDONLY);
	EVENT(&w, 10, EVT_READ_E, 2, I(3), I(10));
	EVENT(&w, 10, EVT_READ_X, 2, I(3), "abc", I(3));
	EVENT(&w, 10, EVT_READ_E, 2, I(3), I(10));
	EVENT(&w, 10, EVT_WRITE_X, 2, I(3), "abc", I(3));
	s = start(&w, NULL);
	next_of(s, &evt, EVT_READ_X);
	assert_int_equal(evt.fdnum, 3);
	assert_string_equal(evt.fd->name, "/a");
	assert_true(evt.latency_known);
	assert_int_equal(evt.latency_ns, 1000);
	assert_false(evt.show_full);
	next_of(s, &evt, EVT_WRITE_X);
	assert_null(evt.fd);
	assert_int_equal(evt.fdnum, -1);
	assert_false(evt.latency_known);
	sinsp_close(s);
}

/* A call is one line with all parameters, or two lines with their own. */
static void test_lines_of_a_call(void **state)
{
	(void)state;
	for (int enters = 0; enters < 2; enters++) {
		const struct sinsp_opts opts = {.sz = sizeof(opts), .enter_events = enters};
		struct world w = begin();
		struct sinsp_evt evt;
		struct sinsp *s;

		has_thread(&w, 10, 10, 1, "a");
		CALL(&w, 10, EVT_READ_X, 4, I(3), "abc", I(3), I(5), I(80));
		s = start(&w, &opts);
		assert_int_equal(sinsp_next(s, &evt, 0), 1);
		assert_int_equal(sinsp_evt_shown(s, &evt), enters);
		assert_int_equal(sinsp_next(s, &evt, 0), 1);
		assert_true(sinsp_evt_shown(s, &evt));
		assert_int_equal(evt.show_full, !enters);
		assert_true(evt.latency_known);
		sinsp_close(s);
	}
}

/* Captures of newer tools have no enter events: exit events show all parameters. */
static void test_exit_only_files(void **state)
{
	struct world w = begin();
	struct sinsp_evt evt;
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "a");
	has_file(&w, 10, 5, "/a", RDONLY);
	EVENT(&w, 10, EVT_READ_X, 4, I(3), "abc", I(3), I(5), I(80));
	EVENT(&w, 10, EVT_CLOSE_X, 2, I(0), I(5));
	s = start(&w, NULL);
	next_of(s, &evt, EVT_READ_X);
	assert_true(evt.show_full);
	assert_string_equal(evt.fd->name, "/a");
	next_of(s, &evt, EVT_CLOSE_X);
	assert_int_equal(sinsp_next(s, &evt, 0), -ENODATA);
	assert_file(s, 10, 5, NULL);
	sinsp_close(s);
}

static void test_suppressed_comms(void **state)
{
	const char *const comms[] = {"noisy", NULL};
	const struct sinsp_opts opts = {.sz = sizeof(opts), .suppress_comms = comms};
	struct world w = begin();
	struct sinsp_evt evt;
	struct sinsp *s;
	int n_shown = 0;

	(void)state;
	has_thread(&w, 10, 10, 1, "noisy");
	has_thread(&w, 11, 11, 10, "child");
	has_thread(&w, 20, 20, 1, "other");
	caller_clones(&w, 11, 11, 12, 0); /* hidden */
	execs(&w, tick(&w), 12, "else"); /* hidden: its old name was suppressed */
	opens(&w, 20, 3, "/a", RDONLY); /* shown */
	execs(&w, tick(&w), 20, "noisy"); /* hidden */
	opens(&w, 20, 4, "/b", RDONLY); /* hidden */
	caller_clones(&w, 20, 20, 21, 0); /* hidden */
	execs(&w, tick(&w), 20, "quiet"); /* shown: the new name is not suppressed */
	opens(&w, 20, 5, "/c", RDONLY); /* shown */
	opens(&w, 21, 5, "/d", RDONLY); /* hidden: descendants stay hidden */
	s = start(&w, &opts);
	while (sinsp_next(s, &evt, 0) == 1)
		n_shown += sinsp_evt_shown(s, &evt);
	assert_int_equal(n_shown, 3);
	sinsp_close(s);
}

static void count_warnings(void *ctx, enum scap_log_level level, const char *text)
{
	assert_non_null(strstr(text, "a limit of the tables"));
	*(int *)ctx += level == SCAP_LOG_WARN;
}

/* Many processes that each change all their descriptors: the limit is logged once. */
static void test_too_many_files(void **state)
{
	enum { N = 50000, FORKS = 90 };
	int n_said = 0;
	const struct sinsp_opts opts = {
		.sz = sizeof(opts), .log = count_warnings, .log_ctx = &n_said};
	struct world w = begin();
	struct sinsp_evt evt;
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "server");
	for (int i = 0; i < N; i++)
		has_file(&w, 10, i, "/a", RDONLY);
	for (int i = 0; i < FORKS; i++) {
		caller_clones(&w, 10, 10, 100 + i, 0);
		CALL(&w, 100 + i, EVT_CLOSE_RANGE_X, 4, I(0), I(0), I(UINT32_MAX),
		     I(4)); /* CLOEXEC */
	}
	opens(&w, 100 + FORKS - 1, N, "/b", RDONLY);
	s = start(&w, &opts);
	while (sinsp_next(s, &evt, 0) == 1)
		;
	assert_int_equal(n_said, 1);
	assert_true(s->threads.fds.fds.n_used <= SINSP_FILES_TOTAL_MAX);
	assert_file(s, 100, N - 1, "/a");
	assert_file(s, 100 + FORKS - 1, N - 1, "/a");
	assert_file(s, 100 + FORKS - 1, N, NULL);
	assert_comm(s, 100 + FORKS - 1, "parent");
	sinsp_close(s);
}

/* The source drops a state that was imported. */
static void test_state_is_dropped(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "cat");
	s = start(&w, NULL);
	assert_comm(s, 10, "cat");
	assert_int_equal(scap_state(sinsp_source(s))->n_threads, 0);
	sinsp_close(s);
}

/* The kernel keeps 15 characters. */
static void test_suppressed_long_comm(void **state)
{
	const char *const comms[] = {"systemd-resolved", NULL};
	const struct sinsp_opts opts = {.sz = sizeof(opts), .suppress_comms = comms};
	struct world w = begin();
	struct sinsp_evt evt;
	struct sinsp *s;
	int n_shown = 0;

	(void)state;
	has_thread(&w, 10, 10, 1, "systemd-resolve");
	has_thread(&w, 20, 20, 1, "systemd-resolv");
	opens(&w, 10, 3, "/a", RDONLY); /* hidden */
	opens(&w, 20, 3, "/a", RDONLY); /* shown */
	s = start(&w, &opts);
	while (sinsp_next(s, &evt, 0) == 1)
		n_shown += sinsp_evt_shown(s, &evt);
	assert_int_equal(n_shown, 1);
	sinsp_close(s);
}

static void test_tree(void **state)
{
	const struct sinsp_opts opts = {.sz = sizeof(opts), .tree_root = 10};
	struct world w = begin();
	struct sinsp_evt evt;
	struct sinsp *s;
	int n_shown = 0;

	(void)state;
	has_thread(&w, 10, 10, 1, "root");
	has_thread(&w, 20, 20, 1, "other");
	opens(&w, 10, 3, "/a", RDONLY); /* shown */
	opens(&w, 20, 3, "/a", RDONLY);
	child_begins(&w, 11, 11, 10, 0); /* shown */
	caller_clones(&w, 10, 10, 11, 0); /* shown */
	caller_clones(&w, 11, 11, 12, THREAD); /* shown */
	exits(&w, 10, 1); /* shown */
	opens(&w, 12, 4, "/b", RDONLY); /* shown: descendants remain after the end of the root */
	caller_clones(&w, 20, 20, 21, 0);
	opens(&w, 21, 4, "/b", RDONLY);
	s = start(&w, &opts);
	while (sinsp_next(s, &evt, 0) == 1) {
		assert_true(!sinsp_evt_shown(s, &evt) || sinsp_evt_in_tree(s, &evt));
		n_shown += sinsp_evt_shown(s, &evt);
	}
	assert_int_equal(n_shown, 6);
	sinsp_close(s);
}

/* A deep tree, and a damaged file whose processes are each other's parents. */
static void test_deep_tree(void **state)
{
	enum { DEPTH = 500 };
	const struct sinsp_opts opts = {.sz = sizeof(opts), .tree_root = 100};
	struct world w = begin();
	struct sinsp_evt evt;
	struct sinsp *s;
	int n_shown = 0;

	(void)state;
	for (int i = DEPTH; i >= 0; i--)
		has_thread(&w, 100 + i, 100 + i, i ? 99 + i : 1, "a");
	has_thread(&w, 10, 10, 11, "b");
	has_thread(&w, 11, 11, 10, "b");
	opens(&w, 100 + DEPTH, 3, "/a", RDONLY); /* shown */
	opens(&w, 10, 3, "/a", RDONLY);
	s = start(&w, &opts);
	while (sinsp_next(s, &evt, 0) == 1)
		n_shown += sinsp_evt_shown(s, &evt);
	assert_int_equal(n_shown, 1);
	sinsp_close(s);
}

/* A child in a PID namespace: only its own event has both numbers. */
static void test_pid_namespace(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 10, 10, 1, "parent");
	clones(&w, tick(&w), 10, 10, 1, 1, SINSP_CL_CHILD_IN_PIDNS, "parent");
	RECORD(&w, 0, 11, EVT_CLONE_X, 20, I(0), "child", NOTHING, I(11), I(11), I(10), "/",
	       I(1024), I(0), I(0), I(0), I(0), I(0), "child", NOTHING, I(SINSP_CL_CHILD_IN_PIDNS),
	       I(0), I(0), I(1), I(1));
	s = play(&w);
	assert_comm(s, 1, NULL);
	assert_comm(s, 11, "child");
	assert_int_equal(sinsp_thread_find(s, 11)->vtid, 1);
	sinsp_close(s);
}

/* Parameters of a process in a PID namespace are numbers of that namespace. */
static void test_numbers_of_a_namespace(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_thread(&w, 2, 2, 0, "kthreadd");
	has_thread(&w, 10, 10, 1, "parent");
	RECORD(&w, 0, 11, EVT_CLONE_X, 20, I(0), "first", NOTHING, I(11), I(11), I(10), "/",
	       I(1024), I(0), I(0), I(0), I(0), I(0), "first", NOTHING, I(SINSP_CL_CHILD_IN_PIDNS),
	       I(0), I(0), I(1), I(1));
	RECORD(&w, 0, 12, EVT_CLONE_X, 20, I(0), "first", NOTHING, I(12), I(12), I(11), "/",
	       I(1024), I(0), I(0), I(0), I(0), I(0), "first", NOTHING, I(SINSP_CL_CHILD_IN_PIDNS),
	       I(0), I(0), I(2), I(2));
	opens(&w, 12, 5, "/theirs", RDONLY);
	CALL(&w, 11, EVT_PIDFD_OPEN_X, 3, I(3), I(2), I(0));
	CALL(&w, 11, EVT_PIDFD_GETFD_X, 4, I(4), I(3), I(5), I(0));
	CALL(&w, 11, EVT_PIDFD_OPEN_X, 3, I(6), I(10), I(0));
	s = play(&w);
	assert_file(s, 11, 4, "/theirs");
	assert_int_equal(sinsp_fd_ends(sinsp_thread_fd(sinsp_thread_find(s, 11), 3))->pid, 12);
	assert_int_equal(sinsp_fd_ends(sinsp_thread_fd(sinsp_thread_find(s, 11), 6))->pid, -1);
	sinsp_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fork_in_both_orders),
		cmocka_unit_test(test_threads_share_files),
		cmocka_unit_test(test_processes_share_files_until_exec),
		cmocka_unit_test(test_vfork),
		cmocka_unit_test(test_cloexec),
		cmocka_unit_test(test_pidfd_getfd),
		cmocka_unit_test(test_passed_files),
		cmocka_unit_test(test_unconnected_client),
		cmocka_unit_test(test_client_of_two),
		cmocka_unit_test(test_unconnected_server),
		cmocka_unit_test(test_server_without_a_peer),
		cmocka_unit_test(test_server_of_ipv6),
		cmocka_unit_test(test_connected_to_another),
		cmocka_unit_test(test_port_of_the_kernel),
		cmocka_unit_test(test_results_that_are_no_errors),
		cmocka_unit_test(test_outcomes_of_connects),
		cmocka_unit_test(test_outcomes_by_another_connect),
		cmocka_unit_test(test_outcomes_and_files),
		cmocka_unit_test(test_getcwd),
		cmocka_unit_test(test_cloexec_of_sysdig),
		cmocka_unit_test(test_exec_from_a_thread),
		cmocka_unit_test(test_tid_reuse),
		cmocka_unit_test(test_exec_from_a_thread_of_its_own),
		cmocka_unit_test(test_fast_tid_reuse),
		cmocka_unit_test(test_late_caller),
		cmocka_unit_test(test_vfork_that_began_before),
		cmocka_unit_test(test_parent_thread_ends),
		cmocka_unit_test(test_unknown_reaper),
		cmocka_unit_test(test_close_range_unshares),
		cmocka_unit_test(test_close_range_cloexec),
		cmocka_unit_test(test_unshare),
		cmocka_unit_test(test_shared_directory),
		cmocka_unit_test(test_chroot),
		cmocka_unit_test(test_setns),
		cmocka_unit_test(test_exit),
		cmocka_unit_test(test_samples_of_the_dying),
		cmocka_unit_test(test_the_main_thread_of_the_dying),
		cmocka_unit_test(test_many_dying),
		cmocka_unit_test(test_leader_exits_first),
		cmocka_unit_test(test_reparenting),
		cmocka_unit_test(test_number_reused_inside_close),
		cmocka_unit_test(test_failed_close),
		cmocka_unit_test(test_close_range),
		cmocka_unit_test(test_events_older_than_the_snapshot),
		cmocka_unit_test(test_unknown_thread),
		cmocka_unit_test(test_binding_of_2022),
		cmocka_unit_test(test_lines_of_a_call),
		cmocka_unit_test(test_exit_only_files),
		cmocka_unit_test(test_too_many_files),
		cmocka_unit_test(test_state_is_dropped),
		cmocka_unit_test(test_suppressed_comms),
		cmocka_unit_test(test_suppressed_long_comm),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_deep_tree),
		cmocka_unit_test(test_pid_namespace),
		cmocka_unit_test(test_numbers_of_a_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
