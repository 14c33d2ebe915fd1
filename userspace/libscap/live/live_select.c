/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the calls that the driver records for the state, besides selected ones:
 *
 * - calls that change threads (clone, exec, setuid, chdir...), of all tasks; - calls that change
 * descriptors, if a selected event shows any. Where tasks are selected by what may change (name,
 * user, cgroup), of all tasks, since any may become selected; where they are selected by process,
 * only of these.
 *
 * The flags of events say which calls these are.
 */
#include "live/live_select.h"
#include "event/ia32_table.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#define COMM_LEN 15 /* maximum length of a name in the kernel */
#define NR_FCHDIR 81
#define CHANGES_FD (EF_CREATES_FD | EF_DESTROYS_FD)
#define MOVES_DATA (EF_READS_FROM_FD | EF_WRITES_TO_FD)

_Static_assert(offsetof(struct scap_calls, unknown) ==
		       sizeof(struct drv_calls) + sizeof(((struct drv_config *)0)->show_events),
	       "scap_calls has the bits of the driver's settings");
_Static_assert(EVT_INDEX_MAX <= DRV_MAX_EVENTS, "a bit for each event");

static void set_bit(uint64_t *bits, unsigned int i, int to)
{
	if (to)
		bits[i / 64] |= 1ull << i % 64;
	else
		bits[i / 64] &= ~(1ull << i % 64);
}

static int get_bit(const uint64_t *bits, unsigned int i)
{
	return bits[i / 64] >> i % 64 & 1;
}

struct by_name {
	struct scap_calls *calls;
	const char *name;
	int remove, found;
};

/* Returns whether it is the exit or enter event of a call. */
static int is_of_call(unsigned int type)
{
	for (unsigned int nr = 0; nr < DRV_MAX_NR; nr++)
		if (scap_syscall_name(nr, 0) && scap_syscall_exit_type(nr) == (type | 1))
			return 1;
	return type <= EVT_SYSCALL_X;
}

/* Returns whether it has no event before it, as the exit of a call has its enter. */
static int is_alone(unsigned int type)
{
	return evt_is_enter(type) || !scap_event_info(type - 1);
}

static int is_event_of_its_own(const struct scap_event_info *info)
{
	return !(info->flags & (EF_UNUSED | EF_OLD_VERSION)) && !is_of_call(info->id) &&
	       !(info->category & EC_INTERNAL) && is_alone(info->id);
}

static void set_event(void *ctx, const struct scap_event_info *info)
{
	struct by_name *b = ctx;

	if (strcmp(info->name, b->name) != 0 || !is_event_of_its_own(info))
		return;
	set_bit(b->calls->events, EVT_INDEX(info->id), !b->remove);
	b->found = 1;
}

int scap_calls_set(struct scap_calls *calls, const char *name, int remove)
{
	struct by_name b = {calls, name, remove, 0};

	for (unsigned int ia32 = 0; ia32 < 2; ia32++) {
		for (unsigned int nr = 0; nr < DRV_MAX_NR; nr++) {
			const char *known = scap_syscall_name(nr, (int)ia32);

			if (!known || strcmp(known, name) != 0)
				continue;
			set_bit(calls->bits[ia32], nr, !remove);
			b.found = 1;
		}
	}
	if (!b.found)
		scap_event_each(set_event, &b);
	return b.found ? 0 : -ENOENT;
}

static int has_type(const uint64_t *types, unsigned int type)
{
	return get_bit(types, evt_index(type & ~1u)) || get_bit(types, evt_index(type | 1));
}

/* A 32-bit call has the event of its x86_64 counterpart, or one of its own. */
static unsigned int exit_type(unsigned int nr, int ia32)
{
	const struct ia32_call *call = &scap_ia32_calls()[nr];

	if (!ia32)
		return scap_syscall_exit_type(nr);
	if (call->event)
		return call->event;
	return call->row == REC_NR_NONE ? EVT_SYSCALL_X : scap_syscall_exit_type(call->row);
}

void scap_types_add(uint64_t *types, unsigned int type)
{
	set_bit(types, evt_index(type), 1);
}

