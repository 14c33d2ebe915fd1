/* SPDX-License-Identifier: Apache-2.0 */
#include "interp/interp_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/detect.h"
#include "objfile/elf_functions.h"

#define RODATA_MAX (16u << 20) /* bytes that are searched for a version */
#define VERSION_MAX 24 /* bytes of a version */
#define LOOP_MAX (1u << 20) /* bytes of the function of the loop */
#define CODE_MAX (16u << 20) /* bytes of other code */

/* Finds the part of a function that the compiler moved away: conditional jumps lead into the middle
 * of it. Returns whether there is one. */
static int find_cold(const struct elf_file *f, const uint8_t *code, const struct elf_symbol *loop,
		     uint64_t *start, uint64_t *sz)
{
	struct elf_functions *functions;
	int found = 0;

	if (elf_functions_open(&functions, f))
		return 0;
	for (uint64_t i = 0; i + 6 <= loop->sz && !found; i++) {
		int32_t rel;
		uint64_t to;

		if (code[i] != 0x0f || (code[i + 1] & 0xf0) != 0x80) /* jcc */
			continue;
		memcpy(&rel, code + i + 2, sizeof(rel));
		to = loop->addr + i + 6 + (uint64_t)(int64_t)rel;
		if (to - loop->addr >= loop->sz && elf_functions_find(functions, to, start, sz))
			found = *start != to;
	}
	elf_functions_close(functions);
	return found;
}

int interp_add_range(struct interp_file *out, const struct elf_file *f, uint64_t addr, uint64_t sz)
{
	uint64_t offset;

	if (!sz || sz > CODE_MAX || elf_file_offset_of(f, &offset, addr) ||
	    offset > UINT32_MAX - sz)
		return -1;
	out->delta = addr - offset;
	out->loop[out->n_loop].from = (uint32_t)offset;
	out->loop[out->n_loop++].to = (uint32_t)(offset + sz);
	return 0;
}

static int compare_ranges(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

int interp_set_delta(struct interp_file *out, const struct elf_file *f, uint64_t addr)
{
	uint64_t offset;

	if (elf_file_offset_of(f, &offset, addr))
		return -1;
	out->delta = addr - offset;
	return 0;
}

int interp_add_loop(struct interp_file *out, const struct elf_file *f,
		    const struct elf_symbol *loop)
{
	struct elf_data code;
	uint64_t start, sz;

	if (loop->sz > LOOP_MAX || interp_add_range(out, f, loop->addr, loop->sz) ||
	    elf_file_copy(f, &code, out->loop[0].from, loop->sz))
		return -1;
	if (find_cold(f, code.data, loop, &start, &sz) && sz <= LOOP_MAX)
		interp_add_range(out, f, start, sz);
	free(code.data);
	qsort(out->loop, out->n_loop, sizeof(out->loop[0]), compare_ranges);
	return 0;
}

/* Reads the version at @at. Returns whether it is there. */
static int read_version(unsigned int version[3], const char *at, const char *end)
{
	char text[VERSION_MAX] = "";
	const size_t left = (size_t)(end - at);

	memcpy(text, at, left < sizeof(text) ? left : sizeof(text) - 1);
	return sscanf(text, "%u.%u.%u", &version[0], &version[1], &version[2]) >= 2;
}

int interp_find_version(const struct elf_file *f, const char *mark, unsigned int version[3])
{
	const struct elf_section *rodata = elf_file_section(f, ".rodata");
	const size_t len = strlen(mark);
	struct elf_data data;
	const char *at, *end;
	int found = 0;

	if (!rodata || rodata->sz > RODATA_MAX || elf_file_section_copy(f, &data, rodata))
		return 0;
	at = (const char *)data.data;
	end = at + data.sz;
	while (!found && (at = memmem(at, (size_t)(end - at), mark, len))) {
		at += len;
		found = read_version(version, at, end);
	}
	free(data.data);
	return found;
}

int interp_file_detect(struct interp_file *out, const struct elf_file *f, const char *path)
{
	static int (*const languages[])(struct interp_file * out, const struct elf_file *f,
					const char *path) = {
		interp_detect_python, interp_detect_lua,  interp_detect_perl, interp_detect_php,
		interp_detect_ruby,   interp_detect_beam, interp_detect_node, interp_detect_java,
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(languages) / sizeof(languages[0]) && !r; i++) {
		memset(out, 0, sizeof(*out));
		r = languages[i](out, f, path);
	}
	return r;
}
