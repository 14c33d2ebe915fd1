/* SPDX-License-Identifier: Apache-2.0 */
/* The registry: sums are kept whatever ends, values of others cannot forge lines, both formats. */
#include "registry_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"
#include "registry_text.h"
#include "testing/test_main.h"

enum { CALLS, TIMES, STATE, ABOUT, POWERS, ROWS };

static const struct metric_row rows[ROWS] = {
	[CALLS] = {"t_calls_total",
		   "Calls",
		   METRIC_COUNTER,
		   METRIC_COUNT,
		   METRIC_OPEN,
		   {"who", "what"}},
	[TIMES] = {"t_time_seconds", "Times", METRIC_HISTOGRAM, METRIC_NS, METRIC_OPEN, {"who"}},
	[STATE] = {"t_state_bytes", "State", METRIC_GAUGE, METRIC_BYTES, METRIC_FIXED, {NULL}},
	[ABOUT] = {"t_build_info", "Build", METRIC_INFO, METRIC_COUNT, METRIC_FIXED, {"version"}},
	[POWERS] = {"t_io_seconds", "I/O", METRIC_POWERS, METRIC_NS, METRIC_FIXED, {NULL}},
};

static struct registry *new_registry(uint32_t max_lines)
{
	const struct registry_opts opts = {
		.sz = sizeof(opts), .max_lines = max_lines, .idle_ns = 100};
	struct registry *r;

	assert_int_equal(registry_new(&r, rows, ROWS, &opts), 0);
	return r;
}

static struct label_value text(const char *s)
{
	return (struct label_value){s, strlen(s)};
}

static struct series *calls(struct registry *r, const char *who, const char *what, uint64_t now)
{
	const struct label_value v[] = {text(who), text(what)};

	return registry_series(r, CALLS, v, now);
}

/* Returns the text, to be freed. */
static char *print(const struct registry *r, enum exposition format)
{
	struct sinsp_text out = {0};

	assert_int_equal(registry_print(r, &out, format), 0);
	out.p = realloc(out.p, out.len + 1);
	out.p[out.len] = 0;
	return out.p;
}

static void assert_prints(const struct registry *r, enum exposition format, const char *expected)
{
	char *p = print(r, format);

	assert_string_equal(p, expected);
	free(p);
}

static void test_formats(void **state)
{
	struct registry *r = new_registry(0);
	const struct label_value v = text("1.0");

	(void)state;
	series_add(calls(r, "a", "b", 1), 2);
	series_add(calls(r, "a", "b", 2), 3);
	series_add(calls(r, "", "c", 2), 1);
	series_set(registry_series(r, STATE, NULL, 2), 7);
	series_set(registry_series(r, ABOUT, &v, 2), 1);
	assert_prints(r, EXPOSITION_TEXT,
		      "# HELP t_calls_total Calls\n# TYPE t_calls_total counter\n"
		      "t_calls_total{who=\"a\",what=\"b\"} 5\n"
		      "t_calls_total{what=\"c\"} 1\n"
		      "# HELP t_state_bytes State\n# TYPE t_state_bytes gauge\nt_state_bytes 7\n"
		      "# HELP t_build_info Build\n# TYPE t_build_info gauge\n"
		      "t_build_info{version=\"1.0\"} 1\n");
	assert_prints(r, EXPOSITION_OPENMETRICS,
		      "# HELP t_calls Calls\n# TYPE t_calls counter\n"
		      "t_calls_total{who=\"a\",what=\"b\"} 5\n"
		      "t_calls_total{what=\"c\"} 1\n"
		      "# HELP t_state_bytes State\n# TYPE t_state_bytes gauge\n"
		      "# UNIT t_state_bytes bytes\nt_state_bytes 7\n"
		      "# HELP t_build Build\n# TYPE t_build info\n"
		      "t_build_info{version=\"1.0\"} 1\n# EOF\n");
	registry_free(r);
}

static int has_line(const char *page, const char *line)
{
	char whole[512];

	snprintf(whole, sizeof(whole), "\n%s\n", line);
	return strstr(page, whole) != NULL;
}

