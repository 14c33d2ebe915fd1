/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects Java's HotSpot, libjvm. It exports tables for debuggers: gHotSpotVMStructs has the
 * addresses of static fields, gHotSpotVMTypes the sizes of types. Their pointers are relocations of
 * the file. The offsets of fields come from the row: the process fills them in when it starts.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/detect.h"

#define RELOCATIONS_MAX (16u << 20) /* bytes: six times those of a libjvm */
#define ENTRIES_MAX 4096 /* of a table */
#define NAME_SZ 32 /* of a type or field that is searched, with its NUL */

/* Entries of the tables. */
#define STRUCT_SZ 48
#define STRUCT_FIELD 8
#define STRUCT_ADDRESS 40
#define TYPE_SZ 40
#define TYPE_SIZE 32

static const struct row {
	struct interp_java java;
	uint16_t sizes[5]; /* of the types below */
} rows[] = {
#define JAVA(feature_, bias_, block, blob, nmethod, const_method, constants, memory, segments,     \
	     shift, name_, code_, code_end_, frame_, complete_, mutable, method_, data, points_,   \
	     points_end_, scopes_, metadata_, deopt_, deopt_handle_, original_, id_, code_sz_,     \
	     name_index_, source)                                                                  \
	{{.feature = (feature_),                                                                   \
	  .bias = (bias_),                                                                         \
	  .has_offsets = (mutable) != 0,                                                           \
	  .block_sz = (block),                                                                     \
	  .header_sz = (block) + (nmethod),                                                        \
	  .heap_memory = (memory),                                                                 \
	  .heap_segments = (segments),                                                             \
	  .heap_shift = (shift),                                                                   \
	  .name = (block) + (name_),                                                               \
	  .code = (block) + (code_),                                                               \
	  .code_end = (block) + (code_end_),                                                       \
	  .frame = (block) + (frame_),                                                             \
	  .complete = (block) + (complete_),                                                       \
	  .method = (block) + (method_),                                                           \
	  .method_data = (block) + (data),                                                         \
	  .mutable_data = (block) + (mutable),                                                     \
	  .points = (block) + (points_),                                                           \
	  .points_end = (block) + (points_end_),                                                   \
	  .scopes = (block) + (scopes_),                                                           \
	  .metadata = (block) + (metadata_),                                                       \
	  .deopt = (block) + (deopt_),                                                             \
	  .deopt_handle = (block) + (deopt_handle_),                                               \
	  .original = (block) + (original_),                                                       \
	  .id = (block) + (id_),                                                                   \
	  .const_method_sz = (const_method),                                                       \
	  .code_sz = (code_sz_),                                                                   \
	  .name_index = (name_index_),                                                             \
	  .constants_sz = (constants),                                                             \
	  .source_index = (source)},                                                               \
	 {block, blob, nmethod, const_method, constants}},
#include "interp/java.def"
#undef JAVA
};

static const char *const types[] = {"HeapBlock", "CodeBlob", "nmethod", "ConstMethod",
				    "ConstantPool"};

/* The file, and its relocations by address. */
struct tables {
	const struct elf_file *f;
	Elf64_Rela *v;
	size_t n;
};

static int compare(const void *a, const void *b)
{
	const Elf64_Rela *x = a, *y = b;

	return x->r_offset < y->r_offset ? -1 : x->r_offset > y->r_offset;
}

static int read_relocations(struct tables *t, const struct elf_file *f)
{
	const struct elf_section *s = elf_file_section(f, ".rela.dyn");
	struct elf_data data;

	if (!s || s->sz > RELOCATIONS_MAX || elf_file_section_copy(f, &data, s))
		return -1;
	t->f = f;
	t->v = (Elf64_Rela *)data.data;
	t->n = data.sz / sizeof(*t->v);
	qsort(t->v, t->n, sizeof(*t->v), compare);
	return 0;
}

