/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of processes and threads. Expected texts are those of sysdig 0.29.3, or for fields that it
 * lacks, of Falco's libs. */
#include "field_test.h"
#include "state/inspector.h"

enum {
	INIT = 1,
	SSHD = 100,
	SHELL = 200,
	CAT = 300,
	WORKER = 301,
	LOOP_A = 400,
	LOOP_B = 401,
	LOOP_C = 402,
	SELF = 410,
	HUGE_ARGS = 500,
	CHECK = 600, /* of a container's health */
	CHECK_CHILD = 601,
	IN_CONTAINER = 602,
	NAMESPACED = 700,
	STRANGER = 900,
};

#define LIST(s)                                                                                    \
	{                                                                                          \
		(s), sizeof(s)                                                                     \
	}
#define CGROUP "memory=/docker/" H64
#define H64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static char huge[65536];

static const struct scap_thread_info threads[] = {
	{.tid = INIT, .pid = INIT, .vtid = 1, .vpid = 1, .sid = 1, .vpgid = 1, .comm = "systemd"},
	{.tid = SSHD, .pid = SSHD, .ptid = INIT, .vtid = SSHD, .vpid = SSHD, .comm = "sshd"},
	{.tid = SHELL,
	 .pid = SHELL,
	 .ptid = SSHD,
	 .vtid = SHELL,
	 .vpid = SHELL,
	 .sid = SHELL,
	 .vpgid = SHELL,
	 .comm = "bash",
	 .exe = "-bash",
	 .exepath = "/bin/bash",
	 .env = LIST("HOME=/root\0EMPTY=\0A=1"),
	 .start_ns = FIXTURE_TS - 5000000000},
	{.tid = CAT,
	 .pid = CAT,
	 .ptid = SHELL,
	 .vtid = CAT,
	 .vpid = CAT,
	 .sid = SHELL,
	 .vpgid = CAT,
	 .comm = "c\x1b\xc3\xa9t",
	 .exe = "/bin/cat",
	 .exepath = "/usr/bin/cat",
	 .args = LIST("-n\0\0a b"),
	 .env = LIST("HOME=/home/x\0B=2\0\0\0\0"),
	 .cgroups = LIST("cpuset=/\0io=/user.slice\0mem_cgroup=/a=b"),
	 .cwd = "/home/x/",
	 .fdlimit = 1024,
	 .uid = 1000,
	 .gid = 1000,
	 .vmsize_kb = 100,
	 .vmrss_kb = 50,
	 .vmswap_kb = 3,
	 .pfmajor = 7,
	 .pfminor = 8,
	 .tty_known = 1,
	 .tty = 34816,
	 .loginuid = -1,
	 .exe_writable = 1,
	 .exe_kind = SCAP_EXE_UPPER_LAYER,
	 .exe_kind_known = SCAP_EXE_UPPER_LAYER | SCAP_EXE_MEMFD,
	 .caps_known = 1,
	 .cap_permitted = 1ull << 21 | 1,
	 .cap_effective = 1ull << 40,
	 .start_ns = FIXTURE_TS - 1000000001,
	 .exe_ino = 4711,
	 .exe_ctime_ns = FIXTURE_TS - 1000000003,
	 .exe_mtime_ns = FIXTURE_TS - 1000000004,
	 .pidns_start_ns = FIXTURE_TS - 1000000010},
	{.tid = WORKER,
	 .pid = CAT,
	 .ptid = CAT,
	 .vtid = WORKER,
	 .vpid = CAT,
	 .comm = "worker",
	 .pfmajor = 1,
	 .pfminor = 2},
	{.tid = LOOP_A, .pid = LOOP_A, .ptid = LOOP_B, .comm = "a", .sid = LOOP_A},
	{.tid = LOOP_B, .pid = LOOP_B, .ptid = LOOP_A, .comm = "b"},
	{.tid = LOOP_C, .pid = LOOP_C, .ptid = LOOP_A, .comm = "c", .sid = 999999},
	{.tid = SELF, .pid = SELF, .ptid = SELF, .comm = "self"},
	{.tid = HUGE_ARGS,
	 .pid = HUGE_ARGS,
	 .ptid = INIT,
	 .comm = "huge",
	 .exe = "x",
	 .args = {huge, sizeof(huge)}},
	{.tid = CHECK,
	 .pid = CHECK,
	 .ptid = INIT,
	 .vtid = 9,
	 .vpid = 9,
	 .comm = "sh",
	 .exe = "/bin/sh",
	 .args = LIST("-c\0curl x"),
	 .cgroups = LIST(CGROUP)},
	{.tid = CHECK_CHILD,
	 .pid = CHECK_CHILD,
	 .ptid = CHECK,
	 .vtid = 10,
	 .vpid = 10,
	 .comm = "curl",
	 .cgroups = LIST(CGROUP)},
	{.tid = IN_CONTAINER,
	 .pid = IN_CONTAINER,
	 .ptid = INIT,
	 .vtid = 1,
	 .vpid = 1,
	 .comm = "sh",
	 .exe = "/bin/sh",
	 .args = LIST("-c\0curl x"),
	 .cgroups = LIST(CGROUP)},
	{.tid = NAMESPACED,
	 .pid = NAMESPACED,
	 .ptid = SHELL,
	 .vtid = 5,
	 .vpid = 5,
	 .sid = SHELL,
	 .vpgid = 5,
	 .pgid = CAT,
	 .comm = "in"},
};

