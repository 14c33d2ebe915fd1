/* SPDX-License-Identifier: Apache-2.0 */
#include "evt_io.h"

#include "field_test.h"

enum { KEEP_SIZE = 1, HOLE = 2 }; /* modes of fallocate */

/* The bytes read and written, with their files; NULL: no value. */
struct row {
	unsigned int type;
	const char *read, *written, *all, *from, *to;
	struct scap_param params[10];
	const char *space; /* as written, where that is not 0 */
};

#define NONE BYTES("")
#define IOCTL(request) I64(0), I64(3), U64(request), U64(0)
#define FALLOCATE(res, mode) I64(res), I64(3), U32(mode), I64(100), I64(9)
#define FILE3 "/etc/passwd"
#define SOCK4 "10.0.0.1:40000->10.0.0.2:80"

static void set_files(struct sinsp_evt *evt, int64_t fd, int64_t other)
{
	evt->fdnum = fd;
	evt->fd = sinsp_thread_fd(evt->thread, fd);
	evt->other_fdnum = other;
	evt->other_fd = sinsp_thread_fd(evt->thread, other);
}

static const char *of_kind(const char *n_bytes, const char *file, const char *kind)
{
	return file && strcmp(file, kind) == 0 ? n_bytes : NULL;
}

static void expect(struct fixture *f, const struct sinsp_evt *evt, const struct row *r)
{
	const char *file_read = of_kind(r->read, r->from, FILE3);
	const char *file_written = of_kind(r->written, r->to, FILE3);
	const char *net_read = of_kind(r->read, r->from, SOCK4);
	const char *net_written = of_kind(r->written, r->to, SOCK4);
	const struct field_want want[] = {
		{FIXTURE_TID, "evt.io.file_read_bytes", file_read},
		{FIXTURE_TID, "evt.io.file_write_bytes", file_written},
		{FIXTURE_TID, "evt.io.file_bytes", file_read ?: file_written},
		{FIXTURE_TID, "evt.io.net_read_bytes", net_read},
		{FIXTURE_TID, "evt.io.net_write_bytes", net_written},
		{FIXTURE_TID, "evt.io.net_bytes", net_read ?: net_written},
		{FIXTURE_TID, "evt.io.read_bytes", r->read},
		{FIXTURE_TID, "evt.io.write_bytes", r->written},
		{FIXTURE_TID, "evt.io.bytes", r->all},
		{FIXTURE_TID, "evt.io.space_bytes", r->space ? r->space : r->written},
		{FIXTURE_TID, "fd.in.name", r->from},
		{FIXTURE_TID, "fd.out.name", r->to},
	};

	fixture_check(f, evt, want, sizeof(want) / sizeof(want[0]));
}

