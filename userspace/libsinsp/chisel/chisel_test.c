/* SPDX-License-Identifier: Apache-2.0 */
/* Intervals of chisels, with events and without. */
#include "chisel_test.h"

#define S 1000000000ull
#define T0 (1700000000 * S)

/* Prints each interval: the time since T0 in ms, delta, number and time of the event. */
static const char program[] =
	"function on_interval(s, ns, delta)\n"
	"  local at = evt.get_ts()\n"
	"  print(((s - 1700000000) * 1000000000 + ns) // 1000000, delta // 1000000,\n"
	"        evt.get_num(), at and at - 1700000000, evt.field(1), evt.get_type())\n"
	"  return true\n"
	"end\n"
	"function on_event() end\n"
	"function on_capture_end(s, ns, delta)\n"
	"  print('end', ((s - 1700000000) * 1000000000 + ns) // 1000000, delta // 1000000)\n"
	"end\n"
	"chisel.request_field('proc.pid')\n";

static void start(struct chisel_fixture *f, struct fixture *machine, const char *interval)
{
	chisel_start(f, machine, program, interval, 0);
}

/* Passes an event at @ms after T0. */
static void event(struct chisel_fixture *f, uint64_t ms)
{
	const struct scap_param params[] = {I64(9), BYTES("x")};
	struct sinsp_evt evt = fixture_evt(f->machine, &f->hdr, EVT_READ_X, params, 2);

	evt.raw.ts_ns = T0 + ms * 1000000;
	assert_int_equal(sinsp_chisel_tick(f->c, &evt), 0);
}

static void idle(struct chisel_fixture *f, uint64_t ms)
{
	assert_int_equal(sinsp_chisel_idle(f->c, T0 + ms * 1000000), 0);
}

static void test_by_events(void **state)
{
	struct chisel_fixture f;

	start(&f, *state, "chisel.set_interval_s(1)");
	assert_int_equal(sinsp_chisel_due_ns(f.c), 0);
	event(&f, 300);
	assert_int_equal(sinsp_chisel_due_ns(f.c), T0 + 1 * S);
	event(&f, 999);
	chisel_prints(&f, "");
	event(&f, 1100);
	chisel_prints(&f, "1100\t0\t7\t1\t1234\tread\n");
	event(&f, 4200);
	chisel_prints(&f, "4200\t3100\t7\t4\t1234\tread\n");
	chisel_stop(&f);
}

static void test_without_events(void **state)
{
	struct chisel_fixture f;

	start(&f, *state, "chisel.set_interval_s(1)");
	idle(&f, 300);
	chisel_prints(&f, "");
	assert_int_equal(sinsp_chisel_due_ns(f.c), T0 + 1 * S);
	idle(&f, 900);
	chisel_prints(&f, "");
	idle(&f, 1000);
	chisel_prints(&f, "1000\t0\tnil\t1\tnil\tnil\n");
	/* From the past interval: it was late. */
	event(&f, 990);
	event(&f, 1500);
	chisel_prints(&f, "");
	idle(&f, 2001);
	chisel_prints(&f, "2001\t1001\tnil\t2\tnil\tnil\n");
	event(&f, 3000);
	chisel_prints(&f, "3000\t999\t7\t3\t1234\tread\n");
	chisel_stop(&f);
}

static void test_precise(void **state)
{
	struct chisel_fixture f;

	start(&f, *state, "chisel.set_precise_interval_ns(1000000000)");
	event(&f, 300);
	idle(&f, 1200);
	chisel_prints(&f, "");
	assert_int_equal(sinsp_chisel_due_ns(f.c), T0 + 1300000000);
	idle(&f, 2400);
	chisel_prints(&f, "300\t0\tnil\t2\tnil\tnil\n1300\t0\tnil\t2\tnil\tnil\n");
	event(&f, 2399);
	event(&f, 3300);
	chisel_prints(&f, "2300\t0\t7\t3\t1234\tread\n");
	chisel_stop(&f);
}