void scap_calls_set_types(struct scap_calls *calls, const uint64_t *types)
{
	memset(calls, 0, sizeof(*calls));
	for (unsigned int i = 0; i < 2 * DRV_MAX_NR; i++) {
		const unsigned int ia32 = i / DRV_MAX_NR, nr = i % DRV_MAX_NR;

		set_bit(calls->bits[ia32], nr, has_type(types, exit_type(nr, (int)ia32)));
	}
	memcpy(calls->events, types, EVT_INDEX_MAX / 8);
	for (unsigned int i = 0; i < EVT_INDEX_MAX; i++)
		if (get_bit(types, i))
			set_bit(calls->events, i ^ 1, 1);
	calls->unknown = has_type(types, EVT_SYSCALL_X);
}

void scap_calls_set_all(struct scap_calls *calls)
{
	memset(calls, 0xff, sizeof(*calls));
}

struct name_visitor {
	void (*fn)(void *ctx, const char *name);
	void *ctx;
};

static void visit_event(void *ctx, const struct scap_event_info *info)
{
	const struct name_visitor *v = ctx;

	if (is_event_of_its_own(info))
		v->fn(v->ctx, info->name);
}

void scap_calls_each_name(void (*fn)(void *ctx, const char *name), void *ctx)
{
	struct name_visitor v = {fn, ctx};

	for (int ia32 = 0; ia32 < 2; ia32++)
		for (unsigned int nr = 0; nr < DRV_MAX_NR; nr++)
			if (scap_syscall_name(nr, ia32))
				fn(ctx, scap_syscall_name(nr, ia32));
	scap_event_each(visit_event, &v);
}

/* Returns the x86_64 call as which a call is decoded; REC_NR_NONE: none. */
static unsigned int native_nr(unsigned int nr, int ia32)
{
	return ia32 ? scap_ia32_calls()[nr].row : nr;
}

static uint32_t event_flags(unsigned int nr)
{
	return nr == REC_NR_NONE ? 0 : scap_event_info(scap_syscall_exit_type(nr))->flags;
}

static int changes_thread(unsigned int nr)
{
	const uint32_t flags = event_flags(nr);

	return nr == NR_FCHDIR || nr == SYS_setns ||
	       (flags & EF_MODIFIES_STATE && !(flags & (CHANGES_FD | EF_USES_FD)));
}

static int changes_fd(unsigned int nr)
{
	return (event_flags(nr) & (EF_MODIFIES_STATE | CHANGES_FD) || nr == SYS_recvmmsg ||
		nr == SYS_ioctl) &&
	       !changes_thread(nr);
}

/* Calls that send or receive, and only incidentally show the peer of a socket. A received message
 * may have descriptors. */
static int only_names_peer(unsigned int nr)
{
	return event_flags(nr) & MOVES_DATA && nr != SYS_recvmsg && nr != SYS_recvmmsg;
}

static int shows_fd(unsigned int nr)
{
	const struct scap_event_info *info = scap_event_info(scap_syscall_exit_type(nr));

	for (unsigned int i = 0; nr != REC_NR_NONE && i < info->n_params; i++)
		if (info->params[i].type == PT_FD)
			return 1;
	return 0;
}

static int any_shows_fd(const struct drv_calls *show)
{
	for (unsigned int i = 0; i < 2 * DRV_MAX_NR; i++) {
		const unsigned int ia32 = i / DRV_MAX_NR, nr = i % DRV_MAX_NR;

		if (get_bit(show->bits[ia32], nr) && shows_fd(native_nr(nr, (int)ia32)))
			return 1;
	}
	return 0;
}

static void set_state_calls(struct drv_config *c, const struct scap_select *s)
{
	const int fds = s->files || any_shows_fd(&c->show);
	/* A new process inherits the files of its parent. */
	const int any_task = !(c->tasks & DRV_TASKS_MARKED) || s->pids_to_come;

	for (unsigned int i = 0; i < 2 * DRV_MAX_NR; i++) {
		const unsigned int ia32 = i / DRV_MAX_NR, nr = i % DRV_MAX_NR;
		const unsigned int native = native_nr(nr, (int)ia32);
		const int thread = changes_thread(native), fd = fds && changes_fd(native);

		set_bit(c->state.bits[ia32], nr, thread || fd);
		set_bit(c->keeps.bits[ia32], nr, thread || changes_fd(native));
		set_bit(c->other.bits[ia32], nr,
			thread || (fd && any_task && (s->peers || !only_names_peer(native))));
	}
}

