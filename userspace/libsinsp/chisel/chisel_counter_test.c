/* SPDX-License-Identifier: Apache-2.0 */
/* chisel.counter: rows, sums and limits. */
#include <errno.h>

#include "chisel_test.h"

/* show(counter) prints a line per row, with nil for missing values. */
static const char show[] = "function show(c, n)\n"
			   "  for _, row in ipairs(c:rows()) do\n"
			   "    for i = 1, n do row[i] = tostring(row[i]) end\n"
			   "    print(table.concat(row, ' '))\n"
			   "  end\n"
			   "end\n";

static int feed(struct chisel_fixture *f, unsigned int type, const struct scap_param *params,
		unsigned int n, int has_thread)
{
	struct sinsp_evt evt = fixture_evt(f->machine, &f->hdr, type, params, n);

	if (!has_thread)
		evt.thread = NULL;
	return sinsp_chisel_tick(f->c, &evt) ?: sinsp_chisel_event(f->c, &evt);
}

/* Counts a read that returned @res. */
static void count_read(struct chisel_fixture *f, int64_t res, const char *data, uint32_t len)
{
	const struct scap_param params[] = {I64(res), {(const uint8_t *)data, len}};

	assert_int_equal(feed(f, EVT_READ_X, params, 2, 1), 0);
}

static int seek(struct chisel_fixture *f, uint64_t offset, int has_thread)
{
	const struct scap_param params[] = {I64(3), U64(offset), U8(0)};

	return feed(f, EVT_LSEEK_E, params, 3, has_thread);
}

static void count_seek(struct chisel_fixture *f, uint64_t offset, int has_thread)
{
	assert_int_equal(seek(f, offset, has_thread), 0);
}

static void end(struct chisel_fixture *f)
{
	assert_int_equal(sinsp_chisel_end(f->c), 0);
}

static void test_sums(void **state)
{
	struct chisel_fixture f;

	chisel_start(&f, *state, show,
		     "local c = chisel.counter({'evt.type', 'proc.pid'},\n"
		     "  {{field = 'evt.rawres'}, {field = chisel.request_field('evt.rawres'),\n"
		     "   max = true}, {count = true}, {count = true, when = 'evt.is_io_write'},\n"
		     "   {field = 'evt.rawarg.offset'}, {count = true, when = 'evt.rawres'}})\n"
		     "function on_capture_end() show(c, 8) end\n",
		     0);
	count_read(&f, 5, "x", 1);
	count_seek(&f, 7, 1);
	count_read(&f, 9, "x", 1);
	count_read(&f, -4, "x", 1); /* failed: nothing is added */
	count_read(&f, 0, "x", 1);
	count_read(&f, 1, "x", 1);
	end(&f);
	chisel_prints(&f, "read 1234 15 9 5 nil nil 5\n"
			  "lseek 1234 nil nil 1 nil 7 nil\n");
	chisel_stop(&f);
}

/* Keys are equal if evt.field returns equal values. */
static void test_keys(void **state)
{
	static const char expected[] = "a nil 1\nab nil 2\na\0b nil 1\n nil 1\n7 nil 1\nnil 7 2\n"
				       "nil 9.2233720368548e+18 2\n10\ntrue 6\nfalse 4\n";
	struct chisel_fixture f;

	chisel_start(&f, *state, show,
		     "local c = chisel.counter({'evt.rawarg.data', 'evt.rawarg.offset'},\n"
		     "  {{count = true}})\n"
		     "local none = chisel.counter({}, {{count = true}})\n"
		     "local flag = chisel.counter({'evt.is_io_read'}, {{count = true}})\n"
		     "function on_capture_end() show(c, 3) show(none, 1) show(flag, 2) end\n",
		     0);
	count_read(&f, 1, "a", 1);
	count_read(&f, 1, "ab", 2);
	count_read(&f, 1, "a\0b", 3);
	count_read(&f, 1, "", 0);
	count_read(&f, 1, "ab", 2);
	count_read(&f, 1, "7", 1);
	count_seek(&f, 7, 1);
	count_seek(&f, 1ull << 63, 1);
	count_seek(&f, (1ull << 63) + 1, 1); /* the same double */
	count_seek(&f, 7, 1);
	end(&f);
	assert_int_equal(f.len, sizeof(expected) - 1);
	assert_memory_equal(f.out, expected, f.len);
	chisel_stop(&f);
}