/* Reads the pointer at @addr, an address of the file. Returns 0: none. */
static uint64_t read_pointer(const struct tables *t, uint64_t addr)
{
	const Elf64_Rela key = {.r_offset = addr};
	const Elf64_Rela *r = bsearch(&key, t->v, t->n, sizeof(key), compare);

	return r && ELF64_R_TYPE(r->r_info) == R_X86_64_RELATIVE ? (uint64_t)r->r_addend : 0;
}

static int read_data(const struct tables *t, void *to, size_t sz, uint64_t addr)
{
	uint64_t offset;

	return elf_file_offset_of(t->f, &offset, addr) || elf_file_read(t->f, to, offset, sz);
}

static int has_name(const struct tables *t, uint64_t addr, const char *name)
{
	const size_t sz = strlen(name) + 1;
	char found[NAME_SZ];

	return addr && sz <= sizeof(found) && !read_data(t, found, sz, addr) &&
	       memcmp(found, name, sz) == 0;
}

/* Reads the pointer to a table, which is exported or a relocation of another kind. */
static uint64_t table_of(const struct tables *t, const char *name)
{
	struct elf_symbol s;

	return elf_dynamic_symbol_find(t->f, &s, name) ? read_pointer(t, s.addr) : 0;
}

/* Returns the address of a static field; 0: none. */
static uint64_t find_static(const struct tables *t, const char *type, const char *field)
{
	uint64_t at = table_of(t, "gHotSpotVMStructs"), name;

	for (unsigned int i = 0; at && i < ENTRIES_MAX; i++, at += STRUCT_SZ) {
		name = read_pointer(t, at);
		if (!name)
			return 0;
		if (has_name(t, name, type) &&
		    has_name(t, read_pointer(t, at + STRUCT_FIELD), field))
			return read_pointer(t, at + STRUCT_ADDRESS);
	}
	return 0;
}

/* Returns whether the types have the sizes of the row. */
static int has_sizes(const struct tables *t, const struct row *row)
{
	uint64_t at = table_of(t, "gHotSpotVMTypes"), name, sz;
	size_t found = 0;

	for (unsigned int i = 0; at && i < ENTRIES_MAX; i++, at += TYPE_SZ) {
		name = read_pointer(t, at);
		if (!name)
			break;
		for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++) {
			if (!has_name(t, name, types[k]))
				continue;
			if (read_data(t, &sz, sizeof(sz), at + TYPE_SIZE) || sz != row->sizes[k])
				return 0;
			found++;
		}
	}
	return found == sizeof(types) / sizeof(types[0]);
}

static int detect(struct interp_file *out, const struct tables *t, uint64_t code)
{
	const uint64_t version_at = find_static(t, "Abstract_VM_Version", "_vm_major_version");
	uint32_t version = 0;

	if (!version_at || read_data(t, &version, sizeof(version), version_at))
		return -ENOTSUP;
	snprintf(out->version, sizeof(out->version), "Java %u", version);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].java.feature != version || !has_sizes(t, &rows[i]))
			continue;
		out->process.walker = STACK_WALKER_JAVA;
		out->process.has_jit = 1;
		out->process.root = find_static(t, "CodeCache", "_heaps");
		out->process.java = rows[i].java;
		return out->process.root && !interp_set_delta(out, t->f, code) ? 1 : -ENOTSUP;
	}
	return -ENOTSUP;
}

int interp_detect_java(struct interp_file *out, const struct elf_file *f, const char *path)
{
	struct elf_symbol s, code;
	struct tables t;
	int r;

	(void)path;
	if (!elf_dynamic_symbol_find(f, &s, "gHotSpotVMStructs") ||
	    !elf_dynamic_symbol_find(f, &code, "JNI_CreateJavaVM"))
		return 0;
	snprintf(out->version, sizeof(out->version), "Java");
	if (read_relocations(&t, f))
		return -ENOTSUP;
	r = detect(out, &t, code.addr);
	free(t.v);
	return r;
}
