/* SPDX-License-Identifier: Apache-2.0 */
#include "objfile/debug_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "objfile/open_in_root.h"

#define DEBUG_DIR "/usr/lib/debug"
#define MAX_CRC_SZ (512ull << 20) /* since others wait for the unwinder's thread meanwhile */
#define MAX_LINK_SZ 4096

struct search {
	const struct elf_file *f;
	const char *root;
	uint8_t id[ELF_BUILD_ID_MAX];
	int id_len; /* below 0: the file has none */
};

/* Content of .gnu_debuglink: a name, and the checksum of the file. */
struct debug_link {
	char name[NAME_MAX + 1];
	uint32_t crc;
};

static int has_same_id(const struct search *s, const struct elf_file *found)
{
	uint8_t id[ELF_BUILD_ID_MAX];

	return s->id_len > 0 && elf_file_build_id(found, id) == s->id_len &&
	       memcmp(id, s->id, (size_t)s->id_len) == 0;
}

static int has_crc(const struct elf_file *found, uint32_t crc)
{
	const uint64_t sz = elf_file_sz(found);
	uLong sum = crc32(0, NULL, 0);
	char part[65536];

	if (sz > MAX_CRC_SZ)
		return 0;
	for (uint64_t at = 0; at < sz; at += sizeof(part)) {
		const size_t n = sz - at < sizeof(part) ? (size_t)(sz - at) : sizeof(part);

		if (elf_file_read(found, part, at, n))
			return 0;
		sum = crc32(sum, (const Bytef *)part, (uInt)n);
	}
	return sum == crc;
}

/* Opens it and checks it; @link NULL: the build ID must match. Returns the descriptor. */
static int try_path(struct elf_file **out, const struct search *s, const char *path,
		    const struct debug_link *link)
{
	struct elf_file *found;
	int err, fd = open_in_root(s->root, path, NULL);

	if (fd < 0)
		return -ENOENT;
	err = elf_file_open(&found, fd);
	if (err) {
		close(fd);
		return err == -ENOMEM ? err : -ENOENT;
	}
	if (has_same_id(s, found) || (link && s->id_len < 0 && has_crc(found, link->crc))) {
		*out = found;
		return fd;
	}
	elf_file_close(found);
	close(fd);
	return -ENOENT;
}

static void put_hex_id(char *p, const uint8_t *id, int len)
{
	for (int i = 0; i < len; i++)
		p += sprintf(p, "%02x", id[i]);
	*p = '\0';
}

/* DIR/.build-id/xx/yyyy.debug; without the suffix it is the executable. */
static int try_build_id(struct elf_file **out, const struct search *s, const char *dir, size_t len,
			enum debug_kind kind)
{
	char path[PATH_MAX], id[2 * ELF_BUILD_ID_MAX + 1];
	int n;

	if (s->id_len < 2)
		return -ENOENT;
	put_hex_id(id, s->id, s->id_len);
	n = snprintf(path, sizeof(path), "%.*s/.build-id/%.2s/%s%s", (int)len, dir, id, id + 2,
		     kind == DEBUG_INFO ? ".debug" : "");
	return n < (int)sizeof(path) ? try_path(out, s, path, NULL) : -ENOENT;
}

static int try_dirs(struct elf_file **out, const struct search *s, const char *dirs,
		    enum debug_kind kind)
{
	int fd = -ENOENT;

	while (dirs && *dirs && fd == -ENOENT) {
		const size_t len = strcspn(dirs, ":");

		if (len)
			fd = try_build_id(out, s, dirs, len, kind);
		dirs += len + (dirs[len] == ':');
	}
	return fd;
}

/* Finds the cache folder of the debuginfod client, by the same rules. */
static int cache_dir(char *to, size_t sz)
{
	static const struct {
		const char *name, *below;
	} vars[] = {
		{"DEBUGINFOD_CACHE_PATH", ""},
		{"XDG_CACHE_HOME", "/debuginfod_client"},
		{"HOME", "/.cache/debuginfod_client"},
	};

	for (size_t i = 0; i < sizeof(vars) / sizeof(vars[0]); i++) {
		const char *dir = getenv(vars[i].name);

		if (dir && *dir)
			return snprintf(to, sz, "%s%s", dir, vars[i].below) < (int)sz ? 0 : -ENOENT;
	}
	return -ENOENT;
}

