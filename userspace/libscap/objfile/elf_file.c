/* SPDX-License-Identifier: Apache-2.0 */
#include "objfile/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>
#include <zstd.h>

#include "objfile/sha256.h"

#define MAX_SEGMENTS 512u
#define MAX_SECTIONS (1u << 16)
#define MAX_NOTES_SZ (1u << 20) /* of all notes of a file */
#define MAX_NAMES_SZ (64u << 20)
#define MAX_COPY_SZ (512ull << 20) /* a sparse file can claim any size */
#define ID_PART 4096u

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

struct elf_file {
	int fd; /* -1: image */
	uint32_t n_more_owners;
	uint8_t *image;
	uint64_t sz;
	uint16_t type, machine;
	uint64_t entry;
	struct elf_segment *segments;
	size_t n_segments;
	struct elf_section *sections;
	size_t n_sections;
	struct elf_data names;
};

int elf_file_read(const struct elf_file *f, void *to, uint64_t offset, size_t sz)
{
	uint8_t *at = to;

	if (offset > f->sz || sz > f->sz - offset)
		return -ENODATA;
	if (f->image) {
		memcpy(to, f->image + offset, sz);
		return 0;
	}
	while (sz) {
		ssize_t n = pread(f->fd, at, sz, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENODATA;
		at += n;
		offset += (uint64_t)n;
		sz -= (size_t)n;
	}
	return 0;
}

int elf_file_copy(const struct elf_file *f, struct elf_data *out, uint64_t offset, uint64_t sz)
{
	uint8_t *data;
	int err;

	if (offset > f->sz || sz > f->sz - offset)
		return -ENODATA;
	if (sz > MAX_COPY_SZ)
		return -EFBIG;
	data = malloc(sz + 1);
	if (!data)
		return -ENOMEM;
	err = elf_file_read(f, data, offset, sz);
	if (err) {
		free(data);
		return err;
	}
	data[sz] = '\0';
	*out = (struct elf_data){data, sz};
	return 0;
}

static int inflate_all(uint8_t *to, uint64_t to_sz, const uint8_t *from, uint64_t from_sz)
{
	z_stream z = {.next_in = (Bytef *)from, .next_out = to};
	uint64_t in_left = from_sz, out_left = to_sz;
	int ret;

	if (inflateInit(&z) != Z_OK)
		return -ENOMEM;
	do {
		if (!z.avail_in) {
			z.avail_in = in_left > UINT32_MAX ? UINT32_MAX : (uInt)in_left;
			in_left -= z.avail_in;
		}
		if (!z.avail_out) {
			z.avail_out = out_left > UINT32_MAX ? UINT32_MAX : (uInt)out_left;
			out_left -= z.avail_out;
		}
		ret = inflate(&z, Z_NO_FLUSH);
	} while (ret == Z_OK);
	inflateEnd(&z);
	return ret == Z_STREAM_END && !out_left && !z.avail_out ? 0 : -EBADMSG;
}

/* @raw is the compressed section with its header; it is replaced. */
static int uncompress_data(struct elf_data *raw)
{
	Elf64_Chdr h;
	const uint8_t *from = raw->data + sizeof(h);
	uint8_t *to;
	int err = 0;

	if (raw->sz < sizeof(h))
		return -EBADMSG;
	memcpy(&h, raw->data, sizeof(h));
	/* Neither method expands a byte to more than some thousand. */
	if (h.ch_size > MAX_COPY_SZ || h.ch_size / 8192 > raw->sz)
		return -EBADMSG;
	to = malloc(h.ch_size + 1);
	if (!to)
		return -ENOMEM;
	if (h.ch_type == ELFCOMPRESS_ZLIB)
		err = inflate_all(to, h.ch_size, from, raw->sz - sizeof(h));
	else if (h.ch_type != ELFCOMPRESS_ZSTD)
		err = -ENOTSUP;
	else if (ZSTD_decompress(to, h.ch_size, from, raw->sz - sizeof(h)) != h.ch_size)
		err = -EBADMSG;
	if (err) {
		free(to);
		return err;
	}
	to[h.ch_size] = '\0';
	free(raw->data);
	*raw = (struct elf_data){to, h.ch_size};
	return 0;
}

int elf_file_section_copy(const struct elf_file *f, struct elf_data *out,
			  const struct elf_section *s)
{
	struct elf_data d;
	int err;

	if (s->type == SHT_NOBITS)
		return -ENODATA;
	err = elf_file_copy(f, &d, s->offset, s->sz);
	if (!err && s->flags & SHF_COMPRESSED) {
		err = uncompress_data(&d);
		if (err)
			free(d.data);
	}
	if (!err)
		*out = d;
	return err;
}

static int check_header(const Elf64_Ehdr *h)
{
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_ident[EI_VERSION] != EV_CURRENT)
		return -ENOEXEC;
	if (h->e_phnum && h->e_phentsize != sizeof(Elf64_Phdr))
		return -ENOEXEC;
	return h->e_shoff && h->e_shentsize != sizeof(Elf64_Shdr) ? -ENOEXEC : 0;
}

