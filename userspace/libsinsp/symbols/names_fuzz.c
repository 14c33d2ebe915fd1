/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzz target: files of names that programs write: a perf map or a jitdump, of which a part is
 * there at first, /proc/kallsyms, and mangled names. SAKER_FUZZ_ARG selects one. */
#include "testing/fuzz.h"

#include "demangle.h"
#include "jit_map.h"
#include "kernel_symbols.h"

enum { LOOKS = 64, DEMANGLED_SZ = 512 };

/* Reads @sz bytes in two steps; the first one ends in the middle. */
static void fuzz_jit(const uint8_t *data, size_t sz)
{
	struct jit_map *m = fuzz_must(jit_map_new());
	static int fd = -1;
	struct symtab_sym sym;
	const char *file;
	size_t sum = 0;
	uint32_t line;

	for (size_t end = sz / 2; end; end = end < sz ? sz : 0) {
		fd = fuzz_fd(fd, data, end);
		for (int i = 0; i < 8 && jit_map_read(m, fd, 0) == 1; i++)
			;
		for (uint64_t i = 0; i < LOOKS; i++)
			if (jit_map_find(m, i << (i % 24), i & 1 ? i * 1000 : JIT_LATEST, &sym,
					 &file, &line))
				sum += strlen(sym.name) + (file ? strlen(file) : 0);
	}
	jit_map_free(m);
	if (sum == SIZE_MAX)
		abort();
}

static void fuzz_kallsyms(const uint8_t *data, size_t sz)
{
	FILE *f = sz ? fmemopen((void *)data, sz, "r") : NULL;
	struct symtab_sym sym;
	struct symtab *t;

	if (!f)
		return;
	if (!sinsp_kernel_symbols_read(&t, f)) {
		for (uint64_t i = 0; i < LOOKS; i++)
			symtab_find(t, (0xffffull << 48) + (i << 10), &sym);
		symtab_free(t);
	}
	fclose(f);
}

static void fuzz_mangled(const uint8_t *data, size_t sz)
{
	struct fuzz_in in = {data, sz};
	char *name = fuzz_text(&in), *out = fuzz_must(malloc(DEMANGLED_SZ));
	const size_t n = sinsp_demangle(out, DEMANGLED_SZ, name);

	if (n >= DEMANGLED_SZ || (n && strlen(out) != n))
		abort();
	free(name);
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	const char *arg = getenv("SAKER_FUZZ_ARG") ?: "jit";

	if (!strcmp(arg, "kallsyms"))
		fuzz_kallsyms(data, sz);
	else if (!strcmp(arg, "mangled"))
		fuzz_mangled(data, sz);
	else
		fuzz_jit(data, sz);
	return 0;
}
