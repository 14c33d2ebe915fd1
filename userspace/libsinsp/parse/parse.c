/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which thread and file an event is about, and the table of parsers. Two kinds of events
 * meet here: saker's exits carry all that their enters do and are taken at their word;
 * those of sysdig need the enter that came before in the thread, and their names must
 * come out as sysdig makes them, mistakes included.
 */
#include "parse.h"

#include <string.h>

#include "state/pathname.h"

enum {
	NEEDS_ENTER = 1 << 0, /* its enter has parameters that the exit of 2022 lacks */
	OF_ANY_AGE = 1 << 1, /* no snapshot of the thread has what it tells */
};

static const struct {
	sinsp_parse_fn fn;
	int flags;
} parsers[EVT_INDEX_MAX] = {
	[EVT_OPEN_X] = {sinsp_parse_open, NEEDS_ENTER},
	[EVT_CREAT_X] = {sinsp_parse_open, NEEDS_ENTER},
	[EVT_OPENAT_102_X] = {sinsp_parse_open, NEEDS_ENTER},
	[EVT_OPENAT_X] = {sinsp_parse_open, NEEDS_ENTER},
	[EVT_OPENAT2_X] = {sinsp_parse_open, NEEDS_ENTER},
	[EVT_OPEN_BY_HANDLE_AT_X] = {sinsp_parse_open_by_handle},
	[EVT_CLOSE_E] = {sinsp_parse_close_enter},
	[EVT_CLOSE_X] = {sinsp_parse_close},
	[EVT_CLOSE_RANGE_X] = {sinsp_parse_close_range},
	[EVT_DUP_X] = {sinsp_parse_dup},
	[EVT_DUP_366_X] = {sinsp_parse_dup},
	[EVT_DUP2_X] = {sinsp_parse_dup},
	[EVT_DUP3_X] = {sinsp_parse_dup},
	[EVT_FCNTL_X] = {sinsp_parse_fcntl, NEEDS_ENTER},
	[EVT_PIPE_X] = {sinsp_parse_pipe},
	[EVT_PIPE2_X] = {sinsp_parse_pipe},
	[EVT_EVENTFD_X] = {sinsp_parse_anon},
	[EVT_EVENTFD2_X] = {sinsp_parse_anon},
	[EVT_SIGNALFD_X] = {sinsp_parse_anon},
	[EVT_SIGNALFD4_X] = {sinsp_parse_anon},
	[EVT_TIMERFD_CREATE_X] = {sinsp_parse_anon},
	[EVT_INOTIFY_INIT_X] = {sinsp_parse_anon},
	[EVT_INOTIFY_INIT1_X] = {sinsp_parse_anon},
	[EVT_EPOLL_CREATE_X] = {sinsp_parse_anon},
	[EVT_EPOLL_CREATE1_X] = {sinsp_parse_anon},
	[EVT_USERFAULTFD_X] = {sinsp_parse_anon},
	[EVT_IO_URING_SETUP_X] = {sinsp_parse_anon},
	[EVT_MEMFD_CREATE_X] = {sinsp_parse_memfd},
	[EVT_INDEX(EVT_MEMFD_SECRET_X)] = {sinsp_parse_named},
	[EVT_INDEX(EVT_MQ_OPEN_X)] = {sinsp_parse_mq_open},
	[EVT_INDEX(EVT_PERF_EVENT_OPEN_X)] = {sinsp_parse_named},
	[EVT_INDEX(EVT_LANDLOCK_CREATE_RULESET_X)] = {sinsp_parse_named},
	[EVT_INDEX(EVT_FSOPEN_X)] = {sinsp_parse_named},
	[EVT_INDEX(EVT_FSPICK_X)] = {sinsp_parse_named},
	[EVT_INDEX(EVT_FSMOUNT_X)] = {sinsp_parse_named},
	[EVT_INDEX(EVT_FANOTIFY_INIT_X)] = {sinsp_parse_named},
	[EVT_INDEX(EVT_OPEN_TREE_X)] = {sinsp_parse_open_tree},
	[EVT_INDEX(EVT_OPEN_TREE_ATTR_X)] = {sinsp_parse_open_tree},
	[EVT_BPF_368_X] = {sinsp_parse_bpf},
	[EVT_PIDFD_OPEN_X] = {sinsp_parse_pidfd_open},
	[EVT_PIDFD_GETFD_X] = {sinsp_parse_pidfd_getfd},
	[EVT_CHDIR_X] = {sinsp_parse_chdir},
	[EVT_FCHDIR_X] = {sinsp_parse_fchdir},
	[EVT_GETCWD_X] = {sinsp_parse_getcwd},
	[EVT_SENDFILE_X] = {sinsp_parse_two_files, NEEDS_ENTER},
	[EVT_SPLICE_X] = {sinsp_parse_two_files, NEEDS_ENTER},
	[EVT_COPY_FILE_RANGE_X] = {sinsp_parse_two_files, NEEDS_ENTER},
	[EVT_INDEX(EVT_TEE_X)] = {sinsp_parse_two_files},
	[EVT_IOCTL_X] = {sinsp_parse_two_files},
	[EVT_CHROOT_X] = {sinsp_parse_chroot},
	[EVT_SETNS_X] = {sinsp_parse_setns},
	[EVT_UNSHARE_X] = {sinsp_parse_unshare},

	[EVT_SOCKET_X] = {sinsp_parse_socket, NEEDS_ENTER},
	[EVT_SOCKETPAIR_X] = {sinsp_parse_socketpair},
	[EVT_BIND_X] = {sinsp_parse_bind},
	[EVT_LISTEN_X] = {sinsp_parse_listen},
	[EVT_CONNECT_E] = {sinsp_parse_connect_enter},
	[EVT_CONNECT_X] = {sinsp_parse_connect},
	[EVT_ACCEPT_26_X] = {sinsp_parse_accept},
	[EVT_ACCEPT_56_X] = {sinsp_parse_accept},
	[EVT_ACCEPT_X] = {sinsp_parse_accept},
	[EVT_ACCEPT4_248_X] = {sinsp_parse_accept},
	[EVT_ACCEPT4_X] = {sinsp_parse_accept},
	[EVT_SENDTO_E] = {sinsp_parse_sendto_enter},
	[EVT_SENDTO_X] = {sinsp_parse_send, NEEDS_ENTER},
	[EVT_SENDMSG_X] = {sinsp_parse_send, NEEDS_ENTER},
	[EVT_RECVFROM_X] = {sinsp_parse_recv},
	[EVT_RECVMSG_X] = {sinsp_parse_recv},
	[EVT_GETPEERNAME_X] = {sinsp_parse_getpeername},

	[EVT_CLONE_14_X] = {sinsp_parse_clone},
	[EVT_CLONE_156_X] = {sinsp_parse_clone},
	[EVT_CLONE_216_X] = {sinsp_parse_clone},
	[EVT_CLONE_X] = {sinsp_parse_clone},
	[EVT_FORK_182_X] = {sinsp_parse_clone},
	[EVT_FORK_218_X] = {sinsp_parse_clone},
	[EVT_FORK_X] = {sinsp_parse_clone},
	[EVT_VFORK_184_X] = {sinsp_parse_clone},
	[EVT_VFORK_220_X] = {sinsp_parse_clone},
	[EVT_VFORK_X] = {sinsp_parse_clone},
	[EVT_CLONE3_X] = {sinsp_parse_clone},
	[EVT_EXECVE_12_X] = {sinsp_parse_execve},
	[EVT_EXECVE_154_X] = {sinsp_parse_execve},
	[EVT_EXECVE_172_X] = {sinsp_parse_execve},
	[EVT_EXECVE_214_X] = {sinsp_parse_execve},
	[EVT_EXECVE_230_X] = {sinsp_parse_execve},
	[EVT_EXECVE_282_X] = {sinsp_parse_execve},
	[EVT_EXECVE_288_X] = {sinsp_parse_execve, NEEDS_ENTER},
	[EVT_EXECVE_X] = {sinsp_parse_execve, NEEDS_ENTER},
	[EVT_EXECVEAT_X] = {sinsp_parse_execve, NEEDS_ENTER},
	[EVT_PROCEXIT_16_E] = {sinsp_parse_procexit},
	[EVT_PROCEXIT_E] = {sinsp_parse_procexit},
	[EVT_SETUID_X] = {sinsp_parse_setuid, NEEDS_ENTER},
	[EVT_SETREUID_X] = {sinsp_parse_setuid},
	[EVT_SETRESUID_X] = {sinsp_parse_setuid, NEEDS_ENTER},
	[EVT_SETGID_X] = {sinsp_parse_setgid, NEEDS_ENTER},
	[EVT_SETREGID_X] = {sinsp_parse_setgid},
	[EVT_SETRESGID_X] = {sinsp_parse_setgid, NEEDS_ENTER},
	[EVT_SETSID_X] = {sinsp_parse_setsid},
	[EVT_SETPGID_X] = {sinsp_parse_setpgid, NEEDS_ENTER},
	[EVT_PRCTL_X] = {sinsp_parse_prctl},
	[EVT_GETRLIMIT_X] = {sinsp_parse_rlimit, NEEDS_ENTER},
	[EVT_SETRLIMIT_X] = {sinsp_parse_rlimit, NEEDS_ENTER},
	[EVT_PRLIMIT_X] = {sinsp_parse_prlimit, NEEDS_ENTER},
	[EVT_BRK_X] = {sinsp_parse_vm},
	[EVT_MMAP_X] = {sinsp_parse_vm},
	[EVT_MMAP2_X] = {sinsp_parse_vm},
	[EVT_MUNMAP_X] = {sinsp_parse_vm},
	[EVT_SWITCH_146_E] = {sinsp_parse_switch, OF_ANY_AGE},
	[EVT_SWITCH_E] = {sinsp_parse_switch, OF_ANY_AGE},
	[EVT_CAPSET_X] = {sinsp_parse_capset},
	[EVT_PROCINFO_E] = {sinsp_parse_procinfo},
	[EVT_INDEX(EVT_IO_URING_SUBMIT_E)] = {sinsp_parse_io_submit},
	[EVT_INDEX(EVT_IO_URING_COMPLETE_X)] = {sinsp_parse_io_complete},
	[EVT_USERADDED_E] = {sinsp_parse_user},
	[EVT_USERDELETED_E] = {sinsp_parse_user},
	[EVT_GROUPADDED_E] = {sinsp_parse_group},
	[EVT_GROUPDELETED_E] = {sinsp_parse_group},
	[EVT_CONTAINER_272_E] = {sinsp_parse_container},
	[EVT_CONTAINER_E] = {sinsp_parse_container},
	[EVT_INDEX(EVT_LOST_E)] = {sinsp_parse_lost},
	[EVT_INDEX(EVT_FILE_E)] = {sinsp_parse_passed_file},
	[EVT_INDEX(EVT_COMM_E)] = {sinsp_parse_comm},
	[EVT_INDEX(EVT_MAP_E)] = {sinsp_parse_map, OF_ANY_AGE},
	[EVT_INDEX(EVT_MAP_EXEC_E)] = {sinsp_parse_map_none, OF_ANY_AGE},
	[EVT_INDEX(EVT_MAP_FORK_E)] = {sinsp_parse_map_fork, OF_ANY_AGE},
	[EVT_INDEX(EVT_MAP_EXIT_E)] = {sinsp_parse_map_none, OF_ANY_AGE},
};