static int is_stopping(void)
{
	return 1;
}

/* Of a gap in the times of a file, intervals are not without bound, nor does one who ends the run
 * wait for them. */
static void test_a_gap_of_precise_intervals(void **state)
{
	static const char *const counter = "n = 0\n"
					   "function on_interval() n = n + 1 return true end\n"
					   "function on_capture_end() print(n) end\n";
	struct chisel_fixture f;

	for (int stops = 0; stops <= 1; stops++) {
		chisel_start(&f, *state, counter, "chisel.set_precise_interval_ns(1000)", 0);
		event(&f, 0);
		f.run.is_stopping = stops ? is_stopping : NULL;
		event(&f, 365ull * 86400000);
		event(&f, 365ull * 86400000 + 1);
		assert_int_equal(sinsp_chisel_end(f.c), 0);
		chisel_prints(&f, stops ? "0\n" : "1001000\n");
		chisel_stop(&f);
	}
}

/* A capture may end after its last event. */
static void test_end(void **state)
{
	const uint64_t first_ns = T0 + 300000000;

	for (int idles = 0; idles <= 1; idles++) {
		struct chisel_fixture f;

		start(&f, *state, "");
		event(&f, 300);
		event(&f, 400);
		f.run.first_ns = first_ns;
		f.run.last_ns = first_ns + 100000000;
		if (idles)
			idle(&f, 1700);
		assert_int_equal(sinsp_chisel_end(f.c), 0);
		chisel_prints(&f, idles ? "end\t1700\t1400\n" : "end\t400\t100\n");
		chisel_stop(&f);
	}
}

/* Events that do not match go to the functions of chisel.follow only. */
static void test_follow(void **state)
{
	static const char *const program =
		"local num = chisel.request_field('evt.num')\n"
		"function on_event() print('event', evt.field(num)) end\n"
		"chisel.follow('evt.type=close', function() print('nobody') end)\n"
		"chisel.follow('evt.type=read', function() print('left out', evt.field(num)) end)\n"
		"print(pcall(chisel.follow, 'evt.typ=read', print))\n"
		"print(pcall(chisel.follow, 'evt.type=read'))\n";
	const struct scap_param params[] = {I64(9), BYTES("x")};
	struct sinsp_evt evt;
	struct chisel_fixture f;

	chisel_start(&f, *state, program, "", 0);
	assert_true(f.run.follows);
	chisel_prints(
		&f, "false\tfilter 'evt.typ=read': unknown field evt.typ; did you mean evt.type?\n"
		    "false\tbad argument #2 to '?' (function expected, got no value)\n");
	evt = fixture_evt(f.machine, &f.hdr, EVT_READ_X, params, 2);
	assert_int_equal(sinsp_chisel_follow(f.c, &evt), 0);
	assert_int_equal(sinsp_chisel_event(f.c, &evt), 0);
	evt.raw.type = f.hdr.type = EVT_CLOSE_X;
	assert_int_equal(sinsp_chisel_follow(f.c, &evt), 0);
	chisel_prints(&f, "left out\t7\nevent\t7\n");
	chisel_stop(&f);
}

/* They come to on_event only if the chisel's filter names them. */
static void test_follow_lost_events(void **state)
{
	struct sinsp_evt evt;
	struct chisel_fixture f;

	chisel_start(&f, *state,
		     "function on_event() print('event') end\n"
		     "chisel.follow('evt.type=lost', function() print('lost') end)\n",
		     "", 0);
	evt = fixture_evt(f.machine, &f.hdr, EVT_LOST_E, NULL, 0);
	assert_int_equal(sinsp_chisel_event(f.c, &evt), 0);
	chisel_prints(&f, "lost\n");
	chisel_stop(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_events),
		cmocka_unit_test(test_without_events),
		cmocka_unit_test(test_precise),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_follow),
		cmocka_unit_test(test_follow_lost_events),
		cmocka_unit_test(test_a_gap_of_precise_intervals),
	};

	return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
