/* SPDX-License-Identifier: Apache-2.0 */
#include "jit_map.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART_SZ 65536u
#define LAST_SZ 64u
#define LOOK_MAX (64ll << 20) /* bytes per read: the rest follows next time */
#define READ_MAX (4 * JIT_MAP_MAX_BYTES) /* total of a file that is rewritten again and again */
/* The jitdump file, as in perf's documentation; in the machine's byte order. */
#define DUMP_MAGIC 0x4a695444u
#define DUMP_F_ARCH_TIMESTAMP 1u /* times are the CPU's counter */
struct dump_header {
	uint32_t magic, version, total_size, elf_mach, pad, pid;
	uint64_t timestamp, flags;
};
struct dump_record {
	uint32_t id, total_size;
	uint64_t timestamp;
};

struct jit_map {
	struct symtab *syms;
	struct jit_dump *dump; /* NULL: not read yet */
	off_t pos; /* everything before was read */
	uint32_t n_lines; /* lines of a perf map, while they are used */
	off_t n_read; /* bytes, including rewritten content */
	dev_t dev;
	ino_t ino;
	struct timespec mtime; /* when everything had been read */
	char last[LAST_SZ]; /* bytes before pos, which show whether the file grew or changed */
	uint8_t has_times; /* CLOCK_MONOTONIC */
	uint8_t is_cut;
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
	jit_dump_free(m->dump);
	free(m);
}

