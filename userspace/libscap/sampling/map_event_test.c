/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of /proc/PID/maps as mappings, and these as events. */
#include <errno.h>
#include <string.h>

#include "event/event_table.h"
#include "sampling/map_event.h"
#include "testing/test_main.h"

static void test_lines(void **state)
{
	static const struct {
		const char *line;
		int err;
		struct code_map map;
	} rows[] = {
		{"7f39a7c8e000-7f39a7de4000 r-xp 00026000 fe:00 332835                     "
		 "/usr/lib/x86_64-linux-gnu/libc.so.6",
		 0,
		 {7, 0x7f39a7c8e000, 0x156000, 0x26000, 5, 0xfe, 0, 332835, 0,
		  "/usr/lib/x86_64-linux-gnu/libc.so.6"}},
		{"55ad06963000-55ad069c1000 r--p 0006b000 fe:00 1 /bin/x", -ENOENT, {0}},
		{"7ff016201000-7ff016203000 r-xp 00000000 00:00 0                          [vdso]",
		 0,
		 {7, 0x7ff016201000, 0x2000, 0, 5, 0, 0, 0, 0, "[vdso]"}},
		{"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]",
		 0,
		 {7, 0xffffffffff600000, 0x1000, 0, 4, 0, 0, 0, 0, "[vsyscall]"}},
		{"7f0f64390000-7f0f643a0000 rwxp 00000000 00:00 0 ",
		 0,
		 {7, 0x7f0f64390000, 0x10000, 0, 7, 0, 0, 0, 0, ""}},
		{"1000-2000 r-xp 00000000 103:1f 18446744073709551615 /a b\\012c (deleted)",
		 0,
		 {7, 0x1000, 0x1000, 0, 5, 0x103, 0x1f, UINT64_MAX, 0, "/a b\nc (deleted)"}},
		{"2000-1000 r-xp 00000000 00:00 0", -EBADMSG, {0}},
		{"1000-2000 r-x", -EBADMSG, {0}},
		{"", -EBADMSG, {0}},
		{"\xff\xfe", -EBADMSG, {0}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct code_map *want = &rows[i].map;
		char line[256];
		struct code_map map;

		strcpy(line, rows[i].line);
		assert_int_equal(map_event_parse(line, 7, &map), rows[i].err);
		if (rows[i].err)
			continue;
		assert_int_equal(map.pid, 7);
		assert_int_equal(map.addr, want->addr);
		assert_int_equal(map.length, want->length);
		assert_int_equal(map.offset, want->offset);
		assert_int_equal(map.prot, want->prot);
		assert_int_equal(map.major, want->major);
		assert_int_equal(map.minor, want->minor);
		assert_int_equal(map.ino, want->ino);
		assert_string_equal(map.path, want->path);
		assert_int_equal(map.path_len, strlen(want->path));
	}
}

static void test_events(void **state)
{
	static _Alignas(8) uint8_t buf[MAP_EVENT_MAX];
	const struct ppm_evt_hdr *hdr = (const struct ppm_evt_hdr *)buf;
	char path[2 * MAP_PATH_MAX];
	struct code_map map = {
		.pid = 42,
		.addr = 0x1000,
		.length = 0x2000,
		.prot = 5,
		.major = 0x103,
		.minor = 0x12345,
		.path = path,
		.path_len = sizeof(path),
	};
	struct scap_params ps;
	uint64_t v;

	(void)state;
	memset(path, 'x', sizeof(path));
	map_event_build(buf, 99, &map);
	assert_int_equal(hdr->ts, 99);
	assert_int_equal(hdr->type, EVT_MAP_E);
	assert_true(hdr->len <= MAP_EVENT_MAX);
	assert_int_equal(scap_evt_params(hdr, &ps), 0);
	assert_int_equal(ps.n, scap_event_info(EVT_MAP_E)->n_params);
	assert_int_equal(scap_evt_u64(hdr, "pid", &v), 0);
	assert_int_equal(v, 42);
	assert_int_equal(scap_evt_u64(hdr, "ino_gen", &v), -ENOENT);
	assert_int_equal(scap_evt_u64(hdr, "no such", &v), -ENOENT);
	assert_int_equal(get_u32(ps.v[scap_event_param(EVT_MAP_E, "dev")].p),
			 0x45 | 0x103 << 8 | 0x123 << 20);
	/* A path that is too long is cut, and ends. */
	assert_int_equal(ps.v[scap_event_param(EVT_MAP_E, "path")].len, MAP_PATH_MAX);
	map.path_len = 0;
	map_event_build(buf, 99, &map);
	assert_int_equal(scap_evt_params(hdr, &ps), 0);
	assert_int_equal(ps.v[scap_event_param(EVT_MAP_E, "path")].len, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
