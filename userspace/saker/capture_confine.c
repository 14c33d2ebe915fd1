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

enum late { LATE_READS = 1, LATE_WRITES = 2 };

/* A chisel of the user may open files and request names of frames at any time. It can write files
 * that are its arguments, in a second run, as built-in ones can. */
static unsigned int late_files_of(const struct chisel_use *use)
{
	const struct sinsp_chisel_info *info = sinsp_chisel_info(use->c);

	if (strcmp(info->path, "built in") != 0)
		return LATE_READS | (use->args.n ? LATE_WRITES : 0);
	for (size_t i = 0; i < info->n_args && use->args.n; i++)
		if (strcmp(info->args[i].name, "dump_file_name") == 0)
			return LATE_READS | LATE_WRITES;
	return 0;
}

static unsigned int late_files_of_all(const struct chisels *cs)
{
	unsigned int late = 0;

	for (size_t i = 0; cs && i < cs->n; i++)
		late |= late_files_of(&cs->v[i]);
	/* A built-in one can load a module of the user. */
	for (char *const *d = cs ? cs->dirs : NULL; d && *d; d++)
		if (access(*d, F_OK) == 0)
			late |= LATE_READS;
	return late;
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

static unsigned int late_files(const struct capture *c)
{
	return late_files_of_all(c->dispatch.chisels) | (names_stacks(c) ? LATE_READS : 0) |
	       (c->o->flight.span_ns || pieces_are_elsewhere(c->o) ? LATE_READS | LATE_WRITES : 0);
}

/* The user requested that programs are run or data is sent; names of services may come from a
 * server. */
static int is_free(const struct options *o)
{
	return o->chisel_unsafe || o->profile.otlp || o->port_names;
}

/* ---- confining ---- */

/* Where files are written that are not known yet, no limit of files is possible. */
static void confine_to(unsigned int late, struct confine_files files)
{
	files.reads_all = !!(late & LATE_READS);
	if (!(late & LATE_WRITES))
		confine_report("Landlock", confine_files(&files));
}

void capture_confine(struct capture *c)
{
	const struct options *o = c->o;
	const unsigned int late = late_files(c);

	if (is_free(o))
		return;
	c->late_files = late;
	tzset(); /* which reads a file */
	privileges_drop_to_replay(1, !!late);
	confine_to(late, (struct confine_files){o->read.v, o->read.n, o->write});
	confine_report("seccomp", confine_calls((late ? CONFINE_HELPERS : 0) |
						(late & LATE_WRITES ? CONFINE_PATHS : 0)));
}

/* Files that are joined are opened one after the other, pieces and what --from cuts out when they
 * are due. */
void capture_confine_open(const struct capture *c)
{
	const struct options *o = c->o;
	const unsigned int late = c->late_files;
	const int pieces = o->write && pieces_begin_with_event(o);

	if (is_free(o))
		return;
	privileges_drop_to_replay(late & LATE_WRITES || pieces || c->joined, !!late);
	confine_to(late, (struct confine_files){o->read.v, c->joined ? o->read.n : 0,
						pieces ? o->write : NULL});
}
