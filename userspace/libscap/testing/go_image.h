/* SPDX-License-Identifier: Apache-2.0 */
/* The headers of a stripped program of Go, made by hand, for tests: its table is found by its
 * magic. */
#ifndef SCAP_TESTING_GO_IMAGE_H
#define SCAP_TESTING_GO_IMAGE_H

#include <elf.h>
#include <stdint.h>
#include <string.h>

#define GO_TEXT 0x401000u /* address of the code */

struct go_segment {
	uint64_t at, sz; /* in the file */
};

/* Writes the headers of a file with two segments and no sections: code, and the table. */
static inline void go_put_headers(uint8_t *image, const struct go_segment *code,
				  const struct go_segment *table)
{
	const Elf64_Ehdr h = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_phoff = sizeof(h),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
	};
	const Elf64_Phdr p[2] = {
		{.p_type = PT_LOAD,
		 .p_flags = PF_R | PF_X,
		 .p_offset = code->at,
		 .p_vaddr = GO_TEXT,
		 .p_filesz = code->sz,
		 .p_memsz = code->sz},
		{.p_type = PT_LOAD,
		 .p_flags = PF_R,
		 .p_offset = table->at,
		 .p_vaddr = 0x500000,
		 .p_filesz = table->sz,
		 .p_memsz = table->sz},
	};

	memcpy(image, &h, sizeof(h));
	memcpy(image + sizeof(h), p, sizeof(p));
}

static inline void go_put(uint8_t *image, size_t at, uint64_t v, size_t sz)
{
	memcpy(image + at, &v, sz);
}

#endif /* SCAP_TESTING_GO_IMAGE_H */
