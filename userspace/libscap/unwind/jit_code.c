/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/jit_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "procfs/remote_memory.h"

enum { ALIGN = 16, PAGE = 4096, CODE_SZ_MAX = 16, ROWS_MAX = 4 };

/* A piece of code, and the words between rsp and the CFA from certain bytes on. */
struct pattern {
	uint8_t sz, bytes[CODE_SZ_MAX];
	struct {
		uint8_t at, cfa;
	} rows[ROWS_MAX];
};

/* clang-format off */
static const struct pattern patterns[] = {
	/* CPython's trampoline, a copy for each function (-X perf, -X perf_jit): sub $8,%rsp; call
	 * *%rcx; add $8,%rsp; ret. */
	{11, {0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3},
	 {{0, 1}, {4, 2}, {10, 1}}},
	/* The same after endbr64. */
	{15, {0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3},
	 {{0, 1}, {8, 2}, {14, 1}}},
};
/* clang-format on */

static const struct pattern *pattern_at(const uint8_t *p, size_t sz)
{
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		if (patterns[i].sz <= sz && !memcmp(p, patterns[i].bytes, patterns[i].sz))
			return &patterns[i];
	return NULL;
}

static int add_pattern(struct unwind_rows *rows, const struct pattern *p, uint32_t pc)
{
	int err = 0;

	for (unsigned int i = 0; i < ROWS_MAX && p->rows[i].cfa && !err; i++)
		err = unwind_rows_add(rows, (struct unwind_row){.pc = pc + p->rows[i].at,
								.kind = UNWIND_RSP,
								.cfa = p->rows[i].cfa});
	return err
		       ?: unwind_rows_add(
				  rows, (struct unwind_row){.pc = pc + p->sz, .kind = UNWIND_NONE});
}

static int find_all(struct unwind_rows *rows, const uint8_t *code, size_t sz)
{
	int err = 0;

	for (size_t at = 0; at < sz && !err && rows->n < JIT_CODE_ROWS_MAX; at += ALIGN) {
		const struct pattern *p = pattern_at(code + at, sz - at);

		if (p)
			err = add_pattern(rows, p, (uint32_t)at);
	}
	return err;
}

static int read_rows(struct unwind_rows *rows, int pid, uint64_t start, size_t sz)
{
	uint8_t first[PAGE], *code;
	size_t n;
	int err;

	n = remote_memory_read_within(pid, first, start, sz < PAGE ? sz : PAGE);
	if (!pattern_at(first, n))
		return 0;
	code = malloc(sz);
	if (!code)
		return -ENOMEM;
	err = find_all(rows, code, remote_memory_read_within(pid, code, start, sz));
	free(code);
	return err;
}

int jit_code_rows(struct unwind_rows *rows, uint32_t pid, uint64_t start, uint64_t end)
{
	const size_t sz = end - start < JIT_CODE_MAX ? end - start : JIT_CODE_MAX;
	int err;

	*rows = (struct unwind_rows){0};
	err = read_rows(rows, (int)pid, start, sz);
	if (err)
		unwind_rows_fini(rows);
	return err;
}
