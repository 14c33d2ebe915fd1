/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the recognition of JIT code by its bytes, on code of this process. */
#include "unwind/jit_code.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "testing/test_main.h"

#define SZ 65536u
#define STRIDE 272u /* as CPython 3.13 has it */

static const uint8_t trampoline[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd1,
				     0x48, 0x83, 0xc4, 0x08, 0xc3};

static uint8_t *memory;

static int setup(void **state)
{
	(void)state;
	memory = mmap(NULL, SZ + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return memory == MAP_FAILED || mprotect(memory + SZ, 4096, PROT_NONE);
}

static struct unwind_rows rows_of(size_t sz)
{
	const uint64_t start = (uint64_t)(uintptr_t)memory;
	struct unwind_rows rows;

	assert_int_equal(jit_code_rows(&rows, (uint32_t)getpid(), start, start + sz), 0);
	return rows;
}

static void assert_row(const struct unwind_row *r, uint32_t pc, uint8_t kind, uint16_t cfa)
{
	assert_int_equal(r->pc, pc);
	assert_int_equal(r->kind, kind);
	assert_int_equal(r->cfa, cfa);
	assert_int_equal(r->saved, 0);
}

/* A complete arena: before, inside and at the end of each call; no rule between them. */
static void test_trampolines(void **state)
{
	struct unwind_rows rows;
	uint32_t n = 0;

	(void)state;
	for (uint32_t at = 0; at + STRIDE <= SZ; at += STRIDE, n++)
		memcpy(memory + at, trampoline, sizeof(trampoline));
	rows = rows_of(SZ);
	assert_int_equal(rows.n, 4 * n);
	for (uint32_t i = 0; i < n; i++) {
		assert_row(&rows.v[4 * i], i * STRIDE, UNWIND_RSP, 1);
		assert_row(&rows.v[4 * i + 1], i * STRIDE + 4, UNWIND_RSP, 2);
		assert_row(&rows.v[4 * i + 2], i * STRIDE + 10, UNWIND_RSP, 1);
		assert_row(&rows.v[4 * i + 3], i * STRIDE + 11, UNWIND_NONE, 0);
	}
	unwind_rows_fini(&rows);
}

/* A mapping that cannot be read to its end, that ends inside of the code, that has other code. */
static void test_others(void **state)
{
	struct unwind_rows rows = rows_of(SZ + 4096);

	(void)state;
	assert_int_equal(rows.n % 4, 0);
	assert_true(rows.n > 0);
	unwind_rows_fini(&rows);
	assert_int_equal(rows_of(sizeof(trampoline) - 1).n, 0);
	memory[0] = 0x90;
	assert_int_equal(rows_of(SZ).n, 0);
	munmap(memory, SZ + 4096);
	assert_int_equal(rows_of(SZ).n, 0);
}

#define DEADLINE_S 30

/* Makes a page that is requested and never provided. Returns 0; -1: not possible here. */
static int hold_back(void *at, size_t sz)
{
	const int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.range = {(uintptr_t)at, sz},
					.mode = UFFDIO_REGISTER_MODE_MISSING};

	return fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range) ? -1 : 0;
}

/* Its status; -1: it hung, and was ended. */
static int await(pid_t pid)
{
	const struct timespec moment = {.tv_nsec = 10000000};
	int status = -1;

	for (int i = 0; i < DEADLINE_S * 100; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		nanosleep(&moment, NULL);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return -1;
}

/* Reading never waits for memory that the process withholds: neither for the first page nor for the
 * second. */
static void test_memory_that_never_comes(void **state)
{
	struct unwind_rows rows;
	pid_t pid;

	(void)state;
	for (size_t from = 0; from <= 4096; from += 4096) {
		uint8_t *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				   -1, 0);

		assert_true(at != MAP_FAILED);
		assert_int_equal(madvise(at, 8192, MADV_NOHUGEPAGE), 0);
		if (hold_back(at + from, 8192 - from)) {
			print_message("no userfaultfd here\n");
			skip();
		}
		if (from)
			memcpy(at, trampoline, sizeof(trampoline));
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			const uint64_t start = (uintptr_t)at;
			const int err =
				jit_code_rows(&rows, (uint32_t)getppid(), start, start + 8192);

			_exit(err ? 1 : rows.n != (from ? 4 : 0));
		}
		assert_int_equal(await(pid), 0);
		munmap(at, 8192);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trampolines),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_memory_that_never_comes),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
