/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/unwind_procs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "sampling/proc_maps.h"
#include "unwind/unwind_work.h"

#define BUCKETS 4096 /* a power of two */
#define MAKE_ROOM_TRIES 8
#define LINGER_NS                                                                                  \
	1000000000ull /* after the end of a process: samples and threads of it may still come */

struct map {
	uint64_t start, end, offset;
	uint64_t ns; /* when it was mapped, or read */
	struct unwind_file *file; /* NULL: the code's file has no table */
	int pending; /* the file could not be opened */
	int is_probe; /* the kernel's code for probes */
	enum interp_jit anon; /* of no file, or one without a name: where JIT code may be */
};

/* Mappings of one process, or of several with the same ones. */
struct maps {
	unsigned int refs;
	struct map *v; /* by start */
	size_t n, cap;
	uint32_t place, words; /* as last written; 0 words: not written */
	uint32_t n_written;
	int stale; /* it changed since it was written */
};

struct proc {
	struct proc *next;
	uint32_t pid;
	int dirty;
	int refused; /* its mappings, or an interpreter of it, did not fit */
	int counted; /* as refused: it is tried again and again */
	int too_much; /* its files exceed its work limit */
	uint64_t work; /* how much of its files may still be read */
	uint64_t since_ns; /* anything older is ignored */
	uint64_t exit_ns; /* when its first thread ended; 0: it lives */
	struct maps *maps;
	struct unwind_process entry; /* as the driver has it */
	uint32_t n_walks; /* the driver's count when it was last read */
	int sampled; /* the count had increased by then */
	u32 interps; /* walkers of the interpreters that the driver has of it, a bit each */
};

struct unwind_procs {
	struct unwind_pool *pool;
	struct unwind_files *files;
	int map, interp_map;
	struct proc *buckets[BUCKETS];
	uint32_t gen;
	size_t n, n_dirty;
	int no_room; /* a table did not fit */
	int refused; /* mappings of a process did not fit */
	uint64_t made_room_ns; /* when tables were evicted for that; 0: not yet */
	uint32_t room_pid; /* for this process */
	uint64_t work; /* of each process */
	struct unwind_procs_stats stats;
};

int unwind_procs_new(struct unwind_procs **out, struct unwind_pool *pool,
		     struct unwind_files *files, int map)
{
	struct unwind_procs *ps = calloc(1, sizeof(*ps));

	if (!ps)
		return -ENOMEM;
	ps->pool = pool;
	ps->files = files;
	ps->map = map;
	ps->interp_map = -1;
	ps->work = UNWIND_PROCESS_WORK_MAX;
	*out = ps;
	return 0;
}

void unwind_procs_write_interps(struct unwind_procs *ps, int map)
{
	ps->interp_map = map;
}

void unwind_procs_bound_work(struct unwind_procs *ps, uint64_t steps)
{
	ps->work = steps;
}

/* ---- mappings ---- */

static struct maps *maps_new(void)
{
	struct maps *m = calloc(1, sizeof(*m));

	if (m)
		m->refs = 1;
	return m;
}

static void maps_put(struct unwind_procs *ps, struct maps *m, uint64_t now_ns)
{
	if (!m || --m->refs)
		return;
	for (size_t i = 0; i < m->n; i++)
		unwind_file_put(m->v[i].file);
	unwind_pool_release(ps->pool, m->place, m->words, now_ns);
	free(m->v);
	free(m);
}

/* Makes room for @n more. */
static int maps_room(struct maps *m, size_t n)
{
	size_t cap = m->cap ? m->cap : 16;
	struct map *v;

	if (m->n + n <= m->cap)
		return 0;
	while (cap < m->n + n)
		cap *= 2;
	v = realloc(m->v, cap * sizeof(*v));
	if (!v)
		return -ENOMEM;
	m->v = v;
	m->cap = cap;
	return 0;
}

/* Returns the mappings of the process alone, which can be changed. NULL: no memory. */
static struct maps *own_maps(struct unwind_procs *ps, struct proc *p)
{
	struct maps *m;

