/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol_file.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "elf_symbols.h"
#include "objfile/debug_file.h"
#include "objfile/elf_functions.h"
#include "objfile/open_in_root.h"

#define DELETED " (deleted)"
#define VDSO "[vdso]"
enum { VDSO_MAX_SZ = 1 << 16, PAGE_SZ = 4096 };

#define SEEK_MAX 32

struct symbol_file {
	const struct sinsp_code_file *code;
	int fd; /* kept open, since no other path may reach the file later; -1 */
	uint8_t looked_for; /* keep was called */
	uint8_t failed; /* not found or unreadable: not tried again */
	uint8_t n_sought; /* number of failed searches */
	uint8_t is_debug_info; /* elf is the debug file: the file itself was not found */
	struct elf_file *elf; /* NULL: not read, or freed */
	struct symtab *syms;
	struct elf_functions *functions; /* of elf; NULL: not read yet, or it has none */
	uint8_t read_functions;
	char start_name[SYMBOL_FILE_START_NAME_MAX];
};

struct symbol_file *symbol_file_new(const struct sinsp_code_file *code)
{
	struct symbol_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->code = code;
	f->fd = -1;
	return f;
}

const char *symbol_file_path(const struct symbol_file *f)
{
	return f->code->path;
}

void symbol_file_free(struct symbol_file *f)
{
	if (!f)
		return;
	symbol_file_drop(f);
	if (f->fd >= 0)
		close(f->fd);
	free(f);
}

size_t symbol_file_drop(struct symbol_file *f)
{
	size_t bytes = f->syms ? symtab_bytes(f->syms) : 0;

	bytes += f->functions ? elf_functions_bytes(f->functions) : 0;
	elf_functions_close(f->functions);
	f->functions = NULL;
	f->read_functions = 0;
	elf_file_close(f->elf);
	symtab_free(f->syms);
	f->elf = NULL;
	f->syms = NULL;
	return bytes;
}

/* ---- whether it is the one ---- */

static int has_build_id(const struct sinsp_code_file *code, const struct elf_file *elf)
{
	uint8_t id[ELF_BUILD_ID_MAX];

	return elf_file_build_id(elf, id) == code->id.build_id_len &&
	       memcmp(id, code->id.build_id, code->id.build_id_len) == 0;
}

/* Device number as map events have it, in the kernel's encoding for programs. */
static uint32_t dev_of(const struct stat *st)
{
	const uint32_t maj = major(st->st_dev), min = minor(st->st_dev);

	return (min & 0xff) | maj << 8 | (min & ~0xffu) << 12;
}

static uint64_t mtime_ns(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec;
}

/* Without a build ID a file is identified by its inode, on the same machine, and by not having
 * changed since. Live, a file system may report another device to programs than the kernel uses. */
static int has_inode(const struct sinsp_code_file *code, const struct stat *st,
		     const struct symbol_where *where)
{
	if (st->st_ino != code->id.ino)
		return 0;
	return where->live ||
	       (where->same_host && dev_of(st) == code->id.dev && mtime_ns(st) <= code->seen_ns);
}

/* @st NULL: the inode is known to match. */
static int is_it(const struct symbol_file *f, int fd, const struct stat *st,
		 const struct symbol_where *where)
{
	struct elf_file *elf;
	int yes;

	if (!f->code->id.build_id_len)
		return !st || has_inode(f->code, st, where);
	if (elf_file_open(&elf, fd))
		return 0;
	yes = has_build_id(f->code, elf);
	elf_file_close(elf);
	return yes;
}

/* ---- where it is ---- */

static int try_open(const struct symbol_file *f, const struct symbol_where *where, const char *root,
		    const char *path)
{
	struct stat st;
	const int fd = open_in_root(root, path, &st);

	if (fd < 0)
		return fd;
	if (is_it(f, fd, &st, where))
		return fd;
	close(fd);
	return -ENOENT;
}

static int is_deleted(const char *path)
{
	const size_t len = strlen(path), n = sizeof(DELETED) - 1;

	return len > n && strcmp(path + len - n, DELETED) == 0;
}

static int open_map_file(const struct symbol_file *f, const struct symbol_where *where)
{
	const struct sinsp_code_file *c = f->code;
	char path[96];

	snprintf(path, sizeof(path), "/proc/%lld/map_files/%llx-%llx", (long long)c->pid,
		 (unsigned long long)c->start, (unsigned long long)c->end);
	return try_open(f, where, NULL, path);
}

