/* SPDX-License-Identifier: Apache-2.0 */
/* Executable mappings: a sorted table per process, shared after fork. */
#include "code_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"

/* Sorted by address, without overlaps. */
struct code_table {
	uint32_t refs, n, cap;
	struct sinsp_code_map v[];
};

static uint64_t mix(uint64_t h)
{
	static uint64_t seed;

	if (!seed)
		seed = scap_hash_seed(&seed);
	return scap_hash_number(seed, h);
}

/* ---- files ---- */

/* Hashes all that is_same_file compares: IDs and names are hostile. */
static uint64_t hash_file(const struct sinsp_code_id *id, const char *path, size_t len)
{
	uint64_t h = mix(mix(mix(id->ino + 1) ^ id->dev) ^ id->ino_gen);

	h = scap_hash_bytes(h, (const char *)id->build_id, id->build_id_len);
	return id->ino ? h : scap_hash_bytes(h, path, len);
}

static int same_id(const struct sinsp_code_id *a, const struct sinsp_code_id *b)
{
	return a->ino == b->ino && a->ino_gen == b->ino_gen && a->dev == b->dev &&
	       a->build_id_len == b->build_id_len &&
	       memcmp(a->build_id, b->build_id, a->build_id_len) == 0;
}

/* Returns whether @f is the file. One without an inode (the vDSO, JIT code) is identified by its
 * name. */
static int is_same_file(const struct sinsp_code_file *f, const struct sinsp_code_id *id,
			const char *path, size_t len)
{
	return same_id(&f->id, id) &&
	       (id->ino || (strlen(f->path) == len && memcmp(f->path, path, len) == 0));
}

static uint64_t hash_of(const struct sinsp_code_file *f)
{
	return hash_file(&f->id, f->path, strlen(f->path));
}

static int grow_buckets(struct sinsp_code_maps *m)
{
	const uint32_t n = m->n_buckets ? m->n_buckets * 2 : 256;
	uint32_t *v = calloc(n, sizeof(*v));

	if (!v)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->n_files; i++) {
		uint32_t *head = &v[hash_of(m->files[i]) & (n - 1)];

		m->files[i]->next = *head;
		*head = i + 1;
	}
	free(m->buckets);
	m->buckets = v;
	m->n_buckets = n;
	return 0;
}

