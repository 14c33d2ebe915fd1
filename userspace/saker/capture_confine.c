/* SPDX-License-Identifier: Apache-2.0 */
#include "capture_confine.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "capture_state.h"
#include "chisels.h"
#include "confine.h"
#include "fields/field.h"
#include "fields/format.h"
#include "filter/filter.h"
#include "pieces.h"
#include "privileges.h"
#include "say.h"

/* ---- which files are opened late ---- */

static int names_stacks(const struct capture *c)
{
	unsigned int needs = sinsp_format_needs(c->o->line.format);
	const struct sinsp_filter *f = dispatch_filter(&c->dispatch);
	const struct chisels *cs = c->dispatch.chisels;

	if (f)
		needs |= sinsp_filter_field_needs(f);
	for (size_t i = 0; cs && i < cs->n; i++)
		needs |= sinsp_chisel_needs(cs->v[i].c);
	return c->o->with_symbols || needs & FIELD_NEEDS_NAMES;
}

/* A chisel of the user may open files and request names of frames at any time; a built-in one can
 * load a module of the user, or write a file in a second run. */
static int opens_files(const struct chisel_use *use)
{
	const struct sinsp_chisel_info *info = sinsp_chisel_info(use->c);

	if (strcmp(info->path, "built in") != 0)
		return 1;
	for (size_t i = 0; i < info->n_args && use->args.n; i++)
		if (strcmp(info->args[i].name, "dump_file_name") == 0)
			return 1;
	return 0;
}

static int chisels_open_files(const struct chisels *cs)
{
	for (size_t i = 0; cs && i < cs->n; i++)
		if (opens_files(&cs->v[i]))
			return 1;
	for (char *const *d = cs ? cs->dirs : NULL; d && *d; d++)
		if (access(*d, F_OK) == 0)
			return 1;
	return 0;
}

/* Returns whether the folder has links with the names of pieces, to files elsewhere. */
static int has_links(const char *folder, const char *name, size_t len)
{
	DIR *d = opendir(folder);
	const struct dirent *e;
	struct stat st;
	int found = 0;

	while (d && !found && (e = readdir(d)))
		found = strncmp(e->d_name, name, len) == 0 &&
			!fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
			S_ISLNK(st.st_mode);
	if (d)
		closedir(d);
	return found;
}

/* Returns whether pieces may be outside of the folder of -w. */
static int pieces_are_elsewhere(const struct options *o)
{
	const char *slash, *name;
	char *folder;
	int result;

	if (!o->write || !pieces_wanted(o))
		return 0;
	slash = strrchr(o->write, '/');
	name = slash ? slash + 1 : o->write;
	folder = strndup(slash ? o->write : "./", slash ? (size_t)(name - o->write) : 2);
	result = !folder || strchr(folder, '%') || has_links(folder, name, strcspn(name, "%"));
	free(folder);
	return result;
}

static int opens_late(const struct capture *c)
{
	return c->o->flight.span_ns || names_stacks(c) || chisels_open_files(c->dispatch.chisels) ||
	       pieces_are_elsewhere(c->o);
}

/* The user requested that programs are run or data is sent; names of services may come from a
 * server. */
static int is_free(const struct options *o)
{
	return o->chisel_unsafe || o->profile.otlp || o->port_names;
}

/* ---- confining ---- */

static void report(const char *what, int err)
{
	char text[160];

	if (!err)
		return;
	snprintf(text, sizeof(text), "replay is not confined by %s: %s", what,
		 err == -ENOSYS || err == -EOPNOTSUPP || err == -EINVAL ? "not in this kernel"
									: strerror(-err));
	say_log(NULL, SCAP_LOG_INFO, text);
}

static void confine_to(const struct confine_files *f)
{
	report("Landlock", confine_files(f));
}

void capture_confine(struct capture *c)
{
	const struct options *o = c->o;
	const struct confine_files files = {o->read.v, o->read.n, o->write};
	const int opens = opens_late(c);

	if (is_free(o))
		return;
	c->opens_late = opens;
	tzset(); /* which reads a file */
	privileges_drop_to_replay(1, opens);
	if (!opens)
		confine_to(&files);
	report("seccomp", confine_calls(opens ? CONFINE_HELPERS | CONFINE_PATHS : 0));
}

/* Files that are joined are opened one after the other, pieces when they are due. */
void capture_confine_open(const struct capture *c)
{
	const struct options *o = c->o;
	const int opens = c->opens_late, pieces = pieces_wanted(o);
	const struct confine_files files = {o->read.v, c->joined ? o->read.n : 0,
					    pieces ? o->write : NULL};

	if (is_free(o))
		return;
	privileges_drop_to_replay(opens || pieces || c->joined, opens);
	if (!opens)
		confine_to(&files);
}

void confine_verify(const char *const *paths)
{
	struct confine_files files = {.reads = paths};

	while (paths[files.n_reads])
		files.n_reads++;
	privileges_drop_to_replay(1, 0);
	confine_to(&files);
	report("seccomp", confine_calls(0));
}
