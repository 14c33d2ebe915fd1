/* SPDX-License-Identifier: Apache-2.0 */
/* The thread table, by TID, and the ring of ended threads. */
#include "thread_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"

_Static_assert(sizeof(struct sinsp_thread) + sizeof(struct sinsp_process) +
			       sizeof(struct sinsp_fs) + 2 * sizeof(struct sinsp_thread_slot) <=
		       1024,
	       "a thread takes at most 1 KiB");

struct sinsp_saved_enter {
	uint8_t is_big; /* from malloc instead of the slab */
	uint8_t is_written; /* a file has it */
	uint8_t evt[] __attribute__((aligned(8)));
};

#define SAVED_SZ 512

int sinsp_threads_init(struct sinsp_threads *tt)
{
	memset(tt, 0, sizeof(*tt));
	sinsp_slab_init(&tt->threads, sizeof(struct sinsp_thread));
	sinsp_slab_init(&tt->procs, sizeof(struct sinsp_process));
	sinsp_slab_init(&tt->fses, sizeof(struct sinsp_fs));
	sinsp_slab_init(&tt->saved, SAVED_SZ);
	sinsp_slab_init(&tt->cpu_uses, sizeof(struct sinsp_cpu_use));
	sinsp_fd_mem_init(&tt->fds, &tt->strings);
	tt->seed = scap_hash_seed(tt);
	tt->n_slots = 1024;
	tt->slots = calloc(tt->n_slots, sizeof(*tt->slots));
	tt->no_files = sinsp_files_new();
	if (!tt->slots || !tt->no_files)
		return -ENOMEM;
	return sinsp_strings_init(&tt->strings)
		       ?: sinsp_containers_init(&tt->containers, &tt->strings);
}

void sinsp_threads_fini(struct sinsp_threads *tt)
{
	for (uint32_t i = 0; tt->slots && i < tt->n_slots; i++) {
		struct sinsp_thread *t = tt->slots[i].t;

		if (!t)
			continue;
		sinsp_thread_drop_enter(tt, t);
		sinsp_files_put(&tt->fds, t->files);
	}
	free(tt->slots);
	for (uint32_t i = 0; i < SINSP_DEAD_MAX; i++)
		if (tt->dead[i].t)
			sinsp_files_put(&tt->fds, tt->dead[i].t->files);
	sinsp_files_put(&tt->fds, tt->no_files);
	sinsp_slab_fini(&tt->threads);
	sinsp_slab_fini(&tt->procs);
	sinsp_slab_fini(&tt->fses);
	sinsp_slab_fini(&tt->saved);
	sinsp_slab_fini(&tt->cpu_uses);
	sinsp_fd_mem_fini(&tt->fds);
	sinsp_containers_fini(&tt->containers);
	sinsp_strings_fini(&tt->strings);
	memset(tt, 0, sizeof(*tt));
}

static uint32_t home_of(const struct sinsp_threads *tt, int64_t tid)
{
	return (uint32_t)scap_hash_number(tt->seed, (uint64_t)tid) & (tt->n_slots - 1);
}

struct sinsp_thread *sinsp_threads_lookup(struct sinsp_threads *tt, int64_t tid)
{
	uint32_t mask = tt->n_slots - 1;

	for (uint32_t i = home_of(tt, tid); tt->slots[i].t; i = (i + 1) & mask) {
		if (tt->slots[i].tid != tid)
			continue;
		tt->last_tid = tid;
		tt->last = tt->slots[i].t;
		return tt->last;
	}
	return NULL;
}

static void fill_slot(struct sinsp_threads *tt, struct sinsp_thread *t)
{
	uint32_t i = home_of(tt, t->tid);

	while (tt->slots[i].t)
		i = (i + 1) & (tt->n_slots - 1);
	tt->slots[i].tid = t->tid;
	tt->slots[i].t = t;
}

static int make_room(struct sinsp_threads *tt)
{
	struct sinsp_thread_slot *old = tt->slots, *slots;
	uint32_t n_old = tt->n_slots;

	if (tt->n < n_old / 2)
		return 1;
	if (tt->n >= SINSP_THREADS_MAX)
		return 0;
	slots = calloc((size_t)n_old * 2, sizeof(*slots));
	if (!slots)
		return 0;
	tt->slots = slots;
	tt->n_slots = n_old * 2;
	for (uint32_t i = 0; i < n_old; i++)
		if (old[i].t)
			fill_slot(tt, old[i].t);
	free(old);
	return 1;
}

