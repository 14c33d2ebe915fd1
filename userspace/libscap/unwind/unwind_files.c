/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/unwind_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "objfile/debug_file.h"
#include "objfile/open_in_root.h"
#include "objfile/sha256.h"
#include "unwind/jit_code.h"
#include "unwind/unwind_rows.h"

#define FILES_MAX 16384 /* maximum number of known files, with a table or without */
#define BUCKETS 4096 /* a power of two */
#define FEW_ROWS 32 /* the file of debug information may have more */
#define TRIES_MAX 2 /* to find room for a table, which may exceed all there is */
#define VDSO_MAX (64u << 10)
#define MAPS_SHARE 16 /* this part of all room is reserved for states of mappings */
#define MAPS_ROOM_MIN (256u << 10)

/* Identity of a file on this machine. */
struct identity {
	uint64_t dev, ino, sz, mtime_ns;
};

struct unwind_file {
	struct unwind_file *next; /* in the bucket */
	uint8_t id[ELF_FILE_ID_SZ]; /* file ID of the content */
	struct unwind_piece *pieces;
	size_t n_pieces;
	uint64_t n_rows; /* with room for them or without */
	uint64_t used_ns;
	unsigned int refs;
	struct interp_file *interp; /* NULL: none */
	int no_room; /* it has rows, and no table */
	int too_much; /* its rows exceeded the work limit of a file */
	int needs_room; /* it did not fit; 0 if it was evicted */
	unsigned int tries;
};

/* Other names of a known file. */
struct alias {
	struct alias *next;
	struct identity identity;
	struct unwind_file *file; /* NULL: it has no table */
};

struct unwind_files {
	struct unwind_pool *pool;
	struct kept_files *kept; /* NULL: none */
	struct unwind_file *by_id[BUCKETS];
	struct alias *aliases[BUCKETS];
	size_t n, n_aliases;
	struct unwind_work stop; /* how a long build is stopped */
	const struct unwind_file *reserved; /* compared only: it may be freed */
	size_t reserved_sz; /* bytes reserved for its table */
	struct unwind_files_stats stats;
};

int unwind_files_new(struct unwind_files **out, struct unwind_pool *pool)
{
	struct unwind_files *fs = calloc(1, sizeof(*fs));

	if (!fs)
		return -ENOMEM;
	fs->pool = pool;
	*out = fs;
	return 0;
}

void unwind_files_use_kept(struct unwind_files *fs, struct kept_files *k)
{
	fs->kept = k;
}

void unwind_files_stop_by(struct unwind_files *fs, int (*is_stopped)(void *ctx), void *ctx)
{
	fs->stop = (struct unwind_work){.is_stopped = is_stopped, .ctx = ctx};
}

static uint32_t piece_words(const struct unwind_piece *p)
{
	return p->n + UNWIND_INDEX_WORDS(p->n_pages);
}

static void drop_pieces(struct unwind_files *fs, struct unwind_file *f, uint64_t now_ns)
{
	for (size_t i = 0; i < f->n_pieces; i++) {
		unwind_pool_release(fs->pool, f->pieces[i].place, piece_words(&f->pieces[i]),
				    now_ns);
		fs->stats.n_rows -= f->pieces[i].n;
	}
	fs->stats.n_files -= f->n_pieces != 0;
	free(f->pieces);
	f->pieces = NULL;
	f->n_pieces = 0;
}

void unwind_files_free(struct unwind_files *fs)
{
	if (!fs)
		return;
	for (size_t i = 0; i < BUCKETS; i++) {
		while (fs->by_id[i]) {
			struct unwind_file *f = fs->by_id[i];

			fs->by_id[i] = f->next;
			free(f->interp);
			free(f->pieces);
			free(f);
		}
		while (fs->aliases[i]) {
			struct alias *a = fs->aliases[i];

			fs->aliases[i] = a->next;
			free(a);
		}
	}
	free(fs);
}

/* ---- which file ---- */

static size_t alias_bucket(const struct identity *i)
{
	return ((i->ino * 0x9e3779b97f4a7c15ull ^ i->dev * 0xc2b2ae3d27d4eb4full) >> 40) &
	       (BUCKETS - 1);
}

static struct alias *find_alias(const struct unwind_files *fs, const struct identity *id)
{
	struct alias *a = fs->aliases[alias_bucket(id)];

	while (a && memcmp(&a->identity, id, sizeof(*id)))
		a = a->next;
	return a;
}

