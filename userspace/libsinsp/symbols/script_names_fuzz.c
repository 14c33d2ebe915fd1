/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzz target: code objects as events have them, then the lines of positions in each. */
#include <stdlib.h>
#include <string.h>

#include "script_names.h"
#include "shared/interp.h"
#include "shared/stack.h"

#define POSITIONS 64

/* Takes up to @max bytes, whose number the input has in two bytes. */
static uint8_t *take(const uint8_t **data, size_t *sz, uint32_t max, uint32_t *len)
{
	uint8_t *p;

	*len = 0;
	if (*sz < 2)
		return NULL;
	*len = (uint32_t)((*data)[0] | (*data)[1] << 8) % (max + 1);
	if (*len > *sz - 2)
		*len = (uint32_t)(*sz - 2);
	p = malloc(*len ? *len : 1); /* so that the sanitizer sees a read beyond its end */
	if (!p)
		abort();
	memcpy(p, *data + 2, *len);
	*data += 2 + *len;
	*sz -= 2 + *len;
	return p;
}

/* Any byte of a name or a file may be read, and each position has a line. */
static int check(void *ctx, const struct script_code *c)
{
	size_t *sum = ctx;

	*sum += (c->function ? strlen(c->function) : 0) + (c->file ? strlen(c->file) : 0);
	for (uint32_t i = 0; i < POSITIONS; i++)
		*sum += script_code_line(c, i) +
			script_code_line(c, i * 0x10001u & STACK_SCRIPT_MASK);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	struct script_names names = {0};
	size_t sum = 0;

	while (sz > 8) {
		struct script_row row = {
			.pid = data[0] & 3,
			.code = data[1] & 7,
			.check = data[2] & 7,
			.first_line = data[3],
			.language = data[4] % STACK_WALKER_ROOM,
			.version = data[5],
			.kinds = data[6],
		};
		const int ends = data[7] & 1;

		data += 8;
		sz -= 8;
		row.name = take(&data, &sz, INTERP_NAME_MAX, &row.name_len);
		row.file = take(&data, &sz, INTERP_FILE_MAX, &row.file_len);
		row.lines = take(&data, &sz, INTERP_LINES_MAX, &row.n_lines);
		row.bases = take(&data, &sz, INTERP_LINE_BASES_MAX, &row.n_bases);
		script_names_add(&names, &row);
		free((void *)row.name);
		free((void *)row.file);
		free((void *)row.lines);
		free((void *)row.bases);
		if (ends)
			script_names_drop(&names, row.pid);
	}
	script_names_each(&names, check, &sum);
	script_names_fini(&names);
	return sum == SIZE_MAX; /* keeps the reads */
}