static void remove_from_table(struct sinsp_threads *tt, int64_t tid)
{
	uint32_t mask = tt->n_slots - 1, i = home_of(tt, tid), j;

	while (tt->slots[i].tid != tid || !tt->slots[i].t)
		i = (i + 1) & mask;
	/* Close the gap, so that no search ends early. */
	for (j = i;;) {
		tt->slots[i].t = NULL;
		do {
			j = (j + 1) & mask;
			if (!tt->slots[j].t)
				goto out;
		} while (((j - home_of(tt, tt->slots[j].tid)) & mask) < ((j - i) & mask));
		tt->slots[i] = tt->slots[j];
		i = j;
	}
out:
	tt->n--;
	tt->last = NULL;
}

static void drop_shared(struct sinsp_threads *tt, struct sinsp_thread *t)
{
	sinsp_files_put(&tt->fds, t->files);
	sinsp_fs_put(&tt->fses, &tt->strings, t->fs);
}

static struct sinsp_process *join_process(struct sinsp_threads *tt, int64_t tid, int64_t pid,
					  struct sinsp_thread **main)
{
	*main = NULL;
	if (tid == pid)
		return sinsp_process_new(&tt->procs, &tt->strings, pid);
	*main = sinsp_threads_find(tt, pid);
	if (!*main)
		*main = sinsp_threads_add_stand_in(tt, pid);
	return *main ? (*main)->proc : NULL;
}

struct sinsp_thread *sinsp_threads_add(struct sinsp_threads *tt, int64_t tid, int64_t pid,
				       int share_files)
{
	struct sinsp_thread *t, *main;
	struct sinsp_process *p;

	if (!make_room(tt) || !(p = join_process(tt, tid, pid, &main)) || !make_room(tt)) {
		tt->n_refused++;
		return NULL;
	}
	t = sinsp_slab_get(&tt->threads);
	if (!t)
		goto fail;
	t->files = main && share_files ? sinsp_files_ref(main->files) : sinsp_files_new();
	t->fs = main ? sinsp_fs_ref(main->fs) : sinsp_fs_new(&tt->fses, &tt->strings);
	if (!t->files || !t->fs) {
		drop_shared(tt, t);
		sinsp_slab_put(&tt->threads, t);
		goto fail;
	}
	t->tid = t->vtid = tid;
	t->pid = t->vpid = pid;
	t->ptid = -1;
	t->uid = t->gid = UINT32_MAX;
	t->enter_fd = -1;
	t->enter_type = SINSP_NO_TYPE;
	t->comm = sinsp_str_get(&tt->strings, "<NA>", 4);
	t->proc = p;
	t->sibling = p->threads;
	if (t->sibling)
		t->sibling->prev_sibling = t;
	p->threads = t;
	p->n_threads++;
	fill_slot(tt, t);
	tt->n++;
	return t;
fail:
	if (!main)
		sinsp_process_free(&tt->procs, &tt->strings, p);
	tt->n_refused++;
	return NULL;
}

struct sinsp_thread *sinsp_threads_add_stand_in(struct sinsp_threads *tt, int64_t tid)
{
	struct sinsp_thread *t = sinsp_threads_add(tt, tid, tid, 0);

	if (t)
		sinsp_str_set(&tt->strings, &t->proc->exe, "<NA>", 4);
	return t;
}

static void unlink_from_process(struct sinsp_thread *t)
{
	*(t->prev_sibling ? &t->prev_sibling->sibling : &t->proc->threads) = t->sibling;
	if (t->sibling)
		t->sibling->prev_sibling = t->prev_sibling;
	t->sibling = t->prev_sibling = NULL;
	t->proc->n_threads--;
}

static void remove_thread(struct sinsp_threads *tt, struct sinsp_thread *t)
{
	unlink_from_process(t);
	remove_from_table(tt, t->tid);
	sinsp_thread_drop_enter(tt, t);
}

static void release_thread(struct sinsp_threads *tt, struct sinsp_thread *t)
{
	drop_shared(tt, t);
	sinsp_str_put(&tt->strings, t->comm);
	if (t->cpu_use)
		sinsp_slab_put(&tt->cpu_uses, t->cpu_use);
	sinsp_slab_put(&tt->threads, t);
}