/* Forgotten names are looked up again, no more. */
static void drop_aliases(struct unwind_files *fs, const struct unwind_file *of)
{
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct alias **at = &fs->aliases[i]; *at;) {
			struct alias *a = *at;

			if (of && a->file != of) {
				at = &a->next;
				continue;
			}
			*at = a->next;
			fs->n_aliases--;
			free(a);
		}
	}
}

static void add_alias(struct unwind_files *fs, const struct identity *id, struct unwind_file *f)
{
	const size_t at = alias_bucket(id);
	struct alias *a;

	if (fs->n_aliases >= 4 * FILES_MAX)
		drop_aliases(fs, NULL);
	a = malloc(sizeof(*a));
	if (!a)
		return;
	*a = (struct alias){fs->aliases[at], *id, f};
	fs->aliases[at] = a;
	fs->n_aliases++;
}

static size_t id_bucket(const uint8_t *id)
{
	uint32_t h;

	memcpy(&h, id, sizeof(h));
	return h & (BUCKETS - 1);
}

static struct unwind_file *find_id(const struct unwind_files *fs, const uint8_t *id)
{
	struct unwind_file *f = fs->by_id[id_bucket(id)];

	while (f && memcmp(f->id, id, ELF_FILE_ID_SZ))
		f = f->next;
	return f;
}

/* ---- how to reach it ---- */

/* A file that the root of the process does not have may be in ours. */
static int open_source(const struct unwind_source *src, struct stat *st)
{
	const int fd = open_mapped(src->pid, src->start, src->end, src->path, src->ino, st);

	return fd >= 0 ? fd : open_same_in_root(NULL, src->path, src->ino, st);
}

static struct identity identify(const struct stat *st)
{
	return (struct identity){st->st_dev, st->st_ino, (uint64_t)st->st_size,
				 (uint64_t)st->st_mtim.tv_sec * 1000000000 +
					 (uint64_t)st->st_mtim.tv_nsec};
}

/* ---- its table ---- */

/* @src NULL: it has no name. */
static int make_rows(struct unwind_rows *rows, const struct elf_file *f,
		     const struct unwind_source *src, struct unwind_work *work)
{
	struct elf_file *debug;
	struct unwind_rows more;
	int fd, err = unwind_rows_of_file(rows, f, NULL, work);

	if (err || rows->n >= FEW_ROWS || !src)
		return err;
	fd = debug_file_find(&debug, f, src->pid, src->path, NULL);
	if (fd < 0)
		return 0;
	close(fd);
	if (!unwind_rows_of_file(&more, f, debug, work)) {
		unwind_rows_fini(rows);
		*rows = more;
	}
	elf_file_close(debug);
	return 0;
}

/* Chooses the smallest pages that fit: a file of 2 GiB has at least two. */
static void choose_pages(struct unwind_piece *p, const struct unwind_row *rows)
{
	const uint32_t last = rows[p->n - 1].pc;

	for (p->shift = 0;; p->shift++) {
		p->first_page = p->from >> p->shift;
		p->n_pages = (last >> p->shift) - p->first_page;
		if (p->n_pages++ < UNWIND_PAGES_MAX(p->n))
			return;
	}
}

static void write_index(uint32_t *index, const struct unwind_piece *p,
			const struct unwind_row *rows)
{
	uint32_t n = 0;

	for (uint32_t page = 0; page < p->n_pages; page++) {
		while (n < p->n && rows[n].pc >> p->shift < p->first_page + page)
			n++;
		index[page] = n;
	}
	index[p->n_pages] = p->n;
}

static int place_piece(struct unwind_files *fs, struct unwind_piece *p,
		       const struct unwind_rows *rows, size_t at, size_t n)
{
	uint64_t *words;
	int64_t place;

	*p = (struct unwind_piece){
		.from = rows->v[at].pc,
		.to = at + n < rows->n ? rows->v[at + n].pc : UINT32_MAX,
		.n = (uint32_t)n,
	};
	choose_pages(p, rows->v + at);
	place = unwind_pool_alloc(fs->pool, piece_words(p));
	if (place < 0)
		return (int)place;
	p->place = (uint32_t)place;
	words = unwind_pool_at(fs->pool, p->place);
	memcpy(words, rows->v + at, n * sizeof(*rows->v));
	write_index((uint32_t *)(words + n), p, rows->v + at);
	return 0;
}

/* Returns the bytes that tables may take: states of mappings need room, too. */
static size_t room_of_tables(const struct unwind_files *fs)
{
	const size_t max = unwind_pool_max(fs->pool);

	return max - (max / MAPS_SHARE > MAPS_ROOM_MIN ? max / MAPS_SHARE : MAPS_ROOM_MIN);
}