	if (p->maps && p->maps->refs == 1)
		return p->maps;
	m = maps_new();
	if (!m)
		return NULL;
	if (p->maps) {
		if (p->maps->n) {
			m->v = malloc(p->maps->n * sizeof(*m->v));
			if (!m->v) {
				free(m);
				return NULL;
			}
			memcpy(m->v, p->maps->v, p->maps->n * sizeof(*m->v));
			m->n = m->cap = p->maps->n;
		}
		for (size_t i = 0; i < m->n; i++)
			unwind_file_ref(m->v[i].file);
		maps_put(ps, p->maps, 0); /* still shared by others */
	}
	p->maps = m;
	return m;
}

static void remove_at(struct maps *m, size_t i)
{
	unwind_file_put(m->v[i].file);
	memmove(m->v + i, m->v + i + 1, (--m->n - i) * sizeof(*m->v));
}

static void insert_at(struct maps *m, size_t i, const struct map *map)
{
	memmove(m->v + i + 1, m->v + i, (m->n++ - i) * sizeof(*m->v));
	m->v[i] = *map;
}

/* Cuts out what lies between @start and @end. There is room for one more. */
static void cut(struct maps *m, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < m->n;) {
		struct map *at = &m->v[i], rest = *at;

		if (at->end <= start || at->start >= end) {
			i++;
			continue;
		}
		if (at->start < start && at->end > end) { /* both ends stay */
			at->end = start;
			rest.offset += end - rest.start;
			rest.start = end;
			unwind_file_ref(rest.file);
			insert_at(m, i + 1, &rest);
			return;
		}
		if (at->start < start) {
			at->end = start;
		} else if (at->end > end) {
			at->offset += end - at->start;
			at->start = end;
		} else {
			remove_at(m, i);
			continue;
		}
		i++;
	}
}

/* Adjacent pieces of code without a file are merged. */
static int joins(const struct map *a, const struct map *b)
{
	return !a->file && !b->file && !a->pending && !b->pending && a->is_probe == b->is_probe &&
	       a->anon == b->anon && a->end == b->start;
}

static int put_map(struct maps *m, const struct map *map)
{
	size_t i = 0;

	if (maps_room(m, 2))
		return -ENOMEM;
	cut(m, map->start, map->end);
	while (i < m->n && m->v[i].start < map->start)
		i++;
	insert_at(m, i, map);
	if (i && joins(&m->v[i - 1], &m->v[i])) {
		m->v[i - 1].end = m->v[i].end;
		remove_at(m, i--);
	}
	if (i + 1 < m->n && joins(&m->v[i], &m->v[i + 1])) {
		m->v[i].end = m->v[i + 1].end;
		remove_at(m, i + 1);
	}
	return 0;
}

/* ---- processes ---- */

static struct proc *find_proc(const struct unwind_procs *ps, uint32_t pid)
{
	struct proc *p = ps->buckets[pid & (BUCKETS - 1)];

	while (p && p->pid != pid)
		p = p->next;
	return p;
}

static struct proc *get_proc(struct unwind_procs *ps, uint32_t pid)
{
	struct proc *p = find_proc(ps, pid);

