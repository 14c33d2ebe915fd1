/* SPDX-License-Identifier: Apache-2.0 */
#include "state/inspector.h"
#include "text_test.h"

#include <stdio.h>
#include <time.h>

static const struct scap_param close_fd[] = {I64(3)};

static struct sinsp_printer *new_printer(enum sinsp_time_fmt fmt)
{
	const struct sinsp_printer_opts opts = {.sz = sizeof(opts), .time_fmt = fmt};
	struct sinsp_printer *pr;

	assert_int_equal(sinsp_printer_new(&pr, &opts), 0);
	return pr;
}

static const char *line(struct fixture *f, struct sinsp_printer *pr, const struct sinsp_evt *evt)
{
	assert_int_equal(sinsp_printer_line(pr, &f->text, evt), 0);
	return fixture_take(f);
}

static void test_line(void **state)
{
	struct fixture *f = *state;
	struct sinsp_printer *pr;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_CLOSE_E, close_fd, 1);

	assert_int_equal(sinsp_printer_new(&pr, NULL), 0);
	assert_string_equal(line(f, pr, &evt),
			    "7 22:13:20.123456789 1 cat (1234) > close fd=3(<f>/etc/passwd) \n");
	evt.raw.cpu = 65535;
	hdr.tid = (uint64_t)-1;
	evt.thread = NULL;
	assert_string_equal(line(f, pr, &evt), "7 22:13:20.123456789 -1 <NA> (-1) > close fd=3 \n");
	sinsp_printer_free(pr);
}

static void test_lines_follow_each_other(void **state)
{
	struct fixture *f = *state;
	struct sinsp_printer *pr = new_printer(SINSP_TIME_ABSOLUTE);
	struct ppm_evt_hdr hdr;
	const struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_GETUID_E, NULL, 0);

	assert_int_equal(sinsp_printer_line(pr, &f->text, &evt), 0);
	assert_string_equal(line(f, pr, &evt), "7 22:13:20.123456789 1 cat (1234) > getuid \n"
					       "7 22:13:20.123456789 1 cat (1234) > getuid \n");
	sinsp_printer_free(pr);
}

static void check_time(struct fixture *f, struct sinsp_printer *pr, struct sinsp_evt *evt,
		       uint64_t ts_ns, const char *want)
{
	char have[64];

	evt->raw.ts_ns = ts_ns;
	assert_int_equal(sscanf(line(f, pr, evt), "%*s %63s", have), 1);
	assert_string_equal(have, want);
}

static void test_time_of_day(void **state)
{
	struct fixture *f = *state;
	struct sinsp_printer *pr = new_printer(SINSP_TIME_ABSOLUTE);
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_CLOSE_E, close_fd, 1);

	check_time(f, pr, &evt, 0, "00:00:00.000000000");
	check_time(f, pr, &evt, 5, "00:00:00.000000005");
	check_time(f, pr, &evt, 1700000000000000000, "22:13:20.000000000");
	check_time(f, pr, &evt, 1700000000999999999, "22:13:20.999999999");
	check_time(f, pr, &evt, 1700006399999999999, "23:59:59.999999999");
	check_time(f, pr, &evt, 1700006400000000000, "00:00:00.000000000");
	check_time(f, pr, &evt, UINT64_MAX, "23:34:33.709551615");
	check_time(f, pr, &evt, 6, "00:00:00.000000006");
	sinsp_printer_free(pr);
}

/* New York's clocks went from EDT to EST on 2023-11-05 at 06:00 UTC. */
static void test_clock_changes(void **state)
{
	struct fixture *f = *state;
	struct sinsp_printer *pr;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_CLOSE_E, close_fd, 1);

	setenv("TZ", "EST5EDT,M3.2.0,M11.1.0", 1);
	pr = new_printer(SINSP_TIME_ABSOLUTE);
	check_time(f, pr, &evt, 1699163999000000000, "01:59:59.000000000");
	check_time(f, pr, &evt, 1699164000000000000, "01:00:00.000000000");
	check_time(f, pr, &evt, 1699163999000000000, "01:59:59.000000000");
	sinsp_printer_free(pr);
	setenv("TZ", "<+0530>-5:30", 1);
	pr = new_printer(SINSP_TIME_ABSOLUTE);
	check_time(f, pr, &evt, 1700000000000000000, "03:43:20.000000000");
	sinsp_printer_free(pr);
	setenv("TZ", "UTC", 1);
	tzset();
}

static void test_time_since_the_epoch(void **state)
{
	struct fixture *f = *state;
	struct sinsp_printer *pr = new_printer(SINSP_TIME_EPOCH);
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_CLOSE_E, close_fd, 1);

	check_time(f, pr, &evt, 1700000000123456789, "1700000000.123456789");
	check_time(f, pr, &evt, 1700000000000000005, "1700000000.000000005"); /* sysdig: .5 */
	sinsp_printer_free(pr);
}

