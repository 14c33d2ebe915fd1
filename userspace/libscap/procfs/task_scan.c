// SPDX-License-Identifier: Apache-2.0
/* A process chooses its comm, arguments, environment and paths: comm may contain ") R 1" or a
 * newline, so stat is read from its last ')'; status escapes such bytes itself. */
#include "procfs/task_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_MAX (1u << 20) /* status lists up to 65536 groups */
#define KTHREAD_FLAG 0x00200000 /* PF_KTHREAD in the flags of stat */
#define NS_PER_S 1000000000ull

void task_bufs_init(struct task_bufs *b)
{
	memset(b, 0, sizeof(*b));
	b->ticks_per_s = sysconf(_SC_CLK_TCK);
}

void task_bufs_fini(struct task_bufs *b)
{
	proc_buf_fini(&b->stat);
	proc_buf_fini(&b->status);
	proc_buf_fini(&b->cmdline);
	proc_buf_fini(&b->environ);
	proc_buf_fini(&b->cgroup);
	proc_buf_fini(&b->limits);
	proc_buf_fini(&b->loginuid);
	proc_buf_fini(&b->exepath);
	proc_buf_fini(&b->cwd);
	proc_buf_fini(&b->root);
	proc_buf_fini(&b->cgroup_list);
	proc_buf_fini(&b->v2_controllers);
}

static void skip_ints(const char **p, int n)
{
	while (n--)
		proc_int(p);
}

/* pid (comm) state ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime
 * stime cutime cstime priority nice num_threads itrealvalue starttime ... */
static int parse_stat(struct scap_thread_info *t, struct task_extra *x, char *text,
		      uint64_t ticks_per_s)
{
	char *open = strchr(text, '('), *end = strrchr(text, ')');
	const char *p;
	uint64_t ticks;

	if (!open || !end || end < open || strlen(end) < 4)
		return -EINVAL;
	*end = 0;
	t->comm = open + 1;
	x->ended = end[2] == 'Z';
	p = end + 3; /* after the state letter */
	skip_ints(&p, 1);
	t->pgid = proc_int(&p);
	t->sid = proc_int(&p);
	t->tty = proc_int(&p);
	t->tty_known = 1;
	skip_ints(&p, 1);
	x->kthread = !!(proc_dec(&p) & KTHREAD_FLAG);
	t->pfminor = proc_dec(&p);
	skip_ints(&p, 1);
	t->pfmajor = proc_dec(&p);
	skip_ints(&p, 7);
	x->n_threads = proc_dec(&p);
	skip_ints(&p, 1);
	ticks = proc_dec(&p);
	t->start_ns = ticks / ticks_per_s * NS_PER_S + ticks % ticks_per_s * NS_PER_S / ticks_per_s;
	return 0;
}

static uint64_t key_dec(const char **p, const char *key)
{
	const char *v = proc_key(p, key);

	return v ? proc_dec(&v) : 0;
}

/* The last of several on the line: the number in the innermost namespace. */
static int64_t key_last(const char **p, const char *key, int64_t fallback)
{
	const char *v = proc_key(p, key);
	int64_t n = fallback;

	while (v && (*v == '\t' || *v == ' ')) {
		const char *before = ++v;
		int64_t got = proc_dec(&v);

		if (v == before)
			break;
		n = got;
	}
	return n;
}

static uint32_t key_effective_id(const char **p, const char *key)
{
	const char *v = proc_key(p, key);

	if (!v)
		return 0;
	proc_dec(&v);
	return proc_dec(&v);
}

static uint64_t key_hex(const char **p, const char *key)
{
	const char *v = proc_key(p, key);

	return v ? proc_hex(&v) : 0;
}

