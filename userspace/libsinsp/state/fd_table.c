/* SPDX-License-Identifier: Apache-2.0 */
/* The fd table: chunks of eight descriptors in a hash table, copied on write. */
#include "fd_table.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "pathname.h"

_Static_assert(4 * sizeof(struct sinsp_fd) + sizeof(struct sinsp_fd_with_ends) +
			       sizeof(struct sinsp_fd_chunk) + sizeof(struct sinsp_fd_table) <=
		       5 * 96,
	       "five files, one of them a socket, take at most 96 bytes each");

static uint64_t seed; /* against captures with chosen numbers */

void sinsp_fd_mem_init(struct sinsp_fd_mem *mem, struct sinsp_strings *strings)
{
	memset(mem, 0, sizeof(*mem));
	sinsp_slab_init(&mem->fds, sizeof(struct sinsp_fd));
	sinsp_slab_init(&mem->fds_with_ends, sizeof(struct sinsp_fd_with_ends));
	sinsp_slab_init(&mem->chunks, sizeof(struct sinsp_fd_chunk));
	sinsp_slab_init(&mem->tables, sizeof(struct sinsp_fd_table));
	sinsp_slab_init(&mem->files, sizeof(struct sinsp_open_file));
	mem->strings = strings;
	if (!seed)
		seed = scap_hash_seed(mem);
}

void sinsp_fd_mem_fini(struct sinsp_fd_mem *mem)
{
	sinsp_slab_fini(&mem->fds);
	sinsp_slab_fini(&mem->fds_with_ends);
	sinsp_slab_fini(&mem->chunks);
	sinsp_slab_fini(&mem->tables);
	sinsp_slab_fini(&mem->files);
}

/* ---- single files ---- */

static int has_room_for(struct sinsp_fd_mem *mem, uint32_t n)
{
	if (n <= SINSP_FILES_TOTAL_MAX &&
	    mem->fds.n_used + mem->fds_with_ends.n_used <= SINSP_FILES_TOTAL_MAX - n)
		return 1;
	mem->n_refused++;
	return 0;
}

static int type_has_ends(unsigned int type)
{
	switch (type) {
	case SCAP_FD_IPV4_SOCK:
	case SCAP_FD_IPV6_SOCK:
	case SCAP_FD_IPV4_SERVSOCK:
	case SCAP_FD_IPV6_SERVSOCK:
	case SCAP_FD_UNIX_SOCK:
	case SCAP_FD_PIDFD:
		return 1;
	}
	return 0;
}

static struct sinsp_fd *fd_new(struct sinsp_fd_mem *mem, int has_ends)
{
	struct sinsp_fd *fd = sinsp_slab_get(has_ends ? &mem->fds_with_ends : &mem->fds);

	if (fd)
		fd->has_ends = has_ends;
	return fd;
}

static struct sinsp_open_file *file_ref(struct sinsp_open_file *f)
{
	if (f)
		f->refs++;
	return f;
}

static void file_put(struct sinsp_fd_mem *mem, struct sinsp_open_file *f)
{
	if (!f || --f->refs)
		return;
	if (f->conn && mem->file_end)
		mem->file_end(mem->file_end_ctx, f);
	sinsp_slab_put(&mem->files, f);
}

static struct sinsp_open_file **file_of(struct sinsp_fd *fd)
{
	return fd->has_ends ? &((struct sinsp_fd_with_ends *)fd)->file : NULL;
}

/* Gives a socket an open file of its own, unless it has one. Without memory it has none. */
static void add_file(struct sinsp_fd_mem *mem, struct sinsp_fd *fd)
{
	struct sinsp_open_file **at = file_of(fd);

	if (!at || *at || fd->type == SCAP_FD_PIDFD)
		return;
	*at = sinsp_slab_get(&mem->files);
	if (*at)
		(*at)->refs = 1;
}

/* Frees the struct, not its name. */
static void fd_put(struct sinsp_fd_mem *mem, struct sinsp_fd *fd)
{
	if (fd->has_ends)
		file_put(mem, *file_of(fd));
	sinsp_slab_put(fd->has_ends ? &mem->fds_with_ends : &mem->fds, fd);
}

static void fd_free(struct sinsp_fd_mem *mem, struct sinsp_fd *fd)
{
	sinsp_str_put(mem->strings, fd->name);
	fd_put(mem, fd);
}