static struct sinsp_parse_row rows[EVT_INDEX_MAX]; /* of events unknown: nothing of a thread */

static int find_param(const struct scap_event_info *info, const char *name)
{
	for (unsigned int i = 0; i < info->n_params; i++)
		if (info->params[i].name[0] == name[0] && !strcmp(info->params[i].name, name))
			return i;
	return -1;
}

/* The enter's file is its first parameter; an exit has it under the same name, or another. */
static int find_fd(const struct scap_event_info *info)
{
	static const char *const names[] = {"fd",     "oldfd",      "fdout",    "fd_in",
					    "out_fd", "dirfd",      "pidfd",    "epfd",
					    "mqdes",  "ruleset_fd", "kernel_fd"};

	if (evt_is_enter(info->id))
		return info->n_params ? 0 : -1;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		int at = find_param(info, names[i]);

		/* The first parameter of an exit is its result. */
		if (at > 0)
			return at;
	}
	return -1;
}

static int is_call(const struct scap_event_info *info)
{
	const struct scap_event_info *exit;

	if (!evt_is_enter(info->id))
		return 1;
	exit = scap_event_info(info->id + 1);
	return exit && !(exit->flags & EF_UNUSED);
}

/* Some events say nothing new about who runs, and come between an enter and its exit. */
static int is_of_thread(const struct scap_event_info *info)
{
	return !(info->flags & EF_SKIPPARSERESET) && !evt_is_of_users(info->id) &&
	       info->id != EVT_SWITCH_E && info->id != EVT_CONTAINER_272_E &&
	       info->id != EVT_CONTAINER_E;
}

