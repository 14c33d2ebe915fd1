/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of paths. fs.path.* are Falco's, by a table of events: one path, or source and target of
 * calls that rename and link, only of successful calls. evt.path is the path that any call was
 * given, failed or not.
 */
#include <stdio.h>

#include "event/event_table.h"
#include "evt_param.h"
#include "fd.h"
#include "field_rows.h"
#include "pathname.h"
#include "process.h"
#include "thread.h"
#include "value.h"

enum which { PATH_NAME, PATH_SOURCE, PATH_TARGET, PATH_MAX_WHICH };

#define RAW 16 /* in the variant of a row: as given to the call */

/* Names of parameters. For links the source is the new link, as in Falco's libs. */
static const struct path_params {
	const char *names[PATH_MAX_WHICH];
} path_params[EVT_INDEX_MAX] = {
	[EVT_OPEN_X] = {{"name"}},
	[EVT_CREAT_X] = {{"name"}},
	[EVT_OPENAT_X] = {{"name"}},
	[EVT_OPENAT2_X] = {{"name"}},
	[EVT_MKDIR_X] = {{"path"}},
	[EVT_MKDIRAT_X] = {{"path"}},
	[EVT_RMDIR_X] = {{"path"}},
	[EVT_UNLINK_X] = {{"path"}},
	[EVT_UNLINKAT_X] = {{"name"}},
	[EVT_MKNOD_X] = {{"path"}},
	[EVT_MKNODAT_X] = {{"path"}},
	[EVT_INDEX(EVT_TRUNCATE_X)] = {{"path"}},
	[EVT_CHMOD_X] = {{"filename"}},
	[EVT_FCHMODAT_X] = {{"filename"}},
	[EVT_FCHMOD_X] = {{"fd"}},
	[EVT_CHOWN_X] = {{"path"}},
	[EVT_LCHOWN_X] = {{"path"}},
	[EVT_FCHOWNAT_X] = {{"pathname"}},
	[EVT_FCHOWN_X] = {{"fd"}},
	[EVT_QUOTACTL_X] = {{"special"}},
	[EVT_UMOUNT_X] = {{"name"}},
	[EVT_UMOUNT_386_X] = {{"name"}},
	[EVT_UMOUNT2_X] = {{"name"}},
	[EVT_RENAME_X] = {{NULL, "oldpath", "newpath"}},
	[EVT_RENAMEAT_X] = {{NULL, "oldpath", "newpath"}},
	[EVT_RENAMEAT2_X] = {{NULL, "oldpath", "newpath"}},
	[EVT_LINK_X] = {{NULL, "newpath", "oldpath"}},
	[EVT_LINKAT_X] = {{NULL, "newpath", "oldpath"}},
	[EVT_SYMLINK_X] = {{NULL, "linkpath", "target"}},
	[EVT_SYMLINKAT_X] = {{NULL, "linkpath", "target"}},
	[EVT_MOUNT_X] = {{NULL, "dev", "dir"}},
};

static int has_succeeded(const struct sinsp_evt *evt)
{
	return evt->params.n && evt->params.v[0].len == 8 &&
	       (int64_t)get_u64(evt->params.v[0].p) >= 0;
}

/* Gets the path of a descriptor in the event. */
static int name_of_fd(struct sinsp_eval *e, struct sinsp_value *v, const struct scap_param *param)
{
	const struct sinsp_fd *fd;

	if (param->len != 8)
		return 0;
	fd = sinsp_thread_fd(e->evt->thread, (int64_t)get_u64(param->p));
	return fd && *fd->name ? field_str(v, fd->name) : 0;
}

static int keep_absolute(struct sinsp_eval *e, struct sinsp_value *v, unsigned int at)
{
	struct value_writer w = {.out = &e->text, .evt = e->evt};
	const int n = sinsp_value_abspath(&w, at);

	return n > 0 ? sinsp_eval_keep(e, v) : n;
}