/* Copies all of @src except has_ends; the ends only if both have them. Both then are of one open
 * socket. */
static void fd_assign(struct sinsp_fd_mem *mem, struct sinsp_fd *dst, const struct sinsp_fd *src)
{
	const int has_ends = dst->has_ends;

	if (has_ends && src->has_ends) {
		struct sinsp_open_file *file = file_ref(sinsp_fd_file(src));

		file_put(mem, *file_of(dst));
		*file_of(dst) = file;
		*sinsp_fd_edit_ends(dst) = *sinsp_fd_ends(src);
		((struct sinsp_fd_with_ends *)dst)->connect = *sinsp_fd_connect(src);
	}
	*dst = *src;
	dst->has_ends = has_ends;
}

/* ---- chunks ---- */

static void chunk_put(struct sinsp_fd_mem *mem, struct sinsp_fd_chunk *c)
{
	if (--c->refs)
		return;
	for (int i = 0; i < SINSP_CHUNK_FILES; i++)
		if (c->fds[i])
			fd_free(mem, c->fds[i]);
	sinsp_slab_put(&mem->chunks, c);
}

static struct sinsp_fd_chunk *chunk_new(struct sinsp_fd_mem *mem, int64_t key)
{
	struct sinsp_fd_chunk *c = sinsp_slab_get(&mem->chunks);

	if (!c)
		return NULL;
	c->refs = 1;
	c->key = key;
	return c;
}

static struct sinsp_fd_chunk *chunk_copy(struct sinsp_fd_mem *mem,
					 const struct sinsp_fd_chunk *from)
{
	struct sinsp_fd_chunk *c = has_room_for(mem, from->n) ? chunk_new(mem, from->key) : NULL;

	for (int i = 0; c && i < SINSP_CHUNK_FILES; i++) {
		if (!from->fds[i])
			continue;
		c->fds[i] = fd_new(mem, from->fds[i]->has_ends);
		if (!c->fds[i]) {
			chunk_put(mem, c);
			return NULL;
		}
		fd_assign(mem, c->fds[i], from->fds[i]);
		sinsp_str_ref(c->fds[i]->name);
		c->n++;
	}
	return c;
}

/* ---- tables ---- */

/* Returns the first place for the key. Descriptors are dense from 0: a small key is its own place,
 * others are hashed. */
static uint32_t home_of(const struct sinsp_fd_table *t, int64_t key)
{
	uint64_t k = key;

	if (k >= SINSP_KEYS_DENSE)
		k = scap_hash_number(seed, k);
	return k & (t->n_places - 1);
}

/* Returns the place of the key, or the free place for it. There is always a free one, except in a
 * table of one place. */
static struct sinsp_fd_chunk **place_of(const struct sinsp_fd_table *t, int64_t key)
{
	uint32_t i = home_of(t, key);

	while (t->places[i] && t->places[i]->key != key && t->n_places > 1)
		i = (i + 1) & (t->n_places - 1);
	return &t->places[i];
}

static struct sinsp_fd_chunk *chunk_of(const struct sinsp_fd_table *t, int64_t num)
{
	const int64_t key = num / SINSP_CHUNK_FILES;
	struct sinsp_fd_chunk *c = t->n_places ? *place_of(t, key) : NULL;

	return c && c->key == key ? c : NULL;
}

static void free_places(struct sinsp_fd_mem *mem, struct sinsp_fd_table *t)
{
	if (t->places == &t->only)
		return;
	mem->n_places -= t->n_places;
	free(t->places);
}

static void table_put(struct sinsp_fd_mem *mem, struct sinsp_fd_table *t)
{
	if (!t || --t->refs)
		return;
	for (uint32_t i = 0; i < t->n_places; i++)
		if (t->places[i])
			chunk_put(mem, t->places[i]);
	free_places(mem, t);
	sinsp_slab_put(&mem->tables, t);
}

