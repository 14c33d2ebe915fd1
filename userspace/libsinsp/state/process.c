/* SPDX-License-Identifier: Apache-2.0 */
/* Processes, and the root and working directory that threads share. */
#include "process.h"

static void texts_of(struct sinsp_process *p, const char **list[5])
{
	list[0] = &p->exe;
	list[1] = &p->exepath;
	list[2] = &p->args;
	list[3] = &p->env;
	list[4] = &p->cgroups;
}

struct sinsp_fs *sinsp_fs_new(struct sinsp_slab *slab, struct sinsp_strings *st)
{
	struct sinsp_fs *fs = sinsp_slab_get(slab);

	if (!fs)
		return NULL;
	fs->refs = 1;
	fs->cwd = sinsp_str_get(st, "", 0);
	fs->root = sinsp_str_get(st, "", 0);
	return fs;
}

struct sinsp_fs *sinsp_fs_ref(struct sinsp_fs *fs)
{
	fs->refs++;
	return fs;
}

struct sinsp_fs *sinsp_fs_copy(struct sinsp_slab *slab, const struct sinsp_fs *fs)
{
	struct sinsp_fs *c = sinsp_slab_get(slab);

	if (!c)
		return NULL;
	*c = *fs;
	c->refs = 1;
	sinsp_str_ref(c->cwd);
	sinsp_str_ref(c->root);
	return c;
}

void sinsp_fs_put(struct sinsp_slab *slab, struct sinsp_strings *st, struct sinsp_fs *fs)
{
	if (!fs || --fs->refs)
		return;
	sinsp_str_put(st, fs->cwd);
	sinsp_str_put(st, fs->root);
	sinsp_slab_put(slab, fs);
}

struct sinsp_process *sinsp_process_new(struct sinsp_slab *slab, struct sinsp_strings *st,
					int64_t pid)
{
	struct sinsp_process *p = sinsp_slab_get(slab);
	const char **list[5];

	if (!p)
		return NULL;
	texts_of(p, list);
	for (int i = 0; i < 5; i++)
		*list[i] = sinsp_str_get(st, "", 0);
	p->name = sinsp_str_get(st, "", 0);
	p->pid = pid;
	p->fdlimit = p->sid = p->vpgid = p->pgid = -1;
	p->loginuid = UINT32_MAX;
	return p;
}

void sinsp_process_inherit(struct sinsp_strings *st, struct sinsp_process *p,
			   const struct sinsp_process *from)
{
	const char **mine[5], **theirs[5];

	texts_of(p, mine);
	texts_of((struct sinsp_process *)from, theirs);
	for (int i = 0; i < 5; i++) {
		sinsp_str_put(st, *mine[i]);
		*mine[i] = sinsp_str_ref(*theirs[i]);
	}
	p->fdlimit = from->fdlimit;
	p->sid = from->sid;
	p->vpgid = from->vpgid;
	p->pgid = from->pgid;
	p->exe_ino = from->exe_ino;
	p->exe_ctime_ns = from->exe_ctime_ns;
	p->exe_mtime_ns = from->exe_mtime_ns;
	p->exe_kind = from->exe_kind;
	p->exe_kind_known = from->exe_kind_known;
	p->pidns_start_ns = from->pidns_start_ns;
	p->tty_known = from->tty_known;
	p->caps_known = from->caps_known;
	p->cap_inheritable = from->cap_inheritable;
	p->cap_permitted = from->cap_permitted;
	p->cap_effective = from->cap_effective;
	p->tty = from->tty;
	p->loginuid = from->loginuid;
	p->exe_writable = from->exe_writable;
}

void sinsp_process_adopt(struct sinsp_process *p, struct sinsp_process *parent)
{
	if (p->prev_child)
		p->prev_child->next_child = p->next_child;
	else if (p->parent)
		p->parent->children = p->next_child;
	if (p->next_child)
		p->next_child->prev_child = p->prev_child;

	p->parent = parent == p ? NULL : parent;
	p->prev_child = NULL;
	p->next_child = p->parent ? p->parent->children : NULL;
	if (p->next_child)
		p->next_child->prev_child = p;
	if (p->parent)
		p->parent->children = p;
}

void sinsp_process_free(struct sinsp_slab *slab, struct sinsp_strings *st, struct sinsp_process *p)
{
	const char **list[5];

	sinsp_process_adopt(p, NULL);
	texts_of(p, list);
	for (int i = 0; i < 5; i++)
		sinsp_str_put(st, *list[i]);
	sinsp_str_put(st, p->name);
	sinsp_slab_put(slab, p);
}