static void make_row(void *ctx, const struct scap_event_info *info)
{
	static const char *const names[SINSP_P_MAX] = {
#define X(name) [SINSP_P_##name] = #name,
		SINSP_PARAM_NAMES(X)
#undef X
	};
	struct sinsp_parse_row *row = &rows[evt_index(info->id)];

	(void)ctx;
	row->is_private = evt_is_private(info->id);
	if (row->is_private && !parsers[evt_index(info->id)].fn)
		return;
	row->info = info;
	for (int i = 0; i < SINSP_P_MAX; i++)
		row->at[i] = find_param(info, names[i]);
	row->fn = parsers[evt_index(info->id)].fn;
	row->uses_fd = !!(info->flags & EF_USES_FD);
	/* The enter of accept is about another file than its exit. */
	row->fd = row->uses_fd ? find_fd(info) : find_param(info, "listen_fd");
	row->is_call = is_call(info);
	row->of_any_age =
		row->fn == sinsp_parse_clone || parsers[evt_index(info->id)].flags & OF_ANY_AGE;
	row->is_clone = row->fn == sinsp_parse_clone;
	row->of_thread = is_of_thread(info);
	row->save = evt_is_enter(info->id) && parsers[evt_index(info->id + 1)].flags & NEEDS_ENTER;
}

