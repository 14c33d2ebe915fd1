/* SPDX-License-Identifier: Apache-2.0 */
/* Execs: the new program of a process, its file, arguments and credentials. */
#include <string.h>

#include "parsers.h"
#include "process_params.h"
#include "state/pathname.h"

enum { EXE_WRITABLE = 1, AT_FDCWD_2022 = -100 }; /* values of the format */
enum { EXE_KINDS = SCAP_EXE_UPPER_LAYER | SCAP_EXE_MEMFD | SCAP_EXE_LOWER_LAYER };

/* After a loss the parameter cwd replaces an uncertain directory. */
static void set_cwd(struct sinsp_parse *p, struct sinsp_thread *t)
{
	const struct scap_param *cwd = sinsp_evt_param(p, SINSP_P_cwd);
	char text[SINSP_PATH_SZ + 1];
	size_t n;

	if (sinsp_quirk(p->s, SINSP_QUIRK_CWD_PARAM_IGNORED) || !cwd || cwd->p[0] != '/' ||
	    sinsp_fs_is_certain(p->s, t->fs))
		return;
	n = sinsp_parse_path(p, text, "/", 1, (const char *)cwd->p, cwd->len);
	if (text[n - 1] != '/')
		text[n++] = '/';
	sinsp_str_set(&process_table(p)->strings, &t->fs->cwd, text, n);
	t->fs->as_of_ns = p->e->raw.true_ns;
}

static size_t exec_directory(const struct sinsp_parse *p, int64_t dirfd, char *out)
{
	const struct sinsp_fd *dir = NULL;
	const char *name = p->e->thread->fs->cwd;
	size_t n;

	if (dirfd != AT_FDCWD_2022) {
		dir = sinsp_thread_fd(p->e->thread, dirfd);
		name = dir ? dir->name : "<UNKNOWN>";
	}
	n = strnlen(name, SINSP_PATH_SZ / 2);
	memcpy(out, name, n);
	if (dir)
		out[n++] = '/';
	return n;
}

/* Sets the path of the executed file: as the kernel prints it, else the argument of the call. */
static void set_exepath(struct sinsp_parse *p)
{
	const struct scap_param *trusted = sinsp_evt_param(p, SINSP_P_trusted_exepath);
	const struct scap_param *path = sinsp_call_param(p, SINSP_P_filename);
	const char **exepath = &p->e->thread->proc->exepath;
	char dir[SINSP_PATH_SZ], text[SINSP_PATH_SZ];
	int64_t dirfd = AT_FDCWD_2022;
	size_t n;

	if (trusted && sinsp_text_len(trusted)) {
		if (strlen(p->e->thread->fs->root) > 1 &&
		    !sinsp_quirk(p->s, SINSP_QUIRK_EXEPATH_AS_IS)) {
			n = sinsp_parse_path(p, text, "/", 1, (const char *)trusted->p,
					     trusted->len);
			sinsp_str_set(&process_table(p)->strings, exepath, text, n);
		} else {
			process_set_text(p, exepath, trusted);
		}
		return;
	}
	if (p->e->raw.type == EVT_EXECVEAT_X) {
		path = sinsp_call_param(p, SINSP_P_pathname);
		dirfd = sinsp_s64(sinsp_call_param(p, SINSP_P_dirfd), AT_FDCWD_2022);
	}
	if (!path)
		return;
	if (!strncmp((const char *)path->p, "<NA>", path->len)) {
		process_set_text(p, exepath, path);
		return;
	}
	n = exec_directory(p, dirfd, dir);
	if (!sinsp_text_len(path) && n > 1) /* AT_EMPTY_PATH: the descriptor itself */
		n = sinsp_path_join(text, SINSP_PATH_STRICT, "", 0, dir, n - 1);
	else
		n = sinsp_parse_path(p, text, dir, n, (const char *)path->p, path->len);
	sinsp_str_set(&process_table(p)->strings, exepath, text, n);
}

static int closes_on_exec(const struct sinsp_fd *fd, void *ctx)
{
	(void)ctx;
	return fd->flags & SINSP_FD_F_CLOEXEC;
}

/* Moves table, directory and times of the thread that called exec to the leader, under whose TID it
 * continues. */
static void replace_leader(struct sinsp_parse *p, struct sinsp_thread *t)
{
	struct sinsp_thread *from = sinsp_threads_find(process_table(p), p->s->execed_tid);
	struct sinsp_files *files = t->files;
	struct sinsp_fs *fs = t->fs;

	if (!from || from->proc != t->proc)
		return;
	t->files = from->files;
	t->fs = from->fs;
	from->files = files;
	from->fs = fs;
	t->exec_ns = from->exec_ns;
	t->ran_ns = from->ran_ns;
	t->ran_at_ns = from->ran_at_ns;
}

