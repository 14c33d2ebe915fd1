/* SPDX-License-Identifier: Apache-2.0 */
/* Basics of the chisel host: messages, search for chisels and modules, tables, filters. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chisel_host.h"

void sinsp_chisel_say(const struct sinsp_chisel *c, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	if (!c->run->log)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	c->run->log(c->run->log_ctx, SCAP_LOG_ERROR, text);
}

void sinsp_chisel_warn_no_calls(struct sinsp_chisel *c, const char *what)
{
	char text[512];

	if (!c->run->no_calls || c->run->warned_no_calls || !c->run->log)
		return;
	c->run->warned_no_calls = 1;
	snprintf(text, sizeof(text),
		 "chisel %s: %s: files, users and directories of threads are those of their last "
		 "fork or exec; fields that are requested in on_init have system calls recorded, "
		 "which tell what came since",
		 c->info.name, what);
	c->run->log(c->run->log_ctx, SCAP_LOG_WARN, text);
}

/* ---- files ---- */

/* Folder of library modules, below the folder of chisels. */
#define LIB "lib/"

/* Returns DIR/NAME.lua, else DIR/lib/NAME.lua, owned; NULL if neither is there, or no memory. */
static char *file_in(const char *dir, size_t dir_len, const char *name)
{
	static const char *const folders[] = {"", LIB};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		char *path;

		if (asprintf(&path, "%.*s/%s%s.lua", (int)dir_len, dir, folders[i], name) < 0)
			return NULL;
		if (access(path, R_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

static char *file_in_dirs(const char *const *dirs, const char *name)
{
	char *path = NULL;

	for (const char *const *d = dirs; !path && d && *d; d++)
		path = file_in(*d, strlen(*d), name);
	return path;
}

static int is_in_lib(const struct sinsp_chisel_file *f)
{
	return strncmp(f->name, LIB, strlen(LIB)) == 0;
}

/* Returns the built-in chisel or library module @name; NULL: there is none. */
static const struct sinsp_chisel_file *builtin_named(const struct sinsp_chisel_file *f,
						     const char *name)
{
	for (; f && f->name; f++)
		if (strcmp(f->name + (is_in_lib(f) ? strlen(LIB) : 0), name) == 0)
			return f;
	return NULL;
}

/* Searches the folder of the chisel itself. */
static void find_beside(struct sinsp_chisel_source *out, const struct sinsp_chisel *c,
			const char *name)
{
	const char *path = c->source.path, *slash = path ? strrchr(path, '/') : NULL;

	if (slash)
		out->path = file_in(path, (size_t)(slash - path), name);
	else if (c->source.builtin)
		out->builtin = builtin_named(c->run->builtin, name);
}

int sinsp_chisel_find(struct sinsp_chisel_source *out, const struct sinsp_chisel *c,
		      const char *name)
{
	*out = (struct sinsp_chisel_source){0};
	find_beside(out, c, name);
	if (!out->path && !out->builtin)
		out->path = file_in_dirs(c->run->dirs, name);
	if (!out->path && !out->builtin)
		out->builtin = builtin_named(c->run->builtin, name);
	if (!out->path && !out->builtin)
		out->path = file_in_dirs(c->run->more_dirs, name);
	return out->path || out->builtin ? 0 : -ENOENT;
}

int sinsp_chisel_open_plain(const char *path, FILE **out)
{
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat st;
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = S_ISDIR(st.st_mode) ? -EISDIR : -ENOTSUP;
	*out = err ? NULL : fdopen(fd, "r");
	if (*out)
		return 0;
	err = err ?: -errno;
	close(fd);
	return err;
}

const char *sinsp_chisel_plain_error(int err)
{
	return err == -ENOTSUP ? "not a regular file" : strerror(-err);
}

/* Like luaL_loadfilex, for regular files only. */
static int load_plain(lua_State *L, const char *path)
{
	const char *text;
	luaL_Buffer b;
	size_t len, n;
	FILE *f;
	int err = sinsp_chisel_open_plain(path, &f);

	if (err) {
		lua_pushfstring(L, "cannot open %s: %s", path, sinsp_chisel_plain_error(err));
		return LUA_ERRFILE;
	}
	lua_pushfstring(L, "@%s", path);
	luaL_buffinit(L, &b);
	do {
		char part[BUFSIZ];

		n = fread(part, 1, sizeof(part), f);
		luaL_addlstring(&b, part, n);
	} while (n);
	fclose(f);
	luaL_pushresult(&b);
	text = lua_tolstring(L, -1, &len);
	if (*text == '#') /* a first line such as #! */
		n = strcspn(text, "\n");
	err = luaL_loadbufferx(L, text + n, len - n, lua_tostring(L, -2), "t");
	lua_replace(L, -3);
	lua_pop(L, 1);
	return err;
}

int sinsp_chisel_load(lua_State *L, const struct sinsp_chisel_source *source)
{
	const struct sinsp_chisel_file *f = source->builtin;
	int err;

	if (!f)
		return load_plain(L, source->path);
	lua_pushfstring(L, "=%s.lua", f->name);
	err = luaL_loadbufferx(L, f->text, f->len, lua_tostring(L, -1), "t");
	lua_remove(L, -2);
	return err;
}

static int is_chisel_file(const struct dirent *e)
{
	const size_t len = strlen(e->d_name);

	return len > 4 && e->d_name[0] != '.' && strcmp(e->d_name + len - 4, ".lua") == 0;
}

struct names {
	char **v;
	size_t n;
};

static int add_name(struct names *names, const char *name, size_t len)
{
	char **v = realloc(names->v, (names->n + 1) * sizeof(*v));

	if (!v)
		return -ENOMEM;
	names->v = v;
	v[names->n] = strndup(name, len);
	return v[names->n++] ? 0 : -ENOMEM;
}

static int add_files(struct names *names, const char *dir)
{
	struct dirent **files;
	const int n = scandir(dir, &files, is_chisel_file, NULL);
	int err = 0;

	for (int i = 0; i < n; i++) {
		err = err ?: add_name(names, files[i]->d_name, strlen(files[i]->d_name) - 4);
		free(files[i]);
	}
	if (n >= 0)
		free(files);
	return err;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_all_names(struct names *names, const struct sinsp_chisel_run *run)
{
	int err = 0;

	for (const char *const *d = run->dirs; d && *d && !err; d++)
		err = add_files(names, *d);
	for (const struct sinsp_chisel_file *f = run->builtin; f && f->name && !err; f++)
		err = is_in_lib(f) ? 0 : add_name(names, f->name, strlen(f->name));
	for (const char *const *d = run->more_dirs; d && *d && !err; d++)
		err = add_files(names, *d);
	return err;
}

int sinsp_chisel_each(const struct sinsp_chisel_run *run, int (*fn)(void *ctx, const char *name),
		      void *ctx)
{
	struct names names = {0};
	int err = add_all_names(&names, run);

	if (names.n)
		qsort(names.v, names.n, sizeof(*names.v), compare_names);
	for (size_t i = 0; i < names.n && !err; i++)
		if (!i || strcmp(names.v[i], names.v[i - 1]) != 0)
			err = fn(ctx, names.v[i]);
	for (size_t i = 0; i < names.n; i++)
		free(names.v[i]);
	free(names.v);
	return err;
}

/* ---- tables ---- */

const char *sinsp_chisel_keep_text(lua_State *L, const char *key)
{
	const char *text = "";

	lua_getfield(L, -1, key);
	if (lua_type(L, -1) == LUA_TSTRING || lua_type(L, -1) == LUA_TNUMBER) {
		text = lua_tostring(L, -1);
		luaL_ref(L, LUA_REGISTRYINDEX);
	} else {
		lua_pop(L, 1);
	}
	return text;
}

int sinsp_chisel_is_true(lua_State *L, const char *key)
{
	int r;

	lua_getfield(L, -1, key);
	r = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return r;
}

void sinsp_chisel_push_bindings(lua_State *L, const struct sinsp_chisel_binding *b)
{
	lua_newtable(L);
	for (; b->name; b++) {
		lua_pushcfunction(L, b->fn);
		lua_setfield(L, -2, b->name);
	}
}

void sinsp_chisel_add_class(lua_State *L, const char *name, lua_CFunction gc,
			    const struct sinsp_chisel_binding *methods)
{
	luaL_newmetatable(L, name);
	lua_pushcfunction(L, gc);
	lua_setfield(L, -2, "__gc");
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "__metatable");
	sinsp_chisel_push_bindings(L, methods);
	lua_setfield(L, -2, "__index");
	lua_pop(L, 1);
}

/* ---- objects that see events ---- */

static int count_listeners(const struct sinsp_chisel_listener *o)
{
	int n = 0;

	for (; o; o = o->next)
		n++;
	return n;
}

void sinsp_chisel_enlist(lua_State *L, struct sinsp_chisel_listener **list,
			 struct sinsp_chisel_listener *o, int max, const char *name)
{
	if (count_listeners(*list) == max) /* free those without references */
		lua_gc(L, LUA_GCCOLLECT);
	if (count_listeners(*list) == max)
		luaL_error(L, "chisel.%s: a chisel has %d %ss at most", name, max, name);
	while (*list)
		list = &(*list)->next;
	o->at = list;
	*list = o;
}

void sinsp_chisel_unlist(struct sinsp_chisel_listener *o)
{
	if (o->at) {
		*o->at = o->next;
		if (o->next)
			o->next->at = o->at;
	}
	o->at = NULL;
}

/* ---- filters ---- */

struct sinsp_filter *sinsp_chisel_make_filter(lua_State *L, const char *text, int of_threads)
{
	const struct sinsp_filter_opts opts = {.sz = sizeof(opts),
					       .threads_only = (uint8_t)of_threads};
	struct sinsp_filter_error err = {0};
	struct sinsp_filter *f;
	int r = sinsp_filter_new(&f, text, &opts, &err);

	if (!r)
		return f;
	luaL_error(L, "filter '%s': %s", text, r == -EINVAL ? err.message : strerror(-r));
	return NULL;
}