/* In 32-bit programs all calls on sockets, and on IPC, are one system call. */
static void set_multiplexed(struct drv_calls *calls)
{
	for (unsigned int i = IA32_SOCKETCALLS; i < IA32_TABLE_MAX; i++) {
		const unsigned int row = scap_ia32_calls()[i].row;

		if (row < DRV_MAX_NR && get_bit(calls->bits[0], row))
			set_bit(calls->bits[1], i < IA32_IPCS ? NR_IA32_SOCKETCALL : NR_IA32_IPC,
				1);
	}
}

static int check(const struct scap_select *s, const struct scap_log *log)
{
	if (s->n_comms > DRV_MAX_LISTED || s->n_uids > DRV_MAX_LISTED ||
	    s->n_suppress > DRV_MAX_LISTED)
		return scap_fail(log, -E2BIG, "at most %d names or users can be selected",
				 DRV_MAX_LISTED);
	if (s->n_cgroups > DRV_MAX_CGROUPS)
		return scap_fail(log, -E2BIG, "at most %d cgroups can be selected",
				 DRV_MAX_CGROUPS);
	if (s->n_pids + s->n_tids > DRV_MAX_MARKS)
		return scap_fail(log, -E2BIG, "at most %d processes can be selected",
				 DRV_MAX_MARKS);
	return 0;
}

int live_select_config(struct drv_config *c, const struct scap_select *s,
		       const struct scap_log *log)
{
	static const struct scap_select everything;
	struct scap_calls show;
	int err;

	if (!s)
		s = &everything;
	err = check(s, log);
	if (err)
		return err;
	scap_calls_set_all(&show);
	if (s->calls)
		show = *s->calls;
	else if (s->failed_only)
		memset(show.events, 0, sizeof(show.events)); /* they cannot fail */
	memcpy(&c->show, show.bits, sizeof(c->show));
	memcpy(c->show_events, show.events, sizeof(c->show_events));
	c->want_unknown = !s->calls || s->calls->unknown;
	c->tasks = (s->n_pids ? DRV_TASKS_MARKED : 0) | (s->n_comms ? DRV_TASKS_COMM : 0) |
		   (s->n_uids ? DRV_TASKS_UID : 0) | (s->n_cgroups ? DRV_TASKS_CGROUP : 0) |
		   (s->n_pids && s->descendants ? DRV_TASKS_INHERIT : 0) |
		   (s->n_tids ? DRV_TASKS_THREADS : 0) | (s->n_suppress ? DRV_TASKS_SUPPRESS : 0);
	c->uids_apart = s->uids_apart;
	c->n_cgroups = (uint32_t)s->n_cgroups;
	c->failed_only = s->failed_only;
	c->state_only = s->calls || c->tasks || s->failed_only || !c->calls;
	set_state_calls(c, s);
	for (unsigned int i = 0; i < sizeof(c->want) / sizeof(uint64_t); i++)
		(&c->want.bits[0][0])[i] = (&c->show.bits[0][0])[i] | (&c->state.bits[0][0])[i];
	set_multiplexed(&c->want);
	set_multiplexed(&c->other);
	set_multiplexed(&c->keeps);
	for (unsigned int i = 0; i < DRV_MAX_NR / 64; i++) {
		c->want_any[i] = c->want.bits[0][i] | c->want.bits[1][i];
		c->other_any[i] = c->other.bits[0][i] | c->other.bits[1][i];
	}
	return 0;
}

static uint32_t get_mark(int map, uint32_t pid)
{
	uint32_t mark;

	return bpf_map_lookup_elem(map, &pid, &mark) ? 0 : mark;
}

static int put_mark(int map, uint32_t tgid, uint32_t mark)
{
	return bpf_map_update_elem(map, &tgid, &mark, BPF_ANY) ? -errno : 0;
}

/* Reads the text of /proc/@pid/@file. Returns its length or a negative errno. */
static int read_proc(char *buf, size_t sz, uint32_t pid, const char *file)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, buf, sz - 1);
	close(fd);
	if (n < 0)
		return -errno;
	buf[n] = '\0';
	return (int)n;
}

/* Finds the process of a thread, and its parent. The numbers follow the name in parentheses, which
 * may contain parentheses. */
