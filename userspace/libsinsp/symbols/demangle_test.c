/* SPDX-License-Identifier: Apache-2.0 */
#include "testing/test_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"

static void names(void **state)
{
	static const struct {
		const char *mangled, *name;
	} rows[] = {
		{"_Z3fooi", "foo"},
		{"_ZNSt6vectorIiSaIiEE9push_backERKi",
		 "std::vector<int, std::allocator<int> >::push_back"},
		{"_ZN3fooC1Ev", "foo::foo"},
		{"_ZNK3fooclEv", "foo::operator()"},
		{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
		{"_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Debug$GT$"
		 "3fmt17h0123456789abcdefE",
		 "<alloc::string::String as core::fmt::Debug>::fmt"},
		{"_RNvC6_123foo3bar", "123foo::bar"},
		{"_RINvC1a1bFG_RL0_hEuE", "a::b::<for<'a> fn(&'a u8)>"},
		{"_RINvC1a1bFGzzzz_uEuE", ""}, /* 10 million lifetimes */
		{"_RXXXXXXXXXYYFGXXXXXXXXXXXXXXXXXXXXXXXXYYFGYY_", ""},
		{"main", ""},
		{"_Z", ""},
		{"_ZZZZ", ""},
		{"_R", ""},
		{"", ""},
		{"_", ""},
	};
	char out[256];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		strcpy(out, "");
		sinsp_demangle(out, sizeof(out), rows[i].mangled);
		assert_string_equal(out, rows[i].name);
	}
}

static void cut(void **state)
{
	char out[8] = "1234567";

	(void)state;
	assert_int_equal(sinsp_demangle(out, sizeof(out), "_ZN5hello5worldEv"), 7);
	assert_string_equal(out, "hello::");
	assert_int_equal(sinsp_demangle(out, 0, "_ZN5hello5worldEv"), 0);
	assert_int_equal(sinsp_demangle(out, 1, "_ZN5hello5worldEv"), 0);
}

/* Each step doubles what a name stands for: 2^100 bytes. */
static void bomb(void **state)
{
	char name[1024] = "_Z1fSt4pairIiiE", out[300];
	size_t n;

	(void)state;
	strcpy(name, "_Z1f");
	strcat(name, "1AIiiE");
	for (int i = 0; i < 30; i++)
		sprintf(name + strlen(name), "1AIS%s_S%s_E", i ? "0" : "", i ? "0" : "");
	n = sinsp_demangle(out, sizeof(out), name);
	assert_true(n < sizeof(out));
	memset(name, 'P', sizeof(name) - 1);
	memcpy(name, "_Z1f", 4);
	sinsp_demangle(out, sizeof(out), name);
}

static void random_bytes(void **state)
{
	static const char *const seeds[] = {
		"_ZNSt6vectorIiSaIiEE9push_backERKi",
		"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
		"_RNvMNtC7mycrate3fooNtB2_3Bar3baz",
		"_RINvNtC3std3mem8align_ofNtNtC3std3fmt3FooE",
		"_ZZN1A1fEvENKUlT_E_clIiEEDaS0_",
	};
	char name[64], out[512];

	(void)state;
	srand(7);
	for (int i = 0; i < 200000; i++) {
		const char *seed = seeds[i % 5];
		const size_t len = strlen(seed);

		strcpy(name, seed);
		for (int k = rand() % 4; k >= 0; k--)
			name[2 + (size_t)rand() % (len - 2)] =
				"0123456789SNKEITZ_LCvijlPRX$.u"[rand() % 30];
		sinsp_demangle(out, sizeof(out), name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(cut),
		cmocka_unit_test(bomb),
		cmocka_unit_test(random_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