void sinsp_parse_init(void)
{
	/* Made once; by two threads at the same time it would be made twice alike. */
	if (!rows[EVT_OPEN_X].fn)
		scap_event_each(make_row, NULL);
}

static const struct sinsp_parse_row *row_of(unsigned int type)
{
	return &rows[evt_index(type)];
}

static const struct scap_param *param_at(const struct scap_params *ps, int at)
{
	if (at < 0 || (unsigned int)at >= ps->n || !ps->v[at].len)
		return NULL;
	return &ps->v[at];
}

const struct scap_param *sinsp_own(const struct sinsp_parse *p, enum sinsp_param name)
{
	return param_at(&p->e->params, p->row->at[name]);
}

const struct scap_param *sinsp_arg(const struct sinsp_parse *p, enum sinsp_param name)
{
	const struct scap_param *v = NULL;

	if (p->enter_row)
		v = param_at(&p->enter, p->enter_row->at[name]);
	return v ? v : sinsp_own(p, name);
}

int64_t sinsp_result(const struct sinsp_parse *p)
{
	return sinsp_s64(param_at(&p->e->params, 0), INT64_MIN);
}

int64_t sinsp_s64(const struct scap_param *v, int64_t none)
{
	int16_t s16;
	int32_t s32;
	int64_t s64;

	switch (v ? v->len : 0) {
	case 1:
		return (int8_t)v->p[0];
	case sizeof(s16):
		memcpy(&s16, v->p, sizeof(s16));
		return s16;
	case sizeof(s32):
		memcpy(&s32, v->p, sizeof(s32));
		return s32;
	case sizeof(s64):
		memcpy(&s64, v->p, sizeof(s64));
		return s64;
	}
	return none;
}

uint64_t sinsp_u64(const struct scap_param *v, uint64_t none)
{
	uint64_t u = 0;

	if (!v || v->len > sizeof(u) || (v->len & (v->len - 1)))
		return none;
	memcpy(&u, v->p, v->len);
	return u;
}

size_t sinsp_text_len(const struct scap_param *v)
{
	return v ? strnlen((const char *)v->p, v->len) : 0;
}

size_t sinsp_parse_path(const struct sinsp_parse *p, char *out, const char *dir, size_t dir_len,
			const char *path, size_t len)
{
	if (p->s->native)
		return sinsp_path_join_in(out, p->e->thread->fs->root, dir, dir_len, path, len);
	return sinsp_path_join(out, SINSP_PATH_SYSDIG, dir, dir_len, path, len);
}

void sinsp_warn_fd_limit(struct sinsp *s)
{
	if (!s->threads.fds.n_refused || s->warned_fd_limit)
		return;
	s->warned_fd_limit = 1;
	if (s->log)
		s->log(s->log_ctx, SCAP_LOG_WARN,
		       "too many open files: names of some are not recorded");
}

