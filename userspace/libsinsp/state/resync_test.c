/* SPDX-License-Identifier: Apache-2.0 */
/* Resync: certainty after a loss, and reads of /proc about this process, on the fake source. */
#include "resync.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "inspector.h"
#include "procfs/proc_scan.h"
#include "redact/redact.h"
#include "testing/engine_fake.h"
#include "testing/test_main.h"

#define NS_PER_S 1000000000ull
#define I(x) ((int64_t)(x))
#define ADD(...) assert_int_equal(scap_fake_add(__VA_ARGS__), 0)
#define CALL(f, ns, ...) assert_int_equal(scap_fake_add_call(f, (ns)-1, ns, 0, __VA_ARGS__), 0)

enum { LOST_CLONES, LOST_EXECS, LOST_EXITS, LOST_OPENS, LOST_CLOSES, LOST_STATES, LOST_NOTHING };

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

/* One record of @kind and ten reads are lost. */
static void loses(struct scap_fake *f, uint64_t from, uint64_t to, int kind)
{
	int64_t n[LOST_NOTHING] = {0};

	if (kind < LOST_NOTHING)
		n[kind] = 1;
	ADD(f, from, 0, -1, EVT_LOST_E, 11, I(0), I(10 + (kind < LOST_NOTHING)),
	    "the ring was full", from, to, n[0], n[1], n[2], n[3], n[4], n[5]);
}

static void opens(struct scap_fake *f, uint64_t ns, int64_t tid, int64_t num, const char *path)
{
	CALL(f, ns, tid, EVT_OPENAT_X, 7, num, I(-100), path, I(1), I(0), I(0), I(0));
}

static void reads(struct scap_fake *f, uint64_t ns, int64_t tid, int64_t num)
{
	CALL(f, ns, tid, EVT_READ_X, 4, I(3), "abc", I(3), num, I(80));
}

static void has_thread(struct scap_fake *f, int64_t tid, uint64_t start_ns, const char *comm)
{
	const struct scap_thread_info t = {.tid = tid,
					   .pid = tid,
					   .ptid = 1,
					   .vtid = tid,
					   .vpid = tid,
					   .comm = comm,
					   .exe = comm,
					   .cwd = "/home",
					   .start_ns = start_ns};
	const struct scap_fd_info fd = {.fd = 3, .type = SCAP_FD_FILE_V2, .name = "/before"};

	assert_int_equal(scap_state_build_thread(scap_fake_state(f), &t), 0);
	assert_int_equal(scap_state_build_fd(scap_fake_state(f), tid, &fd), 0);
}

static struct sinsp *start(struct scap_fake *f, int live)
{
	const struct sinsp_opts opts = {.sz = sizeof(opts), .resync = live};
	struct scap *src;
	struct sinsp *s;

	assert_int_equal(scap_fake_open(&src, f), 0);
	assert_int_equal(sinsp_open(&s, src, &opts), 0);
	return s;
}

static void next_exit(struct sinsp *s, struct sinsp_evt *evt)
{
	do
		assert_int_equal(sinsp_next(s, evt, 0), 1);
	while (evt_is_enter(evt->raw.type));
}

/* Checks the name of the event's descriptor, and whether it is certain. */
static void assert_fd(const struct sinsp_evt *evt, const char *name, int certain)
{
	assert_non_null(evt->fd);
	assert_string_equal(evt->fd->name, name);
	assert_int_equal(sinsp_fd_is_certain(evt->insp, evt->fd, evt->raw.true_ns), certain);
}

static void assert_comm(const struct sinsp_evt *evt, const char *comm, int certain)
{
	assert_string_equal(evt->thread->comm, comm);
	assert_int_equal(sinsp_thread_is_certain(evt->insp, evt->thread, evt->raw.true_ns),
			 certain);
}

/* Replay: state from before the end of a loss is uncertain, later state is certain; /proc is not
 * read. */
