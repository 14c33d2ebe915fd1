/* SPDX-License-Identifier: GPL-2.0 */
/* Builds the path of a file as its task sees it: the result of the kernel's d_path(), for programs
 * that may not call it. The walk goes up from the file, so the text is written from its end. */
#ifndef DRIVER_PATH_BPF_H
#define DRIVER_PATH_BPF_H

#include "args.bpf.h"
#include <bpf/bpf_core_read.h>

#define PATH_COMPONENTS 64 /* a deeper path lacks its first components */
#define NAME_SZ 256u

/* The longest name may be written after any place in the first half. */
struct path_scratch {
	u8 text[2 * PATH_SZ];
	u64 pos; /* start of the path; hidden from the verifier here, see widen() */
};

/* Used only by exits of calls, of which a CPU has one at a time. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, sizeof(struct path_scratch));
} path_scratch SEC(".maps");

static __always_inline struct mount *mount_of(struct vfsmount *mnt)
{
	return (void *)mnt - bpf_core_field_offset(struct mount, mnt);
}

/* Prepends "/name". Returns false if it does not fit. */
static __always_inline bool path_prepend(struct path_scratch *s, struct dentry *dentry)
{
	const unsigned char *name = BPF_CORE_READ(dentry, d_name.name);
	u32 len = BPF_CORE_READ(dentry, d_name.len);
	u64 pos = ONCE(s->pos);

	if (len >= NAME_SZ || len + 1 > pos)
		return false;
	pos = (pos - len - 1) & (PATH_SZ - 1);
	s->text[pos] = '/';
	bpf_probe_read_kernel(&s->text[pos + 1], len & (NAME_SZ - 1), name);
	ONCE(s->pos) = pos;
	return true;
}

/* Where the walk is, and where it ends. */
struct path_walk {
	struct path_scratch *s;
	struct dentry *dentry, *root;
	struct vfsmount *mnt, *root_mnt;
};

/* Goes one step up. A callback of bpf_loop, whose body is verified once. */
static long path_step(u32 i, void *ctx)
{
	struct path_walk *w = ctx;
	struct dentry *dentry = w->dentry;
	struct vfsmount *mnt = w->mnt;
	struct dentry *parent = BPF_CORE_READ(dentry, d_parent);
	struct mount *m, *up;

	(void)i;
	if (dentry == w->root && mnt == w->root_mnt)
		return 1;
	if (dentry != BPF_CORE_READ(mnt, mnt_root) && dentry != parent) {
		w->dentry = parent;
		return !path_prepend(w->s, dentry);
	}
	m = mount_of(mnt);
	up = BPF_CORE_READ(m, mnt_parent);
	if (!up || up == m)
		return 1;
	w->dentry = BPF_CORE_READ(m, mnt_mountpoint);
	w->mnt = (void *)up + bpf_core_field_offset(struct mount, mnt);
	return 0;
}

/* Writes the path of (@mnt, @dentry) under the current task's root to the end of @s. Returns 0,
 * with the start at s->pos. Verified on its own. */
__noinline int path_text(struct path_scratch *s, u64 mnt_addr, u64 dentry_addr)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct path_walk w = {
		.s = s,
		.dentry = (void *)dentry_addr,
		.root = BPF_CORE_READ(task, fs, root.dentry),
		.mnt = (void *)mnt_addr,
		.root_mnt = BPF_CORE_READ(task, fs, root.mnt),
	};

	if (!s)
		return -1;
	s->text[PATH_SZ - 1] = 0;
	ONCE(s->pos) = PATH_SZ - 1;
	bpf_loop(PATH_COMPONENTS, path_step, &w, 0);
	if (ONCE(s->pos) == PATH_SZ - 1) {
		ONCE(s->pos) = PATH_SZ - 2;
		s->text[PATH_SZ - 2] = '/';
	}
	return 0;
}

/* Puts a lone NUL as text. */
static __always_inline void put_no_text(struct rec *r)
{
	*put_here(r) = 0;
	put_done(r, 1);
}

/* Builds the text of @path in the scratch, from pos on. NULL: there is none. */
static __always_inline struct path_scratch *path_make(const struct path *path)
{
	struct vfsmount *mnt = NULL;
	struct dentry *dentry = NULL;
	struct path_scratch *s;
	u32 zero = 0;

	bpf_core_read(&mnt, sizeof(mnt), &path->mnt);
	bpf_core_read(&dentry, sizeof(dentry), &path->dentry);
	s = bpf_map_lookup_elem(&path_scratch, &zero);
	if (!s || !dentry)
		return NULL;
	path_text(s, (u64)mnt, (u64)dentry);
	return s;
}

/* Puts the path in the scratch, with its NUL; begin must have PATH_SZ. */
static __always_inline void put_made_path(struct rec *r, struct path_scratch *s)
{
	u64 pos = ONCE(s->pos) & (PATH_SZ - 1);
	u64 len = widen(r->slot, PATH_SZ - pos, PATH_SZ);

	bpf_probe_read_kernel(put_here(r), len, &s->text[pos]);
	put_done(r, len);
	widen_off(r);
}

/* Puts the path; a lone NUL if there is none. */
static __always_inline void put_path(struct rec *r, const struct path *path)
{
	struct path_scratch *s = path_make(path);

	if (s)
		put_made_path(r, s);
	else
		put_no_text(r);
}

#endif /* DRIVER_PATH_BPF_H */
