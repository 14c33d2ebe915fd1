/* SPDX-License-Identifier: Apache-2.0 */
/* Owners that come and go, with room for few of them: the sum is what all of them had. */
#include "owners.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "registry_impl.h"
#include "registry_text.h"
#include "testing/test_main.h"

enum { OWNERS = 40, ROUNDS = 200 };

static const struct metric_row rows[] = {
	{"a_total", "A", METRIC_COUNTER, METRIC_COUNT, METRIC_OPEN, {"name"}},
	{"b_total", "B", METRIC_COUNTER, METRIC_COUNT, METRIC_OPEN, {"name"}},
};

static uint64_t sum_of(const struct registry *r, const char *name)
{
	struct sinsp_text out = {0};
	uint64_t sum = 0;
	char *save, *line;

	assert_int_equal(registry_print(r, &out, EXPOSITION_TEXT), 0);
	out.p = realloc(out.p, out.len + 1);
	out.p[out.len] = 0;
	for (line = strtok_r(out.p, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (strncmp(line, name, strlen(name)) == 0)
			sum += strtoull(strrchr(line, ' ') + 1, NULL, 10);
	free(out.p);
	return sum;
}

static void test_sums(void **state)
{
	const struct registry_opts opts = {.sz = sizeof(opts), .max_lines = 30, .idle_ns = 3};
	uint64_t totals[OWNERS][2] = {0}, starts[OWNERS] = {0}, all = 0, unskipped = 0;
	struct registry *r;
	struct owners *os;
	char name[16];

	(void)state;
	assert_int_equal(registry_new(&r, rows, 2, &opts), 0);
	assert_int_equal(owners_new(&os, 0, 2), 0);
	srand(1);
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		owners_begin(os);
		for (size_t i = 0; i < OWNERS; i++) {
			const uint64_t n = (uint64_t)(rand() % 3);
			struct label_value labels[METRIC_LABELS] = {{name, 0}};

			if (rand() % 10 == 0) { /* ended; its id is reused */
				memset(totals[i], 0, sizeof(totals[i]));
				starts[i] = round;
				continue;
			}
			totals[i][0] += n;
			totals[i][1] += n;
			all += n;
			unskipped += i % 2 ? n : 0;
			labels[0].len = (size_t)snprintf(name, sizeof(name), "n%zu", i);
			owners_update(os, r, i, starts[i], labels, totals[i], i % 2 ? 0 : 2, round);
		}
		owners_end(os, r);
		assert_int_equal(sum_of(r, "a_total{"), all);
		assert_int_equal(sum_of(r, "b_total{"), unskipped);
	}
	owners_free(os);
	registry_free(r);
}

static uint64_t value_of(const struct registry *r, size_t row, const char *name)
{
	struct label_value labels[METRIC_LABELS] = {label_of(name)};
	const struct series *found = registry_find((struct registry *)r, row, labels);

	return found ? found->value : 0;
}

/*
 * With the whole known, the series are the whole in each round, whatever owners were seen: some end
 * before any round, others have more than a whole that was read before them. No series decreases.
 */
static void test_whole(void **state)
{
	uint64_t totals[OWNERS] = {0}, starts[OWNERS] = {0}, old[OWNERS] = {0}, other = 0, all = 0;
	struct registry *r;
	struct owners *os;
	char name[16];

	(void)state;
	assert_int_equal(registry_new(&r, rows, 2, NULL), 0);
	assert_int_equal(owners_new(&os, 0, 2), 0);
	srand(1);
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		const uint64_t early = (uint64_t)(rand() % 5), unseen = (uint64_t)(rand() % 5);
		uint64_t whole[2];

		for (size_t i = 0; i < OWNERS; i++) {
			const uint64_t n = (uint64_t)(rand() % 3);

			if (rand() % 10 == 0) {
				totals[i] = 0;
				starts[i] = round;
			}
			totals[i] += n;
			all += n;
		}
		all += unseen;
		whole[0] = whole[1] = all > early ? all - early : 0;
		owners_begin_whole(os, whole, 2);
		for (size_t i = 0; i < OWNERS; i++) {
			const uint64_t both[] = {totals[i], totals[i]};
			struct label_value labels[METRIC_LABELS] = {{name, 0}};

			labels[0].len = (size_t)snprintf(name, sizeof(name), "n%zu", i);
			owners_update(os, r, i, starts[i], labels, both, 2, round);
			assert_true(value_of(r, 0, name) >= old[i]);
			old[i] = value_of(r, 0, name);
		}
		owners_end(os, r);
		for (size_t i = 0; i < OWNERS; i++) {
			snprintf(name, sizeof(name), "n%zu", i);
			old[i] = value_of(r, 0, name);
		}
		assert_int_equal(sum_of(r, "a_total{"), whole[0]);
		assert_int_equal(sum_of(r, "b_total{"), 0);
		assert_true(value_of(r, 0, "other") >= other);
		other = value_of(r, 0, "other");
	}
	assert_true(other > ROUNDS);
	owners_free(os);
	registry_free(r);
}