static int add_code(struct jit_map *m, uint64_t addr, uint64_t size, const char *name, size_t len)
{
	int err;

	if (m->n_lines >= JIT_MAP_MAX_CODES) {
		m->is_cut = 1;
		return 0;
	}
	m->n_lines++;
	if (!len || !size || size > JIT_DUMP_MAX_CODE || !addr || addr >= JIT_ADDR_END)
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

/* Parses @part, which ends with a NUL. Returns the bytes of complete lines; a line longer than the
 * buffer is cut. */
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
	const off_t before = m->pos;
	char *part = malloc(PART_SZ + 1);
	size_t used;
	int err = part ? 0 : -ENOMEM;

	while (!err && m->pos < JIT_MAP_MAX_BYTES && m->pos - before < LOOK_MAX) {
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

static int add_record(struct jit_map *m, int fd, const struct dump_record *rec)
{
	const size_t len = rec->total_size - sizeof(*rec);
	char *body;
	int err = 0;

	if (rec->id >= JIT_DUMP_MAX || rec->total_size > JIT_DUMP_MAX_RECORD)
		return 0;
	body = malloc(len + 1);
	if (!body)
		return -ENOMEM;
	body[len] = '\0';
	if (pread(fd, body, len, m->pos + (off_t)sizeof(*rec)) != (ssize_t)len)
		err = -EBADMSG;
	else
		err = jit_dump_add(m->dump, rec->id, rec->timestamp, body, len);
	free(body);
	return err;
}

static int read_dump(struct jit_map *m, int fd, off_t sz)
{
	const off_t before = m->pos;
	struct dump_record rec;
	int err = 0;

	while (!err && m->pos < JIT_MAP_MAX_BYTES && m->pos - before < LOOK_MAX &&
	       sz - m->pos >= (off_t)sizeof(rec)) {
		if (pread(fd, &rec, sizeof(rec), m->pos) != sizeof(rec))
			break;
		if (rec.total_size < sizeof(rec))
			return -EBADMSG;
		if (rec.total_size > sz - m->pos)
			break; /* incomplete: being written */
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

static int begin(struct jit_map *m, int fd)
{
	struct dump_header h;

	if (!is_dump(fd, &h))
		return 0;
	if (h.total_size < sizeof(h))
		return -EBADMSG;
	m->dump = jit_dump_new();
	if (!m->dump)
		return -ENOMEM;
	m->has_times = !(h.flags & DUMP_F_ARCH_TIMESTAMP);
	m->pos = h.total_size;
	return 0;
}

static size_t last_sz(const struct jit_map *m)
{
	return m->pos < (off_t)LAST_SZ ? (size_t)m->pos : LAST_SZ;
}

/* Returns whether what was read is still there, unchanged. */
static int is_as_before(const struct jit_map *m, int fd, const struct stat *st)
{
	const size_t sz = last_sz(m);
	char last[LAST_SZ];

	if (!m->pos)
		return 1;
	if (st->st_dev != m->dev || st->st_ino != m->ino || st->st_size < m->pos)
		return 0;
	if (st->st_size == m->pos)
		return st->st_mtim.tv_sec == m->mtime.tv_sec &&
		       st->st_mtim.tv_nsec == m->mtime.tv_nsec;
	return pread(fd, last, sz, m->pos - (off_t)sz) == (ssize_t)sz &&
	       memcmp(last, m->last, sz) == 0;
}

/* The file as it is now, unless @fd is open on a copy of it, as @of was. */
static int stat_now(struct stat *st, int fd, const struct stat *of)
{
	if (fstat(fd, st))
		return -errno;
	if (of && (st->st_dev != of->st_dev || st->st_ino != of->st_ino))
		*st = *of;
	return 0;
}

static int note_read(struct jit_map *m, int fd, const struct stat *of, off_t before)
{
	const size_t sz = last_sz(m);
	struct stat st;

	m->n_read += m->pos - before;
	if (stat_now(&st, fd, of) || pread(fd, m->last, sz, m->pos - (off_t)sz) != (ssize_t)sz)
		return -EBADMSG;
	m->dev = st.st_dev;
	m->ino = st.st_ino;
	m->mtime = st.st_mtim;
	return 0;
}

/* The program began again, with another file, or by rewriting this one. */
static int begin_again(struct jit_map *m)
{
	struct symtab *syms = symtab_new(SYMTAB_LATEST);

	if (!syms)
		return -ENOMEM;
	symtab_free(m->syms);
	jit_dump_free(m->dump);
	m->syms = syms;
	m->dump = NULL;
	m->pos = 0;
	m->n_lines = 0;
	m->has_times = 0;
	return 0;
}

int jit_map_read_of(struct jit_map *m, int fd, const struct stat *of, uid_t owner)
{
	struct stat st;
	off_t before;
	int err = stat_now(&st, fd, of);

	if (err)
		return err;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	if (st.st_uid != owner && st.st_uid != 0)
		return -EPERM;
	if (!is_as_before(m, fd, &st)) {
		if (m->n_read + st.st_size > READ_MAX) {
			m->is_cut = 1;
			return 0;
		}
		err = begin_again(m);
		if (err)
			return err;
	}
	if (st.st_size <= m->pos)
		return 0;
	m->is_cut |= st.st_size > JIT_MAP_MAX_BYTES;
	before = m->pos;
	err = m->pos ? 0 : begin(m, fd);
	if (!err)
		err = m->dump ? read_dump(m, fd, st.st_size) : read_map(m, fd);
	if (m->pos == before)
		return err;
	err = note_read(m, fd, of, before) ?: err;
	if (m->dump)
		return jit_dump_seal(m->dump) ?: err ?: 1;
	return symtab_seal(m->syms) ?: err ?: 1;
}

int jit_map_read(struct jit_map *m, int fd, uid_t owner)
{
	return jit_map_read_of(m, fd, NULL, owner);
}

int jit_map_find(struct jit_map *m, uint64_t addr, uint64_t mono_ns, struct symtab_sym *out,
		 const char **file, uint32_t *line)
{
	*file = NULL;
	*line = 0;
	if (!m->dump)
		return symtab_find(m->syms, addr, out);
	return jit_dump_find(m->dump, addr, m->has_times ? mono_ns : JIT_LATEST, out, file, line);
}

size_t jit_map_count(const struct jit_map *m)
{
	return m->n_lines;
}

int jit_map_is_cut(const struct jit_map *m)
{
	return m->is_cut || symtab_is_cut(m->syms) || (m->dump && jit_dump_is_cut(m->dump));
}

size_t jit_map_bytes(const struct jit_map *m)
{
	return sizeof(*m) + symtab_bytes(m->syms) + (m->dump ? jit_dump_bytes(m->dump) : 0);
}
