/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths that calls are about, found in a table by event: one, or of calls that rename and link a
 * source and a target. Only of calls that succeeded.
 */
#include "event_table.h"
#include "fd.h"
#include "field_rows.h"
#include "pathname.h"
#include "thread.h"
#include "value.h"

enum which { PATH_NAME, PATH_SOURCE, PATH_TARGET, PATH_MAX_WHICH };

#define RAW 16 /* of a row: as it was given */

/* Names of parameters. Of links the source is what is made, as in Falco's libs. */
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

static int param_named(const struct sinsp_evt *evt, const char *name)
{
	for (int i = 0; i < evt->info->n_params && (unsigned int)i < evt->params.n; i++)
		if (!strcmp(evt->info->params[i].name, name))
			return evt->params.v[i].len ? i : -1;
	return -1;
}

/* The file that a number in the event stands for: its name was a path once. */
static int name_of_fd(struct sinsp_asker *a, struct sinsp_value *v, const struct scap_param *param)
{
	const struct sinsp_fd *fd;

	if (param->len != 8)
		return 0;
	fd = sinsp_thread_fd(a->evt->thread, (int64_t)get_u64(param->p));
	return fd && *fd->name ? field_str(v, fd->name) : 0;
}

static int keep_absolute(struct sinsp_asker *a, struct sinsp_value *v, unsigned int at)
{
	struct value_writer w = {.out = &a->text, .evt = a->evt};
	const int n = sinsp_value_abspath(&w, at);

	return n > 0 ? sinsp_asker_keep(a, v) : n;
}

/* What a symbolic link says begins at the directory that the link is in. */
static int keep_link_target(struct sinsp_asker *a, struct sinsp_value *v, const char *target,
			    size_t len)
{
	const int at = param_named(a->evt, "linkpath");
	struct sinsp_value link = *v;
	char *to, *slash;
	int n = at < 0 ? 0 : keep_absolute(a, &link, (unsigned int)at);

	if (n <= 0)
		return n;
	slash = memrchr(link.p, '/', link.len);
	to = sinsp_asker_alloc(a, SINSP_PATH_SZ);
	if (!slash || !to)
		return to ? 0 : -ENOMEM;
	return field_mem(v, to,
			 sinsp_path_join(to, SINSP_PATH_STRICT, link.p,
					 (size_t)(slash - link.p) + 1, target, len));
}

static int get_path(struct sinsp_asker *a, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	const struct sinsp_evt *evt = a->evt;
	const char *name = path_params[evt_index(evt->raw.type)].names[f->row->what % RAW], *text;
	int at = name && evt->thread && has_succeeded(evt) ? param_named(evt, name) : -1;
	size_t n;

	(void)more;
	if (at < 0)
		return 0;
	if (evt->info->params[at].type == PT_FD)
		return name_of_fd(a, v, &evt->params.v[at]);
	text = (const char *)evt->params.v[at].p;
	n = strnlen(text, evt->params.v[at].len);
	if (n == strlen("<NA>") && !memcmp(text, "<NA>", n))
		return 0;
	if (f->row->what >= RAW)
		return field_mem(v, text, n);
	if (evt->info->params[at].type != PT_CHARBUF)
		return keep_absolute(a, v, (unsigned int)at);
	if (*text != '/' && !strcmp(name, "target"))
		return keep_link_target(a, v, text, n);
	return field_mem(v, text, n); /* "proc", a mount's source, is no path */
}

/* clang-format off */
#define ROW(name, what, help)                                                                      \
	{name, FIELD_PATH, FIELD_FMT_DEC, FIELD_COST_TEXT, 0, what, get_path, help, NULL}

static const struct sinsp_field_row rows[] = {
	ROW("fs.path.name", PATH_NAME,
	    "absolute path that the call is about: that an open opened, an unlink removed, a chmod "
	    "changed"),
	ROW("fs.path.nameraw", PATH_NAME | RAW, "the same as it was given to the call"),
	ROW("fs.path.source", PATH_SOURCE,
	    "absolute path that a rename moved, or a link made; what a mount mounted"),
	ROW("fs.path.sourceraw", PATH_SOURCE | RAW, "the same as it was given to the call"),
	ROW("fs.path.target", PATH_TARGET,
	    "absolute path that a rename moved to, or that a link leads to; where a mount is mounted"),
	ROW("fs.path.targetraw", PATH_TARGET | RAW, "the same as it was given to the call"),
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_path = {
	.name = "fs.path",
	.title = "fs.path",
	.help = "Paths that calls are about, of those that open files and of those that do not, "
		"such "
		"as unlink and rename. Only of calls that succeeded",
	FIELD_ROWS(rows),
};
