/* SPDX-License-Identifier: Apache-2.0 */
/* The container of a thread: through clone, exec and container events. */
#include "containers.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "container_lookup.h"
#include "sinsp.h"
#include "state/inspector.h"
#include "testing/engine_fake.h"
#include "testing/fake_docker.h"
#include "testing/test_main.h"

#define H "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define IN_DOCKER "cpu=/docker/" H
#define IN_LXC "cpu=/lxc/box"
#define HOST "cpu=/user.slice"
#define EVENT_OF(id, more) "{\"container\":{\"id\":\"" id "\",\"type\":0" more "}}"

#define I(x) ((int64_t)(x))
#define NOTHING "", I(0)

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

static void has_process(struct world *w, int64_t pid, const char *cgroups)
{
	const struct scap_thread_info t = {
		.tid = pid,
		.pid = pid,
		.vtid = pid,
		.vpid = pid,
		.comm = "sh",
		.exe = "sh",
		.cwd = "/",
		.cgroups = {cgroups, strlen(cgroups) + 1},
	};

	assert_int_equal(scap_state_build_thread(scap_fake_state(w->f), &t), 0);
}

static void execs(struct world *w, int64_t tid, const char *cgroups)
{
	uint64_t enter = tick(w), exit = tick(w);

	assert_int_equal(scap_fake_add_call(w->f, enter, exit, 0, tid, EVT_EXECVE_X, 15, I(0), "sh",
					    NOTHING, tid, tid, I(1), "", I(0), I(0), I(0), I(0),
					    I(0), I(0), "sh", cgroups, I(strlen(cgroups) + 1)),
			 0);
}

/* The clone event of the parent, as of 2022. */
static void forks(struct world *w, int64_t tid, int64_t child, const char *cgroups)
{
	uint64_t enter = tick(w), exit = tick(w);

	assert_int_equal(scap_fake_add_call(w->f, enter, exit, 0, tid, EVT_CLONE_X, 20, child, "sh",
					    NOTHING, tid, tid, I(1), "/", I(0), I(0), I(0), I(0),
					    I(0), I(0), "sh", cgroups, I(strlen(cgroups) + 1), I(0),
					    I(0), I(0), tid, tid),
			 0);
}

static void exits(struct world *w, int64_t tid)
{
	assert_int_equal(scap_fake_add(w->f, tick(w), 0, tid, EVT_PROCEXIT_E, 5, I(0), I(0), I(0),
				       I(0), I(-1)),
			 0);
}

static void apply_event(struct world *w, const char *json)
{
	assert_int_equal(scap_fake_add(w->f, tick(w), 0, -1, EVT_CONTAINER_272_E, 1, json), 0);
}

static struct sinsp *start(struct world *w, const struct sinsp_opts *opts)
{
	struct sinsp *s;
	struct scap *src;

	assert_int_equal(scap_fake_open(&src, w->f), 0);
	assert_int_equal(sinsp_open(&s, src, opts), 0);
	return s;
}

static struct sinsp *play(struct world *w)
{
	struct sinsp *s = start(w, NULL);
	struct sinsp_evt evt;

	while (sinsp_next(s, &evt, 0) == 1)
		;
	return s;
}

static const struct sinsp_container *container_of(struct sinsp *s, int64_t tid)
{
	struct sinsp_thread *t = sinsp_thread_find(s, tid);

	assert_non_null(t);
	return sinsp_thread_container(t);
}

static void assert_container(struct sinsp *s, int64_t tid, const char *id)
{
	const struct sinsp_container *c = container_of(s, tid);

	if (id)
		assert_string_equal(c ? c->id : "the host", id);
	else
		assert_null(c);
}