size_t unwind_files_room(const struct unwind_files *fs)
{
	const size_t max = room_of_tables(fs), used = unwind_pool_used(fs->pool);

	return used < max ? max - used : 0;
}

/* A table larger than all room gets none made. */
static int fits(const struct unwind_files *fs, const struct unwind_file *f)
{
	return unwind_file_sz(f) <= room_of_tables(fs);
}

static int place_rows(struct unwind_files *fs, struct unwind_file *f,
		      const struct unwind_rows *rows, uint64_t now_ns)
{
	const size_t n = (rows->n + UNWIND_ROWS_MAX - 1) / UNWIND_ROWS_MAX;
	const size_t reserved = f == fs->reserved ? 0 : fs->reserved_sz;
	int err = 0;

	f->n_rows = rows->n;
	if (!n)
		return 0;
	if (unwind_file_sz(f) + reserved > unwind_files_room(fs))
		return -ENOSPC;
	f->pieces = calloc(n, sizeof(*f->pieces));
	if (!f->pieces)
		return -ENOMEM;
	fs->stats.n_files++;
	for (size_t i = 0; i < n && !err; i++) {
		const size_t at = i * UNWIND_ROWS_MAX, left = rows->n - at;

		err = place_piece(fs, &f->pieces[i], rows, at,
				  left < UNWIND_ROWS_MAX ? left : UNWIND_ROWS_MAX);
		if (!err) {
			f->n_pieces++;
			fs->stats.n_rows += f->pieces[i].n;
		}
	}
	if (err && !f->n_pieces) {
		fs->stats.n_files--;
		free(f->pieces);
		f->pieces = NULL;
	} else if (err) {
		drop_pieces(fs, f, now_ns);
	}
	return err;
}

/* Runs make_rows within the work limit of a file, and the remaining one of its process. */
static int make_rows_within(struct unwind_files *fs, struct unwind_rows *rows,
			    const struct elf_file *elf, const struct unwind_source *src)
{
	const uint64_t left = src && src->work ? *src->work : UNWIND_WORK_MAX;
	const uint64_t max = left < UNWIND_WORK_MAX ? left : UNWIND_WORK_MAX;
	struct unwind_work work = fs->stop;
	int err;

	work.left = max;
	err = make_rows(rows, elf, src, &work);
	fs->stats.n_steps += max - work.left;
	if (src && src->work)
		*src->work -= max - work.left;
	return err == -E2BIG && max < UNWIND_WORK_MAX ? -EDQUOT : err;
}

/* Builds the table of @f from the opened @elf. Without room it has none: unwind_file_pieces then
 * returns -ENOSPC. */
static int load_file(struct unwind_files *fs, struct unwind_file *f, const struct elf_file *elf,
		     const struct unwind_source *src, uint64_t now_ns)
{
	const uint64_t start = clock_now_ns();
	struct unwind_rows rows = {0};
	int err = make_rows_within(fs, &rows, elf, src);

	if (!err)
		err = place_rows(fs, f, &rows, now_ns);
	unwind_rows_fini(&rows);
	f->no_room = err == -ENOSPC;
	f->needs_room = f->no_room && fits(fs, f) && f->tries++ < TRIES_MAX;
	fs->stats.n_no_room += err == -ENOSPC;
	f->too_much = err == -E2BIG;
	fs->stats.n_too_much += err == -E2BIG;
	fs->stats.build_ns += clock_now_ns() - start;
	return err == -ENOSPC || err == -E2BIG ? 0 : err;
}

/* Drops an unused file, to make room for another. */
static void drop_unused(struct unwind_files *fs, uint64_t now_ns)
{
	struct unwind_file **oldest = NULL;

	for (size_t i = 0; i < BUCKETS; i++)
		for (struct unwind_file **at = &fs->by_id[i]; *at; at = &(*at)->next)
			if (!(*at)->refs && (!oldest || (*at)->used_ns < (*oldest)->used_ns))
				oldest = at;
	if (oldest) {
		struct unwind_file *f = *oldest;

		*oldest = f->next;
		drop_aliases(fs, f);
		drop_pieces(fs, f, now_ns);
		free(f->interp);
		free(f);
		fs->n--;
	}
}

