/* SPDX-License-Identifier: Apache-2.0 */
#include "jit_map.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART_SZ 65536u
#define MAX_LINES (4u << 20)
#define MAX_MOVES 4096u
#define MAX_CODE_SZ (1ull << 30)
#define MAX_RECORD_SZ (64u << 20)
#define USER_END (1ull << 56)

/* The jitdump file, as perf's documentation has it; all of it in the machine's byte order. */
#define DUMP_MAGIC 0x4a695444u
struct dump_header {
	uint32_t magic, version, total_size, elf_mach, pad, pid;
	uint64_t timestamp, flags;
};
struct dump_record {
	uint32_t id, total_size;
	uint64_t timestamp;
};
enum { DUMP_LOAD, DUMP_MOVE, DUMP_DEBUG_INFO };
struct dump_load { /* the name and the code follow */
	uint32_t pid, tid;
	uint64_t vma, code_addr, code_size, code_index;
};
struct dump_move {
	uint32_t pid, tid;
	uint64_t vma, old_addr, new_addr, code_size, code_index;
};
struct dump_debug { /* entries follow: struct dump_line and the name of a file */
	uint64_t code_addr, n_entries;
};
struct dump_line {
	uint64_t addr;
	int32_t line, discriminator;
};

struct line {
	uint64_t addr;
	uint32_t line;
	uint32_t file; /* offset in files */
};

struct jit_map {
	struct symtab *syms;
	struct line *lines;
	size_t n_lines, cap_lines;
	char *files;
	size_t files_len, files_cap;
	uint32_t last_file; /* offset of the last name + 1: it mostly comes again */
	off_t pos; /* all before was read */
	uint32_t n_moves;
	uint8_t is_dump;
};

struct jit_map *jit_map_new(void)
{
	struct jit_map *m = calloc(1, sizeof(*m));

	if (m)
		m->syms = symtab_new(SYMTAB_LATEST);
	if (m && !m->syms) {
		free(m);
		m = NULL;
	}
	return m;
}

void jit_map_free(struct jit_map *m)
{
	if (!m)
		return;
	symtab_free(m->syms);
	free(m->lines);
	free(m->files);
	free(m);
}

static int add_code(struct jit_map *m, uint64_t addr, uint64_t size, const char *name, size_t len)
{
	int err;

	if (!len || !size || size > MAX_CODE_SZ || !addr || addr >= USER_END)
		return 0;
	err = symtab_add(m->syms, addr, size, name, len, 0);
	return err == -ENOMEM ? err : 0;
}

/* ---- perf-PID.map: "START SIZE NAME", hexadecimal ---- */

static int add_map_line(struct jit_map *m, const char *line, size_t len)
{
	const char *end = line + len;
	uint64_t addr, size;
	char *p;

	if (!len || !isxdigit((unsigned char)*line))
		return 0;
	addr = strtoull(line, &p, 16);
	if (p >= end || *p != ' ')
		return 0;
	size = strtoull(p, &p, 16);
	if (p >= end || *p != ' ')
		return 0;
	while (end > p && (end[-1] == '\r' || end[-1] == ' '))
		end--;
	return end > p ? add_code(m, addr, size, p + 1, (size_t)(end - p - 1)) : 0;
}

/* @part ends with a NUL. The bytes that were whole lines; one that fills it all is cut. */
static int add_map_lines(struct jit_map *m, const char *part, size_t len, size_t *used)
{
	const char *nl;
	int err = 0;

	*used = 0;
	while (!err && *used < len) {
		nl = memchr(part + *used, '\n', len - *used);
		if (!nl && (*used || len < PART_SZ))
			break;
		err = add_map_line(m, part + *used, nl ? (size_t)(nl - part) - *used : len - *used);
		*used = nl ? (size_t)(nl - part) + 1 : len;
	}
	return err;
}

static int read_map(struct jit_map *m, int fd)
{
	char *part = malloc(PART_SZ + 1);
	size_t used;
	int err = part ? 0 : -ENOMEM;

	while (!err && m->pos < JIT_MAP_MAX_BYTES) {
		const ssize_t n = pread(fd, part, PART_SZ, m->pos);

		if (n <= 0)
			break;
		part[n] = '\0';
		err = add_map_lines(m, part, (size_t)n, &used);
		if (!used)
			break;
		m->pos += (off_t)used;
	}
	free(part);
	return err;
}

/* ---- jitdump ---- */

static int add_load(struct jit_map *m, const char *body, size_t len)
{
	struct dump_load load;
	size_t name_len;

	if (len < sizeof(load))
		return 0;
	memcpy(&load, body, sizeof(load));
	name_len = strnlen(body + sizeof(load), len - sizeof(load));
	return add_code(m, load.code_addr, load.code_size, body + sizeof(load), name_len);
}

static int add_move(struct jit_map *m, const char *body, size_t len)
{
	char name[SYMTAB_MAX_NAME + 1];
	struct dump_move move;
	struct symtab_sym sym;
	int err;

	if (len < sizeof(move) || m->n_moves++ >= MAX_MOVES)
		return 0;
	memcpy(&move, body, sizeof(move));
	err = symtab_seal(m->syms);
	if (err || !symtab_find(m->syms, move.old_addr, &sym))
		return err;
	strcpy(name, sym.name);
	return add_code(m, move.new_addr, move.code_size, name, strlen(name));
}