static void print_to(char *to, size_t sz, const struct registry *r)
{
	struct sinsp_text out = {0};

	assert_int_equal(registry_print(r, &out, EXPOSITION_TEXT), 0);
	snprintf(to, sz, "%.*s", (int)out.len, out.p);
	free(out.p);
}

/* A histogram keeps its values under another name, and leaves them to `other`. */
static void test_histogram(void **state)
{
	static const struct metric_row row = {"io_seconds", "I/O",       METRIC_POWERS,
					      METRIC_NS,    METRIC_OPEN, {"name"}};
	const struct label_value names[][METRIC_LABELS] = {{{"x", 1}}, {{"y", 1}}};
	uint64_t totals[OWNER_BUCKETS + 1] = {[3] = 2, [25] = 1, [OWNER_BUCKETS] = 3000000000};
	char page[8192];
	struct registry *r;
	struct owners *os;

	(void)state;
	assert_int_equal(registry_new(&r, &row, 1, NULL), 0);
	assert_int_equal(owners_new_histogram(&os, 0, OWNER_BUCKETS), 0);
	for (int round = 0; round < 2; round++) {
		owners_begin(os);
		owners_update(os, r, 1, 0, names[0], totals, 0, 1);
		owners_end(os, r);
	}
	totals[3] = 5;
	owners_begin(os);
	owners_rename(os, r, 1, 0, names[1], 2);
	owners_update(os, r, 1, 0, names[1], totals, 0, 2);
	owners_end(os, r);
	print_to(page, sizeof(page), r);
	assert_null(strstr(page, "name=\"x\""));
	assert_non_null(strstr(page, "io_seconds_bucket{name=\"y\",le=\"0.000004\"} 0\n"));
	assert_non_null(strstr(page, "io_seconds_bucket{name=\"y\",le=\"0.000008\"} 5\n"));
	assert_non_null(strstr(page, "io_seconds_bucket{name=\"y\",le=\"+Inf\"} 6\n"));
	assert_non_null(strstr(page, "io_seconds_sum{name=\"y\"} 3.000000000\n"));
	owners_begin(os);
	owners_end(os, r);
	print_to(page, sizeof(page), r);
	assert_null(strstr(page, "name=\"y\""));
	assert_non_null(strstr(page, "io_seconds_count{name=\"other\"} 6\n"));
	owners_free(os);
	registry_free(r);
}

/* What an owner is, and not what it used: 1, of how many ever, also under another name. */
static void test_info(void **state)
{
	static const struct metric_row row = {"label_info", "Label",     METRIC_INFO,
					      METRIC_COUNT, METRIC_MANY, {"name"}};
	const struct label_value names[][METRIC_LABELS] = {{{"x", 1}}, {{"y", 1}}};
	const uint64_t one = 1;
	char page[1024];
	struct registry *r;
	struct owners *os;

	(void)state;
	assert_int_equal(registry_new(&r, &row, 1, NULL), 0);
	assert_int_equal(owners_new(&os, 0, 1), 0);
	for (uint64_t round = 0; round < 2; round++) {
		owners_begin(os);
		for (uint64_t id = 0; id < 3; id++) {
			if (round)
				owners_rename(os, r, id, 0, names[1], round);
			owners_update(os, r, id, 0, names[round], &one, 0, round);
		}
		owners_end(os, r);
		assert_int_equal(registry_find(r, 0, names[round])->value, 1);
	}
	print_to(page, sizeof(page), r);
	assert_string_equal(page, "# HELP label_info Label\n# TYPE label_info gauge\n"
				  "label_info{name=\"y\"} 1\n");
	owners_begin(os);
	owners_end(os, r);
	print_to(page, sizeof(page), r);
	assert_null(strstr(page, "label_info{"));
	owners_free(os);
	registry_free(r);
}