static void test_time_since_the_first_event(void **state)
{
	struct fixture *f = *state;
	struct sinsp_printer *pr = new_printer(SINSP_TIME_RELATIVE);
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_CLOSE_E, close_fd, 1);

	check_time(f, pr, &evt, FIXTURE_TS, "1.000000000"); /* the fixture had an event before */
	check_time(f, pr, &evt, FIXTURE_TS + 61000000005, "62.000000005");
	check_time(f, pr, &evt, FIXTURE_TS - 1000000001, "-0.000000001");
	sinsp_printer_free(pr);
}

static void test_time_since_the_line_before(void **state)
{
	struct fixture *f = *state;
	struct sinsp_printer *pr = new_printer(SINSP_TIME_DELTA);
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_CLOSE_E, close_fd, 1);

	check_time(f, pr, &evt, FIXTURE_TS, "0.000000000");
	check_time(f, pr, &evt, FIXTURE_TS + 1000, "0.000001000");
	check_time(f, pr, &evt, FIXTURE_TS + 2000000000, "1.999999000");
	check_time(f, pr, &evt, FIXTURE_TS + 1000000000, "-1.000000000");
	check_time(f, pr, &evt, FIXTURE_TS + 1000000000, "0.000000000");
	sinsp_printer_free(pr);
}

static void test_latency(void **state)
{
	const struct scap_param ok[] = {I64(0)};
	struct fixture *f = *state;
	struct sinsp_printer *pr = new_printer(SINSP_TIME_LATENCY);
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_CLOSE_X, ok, 1);

	check_time(f, pr, &evt, FIXTURE_TS, "0.000000000");
	evt.latency_ns = 1000000001;
	evt.latency_known = 1;
	check_time(f, pr, &evt, FIXTURE_TS, "1.000000001");
	evt.latency_ns = 0;
	evt.latency_known = 0;
	evt.raw.flags = SCAP_EVT_F_FULL;
	check_time(f, pr, &evt, FIXTURE_TS, "<NA>");
	sinsp_printer_free(pr);
}

static void test_buffer_options(void **state)
{
	const struct scap_param data[] = {I64(5), BYTES("hello")};
	struct fixture *f = *state;
	struct sinsp_printer_opts opts = {.sz = sizeof(opts), .buf_fmt = SINSP_BUF_BASE64};
	struct sinsp_printer *pr;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_READ_X, data, 2);

	assert_int_equal(sinsp_printer_new(&pr, &opts), 0);
	assert_string_equal(line(f, pr, &evt),
			    "7 22:13:20.123456789 1 cat (1234) < read res=5 data=aGVsbG8= \n");
	sinsp_printer_free(pr);
	opts = (struct sinsp_printer_opts){.sz = sizeof(opts), .buf_max = 4};
	assert_int_equal(sinsp_printer_new(&pr, &opts), 0);
	assert_string_equal(line(f, pr, &evt),
			    "7 22:13:20.123456789 1 cat (1234) < read res=5 data=h... \n");
	sinsp_printer_free(pr);
	opts = (struct sinsp_printer_opts){.sz = sizeof(opts), .buf_cut = 4};
	assert_int_equal(sinsp_printer_new(&pr, &opts), 0);
	assert_string_equal(line(f, pr, &evt),
			    "7 22:13:20.123456789 1 cat (1234) < read res=5 data=hell \n");
	sinsp_printer_free(pr);
}

static void put_on_host(struct fixture *f, const struct sinsp_evt *evt)
{
	static const char cgroups[] = "cpu=/";

	sinsp_process_set_cgroups(&f->s->threads, evt->thread->proc, cgroups, sizeof(cgroups));
}

static void test_colours(void **state)
{
	const struct sinsp_printer_opts opts = {
		.sz = sizeof(opts), .colour = 1, .line_fmt = SINSP_LINE_CONTAINER};
	const struct scap_param failed[] = {I64(-2)};
	struct fixture *f = *state;
	struct sinsp_printer *pr;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_CLOSE_X, failed, 1);

	put_on_host(f, &evt);
	assert_int_equal(sinsp_printer_new(&pr, &opts), 0);
	assert_string_equal(
		line(f, pr, &evt),
		"\033[2m7 22:13:20.123456789 1 \033[0m\033[35mhost (host) \033[0m"
		"\033[36mcat (1234:1234\033[0m) < \033[31mclose \033[0mres=-2(ENOENT) \n");
	evt = fixture_evt(f, &hdr, EVT_CLOSE_E, close_fd, 1);
	assert_string_equal(line(f, pr, &evt),
			    "\033[2m7 22:13:20.123456789 1 \033[0m\033[35mhost (host) \033[0m"
			    "\033[36mcat (1234:1234\033[0m) > \033[1mclose \033[0m"
			    "fd=3(<f>/etc/passwd) \n");
	sinsp_printer_free(pr);
}