struct sinsp_fd *sinsp_parse_new_fd(struct sinsp_parse *p, int64_t num, unsigned int type)
{
	struct sinsp_threads *tt = &p->s->threads;
	struct sinsp_thread *t = p->e->thread;
	const struct sinsp_fd *old;
	struct sinsp_fd *fd;
	int reopened;

	if (!t || num < 0)
		return NULL;
	old = sinsp_files_find(t->files, num);
	/* The kernel frees a number early in close: it can be given away before close returns. */
	reopened = old && (old->flags & SINSP_FD_F_CLOSING);
	fd = sinsp_files_add(&tt->fds, t->files, num, type);
	if (!fd) {
		sinsp_warn_fd_limit(p->s);
		return NULL;
	}
	fd->as_of_ns = p->e->raw.true_ns;
	fd->flags = reopened ? SINSP_FD_F_REOPENED : 0;
	p->e->fd = fd;
	p->e->fdnum = num;
	return fd;
}

typedef struct sinsp_fd *(*edit_fn)(struct sinsp_fd_mem *mem, struct sinsp_files *f, int64_t num);

static struct sinsp_fd *edit(struct sinsp_parse *p, edit_fn how)
{
	struct sinsp_fd *fd = NULL;

	if (p->e->fd)
		fd = how(&p->s->threads.fds, p->e->thread->files, p->e->fdnum);
	if (fd)
		p->e->fd = fd;
	else
		sinsp_warn_fd_limit(p->s);
	return fd;
}

struct sinsp_fd *sinsp_parse_edit_fd(struct sinsp_parse *p)
{
	return edit(p, sinsp_files_edit);
}

struct sinsp_fd *sinsp_parse_edit_socket(struct sinsp_parse *p)
{
	return edit(p, sinsp_files_edit_socket);
}

void sinsp_parse_end(struct sinsp *s)
{
	struct sinsp_thread *t;

	if (s->ended_tid != -1) {
		t = sinsp_threads_find(&s->threads, s->ended_tid);
		if (t)
			sinsp_threads_end(&s->threads, t, s->reaper_tid);
		s->ended_tid = -1;
	}
	if (s->closed_fd != -1) {
		t = sinsp_threads_find(&s->threads, s->closed_tid);
		if (t)
			sinsp_files_remove(&s->threads.fds, t->files, s->closed_fd);
		s->closed_fd = -1;
	}
}

/* A thread runs on for a while after its end: samples and switches tell so, where sysdig knows
 * nobody any more. The idle tasks, of whom there are many switches, are 0, and never known. */
static struct sinsp_thread *dead_thread_of(struct sinsp *s, const struct sinsp_evt *e,
					   const struct sinsp_parse_row *row)
{
	const int64_t tid = e->raw.hdr->tid;

	if (!tid || row->of_thread || !(row->is_private || s->native))
		return NULL;
	return sinsp_threads_find_dead(&s->threads, tid);
}

/* An event that is not of its thread, or makes it, names it only if it is known. */
static struct sinsp_thread *thread_of(struct sinsp *s, const struct sinsp_evt *e,
				      const struct sinsp_parse_row *row)
{
	int64_t tid = e->raw.hdr->tid;
	struct sinsp_thread *t = sinsp_threads_find(&s->threads, tid);

	if (s->resync.threads_lost_ns && s->resync.on && t && row->of_thread && !row->is_clone)
		t = sinsp_resync_thread(s, t);
	if (t)
		return t;
	if (!row->of_thread || row->is_clone)
		return dead_thread_of(s, e, row);
	return sinsp_thread_get(s, tid);
}

static int64_t fd_param(const struct sinsp_evt *e, const struct sinsp_parse_row *row)
{
	const struct scap_param *v = param_at(&e->params, row->fd);

	return v && v->len == sizeof(int64_t) ? (int64_t)get_u64(v->p) : sinsp_s64(v, -1);
}

static inline void bind_fd(struct sinsp *s, struct sinsp_evt *e, int64_t num)
{
	e->fdnum = num;
	if (s->resync.on && (s->resync.fds_lost_ns || e->thread->files->partial))
		e->fd = sinsp_resync_fd(s, e->thread, num, e->raw.true_ns);
	else
		e->fd = sinsp_files_find(e->thread->files, num);
}

