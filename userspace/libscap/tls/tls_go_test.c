/* SPDX-License-Identifier: Apache-2.0 */
/* Return instructions of Go's crypto/tls, in files made by hand. */
#include "testing/test_main.h"

#include <errno.h>

#include "tls/tls_go.h"
#include "tls/tls_go_test.h"

static const uint32_t magics[] = {0xfffffffa, 0xfffffff0, 0xfffffff1};

static int probes_of(struct tls_probe v[TLS_GO_PROBES_MAX], const struct go_image *i)
{
	struct elf_file *f;
	int n;

	if (elf_file_open_image(&f, i->v, sizeof(i->v)))
		return -ENOEXEC;
	n = tls_go_probes(f, v);
	elf_file_close(f);
	return n;
}

static int probes_of_code(const uint8_t *code, size_t sz)
{
	struct tls_probe v[TLS_GO_PROBES_MAX];
	struct go_image i;

	go_make_image(&i, magics[2]);
	memcpy(i.v + GO_CODE_AT + GO_FUNC_SZ, code, sz); /* that of Read */
	return probes_of(v, &i);
}

static int probes_of_depths(const uint8_t *pcsp, size_t sz)
{
	struct tls_probe v[TLS_GO_PROBES_MAX];
	struct go_image i;

	go_make_image(&i, magics[2]);
	memcpy(i.v + GO_TABLE_AT + GO_PCS + 1, pcsp, sz);
	return probes_of(v, &i);
}

static void test_formats(void **state)
{
	static const struct tls_probe want[] = {
		{GO_FUNC_SZ + GO_JUMP, TLS_GO_READ, TLS_GO_AT_ENTRY, 0},
		{GO_FUNC_SZ + GO_RET_1, TLS_GO_READ, TLS_GO_AT_RETURN, 0},
		{GO_FUNC_SZ + GO_RET_2, TLS_GO_READ, TLS_GO_AT_RETURN, 0},
		{GO_JUMP, TLS_GO_WRITE, TLS_GO_AT_ENTRY, 0},
		{GO_RET_1, TLS_GO_WRITE, TLS_GO_AT_RETURN, 0},
		{GO_RET_2, TLS_GO_WRITE, TLS_GO_AT_RETURN, 0},
		{2 * GO_FUNC_SZ + GO_JUMP, TLS_GO_BEGIN, TLS_GO_AT_ENTRY, 0},
	};
	const int n = sizeof(want) / sizeof(want[0]);

	(void)state;
	for (size_t k = 0; k < sizeof(magics) / sizeof(magics[0]); k++) {
		struct tls_probe v[TLS_GO_PROBES_MAX];
		struct go_image i;

		go_make_image(&i, magics[k]);
		assert_int_equal(probes_of(v, &i), n);
		for (int j = 0; j < n; j++) {
			assert_int_equal(v[j].offset, GO_CODE_AT + want[j].offset);
			assert_int_equal(v[j].function, want[j].function);
			assert_int_equal(v[j].program, want[j].program);
			/* From the probe to net.(*TCPConn).Read. */
			assert_int_equal(v[j].distance, 3 * GO_FUNC_SZ - want[j].offset);
		}
	}
}

static void test_no_crypto(void **state)
{
	struct tls_probe v[TLS_GO_PROBES_MAX];
	struct go_image i;

	(void)state;
	go_make_image(&i, magics[2]);
	i.v[GO_TABLE_AT + GO_NAMES + 4] = 'C'; /* of Write */
	assert_int_equal(probes_of(v, &i), 0);
	go_make_headers(&i); /* no Go at all */
	assert_int_equal(probes_of(v, &i), 0);
}