static int set_places(struct sinsp_fd_mem *mem, struct sinsp_fd_table *t, uint32_t n)
{
	struct sinsp_fd_table old = *t;
	struct sinsp_fd_chunk **places = &t->only;

	if (n > 1) {
		if (mem->n_places > SINSP_PLACES_TOTAL_MAX - n) {
			mem->n_refused++;
			return 0;
		}
		places = calloc(n, sizeof(*places));
		if (!places) {
			mem->n_refused++;
			return 0;
		}
		mem->n_places += n;
	}
	t->places = places;
	t->n_places = n;
	if (old.places == &t->only)
		old.places = &old.only;
	for (uint32_t i = 0; i < old.n_places; i++)
		if (old.places[i])
			*place_of(t, old.places[i]->key) = old.places[i];
	free_places(mem, &old);
	return 1;
}

/* Makes room for one more chunk. Returns whether there is. */
static int has_place(struct sinsp_fd_mem *mem, struct sinsp_fd_table *t)
{
	if (t->n_places > 1 ? t->n_chunks < t->n_places - (t->n_places + 7) / 8
			    : t->n_chunks < t->n_places)
		return 1;
	return set_places(mem, t, t->n_places ? t->n_places > 1 ? t->n_places * 2 : 4 : 1);
}

/* Copies a table, into fewer places if it shrank. */
static struct sinsp_fd_table *table_copy(struct sinsp_fd_mem *mem,
					 const struct sinsp_fd_table *from)
{
	struct sinsp_fd_table *t = sinsp_slab_get(&mem->tables);
	uint32_t n_places = from ? from->n_places : 0;

	if (!t)
		return NULL;
	t->refs = 1;
	if (!from || !from->n_chunks)
		return t;
	while (n_places > 4 && from->n_chunks < n_places / 4)
		n_places /= 2;
	if (!set_places(mem, t, n_places)) {
		table_put(mem, t);
		return NULL;
	}
	for (uint32_t i = 0; i < from->n_places; i++) {
		struct sinsp_fd_chunk *c = from->places[i];

		if (!c)
			continue;
		c->refs++;
		*place_of(t, c->key) = c;
	}
	t->n = from->n;
	t->n_chunks = from->n_chunks;
	return t;
}

/* Copies the table if it is shared. Returns whether @f owns it alone. */
static int own_table(struct sinsp_fd_mem *mem, struct sinsp_files *f)
{
	struct sinsp_fd_table *t;

	if (f->table && f->table->refs == 1)
		return 1;
	t = table_copy(mem, f->table);
	if (!t)
		return 0;
	table_put(mem, f->table);
	f->table = t;
	return 1;
}

/* Returns the chunk of descriptor @num; creates it, or copies it if other tables share it. NULL: no
 * room. */
static struct sinsp_fd_chunk *own_chunk(struct sinsp_fd_mem *mem, struct sinsp_fd_table *t,
					int64_t num)
{
	struct sinsp_fd_chunk *c = chunk_of(t, num), *own = c;

	if (!c) {
		own = has_place(mem, t) ? chunk_new(mem, num / SINSP_CHUNK_FILES) : NULL;
		t->n_chunks += !!own;
	} else if (c->refs > 1) {
		own = chunk_copy(mem, c);
		if (own)
			chunk_put(mem, c);
	}
	if (own)
		*place_of(t, own->key) = own;
	return own;
}

/* Removes the chunk at place @i and closes the gap, so that no search ends early. */
static void remove_chunk(struct sinsp_fd_mem *mem, struct sinsp_fd_table *t, uint32_t i)
{
	uint32_t mask = t->n_places - 1, j = i;

	chunk_put(mem, t->places[i]);
	t->n_chunks--;
	t->places[i] = NULL;
	while (t->n_places > 1) {
		j = (j + 1) & mask;
		if (!t->places[j])
			return;
		if (((j - home_of(t, t->places[j]->key)) & mask) < ((j - i) & mask))
			continue;
		t->places[i] = t->places[j];
		t->places[j] = NULL;
		i = j;
	}
}

/* ---- files ---- */

struct sinsp_files *sinsp_files_new(void)
{
	struct sinsp_files *f = calloc(1, sizeof(*f));

	if (f)
		f->refs = 1;
	return f;
}

struct sinsp_files *sinsp_files_ref(struct sinsp_files *f)
{
	f->refs++;
	return f;
}

void sinsp_files_put(struct sinsp_fd_mem *mem, struct sinsp_files *f)
{
	if (!f || --f->refs)
		return;
	table_put(mem, f->table);
	free(f);
}

