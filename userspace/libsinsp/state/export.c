/* SPDX-License-Identifier: Apache-2.0 */
/* Exports threads and descriptors for the beginning of a capture file. */
#include "export.h"

#include <string.h>

#include "import.h"
#include "inspector.h"
#include "sockname.h"

#define N_DEAD 32 /* threads that ended, of which a last event may come */

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
	const struct sinsp *s;
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

/* In a file the local end comes first. A reader that knows no more swaps the ends if a socket
 * listens on the local port; otherwise the client must come first. */
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
	info->so_far.swapped = 1;
}

/* Returns the name if it does not follow from the ends; else "". */
static const char *shown_name(const struct sinsp_fd *fd)
{
	char text[SINSP_SOCK_TEXT];

	if (fd->type < SCAP_FD_IPV4_SOCK || fd->type > SCAP_FD_IPV6_SERVSOCK)
		return "";
	sinsp_fd_tuple_text(text, fd);
	return strcmp(text, fd->name) ? fd->name : "";
}

/* What the events showed, where the rest of @info leaves room for a guess. */
static void put_fd_so_far(const struct sinsp *s, struct scap_fd_info *info,
			  const struct sinsp_fd *fd)
{
	struct scap_fd_so_far *f = &info->so_far;
	const struct sinsp_connect *c = sinsp_fd_connect(fd);
	size_t len;

	f->uncertain = !sinsp_fd_is_certain(s, fd, UINT64_MAX);
	if (!fd->has_ends && !(fd->flags & ~SINSP_FD_F_CLOEXEC) && !f->uncertain && fd->type)
		return;
	f->known = 1;
	f->flags = fd->flags;
	f->shown = shown_name(fd);
	if (fd->flags & SINSP_FD_F_GIVEN)
		f->given = sinsp_fd_given_name(fd, &len);
	if (!c)
		return;
	/* A pidfd, which has no connect, is of a process. */
	f->connect_ns = fd->type == SCAP_FD_PIDFD ? (uint64_t)sinsp_fd_ends(fd)->pid : c->begin_ns;
	f->latency_ns = c->latency_ns;
	f->error = c->error;
	f->outcome_known = c->known;
	f->has_latency = c->has_latency;
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

	if (e->err)
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
	put_fd_so_far(e->s, &info, fd);
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

static void put_thread_so_far(const struct sinsp *s, struct scap_thread_so_far *f,
			      const struct sinsp_thread *t)
{
	const struct ppm_evt_hdr *enter = sinsp_thread_saved_enter(t);

	*f = (struct scap_thread_so_far){
		.known = 1,
		.missing_switch = t->missing_switch,
		.has_children = t->has_children,
		.born = t->born,
		.vtid_unknown = !t->vtid_known,
		.cwd_unknown = !*t->fs->cwd,
		.exited = t->exited,
		.uncertain = !sinsp_thread_is_certain(s, t, UINT64_MAX),
		.cwd_uncertain = !sinsp_fs_is_certain(s, t->fs),
		.call_flags = (t->enter_open ? SCAP_CALL_OPEN : 0) |
			      (t->enter_hidden ? SCAP_CALL_HIDDEN : 0) |
			      (t->enter_before ? SCAP_CALL_BEFORE : 0) |
			      (t->enter_incomplete ? SCAP_CALL_INCOMPLETE : 0),
		.enter_type = t->enter_type,
		.cpu_usr = t->cpu_usr,
		.cpu_sys = t->cpu_sys,
		.cpu_usr_delta = t->cpu_usr_delta,
		.cpu_sys_delta = t->cpu_sys_delta,
		.enter_ns = t->enter_ns,
		.latency_ns = t->latency_ns,
		.enter_fd = t->enter_fd,
		.exec_ns = t->exec_ns,
	};
	if (enter)
		f->enter = (struct scap_text){(const char *)enter, enter->len};
}

/* Returns whether it shares the descriptors of its main thread, which then has them in the file. */
static int shares_files(struct sinsp_threads *tt, const struct sinsp_thread *t)
{
	const struct sinsp_thread *main = sinsp_threads_find(tt, t->pid);

	return t->tid != t->pid && main && main->files == t->files;
}

static int has_own_fs(struct sinsp_threads *tt, const struct sinsp_thread *t)
{
	const struct sinsp_thread *main = sinsp_threads_find(tt, t->pid);

	return t->tid != t->pid && main && main->fs != t->fs;
}

static int put_thread(struct fd_export *e, struct sinsp_threads *tt, const struct sinsp_thread *t,
		      int is_dead)
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
	put_thread_so_far(e->s, &info.so_far, t);
	info.so_far.dead = (uint8_t)is_dead;
	info.so_far.own_fs = (uint8_t)has_own_fs(tt, t);
	err = scap_state_build_thread(e->b, &info);
	if (err || shares || is_dead)
		return err;
	e->tid = info.tid;
	sinsp_files_each(t->files, put_fd, e);
	return e->err;
}

/* The last threads that ended: the switch away from one comes after its end. */
static int put_dead(struct fd_export *e, struct sinsp_threads *tt)
{
	int err = 0;

	for (uint32_t i = 1; i <= N_DEAD && !err; i++) {
		const struct sinsp_thread *t = tt->dead[(tt->n_dead - i) % SINSP_DEAD_MAX].t;

		if (t && t->known && !sinsp_threads_find(tt, t->tid) &&
		    sinsp_threads_find_dead(tt, t->tid) == t)
			err = put_thread(e, tt, t, 1);
	}
	return err;
}

/* What a CPU runs, for switches without counts of the kernel. */
static int put_turns(struct scap_state_build *b, const struct sinsp_switches *w)
{
	int err = 0;

	for (uint32_t cpu = 0; cpu < w->n && !err; cpu++) {
		const struct scap_turn turn = {.since_ns = w->turns[cpu].since_ns,
					       .tid = w->turns[cpu].tid,
					       .cpu = cpu,
					       .has_gaps = w->has_gaps};

		err = scap_state_build_turn(b, &turn);
	}
	return err;
}

int sinsp_export_threads(struct scap_state_build *b, struct sinsp *s)
{
	struct sinsp_threads *tt = &s->threads;
	struct sinsp_ports listening;
	struct fd_export e = {.b = b, .s = s, .listening = &listening};
	int err = put_turns(b, &s->switches);

	sinsp_ports_find(&listening, tt);
	for (uint32_t i = 0; i < tt->n_slots && !err; i++) {
		const struct sinsp_thread *t = tt->slots[i].t;

		if (t && t->known)
			err = put_thread(&e, tt, t, 0);
	}
	return err ?: put_dead(&e, tt);
}