static void test_replay(void **state)
{
	struct scap_fake *f = scap_fake_new();
	struct sinsp_evt evt;
	struct sinsp *s;

	(void)state;
	has_thread(f, 10, 0, "cat");
	reads(f, 1000, 10, 3);
	loses(f, 2000, 4000, LOST_CLOSES);
	opens(f, 3000, 10, 4, "/during");
	reads(f, 3500, 10, 3);
	opens(f, 5000, 10, 5, "/after");
	opens(f, 5100, 10, 6, "relative");
	CALL(f, 5200, 10, EVT_CHDIR_X, 2, I(0), "/srv");
	opens(f, 5300, 10, 7, "relative");
	CALL(f, 5400, 10, EVT_DUP2_X, 3, I(8), I(3), I(8));
	CALL(f, 5500, 10, EVT_CLONE_X, 20, I(11), "cat", "", I(0), I(10), I(10), I(1), "/", I(1024),
	     I(0), I(0), I(0), I(0), I(0), "cat", "", I(0), I(0), I(0), I(0), I(10), I(10));
	reads(f, 6000, 11, 5);
	reads(f, 6100, 11, 8);
	opens(f, 6200, 10, 3, "/again");
	s = start(f, 0);
	next_exit(s, &evt);
	assert_fd(&evt, "/before", 1);
	next_exit(s, &evt);
	assert_fd(&evt, "/during", 0);
	next_exit(s, &evt);
	assert_fd(&evt, "/before", 0);
	assert_comm(&evt, "cat", 1); /* neither exec nor clone was lost */
	next_exit(s, &evt);
	assert_fd(&evt, "/after", 1);
	next_exit(s, &evt);
	assert_fd(&evt, "/home/relative", 0); /* a chdir may have been lost */
	next_exit(s, &evt);
	next_exit(s, &evt);
	assert_fd(&evt, "/srv/relative", 1);
	next_exit(s, &evt);
	assert_fd(&evt, "/before", 0);
	next_exit(s, &evt);
	next_exit(s, &evt);
	assert_fd(&evt, "/after", 1);
	next_exit(s, &evt);
	assert_fd(&evt, "/before", 0);
	next_exit(s, &evt);
	assert_fd(&evt, "/again", 1);
	assert_int_equal(s->resync.n_files, 0);
	sinsp_close(s);
}

/* A loss makes names uncertain by the kind of lost records. */
static void test_kinds(void **state)
{
	static const struct {
		int kind, files, threads;
	} kinds[] =
		{
			{LOST_CLONES, 0, 0},  {LOST_EXECS, 0, 0},  {LOST_EXITS, 1, 1},
			{LOST_OPENS, 0, 1},   {LOST_CLOSES, 0, 1}, {LOST_STATES, 0, 1},
			{LOST_NOTHING, 1, 1}, /* reads and the like */
		};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct scap_fake *f = scap_fake_new();
		struct sinsp_evt evt;
		struct sinsp *s;

		has_thread(f, 10, 0, "cat");
		loses(f, 2000, 4000, kinds[i].kind);
		reads(f, 5000, 10, 3);
		s = start(f, 0);
		next_exit(s, &evt);
		assert_fd(&evt, "/before", kinds[i].files);
		assert_comm(&evt, "cat", kinds[i].threads);
		sinsp_close(s);
	}
}

/* A marker without kinds stands for any kind. */
static void test_old_marker(void **state)
{
	struct scap_fake *f = scap_fake_new();
	struct sinsp_evt evt;
	struct sinsp *s;

	(void)state;
	has_thread(f, 10, 0, "cat");
	ADD(f, 2000, 0, -1, EVT_LOST_E, 3, I(0), I(5), "the ring was full");
	reads(f, 5000, 10, 3);
	s = start(f, 0);
	next_exit(s, &evt);
	assert_fd(&evt, "/before", 0);
	assert_comm(&evt, "cat", 0);
	sinsp_close(s);
}

/* The mark <f?> is printed where it cannot be part of a name. */
static void test_text(void **state)
{
	struct scap_fake *f = scap_fake_new();
	struct sinsp_printer *pr;
	struct sinsp_text text = {0};
	struct sinsp_evt evt;
	struct sinsp *s;

	(void)state;
	has_thread(f, 10, 0, "cat");
	loses(f, 2000, 4000, LOST_EXECS);
	reads(f, 5000, 10, 3);
	CALL(f, 6000, 10, EVT_EXECVE_X, 28, I(0), "new", "", I(0), I(10), I(10), I(1), "/x",
	     I(1024), I(0), I(0), I(0), I(0), I(0), "new", "", I(0), "", I(0), I(0), I(0), I(0),
	     I(0), I(0), I(0), I(0), I(0), I(0), I(0), I(0), "/bin/new");
	reads(f, 7000, 10, 3);
	s = start(f, 0);
	assert_int_equal(sinsp_printer_new(&pr, NULL), 0);
	next_exit(s, &evt);
	assert_int_equal(sinsp_printer_line(pr, &text, &evt), 0);
	next_exit(s, &evt);
	next_exit(s, &evt);
	assert_int_equal(sinsp_printer_line(pr, &text, &evt), 0);
	text.p[text.len - 1] = 0;
	assert_non_null(strstr(text.p, " cat? (10) < read res=3 data=abc fd=3(<f?>/before) "));
	assert_non_null(strstr(text.p, " new (10) < read res=3 data=abc fd=3(<f?>/before) "));
	free(text.p);
	sinsp_printer_free(pr);
	sinsp_close(s);
}