static void test_histogram(void **state)
{
	struct registry *r = new_registry(0);
	const struct label_value v = text("a");
	const struct exemplar e = {text("4bf92f35\"} 9\n# EOF\n"), 1500000000};
	char *p;

	(void)state;
	series_observe(registry_series(r, TIMES, &v, 1), 500000, NULL); /* the bound itself */
	series_observe(registry_series(r, TIMES, &v, 1), 500001, &e);
	series_observe(registry_series(r, TIMES, &v, 1), 11000000000, NULL);
	p = print(r, EXPOSITION_TEXT);
	assert_true(has_line(p, "t_time_seconds_bucket{who=\"a\",le=\"0.0005\"} 1"));
	assert_true(has_line(p, "t_time_seconds_bucket{who=\"a\",le=\"0.001\"} 2"));
	assert_true(has_line(p, "t_time_seconds_bucket{who=\"a\",le=\"10.0\"} 2"));
	assert_true(has_line(p, "t_time_seconds_bucket{who=\"a\",le=\"+Inf\"} 3"));
	assert_true(has_line(p, "t_time_seconds_sum{who=\"a\"} 11.001000001"));
	assert_true(has_line(p, "t_time_seconds_count{who=\"a\"} 3"));
	assert_null(strstr(p, "trace_id"));
	free(p);
	p = print(r, EXPOSITION_OPENMETRICS);
	assert_true(has_line(p, "t_time_seconds_bucket{who=\"a\",le=\"0.001\"} 2 # "
				"{trace_id=\"4bf92f359EOF\"} 0.000500001 1.500000000"));
	free(p);
	registry_free(r);
}

/* Captured bytes cannot end a label, a line, or the page. */
static void test_hostile_values(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{"a\"b\\c\nd", "a\\\"b\\\\c\\nd"},
		{"\x01\x7f\r\t", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"g\xc3\xbcn \xe2\x82\xac \xf0\x9f\x98\x80",
		 "g\xc3\xbcn \xe2\x82\xac \xf0\x9f\x98\x80"},
		{"\xc3", "\xef\xbf\xbd"}, /* cut */
		{"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"}, /* overlong */
		{"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* a surrogate */
		{"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
	};
	char line[256], *p;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct registry *r = new_registry(0);

		series_add(calls(r, cases[i].in, "x", 1), 1);
		p = print(r, EXPOSITION_TEXT);
		snprintf(line, sizeof(line), "t_calls_total{who=\"%s\",what=\"x\"} 1",
			 cases[i].out);
		assert_true(has_line(p, line));
		free(p);
		registry_free(r);
	}
}

/* A value of any length, with any bytes, is cut and fits. */
static void test_long_values(void **state)
{
	char value[4000];
	const struct label_value v[] = {{value, sizeof(value)}, {value, sizeof(value)}};
	struct registry *r = new_registry(0);

	(void)state;
	for (int byte = 0; byte < 256; byte += 5) {
		memset(value, byte, sizeof(value));
		series_add(registry_series(r, CALLS, v, 1), 1);
	}
	free(print(r, EXPOSITION_TEXT));
	registry_free(r);
}