static const char container_json[] =
	"{\"container\":{\"id\":\"0123456789ab\",\"type\":0,\"name\":\"web\",\"image\":\"nginx:1\","
	"\"imageid\":\"\",\"imagerepo\":\"nginx\",\"imagetag\":\"1\",\"imagedigest\":\"\","
	"\"ip\":\"172.17.0.2\",\"privileged\":true,\"labels\":{\"a\":\"1\",\"b.c\":\"2\"},"
	"\"Mounts\":[{\"Source\":\"/src\",\"Destination\":\"/dst\",\"Mode\":\"ro\",\"RW\":false,"
	"\"Propagation\":\"rprivate\"},{\"Source\":\"/s2\",\"Destination\":\"/d2\",\"Mode\":\"\","
	"\"RW\":true,\"Propagation\":\"\"}],"
	"\"Healthcheck\":{\"exe\":\"/bin/sh\",\"args\":[\"-c\",\"curl x\"]}}}";

static void add_container_event(struct scap_fake *fake)
{
	const size_t n = sizeof(container_json);

	assert_int_equal(scap_fake_add(fake, FIXTURE_TS, 0, (uint64_t)-1, EVT_CONTAINER_E, 1,
				       container_json, n),
			 0);
}

static int open_fixture(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct scap_fake *fake = scap_fake_new();
	struct sinsp_evt evt;
	struct scap *src;

	assert_non_null(f);
	assert_non_null(fake);
	memset(huge, 'x', sizeof(huge));
	for (size_t i = 1; i < sizeof(huge); i += 2)
		huge[i] = 0;
	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++)
		assert_int_equal(scap_state_build_thread(scap_fake_state(fake), &threads[i]), 0);
	scap_state_build_user(scap_fake_state(fake), &(struct scap_user){.uid = 1000,
									 .name = "alice",
									 .home = "/home/x",
									 .shell = "/bin/bash"});
	scap_state_build_group(scap_fake_state(fake),
			       &(struct scap_group){.gid = 1000, .name = "users"});
	add_container_event(fake);
	assert_int_equal(scap_fake_add(fake, FIXTURE_TS, 0, STRANGER, EVT_GETUID_E, 0), 0);
	assert_int_equal(scap_fake_open(&src, fake), 0);
	assert_int_equal(sinsp_open(&f->s, src, NULL), 0);
	while (sinsp_next(f->s, &evt, 0) == 1)
		;
	*state = f;
	return 0;
}