static void test_unknown_options_are_refused(void **state)
{
	const struct sinsp_printer_opts opts = {.sz = sizeof(opts) + 1};
	struct sinsp_printer *pr = NULL;

	(void)state;
	assert_int_equal(sinsp_printer_new(&pr, &opts), -E2BIG);
	assert_null(pr);
}

/* A marker of lost events, and markers of a damaged file. */
static void test_lost(void **state)
{
	const struct scap_param full[] = {U32(1),    U64(5123), TEXT("the ring was full"),
					  U64(1000), U64(2500), U64(0),
					  U64(2),    U64(0),    U64(3),
					  U64(0),    U64(0)};
	const struct scap_param old[] = {U32(1), U64(7), BYTES("\x1b[2J")};
	struct fixture *f = *state;
	struct sinsp_printer *pr = new_printer(SINSP_TIME_ABSOLUTE);
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_LOST_E, full, 11);

	assert_string_equal(line(f, pr, &evt),
			    "-- 22:13:20.123456789 CPU 1 lost 5123 events within 0.000001500 s "
			    "(among them 2 exec, 3 open): the ring was full\n");
	evt = fixture_evt(f, &hdr, EVT_LOST_E, old, 3);
	assert_string_equal(line(f, pr, &evt), "-- 22:13:20.123456789 CPU 1 lost 7 events: .[2J\n");
	sinsp_printer_free(pr);
}

static void test_pause(void **state)
{
	const struct scap_param ratio[] = {U32(4)};
	struct fixture *f = *state;
	struct sinsp_printer *pr = new_printer(SINSP_TIME_ABSOLUTE);
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_DROP_E, ratio, 1);

	assert_string_equal(line(f, pr, &evt), "-- 22:13:20.123456789 CPU 1 recording pauses: of "
					       "each second the first 1/4 is recorded\n");
	evt = fixture_evt(f, &hdr, EVT_DROP_E, ratio, 0);
	assert_string_equal(line(f, pr, &evt), "-- 22:13:20.123456789 CPU 1 recording pauses\n");
	evt = fixture_evt(f, &hdr, EVT_DROP_X, ratio, 1);
	assert_string_equal(line(f, pr, &evt), "-- 22:13:20.123456789 CPU 1 recording goes on\n");
	sinsp_printer_free(pr);
}

/* As sysdig -pc: the container of the thread, and unknown ones. */
static void test_line_with_container(void **state)
{
	const struct sinsp_printer_opts opts = {.sz = sizeof(opts),
						.line_fmt = SINSP_LINE_CONTAINER};
	static const char cgroups[] = "cpu=/lxc/b\x1bx";
	struct fixture *f = *state;
	struct sinsp_printer *pr;
	struct ppm_evt_hdr hdr;
	struct sinsp_evt evt = fixture_evt(f, &hdr, EVT_GETUID_E, NULL, 0);

	assert_int_equal(sinsp_printer_new(&pr, &opts), 0);
	sinsp_process_set_cgroups(&f->s->threads, evt.thread->proc, "", 0);
	assert_string_equal(line(f, pr, &evt),
			    "7 22:13:20.123456789 1 <NA> (<NA>) cat (1234:1234) > getuid \n");
	put_on_host(f, &evt);
	assert_string_equal(line(f, pr, &evt),
			    "7 22:13:20.123456789 1 host (host) cat (1234:1234) > getuid \n");
	evt.thread->vtid = 5;
	sinsp_process_set_cgroups(&f->s->threads, evt.thread->proc, cgroups, sizeof(cgroups));
	assert_string_equal(line(f, pr, &evt),
			    "7 22:13:20.123456789 1 b.x (b.x) cat (1234:5) > getuid \n");
	evt.thread = NULL;
	assert_string_equal(line(f, pr, &evt),
			    "7 22:13:20.123456789 1 <NA> (<NA>) <NA> (1234:<NA>) > getuid \n");
	sinsp_printer_free(pr);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_lines_follow_each_other),
		cmocka_unit_test(test_time_of_day),
		cmocka_unit_test(test_clock_changes),
		cmocka_unit_test(test_time_since_the_epoch),
		cmocka_unit_test(test_time_since_the_first_event),
		cmocka_unit_test(test_time_since_the_line_before),
		cmocka_unit_test(test_latency),
		cmocka_unit_test(test_buffer_options),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_colours),
		cmocka_unit_test(test_unknown_options_are_refused),
		cmocka_unit_test(test_line_with_container), /* changes the thread: the last */
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