static void test_clone_and_exec(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_process(&w, 10, HOST);
	has_process(&w, 20, IN_DOCKER);
	has_process(&w, 30, "");
	forks(&w, 20, 21, IN_DOCKER);
	forks(&w, 10, 11, HOST);
	forks(&w, 10, 12, HOST);
	forks(&w, 10, 13, IN_LXC);
	execs(&w, 12, IN_DOCKER);
	forks(&w, 20, 22, IN_DOCKER);
	execs(&w, 22, HOST);
	s = play(&w);
	assert_container(s, 10, NULL);
	assert_container(s, 20, "0123456789ab");
	assert_container(s, 30, NULL);
	assert_container(s, 21, "0123456789ab");
	assert_container(s, 11, NULL);
	assert_container(s, 12, "0123456789ab");
	assert_container(s, 13, "box");
	assert_container(s, 22, NULL);
	assert_ptr_equal(container_of(s, 20), container_of(s, 12));
	assert_string_equal(container_of(s, 20)->full_id, H);
	assert_string_equal(container_of(s, 20)->name, "");
	assert_int_equal(container_of(s, 13)->type, SINSP_CT_LXC);
	assert_string_equal(container_of(s, 13)->name, "box");
	sinsp_close(s);
}

/* A thread of an unknown process adds the process, on the host. */
static void test_unknown_thread(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	forks(&w, 50, 51, IN_DOCKER);
	s = play(&w);
	assert_container(s, 51, "0123456789ab");
	sinsp_close(s);
}

static void test_events_tell(void **state)
{
	struct world w = begin();
	struct sinsp *s;
	const struct sinsp_container *c;

	(void)state;
	apply_event(
		&w,
		EVENT_OF("0123456789ab",
			 ",\"name\":\"web\",\"image\":\"shop/web:1\",\"imageid\":\"ff\","
			 "\"imagerepo\":\"shop/"
			 "web\",\"imagetag\":\"1\",\"imagedigest\":\"sha256:1\","
			 "\"ip\":\"10.0.0.1\",\"labels\":{\"app\":\"shop\",\"application\":\"no\","
			 "\"io.kubernetes.pod.uid\":\"1-2\",\"n\":null}"));
	has_process(&w, 20, IN_DOCKER);
	apply_event(&w, EVENT_OF("box", ",\"name\":\"later\""));
	has_process(&w, 30, IN_LXC);
	apply_event(&w, EVENT_OF("box", ",\"name\":\"latest\""));
	s = play(&w);
	c = container_of(s, 20);
	assert_string_equal(c->name, "web");
	assert_string_equal(c->image, "shop/web:1");
	assert_string_equal(c->image_id, "ff");
	assert_string_equal(c->image_repo, "shop/web");
	assert_string_equal(c->image_tag, "1");
	assert_string_equal(c->image_digest, "sha256:1");
	assert_string_equal(c->ip, "10.0.0.1");
	assert_string_equal(c->pod_uid, "1-2");
	assert_string_equal(sinsp_container_label(c, "app"), "shop");
	assert_string_equal(sinsp_container_label(c, "application"), "no");
	assert_null(sinsp_container_label(c, "ap"));
	assert_null(sinsp_container_label(c, "n"));
	assert_string_equal(container_of(s, 30)->name, "latest");
	/* As in sysdig, the type in the event replaces that of the path. */
	assert_int_equal(container_of(s, 30)->type, SINSP_CT_DOCKER);
	sinsp_close(s);
}

/* Hostile JSON does not change the container. */
static void test_broken_events(void **state)
{
	static const char *const broken[] = {
		"",
		"{",
		"[]",
		"{}",
		"7",
		"{\"container\":[]}",
		"{\"container\":{}}",
		"{\"container\":{\"id\":7}}",
		"{\"container\":{\"id\":\"\"}}",
		"{\"container\":{\"id\":\"0123456789ab\",\"name\":\"x\"",
		EVENT_OF("0123456789ab", ",\"name\":\"\\ud800\""),
	};
	static const char *const strange[] = {
		EVENT_OF("0123456789ab", ",\"type\":99"),
		EVENT_OF("0123456789ab", ",\"name\":[1,2],\"labels\":[\"a\",{\"b\":1}]"),
		"{\"container\":{\"id\":\"0123456789ab\",\"type\":-1e300,\"labels\":7}}",
		"{\"container\":{\"id\":\"0123456789ab\",\"type\":\"docker\"}}",
	};
	static char deep[200000], long_id[400];
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_process(&w, 20, IN_DOCKER);
	apply_event(&w, EVENT_OF("0123456789ab", ",\"name\":\"web\""));
	for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++)
		apply_event(&w, broken[i]);
	memset(deep, '[', 60000);
	apply_event(&w, deep);
	snprintf(long_id, sizeof(long_id), "{\"container\":{\"id\":\"%0300d\"}}", 1);
	apply_event(&w, long_id);
	s = play(&w);
	assert_string_equal(container_of(s, 20)->name, "web");
	sinsp_close(s);

	w = begin();
	has_process(&w, 20, IN_DOCKER);
	for (size_t i = 0; i < sizeof(strange) / sizeof(*strange); i++)
		apply_event(&w, strange[i]);
	s = play(&w);
	assert_in_range(container_of(s, 20)->type, 0, SINSP_CT_MAX - 1);
	assert_string_equal(container_of(s, 20)->name, "");
	sinsp_close(s);
}