static void check(void **state, const struct field_want *want, size_t n)
{
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(*state, &hdr, EVT_GETUID_E, NULL, 0);

	hdr.tid = CAT;
	fixture_check(*state, &evt, want, n);
}

#define CHECK_ROWS(rows) check(state, rows, sizeof(rows) / sizeof((rows)[0]))

static void test_a_process(void **state)
{
	static const struct field_want rows[] = {
		{CAT, "proc.pid", "300"},
		{CAT, "proc.name", "c.\xc3\xa9t"},
		{CAT, "proc.exe", "/bin/cat"},
		{CAT, "proc.exepath", "/usr/bin/cat"},
		{CAT, "proc.args", "-n  a b"},
		{CAT, "proc.args[0]", "-n"},
		{CAT, "proc.args[1]", ""},
		{CAT, "proc.args[2]", "a b"},
		{CAT, "proc.args[3]", NULL},
		{CAT, "proc.cmdnargs", "3"},
		{CAT, "proc.cmdlenargs", "5"},
		{CAT, "proc.cmdline", "c.\xc3\xa9t -n  a b"},
		{CAT, "proc.exeline", "/bin/cat -n  a b"},
		{SHELL, "proc.exeline", "-bash "},
		{CAT, "proc.command", "/bin/cat -n  a b"},
		{SHELL, "proc.command", "-bash "},
		{LOOP_A, "proc.command", "[a]"},
		{SHELL, "proc.cmdline", "bash"},
		{CAT, "proc.env", "HOME=/home/x B=2"},
		{CAT, "proc.env[B]", "2"},
		{CAT, "proc.env.HOME", "/home/x"},
		{CAT, "proc.env[HOM]", NULL},
		{SHELL, "proc.env[EMPTY]", ""},
		{CAT, "proc.cwd", "/home/x/"},
		{CAT, "proc.fdlimit", "1024"},
		{CAT, "proc.fdopencount", "0"},
		{CAT, "proc.vmsize", "100"},
		{CAT, "proc.vmrss", "50"},
		{CAT, "proc.vmswap", "3"},
		{WORKER, "proc.vmsize", "100"},
		{CAT, "thread.vmsize", "100"},
		{CAT, "thread.vmrss.b", "51200"},
		{WORKER, "thread.vmsize", "0"},
		{CAT, "thread.pfmajor", "7"},
		{WORKER, "thread.pfminor", "2"},
		{CAT, "proc.nthreads", "2"},
		{WORKER, "proc.nchilds", "1"},
		{CAT, "thread.ismain", "true"},
		{WORKER, "thread.ismain", "false"},
		{WORKER, "thread.nametid", "worker301"},
		{WORKER, "thread.name", "worker"},
		{CAT, "thread.name", "c.\xc3\xa9t"},
		{WORKER, "proc.name", "c.\xc3\xa9t"},
		{WORKER, "proc.aname[0]", "c.\xc3\xa9t"},
		{WORKER, "proc.cmdline", "c.\xc3\xa9t -n  a b"},
		{CAT, "thread.cgroups", "cpuset=/ blkio=/user.slice memory=/a=b"},
		{CAT, "thread.cgroup.blkio", "/user.slice"},
		{CAT, "thread.cgroup.memory", "/a=b"},
		{CAT, "thread.cgroup.cpu", NULL},
		{CAT, "proc.tty", "34816"},
		{CAT, "thread.cap_permitted", "CAP_CHOWN CAP_SYS_ADMIN"},
		{CAT, "thread.cap_inheritable", ""},
		{CAT, "thread.cap_effective", "CAP_CHECKPOINT_RESTORE"},
		{SHELL, "thread.cap_effective", NULL},
		{CAT, "proc.is_exe_writable", "true"},
		{CAT, "proc.is_exe_upper_layer", "true"},
		{CAT, "proc.is_exe_from_memfd", "false"},
		{CAT, "proc.is_exe_lower_layer", NULL},
		{CAT, "proc.duration", "1000000001"},
		{CAT, "proc.ppid.duration", "5000000000"},
		{INIT, "proc.duration", NULL},
		{CAT, "proc.exe_ino", "4711"},
		{CAT, "proc.exe_ino.ctime_duration_proc_start", "2"},
		{CAT, "proc.exe_ino.ctime_duration_pidns_start", "7"},
		{SHELL, "proc.exe_ino", NULL},
		{SHELL, "proc.exe_ino.ctime_duration_proc_start", NULL},
		{CAT, "user.uid", "1000"},
		{CAT, "user.name", "alice"},
		{CAT, "user.homedir", "/home/x"},
		{CAT, "user.shell", "/bin/bash"},
		{CAT, "user.loginuid", "-1"},
		{CAT, "user.loginname", NULL},
		{CAT, "group.gid", "1000"},
		{CAT, "group.name", "users"},
		{SHELL, "user.name", NULL},
	};

	CHECK_ROWS(rows);
}

