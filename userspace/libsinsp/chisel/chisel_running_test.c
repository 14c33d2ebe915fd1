/* SPDX-License-Identifier: Apache-2.0 */
/* topprocs_cpu in a live capture whose switches are hidden. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chisel.h"
#include "sinsp.h"
#include "testing/engine_fake.h"
#include "testing/test_main.h"

#define MS 1000000ull
#define T0 (1700000000 * (1000 * MS))
#define I(x) ((int64_t)(x))

enum { BURNER = 10, OTHER = 11, HIDDEN = 1 };

struct capture {
	struct scap_fake *f;
	struct sinsp *s;
	struct sinsp_chisel_run run;
	struct sinsp_chisel *c;
	char dir[4096], *out;
	size_t len, n_seen;
};

static void has_thread(struct capture *c, uint64_t tid, const char *comm, uint64_t ran_ms)
{
	const struct scap_thread_info t = {.tid = tid,
					   .pid = tid,
					   .ptid = 1,
					   .comm = comm,
					   .snapshot_ns = T0,
					   .ran_ns = ran_ms * MS,
					   .ran_at_ns = T0};

	assert_int_equal(scap_state_build_thread(scap_fake_state(c->f), &t), 0);
}

static void leaves(struct capture *c, uint64_t ms, uint16_t cpu, int64_t tid, uint64_t ran_ms)
{
	assert_int_equal(scap_fake_add(c->f, T0 + ms * MS, cpu, tid, EVT_SWITCH_E, 7, I(HIDDEN),
				       I(0), I(0), I(0), I(0), I(0), I(ran_ms * MS)),
			 0);
}

static void ends(struct capture *c, uint64_t ms, int64_t tid, uint64_t ran_ms)
{
	assert_int_equal(scap_fake_add(c->f, T0 + ms * MS, 0, tid, EVT_PROCEXIT_E, 6, I(0), I(0),
				       I(0), I(0), I(0), I(ran_ms * MS)),
			 0);
}

static void start(struct capture *c, const char *const dirs[])
{
	struct scap *src;

	assert_int_equal(scap_fake_open(&src, c->f), 0);
	assert_int_equal(sinsp_open(&c->s, src, NULL), 0);
	sinsp_chisel_run_init(&c->run);
	c->run.insp = c->s;
	c->run.json = 1;
	c->run.dirs = dirs;
	c->run.out = open_memstream(&c->out, &c->len);
	assert_non_null(c->run.out);
	assert_int_equal(sinsp_chisel_open(&c->c, &c->run, "topprocs_cpu"), 0);
	assert_int_equal(sinsp_chisel_set_args(c->c, NULL, 0), 0);
	assert_int_equal(sinsp_chisel_init(c->c), 0);
	assert_int_equal(sinsp_chisel_begin(c->c), 0);
}

static void next_event(struct capture *c)
{
	struct sinsp_evt evt;

	assert_int_equal(sinsp_next(c->s, &evt, 0), 1);
	c->run.last_ns = evt.raw.ts_ns;
	if (!c->run.first_ns)
		c->run.first_ns = evt.raw.ts_ns;
	assert_int_equal(sinsp_chisel_tick(c->c, &evt), 0);
	assert_int_equal(sinsp_chisel_event(c->c, &evt), 0);
}

/* Sets the thread on the CPU from now on. */
static void runs(struct capture *c, uint64_t ms, uint64_t tid, uint64_t ran_ms)
{
	const struct scap_running v = {.tid = tid, .ran_ns = ran_ms * MS, .at_ns = T0 + ms * MS};

	assert_int_equal(scap_fake_set_running(c->f, &v, tid ? 1 : 0), 0);
}

/* Returns the milliseconds of @pid in the tables printed since the last call. */
static uint64_t told(struct capture *c, int64_t pid)
{
	uint64_t sum = 0;
	char key[32];

	snprintf(key, sizeof(key), "\"proc.pid\":%lld,", (long long)pid);
	for (const char *line = c->out + c->n_seen; *line; line += strcspn(line, "\n") + 1) {
		const char *ns = strstr(line, "\"cpu_ns\":"), *row = strstr(line, key);

		assert_non_null(ns);
		if (row && row < line + strcspn(line, "\n"))
			sum += strtoull(ns + strlen("\"cpu_ns\":"), NULL, 10);
	}
	assert_int_equal(sum % MS, 0);
	return sum / MS;
}

static void tables_have(struct capture *c, uint64_t burner_ms, uint64_t other_ms)
{
	fflush(c->run.out);
	assert_int_equal(told(c, BURNER), burner_ms);
	assert_int_equal(told(c, OTHER), other_ms);
	assert_int_equal(told(c, HIDDEN), 0);
	c->n_seen = c->len;
}

static void stop(struct capture *c)
{
	sinsp_chisel_close(c->c);
	fclose(c->run.out);
	c->run.out = stdout;
	sinsp_chisel_run_fini(&c->run);
	free(c->out);
	sinsp_close(c->s);
}

/* A thread that never leaves the CPU is in each table. */
static void test_each_table(void **state)
{
	struct capture c = {.f = scap_fake_new()};
	const char *const dirs[] = {c.dir, NULL};

	(void)state;
	snprintf(c.dir, sizeof(c.dir), "%s/chisels", getenv("SAKER_SOURCE_DIR") ?: ".");
	has_thread(&c, HIDDEN, "init", 0);
	has_thread(&c, BURNER, "burner", 5000);
	has_thread(&c, OTHER, "other", 0);
	leaves(&c, 100, 0, OTHER, 90);
	leaves(&c, 1001, 1, OTHER, 90);
	leaves(&c, 2001, 1, OTHER, 91);
	leaves(&c, 2500, 0, BURNER, 7330);
	ends(&c, 2800, BURNER, 7400);
	leaves(&c, 3001, 1, OTHER, 91);
	start(&c, dirs);

	next_event(&c);
	runs(&c, 1000, BURNER, 5850);
	next_event(&c); /* the first second is over */
	tables_have(&c, 850, 90);
	runs(&c, 2000, BURNER, 6840);
	next_event(&c);
	tables_have(&c, 990, 0);
	next_event(&c);
	next_event(&c);
	runs(&c, 0, 0, 0);
	next_event(&c);
	tables_have(&c, 560, 1);
	stop(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_table)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