/* Returns the sum of all series of the counter and of the observations, as printed. */
static void sums(const struct registry *r, uint64_t *n_calls, uint64_t *n_times)
{
	char *page = print(r, EXPOSITION_TEXT), *save, *line;

	*n_calls = *n_times = 0;
	for (line = strtok_r(page, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const uint64_t n = strtoull(strrchr(line, ' ') + 1, NULL, 10);

		if (strncmp(line, "t_calls_total{", 14) == 0)
			*n_calls += n;
		if (strncmp(line, "t_time_seconds_count{", 21) == 0)
			*n_times += n;
	}
	free(page);
}

/* Buckets that someone else counted: bounds are powers of two of a microsecond, exactly. */
static void test_powers(void **state)
{
	uint64_t buckets[METRIC_POWERS_BUCKETS + 1] = {1, 0, 2, [METRIC_POWERS_BUCKETS] = 3};
	struct registry *r = new_registry(60);
	char *p;

	(void)state;
	series_set_buckets(registry_series(r, POWERS, NULL, 0), buckets, 7000);
	buckets[2] = 1; /* less than before: ignored */
	series_set_buckets(registry_series(r, POWERS, NULL, 0), buckets, 6000);
	p = print(r, EXPOSITION_TEXT);
	assert_true(has_line(p, "# TYPE t_io_seconds histogram"));
	assert_true(has_line(p, "t_io_seconds_bucket{le=\"0.000001\"} 1"));
	assert_true(has_line(p, "t_io_seconds_bucket{le=\"0.000002\"} 1"));
	assert_true(has_line(p, "t_io_seconds_bucket{le=\"0.000004\"} 3"));
	assert_true(has_line(p, "t_io_seconds_bucket{le=\"16.777216\"} 3"));
	assert_true(has_line(p, "t_io_seconds_bucket{le=\"+Inf\"} 6"));
	assert_true(has_line(p, "t_io_seconds_sum 0.000007000"));
	assert_true(has_line(p, "t_io_seconds_count 6"));
	free(p);
	registry_free(r);
}

/* Whatever has no room or ends, what was added is there, and `other` never decreases. */
static void test_sums_are_kept(void **state)
{
	struct registry *r = new_registry(60);
	uint64_t added = 0, observed = 0, n_calls, n_times, now = 0;
	struct registry_stats st;
	char who[16];

	(void)state;
	srand(1);
	for (int i = 0; i < 5000; i++) {
		struct label_value v;

		now += (uint64_t)(rand() % 20);
		snprintf(who, sizeof(who), "p%d", rand() % 100);
		v = text(who);
		series_add(calls(r, who, "x", now), 3);
		added += 3;
		if (i % 3 == 0) {
			series_observe(registry_series(r, TIMES, &v, now), (uint64_t)i, NULL);
			observed++;
		}
		if (i % 7 == 0)
			registry_end(r, calls(r, who, "x", now));
		if (i % 50)
			continue;
		sums(r, &n_calls, &n_times);
		assert_int_equal(n_calls, added);
		assert_int_equal(n_times, observed);
	}
	registry_get_stats(r, &st);
	assert_true(st.n_evicted > 0);
	assert_true(st.n_refused > 0);
	assert_true(st.n_lines <= 60 + 1 + METRIC_HISTOGRAM_LINES);
	registry_free(r);
}

/* An exported series stays while it is used, though others wait for room. */
static void test_series_stay(void **state)
{
	struct registry *r = new_registry(2);
	char *p;

	(void)state;
	series_add(calls(r, "a", "x", 10), 1);
	series_add(calls(r, "b", "x", 20), 1);
	series_add(calls(r, "c", "x", 30), 1); /* no room: other */
	series_add(calls(r, "a", "x", 105), 1);
	series_add(calls(r, "d", "x", 120), 1); /* b is idle */
	p = print(r, EXPOSITION_TEXT);
	assert_true(has_line(p, "t_calls_total{who=\"other\"} 2"));
	assert_true(has_line(p, "t_calls_total{who=\"a\",what=\"x\"} 2"));
	assert_true(has_line(p, "t_calls_total{who=\"d\",what=\"x\"} 1"));
	assert_null(strstr(p, "who=\"b\""));
	free(p);
	registry_free(r);
}

/* A series counts since the registry exists, or since one with its labels may have ended. */
static void test_start(void **state)
{
	struct registry *r = new_registry(1000);

	(void)state;
	assert_int_equal(calls(r, "a", "x", 1)->start_ns, 0);
	registry_end(r, calls(r, "a", "x", 2));
	assert_int_not_equal(calls(r, "a", "x", 3)->start_ns, 0);
	assert_int_not_equal(calls(r, "b", "x", 3)->start_ns, 0);
	registry_free(r);
}

/* A program named other shares that series, if no other label tells them apart. */
static void test_named_other(void **state)
{
	struct registry *r = new_registry(17);
	const struct label_value v = text("other");

	(void)state;
	series_observe(registry_series(r, TIMES, &v, 1), 1, NULL);
	registry_end(r, registry_series(r, TIMES, &v, 1)); /* no effect */
	series_observe(registry_series(r, TIMES, &v, 1), 1, NULL);
	{
		char *p = print(r, EXPOSITION_TEXT);

		assert_true(has_line(p, "t_time_seconds_count{who=\"other\"} 2"));
		free(p);
	}
	registry_free(r);
}

/* Series of which there are many leave a quarter of the room to the others. */
static void test_many(void **state)
{
	const struct metric_row two[] = {
		{"m_total", "M", METRIC_COUNTER, METRIC_COUNT, METRIC_MANY, {"pid"}},
		{"o_total", "O", METRIC_COUNTER, METRIC_COUNT, METRIC_OPEN, {"name"}},
	};
	const struct registry_opts opts = {.sz = sizeof(opts), .max_lines = 100};
	struct registry_stats st;
	struct registry *r;
	char name[16];

	(void)state;
	assert_int_equal(registry_new(&r, two, 2, &opts), 0);
	for (size_t row = 0; row < 2; row++) {
		for (int i = 0; i < 200; i++) {
			const struct label_value v = {
				name, (size_t)snprintf(name, sizeof(name), "n%d", i)};

			series_add(registry_series(r, row, &v, 1), 1);
		}
		registry_get_stats(r, &st);
		assert_int_equal(st.n_lines, row ? 102 : 77); /* and each has its other */
		assert_int_equal(st.n_refused, row ? 125 + 175 : 125);
	}
	registry_free(r);
}

static void test_counters_never_decrease(void **state)
{
	const struct metric_row row = {"t_total",    "T",          METRIC_COUNTER,
				       METRIC_COUNT, METRIC_FIXED, {NULL}};
	struct registry *r;

	(void)state;
	assert_int_equal(registry_new(&r, &row, 1, NULL), 0);
	series_set(registry_series(r, 0, NULL, 1), 5);
	series_set(registry_series(r, 0, NULL, 1), 4);
	assert_prints(r, EXPOSITION_TEXT, "# HELP t_total T\n# TYPE t_total counter\nt_total 5\n");
	registry_free(r);
}

static void test_accept(void **state)
{
	static const struct {
		const char *accept;
		enum exposition format;
	} cases[] = {
		{NULL, EXPOSITION_TEXT},
		{"", EXPOSITION_TEXT},
		{"*/*", EXPOSITION_TEXT},
		{"text/html", EXPOSITION_TEXT},
		{"application/openmetrics-text", EXPOSITION_OPENMETRICS},
		{"application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/"
		 "*;q=0.1",
		 EXPOSITION_OPENMETRICS},
		{"text/plain, application/openmetrics-text;q=0.5", EXPOSITION_TEXT},
		{"Application/OpenMetrics-Text;q=0", EXPOSITION_TEXT},
		{"application/openmetrics-text;q=", EXPOSITION_TEXT},
		{"application/openmetrics-text;q=1e300", EXPOSITION_OPENMETRICS},
		{"application/openmetrics-text;q=inf, text/plain", EXPOSITION_OPENMETRICS},
		{"application/openmetrics-text;q=nan", EXPOSITION_TEXT},
		{"application/openmetrics-text;q=-1e300", EXPOSITION_TEXT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(exposition_preferred(cases[i].accept), cases[i].format);
}

static int ends_with(const char *s, const char *end)
{
	const size_t n = strlen(s), len = strlen(end);

	return n >= len && strcmp(s + n - len, end) == 0;
}

/* Names say kind and unit, and every family has a text. target_info is OpenTelemetry's. */
static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < METRIC_MAX; i++) {
		const struct metric_row *m = &metric_rows[i];

		assert_true(strncmp(m->name, "saker_", 6) == 0 || i == METRIC_TARGET);
		assert_true(m->help[0]);
		assert_int_equal(ends_with(m->name, "_total"), m->kind == METRIC_COUNTER);
		assert_int_equal(ends_with(m->name, "_info"), m->kind == METRIC_INFO);
		if (m->unit == METRIC_NS)
			assert_true(ends_with(m->name, "_seconds") ||
				    ends_with(m->name, "_seconds_total"));
		if (m->unit == METRIC_BYTES)
			assert_true(ends_with(m->name, "_bytes") ||
				    ends_with(m->name, "_bytes_total"));
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(m->name, metric_rows[j].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats),     cmocka_unit_test(test_histogram),
		cmocka_unit_test(test_powers),      cmocka_unit_test(test_hostile_values),
		cmocka_unit_test(test_long_values), cmocka_unit_test(test_sums_are_kept),
		cmocka_unit_test(test_series_stay), cmocka_unit_test(test_start),
		cmocka_unit_test(test_named_other), cmocka_unit_test(test_counters_never_decrease),
		cmocka_unit_test(test_accept),      cmocka_unit_test(test_table),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