static void test_ancestors(void **state)
{
	static const struct field_want rows[] = {
		{CAT, "proc.ppid", "200"},
		{WORKER, "proc.ppid", "200"},
		{WORKER, "proc.pname", "bash"},
		{WORKER, "proc.aname[0]", "c.\xc3\xa9t"},
		{CAT, "proc.pexe", "-bash"},
		{CAT, "proc.pexepath", "/bin/bash"},
		{CAT, "proc.pcmdline", "bash"},
		{CAT, "proc.aname", "bash,sshd,systemd"},
		{CAT, "proc.aname[0]", "c.\xc3\xa9t"},
		{CAT, "proc.aname[2]", "sshd"},
		{CAT, "proc.aname[4]", NULL},
		{CAT, "proc.aname[0x7fffffffffffffff]", NULL},
		{CAT, "proc.apid", "200,100,1"},
		{CAT, "proc.aexe[1]", "-bash"},
		{CAT, "proc.aexepath[1]", "/bin/bash"},
		{CAT, "proc.acmdline[2]", "sshd"},
		{CAT, "proc.aargs[0]", "-n  a b"},
		{CAT, "proc.aenv[1]", "HOME=/root EMPTY= A=1"},
		{CAT, "proc.aenv[A]", "1"},
		{CAT, "proc.aenv[B]", NULL}, /* its own */
		{CAT, "proc.loginshellid", "200"},
		{SSHD, "proc.loginshellid", NULL},
		{INIT, "proc.aname", NULL},
		{INIT, "proc.ppid", "0"},
		{INIT, "proc.pname", NULL},
		{CAT, "proc.pvpid", "200"},
	};

	CHECK_ROWS(rows);
}

static void test_leaders(void **state)
{
	static const struct field_want rows[] = {
		{CAT, "proc.sid", "200"},
		{CAT, "proc.sname", "bash"},
		{CAT, "proc.sid.exe", "-bash"},
		{CAT, "proc.sid.exepath", "/bin/bash"},
		{CAT, "proc.is_sid_leader", "false"},
		{SHELL, "proc.is_sid_leader", "true"},
		{CAT, "proc.vpgid", "300"},
		{CAT, "proc.vpgid.name", "c.\xc3\xa9t"},
		{CAT, "proc.is_vpgid_leader", "true"},
		{CAT, "proc.pgid", "300"},
		{NAMESPACED, "proc.pgid", "300"},
		{NAMESPACED, "proc.pgid.exe", "/bin/cat"},
		{NAMESPACED, "proc.is_pgid_leader", "false"},
		{NAMESPACED, "proc.is_vpgid_leader", "true"},
		{NAMESPACED, "proc.vpgid.name", "in"},
		{NAMESPACED, "proc.vpid", "5"},
		{NAMESPACED, "thread.vtid", "5"},
		/* The leader has ended, and no ancestor is in the group. */
		{LOOP_C, "proc.sname", "c"},
	};

	CHECK_ROWS(rows);
}

