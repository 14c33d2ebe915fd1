/* SPDX-License-Identifier: Apache-2.0 */
/* Time of chisels: intervals by events, and without any. */
#include "chisel.h"

#include <stdlib.h>
#include <unistd.h>

#include "fields/text_fixture.h"

#define S 1000000000ull
#define T0 (1700000000 * S)

struct chisel_fixture {
	struct fixture *machine;
	char dir[32], path[64];
	struct sinsp_chisel_run run;
	struct sinsp_chisel *c;
	char *out;
	size_t len, n_seen;
	struct ppm_evt_hdr hdr;
};

/* Prints each interval: the time since T0 in ms, delta, number and time of the event. */
static const char program[] =
	"function on_interval(s, ns, delta)\n"
	"  local at = evt.get_ts()\n"
	"  print(((s - 1700000000) * 1000000000 + ns) // 1000000, delta // 1000000,\n"
	"        evt.get_num(), at and at - 1700000000, evt.field(1), evt.get_type())\n"
	"  return true\n"
	"end\n"
	"function on_event() end\n"
	"chisel.request_field('proc.pid')\n";

static void start(struct chisel_fixture *f, struct fixture *machine, const char *interval)
{
	FILE *file;

	*f = (struct chisel_fixture){.machine = machine, .dir = "/tmp/saker-chisel-XXXXXX"};
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/t.lua", f->dir);
	file = fopen(f->path, "w");
	assert_non_null(file);
	fprintf(file, "%s%s", program, interval);
	fclose(file);
	sinsp_chisel_run_init(&f->run);
	f->run.out = open_memstream(&f->out, &f->len);
	assert_non_null(f->run.out);
	assert_int_equal(sinsp_chisel_open(&f->c, &f->run, f->path), 0);
	assert_int_equal(sinsp_chisel_init(f->c), 0);
	assert_int_equal(sinsp_chisel_begin(f->c), 0);
}

static void stop(struct chisel_fixture *f)
{
	sinsp_chisel_close(f->c);
	fclose(f->run.out);
	f->run.out = stdout;
	sinsp_chisel_run_fini(&f->run);
	free(f->out);
	unlink(f->path);
	rmdir(f->dir);
}

/* An event comes, @ms after T0. */
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

/* What was printed since the last time. */
static void prints(struct chisel_fixture *f, const char *expected)
{
	fflush(f->run.out);
	assert_string_equal(f->out + f->n_seen, expected);
	f->n_seen = f->len;
}

static void test_by_events(void **state)
{
	struct chisel_fixture f;

	start(&f, *state, "chisel.set_interval_s(1)");
	assert_int_equal(sinsp_chisel_due_ns(f.c), 0);
	event(&f, 300);
	assert_int_equal(sinsp_chisel_due_ns(f.c), T0 + 1 * S);
	event(&f, 999);
	prints(&f, "");
	event(&f, 1100);
	prints(&f, "1100\t0\t7\t1\t1234\tread\n");
	event(&f, 4200);
	prints(&f, "4200\t3100\t7\t4\t1234\tread\n");
	stop(&f);
}

static void test_without_events(void **state)
{
	struct chisel_fixture f;

	start(&f, *state, "chisel.set_interval_s(1)");
	idle(&f, 300);
	prints(&f, "");
	assert_int_equal(sinsp_chisel_due_ns(f.c), T0 + 1 * S);
	idle(&f, 900);
	prints(&f, "");
	idle(&f, 1000);
	prints(&f, "1000\t0\tnil\t1\tnil\tnil\n");
	/* Of the time before: it was on its way. */
	event(&f, 990);
	event(&f, 1500);
	prints(&f, "");
	idle(&f, 2001);
	prints(&f, "2001\t1001\tnil\t2\tnil\tnil\n");
	event(&f, 3000);
	prints(&f, "3000\t999\t7\t3\t1234\tread\n");
	stop(&f);
}

static void test_precise(void **state)
{
	struct chisel_fixture f;

	start(&f, *state, "chisel.set_precise_interval_ns(1000000000)");
	event(&f, 300);
	idle(&f, 1200);
	prints(&f, "");
	assert_int_equal(sinsp_chisel_due_ns(f.c), T0 + 1300000000);
	idle(&f, 2400);
	prints(&f, "300\t0\tnil\t2\tnil\tnil\n1300\t0\tnil\t2\tnil\tnil\n");
	event(&f, 2399);
	event(&f, 3300);
	prints(&f, "2300\t0\t7\t3\t1234\tread\n");
	stop(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_events),
		cmocka_unit_test(test_without_events),
		cmocka_unit_test(test_precise),
	};

	return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
