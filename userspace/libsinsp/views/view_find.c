/* SPDX-License-Identifier: Apache-2.0 */
#include "view_find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20 };

struct search {
	struct view_list *list;
	struct sinsp_chisel_run *run;
	const char *id; /* NULL: all */
};

static int is_for_terminals(const struct sinsp_view *v)
{
	for (const char *const *tag = v->tags; *tag; tag++)
		if (strcmp(*tag, "nocsysdig") == 0)
			return 0;
	return 1;
}

static int add(struct view_list *list, struct sinsp_chisel *c, const struct sinsp_view *view)
{
	struct view_list_row *v = realloc(list->v, (list->n + 1) * sizeof(*v));

	if (!v)
		return -ENOMEM;
	list->v = v;
	v[list->n++] = (struct view_list_row){c, view};
	return 0;
}

static int has(const struct view_list *list, const char *id)
{
	return view_list_find(list, id) != NULL;
}

/* Loads one file. One that fails is reported by the host, and left out. */
static int load(struct search *s, const char *path)
{
	const struct sinsp_view *view;
	struct sinsp_chisel *c;
	int err = sinsp_chisel_open(&c, s->run, path);

	if (err)
		return err == -ENOMEM ? err : 0;
	view = sinsp_chisel_info(c)->view;
	if (view && *view->id && is_for_terminals(view) && !has(s->list, view->id) &&
	    (!s->id || strcmp(s->id, view->id) == 0))
		err = add(s->list, c, view);
	else
		err = 1;
	if (err)
		sinsp_chisel_close(c);
	return err < 0 ? err : 0;
}

/* Returns whether a regular file contains the word: others are not run. */
static int file_has(const char *path, const char *word)
{
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat st;
	void *p = MAP_FAILED;
	int found = 0;

	if (fd < 0)
		return 0;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size < FILE_MAX)
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p != MAP_FAILED) {
		found = memmem(p, (size_t)st.st_size, word, strlen(word)) != NULL;
		munmap(p, (size_t)st.st_size);
	}
	close(fd);
	return found;
}

static int is_lua_file(const struct dirent *e)
{
	const size_t len = strlen(e->d_name);

	return len > 4 && e->d_name[0] != '.' && strcmp(e->d_name + len - 4, ".lua") == 0;
}

static int load_file(struct search *s, const char *dir, const char *name)
{
	char *path;
	int err = 0;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return -ENOMEM;
	if (file_has(path, "view_info"))
		err = load(s, path);
	free(path);
	return err;
}

static int load_folder(struct search *s, const char *dir)
{
	struct dirent **files;
	const int n = scandir(dir, &files, is_lua_file, alphasort);
	int err = 0;

	for (int i = 0; i < n; i++) {
		err = err ?: load_file(s, dir, files[i]->d_name);
		free(files[i]);
	}
	if (n >= 0)
		free(files);
	return err;
}

static int is_done(const struct search *s)
{
	return s->id && s->list->n;
}

static int load_all(struct search *s, const struct view_folders *folders)
{
	int err = 0;

	for (const char *const *d = folders->first; d && *d && !err && !is_done(s); d++)
		err = load_folder(s, *d);
	for (const struct sinsp_chisel_file *f = s->run->builtin;
	     f && f->name && !err && !is_done(s); f++)
		if (memmem(f->text, f->len, "view_info", strlen("view_info")))
			err = load(s, f->name);
	for (const char *const *d = folders->last; d && *d && !err && !is_done(s); d++)
		err = load_folder(s, *d);
	return err;
}

static int compare_names(const void *a, const void *b)
{
	const struct view_list_row *x = a, *y = b;

	return strcmp(x->view->name, y->view->name);
}

int view_list_load(struct view_list *list, struct sinsp_chisel_run *run,
		   const struct view_folders *folders, const char *id)
{
	struct search s = {list, run, id};
	int err;

	*list = (struct view_list){0};
	err = load_all(&s, folders);
	if (list->n)
		qsort(list->v, list->n, sizeof(*list->v), compare_names);
	return err;
}

void view_list_fini(struct view_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		sinsp_chisel_close(list->v[i].chisel);
	free(list->v);
	*list = (struct view_list){0};
}

const struct sinsp_view *view_list_find(const struct view_list *list, const char *id)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->v[i].view->id, id) == 0)
			return list->v[i].view;
	return NULL;
}
