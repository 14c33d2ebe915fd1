/* SPDX-License-Identifier: Apache-2.0 */
/* Imports threads and descriptors from a snapshot of /proc or the state in a file. */
#include "import.h"

#include <errno.h>
#include <string.h>

#include "pathname.h"
#include "sockname.h"

static void set(struct sinsp_threads *tt, const char **dst, const char *text)
{
	sinsp_str_set(&tt->strings, dst, text, strlen(text));
}

static void set_list(struct sinsp_threads *tt, const char **dst, struct scap_text text)
{
	sinsp_str_set(&tt->strings, dst, text.p, text.len);
}

static int is_inet(unsigned int type)
{
	return type >= SCAP_FD_IPV4_SOCK && type <= SCAP_FD_IPV6_SERVSOCK;
}

static void import_addresses(struct sinsp_fd *fd, const struct scap_fd_info *info)
{
	struct sinsp_tuple *t = &sinsp_fd_edit_ends(fd)->tuple;

	memcpy(t->sip, info->sip, 16);
	memcpy(t->dip, info->dip, 16);
	t->sport = info->sport;
	t->dport = info->dport;
	if (fd->type == SCAP_FD_IPV6_SOCK && sinsp_ip_is_mapped(t->sip) &&
	    sinsp_ip_is_mapped(t->dip)) {
		fd->type = SCAP_FD_IPV4_SOCK;
		memcpy(t->sip, info->sip + 12, 4);
		memcpy(t->dip, info->dip + 12, 4);
	}
	if (info->l4proto == SCAP_L4_TCP)
		fd->flags |= SINSP_FD_F_CONNECTED;
}

static void import_unix(struct sinsp_threads *tt, struct sinsp_fd *fd,
			const struct scap_fd_info *info)
{
	sinsp_fd_edit_ends(fd)->unix_src = info->unix_src;
	sinsp_fd_edit_ends(fd)->unix_dst = info->unix_dst;
	fd->flags |= *info->name ? SINSP_FD_F_SERVER : SINSP_FD_F_CLIENT;
	sinsp_fd_set_name(&tt->fds, fd, info->name, strlen(info->name));
}

static void name_inet(struct sinsp_threads *tt, struct sinsp_fd *fd)
{
	char text[SINSP_SOCK_TEXT];

	sinsp_fd_set_name(&tt->fds, fd, text, sinsp_fd_tuple_text(text, fd));
}

/* Replaces what was guessed. */
static void import_fd_so_far(struct sinsp_threads *tt, struct sinsp_fd *fd,
			     const struct scap_fd_so_far *f)
{
	const char *name = *f->shown ? f->shown : fd->name;
	struct sinsp_connect *c = sinsp_fd_edit_connect(fd);

	if (*f->given)
		sinsp_fd_set_names(&tt->fds, fd, name, strlen(name), f->given, strlen(f->given));
	else if (*f->shown)
		sinsp_fd_set_name(&tt->fds, fd, name, strlen(name));
	fd->flags = (f->flags & ~SINSP_FD_F_GIVEN) | (fd->flags & SINSP_FD_F_GIVEN);
	if (!c)
		return;
	if (fd->type == SCAP_FD_PIDFD) {
		sinsp_fd_edit_ends(fd)->pid = (int64_t)f->connect_ns;
		return;
	}
	c->begin_ns = f->connect_ns;
	c->latency_ns = f->latency_ns;
	c->error = f->error;
	c->known = f->outcome_known;
	c->has_latency = f->has_latency;
}

static struct sinsp_fd *add_fd(struct sinsp_threads *tt, struct sinsp_files *files,
			       const struct scap_fd_info *info)
{
	struct sinsp_fd *fd = sinsp_files_add(&tt->fds, files, info->fd, info->type);

	if (!fd)
		return NULL;
	fd->ino = info->ino;
	fd->l4proto = info->l4proto;
	fd->open_flags = info->open_flags;
	fd->dev = info->dev;
	if (sinsp_fd_file(fd))
		sinsp_fd_file(fd)->imported = 1;
	if (is_inet(info->type)) {
		import_addresses(fd, info);
		name_inet(tt, fd);
	} else if (info->type == SCAP_FD_UNIX_SOCK) {
		import_unix(tt, fd, info);
	} else {
		sinsp_fd_set_name(&tt->fds, fd, info->name, strlen(info->name));
	}
	if (fd->open_flags & SINSP_O_CLOEXEC)
		fd->flags |= SINSP_FD_F_CLOEXEC;
	if (info->so_far.known) {
		if (info->so_far.swapped && is_inet(fd->type)) {
			sinsp_fd_swap_ends(fd);
			name_inet(tt, fd);
		}
		import_fd_so_far(tt, fd, &info->so_far);
	}
	return fd;
}