static int make_room_for_file(struct sinsp_code_maps *m)
{
	struct sinsp_code_file **v;

	if (m->n_files == SINSP_CODE_FILES_MAX)
		return -ENOSPC;
	if (m->n_files == m->n_buckets && grow_buckets(m))
		return -ENOMEM;
	if (m->n_files < m->cap_files)
		return 0;
	v = realloc(m->files, (m->cap_files * 2 + 64) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	m->files = v;
	m->cap_files = m->cap_files * 2 + 64;
	return 0;
}

static struct sinsp_code_file *new_file(struct sinsp_code_maps *m, const struct sinsp_code_id *id,
					const char *path, size_t len)
{
	struct sinsp_code_file *f;
	uint32_t *head;
	char *name;

	if (make_room_for_file(m))
		return NULL;
	f = calloc(1, sizeof(*f) + len + 1);
	if (!f)
		return NULL;
	name = (char *)(f + 1);
	memcpy(name, path, len);
	f->id = *id;
	f->path = name;
	f->pid = -1;
	f->number = m->n_files;
	head = &m->buckets[hash_of(f) & (m->n_buckets - 1)];
	f->next = *head;
	m->files[m->n_files++] = f;
	*head = m->n_files;
	return f;
}

struct sinsp_code_file *sinsp_code_file_get(struct sinsp_code_maps *m,
					    const struct sinsp_code_id *id, const char *path,
					    size_t path_len)
{
	const uint64_t hash = hash_file(id, path, path_len);
	uint32_t at = m->n_buckets ? m->buckets[hash & (m->n_buckets - 1)] : 0;
	struct sinsp_code_file *f;

	for (; at; at = m->files[at - 1]->next)
		if (is_same_file(m->files[at - 1], id, path, path_len))
			return m->files[at - 1];
	f = new_file(m, id, path, path_len);
	if (!f)
		m->n_refused++;
	return f;
}

/* ---- processes ---- */

static uint32_t slot_of(const struct sinsp_code_maps *m, int64_t pid)
{
	uint32_t i = (uint32_t)mix((uint64_t)pid) & (m->n_slots - 1);

	while (m->slots[i].table && m->slots[i].pid != pid)
		i = (i + 1) & (m->n_slots - 1);
	return i;
}

static struct code_table *table_of(const struct sinsp_code_maps *m, int64_t pid)
{
	return m->n_slots ? m->slots[slot_of(m, pid)].table : NULL;
}

static int grow_slots(struct sinsp_code_maps *m)
{
	const struct sinsp_code_maps old = *m;
	const uint32_t n = m->n_slots ? m->n_slots * 2 : 64;
	struct code_slot *v;

	if (m->n * 4 < m->n_slots * 3)
		return 0;
	v = calloc(n, sizeof(*v));
	if (!v)
		return -ENOMEM;
	m->slots = v;
	m->n_slots = n;
	for (uint32_t i = 0; i < old.n_slots; i++)
		if (old.slots[i].table)
			v[slot_of(m, old.slots[i].pid)] = old.slots[i];
	free(old.slots);
	return 0;
}

static void put_table(struct sinsp_code_maps *m, struct code_table *t)
{
	if (!t || --t->refs)
		return;
	m->n_maps -= t->n;
	free(t);
}

static int set_table(struct sinsp_code_maps *m, int64_t pid, struct code_table *t)
{
	struct code_slot *slot;
	int err = grow_slots(m);

	if (err)
		return err;
	slot = &m->slots[slot_of(m, pid)];
	if (!slot->table)
		m->n++;
	*slot = (struct code_slot){pid, t};
	return 0;
}

int sinsp_code_maps_fork(struct sinsp_code_maps *m, int64_t pid, int64_t parent)
{
	struct code_table *t = table_of(m, parent);
	int err;

	if (pid == parent)
		return 0;
	sinsp_code_maps_drop(m, pid);
	if (!t)
		return 0;
	err = set_table(m, pid, t);
	if (!err)
		t->refs++;
	return err;
}

void sinsp_code_maps_drop(struct sinsp_code_maps *m, int64_t pid)
{
	uint32_t hole, i;

	if (!m->n_slots)
		return;
	hole = slot_of(m, pid);
	if (!m->slots[hole].table)
		return;
	put_table(m, m->slots[hole].table);
	m->slots[hole].table = NULL;
	m->n--;
	/* Move up the slots that a search would no longer reach. */
	for (i = (hole + 1) & (m->n_slots - 1); m->slots[i].table; i = (i + 1) & (m->n_slots - 1)) {
		const struct code_slot s = m->slots[i];

		m->slots[i].table = NULL;
		m->slots[slot_of(m, s.pid)] = s;
	}
}

/* ---- mappings ---- */

/* Returns the index of the first mapping that ends above @addr. */
static uint32_t first_behind(const struct code_table *t, uint64_t addr)
{
	uint32_t lo = 0, hi = t->n;

	while (lo < hi) {
		const uint32_t mid = lo + (hi - lo) / 2;

		if (t->v[mid].end > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* Returns a table that only this process uses, with room for two more: a mapping may split
 * another. */
static struct code_table *own_table(struct sinsp_code_maps *m, int64_t pid)
{
	struct code_table *t = table_of(m, pid), *own;
	const uint32_t n = t ? t->n : 0;
	uint32_t cap;

	if (t && t->refs == 1 && t->cap >= n + 2)
		return t;
	cap = n + 2 + n / 2;
	own = malloc(sizeof(*own) + cap * sizeof(own->v[0]));
	if (!own)
		return NULL;
	*own = (struct code_table){.refs = 1, .n = n, .cap = cap};
	if (n)
		memcpy(own->v, t->v, n * sizeof(own->v[0]));
	if (set_table(m, pid, own)) {
		free(own);
		return NULL;
	}
	m->n_maps += n;
	put_table(m, t);
	return own;
}

static void insert_at(struct code_table *t, uint32_t at, const struct sinsp_code_map *map)
{
	memmove(&t->v[at + 1], &t->v[at], (t->n - at) * sizeof(t->v[0]));
	t->v[at] = *map;
	t->n++;
}

/* Maximum length: adding to a longer table is too slow. */
static int is_full(const struct code_table *t)
{
	return t->n >= SINSP_CODE_MAPS_PROCESS_MAX;
}

/* Cuts or removes the mappings of a range. Returns the index for the new one. If the table is full,
 * what would remain behind the range is removed, too. */
static uint32_t clear_range(struct code_table *t, uint64_t start, uint64_t end)
{
	uint32_t at = first_behind(t, start), last;

	if (at < t->n && t->v[at].start < start) {
		if (t->v[at].end > end && !is_full(t)) {
			struct sinsp_code_map tail = t->v[at];

			tail.offset += end - tail.start;
			tail.start = end;
			insert_at(t, at + 1, &tail);
		}
		t->v[at].end = start;
		at++;
	}
	for (last = at; last < t->n && t->v[last].end <= end; last++)
		;
	memmove(&t->v[at], &t->v[last], (t->n - last) * sizeof(t->v[0]));
	t->n -= last - at;
	if (at < t->n && t->v[at].start < end) {
		t->v[at].offset += end - t->v[at].start;
		t->v[at].start = end;
	}
	return at;
}

int sinsp_code_map_add(struct sinsp_code_maps *m, int64_t pid, const struct sinsp_code_map *map)
{
	struct code_table *t;
	uint32_t at;

	if (map->end <= map->start)
		return 0;
	if (m->n_maps >= SINSP_CODE_MAPS_MAX) {
		m->n_refused++;
		return 0;
	}
	t = own_table(m, pid);
	if (!t)
		return -ENOMEM;
	m->n_maps -= t->n;
	at = clear_range(t, map->start, map->end);
	if (is_full(t))
		m->n_refused++;
	else
		insert_at(t, at, map);
	m->n_maps += t->n;
	return 0;
}

const struct sinsp_code_map *sinsp_code_map_find(const struct sinsp_code_maps *m, int64_t pid,
						 uint64_t addr)
{
	const struct code_table *t = table_of(m, pid);
	uint32_t at;

	if (!t)
		return NULL;
	at = first_behind(t, addr);
	return at < t->n && t->v[at].start <= addr ? &t->v[at] : NULL;
}

/* Returns whether the path is ".../jit-PID.dump". */
static int is_dump(const char *path)
{
	const char *name = strrchr(path, '/');
	const size_t len = name ? strlen(name) : 0;

	return len > 10 && strncmp(name, "/jit-", 5) == 0 && strcmp(name + len - 5, ".dump") == 0;
}

const char *sinsp_code_maps_dump(const struct sinsp_code_maps *m, int64_t pid)
{
	const struct code_table *t = table_of(m, pid);

	for (uint32_t i = 0; t && i < t->n; i++)
		if (is_dump(t->v[i].file->path))
			return t->v[i].file->path;
	return NULL;
}

int sinsp_code_maps_each(const struct sinsp_code_maps *m,
			 int (*fn)(void *ctx, int64_t pid, const struct sinsp_code_map *map),
			 void *ctx)
{
	int r = 0;

	for (uint32_t i = 0; i < m->n_slots && !r; i++)
		for (uint32_t k = 0; m->slots[i].table && k < m->slots[i].table->n && !r; k++)
			r = fn(ctx, m->slots[i].pid, &m->slots[i].table->v[k]);
	return r;
}

void sinsp_code_maps_fini(struct sinsp_code_maps *m)
{
	for (uint32_t i = 0; i < m->n_slots; i++)
		put_table(m, m->slots[i].table);
	for (uint32_t i = 0; i < m->n_files; i++)
		free(m->files[i]);
	free(m->slots);
	free(m->files);
	free(m->buckets);
	*m = (struct sinsp_code_maps){0};
}