static int read_family(uint32_t pid, uint32_t *tgid, uint32_t *ppid)
{
	char buf[4096];
	const char *at;
	int n = read_proc(buf, sizeof(buf), pid, "status");

	if (n < 0)
		return n;
	at = strstr(buf, "\nTgid:");
	if (!at || sscanf(at, "\nTgid: %u", tgid) != 1)
		return -EBADMSG;
	at = strstr(at, "\nPPid:");
	return at && sscanf(at, "\nPPid: %u", ppid) == 1 ? 0 : -EBADMSG;
}

static int fill_pids(int map, const struct scap_select *s, const struct scap_log *log)
{
	for (size_t i = 0; i < s->n_pids; i++) {
		uint32_t pid = (uint32_t)s->pids[i], tgid, ppid;
		int err = s->pids_to_come ? 0 : read_family(pid, &tgid, &ppid);

		if (err)
			return scap_fail(log, -ESRCH, "no process %u", pid);
		if (!s->pids_to_come && tgid != pid)
			return scap_fail(log, -ESRCH, "%u is a thread of process %u: use the PID",
					 pid, tgid);
		err = put_mark(map, pid,
			       DRV_MARK_SELECTED | (s->pids_to_come ? DRV_MARK_LASTS : 0));
		if (err)
			return scap_fail(log, err, "cannot select process %u: %s", pid,
					 strerror(-err));
	}
	return 0;
}

static int fill_tids(int map, const struct scap_select *s)
{
	int err = 0;

	for (size_t i = 0; i < s->n_tids && !err; i++) {
		const uint32_t tid = (uint32_t)s->tids[i];

		err = put_mark(map, tid, get_mark(map, tid) | DRV_MARK_THREAD | DRV_MARK_LASTS);
	}
	return err;
}

static int fill_comms(int map, const char *const *comms, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char key[COMM_LEN + 1] = "";
		uint32_t one = 1;

		memcpy(key, comms[i], strnlen(comms[i], COMM_LEN));
		if (bpf_map_update_elem(map, key, &one, BPF_ANY))
			return -errno;
	}
	return 0;
}

static int fill_uids(int map, const struct scap_select *s)
{
	for (size_t i = 0; i < s->n_uids; i++) {
		uint32_t one = 1;

		if (bpf_map_update_elem(map, &s->uids[i], &one, BPF_ANY))
			return -errno;
	}
	return 0;
}

/* Finds where the cgroup2 hierarchy is mounted. */
static int find_cgroup2(char *out, size_t sz)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent m;
	char buf[4096];
	int err = -ENOENT;

	if (!f)
		return -errno;
	while (err && getmntent_r(f, &m, buf, sizeof(buf)))
		if (!strcmp(m.mnt_type, "cgroup2") && strlen(m.mnt_dir) < sz)
			err = (strcpy(out, m.mnt_dir), 0);
	endmntent(f);
	return err;
}

