/* SPDX-License-Identifier: Apache-2.0 */
/* A state under construction: arrays of fixed-size entries, and one arena for all text. Chunks of
 * the arena never move, so pointers into it stay valid. */
#include "procfs/state_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_SZ (64 * 1024)

struct chunk {
	struct chunk *next;
	size_t used, sz;
	char bytes[];
};

/* A file before it is assigned to its thread. */
struct fd_entry {
	uint64_t tid;
	size_t seq; /* equal keys keep their order */
	struct scap_fd_info info;
	int taken; /* by the first thread with this TID */
};

struct array {
	void *v;
	size_t n, cap;
};

struct scap_state_build {
	struct chunk *chunks;
	struct array threads; /* struct scap_thread_info */
	struct array fds; /* struct fd_entry */
	struct array users, groups, ifaces, turns;
	struct scap_fd_info *tied; /* what threads[].fds points into: room for as many as fds has */
	struct scap_machine machine;
	struct scap_state state;
};

struct scap_state_build *scap_state_build_new(void)
{
	return calloc(1, sizeof(struct scap_state_build));
}

void scap_state_build_free(struct scap_state_build *b)
{
	if (!b)
		return;
	for (struct chunk *c = b->chunks, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	free(b->threads.v);
	free(b->fds.v);
	free(b->users.v);
	free(b->groups.v);
	free(b->ifaces.v);
	free(b->turns.v);
	free(b->tied);
	free(b);
}

static char *arena_alloc(struct scap_state_build *b, size_t len)
{
	struct chunk *c = b->chunks;
	size_t sz = len > CHUNK_SZ ? len : CHUNK_SZ;
	char *p;

	if (!c || c->sz - c->used < len) {
		c = malloc(sizeof(*c) + sz);
		if (!c)
			return NULL;
		c->next = b->chunks;
		c->used = 0;
		c->sz = sz;
		b->chunks = c;
	}
	p = c->bytes + c->used;
	c->used += len;
	return p;
}

/* NULL becomes empty text; returns false without memory. */
static int keep_text(struct scap_state_build *b, const char **text)
{
	size_t len = *text ? strlen(*text) : 0;
	char *p;

	if (!len) {
		*text = "";
		return 1;
	}
	p = arena_alloc(b, len + 1);
	if (!p)
		return 0;
	memcpy(p, *text, len + 1);
	*text = p;
	return 1;
}

/* A NUL follows the list, whatever its last byte is. */
static int keep_list(struct scap_state_build *b, struct scap_text *list)
{
	char *p;

	if (!list->p || !list->len) {
		*list = (struct scap_text){"", 0};
		return 1;
	}
	p = arena_alloc(b, list->len + 1);
	if (!p)
		return 0;
	memcpy(p, list->p, list->len);
	p[list->len] = '\0';
	list->p = p;
	return 1;
}

/* Threads of a process follow one another with the same text: it is stored once. */
static int share_text(struct scap_state_build *b, const char **text, const char *last)
{
	if (!*text || !last || strcmp(*text, last))
		return keep_text(b, text);
	*text = last;
	return 1;
}

static int share_list(struct scap_state_build *b, struct scap_text *list, struct scap_text last)
{
	if (!list->p || !last.p || list->len != last.len || memcmp(list->p, last.p, last.len))
		return keep_list(b, list);
	*list = last;
	return 1;
}

static int append(struct array *a, const void *entry, size_t sz)
{
	if (a->n == a->cap) {
		size_t cap = a->cap ? a->cap * 2 : 64;
		void *v = realloc(a->v, cap * sz);

		if (!v)
			return -ENOMEM;
		a->v = v;
		a->cap = cap;
	}
	memcpy((char *)a->v + a->n * sz, entry, sz);
	a->n++;
	return 0;
}

/* Adds a file, and room for it among those that are tied to threads. */
static int append_fd(struct scap_state_build *b, const struct fd_entry *e)
{
	const size_t cap = b->fds.cap;
	int err = append(&b->fds, e, sizeof(*e));
	void *tied;

	if (err || b->fds.cap == cap)
		return err;
	tied = realloc(b->tied, b->fds.cap * sizeof(*b->tied));
	if (!tied) {
		b->fds.n--;
		b->fds.cap = cap; /* the next one asks again */
		return -ENOMEM;
	}
	b->tied = tied;
	return 0;
}

int scap_state_build_machine(struct scap_state_build *b, const struct scap_machine *m)
{
	b->machine = *m;
	b->machine.hostname[sizeof(b->machine.hostname) - 1] = '\0';
	return 0;
}

int scap_state_build_thread(struct scap_state_build *b, const struct scap_thread_info *thread)
{
	static const struct scap_thread_info none;
	const struct scap_thread_info *threads = b->threads.v;
	const struct scap_thread_info *last = b->threads.n ? &threads[b->threads.n - 1] : &none;
	struct scap_thread_info t = *thread;

	if (!share_text(b, &t.comm, last->comm) || !share_text(b, &t.exe, last->exe) ||
	    !share_text(b, &t.exepath, last->exepath) || !share_text(b, &t.cwd, last->cwd) ||
	    !share_text(b, &t.root, last->root) || !share_list(b, &t.args, last->args) ||
	    !share_list(b, &t.env, last->env) || !share_list(b, &t.cgroups, last->cgroups) ||
	    !keep_list(b, &t.so_far.enter))
		return -ENOMEM;
	t.fds = NULL;
	t.n_fds = 0;
	return append(&b->threads, &t, sizeof(t));
}

int scap_state_build_fd(struct scap_state_build *b, uint64_t tid, const struct scap_fd_info *fd)
{
	struct fd_entry e = {.tid = tid, .seq = b->fds.n, .info = *fd};

	if (!keep_text(b, &e.info.name) || !keep_text(b, &e.info.so_far.shown) ||
	    !keep_text(b, &e.info.so_far.given))
		return -ENOMEM;
	return append_fd(b, &e);
}

int scap_state_build_user(struct scap_state_build *b, const struct scap_user *user)
{
	struct scap_user u = *user;

	if (!keep_text(b, &u.name) || !keep_text(b, &u.home) || !keep_text(b, &u.shell))
		return -ENOMEM;
	return append(&b->users, &u, sizeof(u));
}

int scap_state_build_group(struct scap_state_build *b, const struct scap_group *group)
{
	struct scap_group g = *group;

	if (!keep_text(b, &g.name))
		return -ENOMEM;
	return append(&b->groups, &g, sizeof(g));
}

int scap_state_build_iface(struct scap_state_build *b, const struct scap_iface *iface)
{
	struct scap_iface i = *iface;

	if (!keep_text(b, &i.name))
		return -ENOMEM;
	return append(&b->ifaces, &i, sizeof(i));
}

int scap_state_build_turn(struct scap_state_build *b, const struct scap_turn *turn)
{
	return append(&b->turns, turn, sizeof(*turn));
}

/* Takes over all text of @from. */
static void take_chunks(struct scap_state_build *b, struct scap_state_build *from)
{
	struct chunk **end = &b->chunks;

	while (*end)
		end = &(*end)->next;
	*end = from->chunks;
	from->chunks = NULL;
}

static int join_threads(struct array *all, const struct array *ours, const struct array *theirs)
{
	const struct scap_thread_info *a = ours->v, *b = theirs->v;
	size_t i = 0, j = 0;
	int err = 0;

	while (!err && (i < ours->n || j < theirs->n)) {
		int is_ours = j == theirs->n || (i < ours->n && a[i].pid <= b[j].pid);

		err = append(all, is_ours ? &a[i++] : &b[j++], sizeof(*a));
	}
	return err;
}

int scap_state_build_join(struct scap_state_build *b, struct scap_state_build *from)
{
	const struct fd_entry *fds = from->fds.v;
	struct array threads = {0};
	int err = join_threads(&threads, &b->threads, &from->threads);

	take_chunks(b, from);
	if (err) {
		free(threads.v);
		return err;
	}
	free(b->threads.v);
	b->threads = threads;
	for (size_t i = 0; i < from->fds.n && !err; i++) {
		struct fd_entry e = fds[i];

		e.seq = b->fds.n;
		err = append_fd(b, &e);
	}
	return err;
}

static int by_thread(const void *a, const void *b)
{
	const struct fd_entry *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

/* Returns the first of the sorted files that belongs to @tid or to a higher one. */
static size_t first_fd(const struct array *fds, uint64_t tid)
{
	const struct fd_entry *v = fds->v;
	size_t lo = 0, hi = fds->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (v[mid].tid < tid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Of several threads with one TID only the first has the files: otherwise a small file could create
 * any number of them. */
static void tie_fds(struct scap_state_build *b)
{
	struct scap_thread_info *t = b->threads.v;
	struct fd_entry *e = b->fds.v;

	if (b->fds.n)
		qsort(e, b->fds.n, sizeof(*e), by_thread);
	for (size_t i = 0; i < b->fds.n; i++) {
		b->tied[i] = e[i].info;
		e[i].taken = 0;
	}
	for (size_t i = 0; i < b->threads.n; i++) {
		size_t first = first_fd(&b->fds, t[i].tid), last = first;

		while (last < b->fds.n && e[last].tid == t[i].tid && !e[last].taken)
			e[last++].taken = 1;
		t[i].fds = last > first ? b->tied + first : NULL;
		t[i].n_fds = last - first;
	}
}

const struct scap_state *scap_state_build_done(struct scap_state_build *b)
{
	tie_fds(b);
	b->state = (struct scap_state){
		.machine = b->machine,
		.threads = b->threads.v,
		.n_threads = b->threads.n,
		.users = b->users.v,
		.n_users = b->users.n,
		.groups = b->groups.v,
		.n_groups = b->groups.n,
		.ifaces = b->ifaces.v,
		.n_ifaces = b->ifaces.n,
		.turns = b->turns.v,
		.n_turns = b->turns.n,
	};
	return &b->state;
}