static int open_in_process(const struct symbol_file *f, const struct symbol_where *where)
{
	char root[64];
	int fd = -ENOENT;

	if (!where->live || f->code->pid <= 0)
		return -ENOENT;
	snprintf(root, sizeof(root), "/proc/%lld/root", (long long)f->code->pid);
	if (!is_deleted(f->code->path))
		fd = try_open(f, where, root, f->code->path);
	return fd < 0 ? open_map_file(f, where) : fd;
}

static int open_here(const struct symbol_file *f, const struct symbol_where *where)
{
	if (f->code->path[0] != '/' || is_deleted(f->code->path))
		return -ENOENT;
	return try_open(f, where, NULL, f->code->path);
}

/* For an ended process: the thread that builds unwind tables opened the file before. */
static int open_kept(const struct symbol_file *f, const struct symbol_where *where)
{
	int fd;

	if (!where->src)
		return -ENOENT;
	fd = scap_open_code(where->src, f->code->id.dev, f->code->id.ino);
	if (fd >= 0 && !is_it(f, fd, NULL, where)) {
		close(fd);
		fd = -ENOENT;
	}
	return fd;
}

static int open_file(const struct symbol_file *f, const struct symbol_where *where)
{
	int fd;

	if (f->fd >= 0)
		return dup(f->fd);
	fd = open_here(f, where);
	if (fd < 0)
		fd = open_in_process(f, where);
	return fd < 0 ? open_kept(f, where) : fd;
}

int symbol_file_keep(struct symbol_file *f, const struct symbol_where *where)
{
	int fd;

	if (f->looked_for || f->code->path[0] != '/')
		return 0;
	f->looked_for = 1;
	fd = open_here(f, where);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	f->fd = open_in_process(f, where);
	return f->fd >= 0;
}

/* ---- reading it ---- */

/* The vDSO is the same in all programs: ours has it, too. */
static int open_vdso(struct elf_file **out)
{
	const uint64_t at = getauxval(AT_SYSINFO_EHDR);
	char *image = at ? malloc(VDSO_MAX_SZ) : NULL;
	size_t n = 0;
	int err;

	if (!image)
		return -ENOENT;
	while (n < VDSO_MAX_SZ) {
		struct iovec to = {image + n, PAGE_SZ}, from = {(void *)(at + n), PAGE_SZ};

		if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != PAGE_SZ)
			break;
		n += PAGE_SZ;
	}
	err = n ? elf_file_open_image(out, image, n) : -ENOENT;
	free(image);
	return err;
}

static int open_by_id(struct elf_file **out, const struct symbol_file *f,
		      const struct symbol_where *where, enum debug_kind kind)
{
	const struct sinsp_code_id *id = &f->code->id;

	return debug_file_by_id(out, kind, id->build_id, id->build_id_len, where->debug_dirs);
}