/* Opens a file in this process and returns its name. */
static int open_own(char name[64])
{
	int fd;

	snprintf(name, 64, "/tmp/saker_resync_XXXXXX");
	fd = mkostemp(name, O_CLOEXEC);
	assert_true(fd >= 0);
	unlink(name);
	strcat(name, " (deleted)");
	return fd;
}

/* State read from /proc is certain for events after the read, and uncertain for events in the
 * queue. */
static void test_resyncs_files(void **state)
{
	const uint64_t now = now_ns();
	struct scap_fake *f;
	struct sinsp_evt evt;
	struct sinsp *s;
	char name[64];
	int fd;

	(void)state;
	if (!scap_proc_is_global())
		skip();
	fd = open_own(name);
	f = scap_fake_new();
	has_thread(f, getpid(), now - NS_PER_S, "test");
	opens(f, now, getpid(), fd, "/other");
	loses(f, now + 10, now + 20, LOST_CLOSES);
	reads(f, now + 30, getpid(), fd);
	reads(f, now + 3600 * NS_PER_S, getpid(), fd);
	opens(f, now + 3601 * NS_PER_S, getpid(), fd, "/new");
	reads(f, now + 3602 * NS_PER_S, getpid(), 1023); /* not open */
	s = start(f, 1);
	next_exit(s, &evt);
	next_exit(s, &evt);
	assert_fd(&evt, name, 0);
	assert_int_equal(evt.fd->type, SCAP_FD_FILE_V2);
	next_exit(s, &evt);
	assert_fd(&evt, name, 1);
	next_exit(s, &evt);
	assert_fd(&evt, "/new", 1);
	next_exit(s, &evt);
	assert_null(evt.fd);
	assert_int_equal(s->resync.n_files, 1);
	sinsp_close(s);
	close(fd);
}

/* A descriptor that is unchanged keeps facts that /proc lacks. */
static void test_same_file(void **state)
{
	const uint64_t now = now_ns();
	struct scap_fake *f;
	struct sinsp_evt evt;
	struct sinsp *s;
	int ends[2];

	(void)state;
	if (!scap_proc_is_global())
		skip();
	assert_int_equal(pipe(ends), 0);
	f = scap_fake_new();
	has_thread(f, getpid(), now - NS_PER_S, "test");
	CALL(f, now, getpid(), EVT_PIPE_X, 4, I(0), I(ends[0]), I(ends[1]), I(0));
	loses(f, now + 10, now + 20, LOST_CLOSES);
	reads(f, now + 30, getpid(), ends[0]);
	s = start(f, 1);
	next_exit(s, &evt);
	next_exit(s, &evt);
	assert_non_null(evt.fd);
	assert_int_equal(evt.fd->type, SCAP_FD_FIFO);
	assert_int_equal(s->resync.n_files, 1);
	sinsp_close(s);
	close(ends[0]);
	close(ends[1]);
}

/* An unknown thread is read, and its descriptors one by one when they are used. */
static void test_resyncs_unknown_threads(void **state)
{
	const uint64_t now = now_ns();
	char name[64], comm[32] = "";
	struct scap_fake *f;
	struct sinsp_evt evt;
	struct sinsp *s;
	FILE *file;
	int fd;

	(void)state;
	if (!scap_proc_is_global())
		skip();
	file = fopen("/proc/self/comm", "r");
	assert_non_null(fgets(comm, sizeof(comm), file));
	comm[strcspn(comm, "\n")] = 0;
	fclose(file);
	fd = open_own(name);
	f = scap_fake_new();
	reads(f, now, getpid(), fd);
	opens(f, now + 10, getpid(), fd, "/new");
	s = start(f, 1);
	next_exit(s, &evt);
	assert_true(evt.thread->known);
	assert_string_equal(evt.thread->comm, comm);
	assert_fd(&evt, name, 0);
	next_exit(s, &evt);
	assert_fd(&evt, "/new", 1); /* older than the read, applied all the same */
	sinsp_close(s);
	close(fd);
}

