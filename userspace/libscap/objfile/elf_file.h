/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A 64-bit little-endian ELF file, or an image of one, read by copies: whatever its headers say and
 * whatever becomes of the file while it is read, there is an error and never a fault. Nothing
 * is mapped, so a file that is cut short under our feet ends a read, not the process.
 */
#ifndef SCAP_OBJFILE_ELF_FILE_H
#define SCAP_OBJFILE_ELF_FILE_H

#include <stddef.h>
#include <stdint.h>

#define ELF_BUILD_ID_MAX 64 /* longer ones are none */
#define ELF_FILE_ID_SZ 16

struct elf_file;

struct elf_segment {
	uint64_t vaddr;
	uint64_t offset;
	uint64_t file_sz;
	uint64_t mem_sz;
	uint32_t type; /* PT_* */
	uint32_t flags; /* PF_* */
};

struct elf_section {
	const char *name; /* "": the file says none, or a wrong one */
	uint64_t addr;
	uint64_t offset;
	uint64_t sz;
	uint64_t entry_sz;
	uint32_t type; /* SHT_* */
	uint32_t link;
	uint64_t flags; /* SHF_* */
};

/* A copy; the caller frees data. Behind its last byte is a 0. */
struct elf_data {
	uint8_t *data;
	size_t sz;
};

/*
 * Reads the headers of what @fd is open on, and keeps a descriptor of its own. 0, or a negative
 * errno: -ENOEXEC: no such ELF file, or one with headers that cannot be.
 */
int elf_file_open(struct elf_file **out, int fd);
/* The same of @sz bytes in memory, which are copied. */
int elf_file_open_image(struct elf_file **out, const void *image, size_t sz);
void elf_file_close(struct elf_file *f);
/* Another owner of @f, which stays open until each has closed it. By one thread only. */
struct elf_file *elf_file_get(const struct elf_file *f);

int elf_file_is_image(const struct elf_file *f); /* it lies in memory */
uint64_t elf_file_sz(const struct elf_file *f);
uint16_t elf_file_type(const struct elf_file *f); /* ET_* */
uint16_t elf_file_machine(const struct elf_file *f); /* EM_* */
uint64_t elf_file_entry(const struct elf_file *f); /* an address, 0: none */

/* All program headers; borrowed, as all below, until elf_file_close. */
size_t elf_file_segments(const struct elf_file *f, const struct elf_segment **v);
/* All sections, with the empty first one. None where the file is stripped of them. */
size_t elf_file_sections(const struct elf_file *f, const struct elf_section **v);
/* The first section of this name; NULL: there is none. */
const struct elf_section *elf_file_section(const struct elf_file *f, const char *name);

/* Reads exactly @sz bytes from @offset on, or -ENODATA where the file ends before. */
int elf_file_read(const struct elf_file *f, void *to, uint64_t offset, size_t sz);
/* The same into a copy. */
int elf_file_copy(const struct elf_file *f, struct elf_data *out, uint64_t offset, uint64_t sz);
/* A section's content, uncompressed if it is compressed; -ENODATA: it has none in the file. */
int elf_file_section_copy(const struct elf_file *f, struct elf_data *out,
			  const struct elf_section *s);

/* Where the segments that are loaded have @vaddr in the file, or the other way; -ENOENT: nowhere.
 */
int elf_file_offset_of(const struct elf_file *f, uint64_t *offset, uint64_t vaddr);
int elf_file_vaddr_of(const struct elf_file *f, uint64_t *vaddr, uint64_t offset);

/* GNU's build id. Its length, or -ENOENT. */
int elf_file_build_id(const struct elf_file *f, uint8_t id[ELF_BUILD_ID_MAX]);
/*
 * The number by which OpenTelemetry's profiler knows a file: of the SHA-256 of its first 4096
 * bytes, its last 4096 and its length (64 bits, big-endian), the first 16 bytes.
 */
int elf_file_id(const struct elf_file *f, uint8_t id[ELF_FILE_ID_SZ]);

#endif /* SCAP_OBJFILE_ELF_FILE_H */