static int grow(void **v, size_t *cap, size_t need, size_t elem)
{
	size_t n = *cap ? *cap : 256;
	void *p;

	if (need <= *cap)
		return 0;
	while (n < need)
		n *= 2;
	p = realloc(*v, n * elem);
	if (!p)
		return -ENOMEM;
	*v = p;
	*cap = n;
	return 0;
}

static int keep_file(struct jit_map *m, uint32_t *out, const char *name, size_t len)
{
	int err;

	/* "\377" says: the same as before. */
	if (m->last_file && ((len == 1 && (unsigned char)*name == 0xff) ||
			     strcmp(m->files + m->last_file - 1, name) == 0)) {
		*out = m->last_file - 1;
		return 0;
	}
	err = grow((void **)&m->files, &m->files_cap, m->files_len + len + 1, 1);
	if (err)
		return err;
	*out = (uint32_t)m->files_len;
	memcpy(m->files + m->files_len, name, len + 1);
	m->files_len += len + 1;
	m->last_file = *out + 1;
	return 0;
}

static int add_line(struct jit_map *m, const struct dump_line *l, const char *name, size_t len)
{
	struct line line = {.addr = l->addr, .line = l->line > 0 ? (uint32_t)l->line : 0};
	int err;

	if (m->n_lines >= MAX_LINES || m->files_len + len + 1 > JIT_MAP_MAX_BYTES)
		return 0;
	err = keep_file(m, &line.file, name, len);
	if (!err)
		err = grow((void **)&m->lines, &m->cap_lines, m->n_lines + 1, sizeof(line));
	if (!err)
		m->lines[m->n_lines++] = line;
	return err;
}

/* @body ends with a NUL behind its last byte. */
static int add_debug(struct jit_map *m, const char *body, size_t len)
{
	size_t at = sizeof(struct dump_debug);
	struct dump_line line;
	int err = 0;

	while (!err && at < len && len - at > sizeof(line)) {
		const char *name = body + at + sizeof(line);
		const size_t name_len = strnlen(name, len - at - sizeof(line));

		memcpy(&line, body + at, sizeof(line));
		err = add_line(m, &line, name, name_len);
		at += sizeof(line) + name_len + 1;
	}
	return err;
}

static int add_record(struct jit_map *m, int fd, const struct dump_record *rec)
{
	const size_t len = rec->total_size - sizeof(*rec);
	char *body;
	int err = 0;

	if (rec->id > DUMP_DEBUG_INFO || rec->total_size > MAX_RECORD_SZ)
		return 0;
	body = malloc(len + 1);
	if (!body)
		return -ENOMEM;
	body[len] = '\0';
	if (pread(fd, body, len, m->pos + (off_t)sizeof(*rec)) != (ssize_t)len)
		err = -EBADMSG;
	else if (rec->id == DUMP_LOAD)
		err = add_load(m, body, len);
	else if (rec->id == DUMP_MOVE)
		err = add_move(m, body, len);
	else
		err = add_debug(m, body, len);
	free(body);
	return err;
}

static int read_dump(struct jit_map *m, int fd, off_t sz)
{
	struct dump_record rec;
	int err = 0;

	while (!err && m->pos < JIT_MAP_MAX_BYTES && sz - m->pos >= (off_t)sizeof(rec)) {
		if (pread(fd, &rec, sizeof(rec), m->pos) != sizeof(rec))
			break;
		if (rec.total_size < sizeof(rec))
			return -EBADMSG;
		if (rec.total_size > sz - m->pos)
			break; /* it is being written */
		err = add_record(m, fd, &rec);
		m->pos += rec.total_size;
	}
	return err;
}

static int is_dump(int fd, struct dump_header *h)
{
	return pread(fd, h, sizeof(*h), 0) == sizeof(*h) && h->magic == DUMP_MAGIC;
}

/* ---- both ---- */

static int by_addr(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int begin(struct jit_map *m, int fd)
{
	struct dump_header h;

	if (!is_dump(fd, &h))
		return 0;
	if (h.total_size < sizeof(h))
		return -EBADMSG;
	m->is_dump = 1;
	m->pos = h.total_size;
	return 0;
}

int jit_map_read(struct jit_map *m, int fd, uid_t owner)
{
	const off_t before = m->pos;
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	if (st.st_uid != owner && st.st_uid != 0)
		return -EPERM;
	if (st.st_size <= m->pos)
		return 0;
	err = m->pos ? 0 : begin(m, fd);
	if (!err)
		err = m->is_dump ? read_dump(m, fd, st.st_size) : read_map(m, fd);
	if (m->pos == before)
		return err;
	if (m->n_lines)
		qsort(m->lines, m->n_lines, sizeof(*m->lines), by_addr);
	return symtab_seal(m->syms) ?: err ?: 1;
}

int jit_map_find(const struct jit_map *m, uint64_t addr, struct symtab_sym *out)
{
	return symtab_find(m->syms, addr, out);
}

int jit_map_line(const struct jit_map *m, uint64_t addr, const char **file, uint32_t *line)
{
	size_t lo = 0, hi = m->n_lines;
	struct symtab_sym sym;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (m->lines[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || !symtab_find(m->syms, addr, &sym) || m->lines[lo - 1].addr < sym.addr)
		return 0;
	*file = m->files + m->lines[lo - 1].file;
	*line = m->lines[lo - 1].line;
	return 1;
}

size_t jit_map_bytes(const struct jit_map *m)
{
	return sizeof(*m) + symtab_bytes(m->syms) + m->cap_lines * sizeof(*m->lines) + m->files_cap;
}