/* Resolves the target of a symbolic link, which is relative to the link's directory. */
static int keep_link_target(struct sinsp_eval *e, struct sinsp_value *v, const char *target,
			    size_t len)
{
	const int at = evt_param_filled(e->evt, "linkpath");
	struct sinsp_value link = *v;
	char *to, *slash;
	int n = at < 0 ? 0 : keep_absolute(e, &link, (unsigned int)at);

	if (n <= 0)
		return n;
	slash = memrchr(link.p, '/', link.len);
	to = sinsp_eval_alloc(e, SINSP_PATH_SZ);
	if (!slash || !to)
		return to ? 0 : -ENOMEM;
	return field_mem(v, to,
			 sinsp_path_join(to, SINSP_PATH_STRICT, link.p,
					 (size_t)(slash - link.p) + 1, target, len));
}

static int get_path(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	const struct sinsp_evt *evt = e->evt;
	const char *name = path_params[evt_index(evt->raw.type)].names[f->row->variant % RAW],
		   *text;
	int at = name && evt->thread && has_succeeded(evt) ? evt_param_filled(evt, name) : -1;
	size_t n;

	(void)more;
	if (at < 0)
		return 0;
	if (evt->info->params[at].type == PT_FD)
		return name_of_fd(e, v, &evt->params.v[at]);
	text = (const char *)evt->params.v[at].p;
	n = strnlen(text, evt->params.v[at].len);
	if (n == strlen("<NA>") && !memcmp(text, "<NA>", n))
		return 0;
	if (f->row->variant >= RAW)
		return field_mem(v, text, n);
	if (evt->info->params[at].type != PT_CHARBUF)
		return keep_absolute(e, v, (unsigned int)at);
	if (*text != '/' && !strcmp(name, "target"))
		return keep_link_target(e, v, text, n);
	return field_mem(v, text, n); /* "proc", the source of a mount, is not a path */
}

/* ---- evt.path ---- */

static int is_path(const struct scap_param_info *info)
{
	return info->type == PT_FSPATH || info->type == PT_FSRELPATH;
}

enum { NUMBER_OF_CWD = -100 }; /* AT_FDCWD in captures */

static int is_second(const char *name)
{
	return !strcmp(name, "newpath") || !strcmp(name, "to_path") || !strcmp(name, "put_old");
}

/* Gets the path given to an exec, or the kernel's path of the program if that was not recorded. */
static int exec_path_at(const struct sinsp_evt *evt)
{
	static const char *const names[] = {"filename", "pathname", "trusted_exepath"};
	int at = -1;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && at < 0; i++)
		at = evt_param_filled(evt, names[i]);
	return at;
}

/* Returns the index of the first, or with @second the second path given to the call; -1: none.
 * Other paths in an event come from the kernel. */
static int path_at(const struct sinsp_evt *evt, int second)
{
	if (!strncmp(evt->info->name, "exec", 4))
		return second ? -1 : exec_path_at(evt);
	if (!strcmp(evt->info->name, "chdir"))
		return second ? -1 : evt_param_filled(evt, "path");
	for (int i = 0; i < evt->info->n_params && (unsigned int)i < evt->params.n; i++) {
		const struct scap_param_info *info = &evt->info->params[i];

		if (is_path(info) && (!second || is_second(info->name)))
			return evt->params.v[i].len ? i : -1;
	}
	return -1;
}

/* Resolves a path relative to dirfd, which the event table does not do. */
static int keep_joined(struct sinsp_eval *e, struct sinsp_value *v, const char *text, size_t n)
{
	const struct sinsp_thread *t = e->evt->thread;
	const int dir_at = evt_param_filled(e->evt, "dirfd");
	const struct scap_param *param = dir_at < 0 ? NULL : &e->evt->params.v[dir_at];
	const int64_t num = param && param->len == 8 ? (int64_t)get_u64(param->p) : NUMBER_OF_CWD;
	const struct sinsp_fd *dir = num == NUMBER_OF_CWD ? NULL : sinsp_thread_fd(t, num);
	char base[SINSP_PATH_SZ + 1], *to;
	const char *name;
	size_t len;

	if (n && *text == '/')
		return field_mem(v, text, n);
	if (num != NUMBER_OF_CWD && !dir)
		return 0;
	name = dir ? dir->name : t->fs->cwd;
	len = strlen(name);
	len = (size_t)snprintf(base, sizeof(base), "%s%s", name,
			       len && name[len - 1] == '/' ? "" : "/");
	to = len < sizeof(base) ? sinsp_eval_alloc(e, SINSP_PATH_SZ) : NULL;
	if (!to)
		return len < sizeof(base) ? -ENOMEM : 0;
	return field_mem(v, to, sinsp_path_join(to, SINSP_PATH_STRICT, base, len, text, n));
}