/* A container without processes is kept for a while. */
static void test_memory_is_bounded(void **state)
{
	enum { MANY = SINSP_DEAD_MAX + 1500 };
	struct world w = begin();
	char cgroups[64];
	struct sinsp *s;

	(void)state;
	has_process(&w, 10, HOST);
	apply_event(&w, EVENT_OF("kept", ",\"name\":\"for long\""));
	for (int i = 0; i < MANY; i++) {
		snprintf(cgroups, sizeof(cgroups), "cpu=/lxc/box-%d", i);
		forks(&w, 10, 100 + i, HOST);
		execs(&w, 100 + i, cgroups);
		if (i < MANY - 10)
			exits(&w, 100 + i);
	}
	s = play(&w);
	assert_in_range(s->threads.containers.n, 10,
			10 + SINSP_DEAD_MAX + SINSP_CONTAINERS_RETIRED + SINSP_CONTAINERS_CACHE +
				1);
	for (int i = MANY - 10; i < MANY; i++) {
		snprintf(cgroups, sizeof(cgroups), "box-%d", i);
		assert_container(s, 100 + i, cgroups);
	}
	sinsp_close(s);
}

/* ---- live: new containers are looked up, and reported by events in the stream ---- */

static void answer_with_name(struct fake_docker *d, int fd, const char *path)
{
	(void)d;
	if (strcmp(path, "/containers/" H "/json"))
		fake_answer(fd, "404 Not Found", "");
	else
		fake_answer(fd, "200 OK", "{\"Id\": \"" H "\", \"Name\": \"/web\"}");
}

static int is_container_event(const struct sinsp_evt *evt)
{
	return evt->raw.type == EVT_CONTAINER_E;
}

static struct sinsp_lookup *ask_at(const struct fake_docker *d)
{
	const struct sinsp_lookup_opts opts = {.sz = sizeof(opts), .socket = d->path};
	struct sinsp_lookup *l;

	assert_int_equal(sinsp_lookup_new(&l, &opts), 0);
	return l;
}

/* A container that no engine has is reported first, with its ID as its name. */
static void test_reported_without_query(void **state)
{
	const struct sinsp_opts opts = {.sz = sizeof(opts), .containers = 1};
	struct world w = begin();
	struct sinsp_evt evt;
	struct sinsp *s;

	(void)state;
	has_process(&w, 20, IN_LXC);
	has_process(&w, 21, IN_DOCKER);
	execs(&w, 20, IN_LXC);
	s = start(&w, &opts);
	assert_int_equal(sinsp_next(s, &evt, 0), 1);
	assert_true(is_container_event(&evt));
	assert_int_equal(evt.raw.num, 1);
	assert_false(sinsp_evt_shown(s, &evt));
	assert_string_equal(evt.thread->comm, "container:box");
	assert_string_equal(container_of(s, 20)->name, "box");
	assert_int_equal(container_of(s, 20)->type, SINSP_CT_LXC);
	while (sinsp_next(s, &evt, 0) == 1)
		assert_false(is_container_event(&evt));
	sinsp_close(s);
}