static void test_ends(void **state)
{
	const struct row rows[] = {
		{EVT_READ_X, "9", NULL, "9", FILE3, NULL, {I64(9), BYTES("abc")}},
		{EVT_WRITE_X, NULL, "0", "0", NULL, FILE3, {I64(0), BYTES("")}},
		{EVT_READ_X, NULL, NULL, NULL, NULL, NULL, {I64(-11), BYTES("")}},
		{EVT_READ_E, NULL, NULL, NULL, NULL, NULL, {I64(3), U32(9)}},
		{EVT_IOCTL_X, NULL, NULL, NULL, NULL, NULL, {I64(7)}},
		{EVT_IOCTL_X, NULL, NULL, NULL, NULL, NULL, {IOCTL(0x541b), NONE, NONE}},
		{EVT_IOCTL_X, "9", "9", "18", SOCK4, FILE3, {IOCTL(0x40049409), I64(4), U64(9)}},
		{EVT_IOCTL_X, NULL, NULL, NULL, NULL, NULL, {IOCTL(0x4020940d), I64(4), NONE}},
		{EVT_IOCTL_X, NULL, NULL, NULL, NULL, NULL, {IOCTL(0x40049409), NONE, NONE}},
		{EVT_FALLOCATE_X, NULL, "0", "0", NULL, FILE3, {FALLOCATE(0, 0)}, "9"},
		{EVT_FALLOCATE_X, NULL, "0", "0", NULL, FILE3, {FALLOCATE(0, KEEP_SIZE)}, "9"},
		{EVT_FALLOCATE_X, NULL, NULL, NULL, NULL, NULL, {FALLOCATE(-28, 0)}},
		{EVT_FALLOCATE_X, NULL, NULL, NULL, NULL, NULL, {FALLOCATE(0, KEEP_SIZE | HOLE)}},
		{EVT_FTRUNCATE_X, NULL, NULL, NULL, NULL, NULL, {I64(0), I64(3), I64(9)}},
		{EVT_SENDFILE_X, "9", "9", "18", SOCK4, FILE3, {I64(9), U64(0)}},
		{EVT_COPY_FILE_RANGE_X, "9", "9", "18", SOCK4, FILE3, {I64(9)}},
		{EVT_SPLICE_X, "9", "9", "18", FILE3, SOCK4, {I64(9)}},
		{EVT_TEE_X, "9", "9", "18", FILE3, SOCK4, {I64(9)}},
		{EVT_SENDFILE_X, NULL, NULL, NULL, NULL, NULL, {I64(-32), U64(0)}},
		{EVT_VMSPLICE_X, NULL, "9", "9", NULL, FILE3, {I64(9)}},
		{EVT_IO_URING_COMPLETE_X, "9", NULL, "9", FILE3, NULL, {I64(9), U8(22), I64(3)}},
		{EVT_IO_URING_COMPLETE_X, NULL, "9", "9", NULL, FILE3, {I64(9), U8(26), I64(3)}},
		{EVT_IO_URING_COMPLETE_X, NULL, NULL, NULL, NULL, NULL, {I64(9), U8(18), I64(3)}},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ppm_evt_hdr hdr;
		unsigned int n = 0;
		struct sinsp_evt evt;

		while (n < 10 && rows[i].params[n].p)
			n++;
		evt = fixture_evt(f, &hdr, rows[i].type, rows[i].params, n);
		set_files(&evt, 3, 4);
		expect(f, &evt, &rows[i]);
	}
}

/* A call with two files is split into one call for each. */
static void test_split(void **state)
{
	const struct scap_param sent[] = {I64(9), U64(0)}, was_read[] = {I64(9), BYTES("abc")};
	const struct row of_in = {0, "9", NULL, "9", FILE3, NULL, {{0}}};
	const struct row of_out = {0, NULL, "9", "9", NULL, SOCK4, {{0}}};
	struct sinsp_evt ends[2], evt;
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;

	evt = fixture_evt(f, &hdr, EVT_SENDFILE_X, sent, 2);
	set_files(&evt, 4, 3);
	assert_true(sinsp_evt_split(&evt, ends));
	expect(f, &ends[0], &of_in);
	expect(f, &ends[1], &of_out);
	assert_string_equal(fixture_field(f, &ends[0], "fd.name"), FILE3);
	assert_string_equal(fixture_field(f, &ends[1], "fd.name"), SOCK4);
	evt = fixture_evt(f, &hdr, EVT_READ_X, was_read, 2);
	assert_false(sinsp_evt_split(&evt, ends));
}

/* vmsplice with the read end of a pipe reads. */
static void test_vmsplice_of_the_reading_end(void **state)
{
	const struct scap_param moved[] = {I64(9)};
	const struct row row = {0, "9", NULL, "9", FILE3, NULL, {{0}}};
	struct sinsp_fd fd = {
		.num = 3, .name = FILE3, .type = SCAP_FD_FILE, .open_flags = SINSP_O_RDONLY};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_VMSPLICE_X, moved, 1);

	evt.fd = &fd;
	evt.fdnum = 3;
	expect(f, &evt, &row);
}

/* Peeked bytes do not count: they are read again. */
static void test_peek(void **state)
{
	const struct scap_param peeked[] = {I64(9), BYTES("abc"), BYTES(""),
					    I64(4), U32(100),     U32(2)};
	const struct row row = {0};
	struct fixture *f = *state;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_RECVFROM_X, peeked, 6);

	set_files(&evt, 4, -1);
	assert_string_equal(evt.info->params[5].name, "msg_flags");
	expect(f, &evt, &row);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_vmsplice_of_the_reading_end),
		cmocka_unit_test(test_peek),
	};

	return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