static int detect_interp(struct unwind_files *fs, struct unwind_file *f, const struct elf_file *elf,
			 const struct unwind_source *src)
{
	struct interp_file found;
	const int is_interp = src ? interp_file_detect(&found, elf, src->path) : 0;

	if (is_interp < 0) {
		fs->stats.n_unsupported++;
		_Static_assert(sizeof(fs->stats.unsupported) == sizeof(found.version), "a copy");
		memcpy(fs->stats.unsupported, found.version, sizeof(fs->stats.unsupported));
	}
	if (is_interp <= 0)
		return 0;
	f->interp = malloc(sizeof(*f->interp));
	if (!f->interp)
		return -ENOMEM;
	*f->interp = found;
	return 0;
}

/* Finds or adds a file that was opened by a new name. *out NULL: it has no table. */
static int find_or_add(struct unwind_files *fs, struct unwind_file **out,
		       const struct elf_file *elf, const struct unwind_source *src, uint64_t now_ns)
{
	uint8_t id[ELF_FILE_ID_SZ];
	struct unwind_file *f;
	int err = elf_file_id(elf, id);

	*out = NULL;
	if (err)
		return err;
	f = find_id(fs, id);
	if (!f) {
		if (fs->n >= FILES_MAX)
			drop_unused(fs, now_ns);
		f = calloc(1, sizeof(*f));
		if (!f)
			return -ENOMEM;
		memcpy(f->id, id, sizeof(id));
		err = load_file(fs, f, elf, src, now_ns) ?: detect_interp(fs, f, elf, src);
		if (err) {
			drop_pieces(fs, f, now_ns);
			free(f);
			return err == -ENOTSUP ? 0 : err;
		}
		f->next = fs->by_id[id_bucket(id)];
		fs->by_id[id_bucket(id)] = f;
		fs->n++;
	}
	*out = f;
	return 0;
}

static int find_or_add_fd(struct unwind_files *fs, struct unwind_file **out, int fd,
			  const struct unwind_source *src, uint64_t now_ns)
{
	struct elf_file *elf;
	int err = elf_file_open(&elf, fd);

	*out = NULL;
	if (err == -ENOEXEC) /* not an ELF file */
		return 0;
	if (err)
		return err;
	err = find_or_add(fs, out, elf, src, now_ns);
	elf_file_close(elf);
	return err;
}

/* Its table was evicted, or did not fit. */
static void reload_table(struct unwind_files *fs, struct unwind_file *f, int fd,
			 const struct unwind_source *src, uint64_t now_ns)
{
	struct unwind_source unbound = *src;
	struct elf_file *elf;

	if (!f->no_room || elf_file_open(&elf, fd))
		return;
	unbound.work = NULL; /* the eviction was not the process's doing */
	load_file(fs, f, elf, &unbound, now_ns);
	elf_file_close(elf);
}

/* The vDSO is the same in all 64-bit processes; ours is at hand. */
static int get_vdso(struct unwind_files *fs, struct unwind_file **out, uint64_t sz, uint64_t now_ns)
{
	const void *image = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct elf_file *elf;
	int err;

	*out = NULL;
	if (!image || sz > VDSO_MAX)
		return 0;
	err = elf_file_open_image(&elf, image, sz);
	if (err)
		return 0;
	err = find_or_add(fs, out, elf, NULL, now_ns);
	elf_file_close(elf);
	return err;
}

static int get_mapped(struct unwind_files *fs, struct unwind_file **out,
		      const struct unwind_source *src, uint64_t now_ns)
{
	struct identity id;
	struct alias *a;
	struct stat st;
	int fd = open_source(src, &st), err = 0;

	if (fd < 0) {
		fs->stats.n_unreadable++;
		return -ESRCH;
	}
	id = identify(&st);
	a = find_alias(fs, &id);
	if (a) {
		*out = a->file;
	} else {
		kept_files_add(fs->kept, fd, &st, src->dev, src->ino, src->path);
		err = find_or_add_fd(fs, out, fd, src, now_ns);
		if (err)
			fs->stats.n_unreadable += err != -EDQUOT;
		else
			add_alias(fs, &id, *out);
	}
	if (!err && *out)
		reload_table(fs, *out, fd, src, now_ns);
	close(fd);
	return err;
}

static void place_code(struct unwind_files *fs, struct unwind_file *f,
		       const struct unwind_rows *rows, uint64_t now_ns)
{
	const int err = place_rows(fs, f, rows, now_ns);

	f->no_room = err != 0;
	f->needs_room = f->no_room && fits(fs, f) && f->tries++ < TRIES_MAX;
	fs->stats.n_no_room += f->no_room;
}

