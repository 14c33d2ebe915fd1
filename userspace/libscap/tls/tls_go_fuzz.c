/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzz target: a program of Go that an input damages, by three bytes each: where, and what. */
#include <stdlib.h>

#include "tls/tls_go.h"
#include "tls/tls_go_test.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	struct tls_probe v[TLS_GO_PROBES_MAX];
	struct go_image i;
	struct elf_file *f;
	int n;

	go_make_image(&i, sz % 2 ? 0xfffffff1 : 0xfffffffa);
	for (size_t k = 0; k + 3 <= sz; k += 3)
		i.v[(data[k] | data[k + 1] << 8) % GO_IMAGE_SZ] = data[k + 2];
	if (elf_file_open_image(&f, i.v, sizeof(i.v)))
		return 0;
	n = tls_go_probes(f, v);
	elf_file_close(f);
	while (n-- > 0)
		if (v[n].offset >= sizeof(i.v))
			abort();
	return 0;
}
