// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/*
 * For the build: pack_object FILE.o NAME writes C text with the packed bytes of a BPF object, as
 * the struct packed_object NAME_object. Lines of the source, which are 40 % of the driver, are left
 * out: FILE.o keeps them.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gelf.h>
#include <zstd.h>

#define LEVEL 19

/* The header of .BTF.ext; offsets count from its end. */
struct btf_ext_head {
	uint16_t magic;
	uint8_t version, flags;
	uint32_t hdr_len;
	uint32_t func_off, func_len, line_off, line_len, relo_off, relo_len;
};

static _Noreturn void die(const char *what, const char *why)
{
	fprintf(stderr, "pack_object: %s: %s\n", what, why);
	exit(1);
}

/* Relocations follow the lines: they move to their place. */
static void drop_lines(Elf_Data *data, const char *name)
{
	struct btf_ext_head h;
	uint8_t *p = data->d_buf;
	size_t relos;

	if (data->d_size < sizeof(h))
		die(name, ".BTF.ext is too short");
	memcpy(&h, p, sizeof(h));
	relos = (size_t)h.hdr_len + h.relo_off;
	if (h.magic != BTF_MAGIC || h.hdr_len < sizeof(h) ||
	    h.relo_off != h.line_off + h.line_len || relos + h.relo_len != data->d_size)
		die(name, ".BTF.ext has another layout");
	memmove(p + h.hdr_len + h.line_off, p + relos, h.relo_len);
	h.relo_off = h.line_off;
	h.line_len = 0;
	memcpy(p, &h, sizeof(h));
	data->d_size = (size_t)h.hdr_len + h.relo_off + h.relo_len;
}

/* Writes the object without lines over itself. */
static void shorten(int fd, const char *name)
{
	Elf *elf = elf_version(EV_CURRENT) == EV_NONE ? NULL : elf_begin(fd, ELF_C_RDWR, NULL);
	Elf_Scn *scn = NULL;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names))
		die(name, elf_errmsg(-1));
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &shdr) ||
		    strcmp(elf_strptr(elf, names, shdr.sh_name), ".BTF.ext"))
			continue;
		data = elf_getdata(scn, NULL);
		if (!data)
			die(name, elf_errmsg(-1));
		drop_lines(data, name);
		elf_flagdata(data, ELF_C_SET, ELF_F_DIRTY);
	}
	if (elf_update(elf, ELF_C_WRITE) < 0)
		die(name, elf_errmsg(-1));
	elf_end(elf);
}

static uint8_t *read_whole(int fd, size_t *n, const char *name)
{
	const off_t size = lseek(fd, 0, SEEK_END);
	uint8_t *p = size > 0 ? malloc(size) : NULL;

	if (!p || pread(fd, p, size, 0) != size)
		die(name, "cannot be read");
	*n = size;
	return p;
}

static void print(const char *name, const uint8_t *p, size_t n, size_t unpacked_n)
{
	printf("#include \"packed_object.h\"\n\nstatic const unsigned char bytes[] = {");
	for (size_t i = 0; i < n; i++)
		printf("%s%u,", i % 32 ? "" : "\n", p[i]);
	printf("\n};\n\nconst struct packed_object %s_object = {bytes, sizeof(bytes), %zu};\n",
	       name, unpacked_n);
}

int main(int argc, char **argv)
{
	uint8_t *object, *packed, *copy;
	size_t n, packed_n;
	int fd, in;

	if (argc != 3)
		die("usage", "pack_object FILE.o NAME");
	in = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (in < 0)
		die(argv[1], strerror(errno));
	copy = read_whole(in, &n, argv[1]);
	fd = memfd_create(argv[2], MFD_CLOEXEC);
	if (fd < 0 || write(fd, copy, n) != (ssize_t)n)
		die("no memory for a copy", strerror(errno));
	shorten(fd, argv[1]);
	object = read_whole(fd, &n, argv[1]);
	packed_n = ZSTD_compressBound(n);
	packed = malloc(packed_n);
	if (!packed)
		die(argv[1], strerror(ENOMEM));
	packed_n = ZSTD_compress(packed, packed_n, object, n, LEVEL);
	if (ZSTD_isError(packed_n))
		die(argv[1], ZSTD_getErrorName(packed_n));
	print(argv[2], packed, packed_n, n);
	if (fclose(stdout))
		die("standard output", strerror(errno));
	free(copy);
	free(object);
	free(packed);
	return 0;
}