static int get_given(struct sinsp_eval *e, struct sinsp_value *v, int second)
{
	const struct sinsp_evt *evt = e->evt;
	const int is_call = evt->thread && !(evt->info->category & EC_INTERNAL);
	const int at = is_call ? path_at(evt, second) : -1;
	const struct scap_param *param = at < 0 ? NULL : &evt->params.v[at];
	size_t n;

	if (!param)
		return 0;
	n = strnlen((const char *)param->p, param->len);
	if (n == strlen("<NA>") && !memcmp(param->p, "<NA>", n))
		return 0;
	/* The working directory already changed; stored paths end with a slash. */
	if (evt->raw.type == EVT_CHDIR_X && has_succeeded(evt)) {
		n = strlen(evt->thread->fs->cwd);
		return n ? field_mem(v, evt->thread->fs->cwd, n > 1 ? n - 1 : n) : 0;
	}
	if (is_path(&evt->info->params[at]))
		return keep_absolute(e, v, (unsigned int)at);
	return keep_joined(e, v, (const char *)param->p, n);
}

static int get_evt_path(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			const struct sinsp_value **more)
{
	(void)f, (void)more;
	return get_given(e, v, 0);
}

static int get_evt_paths(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			 const struct sinsp_value **more)
{
	struct sinsp_value *list = sinsp_eval_alloc(e, 2 * sizeof(*list));
	int n, second;

	(void)f;
	if (!list)
		return -ENOMEM;
	list[0] = list[1] = *v;
	n = get_given(e, &list[0], 0);
	if (n <= 0)
		return n;
	second = get_given(e, &list[1], 1);
	if (second < 0)
		return second;
	*v = list[0];
	*more = list;
	return n + second;
}

/* clang-format off */
#define ROW(name, variant, help)                                                                   \
	{name, FIELD_PATH, FIELD_FMT_DEC, FIELD_COST_TEXT, 0, variant, get_path, help, NULL,       \
	 .needs = FIELD_NEEDS_FILES}

static const struct sinsp_field_row rows[] = {
	ROW("fs.path.name", PATH_NAME,
	    "absolute path that the call opened, created, removed or changed"),
	ROW("fs.path.nameraw", PATH_NAME | RAW, "fs.path.name as it was given to the call"),
	ROW("fs.path.source", PATH_SOURCE,
	    "absolute source path of a rename, link or mount"),
	ROW("fs.path.sourceraw", PATH_SOURCE | RAW, "fs.path.source as it was given to the call"),
	ROW("fs.path.target", PATH_TARGET,
	    "absolute target path of a rename, link or mount"),
	ROW("fs.path.targetraw", PATH_TARGET | RAW, "fs.path.target as it was given to the call"),
};
/* clang-format on */

static const struct sinsp_field_row evt_rows[] = {
	{"evt.path", FIELD_PATH, FIELD_FMT_DEC, FIELD_COST_TEXT, 0, 0, get_evt_path,
	 "absolute path given to the call, also if it failed; the first of two paths, such as the "
	 "old name of a rename",
	 .needs = FIELD_NEEDS_FILES},
	{"evt.paths", FIELD_PATH, FIELD_FMT_DEC, FIELD_COST_TEXT, FIELD_F_LIST | FIELD_F_ANY, 0,
	 get_evt_paths, "evt.path, and the second path of calls such as rename and link",
	 .needs = FIELD_NEEDS_FILES},
};

const struct sinsp_field_class sinsp_fields_evt_path = {
	.name = "evt.path",
	.title = "evt.path",
	.help = "Paths given to calls",
	FIELD_ROWS(evt_rows),
};

const struct sinsp_field_class sinsp_fields_path = {
	.name = "fs.path",
	.title = "fs.path",
	.help = "Paths that successful calls opened or changed, such as open, unlink and rename",
	FIELD_ROWS(rows),
};