static int read_segments(struct elf_file *f, const Elf64_Ehdr *h, size_t n)
{
	struct elf_data d;
	int err;

	if (!n)
		return 0;
	err = elf_file_copy(f, &d, h->e_phoff, n * sizeof(Elf64_Phdr));
	if (err)
		return err == -ENODATA ? -ENOEXEC : err;
	f->segments = calloc(n, sizeof(*f->segments));
	for (size_t i = 0; f->segments && i < n; i++) {
		Elf64_Phdr p;

		memcpy(&p, d.data + i * sizeof(p), sizeof(p));
		f->segments[i] = (struct elf_segment){
			.vaddr = p.p_vaddr,
			.offset = p.p_offset,
			.file_sz = p.p_filesz,
			.mem_sz = p.p_memsz,
			.align = p.p_align,
			.type = p.p_type,
			.flags = p.p_flags,
		};
	}
	f->n_segments = f->segments ? n : 0;
	free(d.data);
	return f->segments ? 0 : -ENOMEM;
}

static const char *section_name(const struct elf_file *f, uint32_t at)
{
	return at < f->names.sz ? (const char *)f->names.data + at : "";
}

/* If names cannot be read the sections have none. */
static void read_names(struct elf_file *f, const Elf64_Shdr *strtab)
{
	if (strtab->sh_type == SHT_STRTAB && strtab->sh_size <= MAX_NAMES_SZ)
		elf_file_copy(f, &f->names, strtab->sh_offset, strtab->sh_size);
}

static int fill_sections(struct elf_file *f, const Elf64_Shdr *v, size_t n, size_t names)
{
	f->sections = calloc(n, sizeof(*f->sections));
	if (!f->sections)
		return -ENOMEM;
	if (names < n)
		read_names(f, &v[names]);
	for (size_t i = 0; i < n; i++)
		f->sections[i] = (struct elf_section){
			.name = section_name(f, v[i].sh_name),
			.addr = v[i].sh_addr,
			.offset = v[i].sh_offset,
			.sz = v[i].sh_size,
			.entry_sz = v[i].sh_entsize,
			.type = v[i].sh_type,
			.link = v[i].sh_link,
			.flags = v[i].sh_flags,
		};
	f->n_sections = n;
	return 0;
}

/* Sections are optional: segments describe what runs. So invalid ones are treated as missing. The
 * first one has the numbers that did not fit the file's header. */
static int read_sections(struct elf_file *f, const Elf64_Ehdr *h, size_t *n_segments)
{
	size_t n = h->e_shnum, names = h->e_shstrndx;
	struct elf_data d;
	Elf64_Shdr first;
	int err;

	if (!h->e_shoff || elf_file_read(f, &first, h->e_shoff, sizeof(first)))
		return 0;
	if (!n)
		n = first.sh_size <= MAX_SECTIONS ? first.sh_size : 0;
	if (names == SHN_XINDEX)
		names = first.sh_link;
	if (*n_segments == PN_XNUM)
		*n_segments = first.sh_info;
	if (!n)
		return 0;
	err = elf_file_copy(f, &d, h->e_shoff, n * sizeof(Elf64_Shdr));
	if (err)
		return err == -ENODATA ? 0 : err;
	err = fill_sections(f, (const Elf64_Shdr *)d.data, n, names);
	free(d.data);
	return err;
}