	if (p)
		return p;
	if (ps->n >= UNWIND_PROCESSES_MAX) {
		ps->stats.n_refused++;
		return NULL;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	p->work = ps->work;
	p->next = ps->buckets[pid & (BUCKETS - 1)];
	ps->buckets[pid & (BUCKETS - 1)] = p;
	ps->n++;
	return p;
}

static void set_dirty(struct unwind_procs *ps, struct proc *p)
{
	ps->n_dirty += !p->dirty;
	p->dirty = 1;
}

/* Removes the interpreters that are not in @kept from the driver's map. */
static void drop_interps(struct unwind_procs *ps, struct proc *p, u32 kept)
{
	for (u32 i = 0; i < STACK_WALKER_ROOM; i++) {
		const struct interp_key key = {.pid = p->pid, .walker = i};

		if (p->interps & ~kept & 1u << i)
			bpf_map_delete_elem(ps->interp_map, &key);
	}
	p->interps &= kept;
}

static void drop_proc(struct unwind_procs *ps, struct proc *p, uint64_t now_ns)
{
	struct proc **at = &ps->buckets[p->pid & (BUCKETS - 1)];

	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	if (ps->map >= 0)
		bpf_map_delete_elem(ps->map, &p->pid);
	drop_interps(ps, p, 0);
	ps->n_dirty -= (size_t)p->dirty;
	ps->n--;
	maps_put(ps, p->maps, now_ns);
	free(p);
}

void unwind_procs_free(struct unwind_procs *ps)
{
	if (!ps)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		while (ps->buckets[i])
			drop_proc(ps, ps->buckets[i], 0);
	free(ps);
}

/* Returns which code that the process itself has made a mapping with this name can have. */
static enum interp_jit anon_of(const char *path)
{
	static const struct {
		const char *name;
		enum interp_jit anon;
	} rows[] = {{"[anon_shmem:", INTERP_JIT_SHARED},
		    {"/dev/zero", INTERP_JIT_SHARED},
		    {"[anon:", INTERP_JIT},
		    {"/memfd:", INTERP_JIT}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strncmp(path, rows[i].name, strlen(rows[i].name)))
			return rows[i].anon;
	return *path ? INTERP_NO_JIT : INTERP_JIT;
}

static int map_code(struct unwind_procs *ps, struct proc *p, const struct code_map *m,
		    uint64_t now_ns)
{
	struct map map = {
		.start = m->addr, .end = m->addr + m->length, .offset = m->offset, .ns = now_ns};
	struct maps *maps = own_maps(ps, p);
	char path[MAP_PATH_MAX];
	struct unwind_source src = {.pid = p->pid,
				    .start = map.start,
				    .end = map.end,
				    .ino = m->ino,
				    .dev = map_event_dev(m),
				    .path = path,
				    .work = &p->work};
	int err;

	if (!maps)
		return -ENOMEM;
	if (map.end <= map.start || maps->n >= UNWIND_MAPS_MAX) {
		ps->stats.n_refused++;
		return 0;
	}
	snprintf(path, sizeof(path), "%.*s", (int)m->path_len, m->path);
	err = unwind_file_get(ps->files, &map.file, &src, now_ns);
	if (err == -ENOMEM)
		return err;
	map.pending = err != 0;
	if (err == -EDQUOT && !p->too_much) {
		p->too_much = 1;
		ps->stats.n_too_much++;
	}
	map.is_probe = !strcmp(path, "[uprobes]");
	map.anon = anon_of(path);
	if (map.file && !*path)
		map.offset = 0; /* the rows of JIT code begin with the mapping */
	err = put_map(maps, &map);
	if (err)
		unwind_file_put(map.file);
	maps->stale = 1;
	set_dirty(ps, p);
	return err;
}

int unwind_procs_map(struct unwind_procs *ps, const struct code_map *m, uint64_t boot_ns)
{
	struct proc *p = find_proc(ps, m->pid);

	if (!p) /* older than the capture: it has other mappings, too */
		return unwind_procs_scan(ps, m->pid, boot_ns);
	if (boot_ns < p->since_ns)
		return 0;
	return map_code(ps, p, m, boot_ns);
}

static int restart_proc(struct unwind_procs *ps, uint32_t pid, struct maps *maps, uint64_t boot_ns)
{
	struct proc *p = get_proc(ps, pid);

	if (!p) {
		maps_put(ps, maps, boot_ns);
		return -ENOMEM;
	}
	maps_put(ps, p->maps, boot_ns);
	p->maps = maps;
	p->since_ns = boot_ns;
	p->exit_ns = 0;
	set_dirty(ps, p);
	return 0;
}

/* Copies the mappings of @from that are not older than @ns. Returns 0 or -ENOMEM. */
static int copy_newer(struct maps *to, const struct maps *from, uint64_t ns)
{
	for (size_t i = 0; i < from->n; i++) {
		if (from->v[i].ns < ns)
			continue;
		if (maps_room(to, 1))
			return -ENOMEM;
		unwind_file_ref(from->v[i].file);
		insert_at(to, to->n, &from->v[i]);
	}
	return 0;
}

/* A record from another CPU: later mappings may have come before it. */
int unwind_procs_exec(struct unwind_procs *ps, uint32_t pid, uint64_t boot_ns)
{
	const struct proc *p = find_proc(ps, pid);
	struct maps *maps;

	if (p && boot_ns < p->since_ns)
		return 0;
	maps = maps_new();
	if (!maps || (p && p->maps && copy_newer(maps, p->maps, boot_ns))) {
		maps_put(ps, maps, boot_ns);
		return -ENOMEM;
	}
	return restart_proc(ps, pid, maps, boot_ns);
}

int unwind_procs_fork(struct unwind_procs *ps, uint32_t pid, uint32_t parent, uint64_t boot_ns)
{
	const struct proc *from = find_proc(ps, parent);
	struct proc *p = find_proc(ps, pid);
	int err;

	if (p && boot_ns < p->since_ns)
		return 0;
	if (!from || !from->maps)
		return unwind_procs_scan(ps, pid, boot_ns);
	from->maps->refs++;
	err = restart_proc(ps, pid, from->maps, boot_ns);
	p = find_proc(ps, pid);
	if (!err && p && from->work < p->work)
		p->work = from->work;
	return err;
}

void unwind_procs_exit(struct unwind_procs *ps, uint32_t pid, uint64_t boot_ns)
{
	struct proc *p = find_proc(ps, pid);

	if (p && boot_ns >= p->since_ns)
		p->exit_ns = boot_ns;
}

int unwind_procs_scan(struct unwind_procs *ps, uint32_t pid, uint64_t boot_ns)
{
	struct proc_maps r;
	struct code_map m;
	struct maps *maps;
	int err;

	if (proc_maps_open(&r, pid))
		return 0; /* it has ended */
	maps = maps_new();
	err = maps ? 0 : -ENOMEM;
	while (!err && proc_maps_next(&r, &m)) {
		if (!find_proc(ps, pid) || find_proc(ps, pid)->since_ns != boot_ns) {
			err = restart_proc(ps, pid, maps, boot_ns);
			maps = NULL;
		}
		err = err ?: map_code(ps, find_proc(ps, pid), &m, boot_ns);
	}
	if (maps) /* a kernel thread, which has none */
		maps_put(ps, maps, boot_ns);
	proc_maps_close(&r);
	return err;
}

/* ---- as the driver has it ---- */

/* Returns the interpreter of a mapping's file, if its loop is in this mapping; NULL: none. */
static const struct interp_file *interp_in(const struct map *m)
{
	const struct interp_file *f = m->file ? unwind_file_interp(m->file) : NULL;

	return f && f->n_loop &&
			       (f->loop[0].from < m->offset ||
				f->loop[0].from - m->offset >= m->end - m->start)
		       ? NULL
		       : f;
}

/* The mapping whose interpreter the driver has, by walker: the first one, which is that of the
 * program itself rather than that of a library. Another copy has native frames. NULL: none. */
struct described {
	const struct map *of[STACK_WALKER_ROOM];
};

static void find_described(struct described *d, const struct maps *m)
{
	*d = (struct described){0};
	for (size_t i = 0; i < m->n; i++) {
		const struct interp_file *f = interp_in(&m->v[i]);

		if (f && !d->of[f->process.walker])
			d->of[f->process.walker] = &m->v[i];
	}
}

/* Returns the interpreter of a mapping's file, if it is that which the driver has. V8 maps its
 * builtins once more, elsewhere. */
static const struct interp_file *interp_of(const struct described *d, const struct map *m)
{
	const struct interp_file *f = m->file ? unwind_file_interp(m->file) : NULL;
	const struct map *first = f ? d->of[f->process.walker] : NULL;

	return first && first->file == m->file ? f : NULL;
}

/* Writes @e, cut where the loop of an interpreter begins and ends. Returns the number of entries.
 */
static size_t write_cut(struct unwind_map *to, struct unwind_map e, const struct described *d,
			const struct map *m)
{
	const struct interp_file *interp = interp_of(d, m);
	const uint64_t end = e.end, base = m->start - m->offset;
	size_t n = 0;

	for (size_t i = 0; interp && i < interp->n_loop; i++) {
		const uint64_t from = base + interp->loop[i].from, till = base + interp->loop[i].to;

		if (till <= e.start || from >= end)
			continue;
		if (from > e.start) {
			e.end = from;
			if (to)
				to[n] = e;
			n++;
			e.start = from;
		}
		e.end = till < end ? till : end;
		e.walker = (uint16_t)interp->process.walker;
		if (to)
			to[n] = e;
		n++;
		e.walker = 0;
		e.start = e.end;
	}
	e.end = end;
	if (e.start == e.end)
		return n;
	if (to)
		to[n] = e;
	return n + 1;
}

/* Returns the interpreter of code that the process has made; NULL: none. */
static const struct interp_process *jit_of(const struct maps *m, const struct described *d)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct interp_file *f = interp_of(d, &m->v[i]);