/* Captures of other tools: as sysdig prints them. */
static void test_what_is_not_known_of_other_tools(void **state)
{
	static const struct field_want rows[] = {
		{STRANGER, "proc.name", "<NA>"},    {STRANGER, "proc.exepath", ""},
		{STRANGER, "proc.args", ""},        {STRANGER, "proc.cwd", ""},
		{STRANGER, "proc.ppid", "-1"},      {STRANGER, "proc.sid", "-1"},
		{STRANGER, "proc.sname", "<NA>"},   {STRANGER, "proc.vpgid", "-1"},
		{STRANGER, "proc.vpid", NULL},      {STRANGER, "proc.fdlimit", "-1"},
		{STRANGER, "proc.fdusage", "0.0"},  {STRANGER, "proc.vmsize", "0"},
		{STRANGER, "thread.pfmajor", "0"},  {STRANGER, "user.uid", "4294967295"},
		{STRANGER, "user.loginuid", "-1"},  {STRANGER, "group.gid", "4294967295"},
		{STRANGER, "thread.exectime", "0"}, {STRANGER, "thread.totexectime", "0"},
		{SHELL, "proc.tty", "0"},
	};

	CHECK_ROWS(rows);
	((struct fixture *)*state)->s->native = 1;
}

static void test_what_is_not_known_has_no_value(void **state)
{
	static const struct field_want rows[] = {
		{SHELL, "proc.tty", NULL},
		{STRANGER, "proc.name", "<NA>"},
		{STRANGER, "proc.exe", "<NA>"},
		{STRANGER, "proc.pid", "900"},
		{STRANGER, "proc.exepath", NULL},
		{STRANGER, "proc.args", NULL},
		{STRANGER, "proc.cwd", NULL},
		{STRANGER, "proc.ppid", NULL},
		{STRANGER, "proc.sid", NULL},
		{STRANGER, "proc.sname", NULL},
		{STRANGER, "proc.vpgid", NULL},
		{STRANGER, "proc.pgid", NULL},
		{STRANGER, "proc.vpid", NULL},
		{STRANGER, "proc.fdlimit", NULL},
		{STRANGER, "proc.fdusage", NULL},
		{STRANGER, "proc.vmsize", NULL},
		{STRANGER, "thread.pfmajor", NULL},
		{STRANGER, "user.uid", NULL},
		{STRANGER, "user.loginuid", NULL},
		{STRANGER, "group.gid", NULL},
		{STRANGER, "proc.is_exe_writable", NULL},
		{STRANGER, "proc.cmdnargs", NULL},
		{STRANGER, "thread.cgroups", NULL},
		{STRANGER, "proc.stdin.name", NULL},
		{STRANGER, "thread.exectime", NULL},
	};

	CHECK_ROWS(rows);
}

/* A hostile file may contain this. */
static void test_loops_of_ancestors_end(void **state)
{
	static const struct field_want rows[] = {
		{LOOP_A, "proc.aname", "b"},           {LOOP_B, "proc.aname[1]", "a"},
		{LOOP_A, "proc.aname[1000000]", NULL}, {SELF, "proc.aname", NULL},
		{LOOP_A, "proc.loginshellid", NULL},   {LOOP_A, "proc.sname", "a"},
	};
	struct fixture *f = *state;
	struct sinsp_evt evt = {0};

	CHECK_ROWS(rows);
	/* The loop begins behind it: each ancestor is there, some of them twice. */
	evt.thread = sinsp_thread_find(f->s, LOOP_C);
	assert_non_null(strstr(fixture_field(f, &evt, "proc.aname"), "a,b"));
}