/* Resolves a path of the file system, or one from the root of the hierarchy. */
static int open_cgroup(const char *root, const char *path)
{
	char full[8192];
	const size_t n = strlen(root);

	if (!strncmp(path, root, n) && (!path[n] || path[n] == '/'))
		path += n;
	if (snprintf(full, sizeof(full), "%s/%s", root, path) >= (int)sizeof(full))
		return -ENAMETOOLONG;
	return open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int fill_cgroups(int map, const struct scap_select *s, const struct scap_log *log)
{
	char root[4096];

	if (find_cgroup2(root, sizeof(root)))
		return scap_fail(log, -ENOENT, "--cgroup needs a mounted cgroup2 file system");
	for (uint32_t i = 0; i < s->n_cgroups; i++) {
		int fd = open_cgroup(root, s->cgroups[i]), err = 0;

		if (fd < 0)
			return scap_fail(log, -errno, "no cgroup %s under %s: %s", s->cgroups[i],
					 root, strerror(errno));
		if (bpf_map_update_elem(map, &i, &fd, BPF_ANY))
			err = -errno;
		close(fd);
		if (err)
			return scap_fail(log, err, "cannot select the cgroup %s: %s", s->cgroups[i],
					 strerror(-err));
	}
	return 0;
}

int live_select_fill(const struct live_select_maps *maps, const struct scap_select *s,
		     const struct scap_log *log)
{
	int err = 0;

	if (!s)
		return 0;
	if (s->n_comms)
		err = fill_comms(maps->comms, s->comms, s->n_comms);
	if (!err && s->n_suppress)
		err = fill_comms(maps->suppressed, s->suppress, s->n_suppress);
	if (!err && s->n_uids)
		err = fill_uids(maps->uids, s);
	if (err)
		return scap_fail(log, err, "cannot pass the selection to the driver: %s",
				 strerror(-err));
	if (s->n_pids)
		err = fill_pids(maps->marks, s, log);
	if (!err && s->n_tids)
		err = fill_tids(maps->marks, s);
	if (!err && s->n_cgroups)
		err = fill_cgroups(maps->cgroups, s, log);
	return err;
}

static int is_suppressed(const struct scap_select *s, uint32_t pid)
{
	char comm[64];
	int n = s->n_suppress ? read_proc(comm, sizeof(comm), pid, "comm") : 0;

	if (n < 1)
		return 0;
	comm[n - 1] = '\0'; /* the end of its line */
	for (size_t i = 0; i < s->n_suppress; i++)
		if (!strncmp(s->suppress[i], comm, COMM_LEN))
			return 1;
	return 0;
}

/* Returns the marks that a process needs in addition, by its name and its parent's marks. */
static uint32_t mark_for(const struct scap_select *s, uint32_t pid, uint32_t parent)
{
	uint32_t mark = s->descendants ? parent & DRV_MARK_SELECTED : 0;

	if (is_suppressed(s, pid))
		mark |= DRV_MARK_NAMED | DRV_MARK_REPORTED;
	if (parent & DRV_MARKS_SUPPRESS)
		mark |= DRV_MARK_SUPPRESSED | DRV_MARK_REPORTED;
	return mark;
}

/* Marks the processes in /proc by their names and their parents' marks. Returns the number of
 * changes, or a negative errno. */
static int mark_processes(int map, const struct scap_select *s)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	int n = 0;

	if (!dir)
		return -errno;
	while (n >= 0 && (d = readdir(dir))) {
		uint32_t pid, tgid, ppid, own, mark;
		int err = 0;

		if (!isdigit((unsigned char)d->d_name[0]))
			continue;
		pid = (uint32_t)strtoul(d->d_name, NULL, 10);
		if (read_family(pid, &tgid, &ppid))
			continue; /* it has ended */
		own = get_mark(map, pid);
		mark = own | mark_for(s, pid, get_mark(map, ppid));
		if (mark == own)
			continue;
		err = put_mark(map, pid, mark);
		n = err ? err : n + 1;
	}
	closedir(dir);
	return n;
}

/* Returns whether the process is gone, or a zombie. A leader may end before its other threads. */
static int has_ended(uint32_t pid)
{
	unsigned int n_threads;
	const char *at;
	char buf[4096];

	if (read_proc(buf, sizeof(buf), pid, "status") < 0)
		return 1;
	at = strstr(buf, "\nState:\tZ");
	at = at ? strstr(at, "\nThreads:") : NULL;
	return at && sscanf(at, "\nThreads: %u", &n_threads) == 1 && n_threads <= 1;
}

/* Removes marks of processes that ended before the driver could see it. */
static void unmark_ended(int map, const struct scap_select *s)
{
	for (size_t i = 0; i < s->n_pids && !s->pids_to_come; i++) {
		const uint32_t pid = (uint32_t)s->pids[i];

		if (has_ended(pid))
			bpf_map_delete_elem(map, &pid);
	}
}

int live_select_mark(const struct live_select_maps *maps, const struct scap_select *s)
{
	int n = 0;

	/* A process found before its parent is marked in the next round. */
	if (s && ((s->n_pids && s->descendants) || s->n_suppress))
		while ((n = mark_processes(maps->marks, s)) > 0)
			;
	if (s && s->n_pids)
		unmark_ended(maps->marks, s);
	return n;
}

int live_select_any_lives(const struct live_select_maps *maps)
{
	uint32_t pid, *at = NULL;

	while (!bpf_map_get_next_key(maps->marks, at, &pid)) {
		const uint32_t mark = get_mark(maps->marks, pid);

		/* A zombie keeps its PID until its parent has waited for it. */
		if (mark & DRV_MARK_SELECTED && !(mark & DRV_MARK_DYING && has_ended(pid)))
			return 1;
		at = &pid;
	}
	return 0;
}