static int same_ends(const struct sinsp_tuple *t, const struct scap_fd_info *info, size_t len)
{
	return (t->sport == info->sport && t->dport == info->dport &&
		!memcmp(t->sip, info->sip, len) && !memcmp(t->dip, info->dip, len)) ||
	       (t->sport == info->dport && t->dport == info->sport &&
		!memcmp(t->sip, info->dip, len) && !memcmp(t->dip, info->sip, len));
}

/* /proc lacks some facts, for instance which side of a socket connected. */
static int is_same(const struct sinsp_fd *fd, const struct scap_fd_info *info)
{
	if (fd->type != info->type)
		return 0;
	if (fd->ino && info->ino && fd->ino != info->ino)
		return 0;
	if (is_inet(fd->type))
		return same_ends(sinsp_fd_tuple(fd), info, fd->type & 1 ? 4 : 16);
	return (fd->ino && fd->ino == info->ino) || !strcmp(fd->name, info->name);
}

struct sinsp_fd *sinsp_import_fd(struct sinsp_threads *tt, struct sinsp_files *files,
				 const struct scap_fd_info *info)
{
	const struct sinsp_fd *fd = sinsp_files_find(files, info->fd);

	return fd && is_same(fd, info) ? sinsp_files_edit(&tt->fds, files, info->fd)
				       : add_fd(tt, files, info);
}

static void import_fs(struct sinsp_threads *tt, struct sinsp_fs *fs,
		      const struct scap_thread_info *info)
{
	char cwd[SINSP_PATH_SZ + 1];
	size_t n = sinsp_path_join(cwd, SINSP_PATH_STRICT, "", 0, info->cwd, strlen(info->cwd));

	if (!n || cwd[n - 1] != '/')
		cwd[n++] = '/';
	sinsp_str_set(&tt->strings, &fs->cwd, cwd, n);
	set(tt, &fs->root, info->root);
}

static void import_process(struct sinsp_threads *tt, struct sinsp_process *p,
			   const struct scap_thread_info *info)
{
	p->known = 1;
	set(tt, &p->exe, info->exe);
	set(tt, &p->exepath, info->exepath);
	set_list(tt, &p->args, info->args);
	set_list(tt, &p->env, info->env);
	sinsp_process_set_cgroups(tt, p, info->cgroups.p, info->cgroups.len);
	p->fdlimit = info->fdlimit;
	p->sid = info->sid;
	p->vpgid = info->vpgid;
	p->cap_inheritable = info->cap_inheritable;
	p->cap_permitted = info->cap_permitted;
	p->cap_effective = info->cap_effective;
	p->vmsize_kb = info->vmsize_kb;
	p->vmrss_kb = info->vmrss_kb;
	p->vmswap_kb = info->vmswap_kb;
	p->pgid = info->pgid ? info->pgid : -1;
	p->exe_ino = info->exe_ino;
	p->exe_ctime_ns = info->exe_ctime_ns;
	p->exe_mtime_ns = info->exe_mtime_ns;
	p->exe_kind = info->exe_kind;
	p->exe_kind_known = info->exe_kind_known;
	p->pidns_start_ns = info->pidns_start_ns;
	p->tty_known = info->tty_known;
	p->caps_known = info->caps_known;
	p->tty = info->tty;
	p->loginuid = info->loginuid;
	p->exe_writable = info->exe_writable;
}

int sinsp_state_is_uncertain(const struct scap_state *st)
{
	for (size_t i = 0; i < st->n_threads; i++) {
		const struct scap_thread_info *t = &st->threads[i];

		if (t->so_far.uncertain || t->so_far.cwd_uncertain)
			return 1;
		for (size_t j = 0; j < t->n_fds; j++)
			if (t->fds[j].so_far.uncertain)
				return 1;
	}
	return 0;
}