		if (f && f->process.has_jit)
			return &f->process;
	}
	return NULL;
}

/* Writes the entries of one mapping, one for each part of its table; only counts them if @to is
 * NULL. @jit: see jit_of. */
static size_t write_map(struct unwind_map *to, const struct described *d, const struct map *m,
			const struct interp_process *jit)
{
	const struct unwind_piece *v = NULL;
	const int n = m->file ? unwind_file_pieces(m->file, &v) : 0;
	struct unwind_map e = {
		.start = m->start, .end = m->end, .bias = (uint32_t)(m->start - m->offset)};
	size_t written = 0;

	if (m->pending || n < 0)
		e.flags = UNWIND_MAP_F_NO_TABLE;
	if (m->is_probe) {
		e.flags = UNWIND_MAP_F_PROBE;
		e.start--; /* a function returns to its first byte, which is looked up one byte
			      before */
	}
	for (int i = 0; i < n; i++) {
		/* The part of the mapping that this part of the table covers. */
		const uint64_t from = i && v[i].from > m->offset ? v[i].from - m->offset : 0;
		const uint64_t to_off = i + 1 < n ? v[i + 1].from : UINT64_MAX;

		if (to_off <= m->offset || from >= m->end - m->start)
			continue;
		e.start = m->start + from;
		e.end = to_off - m->offset < m->end - m->start ? m->start + (to_off - m->offset)
							       : m->end;
		e.rows = v[i].place;
		e.n_rows = v[i].n;
		e.first_page = v[i].first_page;
		e.n_pages = (uint16_t)v[i].n_pages;
		e.shift = (uint8_t)v[i].shift;
		written += write_cut(to ? to + written : NULL, e, d, m);
	}
	if (written)
		return written;
	if (jit && (jit->has_jit == INTERP_JIT_SHARED ? m->anon == INTERP_JIT_SHARED : !!m->anon))
		e.walker = (uint16_t)jit->walker;
	if (to)
		*to = e;
	return 1;
}