static void test_huge_arguments(void **state)
{
	struct fixture *f = *state;
	struct sinsp_evt evt = {.thread = sinsp_thread_find(f->s, HUGE_ARGS)};
	const char *text = fixture_field(f, &evt, "proc.cmdline");

	assert_int_equal(strlen(text), strlen("huge ") + sizeof(huge) - 1);
	assert_string_equal(text + strlen(text) - 3, "x x");
	assert_string_equal(fixture_field(f, &evt, "proc.cmdnargs"), "32768");
	assert_string_equal(fixture_field(f, &evt, "proc.args[32767]"), "x");
	assert_null(fixture_field(f, &evt, "proc.args[32768]"));
}

static void test_containers(void **state)
{
	static const struct field_want rows[] = {
		{CAT, "container.id", "host"},
		{CAT, "container.name", "host"},
		{CAT, "container.type", "host"},
		{CAT, "container.image", NULL},
		{CAT, "container.privileged", NULL},
		{CAT, "container.mounts", NULL},
		{CHECK, "container.id", "0123456789ab"},
		{CHECK, "container.full_id", H64},
		{CHECK, "container.name", "web"},
		{CHECK, "container.type", "docker"},
		{CHECK, "container.image", "nginx:1"},
		{CHECK, "container.image.id", NULL},
		{CHECK, "container.image.repository", "nginx"},
		{CHECK, "container.image.tag", "1"},
		{CHECK, "container.ip", "172.17.0.2"},
		{CHECK, "container.privileged", "true"},
		{CHECK, "container.mounts", "/src:/dst:ro:false:rprivate,/s2:/d2::true:"},
		{CHECK, "container.mount[0]", "/src:/dst:ro:false:rprivate"},
		{CHECK, "container.mount[1]", "/s2:/d2::true:"},
		{CHECK, "container.mount[2]", NULL},
		{CHECK, "container.mount[/s*]", "/src:/dst:ro:false:rprivate"},
		{CHECK, "container.mount.source[/d2]", "/s2"},
		{CHECK, "container.mount.dest[/s2]", "/d2"},
		{CHECK, "container.mount.mode[0]", "ro"},
		{CHECK, "container.mount.rdwr[1]", "true"},
		{CHECK, "container.mount.propagation[0]", "rprivate"},
		{CHECK, "container.label.a", "1"},
		{CHECK, "container.label[b.c]", "2"},
		{CHECK, "container.label[x]", NULL},
		{CHECK, "container.labels", "a=1,b.c=2"},
		{CHECK, "container.healthcheck", "/bin/sh -c curl x"},
		{CHECK, "container.liveness_probe", "NONE"},
		{CAT, "proc.is_container_healthcheck", "false"},
		{CHECK, "proc.is_container_healthcheck", "true"},
		{CHECK, "proc.is_container_readiness_probe", "false"},
		{CHECK_CHILD, "proc.is_container_healthcheck", "true"},
		{IN_CONTAINER, "proc.is_container_healthcheck", "false"},
	};

	CHECK_ROWS(rows);
}

/* The last switch of a thread comes after its process has none left. */
static void test_none_is_left(void **state)
{
	struct fixture *f = *state;
	struct sinsp_thread *t = sinsp_thread_find(f->s, SHELL);
	struct sinsp_evt evt = {.thread = t};
	const uint32_t n = t->proc->n_threads;

	t->proc->n_threads = 0;
	t->exited = 1;
	assert_string_equal(fixture_field(f, &evt, "proc.nthreads"), "0");
	t->proc->n_threads = n;
	t->exited = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_process),
		cmocka_unit_test(test_ancestors),
		cmocka_unit_test(test_leaders),
		cmocka_unit_test(test_huge_arguments),
		cmocka_unit_test(test_containers),
		cmocka_unit_test(test_none_is_left),
		cmocka_unit_test(test_what_is_not_known_of_other_tools),
		/* The others are of a capture of saker. */
		cmocka_unit_test(test_what_is_not_known_has_no_value),
		cmocka_unit_test(test_loops_of_ancestors_end),
	};

	return cmocka_run_group_tests(tests, open_fixture, fixture_close);
}
