/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of files and sockets. Expected texts are those of sysdig 0.29.3, except where a comment
 * gives the difference. */
#include "fd.h"
#include "field_test.h"
#include "state/inspector.h"

struct want {
	int64_t num; /* the file; -1: none */
	const char *field, *text;
};

/* Checks the field for a read of each row's file. */
static void check(void **state, const struct want *want, size_t n)
{
	const struct scap_param params[] = {I64(3), BYTES("abc")};
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(*state, &hdr, EVT_READ_X, params, 2);

	for (size_t i = 0; i < n; i++) {
		evt.fdnum = want[i].num;
		evt.fd = sinsp_thread_fd(evt.thread, want[i].num);
		fixture_check(*state, &evt,
			      &(struct field_want){FIXTURE_TID, want[i].field, want[i].text}, 1);
	}
}

#define CHECK_ROWS(rows) check(state, rows, sizeof(rows) / sizeof((rows)[0]))

static void test_files(void **state)
{
	static const struct want rows[] = {
		{3, "fd.num", "3"},
		{3, "fd.type", "file"},
		{3, "fd.typechar", "f"},
		{3, "fd.name", "/etc/passwd"},
		{3, "fd.nameraw", "/etc/passwd"},
		{3, "fd.directory", "/etc"},
		{3, "fd.filename", "passwd"},
		{3, "fd.containername", ":/etc/passwd"},
		{3, "fd.containerdirectory", ":/etc"},
		{3, "fd.uid", "12343"},
		{3, "fd.sockfamily", NULL},
		{3, "fd.l4proto", "<NA>"},
		{3, "fd.cip", NULL},
		{3, "fd.is_server", "false"},
		{3, "fd.connected", "false"},
		{3, "fd.name_changed", "false"},
		{3, "fd.ino", NULL},
		{3, "fd.is_upper_layer", NULL},
		{5, "fd.type", "directory"},
		{5, "fd.directory", "/var/lib"},
		{5, "fd.filename", NULL},
		{6, "fd.type", "pipe"},
		{6, "fd.directory", NULL},
		{12, "fd.type", "event"},
		{17, "fd.type", "<NA>"},
		{17, "fd.typechar", "X"},
		{18, "fd.name",
		 "/ab\xc3\xa9"
		 "c"}, /* sysdig has no letter, either */
		{19, "fd.directory", "/"},
		{19, "fd.filename", "/"},
		{-1, "fd.num", NULL}, /* the enter is before the capture */
		{-1, "fd.name", ""},
		{-1, "fd.directory", NULL},
		{-1, "fd.containerdirectory", NULL},
		{-1, "fd.uid", NULL},
		{99, "fd.num", "99"},
		{99, "fd.type", NULL},
		{99, "fd.typechar", "o"},
		{3, "fd.types[4]", "ipv4"},
		{3, "fd.types[99]", NULL},
		{3, "proc.stdin.name", "/dev/pts/0"},
		{3, "proc.stdin.type", "file"},
		{3, "proc.stdout.name", NULL},
		{3, "proc.fdopencount", "16"},
	};

	CHECK_ROWS(rows);
}

static void test_each_type_of_file_is_listed_once(void **state)
{
	const struct scap_param params[] = {I64(3), BYTES("abc")};
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(*state, &hdr, EVT_READ_X, params, 2);
	const char *text = fixture_field(*state, &evt, "fd.types"), *file;

	assert_non_null(text);
	file = strstr(text, "file");
	assert_non_null(file);
	assert_null(strstr(file + 1, "file"));
	assert_non_null(strstr(text, "signalfd"));
	evt.info = scap_event_info(EVT_GETUID_X);
	assert_null(fixture_field(*state, &evt, "fd.types"));
}

static void test_filters_know_each_kind_of_file(void **state)
{
	const char *const *values = sinsp_field_find("fd.type", 7)->values;

	(void)state;
	for (int type = 0; type < SCAP_FD_MAX; type++) {
		const char *name = sinsp_fd_typename(&(struct sinsp_fd){.type = (uint8_t)type});
		const char *const *v = values;

		while (name && *v && strcmp(*v, name))
			v++;
		assert_non_null(*v);
	}
}