static size_t count_entries(const struct maps *m, const struct described *d)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++)
		n += write_map(NULL, d, &m->v[i], NULL);
	return n;
}

/* Writes the current mappings to a new place. */
static int write_maps(struct unwind_procs *ps, struct maps *m, uint64_t now_ns)
{
	const struct interp_process *jit;
	struct described d;
	struct unwind_map *to;
	int64_t place;
	size_t n;

	find_described(&d, m);
	n = count_entries(m, &d);
	jit = jit_of(m, &d);
	unwind_pool_release(ps->pool, m->place, m->words, now_ns);
	m->words = m->n_written = 0;
	if (!n)
		return 0;
	if (n > UNWIND_MAPS_MAX)
		return -E2BIG;
	place = unwind_pool_alloc(ps->pool, (uint32_t)n * UNWIND_MAP_WORDS);
	if (place < 0)
		return (int)place;
	to = (struct unwind_map *)unwind_pool_at(ps->pool, (uint32_t)place);
	for (size_t i = 0; i < m->n; i++)
		to += write_map(to, &d, &m->v[i], jit);
	m->place = (uint32_t)place;
	m->words = (uint32_t)n * UNWIND_MAP_WORDS;
	m->n_written = (uint32_t)n;
	return 0;
}

/* Returns a file whose table needs room; NULL: none. */
static struct unwind_file *file_needing_room(const struct maps *m)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->v[i].file && unwind_file_needs_room(m->v[i].file))
			return m->v[i].file;
	return NULL;
}

/* Tries again when other processes have ended. */
static void refuse(struct unwind_procs *ps, struct proc *p)
{
	ps->stats.n_refused += !p->counted;
	p->counted = 1;
	p->refused = ps->refused = 1;
}

