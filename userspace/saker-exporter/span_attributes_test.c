/* SPDX-License-Identifier: Apache-2.0 */
#include "span_attributes.h"

#include <string.h>

#include "fields/request_params.h"
#include "testing/test_main.h"

static struct pb attributes_of(const char *peer, uint32_t len)
{
	static const uint64_t number;
	static const uint8_t small;
	struct sinsp_evt evt = {.raw.type = EVT_REQUEST_E, .params.n = REQUEST_P_MAX};
	struct span_request r;
	struct pb b;

	evt.params.v[REQUEST_P_KIND] = (struct scap_param){&small, 1};
	evt.params.v[REQUEST_P_SIDE] = (struct scap_param){&small, 1};
	evt.params.v[REQUEST_P_BEGIN] = (struct scap_param){(const uint8_t *)&number, 8};
	evt.params.v[REQUEST_P_PEER] = (struct scap_param){(const uint8_t *)peer, len};
	assert_int_equal(span_request_read(&r, &evt), 1);
	pb_init(&b, 4096);
	span_put_attributes(&b, &r);
	assert_int_equal(b.failed, 0);
	return b;
}

/* In a file the next parameter may follow the text at once. */
static void test_port_ends_with_its_text(void **state)
{
	struct pb want = attributes_of("10.0.0.1:80", 12), got = attributes_of("10.0.0.1:8099", 11);

	(void)state;
	assert_int_equal(got.len, want.len);
	assert_memory_equal(got.p, want.p, want.len);
	pb_fini(&want);
	pb_fini(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_port_ends_with_its_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