/* Of a call that sleeps an address is not there either: only the exit has it. */
static int is_unknown(const struct scap_param_info *info, const struct scap_param *v, int sleeps)
{
	if (info->type == PT_SOCKTUPLE || info->type == PT_SOCKADDR)
		return sleeps && !v->len;
	if (info->type != PT_FSPATH && info->type != PT_FSRELPATH && info->type != PT_CHARBUF)
		return 0;
	return !v->len || !strncmp((const char *)v->p, "<NA>", v->len) ||
	       !strncmp((const char *)v->p, "(NULL)", v->len);
}

/* Was an enter sent ahead before the kernel had read its texts? */
static int lacks_text(const struct sinsp_evt *e)
{
	for (unsigned int i = 0; i < e->params.n && i < e->info->n_params; i++)
		if (is_unknown(&e->info->params[i], &e->params.v[i],
			       e->raw.flags & SCAP_EVT_F_BLOCKED))
			return 1;
	return 0;
}

static void begin_call(struct sinsp *s, struct sinsp_evt *e, const struct sinsp_parse_row *row)
{
	struct sinsp_thread *t = e->thread;

	/* A signal that arrives inside a call is not the call's enter; sysdig takes it for one. */
	if (s->native && !row->is_call)
		return;
	t->enter_type = e->raw.type;
	t->enter_ns = e->raw.true_ns;
	t->latency_ns = 0;
	t->enter_fd = -1;
	t->enter_hidden = !!(e->raw.flags & SCAP_EVT_F_HIDDEN);
	t->enter_open = 1;
	t->enter_before = !!(e->raw.flags & SCAP_EVT_F_BEFORE);
	t->enter_lacks = s->enter_events && s->native && lacks_text(e);
	sinsp_thread_drop_enter(&s->threads, t);
	if (row->save && !s->native)
		sinsp_thread_save_enter(&s->threads, t, e->raw.hdr);
	if (row->fd >= 0) {
		t->enter_fd = fd_param(e, row);
		bind_fd(s, e, t->enter_fd);
	}
}

/* Whether the exit's enter is the last one of the thread. */
static int is_bound(const struct sinsp_evt *e)
{
	return e->thread->enter_type + 1 == e->raw.type;
}

static int is_exec(unsigned int type)
{
	return type == EVT_EXECVE_X || type == EVT_EXECVEAT_X;
}

/*
 * A thread that is not the leader execs: it enters under its own tid and exits under the
 * leader's, which was not in an exec itself.
 */
static void move_enter_from_sibling(struct sinsp *s, struct sinsp_thread *t, unsigned int exit_type)
{
	struct sinsp_thread *from;

	s->execed_tid = -1;
	if (t->enter_open && t->enter_type + 1u == exit_type)
		return;
	for (from = t->proc->threads; from; from = from->sibling)
		if (from->enter_open && from->enter_type + 1u == exit_type)
			break;
	if (!from)
		return;
	t->enter_type = from->enter_type;
	t->enter_ns = from->enter_ns;
	t->enter_open = 1;
	t->enter_before = from->enter_before;
	t->enter_lacks = from->enter_lacks;
	from->enter_open = 0;
	s->execed_tid = from->tid;
}

/* Whether the exit's enter was seen. */
static int end_call(struct sinsp *s, struct sinsp_evt *e, const struct sinsp_parse_row *row)
{
	struct sinsp_thread *t = e->thread;
	int bound, open;
	int64_t num = -1;

	if (s->native && is_exec(e->raw.type))
		move_enter_from_sibling(s, t, e->raw.type);
	bound = is_bound(e);
	open = bound && t->enter_open;
	if (open && !t->enter_before && t->enter_ns <= e->raw.true_ns) {
		e->latency_ns = e->raw.true_ns - t->enter_ns;
		e->latency_known = 1;
	}
	t->latency_ns = e->latency_ns;
	t->enter_open = 0;
	if (!row->uses_fd)
		return open;

	/* copy_file_range is about two files: sysdig takes the one that is written. */
	if (row->fd >= 0 && e->params.n > (unsigned int)row->fd)
		num = fd_param(e, row);
	else if (bound)
		num = t->enter_fd;
	if (num != -1)
		bind_fd(s, e, num);
	if (e->fd && e->fd->flags & SINSP_FD_F_CONNECT_PENDING)
		sinsp_connect_outcome(s, e, row);
	return open;
}

