/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzz target: the first byte selects the section that the other bytes are. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "unwind/cfi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	static const struct cfi_code code[] = {{0, 0x10000, 0}, {0x400000, 0x10000, 0x20000}};
	struct cfi_section s = {data + 1, sz - 1, 0x500000, sz && data[0] & 1};
	struct unwind_work work = {.left = 1u << 14}; /* limit: some inputs take more */
	struct unwind_rows rows = {0};
	struct cfi *c;
	int err;

	if (!sz || cfi_new(&c, code, 2, &work))
		return 0;
	err = cfi_add_section(c, &s);
	err = err ?: cfi_rows(c, &rows);
	if (err == -E2BIG && work.left)
		abort();
	for (size_t i = 1; i < rows.n; i++)
		if (rows.v[i - 1].pc >= rows.v[i].pc)
			abort();
	unwind_rows_fini(&rows);
	cfi_free(c);
	return 0;
}