/* Returns since when something is known to be correct. */
static uint64_t as_of(const struct scap_thread_info *info, int uncertain)
{
	const uint64_t ns = info->snapshot_ns;

	return uncertain ? 0 : ns > SINSP_LOST_BEFORE_NS ? ns : SINSP_LOST_BEFORE_NS + 1;
}

/* Another thread than the main one has the directory of the main one until here. */
static void import_own_fs(struct sinsp_threads *tt, struct sinsp_thread *t,
			  const struct scap_thread_info *info)
{
	struct sinsp_fs *own = sinsp_fs_new(&tt->fses, &tt->strings);

	if (!own)
		return;
	sinsp_fs_put(&tt->fses, &tt->strings, t->fs);
	t->fs = own;
	import_fs(tt, own, info);
	own->as_of_ns = as_of(info, 0);
}

static void import_thread_so_far(struct sinsp_threads *tt, struct sinsp_thread *t,
				 const struct scap_thread_so_far *f)
{
	t->missing_switch = f->missing_switch;
	t->has_children = f->has_children;
	t->born = f->born;
	t->vtid_known = !f->vtid_unknown;
	if (f->cwd_unknown)
		set(tt, &t->fs->cwd, "");
	t->enter_open = !!(f->call_flags & SCAP_CALL_OPEN);
	t->enter_hidden = !!(f->call_flags & SCAP_CALL_HIDDEN);
	t->enter_before = !!(f->call_flags & SCAP_CALL_BEFORE);
	t->enter_incomplete = !!(f->call_flags & SCAP_CALL_INCOMPLETE);
	t->enter_type = f->enter_type;
	t->enter_ns = f->enter_ns;
	t->enter_fd = f->enter_fd;
	t->latency_ns = f->latency_ns;
	t->exec_ns = f->exec_ns;
	t->cpu_usr = f->cpu_usr;
	t->cpu_sys = f->cpu_sys;
	t->cpu_usr_delta = f->cpu_usr_delta;
	t->cpu_sys_delta = f->cpu_sys_delta;
	if (f->cwd_uncertain)
		t->fs->as_of_ns = 0;
	if (f->enter.len)
		sinsp_thread_save_enter(tt, t, (const struct ppm_evt_hdr *)f->enter.p);
}

struct sinsp_thread *sinsp_import_thread(struct sinsp_threads *tt,
					 const struct scap_thread_info *info)
{
	int share = (info->flags & SINSP_CL_FILES) && info->tid != info->pid;
	struct sinsp_thread *t = sinsp_threads_find(tt, info->tid);

	/* A main thread's stand-in already has the process of its threads. */
	if (t && t->tid != t->pid) {
		sinsp_threads_replace(tt, t);
		t = NULL;
	}
	if (!t)
		t = sinsp_threads_add(tt, info->tid, info->pid, share);
	if (!t)
		return NULL;
	t->vtid = info->vtid;
	t->vpid = info->vpid;
	t->vtid_known = 1;
	t->start_ns = info->start_ns;
	t->snapshot_ns = info->snapshot_ns;
	t->ran_ns = info->ran_ns;
	t->ran_at_ns = info->ran_at_ns;
	t->flags = info->flags;
	sinsp_import_refresh(tt, t, info);
	if (info->so_far.own_fs && t->tid != t->pid)
		import_own_fs(tt, t, info);
	if (info->so_far.known)
		import_thread_so_far(tt, t, &info->so_far);
	for (size_t i = 0; !share && i < info->n_fds; i++) {
		struct sinsp_fd *fd = add_fd(tt, t->files, &info->fds[i]);

		if (fd)
			fd->as_of_ns = as_of(info, info->fds[i].so_far.uncertain);
	}
	return t;
}

void sinsp_import_refresh(struct sinsp_threads *tt, struct sinsp_thread *t,
			  const struct scap_thread_info *info)
{
	t->known = 1;
	t->as_of_ns = as_of(info, info->so_far.uncertain);
	t->ptid = info->ptid;
	t->pfmajor = info->pfmajor;
	t->pfminor = info->pfminor;
	t->uid = info->uid;
	t->gid = info->gid;
	sinsp_thread_set_comm(tt, t, info->comm, strlen(info->comm));
	/* Another thread describes the process only if the main thread is missing. */
	if (info->tid != info->pid && t->proc->known)
		return;
	import_process(tt, t->proc, info);
	import_fs(tt, t->fs, info);
	t->fs->as_of_ns = as_of(info, 0);
}