struct sinsp_files *sinsp_files_copy(const struct sinsp_files *f)
{
	struct sinsp_files *c = sinsp_files_new();

	if (!c)
		return NULL;
	c->partial = f->partial;
	c->table = f->table;
	if (c->table)
		c->table->refs++;
	return c;
}

const struct sinsp_fd *sinsp_files_search(const struct sinsp_files *f, int64_t num)
{
	const struct sinsp_fd_chunk *c;

	if (!f || !f->table || num < 0)
		return NULL;
	c = chunk_of(f->table, num);
	return c ? c->fds[num % SINSP_CHUNK_FILES] : NULL;
}

/* Returns where the pointer to descriptor @num, which exists, can be written. NULL: no room. */
static struct sinsp_fd **own_fd(struct sinsp_fd_mem *mem, struct sinsp_files *f, int64_t num)
{
	struct sinsp_fd_chunk *c;

	if (!own_table(mem, f))
		return NULL;
	c = own_chunk(mem, f->table, num);
	return c ? &c->fds[num % SINSP_CHUNK_FILES] : NULL;
}

struct sinsp_fd *sinsp_files_edit(struct sinsp_fd_mem *mem, struct sinsp_files *f, int64_t num)
{
	struct sinsp_fd **at = sinsp_files_find(f, num) ? own_fd(mem, f, num) : NULL;

	return at ? *at : NULL;
}

struct sinsp_fd *sinsp_files_edit_socket(struct sinsp_fd_mem *mem, struct sinsp_files *f,
					 int64_t num)
{
	struct sinsp_fd **at = sinsp_files_find(f, num) ? own_fd(mem, f, num) : NULL;
	struct sinsp_fd *fd;

	if (!at || (*at)->has_ends)
		return at ? *at : NULL;
	fd = fd_new(mem, 1);
	if (!fd)
		return NULL;
	fd_assign(mem, fd, *at);
	add_file(mem, fd);
	fd_put(mem, *at);
	return *at = fd;
}

/* Replaces descriptor @num, which exists. */
static struct sinsp_fd *replace_fd(struct sinsp_fd_mem *mem, struct sinsp_files *f, int64_t num,
				   int has_ends)
{
	struct sinsp_fd **at = own_fd(mem, f, num);
	struct sinsp_fd *fd = at ? fd_new(mem, has_ends) : NULL;

	if (!fd)
		return NULL;
	fd_free(mem, *at);
	return *at = fd;
}

static struct sinsp_fd *add_fd(struct sinsp_fd_mem *mem, struct sinsp_files *f, int64_t num,
			       int has_ends)
{
	struct sinsp_fd_chunk *c;
	struct sinsp_fd *fd;

	if (num < 0 || num > INT32_MAX || sinsp_files_count(f) >= SINSP_FILES_MAX ||
	    !has_room_for(mem, 1) || !own_table(mem, f))
		return NULL;
	c = own_chunk(mem, f->table, num);
	fd = c ? fd_new(mem, has_ends) : NULL;
	if (!fd)
		return NULL;
	c->fds[num % SINSP_CHUNK_FILES] = fd;
	c->n++;
	f->table->n++;
	return fd;
}

struct sinsp_fd *sinsp_files_add(struct sinsp_fd_mem *mem, struct sinsp_files *f, int64_t num,
				 unsigned int type)
{
	const int has_ends = type_has_ends(type);
	struct sinsp_fd *fd = sinsp_files_find(f, num) ? replace_fd(mem, f, num, has_ends)
						       : add_fd(mem, f, num, has_ends);

	if (!fd)
		return NULL;
	fd->num = num;
	fd->type = type;
	fd->name = sinsp_str_get(mem->strings, "", 0);
	add_file(mem, fd);
	return fd;
}

static void remove_from(struct sinsp_fd_mem *mem, struct sinsp_fd_table *t, int64_t num)
{
	struct sinsp_fd_chunk *c = chunk_of(t, num);

	t->n--;
	if (c->n == 1) {
		remove_chunk(mem, t, place_of(t, c->key) - t->places);
		return;
	}
	c = own_chunk(mem, t, num);
	if (!c) {
		t->n++;
		return;
	}
	fd_free(mem, c->fds[num % SINSP_CHUNK_FILES]);
	c->fds[num % SINSP_CHUNK_FILES] = NULL;
	c->n--;
}