/* An event without any of the keys is not counted. */
static void test_missing_keys(void **state)
{
	struct chisel_fixture f;

	chisel_start(&f, *state, show,
		     "local c = chisel.counter({'proc.pid', 'evt.rawres'}, {{count = true}})\n"
		     "function on_capture_end() show(c, 3) end\n",
		     0);
	count_seek(&f, 1, 1);
	count_seek(&f, 1, 0);
	count_read(&f, 3, "x", 1);
	count_seek(&f, 1, 1);
	end(&f);
	chisel_prints(&f, "1234 nil 2\n1234 3 1\n");
	chisel_stop(&f);
}

static void test_large_numbers(void **state)
{
	struct chisel_fixture f;

	chisel_start(&f, *state, show,
		     "local c = chisel.counter({'evt.type'}, {{field = 'evt.rawarg.offset'},\n"
		     "  {field = 'evt.rawarg.offset', max = true}})\n"
		     "function on_capture_end()\n"
		     "  show(c, 3)\n"
		     "  print(math.type(c:rows()[1][2]), math.type(c:rows()[1][3]))\n"
		     "end\n",
		     0);
	count_seek(&f, INT64_MAX, 1);
	end(&f);
	chisel_prints(&f, "lseek 9223372036854775807 9223372036854775807\ninteger\tinteger\n");
	count_seek(&f, 1, 1); /* overflows to a float */
	end(&f);
	chisel_prints(&f, "lseek 9.2233720368548e+18 9223372036854775807\nfloat\tinteger\n");
	count_seek(&f, UINT64_MAX, 1);
	count_seek(&f, 5, 1);
	end(&f);
	chisel_prints(&f, "lseek 2.7670116110564e+19 1.844674407371e+19\nfloat\tfloat\n");
	chisel_stop(&f);
}

/* Enough rows to grow every block several times; each row is found, in the order of first
 * events. */
static void test_many_rows(void **state)
{
	enum { N = 50000 };
	struct chisel_fixture f;
	char data[64];
	int len;

	chisel_start(
		&f, *state, "",
		"local c = chisel.counter({'evt.rawarg.data', 'evt.rawres'},\n"
		"  {{field = 'evt.rawres'}, {count = true}})\n"
		"function on_capture_end()\n"
		"  local rows, wrong = c:rows(), 0\n"
		"  for i, row in ipairs(rows) do\n"
		"    if row[1] ~= ('text of a row that is long %d'):format(i) or\n"
		"       row[2] ~= i or row[3] ~= i * 3 or row[4] ~= 3 then wrong = wrong + 1 end\n"
		"  end\n"
		"  print(#rows, wrong)\n"
		"  c:clear()\n"
		"  print(#c:rows())\n"
		"end\n",
		0);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 3 * N; i++) {
			const int n = i % N + 1;

			len = snprintf(data, sizeof(data), "text of a row that is long %d", n);
			count_read(&f, n, data, (uint32_t)len);
		}
		end(&f);
		chisel_prints(&f, "50000\t0\n0\n");
	}
	chisel_stop(&f);
}

