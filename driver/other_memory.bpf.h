/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory of a process other than the current one. Only a program that may sleep can read it, and
 * only with the task at hand, which no walker has. So walkers read from copied pages: the first one
 * that is missing is noted and the walk fails, the program copies it, and the walk begins anew. The
 * thread waits meanwhile, so each walk goes the same way, one page further.
 */
#ifndef DRIVER_OTHER_MEMORY_BPF_H
#define DRIVER_OTHER_MEMORY_BPF_H

#include "compiler.bpf.h"
#include "maps.bpf.h"
#include "shared/interp.h"
#include "shared/user_walk.h"

#define OTHER_PAGES_BITS 10
#define OTHER_PAGES (1u << OTHER_PAGES_BITS) /* maximum number of pages of a walk */
#define OTHER_PROBES 8 /* slots where a page may be */
#define OTHER_PAGE_SZ 4096u

struct other_page {
	u64 at;
	u32 walk; /* user_walk.other; else the slot is free */
	u32 is_there; /* 0: the process has no such page */
	u8 bytes[OTHER_PAGE_SZ];
	u64 end; /* 0: behind a text that reaches the end of the page */
};

/* One program uses it at a time. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, OTHER_PAGES);
	__type(key, u32);
	__type(value, struct other_page);
} other_pages SEC(".maps");

/* Returns the number of the slot of the page at @at, or of one that is free for it; OTHER_PAGES:
 * neither. */
static __always_inline u32 other_slot(u32 walk, u64 at)
{
	const u32 first = at * 0x9e3779b97f4a7c15ull >> (64 - OTHER_PAGES_BITS);

	for (u32 i = 0; i < OTHER_PROBES; i++) {
		const u32 slot = (first + i) & (OTHER_PAGES - 1);
		const struct other_page *p = bpf_map_lookup_elem(&other_pages, &slot);

		if (!p || p->walk != walk || p->at == at)
			return slot;
	}
	return OTHER_PAGES;
}

/* The same, verified on its own. */
WALK_FUNC u32 other_slot_of(u32 walk, u64 at)
{
	return other_slot(walk, at);
}

/* Returns the page at @at; NULL: it is not there, or not copied yet, which is noted. */
static __always_inline struct other_page *other_page(struct user_walk *w, u64 at)
{
	const u32 slot = other_slot(w->other, at);
	struct other_page *p = bpf_map_lookup_elem(&other_pages, &slot);

	if (!p)
		return NULL;
	if (p->walk == w->other)
		return p->is_there ? p : NULL;
	w->missed = at;
	return NULL;
}

/* Copies the page that the walk missed; may sleep. Returns not 0 if there is no room for it. */
static __always_inline int other_copy(struct user_walk *w, struct task_struct *task)
{
	const u64 at = w->missed;
	const u32 slot = other_slot_of(w->other, at);
	struct other_page *p = bpf_map_lookup_elem(&other_pages, &slot);

	w->missed = 0;
	if (!p)
		return -1;
	p->at = at;
	p->walk = w->other;
	p->is_there = !bpf_copy_from_user_task(p->bytes, OTHER_PAGE_SZ, (void *)at, task, 0);
	return 0;
}

/* Reads w->read. Its numbers stay in @w, as the stack below walkers is short. */
static __always_inline int read_other(struct user_walk *w)
{
	for (u32 i = 0; i < 2; i++) { /* the bytes lie in two pages at most */
		const u64 in = w->read.at & (OTHER_PAGE_SZ - 1);
		struct other_page *p = other_page(w, w->read.at - in);
		u64 n = OTHER_PAGE_SZ - in, to = ONCE(w->read.to);

		if (n > w->read.sz)
			n = w->read.sz;
		OPAQUE(to);
		OPAQUE(n);
		if (!p || to > offsetof(struct user_walk, slack) || n > WALK_WINDOW ||
		    bpf_probe_read_kernel((u8 *)w + to, n,
					  p->bytes + (w->read.at & (OTHER_PAGE_SZ - 1))))
			return -1;
		n = OTHER_PAGE_SZ - (w->read.at & (OTHER_PAGE_SZ - 1));
		if (n >= w->read.sz)
			return 0;
		w->read.at += n;
		w->read.to += n;
		w->read.sz -= n;
	}
	return -1;
}

/* Reads @sz bytes at @at of the process to byte @to of @w, which may lie before the window, or to
 * the window. Returns not 0 if they are not there. Verified on its own: inlined, it would double
 * the paths through a walker with each read. */
WALK_FUNC int walk_read_to(struct user_walk *w, u64 to, u64 sz, u64 at)
{
	if (!w)
		return -1;
	if (w->other) {
		w->read.to = to;
		w->read.sz = sz;
		w->read.at = at;
		return read_other(w);
	}
	OPAQUE(to);
	OPAQUE(sz);
	if (to > offsetof(struct user_walk, window) || sz > WALK_WINDOW)
		return -1;
	return bpf_probe_read_user((u8 *)w + to, sz, (void *)at);
}

/* Reads @sz bytes of the process at @at to @to, a place in @w. Returns not 0 if they are not
 * there. */
static __always_inline int walk_read(struct user_walk *w, void *to, u32 sz, u64 at)
{
	return walk_read_to(w, (u8 *)to - (u8 *)w, sz, at);
}

/* Reads the number at @at into w->word: the stack of a walker is short. */
static __always_inline int read_word(struct user_walk *w, u64 at)
{
	return walk_read(w, &w->word, sizeof(w->word), at);
}

/* Reads the text at @at to the window, at most INTERP_FILE_MAX bytes with its NUL. Returns their
 * number, or a negative errno. */
static __always_inline s64 read_other_text(struct user_walk *w, u64 at)
{
	const u64 in = at & (OTHER_PAGE_SZ - 1);
	struct other_page *p = other_page(w, at - in);
	s64 n, more;

	if (!p)
		return -1;
	n = bpf_probe_read_kernel_str(w->window, INTERP_FILE_MAX, p->bytes + in);
	if (n <= 0 || in + n <= OTHER_PAGE_SZ || n >= INTERP_FILE_MAX)
		return n;
	n--; /* the NUL is not the text's */
	p = other_page(w, at - in + OTHER_PAGE_SZ);
	if (!p)
		return -1;
	OPAQUE(n);
	if (n < 0 || n > INTERP_FILE_MAX)
		return -1;
	more = bpf_probe_read_kernel_str(w->window + n, INTERP_FILE_MAX, p->bytes);
	if (more < 0)
		return more;
	return n + more < INTERP_FILE_MAX ? n + more : INTERP_FILE_MAX;
}

#endif /* DRIVER_OTHER_MEMORY_BPF_H */
