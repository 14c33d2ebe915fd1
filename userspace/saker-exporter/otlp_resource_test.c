/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp_resource.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect.h"
#include "otlp_queue.h"
#include "testing/test_main.h"

enum { PROCESSES = 200, ITEM = 200 << 10, MOST = 16 << 20 };

/* A service of its own for each number. */
static char service[16];

void collect_service(struct label_value *to, const struct sinsp_evt *evt)
{
	(void)evt;
	memset(to, 0, SERVICE_LABELS * sizeof(*to));
	to[0] = label_of(service);
}

const char *sinsp_hostname(const struct sinsp *s)
{
	(void)s;
	return "host";
}

static size_t in_use(void)
{
	const struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

static void add(struct otlp_groups *g, int process, size_t len)
{
	static const char bytes[ITEM];
	const struct sinsp_evt evt = {0};
	struct pb *b;

	snprintf(service, sizeof(service), "p%d", process);
	b = otlp_groups_item(g, &evt);
	assert_non_null(b);
	pb_put_raw(b, bytes, len);
}

/* Each process has much to tell in another batch, and another place in it. */
static void test_memory_is_that_of_a_batch(void **state)
{
	struct otlp_groups *g = NULL;
	const size_t before = in_use();

	(void)state;
	assert_int_equal(otlp_groups_new(&g, OTLP_TRACES, "1"), 0);
	for (int large = 0; large < PROCESSES; large++) {
		struct otlp_batch *batch;

		for (int i = 0; i <= large; i++)
			add(g, i, i == large ? ITEM : 1);
		batch = otlp_groups_flush(g);
		assert_non_null(batch);
		assert_int_equal(batch->n_items, large + 1);
		free(batch);
	}
	assert_true(in_use() - before < MOST);
	assert_int_equal(otlp_groups_take_lost(g), 0);
	otlp_groups_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_is_that_of_a_batch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
