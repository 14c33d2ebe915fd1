/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzz target: JIT code that is recognized by its bytes, in memory of this process. */
#include "testing/fuzz.h"

#include "unwind/jit_code.h"

enum { CODE_SZ = 16384 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	static uint8_t *code;
	struct unwind_rows rows = {0};
	size_t n = sz < CODE_SZ ? sz : CODE_SZ;

	if (!code) {
		code = mmap(NULL, CODE_SZ, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
		if (code == MAP_FAILED)
			abort();
	}
	memset(code, 0, CODE_SZ);
	memcpy(code, data, n);
	if (!jit_code_rows(&rows, (uint32_t)getpid(), (uintptr_t)code, (uintptr_t)code + CODE_SZ))
		for (size_t i = 1; i < rows.n; i++)
			if (rows.v[i - 1].pc > rows.v[i].pc || rows.v[i].pc > CODE_SZ)
				abort();
	unwind_rows_fini(&rows);
	return 0;
}