/* Contract of lines: a call is one line unless its enter has one of its own. The enter of one that
 * sleeps says all that it sleeps with. */
static int shows_full(const struct sinsp *s, const struct sinsp_evt *e,
		      const struct sinsp_parse_row *row, int enter_seen)
{
	if (row->is_private)
		return 1;
	if (evt_is_enter(e->raw.type))
		return !!(e->raw.flags & SCAP_EVT_F_BLOCKED);
	if (e->raw.flags & SCAP_EVT_F_FULL)
		return !s->enter_events || !enter_seen || e->thread->enter_lacks;
	return !enter_seen && e->params.n > e->info->n_2022;
}

/* Live, the threads are read while events already come: what is older than what was read is
 * part of it. */
static int is_older_than_snapshot(const struct sinsp_evt *e)
{
	return e->thread && e->raw.true_ns < e->thread->snapshot_ns;
}

/* What takes no number is of the capture, but for samples and the like. */
static int is_of_system(const struct sinsp_evt *e)
{
	return e->raw.num || (e->info && !(e->info->category & EC_INTERNAL));
}

static void note_preface(struct sinsp *s, const struct sinsp_evt *e)
{
	unsigned int type = e->raw.type;

	s->evt_in_preface = !s->begun && (type == EVT_CONTAINER_272_E || type == EVT_CONTAINER_E);
	if (s->evt_in_preface || !is_of_system(e))
		return;
	s->begun = 1;
	if (!s->first_ns)
		s->first_ns = e->raw.ts_ns;
}

/* Apart, so that the common way needs no room for the enter's parameters. */
static __attribute__((noinline)) void change_state(struct sinsp *s, struct sinsp_evt *e,
						   const struct sinsp_parse_row *row)
{
	const struct ppm_evt_hdr *saved = NULL;
	const char *name = e->fd ? e->fd->name : NULL;
	struct sinsp_parse p; /* large: enter is set only with enter_row */

	p.s = s;
	p.e = e;
	p.row = row;
	p.enter_row = NULL;
	if (row->of_thread && e->thread && is_bound(e))
		saved = sinsp_thread_saved_enter(e->thread);
	if (saved && !scap_evt_params(saved, &p.enter))
		p.enter_row = row_of(saved->type);
	row->fn(&p);
	/* Names are interned. */
	e->fd_renamed = e->fd && (name ? e->fd->name != name : *e->fd->name);
}

void sinsp_parse_event(struct sinsp *s, struct sinsp_evt *e)
{
	const struct sinsp_parse_row *row = row_of(e->raw.type);
	int enter_seen = 0, is_exit = !evt_is_enter(e->raw.type);

	e->info = row->info ? row->info : scap_event_info(e->raw.type);
	e->thread = NULL;
	e->fd = NULL;
	e->fdnum = -1;
	e->other_fd = NULL;
	e->other_fdnum = -1;
	e->io_end = 0;
	e->latency_ns = 0;
	e->latency_known = 0;
	e->ran_ns = 0;
	e->ran_known = 0;
	e->fd_renamed = 0;
	e->connect_done = 0;
	if (e->raw.flags & (SCAP_EVT_F_FULL | SCAP_EVT_F_HIDDEN | SCAP_EVT_F_BLOCKED))
		s->native = 1;
	if (!s->begun || !s->first_ns)
		note_preface(s, e);
	if (!e->info) {
		e->show_full = 0;
		return;
	}

	if (s->resync.on)
		sinsp_resync_step(s, e->raw.true_ns);
	e->thread = thread_of(s, e, row);
	if (e->thread && row->of_thread) {
		if (is_exit)
			enter_seen = end_call(s, e, row);
		else
			begin_call(s, e, row);
	} else if (e->thread && e->raw.type == EVT_SWITCH_E) {
		e->latency_ns = e->thread->latency_ns;
	}
	e->show_full = shows_full(s, e, row, enter_seen);
	if (row->fn && (row->of_any_age || !is_older_than_snapshot(e)))
		change_state(s, e, row);
	if (is_exit && e->thread && !row->is_private)
		sinsp_thread_drop_enter(&s->threads, e->thread);
}