/* Keys in the order in which the kernel writes them. */
static void parse_status(struct scap_thread_info *t, const char *text)
{
	const char *p = text;

	t->pid = key_dec(&p, "Tgid");
	t->tid = key_dec(&p, "Pid");
	t->ptid = key_dec(&p, "PPid");
	t->uid = key_effective_id(&p, "Uid");
	t->gid = key_effective_id(&p, "Gid");
	t->vpid = key_last(&p, "NStgid", t->pid);
	t->vtid = key_last(&p, "NSpid", t->tid);
	t->vpgid = key_last(&p, "NSpgid", 0);
	t->vmsize_kb = proc_kb(key_dec(&p, "VmSize"));
	t->vmrss_kb = proc_kb(key_dec(&p, "VmRSS"));
	t->vmswap_kb = proc_kb(key_dec(&p, "VmSwap"));
	t->cap_inheritable = key_hex(&p, "CapInh");
	t->cap_permitted = key_hex(&p, "CapPrm");
	t->cap_effective = key_hex(&p, "CapEff");
	t->caps_known = 1;
}

int task_read_own(struct scap_thread_info *t, struct task_extra *x, struct task_bufs *b, int dirfd)
{
	int err = proc_read(&b->stat, dirfd, "stat", TEXT_MAX);

	if (!err)
		err = proc_read(&b->status, dirfd, "status", TEXT_MAX);
	if (err)
		return err;
	parse_status(t, b->status.p);
	return parse_stat(t, x, b->stat.p, b->ticks_per_s);
}

uint64_t task_read_tgid(struct task_bufs *b, int dirfd)
{
	const char *p;

	if (proc_read(&b->status, dirfd, "status", TEXT_MAX))
		return 0;
	p = b->status.p;
	return key_dec(&p, "Tgid");
}

static struct scap_text read_list(struct proc_buf *b, int dirfd, const char *name)
{
	if (proc_read(b, dirfd, name, TASK_LIST_MAX) || !b->len)
		return (struct scap_text){0};
	if (b->p[b->len - 1]) { /* truncated, or a title that the process wrote over it */
		if (b->len < TASK_LIST_MAX)
			b->p[b->len++] = 0;
		else
			b->p[b->len - 1] = 0;
	}
	return (struct scap_text){b->p, b->len};
}

static void read_cmdline(struct scap_thread_info *t, struct task_bufs *b, int dirfd)
{
	struct scap_text all = read_list(&b->cmdline, dirfd, "cmdline");
	size_t exe;

	if (!all.len)
		return;
	exe = strlen(all.p) + 1;
	t->exe = all.p;
	t->args = (struct scap_text){all.p + exe, all.len - exe};
}

static const char *read_link(struct proc_buf *b, int dirfd, const char *name)
{
	return proc_readlink(b, dirfd, name) ? "" : b->p;
}

static void put_cgroup(struct proc_buf *out, const char *subsys, size_t n, const char *path)
{
	size_t path_sz = strlen(path) + 1;

	if (out->len + n + 1 + path_sz > out->cap)
		return;
	memcpy(out->p + out->len, subsys, n);
	out->p[out->len + n] = '=';
	memcpy(out->p + out->len + n + 1, path, path_sz);
	out->len += n + 1 + path_sz;
}

/* One entry for each of "cpu,cpuacct" or, in the unified hierarchy, "cpuset cpu io". */
static void put_cgroups(struct proc_buf *out, const char *list, const char *path)
{
	static const char separators[] = ", \n";

	while (*list) {
		size_t n = strcspn(list, separators);

		if (n)
			put_cgroup(out, list, n, path);
		list += n;
		list += strspn(list, separators);
	}
}

/* "ID:SUBSYS,SUBSYS:PATH"; the unified hierarchy is "0::PATH". No group has a newline in it. */
static void parse_cgroup_line(struct task_bufs *b, char *line)
{
	char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
	const char *v2 = b->v2_controllers.len ? b->v2_controllers.p : "unified";

	if (!path)
		return;
	*path++ = 0;
	list++;
	put_cgroups(&b->cgroup_list, *list ? list : v2, path);
}

