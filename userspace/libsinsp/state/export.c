/* SPDX-License-Identifier: Apache-2.0 */
/* Exports threads and descriptors for the beginning of a capture file. */
#include "export.h"

#include <string.h>

#include "import.h"

int sinsp_export_machine(struct scap_state_build *b, const struct scap_state *st)
{
	int err = scap_state_build_machine(b, &st->machine);

	for (size_t i = 0; !err && i < st->n_users; i++)
		err = scap_state_build_user(b, &st->users[i]);
	for (size_t i = 0; !err && i < st->n_groups; i++)
		err = scap_state_build_group(b, &st->groups[i]);
	for (size_t i = 0; !err && i < st->n_ifaces; i++)
		err = scap_state_build_iface(b, &st->ifaces[i]);
	return err;
}

struct fd_export {
	struct scap_state_build *b;
	const struct sinsp_ports *listening;
	uint64_t tid;
	int err;
};

static void put_ends(struct scap_fd_info *info, const struct sinsp_tuple *t)
{
	memcpy(info->sip, t->sip, sizeof(info->sip));
	memcpy(info->dip, t->dip, sizeof(info->dip));
	info->sport = t->sport;
	info->dport = t->dport;
}

/* In a file the local end comes first. The reader swaps the ends if a socket listens on the local
 * port; otherwise the client must come first. */
static void put_tuple(struct scap_fd_info *info, const struct sinsp_fd *fd,
		      const struct sinsp_ports *listening)
{
	const struct sinsp_tuple *t = sinsp_fd_tuple(fd);
	struct sinsp_tuple swapped = {.sport = t->dport, .dport = t->sport};

	if (fd->type != SCAP_FD_IPV4_SOCK || !(fd->flags & SINSP_FD_F_SERVER) ||
	    !sinsp_ports_has(listening, t->dport)) {
		put_ends(info, t);
		return;
	}
	memcpy(swapped.sip, t->dip, sizeof(swapped.sip));
	memcpy(swapped.dip, t->sip, sizeof(swapped.dip));
	put_ends(info, &swapped);
}

static void put_fd(const struct sinsp_fd *fd, void *ctx)
{
	struct fd_export *e = ctx;
	struct scap_fd_info info = {
		.fd = fd->num,
		.ino = fd->ino,
		.type = fd->type,
		.l4proto = fd->l4proto,
		.open_flags = fd->open_flags,
		.dev = fd->dev,
		.name = fd->name,
	};

	if (e->err || !fd->type)
		return;
	if (fd->flags & SINSP_FD_F_CLOEXEC)
		info.open_flags |= SINSP_O_CLOEXEC;
	else
		info.open_flags &= ~SINSP_O_CLOEXEC;
	if (fd->type == SCAP_FD_UNIX_SOCK) {
		info.unix_src = sinsp_fd_ends(fd)->unix_src;
		info.unix_dst = sinsp_fd_ends(fd)->unix_dst;
	} else if (fd->type >= SCAP_FD_IPV4_SOCK && fd->type <= SCAP_FD_IPV6_SERVSOCK) {
		put_tuple(&info, fd, e->listening);
	}
	e->err = scap_state_build_fd(e->b, e->tid, &info);
}

static struct scap_text list_of(const char *s)
{
	return (struct scap_text){s, sinsp_str_len(s)};
}

static void put_process(struct scap_thread_info *info, const struct sinsp_thread *t)
{
	const struct sinsp_process *p = t->proc;

	info->exe = p->exe;
	info->exepath = p->exepath;
	info->args = list_of(p->args);
	info->env = list_of(p->env);
	info->cgroups = list_of(p->cgroups);
	info->sid = p->sid;
	info->vpgid = p->vpgid;
	info->fdlimit = p->fdlimit;
	info->vmsize_kb = p->vmsize_kb;
	info->vmrss_kb = p->vmrss_kb;
	info->vmswap_kb = p->vmswap_kb;
	info->pgid = p->pgid > 0 ? p->pgid : 0;
	info->exe_ino = p->exe_ino;
	info->exe_ctime_ns = p->exe_ctime_ns;
	info->exe_mtime_ns = p->exe_mtime_ns;
	info->exe_kind = p->exe_kind;
	info->exe_kind_known = p->exe_kind_known;
	info->pidns_start_ns = p->pidns_start_ns;
	info->tty_known = p->tty_known;
	info->caps_known = p->caps_known;
	info->tty = p->tty;
	info->loginuid = (int32_t)p->loginuid;
	info->exe_writable = p->exe_writable;
	info->cap_inheritable = p->cap_inheritable;
	info->cap_permitted = p->cap_permitted;
	info->cap_effective = p->cap_effective;
}

/* Returns whether it shares the descriptors of its main thread, which then has them in the file. */
static int shares_files(struct sinsp_threads *tt, const struct sinsp_thread *t)
{
	const struct sinsp_thread *main = sinsp_threads_find(tt, t->pid);

	return t->tid != t->pid && main && main->files == t->files;
}

static int put_thread(struct fd_export *e, struct sinsp_threads *tt, const struct sinsp_thread *t)
{
	const int shares = shares_files(tt, t);
	struct scap_thread_info info = {
		.tid = (uint64_t)t->tid,
		.pid = (uint64_t)t->pid,
		.ptid = (uint64_t)t->ptid,
		.vtid = t->vtid,
		.vpid = t->vpid,
		.comm = t->comm,
		.cwd = t->fs->cwd,
		.root = t->fs->root,
		.pfmajor = t->pfmajor,
		.pfminor = t->pfminor,
		.uid = t->uid,
		.gid = t->gid,
		.start_ns = t->start_ns,
		.snapshot_ns = t->snapshot_ns,
		.ran_ns = t->ran_ns,
		.ran_at_ns = t->ran_at_ns,
		.flags = shares ? t->flags | SINSP_CL_FILES : t->flags & ~(uint32_t)SINSP_CL_FILES,
	};
	int err;

	put_process(&info, t);
	err = scap_state_build_thread(e->b, &info);
	if (err || shares)
		return err;
	e->tid = info.tid;
	sinsp_files_each(t->files, put_fd, e);
	return e->err;
}

int sinsp_export_threads(struct scap_state_build *b, struct sinsp_threads *tt)
{
	struct sinsp_ports listening;
	struct fd_export e = {.b = b, .listening = &listening};
	int err = 0;

	sinsp_ports_find(&listening, tt);
	for (uint32_t i = 0; i < tt->n_slots && !err; i++) {
		const struct sinsp_thread *t = tt->slots[i].t;

		if (t && t->known)
			err = put_thread(&e, tt, t);
	}
	return err;
}
