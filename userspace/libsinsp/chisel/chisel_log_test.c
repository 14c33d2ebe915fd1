/* SPDX-License-Identifier: Apache-2.0 */
/* chisel.log: records, their lists, and limits. */
#include <errno.h>

#include "chisel_test.h"

/* show(log, key) prints the records of the key. */
static const char show[] = "function show(g, key)\n"
			   "  local first, last = g:span(key)\n"
			   "  for i = first or 1, last or 0 do\n"
			   "    local v = table.pack(g:values(g:number(key, i)))\n"
			   "    for j = 1, v.n do v[j] = tostring(v[j]) end\n"
			   "    print(i, table.concat(v, ' '))\n"
			   "  end\n"
			   "end\n";

static int feed(struct chisel_fixture *f, unsigned int type, const struct scap_param *params,
		unsigned int n)
{
	struct sinsp_evt evt = fixture_evt(f->machine, &f->hdr, type, params, n);

	return sinsp_chisel_tick(f->c, &evt) ?: sinsp_chisel_event(f->c, &evt);
}

/* A read that returned @res, and an lseek. */
static int put_read(struct chisel_fixture *f, int64_t res, const char *data, uint32_t len)
{
	const struct scap_param params[] = {I64(res), {(const uint8_t *)data, len}};

	return feed(f, EVT_READ_X, params, 2);
}

static int put_seek(struct chisel_fixture *f, uint64_t offset)
{
	const struct scap_param params[] = {I64(3), U64(offset), U8(0)};

	return feed(f, EVT_LSEEK_E, params, 3);
}

static void end(struct chisel_fixture *f)
{
	assert_int_equal(sinsp_chisel_end(f->c), 0);
}

/* Values are those of evt.field; what an event lacks is nil. */
static void test_values(void **state)
{
	static const char expected[] =
		"1\tread 5 a\0b false nil\n2\tlseek nil nil false 7\n"
		"3\tlseek nil nil false 1.844674407371e+19\n4\tread -2  false nil\n"
		"1\t4\t1\t4\n0\t0\n";
	struct chisel_fixture f;

	chisel_start(
		&f, *state, show,
		"local g = chisel.log{filter = 'evt.type in (read, lseek)', max = 10,\n"
		"  keys = {'proc.pid'}, fields = {'evt.type', 'evt.rawres', 'evt.rawarg.data',\n"
		"  'evt.is_io_write', chisel.request_field('evt.rawarg.offset')}}\n"
		"function on_capture_end()\n"
		"  show(g, 1234)\n"
		"  local first, last = g:span()\n"
		"  print(first, last, g:span(1234))\n"
		"  print(select('#', g:span(1)), select('#', g:values(5)))\n"
		"end\n",
		0);
	assert_int_equal(put_read(&f, 5, "a\0b", 3), 0);
	assert_int_equal(put_seek(&f, 7), 0);
	assert_int_equal(put_seek(&f, UINT64_MAX), 0);
	assert_int_equal(put_read(&f, -2, "", 0), 0);
	end(&f);
	assert_int_equal(f.len, sizeof(expected) - 1);
	assert_memory_equal(f.out, expected, f.len);
	chisel_stop(&f);
}

/* An event is in the list of each of its keys, once; and no event without keys is kept. */
static void test_keys(void **state)
{
	struct chisel_fixture f;

	chisel_start(&f, *state, show,
		     "local g = chisel.log{filter = 'evt.type=read', max = 10,\n"
		     "  keys = {'evt.rawarg.data', 'evt.rawres', 'evt.rawarg.data'}, fields = "
		     "{'evt.rawres'}}\n"
		     "local none = chisel.log{filter = 'evt.type=read', max = 10,\n"
		     "  keys = {'evt.rawarg.offset'}, fields = {}}\n"
		     "function on_capture_end()\n"
		     "  for _, key in ipairs {'a', 'b', 1, 2} do show(g, key) end\n"
		     "  print(g:number('a', 1), (g:number(2, 1)), (g:number('a', 2)))\n"
		     "  print(none:span())\n"
		     "end\n",
		     0);
	assert_int_equal(put_read(&f, 1, "a", 1), 0);
	assert_int_equal(put_read(&f, 2, "b", 1), 0);
	assert_int_equal(put_read(&f, 1, "b", 1), 0);
	end(&f);
	chisel_prints(&f, "1\t1\n1\t2\n2\t1\n1\t1\n2\t1\n1\t2\n1\t2\tnil\n1\t0\n");
	chisel_stop(&f);
}