/* 4: 10.0.0.1:40000 -> 10.0.0.2:80, the first is the client; 8: listens on [::1]:8080. */
static void test_sockets(void **state)
{
	static const struct want rows[] = {
		{4, "fd.type", "ipv4"},
		{4, "fd.typechar", "4"},
		{4, "fd.name", "10.0.0.1:40000->10.0.0.2:80"},
		{4, "fd.sockfamily", "ip"},
		{4, "fd.l4proto", "tcp"},
		{4, "fd.ip", "10.0.0.1,10.0.0.2"},
		{4, "fd.port", "40000,80"},
		{4, "fd.proto", "40000,80"},
		{4, "fd.net", "10.0.0.1,10.0.0.2"},
		{4, "fd.cip", "10.0.0.1"},
		{4, "fd.sip", "10.0.0.2"},
		{4, "fd.cport", "40000"},
		{4, "fd.sport", "80"},
		{4, "fd.sproto", "80"},
		{4, "fd.connected", "true"},
		/* Neither is an address of the machine. */
		{4, "fd.lip", "10.0.0.2"},
		{4, "fd.rip", "10.0.0.1"},
		{4, "fd.lport", "80"},
		{4, "fd.is_server", "false"},
		{4, "fd.cip.name", NULL},
		{7, "fd.type", "unix"},
		{7, "fd.sockfamily", "unix"},
		{7, "fd.cip", NULL},
		{7, "fd.cport", NULL}, /* sysdig: 0 */
		{8, "fd.type", "ipv6"},
		{8, "fd.name", "::1:8080"},
		{8, "fd.ip", "::1"},
		{8, "fd.port", "8080"},
		{8, "fd.sport", "8080"},
		{8, "fd.cport", NULL},
		{8, "fd.lport", NULL},
		{8, "fd.is_server", "true"},
		{8, "fd.l4proto", "udp"},
	};

	CHECK_ROWS(rows);
}

/* In captures of saker, connect and accept decide which end is local. */
static void test_our_end(void **state)
{
	static const struct want rows[] = {
		{4, "fd.lip", "10.0.0.1"},    {4, "fd.rip", "10.0.0.2"}, {4, "fd.lport", "40000"},
		{4, "fd.rport", "80"},        {4, "fd.lproto", "40000"}, {4, "fd.lnet", "10.0.0.1"},
		{4, "fd.is_server", "false"}, {99, "fd.name", NULL},     {17, "fd.type", NULL},
		{3, "fd.l4proto", NULL},
	};
	static const struct want server[] = {
		{4, "fd.lip", "10.0.0.2"},
		{4, "fd.rport", "40000"},
		{4, "fd.is_server", "true"},
	};
	struct fixture *f = *state;
	const struct sinsp_thread *t = sinsp_thread_find(f->s, FIXTURE_TID);
	struct sinsp_fd *fd = sinsp_files_edit(&f->s->threads.fds, t->files, 4);

	f->s->native = 1;
	CHECK_ROWS(rows);
	assert_non_null(fd);
	fd->flags &= ~SINSP_FD_F_CLIENT;
	fd->flags |= SINSP_FD_F_SERVER;
	CHECK_ROWS(server);
	f->s->native = 0;
}

struct event_want {
	unsigned int type;
	struct scap_param params[8];
	unsigned int n;
	const char *field, *text;
};

static void check_events(void **state, const struct event_want *want, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct ppm_evt_hdr hdr;
		const struct sinsp_evt evt =
			fixture_evt(*state, &hdr, want[i].type, want[i].params, want[i].n);

		fixture_check(*state, &evt,
			      &(struct field_want){FIXTURE_TID, want[i].field, want[i].text}, 1);
	}
}

#define CHECK_EVENTS(rows) check_events(state, rows, sizeof(rows) / sizeof((rows)[0]))

static void test_files_that_were_not_made(void **state)
{
	const struct event_want rows[] = {
#define OPEN_FAILED EVT_OPENAT_X, {I64(-2), I64(-100), TEXT("a//b/../c"), U32(1), U32(0), U32(0)}, 6
		{OPEN_FAILED, "fd.num", "-1"},
		{OPEN_FAILED, "fd.name", "/home/x/a/c"},
		{OPEN_FAILED, "fd.nameraw", "a/b/../c"},
		{OPEN_FAILED, "fd.directory", "/home/x/a"},
		{OPEN_FAILED, "fd.filename", NULL},
		{OPEN_FAILED, "fd.typechar", "f"},
		{OPEN_FAILED, "fd.type", NULL},
		{OPEN_FAILED, "fd.containername", ":/home/x/a/c"},
		{EVT_SOCKET_X, {I64(-1)}, 1, "fd.typechar", "4"},
		{EVT_SOCKET_X, {I64(-1)}, 1, "fd.name", ""},
		{EVT_GETUID_X, {U32(0)}, 1, "fd.num", NULL},
	};

	CHECK_EVENTS(rows);
}

static void test_paths(void **state)
{
	const struct event_want rows[] = {
#define UNLINK(res, path) EVT_UNLINK_X, {I64(res), TEXT(path)}, 2
		{UNLINK(0, "a"), "fs.path.name", "/home/x/a"},
		{UNLINK(0, "a"), "fs.path.nameraw", "a"},
		{UNLINK(0, "/b/./c"), "fs.path.name", "/b/c"},
		{UNLINK(-2, "a"), "fs.path.name", NULL},
		{UNLINK(0, "a"), "fs.path.source", NULL},
#define RENAME EVT_RENAMEAT2_X, {I64(0), I64(5), TEXT("old"), I64(-100), TEXT("new"), U32(0)}, 6
		{RENAME, "fs.path.source", "/var/lib/old"},
		{RENAME, "fs.path.sourceraw", "old"},
		{RENAME, "fs.path.target", "/home/x/new"},
		{RENAME, "fs.path.name", NULL},
#define SYMLINK(to) EVT_SYMLINK_X, {I64(0), TEXT(to), TEXT("/srv/d/link")}, 3
		{SYMLINK("../x"), "fs.path.source", "/srv/d/link"},
		{SYMLINK("../x"), "fs.path.target", "/srv/x"},
		{SYMLINK("../x"), "fs.path.targetraw", "../x"},
		{SYMLINK("/y"), "fs.path.target", "/y"},
		{EVT_FCHMOD_X, {I64(0), I64(3), U32(0)}, 3, "fs.path.name", "/etc/passwd"},
		{EVT_FCHMOD_X, {I64(0), I64(77), U32(0)}, 3, "fs.path.name", NULL},
		{EVT_MOUNT_X,
		 {I64(0), TEXT("proc"), TEXT("/proc"), TEXT("proc"), U32(0)},
		 5,
		 "fs.path.source",
		 "proc"},
		{EVT_GETUID_X, {U32(0)}, 1, "fs.path.name", NULL},
		{EVT_UNLINK_X, {I64(0)}, 1, "fs.path.name", NULL}, /* cut */
	};

	CHECK_EVENTS(rows);
}

