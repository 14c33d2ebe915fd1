/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of TLS libraries: this program has those of OpenSSL, with symbols and without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "testing/test_main.h"
#include "tls/tls_library.h"

#define FUNCTION __attribute__((noinline, used))

FUNCTION int SSL_read(void *ssl, void *buf, int n)
{
	return ssl && buf ? n : 1;
}

FUNCTION int SSL_write(void *ssl, const void *buf, int n)
{
	return ssl && buf ? n : 2;
}

FUNCTION void SSL_free(void *ssl)
{
	(void)ssl;
}

__attribute__((used)) int SSL_read_ex = 1; /* no function */

/* Returns the number of probes of a file, which may be damaged at @at. */
static size_t probes_of(struct tls_probe v[TLS_PROBES_MAX], const uint8_t *image, size_t sz)
{
	struct elf_file *f;
	size_t n;

	if (elf_file_open_image(&f, image, sz))
		return 0;
	n = (size_t)tls_library_probes(f, v);
	elf_file_close(f);
	return n;
}

static uint8_t *read_self(size_t *sz)
{
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint8_t *image;

	assert_true(fd >= 0);
	*sz = (size_t)lseek(fd, 0, SEEK_END);
	image = malloc(*sz);
	assert_non_null(image);
	assert_int_equal(pread(fd, image, *sz, 0), *sz);
	close(fd);
	return image;
}

/* An entry and a return of read and write, and the end; the data symbol has none. The code at each
 * offset is that of the function. */
static void test_static(void **state)
{
	struct tls_probe v[TLS_PROBES_MAX];
	unsigned int n_of[TLS_FUNCTION_MAX] = {0};
	uint8_t *image;
	size_t sz, n;

	(void)state;
	image = read_self(&sz);
	n = probes_of(v, image, sz);
	assert_int_equal(n, 5);
	for (size_t i = 0; i < n; i++) {
		const void *code = v[i].function == TLS_READ    ? (void *)SSL_read
				   : v[i].function == TLS_WRITE ? (void *)SSL_write
								: (void *)SSL_free;

		n_of[v[i].function]++;
		assert_true(v[i].offset + 8 < sz);
		assert_memory_equal(image + v[i].offset, code, 1);
	}
	assert_int_equal(n_of[TLS_READ], 2);
	assert_int_equal(n_of[TLS_WRITE], 2);
	assert_int_equal(n_of[TLS_END], 1);
	free(image);
}

/* A library needs both directions. */
static void test_no_library(void **state)
{
	struct tls_probe v[TLS_PROBES_MAX];
	uint8_t *image, *at;
	size_t sz;

	(void)state;
	image = read_self(&sz);
	for (at = image; (at = memmem(at, sz - (size_t)(at - image), "SSL_write", 10)); at++)
		at[0] = 'X';
	assert_int_equal(probes_of(v, image, sz), 0);
	free(image);
}

/* Whatever a file says, its probes lie in it. */
static void test_damaged(void **state)
{
	struct tls_probe v[TLS_PROBES_MAX];
	uint8_t *image, *copy;
	uint32_t x = 7;
	size_t sz;

	(void)state;
	image = read_self(&sz);
	copy = malloc(sz);
	assert_non_null(copy);
	for (int i = 0; i < 200; i++) {
		size_t n;

		memcpy(copy, image, sz);
		for (int j = 0; j < 20; j++) {
			x = x * 1664525 + 1013904223;
			/* Headers lie at the begin and the end, and so do tables. */
			copy[j & 1 ? x % 4096 : sz - 1 - x % 8192] = (uint8_t)(x >> 24);
		}
		n = probes_of(v, copy, sz);
		assert_true(n <= TLS_PROBES_MAX);
		while (n--)
			assert_true(v[n].offset < sz);
	}
	free(copy);
	free(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_static),
		cmocka_unit_test(test_no_library),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