static void check_asked_once(const char *running)
{
	struct sinsp_opts opts = {.sz = sizeof(opts), .containers = 1};
	struct world w = begin();
	struct fake_docker d;
	struct sinsp_evt evt;
	struct sinsp *s;
	int n_told = 0;

	fake_start(&d, answer_with_name);
	d.running = running;
	opts.lookup = ask_at(&d);
	has_process(&w, 20, IN_DOCKER);
	/* Reads events until the answer comes. */
	for (int i = 0; i < 1000; i++)
		forks(&w, 20, 1000 + i % 100, IN_DOCKER);
	s = start(&w, &opts);
	while (sinsp_next(s, &evt, 0) == 1) {
		const struct timespec ts = {0, 10000000};

		if (is_container_event(&evt)) {
			n_told++;
			assert_string_equal(evt.thread->comm, "container:0123456789ab");
			assert_string_equal(container_of(s, 20)->name, "web");
		} else if (!n_told) {
			assert_string_equal(container_of(s, 20)->name, "");
			nanosleep(&ts, NULL);
		}
	}
	assert_int_equal(n_told, 1);
	assert_int_equal(fake_n_requests(&d), 1);
	sinsp_close(s);
	fake_stop(&d);
}

/* It has one event, whether it was listed at the start, queried when it was seen, or both. */
static void test_queried_once(void **state)
{
	(void)state;
	check_asked_once(NULL);
	for (int i = 0; i < 5; i++)
		check_asked_once("[{\"Id\": \"" H "\"}]");
}

/* ---- a user runs a process with the ID of another's container, and a server that answers for it
 * ---- */

#define OTHER "0123456789abffffffffffffffffffffffffffffffffffffffffffffffffffff"
#define OF_USER                                                                                    \
	"cpu=/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" OTHER ".scope"
#define LXC_OF_USER "cpu=/user.slice/user-1000.slice/lxc/box"

static void answer_with_two_names(struct fake_docker *d, int fd, const char *path)
{
	(void)d;
	if (!strcmp(path, "/containers/" H "/json"))
		fake_answer(fd, "200 OK", "{\"Id\": \"" H "\", \"Name\": \"/web\"}");
	else if (!strcmp(path, "/containers/" OTHER "/json"))
		fake_answer(fd, "200 OK", "{\"Id\": \"" OTHER "\", \"Name\": \"/forged\"}");
	else
		fake_answer(fd, "404 Not Found", "");
}

/* A user's path first: it has the container until the system's comes. */
static void test_user_has_no_container_of_the_system(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_process(&w, 10, HOST);
	forks(&w, 10, 20, OF_USER);
	forks(&w, 10, 21, IN_DOCKER);
	forks(&w, 10, 22, OF_USER "x");
	forks(&w, 10, 30, LXC_OF_USER);
	forks(&w, 10, 31, IN_LXC);
	forks(&w, 10, 32, LXC_OF_USER);
	forks(&w, 10, 33, LXC_OF_USER "/x");
	s = play(&w);
	assert_container(s, 20, "0123456789ab");
	assert_container(s, 21, "0123456789ab");
	assert_ptr_not_equal(container_of(s, 20), container_of(s, 21));
	assert_string_equal(container_of(s, 20)->full_id, OTHER);
	assert_int_equal(container_of(s, 20)->uid, 1000);
	assert_string_equal(container_of(s, 21)->full_id, H);
	assert_int_equal(container_of(s, 21)->uid, SINSP_NO_UID);
	assert_container(s, 22, NULL);
	assert_ptr_not_equal(container_of(s, 30), container_of(s, 31));
	assert_container(s, 33, NULL);
	sinsp_close(s);
}

/* What is recorded of a path that is too deep to be recorded whole. */
#define DEEP "cpu=/.../user@1000.service/a/b/c/d/e/f/g/docker-" H ".scope"
/* User 1000 makes a cgroup with the name of user 1001's slice below his own. */
#define AS_1001 "cpu=/user.slice/user-1000.slice/user.slice/user-1001.slice/docker-" H ".scope"
#define OF_1001 "cpu=/user.slice/user-1001.slice/docker-" H ".scope"