/* The oldest record of all is evicted; the key of an idle thread stays as long as it has one. Lists
 * and the ring of records grow, and their items keep their numbers. */
static void test_eviction(void **state)
{
	enum { N = 30000 };
	struct chisel_fixture f;
	char data[16];

	chisel_start(
		&f, *state, "",
		"local g = chisel.log{filter = 'evt.type=read', max = 1000,\n"
		"  keys = {'evt.rawarg.data', 'proc.pid'}, fields = {'evt.rawres'}}\n"
		"function on_capture_end()\n"
		"  print(g:span('idle'))\n"
		"  print(g:span('k1'))\n"
		"  local first, last = g:span(1234)\n"
		"  local wrong = 0\n"
		"  for i = first, last do\n"
		"    if g:number(1234, i) ~= i or g:values(i) ~= i then wrong = wrong + 1 end\n"
		"  end\n"
		"  print(first, last, wrong, (g:values(first - 1)))\n"
		"  print(g:span('gone'))\n"
		"end\n",
		0);
	for (int i = 1; i <= N; i++) {
		const int len = i == 1         ? snprintf(data, sizeof(data), "gone")
				: i == N - 900 ? snprintf(data, sizeof(data), "idle")
					       : snprintf(data, sizeof(data), "k%d", i % 700);

		assert_int_equal(put_read(&f, i, data, (uint32_t)len), 0);
	}
	end(&f);
	chisel_prints(&f, "1\t1\n42\t42\n29001\t30000\t0\tnil\n\n");
	chisel_stop(&f);
}

/* only: one record of each key, of its first or last event; the key whose record is the oldest is
 * evicted, and may come again. */
static void test_only(void **state)
{
	struct chisel_fixture f;

	chisel_start(
		&f, *state, show,
		"local options = {filter = 'evt.type=read', max = 2, keys = {'evt.rawarg.data'}, "
		"only = 'first',\n"
		"  fields = {'evt.rawres'}, begin = 'evt.rawres', length = 'evt.rawres'}\n"
		"local a = chisel.log(options)\n"
		"options.only = 'last'\n"
		"local b = chisel.log(options)\n"
		"function on_capture_end()\n"
		"  for _, g in ipairs {a, b} do show(g, 'a') show(g, 'b') print(g:span()) end\n"
		"  local n = b:number('a', 1)\n"
		"  if n then print(b:times(n)) else print(n) end\n"
		"end\n",
		0);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(put_read(&f, i + 1, "a", 1), 0);
		assert_int_equal(put_read(&f, i + 10 + (i == 4) * 1000, "b", 1), 0);
	}
	end(&f);
	chisel_prints(&f, "1\t1\n1\t10\n1\t2\n1\t5\n1\t1014\n1\t2\n5\t10\n");
	assert_int_equal(put_read(&f, 7, "c", 1), 0);
	end(&f);
	chisel_prints(&f, "1\t10\n2\t3\n1\t1014\n2\t3\nnil\n");
	chisel_stop(&f);
}

/* A key that had many records and has few gives back its room: so many at once would not fit. */
static void test_room(void **state)
{
	struct chisel_fixture f;

	chisel_start(&f, *state, "",
		     "g = chisel.log{filter = 'evt.type=read', max = 8000, keys = "
		     "{'evt.rawarg.data'}, fields = {},\n"
		     "  begin = 'evt.rawres', length = 'evt.rawres'}\n"
		     "function on_capture_end() print(g:span()) end\n",
		     5 << 19);
	for (int i = 0; i < 40; i++) {
		for (int j = 0; j < 8000; j++) {
			const int of = j % 100 ? i : j / 100 % 40;

			assert_int_equal(put_read(&f, j, (const char *)&of, 4), 0);
		}
	}
	end(&f);
	chisel_prints(&f, "312001\t320000\n");
	assert_string_equal(f.said, "");
	chisel_stop(&f);
}