/* Writes what the driver needs to walk the interpreters of @p. */
static void publish_interps(struct unwind_procs *ps, struct proc *p)
{
	struct described d = {0};
	u32 seen = 0;

	if (ps->interp_map >= 0)
		find_described(&d, p->maps);
	for (u32 i = 0; i < STACK_WALKER_ROOM; i++) {
		const struct map *m = d.of[i];
		const struct interp_file *f = m ? interp_in(m) : NULL;
		struct interp_process process;
		struct interp_key key = {.pid = p->pid};

		if (!f)
			continue;
		process = f->process;
		process.root += m->start - m->offset - f->delta;
		key.walker = process.walker;
		if (!bpf_map_update_elem(ps->interp_map, &key, &process, BPF_ANY))
			seen |= 1u << process.walker;
		else
			refuse(ps, p);
	}
	p->interps |= seen;
	drop_interps(ps, p, seen);
}

static void publish(struct unwind_procs *ps, struct proc *p, uint64_t now_ns)
{
	struct maps *m = p->maps;

	p->dirty = 0;
	ps->n_dirty--;
	/* Shared mappings were written with the first process. */
	if ((!m->words || m->stale) && write_maps(ps, m, now_ns))
		refuse(ps, p);
	m->stale = 0;
	ps->no_room |= file_needing_room(m) != NULL;
	if (++ps->gen == 0)
		ps->gen = 1;
	p->entry = (struct unwind_process){
		.gen = ps->gen, .maps = m->place, .n_maps = m->n_written, .gen_end = ps->gen};
	p->n_walks = 0; /* the driver counts from 0 */
	publish_interps(ps, p);
	if (ps->map < 0)
		return;
	/* Write the words before the entry that refers to them. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!m->n_written)
		bpf_map_delete_elem(ps->map, &p->pid);
	else if (bpf_map_update_elem(ps->map, &p->pid, &p->entry, BPF_ANY))
		ps->stats.n_refused++;
}

void unwind_procs_publish(struct unwind_procs *ps, uint64_t boot_ns)
{
	unwind_pool_settle(ps->pool, boot_ns);
	for (size_t i = 0; ps->n_dirty && i < BUCKETS; i++)
		for (struct proc *p = ps->buckets[i]; p; p = p->next)
			if (p->dirty)
				publish(ps, p, boot_ns);
}

/* ---- room ---- */

/* Marks files of processes whose stacks were walked since the last call. */
static void note_used(struct unwind_procs *ps, uint64_t now_ns)
{
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct proc *p = ps->buckets[i]; p; p = p->next) {
			struct unwind_process e = p->entry;

			p->sampled = ps->map >= 0 && !bpf_map_lookup_elem(ps->map, &p->pid, &e) &&
				     e.n_walks != p->n_walks;
			if (!p->sampled)
				continue;
			p->n_walks = e.n_walks;
			for (size_t k = 0; k < p->maps->n; k++)
				if (p->maps->v[k].file)
					unwind_file_used(p->maps->v[k].file, now_ns);
		}
	}
}

/* Returns the process whose turn it is: the newest sampled one, else the newest of all. NULL: none
 * needs room. */
static struct proc *next_needing_room(const struct unwind_procs *ps)
{
	struct proc *found = NULL;

	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct proc *p = ps->buckets[i]; p; p = p->next) {
			const int later = found && (p->sampled != found->sampled
							    ? !p->sampled
							    : p->since_ns <= found->since_ns);

			if (!later && file_needing_room(p->maps))
				found = p;
		}
	}
	return found;
}

static void rewrite_all(struct unwind_procs *ps, uint64_t now_ns)
{
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct proc *p = ps->buckets[i]; p; p = p->next) {
			p->maps->stale = 1;
			set_dirty(ps, p);
		}
	}
	unwind_procs_publish(ps, now_ns);
}

/* Evicts as much as the file needs, since free room may be fragmented. Returns not 0, with nothing
 * evicted, if all that may be evicted is too little. */