static int try_cache(struct elf_file **out, const struct search *s, enum debug_kind kind)
{
	char dir[PATH_MAX], path[PATH_MAX], id[2 * ELF_BUILD_ID_MAX + 1];
	int n;

	if (s->id_len < 2 || cache_dir(dir, sizeof(dir)))
		return -ENOENT;
	put_hex_id(id, s->id, s->id_len);
	n = snprintf(path, sizeof(path), "%s/%s/%s", dir, id,
		     kind == DEBUG_INFO ? "debuginfo" : "executable");
	return n < (int)sizeof(path) ? try_path(out, s, path, NULL) : -ENOENT;
}

static int read_link(struct debug_link *link, const struct elf_file *f)
{
	const struct elf_section *sec = elf_file_section(f, ".gnu_debuglink");
	struct elf_data d;
	size_t len, crc_at;

	if (!sec || sec->sz > MAX_LINK_SZ || elf_file_section_copy(f, &d, sec))
		return -ENOENT;
	len = strlen((const char *)d.data);
	crc_at = (len + 4) & ~(size_t)3;
	/* Accepts only a plain file name, not a path. */
	if (!len || len >= sizeof(link->name) || crc_at + 4 > d.sz ||
	    strchr((const char *)d.data, '/')) {
		free(d.data);
		return -ENOENT;
	}
	memcpy(link->name, d.data, len + 1);
	memcpy(&link->crc, d.data + crc_at, sizeof(link->crc));
	free(d.data);
	return 0;
}

static int try_link(struct elf_file **out, const struct search *s, const char *path)
{
	static const char *const folders[] = {"%.*s%s", "%.*s.debug/%s", DEBUG_DIR "%.*s%s"};
	const char *slash = strrchr(path, '/');
	const int dir_len = slash ? (int)(slash + 1 - path) : 0;
	struct debug_link link;
	char full[PATH_MAX];
	int fd = read_link(&link, s->f);

	if (fd || !slash)
		return -ENOENT;
	fd = -ENOENT;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && fd == -ENOENT; i++) {
		const int n = snprintf(full, sizeof(full), folders[i], dir_len, path, link.name);

		if (n > 0 && n < (int)sizeof(full) && strcmp(full, path) != 0)
			fd = try_path(out, s, full, &link);
	}
	return fd;
}

int debug_file_open(struct elf_file **out, const struct elf_file *f, const char *root,
		    const char *path)
{
	struct search s = {.f = f, .root = root};
	int fd;

	s.id_len = elf_file_build_id(f, s.id);
	fd = try_dirs(out, &s, DEBUG_DIR, DEBUG_INFO);
	return fd == -ENOENT ? try_link(out, &s, path) : fd;
}

int debug_file_find(struct elf_file **out, const struct elf_file *f, int64_t pid, const char *path,
		    const char *dirs)
{
	struct search s = {.f = f};
	char root[64];
	int fd;

	s.id_len = elf_file_build_id(f, s.id);
	fd = try_dirs(out, &s, dirs, DEBUG_INFO);
	if (fd == -ENOENT)
		fd = debug_file_open(out, f, NULL, path);
	if (fd == -ENOENT && pid > 0) {
		snprintf(root, sizeof(root), "/proc/%lld/root", (long long)pid);
		fd = debug_file_open(out, f, root, path);
	}
	return fd == -ENOENT ? try_cache(out, &s, DEBUG_INFO) : fd;
}

int debug_file_by_id(struct elf_file **out, enum debug_kind kind, const uint8_t *id, int len,
		     const char *dirs)
{
	struct search s = {.id_len = len};
	int fd;

	if (len < 2 || len > ELF_BUILD_ID_MAX)
		return -ENOENT;
	memcpy(s.id, id, (size_t)len);
	fd = try_dirs(out, &s, dirs, kind);
	if (fd == -ENOENT)
		fd = try_dirs(out, &s, DEBUG_DIR, kind);
	return fd == -ENOENT ? try_cache(out, &s, kind) : fd;
}