void sinsp_files_remove(struct sinsp_fd_mem *mem, struct sinsp_files *f, int64_t num)
{
	if (sinsp_files_find(f, num) && own_table(mem, f))
		remove_from(mem, f->table, num);
}

/* Returns a bit for each descriptor of the chunk to be removed. */
static unsigned int dropped_of(const struct sinsp_fd_chunk *c,
			       int (*drop)(const struct sinsp_fd *fd, void *ctx), void *ctx)
{
	unsigned int bits = 0;

	for (int i = 0; i < SINSP_CHUNK_FILES; i++)
		if (c->fds[i] && drop(c->fds[i], ctx))
			bits |= 1u << i;
	return bits;
}

/* Sweeps one place. Returns whether it holds another chunk now. A chunk that loses all is dropped,
 * not copied. */
static int sweep_place(struct sinsp_fd_mem *mem, struct sinsp_files *f, uint32_t at,
		       int (*drop)(const struct sinsp_fd *fd, void *ctx), void *ctx)
{
	struct sinsp_fd_chunk *c = f->table->places[at];
	unsigned int bits = dropped_of(c, drop, ctx);
	int is_unshared = f->table->refs == 1;

	if (!bits || !own_table(mem, f))
		return 0;
	if (!is_unshared) /* the copy may order its places differently */
		return 1;
	if ((unsigned int)__builtin_popcount(bits) == c->n) {
		f->table->n -= c->n;
		remove_chunk(mem, f->table, place_of(f->table, c->key) - f->table->places);
		return 1;
	}
	for (int i = 0; i < SINSP_CHUNK_FILES; i++)
		if (bits & 1u << i)
			remove_from(mem, f->table, c->key * SINSP_CHUNK_FILES + i);
	return 0;
}

void sinsp_files_sweep(struct sinsp_fd_mem *mem, struct sinsp_files *f,
		       int (*drop)(const struct sinsp_fd *fd, void *ctx), void *ctx)
{
	/* Removing a chunk moves others into its place, also around the end of the table: repeat
	 * until nothing moved. */
	for (int again = 1; again && f->table;) {
		again = 0;
		for (uint32_t i = 0; i < f->table->n_places; i++)
			while (i < f->table->n_places && f->table->places[i] &&
			       sweep_place(mem, f, i, drop, ctx))
				again = 1;
	}
}

void sinsp_files_each(const struct sinsp_files *f, void (*fn)(const struct sinsp_fd *fd, void *ctx),
		      void *ctx)
{
	for (uint32_t i = 0; f->table && i < f->table->n_places; i++) {
		const struct sinsp_fd_chunk *c = f->table->places[i];

		for (int j = 0; c && j < SINSP_CHUNK_FILES; j++)
			if (c->fds[j])
				fn(c->fds[j], ctx);
	}
}

void sinsp_fd_set_name(struct sinsp_fd_mem *mem, struct sinsp_fd *fd, const char *p, size_t len)
{
	sinsp_str_set(mem->strings, &fd->name, p, len);
	fd->flags &= ~SINSP_FD_F_GIVEN;
}

void sinsp_fd_set_names(struct sinsp_fd_mem *mem, struct sinsp_fd *fd, const char *name, size_t len,
			const char *given, size_t given_len)
{
	char both[2 * SINSP_PATH_SZ];

	if ((len == given_len && !memcmp(name, given, len)) || len + given_len >= sizeof(both)) {
		sinsp_fd_set_name(mem, fd, name, len);
		return;
	}
	memcpy(both, name, len);
	both[len] = 0;
	memcpy(both + len + 1, given, given_len);
	sinsp_fd_set_name(mem, fd, both, len + 1 + given_len);
	fd->flags |= SINSP_FD_F_GIVEN;
}

void sinsp_fd_copy(struct sinsp_fd_mem *mem, struct sinsp_fd *dst, const struct sinsp_fd *src)
{
	int32_t num = dst->num;
	const char *name = sinsp_str_ref(src->name), *old = dst->name;

	fd_assign(mem, dst, src);
	dst->num = num;
	dst->name = name;
	sinsp_str_put(mem->strings, old);
}