/* An event that the filter of the run does not match is kept, too, and each only once. */
static void test_followed(void **state)
{
	const struct scap_param params[] = {I64(1), {(const uint8_t *)"x", 1}};
	struct chisel_fixture f;
	struct sinsp_evt evt;

	chisel_start(
		&f, *state, show,
		"chisel.set_filter('evt.type=open')\n"
		"local g = chisel.log{filter = 'evt.type=read', max = 9, keys = {'proc.pid'},\n"
		"  fields = {'evt.rawres'}}\n"
		"function on_event() error('it matches nothing') end\n"
		"function on_capture_end() show(g, 1234) end\n",
		0);
	assert_true(f.run.follows);
	evt = fixture_evt(f.machine, &f.hdr, EVT_READ_X, params, 2);
	assert_int_equal(sinsp_chisel_follow(f.c, &evt), 0);
	assert_int_equal(sinsp_chisel_event(f.c, &evt), 0);
	end(&f);
	chisel_prints(&f, "1\t1\n2\t1\n");
	chisel_stop(&f);
}

/* Those that overlap a span are found as by looking at each of them, also when others were evicted.
 */
static void test_overlapping(void **state)
{
	enum { N = 5000 };
	struct chisel_fixture f;
	unsigned int random = 1;

	chisel_start(&f, *state, "",
		     "local g = chisel.log{filter = 'evt.type=lseek', max = 1500, keys = "
		     "{'proc.pid'}, fields = {},\n"
		     "  begin = 'evt.rawarg.offset', length = 'evt.rawarg.fd'}\n"
		     "local n, wrong = 0, 0\n"
		     "local function brute(i, a, b)\n"
		     "  local first, last = g:span(1234)\n"
		     "  for at = math.max(i, first), last do\n"
		     "    local begin, e = g:times(g:number(1234, at))\n"
		     "    if begin < b and e > a then return at end\n"
		     "  end\n"
		     "end\n"
		     "function on_event()\n"
		     "  n = n + 1\n"
		     "  if n % 50 ~= 0 then return end\n"
		     "  for _, a in ipairs {0, 1000, n * 3 // 4, n - 100, n, n + 1000} do\n"
		     "    for _, i in ipairs {1, n - 1600, n - 1400, n - 200, n, n + 1} do\n"
		     "      if g:overlapping(1234, i, a, a + 40) ~= brute(i, a, a + 40) then wrong "
		     "= wrong + 1 end\n"
		     "    end\n"
		     "  end\n"
		     "end\n"
		     "function on_capture_end()\n"
		     "  print(n, wrong, g:overlapping(1234, 1, 1 << 40, (1 << 40) + 1), "
		     "g:overlapping(1, 1, 0, 1))\n"
		     "  print(g:after(1234, 0), g:after(1234, math.maxinteger), g:after(1, 0))\n"
		     "end\n",
		     0);
	for (int i = 0; i < N; i++) {
		random = random * 1103515245 + 12345;
		const struct scap_param params[] = {I64(random % 97 ? random >> 16 & 63 : 2000),
						    U64((uint64_t)i), U8(0)};

		assert_int_equal(feed(&f, EVT_LSEEK_E, params, 3), 0);
	}
	end(&f);
	chisel_prints(&f, "5000\t0\tnil\n3501\t5001\n");
	chisel_stop(&f);
}