static int evict_for(struct unwind_procs *ps, struct unwind_file *file, uint64_t now_ns)
{
	const size_t before = unwind_pool_used(ps->pool);
	const size_t need = unwind_file_sz(file);
	int used = 0, got = 0;

	if (unwind_files_room(ps->files) + unwind_files_evictable(ps->files, file) < need) {
		unwind_file_stop_retrying(file);
		return -ENOSPC;
	}
	while (got >= 0 && before - unwind_pool_used(ps->pool) < need) {
		got = unwind_files_evict(ps->files, file, now_ns);
		used |= got > 0;
	}
	unwind_files_reserve(ps->files, file);
	if (used)
		rewrite_all(ps, now_ns);
	return 0;
}

int unwind_procs_make_room(struct unwind_procs *ps, uint64_t boot_ns)
{
	struct proc *p;

	if (!ps->no_room)
		return 0;
	if (ps->made_room_ns && boot_ns - ps->made_room_ns < UNWIND_RETRY_MS * 1000000ull)
		return 1;
	if (ps->made_room_ns) {
		/* Its room is available now; the next one's is made once this has its table. */
		ps->made_room_ns = 0;
		unwind_procs_scan(ps, ps->room_pid, boot_ns);
		unwind_files_reserve(ps->files, NULL);
		unwind_procs_publish(ps, boot_ns);
		return 1;
	}
	note_used(ps, boot_ns);
	/* The search takes time if there are many. */
	for (int i = 0; i < MAKE_ROOM_TRIES; i++) {
		p = next_needing_room(ps);
		if (!p) {
			ps->no_room = 0;
			return 0;
		}
		if (!evict_for(ps, file_needing_room(p->maps), boot_ns)) {
			ps->made_room_ns = boot_ns;
			ps->room_pid = p->pid;
			return 1;
		}
	}
	return 1;
}

/* ---- ends ---- */

/* Tables that did not fit may fit now. */
static void retry_refused(struct unwind_procs *ps)
{
	ps->no_room |= unwind_files_retry_all(ps->files);
	for (size_t i = 0; ps->refused && i < BUCKETS; i++) {
		for (struct proc *p = ps->buckets[i]; p; p = p->next) {
			if (p->refused)
				set_dirty(ps, p);
			p->refused = 0;
		}
	}
	ps->refused = 0;
}

void unwind_procs_sweep(struct unwind_procs *ps, uint64_t boot_ns)
{
	const size_t before = ps->n;
	char path[32];

	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct proc *p = ps->buckets[i], *next; p; p = next) {
			next = p->next;
			if (!p->exit_ns || boot_ns - p->exit_ns < LINGER_NS)
				continue;
			snprintf(path, sizeof(path), "/proc/%u", p->pid);
			if (access(path, F_OK))
				drop_proc(ps, p, boot_ns);
		}
	}
	if (ps->n < before || ps->refused)
		retry_refused(ps);
}

int unwind_procs_has(const struct unwind_procs *ps, uint32_t pid)
{
	return find_proc(ps, pid) != NULL;
}

int unwind_procs_find(const struct unwind_procs *ps, struct unwind_process *out, uint32_t pid)
{
	const struct proc *p = find_proc(ps, pid);

	if (!p || !p->entry.n_maps)
		return -ENOENT;
	*out = p->entry;
	return 0;
}

int unwind_procs_at(struct unwind_map *to, size_t max, const struct unwind_procs *ps, uint32_t pid,
		    uint64_t boot_ns)
{
	const struct proc *p = find_proc(ps, pid);
	struct described d;
	size_t n = 0;

	if (!p)
		return -ENOENT;
	if (boot_ns < p->since_ns)
		return -ESRCH;
	find_described(&d, p->maps);
	for (size_t i = 0; i < p->maps->n; i++) {
		const struct map *m = &p->maps->v[i];

		if (m->ns > boot_ns)
			continue;
		if (write_map(NULL, &d, m, NULL) > max - n)
			return -E2BIG;
		n += write_map(to + n, &d, m, NULL);
	}
	return (int)n;
}

void unwind_procs_stats(const struct unwind_procs *ps, struct unwind_procs_stats *st)
{
	*st = ps->stats;
	st->n = ps->n;
	for (size_t i = 0; i < BUCKETS; i++)
		for (const struct proc *p = ps->buckets[i]; p; p = p->next)
			st->n_maps += p->maps->n;
}