static void test_code(void **state)
{
	static const uint8_t small[] = {0x4c, 0x8d, 0x64, 0x24, 0xe0, 0x4d,
					0x3b, 0x66, 0x10, 0x76, 9};
	static const uint8_t large[] = {0x4c, 0x8d, 0xa4, 0x24, 0,    0xff, 0xff,
					0xff, 0x4d, 0x3b, 0x66, 0x10, 0x0f, 0x86};
	static const uint8_t go116[] = {0x64, 0x48, 0x8b, 0x0c, 0x25, 0xf8, 0xff, 0xff, 0xff};
	static const uint8_t gcc[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x55};
	uint8_t code[GO_FUNC_SZ];

	(void)state;
	assert_int_equal(probes_of_code(small, sizeof(small)), 7);
	assert_int_equal(probes_of_code(large, sizeof(large)), 7);
	assert_int_equal(probes_of_code(go116, sizeof(go116)), -EOPNOTSUPP);
	assert_int_equal(probes_of_code(gcc, sizeof(gcc)), -EBADMSG);
	memcpy(code, go_code, sizeof(code));
	code[GO_RET_1] = 0x90; /* depth 0, and no return */
	assert_int_equal(probes_of_code(code, sizeof(code)), -EBADMSG);
	code[GO_RET_1] = 0xc3;
	code[GO_RET_2] = 0x90; /* as after a call that does not return */
	assert_int_equal(probes_of_code(code, sizeof(code)), 6);
}

static void test_depths(void **state)
{
	/* The first return is followed by more at depth 0. */
	static const uint8_t wide[] = {2, 10, 48, 10, 47, 2, 48, 8, 47, 8, 0};
	/* No frame: a return could be anywhere. */
	static const uint8_t leaf[] = {2, 38, 0};
	/* The frame is never removed. */
	static const uint8_t kept[] = {2, 10, 48, 28, 0};

	(void)state;
	assert_int_equal(probes_of_depths(go_pcsp, sizeof(go_pcsp)), 7);
	assert_int_equal(probes_of_depths(wide, sizeof(wide)), -EBADMSG);
	assert_int_equal(probes_of_depths(leaf, sizeof(leaf)), -EBADMSG);
	assert_int_equal(probes_of_depths(kept, sizeof(kept)), -EBADMSG);
}

/* A function with more returns than are probed has no probe at all. */
static void test_many(void **state)
{
	struct tls_probe v[TLS_GO_PROBES_MAX];
	struct go_image i;
	uint8_t *at;

	(void)state;
	go_make_image(&i, magics[2]);
	at = i.v + GO_TABLE_AT + GO_PCS + 1;
	memcpy(at, (const uint8_t[]){2, 10}, 2);
	for (int k = 0; k <= TLS_GO_RETURNS_MAX; k++)
		memcpy(at + 2 + 4 * k, (const uint8_t[]){48, 1, 47, 1}, 4);
	at[2 + 4 * (TLS_GO_RETURNS_MAX + 1)] = 0;
	memset(i.v + GO_CODE_AT + GO_FUNC_SZ + 10, 0xc3, GO_FUNC_SZ - 10);
	assert_int_equal(probes_of(v, &i), -EBADMSG);
}

/* Whatever a file says: an error, or probes that lie in it, at instructions of the right kind. */
static void test_damaged(void **state)
{
	uint64_t seed = 88172645463325252ull;
	int n_found = 0;

	(void)state;
	for (int n = 0; n < 20000; n++) {
		struct tls_probe v[TLS_GO_PROBES_MAX];
		struct go_image i;
		int found;

		go_make_image(&i, magics[n % 3]);
		for (int k = 0; k < 3; k++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			i.v[0x40 + (seed >> 8) % 0x600] = (uint8_t)seed;
		}
		found = probes_of(v, &i);
		assert_true(found <= TLS_GO_PROBES_MAX);
		n_found += found > 0;
		for (int k = 0; k < found; k++) {
			assert_true(v[k].offset < sizeof(i.v));
			if (v[k].program == TLS_GO_AT_RETURN)
				assert_int_equal(i.v[v[k].offset], 0xc3);
		}
	}
	assert_true(n_found > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_formats), cmocka_unit_test(test_no_crypto),
		cmocka_unit_test(test_code),    cmocka_unit_test(test_depths),
		cmocka_unit_test(test_many),    cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