static void test_lists_of_files(void **state)
{
#define ITEM(fd) fd, 0, 0, 0, 0, 0, 0, 0, 1, 0
#define POLL(...) EVT_POLL_X, {I64(1), BYTES_OF(__VA_ARGS__)}, 2
#define BYTES_OF(...) RAW(struct { uint8_t b[sizeof((uint8_t[]){__VA_ARGS__})]; }, {__VA_ARGS__})
	const struct event_want rows[] = {
		{POLL(5, 0, ITEM(3), ITEM(4), ITEM(8), ITEM(99), ITEM(19)), "fdlist.nums",
		 "3,4,8,99,19"},
		{POLL(5, 0, ITEM(3), ITEM(4), ITEM(8), ITEM(99), ITEM(19)), "fdlist.names",
		 "/etc/passwd,10.0.0.1:40000->10.0.0.2:80,::1:8080,<NA>,<NA>"},
		{POLL(3, 0, ITEM(3), ITEM(4), ITEM(8)), "fdlist.cips", "10.0.0.1"},
		{POLL(3, 0, ITEM(3), ITEM(4), ITEM(8)), "fdlist.sips", "10.0.0.2,::1"},
		{POLL(3, 0, ITEM(3), ITEM(4), ITEM(8)), "fdlist.cports", "40000"},
		/* sysdig has no port for listening sockets. */
		{POLL(3, 0, ITEM(3), ITEM(4), ITEM(8)), "fdlist.sports", "80,8080"},
		{POLL(1, 0, ITEM(3)), "fdlist.sips", NULL},
		/* Damaged: fewer items than the count. */
		{POLL(0xff, 0xff, ITEM(3), 1, 2), "fdlist.nums", "3"},
		{POLL(0, 0), "fdlist.nums", NULL},
		{EVT_GETUID_X, {U32(0)}, 1, "fdlist.nums", NULL},
	};

	CHECK_EVENTS(rows);
}

static void test_syslog(void **state)
{
	static const struct {
		const char *data, *field, *text;
	} rows[] = {
		{"<13>hello\n", "syslog.message", "hello."},
		{"<13>hello", "syslog.facility", "1"},
		{"<13>hello", "syslog.facility.str", "user"},
		{"<13>hello", "syslog.severity", "5"},
		{"<13>hello", "syslog.severity.str", "notice"},
		{"<191>x", "syslog.facility.str", "local7"},
		{"<192>x", "syslog.facility.str", NULL},
		{"<192>x", "syslog.facility", "24"},
		{"<>x", "syslog.facility", NULL},
		{"<x>y", "syslog.facility", NULL},
		{"<13", "syslog.facility", NULL},
		{"<99999999999999999999>x", "syslog.facility", NULL},
		{"x", "syslog.message", NULL},
		{"", "syslog.message", NULL},
	};
	struct fixture *f = *state;
	const struct sinsp_thread *t = sinsp_thread_find(f->s, FIXTURE_TID);
	struct sinsp_fd *log = sinsp_files_edit(&f->s->threads.fds, t->files, 7);

	sinsp_fd_set_name(&f->s->threads.fds, log, "0->ab /dev/log", 14);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct scap_param params[] = {
			I64(3), {(const uint8_t *)rows[i].data, strlen(rows[i].data)}};
		struct ppm_evt_hdr hdr;
		struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_WRITE_X, params, 2);

		evt.fdnum = 7;
		evt.fd = log;
		fixture_check(f, &evt,
			      &(struct field_want){FIXTURE_TID, rows[i].field, rows[i].text}, 1);
		evt.fd = sinsp_thread_fd(evt.thread, 3);
		assert_null(fixture_field(f, &evt, rows[i].field));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_filters_know_each_kind_of_file),
		cmocka_unit_test(test_each_type_of_file_is_listed_once),
		cmocka_unit_test(test_sockets),
		cmocka_unit_test(test_our_end),
		cmocka_unit_test(test_files_that_were_not_made),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_lists_of_files),
		cmocka_unit_test(test_syslog),
	};

	return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