/* The number of rows is limited: the largest stay, and the total is right. */
static void test_too_many_rows(void **state)
{
	enum { N = 250000, LARGE = 500 };
	struct chisel_fixture f;
	char data[64];
	int len;

	chisel_start(&f, *state, "",
		     "local c = chisel.counter({'evt.rawarg.data', 'evt.rawres'},\n"
		     "  {{count = true}, {field = 'evt.rawres'}, {field = 'evt.rawres', max = "
		     "true}}, 2)\n"
		     "function on_capture_end()\n"
		     "  local rows, other, n = c:rows()\n"
		     "  local sum, count, large, last = other[2], other[1], 0, 0\n"
		     "  for i, row in ipairs(rows) do\n"
		     "    sum, count = sum + row[4], count + row[3]\n"
		     "    if row[2] > 1 then large = large + 1 end\n"
		     "    assert(row[1] == ('text of a row that is long %d'):format(row[2]) or "
		     "row[2] == 1)\n"
		     "    local at = tonumber(row[1]:match('%d+$'))\n"
		     "    assert(at > last)\n"
		     "    last = at\n"
		     "  end\n"
		     "  print(#rows <= 100000, #rows + n, count, sum, large, other[3])\n"
		     "  c:clear()\n"
		     "  print(c:rows()[1], select('#', c:rows()))\n"
		     "end\n",
		     0);
	for (int i = 1; i <= N; i++) {
		len = snprintf(data, sizeof(data), "text of a row that is long %d", i);
		count_read(&f, i % LARGE ? 1 : i, data, (uint32_t)len);
	}
	end(&f);
	chisel_prints(&f, "true\t250000\t250000\t62874500\t500\t1\nnil\t1\n");
	chisel_stop(&f);
}

static void test_memory(void **state)
{
	struct chisel_fixture f;
	int err = 0;

	chisel_start(&f, *state, "",
		     "local c = chisel.counter({'evt.rawarg.offset'}, {{count = true}})\n"
		     "function on_capture_end() print(#c:rows()) end\n",
		     2 << 20);
	for (uint64_t i = 0; i < 1000000 && !err; i++)
		err = seek(&f, i, 1);
	assert_int_equal(err, -EINVAL);
	assert_non_null(strstr(f.said, "failed in a counter: memory limit of 2 "));
	chisel_stop(&f);
}

/* Counters without references stop counting, and are collected when memory is short: all of these
 * need ten times the limit. */
static void test_garbage(void **state)
{
	struct chisel_fixture f;

	chisel_start(&f, *state, "",
		     "local function new() return chisel.counter({'evt.rawarg.offset'},\n"
		     "  {{count = true}}) end\n"
		     "local c, n = new(), 0\n"
		     "for i = 1, 1000 do new() end\n" /* more than the limit of counters */
		     "function on_event()\n"
		     "  n = n + 1\n"
		     "  if n % 5000 == 0 then c = new() end\n"
		     "end\n"
		     "function on_capture_end() print(#c:rows()) end\n",
		     4 << 20);
	for (uint64_t i = 1; i < 100000; i++)
		count_seek(&f, i, 1);
	end(&f);
	chisel_prints(&f, "4999\n");
	assert_string_equal(f.said, "");
	chisel_stop(&f);
}

/* The filter applies to counters; lines and on_event are not affected. */
static void test_beside_others(void **state)
{
	struct chisel_fixture f;

	chisel_start(&f, *state, show,
		     "chisel.set_filter('evt.rawres>1')\n"
		     "chisel.set_event_formatter('line %evt.rawres')\n"
		     "local c = chisel.counter({'evt.type'}, {{field = 'evt.rawres'}})\n"
		     "function on_event() show(c, 2) return evt.field(1) ~= 3 end\n"
		     "chisel.request_field('evt.rawres')\n",
		     0);
	count_read(&f, 1, "x", 1);
	count_read(&f, 2, "x", 1);
	count_read(&f, 3, "x", 1);
	chisel_prints(&f, "read 2\nline 2\nread 5\nline 3\n");
	chisel_stop(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),          cmocka_unit_test(test_keys),
		cmocka_unit_test(test_missing_keys),  cmocka_unit_test(test_large_numbers),
		cmocka_unit_test(test_many_rows),     cmocka_unit_test(test_too_many_rows),
		cmocka_unit_test(test_memory),        cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_beside_others),
	};

	return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