static void free_thread(struct sinsp_threads *tt, struct sinsp_thread *t)
{
	remove_thread(tt, t);
	release_thread(tt, t);
}

/* Frees a process without threads. */
static void put_process(struct sinsp_threads *tt, struct sinsp_process *p)
{
	if (p->threads || p->n_dead)
		return;
	sinsp_container_put(&tt->containers, p->container);
	sinsp_process_free(&tt->procs, &tt->strings, p);
}

static void drop_dead(struct sinsp_threads *tt, struct sinsp_thread_slot *slot)
{
	struct sinsp_thread *t = slot->t;
	struct sinsp_process *p;

	if (!t)
		return;
	slot->t = NULL;
	p = t->proc;
	release_thread(tt, t);
	p->n_dead--;
	put_process(tt, p);
}

/* Moves a thread from the table to the dead, in place of the oldest one. */
static void move_to_dead(struct sinsp_threads *tt, struct sinsp_thread *t)
{
	struct sinsp_thread_slot *slot = &tt->dead[tt->n_dead++ % SINSP_DEAD_MAX];
	struct sinsp_files *files = t->files;

	t->proc->n_dead++; /* before the next line, whose thread may be of the same process */
	drop_dead(tt, slot);
	remove_thread(tt, t);
	t->files = sinsp_files_ref(tt->no_files);
	*slot = (struct sinsp_thread_slot){t->tid, t};
	sinsp_files_put(&tt->fds, files); /* what ends with its sockets finds it among the dead */
}

/* Finds an ended thread, the latest first: a TID may be there twice. */
struct sinsp_thread *sinsp_threads_find_dead(const struct sinsp_threads *tt, int64_t tid)
{
	for (uint32_t i = 1; i <= SINSP_DEAD_MAX; i++) {
		const struct sinsp_thread_slot *x = &tt->dead[(tt->n_dead - i) % SINSP_DEAD_MAX];

		if (!x->t)
			return NULL;
		if (x->tid == tid)
			return x->t;
	}
	return NULL;
}

void sinsp_threads_drop_dead(struct sinsp_threads *tt)
{
	for (uint32_t i = 0; i < SINSP_DEAD_MAX; i++)
		drop_dead(tt, &tt->dead[i]);
}

static void set_parent(struct sinsp_process *p, struct sinsp_thread *parent)
{
	for (struct sinsp_thread *t = p->threads; t; t = t->sibling)
		t->ptid = parent->tid;
	parent->has_children = 1;
}

static void reparent_children(struct sinsp_threads *tt, struct sinsp_process *p, int64_t reaper)
{
	struct sinsp_thread *r = p->children ? sinsp_threads_find(tt, reaper) : NULL;
	struct sinsp_process *to = r && r->proc != p ? r->proc : NULL;

	while (p->children) {
		struct sinsp_process *c = p->children;

		/* Without a reaper children keep the PID of the ended parent: files of 2022 have no
		 * other. */
		if (to)
			set_parent(c, r);
		sinsp_process_adopt(c, to);
	}
}

/* Reparents the children that @t created itself; its process continues. */
static void reparent_own_children(struct sinsp_threads *tt, struct sinsp_thread *t, int64_t reaper)
{
	struct sinsp_thread *to = sinsp_threads_find(tt, reaper);

	if (!t->has_children)
		return;
	if (!to || to->proc != t->proc || to == t)
		to = sinsp_threads_find(tt, t->pid);
	for (struct sinsp_process *c = t->proc->children; c && to; c = c->next_child)
		if (c->threads && c->threads->ptid == t->tid)
			set_parent(c, to);
}

typedef void (*unlink_fn)(struct sinsp_threads *tt, struct sinsp_thread *t);

static void end_process(struct sinsp_threads *tt, struct sinsp_process *p, int64_t reaper,
			unlink_fn unlink_thread)
{
	reparent_children(tt, p, reaper);
	sinsp_process_adopt(p, NULL);
	while (p->threads)
		unlink_thread(tt, p->threads);
	put_process(tt, p);
}

