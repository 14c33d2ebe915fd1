/* SPDX-License-Identifier: Apache-2.0 */
/* Prints paths, and makes them absolute: relative to the working directory or a descriptor. */
#include "thread.h"
#include "value_kinds.h"

#define SYSDIG_PATH_MAX 1000

/* Writes what a path in a parameter is relative to, the directory of the process or a descriptor's
 * name, to @dir with a '/' at the end; returns its length. */
static size_t base_dir(const struct value_writer *w, const struct value *v, char *dir, int *certain)
{
	const struct sinsp_evt *evt = w->evt;
	const struct sinsp_fd *fd;
	int64_t num = PPM_AT_FDCWD;
	const char *name;
	size_t n;

	if (v->type == PT_FSRELPATH && v->info->dirfd >= 0 &&
	    (unsigned int)v->info->dirfd < evt->params.n &&
	    evt->params.v[v->info->dirfd].len >= sizeof(num))
		num = (int64_t)get_u64(evt->params.v[v->info->dirfd].p);
	if (num == PPM_AT_FDCWD) {
		*certain = sinsp_fs_is_certain(evt->insp, evt->thread->fs);
		name = sinsp_thread_cwd(evt->thread);
		n = strnlen(name, SINSP_PATH_SZ - 1);
		memcpy(dir, name, n);
		return n;
	}
	fd = sinsp_thread_fd(evt->thread, num);
	if (!fd || !fd->name[0])
		return 0;
	*certain = sinsp_fd_is_certain(evt->insp, fd, evt->raw.true_ns);
	n = (size_t)(put_name(w, dir, fd->name, strnlen(fd->name, SINSP_PATH_SZ - 2)) - dir);
	dir[n++] = '/';
	return n;
}

size_t value_absolute_path(const struct value_writer *w, const struct value *v, char *full,
			   int *certain)
{
	const size_t n = text_len(v, 0);
	enum sinsp_path_rules rules;
	char dir[SINSP_PATH_SZ];
	size_t n_dir;

	*certain = 1;
	n_dir = base_dir(w, v, dir, certain);
	/* sysdig limits the length of file names, not of printed paths. */
	rules = n_dir + n < SYSDIG_PATH_MAX ? sinsp_path_rules_of(w->evt->insp) : SINSP_PATH_STRICT;
	/* An empty path is the directory itself. */
	return sinsp_path_join(full, rules, dir, n_dir, n ? (const char *)v->p : ".", n ? n : 1);
}

/* Returns whether it is the text for an unreadable path in saker's enter events (raw_enter.c). */
static int is_unknown(const struct value_writer *w, const struct value *v)
{
	static const char null[] = "(NULL)";

	return v->len == sizeof(null) && !memcmp(v->p, null, sizeof(null)) && w->evt->insp &&
	       sinsp_path_rules_of(w->evt->insp) == SINSP_PATH_STRICT;
}

char *value_put_path(struct value_writer *w, char *p, const struct value *v)
{
	const size_t n = text_len(v, 0);
	char full[SINSP_PATH_SZ];
	size_t n_full;
	int certain;

	p = text_room(w->out, p, n + sizeof(full) + VALUE_ROOM);
	if (!p)
		return NULL;
	if (was_unreadable(w->evt, n) || is_unknown(w, v))
		return put_lit(p, "<NA>");
	p = put_name(w, p, (const char *)v->p, n);
	if (!w->evt->thread || v->p[0] == '/' || is_na(v))
		return p;
	n_full = value_absolute_path(w, v, full, &certain);
	if (!n_full)
		return p;
	p = open_meaning(w, p);
	if (!certain)
		p = put_lit(p, "<?>");
	p = put_utf8(p, full, n_full);
	*p = ')';
	return p + 1;
}
