/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a 64-bit little-endian ELF file, or an image of one, by copies: whatever its headers say,
 * and whatever happens to the file meanwhile, the result is an error and never a fault. Nothing is
 * mapped, so that a file which is truncated while it is read ends the read and not the process.
 */
#ifndef SCAP_OBJFILE_ELF_FILE_H
#define SCAP_OBJFILE_ELF_FILE_H

#include <stddef.h>
#include <stdint.h>

#define ELF_BUILD_ID_MAX 64 /* maximum length */
#define ELF_FILE_ID_SZ 16

struct elf_file;

struct elf_segment {
	uint64_t vaddr;
	uint64_t offset;
	uint64_t file_sz;
	uint64_t mem_sz;
	uint64_t align;
	uint32_t type; /* PT_* */
	uint32_t flags; /* PF_* */
};

struct elf_section {
	const char *name; /* "": missing or wrong */
	uint64_t addr;
	uint64_t offset;
	uint64_t sz;
	uint64_t entry_sz;
	uint32_t type; /* SHT_* */
	uint32_t link;
	uint64_t flags; /* SHF_* */
};

/* A copy; the caller frees data. A 0 follows its last byte. */
struct elf_data {
	uint8_t *data;
	size_t sz;
};

/* Reads the headers of the file open on @fd, and keeps a descriptor of its own. Returns 0, or a
 * negative errno: -ENOEXEC: not such an ELF file, or invalid headers. */
int elf_file_open(struct elf_file **out, int fd);
/* The same for @sz bytes in memory, which are copied. */
int elf_file_open_image(struct elf_file **out, const void *image, size_t sz);
void elf_file_close(struct elf_file *f);
/* Adds an owner of @f, which stays open until each has closed it. In one thread only. */
struct elf_file *elf_file_get(const struct elf_file *f);

int elf_file_is_image(const struct elf_file *f); /* an image in memory */
uint64_t elf_file_sz(const struct elf_file *f);
uint16_t elf_file_type(const struct elf_file *f); /* ET_* */
uint16_t elf_file_machine(const struct elf_file *f); /* EM_* */
uint64_t elf_file_entry(const struct elf_file *f); /* an address, 0: none */

/* Returns all program headers; borrowed until elf_file_close, as everything below. */
size_t elf_file_segments(const struct elf_file *f, const struct elf_segment **v);
/* Returns all sections, with the empty first one. None if the file has no section headers. */
size_t elf_file_sections(const struct elf_file *f, const struct elf_section **v);
/* Returns the first section of this name; NULL: none. */
const struct elf_section *elf_file_section(const struct elf_file *f, const char *name);

/* Reads exactly @sz bytes at @offset. Returns -ENODATA if the file ends before. */
int elf_file_read(const struct elf_file *f, void *to, uint64_t offset, size_t sz);
/* Reads them into a copy. */
int elf_file_copy(const struct elf_file *f, struct elf_data *out, uint64_t offset, uint64_t sz);
/*
 * Reads a section's content, decompressed if needed. Returns -ENODATA if it has none in the file.
 */
int elf_file_section_copy(const struct elf_file *f, struct elf_data *out,
			  const struct elf_section *s);

/*
 * Converts between addresses and offsets by the loaded segments. Returns -ENOENT if there is none.
 */
int elf_file_offset_of(const struct elf_file *f, uint64_t *offset, uint64_t vaddr);
int elf_file_vaddr_of(const struct elf_file *f, uint64_t *vaddr, uint64_t offset);

/* Returns whether these bytes of the file are code. */
int elf_file_is_code(const struct elf_file *f, uint64_t offset, uint64_t sz);

/* Reads GNU's build ID. Returns its length, or -ENOENT. */
int elf_file_build_id(const struct elf_file *f, uint8_t id[ELF_BUILD_ID_MAX]);
/* Computes the file ID of OpenTelemetry's profiler: the first 16 bytes of the SHA-256 of the file's
 * first 4096 bytes, its last 4096 and its length (64 bits, big-endian). */
int elf_file_id(const struct elf_file *f, uint8_t id[ELF_FILE_ID_SZ]);

#endif /* SCAP_OBJFILE_ELF_FILE_H */