/* JIT code that is recognized by its bytes is treated as a file: equal rows are stored once. */
static int get_code(struct unwind_files *fs, struct unwind_file **out,
		    const struct unwind_source *src, uint64_t now_ns)
{
	uint8_t sum[SHA256_SZ];
	struct unwind_rows rows;
	struct unwind_file *f;
	int err = jit_code_rows(&rows, src->pid, src->start, src->end);

	if (err || !rows.n)
		return err;
	sha256(sum, rows.v, rows.n * sizeof(*rows.v));
	f = find_id(fs, sum);
	if (!f) {
		if (fs->n >= FILES_MAX)
			drop_unused(fs, now_ns);
		f = calloc(1, sizeof(*f));
		err = f ? 0 : -ENOMEM;
	}
	if (!err && !f->n_rows) {
		memcpy(f->id, sum, sizeof(f->id));
		f->next = fs->by_id[id_bucket(f->id)];
		fs->by_id[id_bucket(f->id)] = f;
		fs->n++;
	}
	if (!err && !f->n_pieces)
		place_code(fs, f, &rows, now_ns);
	unwind_rows_fini(&rows);
	*out = f;
	return err;
}

int unwind_file_get(struct unwind_files *fs, struct unwind_file **out,
		    const struct unwind_source *src, uint64_t now_ns)
{
	int err = 0;

	*out = NULL;
	if (!strcmp(src->path, "[vdso]"))
		err = get_vdso(fs, out, src->end - src->start, now_ns);
	else if (src->ino && *src->path == '/')
		err = get_mapped(fs, out, src, now_ns);
	else if (!src->ino && !*src->path)
		err = get_code(fs, out, src, now_ns);
	if (err || !*out)
		return err;
	(*out)->used_ns = now_ns;
	(*out)->refs++;
	return 0;
}

struct unwind_file *unwind_file_ref(struct unwind_file *f)
{
	if (f)
		f->refs++;
	return f;
}

void unwind_file_put(struct unwind_file *f)
{
	if (f)
		f->refs--;
}

int unwind_file_pieces(const struct unwind_file *f, const struct unwind_piece **v)
{
	*v = f->pieces;
	return f->no_room || f->too_much ? -ENOSPC : (int)f->n_pieces;
}

const struct interp_file *unwind_file_interp(const struct unwind_file *f)
{
	return f->interp;
}

void unwind_file_used(struct unwind_file *f, uint64_t now_ns)
{
	f->used_ns = now_ns;
}

int unwind_file_needs_room(const struct unwind_file *f)
{
	return f->needs_room;
}

uint64_t unwind_file_sz(const struct unwind_file *f)
{
	return f->n_rows * sizeof(struct unwind_row) / 8 * 9;
}

void unwind_file_stop_retrying(struct unwind_file *f)
{
	f->needs_room = 0;
}

void unwind_files_reserve(struct unwind_files *fs, const struct unwind_file *f)
{
	fs->reserved = f;
	fs->reserved_sz = f ? unwind_file_sz(f) : 0;
}

int unwind_files_retry_all(struct unwind_files *fs)
{
	int n = 0;

	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct unwind_file *f = fs->by_id[i]; f; f = f->next) {
			f->tries = 0;
			f->needs_room = f->no_room && f->refs && fits(fs, f);
			n |= f->needs_room;
		}
	}
	return n;
}

/* Returns whether the table of @f may be evicted for that of @incoming. */
static int is_evictable(const struct unwind_file *f, const struct unwind_file *incoming)
{
	return f != incoming && f->n_pieces && (!f->refs || f->used_ns < incoming->used_ns);
}

size_t unwind_files_evictable(const struct unwind_files *fs, const struct unwind_file *incoming)
{
	size_t sz = 0;

	for (size_t i = 0; i < BUCKETS; i++)
		for (const struct unwind_file *f = fs->by_id[i]; f; f = f->next)
			if (is_evictable(f, incoming))
				sz += unwind_file_sz(f);
	return sz;
}

int unwind_files_evict(struct unwind_files *fs, const struct unwind_file *incoming, uint64_t now_ns)
{
	struct unwind_file *found = NULL;

	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct unwind_file *f = fs->by_id[i]; f; f = f->next) {
			if (!is_evictable(f, incoming))
				continue;
			if (!found || (!f->refs && found->refs) ||
			    (!f->refs == !found->refs && f->used_ns < found->used_ns))
				found = f;
		}
	}
	if (!found)
		return -ENOENT;
	drop_pieces(fs, found, now_ns);
	found->no_room = 1;
	found->tries = 0;
	fs->stats.n_evicted++;
	return found->refs != 0;
}

void unwind_files_stats(const struct unwind_files *fs, struct unwind_files_stats *st)
{
	*st = fs->stats;
}