/* Ends the other threads of the process, unshares its files and closes those with O_CLOEXEC, as the
 * kernel does before a new program begins. */
static void begin_program(struct sinsp_parse *p, struct sinsp_thread *t)
{
	replace_leader(p, t);
	for (const struct sinsp_thread *x = t->proc->threads; x; x = x->sibling)
		if (x != t)
			sinsp_threads_note_end(process_table(p), x->tid, p->e->raw.true_ns);
	sinsp_threads_end_siblings(process_table(p), t);
	if (sinsp_parse_unshare_files(p, t))
		sinsp_files_sweep(&process_table(p)->fds, t->files, closes_on_exec, NULL);
}

/* Clears the flags of the clone: exec ends the sharing of files. */
static void reset_flags(struct sinsp_thread *t)
{
	t->flags &= SINSP_CL_INVERTED;
}

/* Sets the facts about the program's file. Events before 2023 only have whether it is writable;
 * saker's own events do not cover overlays. */
static void set_exe(const struct sinsp_parse *p, struct sinsp_process *proc)
{
	uint64_t flags = sinsp_u64(sinsp_evt_param(p, SINSP_P_flags), 0);
	uint8_t known = flags & EXE_KINDS;

	if (p->s->native)
		known |= SCAP_EXE_MEMFD;
	else if (sinsp_evt_param(p, SINSP_P_trusted_exepath))
		known = EXE_KINDS;
	proc->exe_writable = flags & EXE_WRITABLE;
	proc->exe_kind = flags & EXE_KINDS;
	proc->exe_kind_known = known;
	proc->exe_ino = sinsp_u64(sinsp_evt_param(p, SINSP_P_exe_ino), 0);
	proc->exe_ctime_ns = sinsp_u64(sinsp_evt_param(p, SINSP_P_exe_ino_ctime), 0);
	proc->exe_mtime_ns = sinsp_u64(sinsp_evt_param(p, SINSP_P_exe_ino_mtime), 0);
}

/* Sets the process group. The event has it twice under one name: in the innermost PID namespace
 * and, behind the path of the program, in the initial one. */
static void set_group(const struct sinsp_parse *p, struct sinsp_thread *t)
{
	int path = p->row->at[SINSP_P_trusted_exepath];
	const struct scap_params *ps = &p->e->params;

	t->proc->vpgid = sinsp_s64(sinsp_evt_param(p, SINSP_P_pgid), t->proc->vpgid);
	if (path >= 0 && (unsigned int)path + 1 < ps->n)
		t->proc->pgid = sinsp_s64(&ps->v[path + 1], t->proc->pgid);
}

void sinsp_parse_execve(struct sinsp_parse *p)
{
	struct sinsp_thread *t = p->e->thread;
	struct sinsp_process *proc;

	if (sinsp_result(p) < 0 || !t)
		return;
	if (t->tid == t->pid && !sinsp_quirk(p->s, SINSP_QUIRK_EXEC_KEEPS_THREADS))
		begin_program(p, t);
	proc = t->proc;
	t->known = proc->known = 1;
	t->as_of_ns = p->e->raw.true_ns;
	t->resynced = 0;
	process_set_comm(p, t);
	sinsp_str_set(&process_table(p)->strings, &proc->name, t->comm, strlen(t->comm));
	set_cwd(p, t);
	set_exepath(p);
	process_set_text(p, &proc->exe, sinsp_evt_param(p, SINSP_P_exe));
	process_set_list(p, &proc->args, sinsp_evt_param(p, SINSP_P_args));
	if (sinsp_evt_param(p, SINSP_P_env))
		process_set_list(p, &proc->env, sinsp_evt_param(p, SINSP_P_env));
	process_set_cgroups(p, proc);
	if (t->ptid == -1)
		t->ptid = sinsp_s64(sinsp_evt_param(p, SINSP_P_ptid), -1);
	proc->fdlimit = sinsp_s64(sinsp_evt_param(p, SINSP_P_fdlimit), proc->fdlimit);
	proc->tty = sinsp_u64(sinsp_evt_param(p, SINSP_P_tty), proc->tty);
	proc->tty_known |= sinsp_evt_param(p, SINSP_P_tty) != NULL;
	proc->loginuid = sinsp_u64(sinsp_evt_param(p, SINSP_P_loginuid), proc->loginuid);
	set_exe(p, proc);
	set_group(p, t);
	t->uid = sinsp_u64(sinsp_evt_param(p, SINSP_P_uid), t->uid);
	t->gid = sinsp_u64(sinsp_evt_param(p, SINSP_P_gid), t->gid);
	process_set_capabilities(p, proc);
	process_set_memory(p, proc);
	process_set_faults(p, t);
	reset_flags(t);
	t->suppressed &= ~SINSP_SUPPRESSED_NAME;
	sinsp_thread_mark(p->s, t, NULL);
}