/* Large values, and large keys: records are evicted at 64 MiB. */
static void test_bytes(void **state)
{
	enum { SZ = 60000, N = 3000 };
	char *data = calloc(1, SZ);
	struct chisel_fixture f;

	assert_non_null(data);
	chisel_start(&f, *state, "",
		     "g = chisel.log{filter = 'evt.type=read', max = 1000000, keys = "
		     "{'evt.rawres'},\n"
		     "  fields = {'evt.rawarg.data'}}\n"
		     "k = chisel.log{filter = 'evt.type=read', max = 1000000, fields = {},\n"
		     "  keys = {'evt.rawarg.data', 'evt.rawres'}}\n"
		     "function on_capture_end()\n"
		     "  local first, last = g:span()\n"
		     "  print(last, last - first > 1000, last - first < 1120, #g:values(last))\n"
		     "  first, last = k:span()\n"
		     "  print(last, last - first > 1000, last - first < 1120)\n"
		     "end\n",
		     0);
	for (int i = 0; i < N; i++) {
		memcpy(data, &i, sizeof(i));
		assert_int_equal(put_read(&f, i, data, SZ), 0);
	}
	end(&f);
	chisel_prints(&f, "3000\ttrue\ttrue\t60000\n3000\ttrue\ttrue\n");
	chisel_stop(&f);
	free(data);
}

/* So it is when the records of keys that are there grow. */
static void test_bytes_of_last(void **state)
{
	enum { SZ = 60000, N = 3000 };
	char *data = calloc(1, SZ);
	struct chisel_fixture f;

	assert_non_null(data);
	chisel_start(&f, *state, "",
		     "g = chisel.log{filter = 'evt.type=read', max = 1000000, keys = "
		     "{'evt.rawres'}, only = 'last',\n"
		     "  fields = {'evt.rawarg.data'}}\n"
		     "function on_capture_end()\n"
		     "  local first, last = g:span()\n"
		     "  print(last - first > 1000, last - first < 1120, #g:values(last))\n"
		     "end\n",
		     0);
	for (int i = 0; i < 2 * N; i++)
		assert_int_equal(put_read(&f, i % N, data, i < N ? 10 : SZ), 0);
	end(&f);
	chisel_prints(&f, "true\ttrue\t60000\n");
	chisel_stop(&f);
	free(data);
}

static void test_memory(void **state)
{
	struct chisel_fixture f;
	int err = 0;

	chisel_start(&f, *state, "",
		     "g = chisel.log{filter = 'evt.type=lseek', max = 1000000,\n"
		     "  keys = {'evt.rawarg.offset'}, fields = {'evt.type'}}\n",
		     2 << 20);
	for (uint64_t i = 0; i < 1000000 && !err; i++)
		err = put_seek(&f, i);
	assert_int_equal(err, -EINVAL);
	assert_non_null(strstr(f.said, "failed in a log: memory limit of 2 "));
	chisel_stop(&f);
}

/* Logs without references are collected when memory is short. */
static void test_garbage(void **state)
{
	struct chisel_fixture f;

	chisel_start(
		&f, *state, "",
		"local function new() return chisel.log{filter = 'evt.type=lseek', max = 5000,\n"
		"  keys = {'proc.pid'}, fields = {'evt.rawarg.offset'}} end\n"
		"local g, n = new(), 0\n"
		"for i = 1, 1000 do new() end\n" /* more than the limit of logs */
		"function on_event()\n"
		"  n = n + 1\n"
		"  if n % 5000 == 0 then g = new() end\n"
		"end\n"
		"function on_capture_end() print(g:span()) end\n",
		4 << 20);
	for (uint64_t i = 1; i < 100000; i++)
		assert_int_equal(put_seek(&f, i), 0);
	end(&f);
	chisel_prints(&f, "1\t4999\n");
	assert_string_equal(f.said, "");
	chisel_stop(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),        cmocka_unit_test(test_keys),
		cmocka_unit_test(test_eviction),      cmocka_unit_test(test_only),
		cmocka_unit_test(test_room),          cmocka_unit_test(test_followed),
		cmocka_unit_test(test_overlapping),   cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_bytes_of_last), cmocka_unit_test(test_memory),
		cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