static int read_headers(struct elf_file *f)
{
	size_t n_segments;
	Elf64_Ehdr h;
	int err = elf_file_read(f, &h, 0, sizeof(h));

	if (err)
		return err == -ENODATA ? -ENOEXEC : err;
	err = check_header(&h);
	if (err)
		return err;
	f->type = h.e_type;
	f->machine = h.e_machine;
	f->entry = h.e_entry;
	n_segments = h.e_phnum;
	err = read_sections(f, &h, &n_segments);
	if (err)
		return err;
	return n_segments > MAX_SEGMENTS ? -ENOEXEC : read_segments(f, &h, n_segments);
}

static int finish_open(struct elf_file **out, struct elf_file *f, int err)
{
	if (!err)
		err = read_headers(f);
	if (err) {
		elf_file_close(f);
		return err;
	}
	*out = f;
	return 0;
}

int elf_file_open(struct elf_file **out, int fd)
{
	struct elf_file *f = calloc(1, sizeof(*f));
	struct stat st;
	int err = 0;

	if (!f)
		return -ENOMEM;
	f->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (f->fd < 0 || fstat(f->fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -ENOEXEC;
	else
		f->sz = (uint64_t)st.st_size;
	return finish_open(out, f, err);
}

int elf_file_open_image(struct elf_file **out, const void *image, size_t sz)
{
	struct elf_file *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->fd = -1;
	f->sz = sz;
	f->image = malloc(sz ? sz : 1);
	if (f->image && sz)
		memcpy(f->image, image, sz);
	return finish_open(out, f, f->image ? 0 : -ENOMEM);
}

struct elf_file *elf_file_get(const struct elf_file *f)
{
	struct elf_file *same = (struct elf_file *)f;

	same->n_more_owners++;
	return same;
}

void elf_file_close(struct elf_file *f)
{
	if (!f || f->n_more_owners--)
		return;
	if (f->fd >= 0)
		close(f->fd);
	free(f->image);
	free(f->segments);
	free(f->sections);
	free(f->names.data);
	free(f);
}

int elf_file_is_image(const struct elf_file *f)
{
	return f->image != NULL;
}

uint64_t elf_file_sz(const struct elf_file *f)
{
	return f->sz;
}

uint16_t elf_file_type(const struct elf_file *f)
{
	return f->type;
}

uint16_t elf_file_machine(const struct elf_file *f)
{
	return f->machine;
}

uint64_t elf_file_entry(const struct elf_file *f)
{
	return f->entry;
}

size_t elf_file_segments(const struct elf_file *f, const struct elf_segment **v)
{
	*v = f->segments;
	return f->n_segments;
}

size_t elf_file_sections(const struct elf_file *f, const struct elf_section **v)
{
	*v = f->sections;
	return f->n_sections;
}

const struct elf_section *elf_file_section(const struct elf_file *f, const char *name)
{
	for (size_t i = 0; i < f->n_sections; i++)
		if (!strcmp(f->sections[i].name, name))
			return &f->sections[i];
	return NULL;
}

int elf_file_offset_of(const struct elf_file *f, uint64_t *offset, uint64_t vaddr)
{
	for (size_t i = 0; i < f->n_segments; i++) {
		const struct elf_segment *s = &f->segments[i];

		if (s->type == PT_LOAD && vaddr - s->vaddr < s->file_sz) {
			*offset = vaddr - s->vaddr + s->offset;
			return 0;
		}
	}
	return -ENOENT;
}

int elf_file_is_code(const struct elf_file *f, uint64_t offset, uint64_t sz)
{
	const struct elf_segment *v;
	const size_t n = elf_file_segments(f, &v);

	for (size_t i = 0; i < n && offset < elf_file_sz(f); i++)
		if (v[i].type == PT_LOAD && v[i].flags & PF_X && offset >= v[i].offset &&
		    offset - v[i].offset < v[i].file_sz &&
		    sz <= v[i].file_sz - (offset - v[i].offset))
			return 1;
	return 0;
}

int elf_file_vaddr_of(const struct elf_file *f, uint64_t *vaddr, uint64_t offset)
{
	const struct elf_segment *found = NULL;

	/* Segments may share a page of the file; prefer code. */
	for (size_t i = 0; i < f->n_segments; i++) {
		const struct elf_segment *s = &f->segments[i];

		if (s->type == PT_LOAD && offset - s->offset < s->file_sz &&
		    (!found || (s->flags & PF_X && !(found->flags & PF_X))))
			found = s;
	}
	if (!found)
		return -ENOENT;
	*vaddr = offset - found->offset + found->vaddr;
	return 0;
}

/* Finds the build ID among the notes of @d. Returns its length or -ENOENT. */
static int find_build_id(uint8_t *id, const struct elf_data *d, size_t align)
{
	size_t at = 0;

	while (d->sz - at >= sizeof(Elf64_Nhdr)) {
		size_t name_at = at + sizeof(Elf64_Nhdr), desc_at, end;
		Elf64_Nhdr n;

		memcpy(&n, d->data + at, sizeof(n));
		desc_at = name_at + (((size_t)n.n_namesz + align - 1) & ~(align - 1));
		end = desc_at + n.n_descsz;
		if (desc_at > d->sz || end > d->sz)
			break;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(d->data + name_at, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) && n.n_descsz &&
		    n.n_descsz <= ELF_BUILD_ID_MAX) {
			memcpy(id, d->data + desc_at, n.n_descsz);
			return (int)n.n_descsz;
		}
		at = (end + align - 1) & ~(align - 1);
		if (at > d->sz)
			break;
	}
	return -ENOENT;
}

/* @room: bytes of notes that may still be read. */
static int notes_build_id(const struct elf_file *f, uint8_t *id, uint64_t *room, uint64_t offset,
			  uint64_t sz)
{
	struct elf_data d;
	int n;

	if (sz > *room)
		return -ENOENT;
	*room -= sz;
	if (elf_file_copy(f, &d, offset, sz))
		return -ENOENT;
	n = find_build_id(id, &d, 4);
	if (n < 0)
		n = find_build_id(id, &d, 8);
	free(d.data);
	return n;
}

int elf_file_build_id(const struct elf_file *f, uint8_t id[ELF_BUILD_ID_MAX])
{
	uint64_t room = MAX_NOTES_SZ;
	int n = -ENOENT;

	for (size_t i = 0; i < f->n_segments && n < 0; i++)
		if (f->segments[i].type == PT_NOTE)
			n = notes_build_id(f, id, &room, f->segments[i].offset,
					   f->segments[i].file_sz);
	/* Files of debug information have no segments in the file. */
	for (size_t i = 0; i < f->n_sections && n < 0; i++)
		if (f->sections[i].type == SHT_NOTE)
			n = notes_build_id(f, id, &room, f->sections[i].offset, f->sections[i].sz);
	return n;
}

int elf_file_id(const struct elf_file *f, uint8_t id[ELF_FILE_ID_SZ])
{
	const size_t part = f->sz < ID_PART ? (size_t)f->sz : ID_PART;
	uint8_t data[2 * ID_PART + 8], sum[SHA256_SZ];
	int err = elf_file_read(f, data, 0, part);

	err = err ?: elf_file_read(f, data + part, f->sz - part, part);
	if (err)
		return err;
	for (int i = 0; i < 8; i++)
		data[2 * part + (size_t)i] = (uint8_t)(f->sz >> (56 - 8 * i));
	sha256(sum, data, 2 * part + 8);
	memcpy(id, sum, ELF_FILE_ID_SZ);
	return 0;
}
