/* SPDX-License-Identifier: Apache-2.0 */
/* Events that change the working directory, the root or the mount namespace of a thread. */
#include <string.h>

#include "parsers.h"
#include "state/pathname.h"

/* Joins @path to the working directory. @out has room for one more slash. */
static size_t from_cwd(const struct sinsp_parse *p, char *out, const char *path, size_t len)
{
	const char *cwd = p->e->thread->fs->cwd;
	size_t n = sinsp_str_len(cwd);

	return sinsp_parse_path(p, out, cwd, n < SINSP_PATH_SZ / 2 ? n : 0, path, len);
}

static void set_cwd(struct sinsp_parse *p, char *text, size_t n, int is_certain)
{
	struct sinsp_fs *fs = p->e->thread->fs;

	if (is_certain)
		fs->as_of_ns = p->e->raw.true_ns;
	if (!n || text[n - 1] != '/')
		text[n++] = '/';
	sinsp_str_set(&p->s->threads.strings, &fs->cwd, text, n);
}

void sinsp_parse_chdir(struct sinsp_parse *p)
{
	const struct scap_param *path = sinsp_evt_param(p, SINSP_P_path);

	char text[SINSP_PATH_SZ + 1];

	if (sinsp_result(p) >= 0 && path && p->e->thread)
		set_cwd(p, text, from_cwd(p, text, (const char *)path->p, path->len),
			path->p[0] == '/' || sinsp_fs_is_certain(p->s, p->e->thread->fs));
}

void sinsp_parse_fchdir(struct sinsp_parse *p)
{
	const struct sinsp_fd *fd = p->e->fd;
	char text[SINSP_PATH_SZ + 1];
	int is_certain;
	size_t n;

	if (sinsp_result(p) < 0 || !fd)
		return;
	is_certain = sinsp_fd_is_certain(p->s, fd, p->e->raw.true_ns);
	if (!is_certain)
		p->e->thread->fs->as_of_ns = fd->as_of_ns;
	if (sinsp_quirk(p->s, SINSP_QUIRK_FCHDIR_FROM_CWD))
		n = from_cwd(p, text, fd->name, strlen(fd->name));
	else
		n = sinsp_path_join(text, SINSP_PATH_STRICT, "", 0, fd->name, strlen(fd->name));
	set_cwd(p, text, n, is_certain);
}

/* The kernel returns "(unreachable)..." for a directory outside the root: not a path. */
void sinsp_parse_getcwd(struct sinsp_parse *p)
{
	const struct scap_param *path = sinsp_evt_param(p, SINSP_P_path);

	if (path && path->p[0] == '/')
		sinsp_parse_chdir(p);
}

void sinsp_parse_chroot(struct sinsp_parse *p)
{
	const struct scap_param *path = sinsp_evt_param(p, SINSP_P_path);
	char text[SINSP_PATH_SZ];
	size_t n;

	if (sinsp_result(p) < 0 || !path || !p->e->thread)
		return;
	n = from_cwd(p, text, (const char *)path->p, path->len);
	sinsp_str_set(&p->s->threads.strings, &p->e->thread->fs->root, text, n);
}

/* Sets root and directory to those of another mount namespace. */
static void enter_mounts(struct sinsp_parse *p)
{
	struct sinsp_fs *fs = p->e->thread->fs;

	sinsp_str_set(&p->s->threads.strings, &fs->root, "/", 1);
	sinsp_str_set(&p->s->threads.strings, &fs->cwd, "/", 1);
}

/* Without flags the name of the descriptor, /proc/PID/ns/mnt, selects the mount namespace. */
void sinsp_parse_setns(struct sinsp_parse *p)
{
	static const char mnt[] = "/ns/mnt";
	uint32_t flags = sinsp_u64(sinsp_evt_param(p, SINSP_P_nstype), 0);
	const char *name = p->e->fd ? p->e->fd->name : "";
	size_t n = strlen(name);

	if (sinsp_result(p) < 0 || !p->e->thread || sinsp_quirk(p->s, SINSP_QUIRK_NO_NAMESPACES))
		return;
	if (flags & SINSP_CL_NEWNS ||
	    (!flags && n >= sizeof(mnt) - 1 && !strcmp(name + n - (sizeof(mnt) - 1), mnt)))
		enter_mounts(p);
}

static void unshare_fs(struct sinsp_parse *p)
{
	struct sinsp_threads *tt = &p->s->threads;
	struct sinsp_thread *t = p->e->thread;
	struct sinsp_fs *own = t->fs->refs > 1 ? sinsp_fs_copy(&tt->fses, t->fs) : NULL;

	if (!own)
		return;
	sinsp_fs_put(&tt->fses, &tt->strings, t->fs);
	t->fs = own;
}

/* A new mount or user namespace implies CLONE_FS. */
void sinsp_parse_unshare(struct sinsp_parse *p)
{
	uint32_t flags = sinsp_u64(sinsp_evt_param(p, SINSP_P_flags), 0);

	if (sinsp_result(p) < 0 || !p->e->thread || sinsp_quirk(p->s, SINSP_QUIRK_NO_NAMESPACES))
		return;
	if (flags & SINSP_CL_FILES)
		sinsp_parse_unshare_files(p, p->e->thread);
	if (flags & (SINSP_CL_FS | SINSP_CL_NEWNS | SINSP_CL_NEWUSER))
		unshare_fs(p);
}