void sinsp_threads_end(struct sinsp_threads *tt, struct sinsp_thread *t, int64_t reaper)
{
	struct sinsp_process *p = t->proc;

	if (t->tid == t->pid && (t->sibling || p->threads != t)) {
		t->exited = 1;
		return;
	}
	if (!t->sibling && p->threads == t) {
		end_process(tt, p, reaper, move_to_dead);
		return;
	}
	reparent_own_children(tt, t, reaper);
	move_to_dead(tt, t);
	if (p->threads->exited && !p->threads->sibling)
		end_process(tt, p, reaper, move_to_dead);
}

void sinsp_threads_replace(struct sinsp_threads *tt, struct sinsp_thread *t)
{
	struct sinsp_process *p = t->proc;

	if (t->tid == t->pid || (p->threads == t && !t->sibling))
		end_process(tt, p, -1, free_thread);
	else
		free_thread(tt, t);
}

void sinsp_threads_end_siblings(struct sinsp_threads *tt, struct sinsp_thread *t)
{
	struct sinsp_thread *x = t->proc->threads;

	while (x) {
		struct sinsp_thread *next = x->sibling;

		if (x != t)
			free_thread(tt, x);
		x = next;
	}
	t->exited = 0;
}

void sinsp_threads_note_end(struct sinsp_threads *tt, int64_t tid, uint64_t ns)
{
	tt->ended[tt->n_ended++ % SINSP_ENDED_MAX] = (struct sinsp_ended){tid, ns};
}

int sinsp_threads_has_ended(const struct sinsp_threads *tt, int64_t tid, uint64_t since_ns)
{
	for (uint32_t i = 1; i <= SINSP_ENDED_MAX; i++) {
		const struct sinsp_ended *x = &tt->ended[(tt->n_ended - i) % SINSP_ENDED_MAX];

		if (x->ns < since_ns || !x->ns)
			return 0;
		if (x->tid == tid)
			return 1;
	}
	return 0;
}

void sinsp_thread_save_enter(struct sinsp_threads *tt, struct sinsp_thread *t,
			     const struct ppm_evt_hdr *evt)
{
	size_t sz = offsetof(struct sinsp_saved_enter, evt) + evt->len;
	int is_big = sz > SAVED_SZ;

	sinsp_thread_drop_enter(tt, t);
	t->saved = is_big ? malloc(sz) : sinsp_slab_get(&tt->saved);
	if (!t->saved)
		return;
	t->saved->is_big = is_big;
	t->saved->is_written = 0;
	memcpy(t->saved->evt, evt, evt->len);
}

const struct ppm_evt_hdr *sinsp_thread_saved_enter(const struct sinsp_thread *t)
{
	return t->saved ? (const struct ppm_evt_hdr *)t->saved->evt : NULL;
}

struct sinsp_saved_enter *sinsp_thread_take_saved(struct sinsp_thread *t)
{
	struct sinsp_saved_enter *saved = t->saved;

	t->saved = NULL;
	return saved;
}

void sinsp_thread_note_written(struct sinsp_thread *t)
{
	if (t->saved)
		t->saved->is_written = 1;
}

int sinsp_saved_is_written(const struct sinsp_saved_enter *saved)
{
	return saved->is_written;
}

void sinsp_saved_free(struct sinsp_threads *tt, struct sinsp_saved_enter *saved)
{
	if (saved && !saved->is_big)
		sinsp_slab_put(&tt->saved, saved);
	else
		free(saved);
}

void sinsp_thread_free_enter(struct sinsp_threads *tt, struct sinsp_thread *t)
{
	sinsp_saved_free(tt, sinsp_thread_take_saved(t));
}

void sinsp_thread_set_comm(struct sinsp_threads *tt, struct sinsp_thread *t, const char *p,
			   size_t len)
{
	sinsp_str_set(&tt->strings, &t->comm, p, len);
	if (t->tid == t->pid)
		sinsp_str_set(&tt->strings, &t->proc->name, p, len);
}

const char *sinsp_thread_proc_name(const struct sinsp_thread *t)
{
	return *t->proc->name ? t->proc->name : t->comm;
}

void sinsp_process_set_cgroups(struct sinsp_threads *tt, struct sinsp_process *p, const char *text,
			       size_t len)
{
	struct sinsp_container *old = p->container;

	sinsp_str_set(&tt->strings, &p->cgroups, text, len);
	p->container = sinsp_containers_by_cgroups(&tt->containers, p->cgroups);
	sinsp_container_put(&tt->containers, old);
}