static void test_user_is_nobody_else(void **state)
{
	struct world w = begin();
	struct sinsp *s;

	(void)state;
	has_process(&w, 10, HOST);
	forks(&w, 10, 20, OF_1001);
	forks(&w, 10, 21, AS_1001);
	forks(&w, 10, 22, DEEP);
	forks(&w, 10, 23, IN_DOCKER);
	forks(&w, 10, 24, DEEP "/x");
	s = play(&w);
	assert_int_equal(container_of(s, 20)->uid, 1001);
	assert_container(s, 21, NULL);
	assert_container(s, 22, NULL);
	assert_int_equal(container_of(s, 23)->uid, SINSP_NO_UID);
	assert_container(s, 24, NULL);
	sinsp_close(s);
	/* If no other path has the ID, the process is shown in the container, by its ID. */
	w = begin();
	has_process(&w, 10, HOST);
	forks(&w, 10, 22, DEEP);
	s = play(&w);
	assert_container(s, 22, "0123456789ab");
	assert_int_equal(container_of(s, 22)->uid, SINSP_UNKNOWN_UID);
	sinsp_close(s);
}

/* A user's container is in no pod, whatever its path and its engine say. */
static void test_user_has_no_pod(void **state)
{
	struct world w = begin();
	const struct sinsp_container *c;
	struct sinsp *s;

	(void)state;
	has_process(&w, 10, HOST);
	forks(&w, 10, 20,
	      "cpu=/user.slice/user-1000.slice/kubepods/"
	      "pod01234567-89ab-cdef-0123-456789abcdef/" H);
	apply_event(&w,
		    EVENT_OF("0123456789ab", ",\"labels\":{\"app\":\"shop\","
					     "\"io.kubernetes.pod.name\":\"etcd\",\"z\":\"1\"}"));
	s = play(&w);
	c = container_of(s, 20);
	assert_string_equal(c->pod_uid, "");
	assert_null(sinsp_container_label(c, SINSP_LABEL_POD_NAME));
	assert_string_equal(sinsp_container_label(c, "app"), "shop");
	assert_string_equal(sinsp_container_label(c, "z"), "1");
	sinsp_close(s);
}

/* @system_tid: the one of the two that the system runs. */
static void check_names(const char *first, const char *second, int64_t system_tid)
{
	struct sinsp_opts opts = {.sz = sizeof(opts), .containers = 1};
	struct world w = begin();
	struct fake_docker d;
	struct sinsp_evt evt;
	struct sinsp *s;

	fake_start(&d, answer_with_two_names);
	opts.lookup = ask_at(&d);
	has_process(&w, 10, HOST);
	forks(&w, 10, 20, first);
	forks(&w, 10, 21, second);
	for (int i = 0; i < 300; i++)
		forks(&w, 10, 1000 + i, HOST);
	s = start(&w, &opts);
	while (sinsp_next(s, &evt, 0) == 1) {
		const struct timespec ts = {0, 5000000};
		struct sinsp_thread *t = sinsp_thread_find(s, system_tid);
		const struct sinsp_container *c = t ? sinsp_thread_container(t) : NULL;

		assert_true(!c || !*c->name || !strcmp(c->name, "web"));
		if (t && sinsp_thread_find(s, 21))
			nanosleep(&ts, NULL); /* for the answers, once both run */
	}
	assert_string_equal(container_of(s, system_tid)->name, "web");
	sinsp_close(s);
	fake_stop(&d);
}

static void test_user_names_no_container_of_the_system(void **state)
{
	(void)state;
	check_names(IN_DOCKER, OF_USER, 20);
	check_names(OF_USER, IN_DOCKER, 21);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clone_and_exec),
		cmocka_unit_test(test_unknown_thread),
		cmocka_unit_test(test_events_tell),
		cmocka_unit_test(test_broken_events),
		cmocka_unit_test(test_memory_is_bounded),
		cmocka_unit_test(test_reported_without_query),
		cmocka_unit_test(test_queried_once),
		cmocka_unit_test(test_user_has_no_container_of_the_system),
		cmocka_unit_test(test_user_is_nobody_else),
		cmocka_unit_test(test_user_has_no_pod),
		cmocka_unit_test(test_user_names_no_container_of_the_system),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
