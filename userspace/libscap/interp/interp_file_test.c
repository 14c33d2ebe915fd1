/* SPDX-License-Identifier: Apache-2.0 */
/* Detection in files that were made to look like an interpreter. */
#include "testing/test_main.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "interp/interp_file.h"

enum {
	FDE_AT = 0x100,
	INTERP_AT = 0x140,
	NAMES_AT = 0x180,
	SECTIONS_AT = 0x200,
	CODE_AT = 0x1000,
	CODE_SZ = 256 << 10,
	REST_AT = CODE_AT + CODE_SZ,
};

/* A program that does not export its Lua: constants, and @n_functions equal rows of its table of
 * functions. */
struct program {
	uint8_t *image;
	size_t sz;
};

static void put(struct program *p, size_t at, const void *from, size_t sz)
{
	memcpy(p->image + at, from, sz);
}

static void make(struct program *p, const char *rodata, size_t rodata_sz, uint32_t n_functions)
{
	static const char names[] = "\0.interp\0.rodata\0.shstrtab";
	const size_t hdr_at = REST_AT + (rodata_sz + 7) / 8 * 8;
	const size_t hdr_sz = 12 + 8 * (size_t)n_functions;
	const uint8_t encodings[4] = {1, 0x1b, 3, 0x3b};
	const int32_t row[2] = {(int32_t)(CODE_AT - hdr_at), (int32_t)(FDE_AT - hdr_at)};
	const uint32_t fde[4] = {12, 4, CODE_AT - (FDE_AT + 8), CODE_SZ};
	const Elf64_Phdr segments[2] = {
		{.p_type = PT_LOAD,
		 .p_flags = PF_R | PF_X,
		 .p_filesz = hdr_at + hdr_sz,
		 .p_memsz = hdr_at + hdr_sz,
		 .p_align = 4096},
		{.p_type = PT_GNU_EH_FRAME,
		 .p_flags = PF_R,
		 .p_offset = hdr_at,
		 .p_vaddr = hdr_at,
		 .p_filesz = hdr_sz,
		 .p_memsz = hdr_sz},
	};
	const Elf64_Shdr sections[4] = {
		{0},
		{.sh_name = 1,
		 .sh_type = SHT_PROGBITS,
		 .sh_offset = INTERP_AT,
		 .sh_addr = INTERP_AT,
		 .sh_size = 8},
		{.sh_name = 9,
		 .sh_type = SHT_PROGBITS,
		 .sh_offset = REST_AT,
		 .sh_addr = REST_AT,
		 .sh_size = rodata_sz},
		{.sh_name = 17,
		 .sh_type = SHT_STRTAB,
		 .sh_offset = NAMES_AT,
		 .sh_size = sizeof(names)},
	};
	const Elf64_Ehdr head = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(head),
		.e_shoff = SECTIONS_AT,
		.e_ehsize = sizeof(head),
		.e_phentsize = sizeof(segments[0]),
		.e_phnum = 2,
		.e_shentsize = sizeof(sections[0]),
		.e_shnum = 4,
		.e_shstrndx = 3,
	};

	p->sz = hdr_at + hdr_sz;
	p->image = calloc(1, p->sz);
	assert_non_null(p->image);
	put(p, 0, &head, sizeof(head));
	put(p, sizeof(head), segments, sizeof(segments));
	put(p, FDE_AT, fde, sizeof(fde));
	put(p, NAMES_AT, names, sizeof(names));
	put(p, SECTIONS_AT, sections, sizeof(sections));
	put(p, REST_AT, rodata, rodata_sz);
	put(p, hdr_at, encodings, sizeof(encodings));
	put(p, hdr_at + 8, &n_functions, sizeof(n_functions));
	for (size_t i = 0; i < n_functions; i++)
		put(p, hdr_at + 12 + 8 * i, row, sizeof(row));
}

static int detect(struct interp_file *out, const struct program *p)
{
	struct elf_file *f;
	int r;

	assert_int_equal(elf_file_open_image(&f, p->image, p->sz), 0);
	r = interp_file_detect(out, f, "/usr/bin/host");
	elf_file_close(f);
	free(p->image);
	return r;
}

/* Early releases of Lua have other structures, also where it is a part of a program. */
static void test_early_release(void **state)
{
	static const char early[] = "$LuaVersion: Lua 5.4.0  Copyright",
			  later[] = "$LuaVersion: Lua 5.4.6";
	struct interp_file out;
	struct program p;

	(void)state;
	make(&p, early, sizeof(early), 1);
	assert_int_equal(detect(&out, &p), -ENOTSUP);
	assert_string_equal(out.version, "Lua 5.4.0");
	make(&p, later, sizeof(later), 1);
	assert_int_equal(detect(&out, &p), -ENOTSUP); /* it has no loop */
	assert_string_equal(out.version, "Lua 5.4");
}

/* A table may have the same large function again and again: it would take hours to search all. */
static void test_many_functions(void **state)
{
	static const char version[] = "$LuaVersion: Lua 5.4.6";
	struct interp_file out;
	struct program p;

	(void)state;
	make(&p, version, sizeof(version), 1 << 20);
	assert_int_equal(detect(&out, &p), -ENOTSUP);
}

/* Constants may be full of the text before a version, without one: it would take hours to look for
 * the end of each. */
static void test_many_marks(void **state)
{
	static const char mark[] = "$LuaVersion: Lua ";
	static char rodata[15 << 20];
	struct interp_file out;
	struct program p;

	(void)state;
	for (size_t i = 0; i + sizeof(mark) <= sizeof(rodata); i += sizeof(mark) - 1)
		memcpy(rodata + i, mark, sizeof(mark) - 1);
	make(&p, rodata, sizeof(rodata), 1);
	assert_int_equal(detect(&out, &p), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_early_release),
		cmocka_unit_test(test_many_functions),
		cmocka_unit_test(test_many_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
