/* SPDX-License-Identifier: Apache-2.0 */
#include "objfile/elf_functions.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_MAX (64u << 20)
#define HDR_SZ 12
#define HDR_VERSION 1
/* The layout that linkers write: .eh_frame relative to its place, the count absolute, the table
 * relative to the header. */
#define ENC_SDATA4_PCREL 0x1b
#define ENC_UDATA4 0x03
#define ENC_SDATA4_DATAREL 0x3b

struct elf_functions {
	const struct elf_file *f;
	struct elf_data hdr;
	uint64_t vaddr; /* size of the header */
	size_t n;
};

/* A row of the table: both relative to the header. */
struct row {
	int32_t start, fde;
};

/* Start of an FDE with addresses of 4 bytes, which all compilers write. */
struct fde {
	uint32_t len, cie;
	int32_t start; /* relative to its own place */
	uint32_t size;
};

static const struct elf_segment *hdr_segment(const struct elf_file *f)
{
	const struct elf_segment *v;
	const size_t n = elf_file_segments(f, &v);

	for (size_t i = 0; i < n; i++)
		if (v[i].type == PT_GNU_EH_FRAME)
			return &v[i];
	return NULL;
}

static int read_hdr(struct elf_functions *t)
{
	static const uint8_t expected[] = {HDR_VERSION, ENC_SDATA4_PCREL, ENC_UDATA4,
					   ENC_SDATA4_DATAREL};
	uint32_t n;

	if (t->hdr.sz < HDR_SZ || memcmp(t->hdr.data, expected, sizeof(expected)) != 0)
		return -ENOENT;
	memcpy(&n, t->hdr.data + 8, sizeof(n));
	t->n = (t->hdr.sz - HDR_SZ) / sizeof(struct row);
	if (n < t->n)
		t->n = n;
	return t->n ? 0 : -ENOENT;
}

int elf_functions_open(struct elf_functions **out, const struct elf_file *f)
{
	const struct elf_segment *s = hdr_segment(f);
	struct elf_functions *t;
	int err;

	if (!s || s->file_sz > TABLE_MAX)
		return -ENOENT;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->f = f;
	t->vaddr = s->vaddr;
	err = elf_file_copy(f, &t->hdr, s->offset, s->file_sz);
	err = err ?: read_hdr(t);
	if (err) {
		elf_functions_close(t);
		return err == -ENOMEM ? err : -ENOENT;
	}
	*out = t;
	return 0;
}

void elf_functions_close(struct elf_functions *t)
{
	if (!t)
		return;
	free(t->hdr.data);
	free(t);
}

static struct row row_at(const struct elf_functions *t, size_t i)
{
	struct row r;

	memcpy(&r, t->hdr.data + HDR_SZ + i * sizeof(r), sizeof(r));
	return r;
}

static uint64_t from_hdr(const struct elf_functions *t, int32_t v)
{
	return t->vaddr + (uint64_t)(int64_t)v;
}

size_t elf_functions_count(const struct elf_functions *t)
{
	return t->n;
}

int elf_functions_at(const struct elf_functions *t, size_t i, uint64_t *start, uint64_t *size)
{
	const struct row r = row_at(t, i);
	const uint64_t at = from_hdr(t, r.fde);
	struct fde fde;
	uint64_t offset;

	*start = from_hdr(t, r.start);
	if (elf_file_offset_of(t->f, &offset, at) ||
	    elf_file_read(t->f, &fde, offset, sizeof(fde)) ||
	    at + offsetof(struct fde, start) + (uint64_t)(int64_t)fde.start != *start)
		return 0;
	*size = fde.size;
	return 1;
}

int elf_functions_find(const struct elf_functions *t, uint64_t addr, uint64_t *start,
		       uint64_t *size)
{
	size_t lo = 0, hi = t->n;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (from_hdr(t, row_at(t, mid).start) <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && elf_functions_at(t, lo - 1, start, size) && addr - *start < *size;
}

size_t elf_functions_bytes(const struct elf_functions *t)
{
	return sizeof(*t) + t->hdr.sz;
}