static int open_elf(struct symbol_file *f, const struct symbol_where *where)
{
	int fd, err;

	if (strcmp(f->code->path, VDSO) == 0)
		return where->live || where->same_boot ? open_vdso(&f->elf) : -ENOENT;
	fd = open_file(f, where);
	f->is_debug_info = 0;
	if (fd >= 0) {
		err = elf_file_open(&f->elf, fd);
		close(fd);
		return err;
	}
	fd = open_by_id(&f->elf, f, where, DEBUG_EXECUTABLE);
	if (fd < 0) {
		f->is_debug_info = 1;
		fd = open_by_id(&f->elf, f, where, DEBUG_INFO);
	}
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/* Its debug information is found in the same folders: those of the process, or ours. */
static int open_debug_file(struct elf_file **out, const struct symbol_file *f,
			   const struct symbol_where *where)
{
	return debug_file_find(out, f->elf, where->live ? f->code->pid : 0, f->code->path,
			       where->debug_dirs);
}

static int read_symbols(struct symbol_file *f, const struct symbol_where *where)
{
	struct elf_file *debug = NULL;
	int fd = -1, err;

	if (!f->is_debug_info && !sinsp_elf_has_symtab(f->elf))
		fd = open_debug_file(&debug, f, where);
	err = sinsp_elf_symbols_load(&f->syms, f->elf, debug);
	elf_file_close(debug);
	if (fd >= 0)
		close(fd);
	return err;
}

static int load(struct symbol_file *f, const struct symbol_where *where, size_t *bytes)
{
	int err;

	if (f->failed)
		return -ENOENT;
	err = open_elf(f, where);
	/* The next process with this file may still be reachable. */
	if (err == -ENOENT && where->live && f->n_sought++ < SEEK_MAX)
		return err;
	if (!err)
		err = read_symbols(f, where);
	if (!err)
		*bytes += symtab_bytes(f->syms);
	else if (err != -ENOMEM)
		f->failed = 1;
	if (err)
		symbol_file_drop(f);
	return err;
}

/* A debug file has the addresses of segments, but not their file offsets. If only one of them is
 * code, the mapping from the beginning of the file gives the offset, if it is as long. */
static int vaddr_by_map(const struct symbol_file *f, uint64_t *vaddr, uint64_t offset)
{
	const uint64_t page = PAGE_SZ - 1, length = f->code->end - f->code->start;
	const struct elf_segment *v, *code = NULL;
	const size_t n = elf_file_segments(f->elf, &v);
	uint64_t start;

	for (size_t i = 0; i < n; i++) {
		if (v[i].type != PT_LOAD || !(v[i].flags & PF_X))
			continue;
		if (code)
			return -ENOENT;
		code = &v[i];
	}
	if (!code || code->mem_sz > length || offset - f->code->offset >= length)
		return -ENOENT;
	start = code->vaddr & ~page;
	if (((code->vaddr + code->mem_sz + page) & ~page) - start != length)
		return -ENOENT;
	*vaddr = start + (offset - f->code->offset);
	return 0;
}

static int vaddr_of(const struct symbol_file *f, uint64_t *vaddr, uint64_t offset)
{
	return f->is_debug_info ? vaddr_by_map(f, vaddr, offset)
				: elf_file_vaddr_of(f->elf, vaddr, offset);
}

void symbol_file_start_name(char name[SYMBOL_FILE_START_NAME_MAX], const char *path, uint64_t start)
{
	const char *slash = strrchr(path, '/');

	snprintf(name, SYMBOL_FILE_START_NAME_MAX, "%.255s+0x%" PRIx64, slash ? slash + 1 : path,
		 start);
}

static int find_start(struct symbol_file *f, uint64_t addr, struct symtab_sym *out, size_t *bytes)
{
	int err = 0;

	if (!f->read_functions && !f->is_debug_info) {
		err = elf_functions_open(&f->functions, f->elf);
		if (err == -ENOMEM)
			return err;
		if (!err)
			*bytes += elf_functions_bytes(f->functions);
	}
	f->read_functions = 1;
	if (!f->functions || !elf_functions_find(f->functions, addr, &out->addr, &out->size))
		return 0;
	symbol_file_start_name(f->start_name, f->code->path, out->addr);
	out->name = f->start_name;
	return SYMBOL_FILE_START;
}

int symbol_file_find(struct symbol_file *f, const struct symbol_where *where, uint64_t offset,
		     uint64_t *addr, struct symtab_sym *out, size_t *bytes)
{
	int err = f->syms ? 0 : load(f, where, bytes);

	*addr = UINT64_MAX;
	if (err)
		return err == -ENOMEM ? err : 0;
	if (vaddr_of(f, addr, offset))
		return 0;
	return symtab_find(f->syms, *addr, out) ?: find_start(f, *addr, out, bytes);
}

int symbol_file_is_cut(const struct symbol_file *f)
{
	return f->syms && symtab_is_cut(f->syms);
}

/* The file itself. */
static int open_whole(const struct symbol_file *f, const struct symbol_where *where)
{
	struct elf_file *elf;
	int fd = open_file(f, where);

	if (fd >= 0)
		return fd;
	fd = open_by_id(&elf, f, where, DEBUG_EXECUTABLE);
	if (fd >= 0)
		elf_file_close(elf);
	return fd;
}

static int open_info(const struct symbol_file *f, const struct symbol_where *where)
{
	struct elf_file *elf;
	const int fd = open_by_id(&elf, f, where, DEBUG_INFO);

	if (fd >= 0)
		elf_file_close(elf);
	return fd;
}

/* f->elf is open. */
static int open_debug(const struct symbol_file *f, const struct symbol_where *where)
{
	struct elf_file *debug;
	int fd;

	if (elf_file_section(f->elf, ".debug_info"))
		return f->is_debug_info ? open_info(f, where) : open_whole(f, where);
	fd = f->is_debug_info ? -ENOENT : open_debug_file(&debug, f, where);
	if (fd >= 0)
		elf_file_close(debug);
	return fd;
}

int symbol_file_open_debug(struct symbol_file *f, const struct symbol_where *where)
{
	const int was_open = f->elf != NULL;
	int fd;

	if (f->failed || (!was_open && open_elf(f, where)))
		return -ENOENT;
	fd = open_debug(f, where);
	/* Only what symbol_file_find opened is counted, and dropped when there is too much. */
	if (!was_open) {
		elf_file_close(f->elf);
		f->elf = NULL;
	}
	return fd;
}