/* A total that went backwards adds nothing. */
static void test_backwards(void **state)
{
	const struct label_value labels[METRIC_LABELS] = {{"x", 1}};
	const uint64_t totals[][1] = {{5}, {4}, {6}};
	struct registry *r;
	struct owners *os;

	(void)state;
	assert_int_equal(registry_new(&r, rows, 1, NULL), 0);
	assert_int_equal(owners_new(&os, 0, 1), 0);
	for (size_t i = 0; i < 3; i++) {
		owners_begin(os);
		owners_update(os, r, 1, 1, labels, totals[i], 0, i);
		owners_end(os, r);
	}
	assert_int_equal(sum_of(r, "a_total{"), 6);
	owners_free(os);
	registry_free(r);
}

/* A series lasts as long as any owner with its labels: a service that was started again, a PID. */
static void test_same_labels(void **state)
{
	const char *const names[] = {"x", "\x01", "\x02"}; /* two are rendered the same */
	const uint64_t old = 5, new = 3;
	struct label_value labels[METRIC_LABELS] = {0};
	struct registry *r;
	struct owners *os;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(registry_new(&r, rows, 1, NULL), 0);
		assert_int_equal(owners_new(&os, 0, 1), 0);
		for (uint64_t round = 0; round < 4; round++) {
			owners_begin(os);
			labels[0] = (struct label_value){names[i], 1};
			if (round < 2)
				owners_update(os, r, 1, 1, labels, &old, 0, round);
			labels[0].p = names[i ? i + 1 : 0];
			if (round > 0 && round < 3)
				owners_update(os, r, 2, 1, labels, &new, 0, round);
			owners_end(os, r);
			assert_int_equal(sum_of(r, i ? "a_total{name=\"\xef" : "a_total{name=\"x"),
					 round == 0  ? old
					 : round < 3 ? old + new
						     : 0);
		}
		assert_int_equal(sum_of(r, "a_total{name=\"other"), old + new);
		owners_free(os);
		registry_free(r);
	}
}

/* Owners whose name becomes known keep their value: nothing goes to other, and nothing is lost. */
static void test_rename(void **state)
{
	const struct label_value a[METRIC_LABELS] = {{"id", 2}}, b[METRIC_LABELS] = {{"name", 4}};
	const struct registry_opts opts = {.sz = sizeof(opts), .max_lines = 1, .idle_ns = 3};
	const uint64_t totals[] = {5}, more[] = {7};
	struct registry *r;
	struct owners *os;

	(void)state;
	assert_int_equal(registry_new(&r, rows, 1, &opts), 0);
	assert_int_equal(owners_new(&os, 0, 1), 0);
	for (uint64_t round = 1; round < 4; round++) {
		owners_begin(os);
		for (uint64_t id = 1; id < 3; id++) {
			if (round == 2)
				owners_rename(os, r, id, 0, b, round);
			owners_update(os, r, id, 0, round == 1 ? a : b, round < 3 ? totals : more,
				      0, round);
		}
		owners_end(os, r);
		assert_int_equal(sum_of(r, "a_total{name=\"id\""), round == 1 ? 10 : 0);
		assert_int_equal(sum_of(r, "a_total{name=\"name\""), round == 1   ? 0
								     : round == 2 ? 10
										  : 14);
		assert_int_equal(sum_of(r, "a_total{name=\"other"), 0);
	}
	owners_begin(os);
	owners_end(os, r);
	assert_int_equal(sum_of(r, "a_total{name=\"other"), 14);
	owners_free(os);
	registry_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),        cmocka_unit_test(test_backwards),
		cmocka_unit_test(test_histogram),   cmocka_unit_test(test_info),
		cmocka_unit_test(test_same_labels), cmocka_unit_test(test_rename),
		cmocka_unit_test(test_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