static struct scap_text read_cgroups(struct task_bufs *b, int dirfd)
{
	char *line, *save = NULL;

	if (proc_read(&b->cgroup, dirfd, "cgroup", TEXT_MAX))
		return (struct scap_text){0};
	if (!b->cgroup_list.p) {
		b->cgroup_list.p = malloc(TASK_LIST_MAX);
		b->cgroup_list.cap = b->cgroup_list.p ? TASK_LIST_MAX : 0;
	}
	b->cgroup_list.len = 0;
	for (line = strtok_r(b->cgroup.p, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		parse_cgroup_line(b, line);
	return (struct scap_text){b->cgroup_list.p, b->cgroup_list.len};
}

static uint64_t read_fdlimit(struct task_bufs *b, int dirfd)
{
	const char *p = proc_read(&b->limits, dirfd, "limits", TEXT_MAX) ? NULL : b->limits.p;

	p = p ? strstr(p, "\nMax open files") : NULL;
	if (!p)
		return 0;
	p += strlen("\nMax open files");
	return proc_dec(&p);
}

static int in_groups(const char *status, uint32_t gid)
{
	const char *v = proc_key(&status, "Groups");

	while (v && *v != '\n' && *v) {
		const char *before;

		v += strspn(v, " \t");
		before = v;
		if (proc_dec(&v) == gid && v != before)
			return 1;
		if (v == before)
			break;
	}
	return 0;
}

/* Returns whether the process may write to its own program, by owner, group and others, as the
 * kernel checks. */
static int exe_writable(const struct scap_thread_info *t, const char *status,
			const struct statx *st)
{
	if (t->cap_effective >> CAP_DAC_OVERRIDE & 1)
		return 1;
	if (st->stx_uid == t->uid)
		return !!(st->stx_mode & S_IWUSR);
	if (st->stx_gid == t->gid || in_groups(status, st->stx_gid))
		return !!(st->stx_mode & S_IWGRP);
	return !!(st->stx_mode & S_IWOTH);
}

static uint64_t ns_of(const struct statx_timestamp *ts)
{
	return (uint64_t)ts->tv_sec * NS_PER_S + (uint64_t)ts->tv_nsec;
}

/* Finds the file of the running program, and whether it is in memory only. Does not query a file
 * server, which may never answer. */
static void read_exe(struct scap_thread_info *t, const char *status, int dirfd)
{
	struct statx st;

	if (*t->exepath) {
		t->exe_kind = strncmp(t->exepath, "/memfd:", 7) ? 0 : SCAP_EXE_MEMFD;
		t->exe_kind_known = SCAP_EXE_MEMFD;
	}
	if (statx(dirfd, "exe", AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &st))
		return;
	t->exe_writable = exe_writable(t, status, &st);
	t->exe_ino = st.stx_ino;
	t->exe_ctime_ns = ns_of(&st.stx_ctime);
	t->exe_mtime_ns = ns_of(&st.stx_mtime);
}

static int32_t read_loginuid(struct task_bufs *b, int dirfd)
{
	const char *p;

	if (proc_read(&b->loginuid, dirfd, "loginuid", 32) || !b->loginuid.len)
		return -1;
	p = b->loginuid.p;
	return proc_dec(&p);
}

void task_read_shared(struct scap_thread_info *t, struct task_bufs *b, int dirfd, int kthread)
{
	t->cwd = read_link(&b->cwd, dirfd, "cwd");
	t->root = read_link(&b->root, dirfd, "root");
	t->cgroups = read_cgroups(b, dirfd);
	t->fdlimit = read_fdlimit(b, dirfd);
	t->loginuid = read_loginuid(b, dirfd);
	if (kthread)
		return;
	t->exepath = read_link(&b->exepath, dirfd, "exe");
	read_exe(t, b->status.p, dirfd);
	read_cmdline(t, b, dirfd);
	if (!b->no_environ)
		t->env = read_list(&b->environ, dirfd, "environ");
}