/* What is read from /proc is redacted as what the source has. */
static void test_resync_is_redacted(void **state)
{
	struct scap_fake *f;
	struct scap_redact *r;
	struct sinsp_evt evt;
	struct sinsp *s;
	char name[64], why[256];
	size_t at;
	int fd;

	(void)state;
	if (!scap_proc_is_global())
		skip();
	assert_int_equal(scap_redact_new(&r), 0);
	assert_int_equal(scap_redact_add_pattern(r, "saker_|test$", 12, why, &at), 0);
	fd = open_own(name);
	f = scap_fake_new();
	reads(f, now_ns(), getpid(), fd);
	scap_fake_redact(f, r);
	s = start(f, 1);
	next_exit(s, &evt);
	assert_true(evt.thread->known);
	assert_string_equal(evt.thread->comm, "resync_****");
	assert_non_null(evt.fd);
	assert_memory_equal(evt.fd->name, "/tmp/******resync_", strlen("/tmp/******resync_"));
	sinsp_close(s);
	scap_redact_free(r);
	close(fd);
}

/* The end of a process and the start of this one, with its PID, were lost. */
static void test_resyncs_reused_tid(void **state)
{
	const uint64_t now = now_ns();
	struct scap_fake *f;
	struct sinsp_evt evt;
	struct sinsp *s;

	(void)state;
	if (!scap_proc_is_global())
		skip();
	f = scap_fake_new();
	has_thread(f, getpid(), 1000, "gone");
	reads(f, 2000, getpid(), 3);
	loses(f, 3000, 4000, LOST_CLONES);
	reads(f, now + 3600 * NS_PER_S, getpid(), 3);
	s = start(f, 1);
	next_exit(s, &evt);
	assert_comm(&evt, "gone", 1);
	next_exit(s, &evt);
	assert_string_not_equal(evt.thread->comm, "gone");
	assert_true(!evt.fd || strcmp(evt.fd->name, "/before"));
	assert_true(sinsp_thread_is_certain(s, evt.thread, evt.raw.true_ns));
	sinsp_close(s);
}

static pid_t ended_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return pid;
}

/* A thread whose procexit was lost is removed after its last events. */
static void test_lost_exits(void **state)
{
	enum { ROUND = 10000 }; /* events per search of the whole table, twice */
	const uint64_t now = now_ns();
	const pid_t dead = ended_child();
	struct scap_fake *f;
	struct sinsp_evt evt;
	struct sinsp *s;

	(void)state;
	if (!scap_proc_is_global())
		skip();
	f = scap_fake_new();
	has_thread(f, getpid(), now - NS_PER_S, "alive");
	has_thread(f, dead, now - NS_PER_S, "dead");
	loses(f, now, now + 1, LOST_EXITS);
	for (int i = 0; i < ROUND; i++)
		reads(f, now + 10 + i, getpid(), 0);
	reads(f, now + 100000, dead, 3);
	for (int i = 0; i < ROUND; i++)
		reads(f, now + 3600 * NS_PER_S + i, getpid(), 0);
	s = start(f, 1);
	do
		next_exit(s, &evt);
	while (evt.raw.hdr->tid != (uint64_t)dead);
	assert_string_equal(evt.thread->comm, "dead");
	while (sinsp_next(s, &evt, 0) == 1)
		;
	assert_null(sinsp_thread_find(s, dead));
	assert_non_null(sinsp_thread_find(s, getpid()));
	assert_int_equal(s->resync.n_ended, 1);
	sinsp_close(s);
}

/* Reads take little time, however much is uncertain. */
static void test_is_bounded(void **state)
{
	enum { N = 30000 };
	const uint64_t now = now_ns();
	struct scap_fake *f;
	struct sinsp_evt evt;
	struct sinsp *s;

	(void)state;
	if (!scap_proc_is_global())
		skip();
	f = scap_fake_new();
	has_thread(f, getpid(), now - NS_PER_S, "test");
	loses(f, now, now + 1, LOST_CLOSES);
	for (int i = 0; i < N; i++)
		reads(f, now + 10 + i, getpid(), 100 + i);
	s = start(f, 1);
	while (sinsp_next(s, &evt, 0) == 1)
		;
	assert_true(s->resync.n_reads > 0);
	assert_true(s->resync.n_reads < N / 2);
	sinsp_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replay),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_old_marker),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_resyncs_files),
		cmocka_unit_test(test_same_file),
		cmocka_unit_test(test_resyncs_unknown_threads),
		cmocka_unit_test(test_resync_is_redacted),
		cmocka_unit_test(test_resyncs_reused_tid),
		cmocka_unit_test(test_lost_exits),
		cmocka_unit_test(test_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
