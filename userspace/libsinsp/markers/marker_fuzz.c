/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzz target: texts of markers. */
#include <stdlib.h>
#include <string.h>

#include "marker.h"

/* Each text of a list ends with a NUL, and is counted. */
static void check(const struct marker_list *l)
{
	uint16_t n = 0;

	if (l->sz > sizeof(l->text) || (l->sz && l->text[l->sz - 1]))
		abort();
	for (uint16_t i = 0; i < l->sz; i++)
		n += !l->text[i];
	if (n != l->n)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	static struct marker m;

	if (!sz || sinsp_marker_parse(&m, data + 1, sz - 1, data[0] & 1) != 1)
		return 0;
	check(&m.tags);
	check(&m.args);
	if (m.args.n % 2)
		abort();
	return 0;
}