static void note_server_port(const struct sinsp_fd *fd, void *ctx)
{
	struct sinsp_ports *ports = ctx;
	const uint16_t port = sinsp_fd_tuple(fd)->sport;

	if (fd->type == SCAP_FD_IPV4_SERVSOCK || fd->type == SCAP_FD_IPV6_SERVSOCK)
		ports->bits[port / 64] |= 1ull << port % 64;
}

void sinsp_ports_find(struct sinsp_ports *ports, const struct sinsp_threads *tt)
{
	memset(ports, 0, sizeof(*ports));
	for (uint32_t i = 0; i < tt->n_slots; i++) {
		const struct sinsp_thread *t = tt->slots[i].t;

		if (t && sinsp_thread_owns_files(t))
			sinsp_files_each(t->files, note_server_port, ports);
	}
}

struct role_assignment {
	struct sinsp_threads *tt;
	struct sinsp_ports ports;
	struct sinsp_files *files;
};

static void assign_role(const struct sinsp_fd *found, void *ctx)
{
	struct role_assignment *s = ctx;
	struct sinsp_threads *tt = s->tt;
	const uint16_t port = sinsp_fd_tuple(found)->sport;
	struct sinsp_fd *fd;

	if (found->type != SCAP_FD_IPV4_SOCK)
		return;
	/* Does not move the descriptor: no table is shared yet. */
	fd = sinsp_files_edit(&tt->fds, s->files, found->num);
	if (!fd)
		return;
	if (!sinsp_ports_has(&s->ports, port)) {
		fd->flags |= SINSP_FD_F_CLIENT;
		return;
	}
	sinsp_fd_swap_ends(fd);
	fd->flags |= SINSP_FD_F_SERVER;
	name_inet(tt, fd);
}

/* Marks sockets as client or server: /proc does not show who connected. A local port that a socket
 * listens on is a server's. */
static void assign_roles(struct sinsp_threads *tt)
{
	struct role_assignment s = {.tt = tt};

	sinsp_ports_find(&s.ports, tt);
	for (uint32_t i = 0; i < tt->n_slots; i++) {
		const struct sinsp_thread *t = tt->slots[i].t;

		if (!t || !sinsp_thread_owns_files(t))
			continue;
		s.files = t->files;
		sinsp_files_each(s.files, assign_role, &s);
	}
}

static void assign_parents(struct sinsp_threads *tt)
{
	for (uint32_t i = 0; i < tt->n_slots; i++) {
		struct sinsp_thread *t = tt->slots[i].t, *parent;

		if (!t || t->tid != t->pid)
			continue;
		parent = sinsp_threads_find(tt, t->ptid);
		if (parent)
			sinsp_process_adopt(t->proc, parent->proc);
	}
}

/* Ends the threads that had ended. */
static void end_threads(struct sinsp_threads *tt, const struct scap_state *st)
{
	for (size_t i = 0; i < st->n_threads; i++) {
		const struct scap_thread_info *info = &st->threads[i];
		struct sinsp_thread *t;

		if (!info->so_far.exited && !info->so_far.dead)
			continue;
		t = sinsp_threads_find(tt, (int64_t)info->tid);
		if (t)
			sinsp_threads_end(tt, t, -1);
	}
}

int sinsp_import_state(struct sinsp_threads *tt, const struct scap_state *st)
{
	/* Main threads first: the others join their processes. */
	for (int main_threads = 1; main_threads >= 0; main_threads--)
		for (size_t i = 0; i < st->n_threads; i++) {
			const struct scap_thread_info *info = &st->threads[i];

			if ((info->tid == info->pid) == main_threads)
				sinsp_import_thread(tt, info);
		}
	/* A state in the middle of a capture has them. */
	if (!st->n_threads || !st->threads[0].so_far.known)
		assign_roles(tt);
	assign_parents(tt);
	end_threads(tt, st);
	return 0;
}
