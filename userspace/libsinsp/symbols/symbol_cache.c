/* SPDX-License-Identifier: Apache-2.0 */
/* The symbol cache: its lifetime, the hash of places, and names from the kernel and from files. */
#include "symbol_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "demangle.h"
#include "hash.h"
#include "kernel_symbols.h"
#include "line_server.h"
#include "procfs/state_build.h"
#include "state/inspector.h"

enum {
	PLACES_MAX = 1 << 18, /* a cache with more is emptied */
	IMPORTED_PLACES_MAX = 1 << 21, /* the same with imported names, which are in a file once */
	FILES_KEPT_OPEN = 256,
	KERNEL_AGAIN_MS = 5000, /* modules and BPF programs come and go */
};
/* Limits of symbol tables in memory; the least recently used are dropped. */
#define READ_BYTES_MAX (16u << 20)
#define READ_FILES_MAX 128 /* each has a descriptor or two */
/* Names of JIT code and of a capture file can be long, and new each time at the same place. */
#define TEXT_BYTES_MAX ((size_t)512 << 20)
#define SAME_BOOT_NS 2000000000ll

/* ---- lifetime ---- */

/* Checks whether the capture is from this boot, whose kernel addresses and inodes are valid. */
static void init_where(struct symbol_where *w, const struct sinsp *s)
{
	const struct scap_state *st = s->machine ? scap_state_build_done(s->machine) : NULL;
	const int64_t boot =
		(int64_t)(clock_read_ns(CLOCK_REALTIME) - clock_read_ns(CLOCK_BOOTTIME));
	char name[sizeof(st->machine.hostname)] = "";
	int64_t off;

	w->mono_off = (st && st->machine.boot_ns ? (int64_t)st->machine.boot_ns : boot) +
		      (int64_t)(clock_read_ns(CLOCK_BOOTTIME) - clock_read_ns(CLOCK_MONOTONIC));
	w->live = w->same_boot = w->same_host = s->resync.on;
	w->src = w->live ? s->src : NULL;
	w->debug_dirs = s->debug_dirs;
	if (w->live || !st || gethostname(name, sizeof(name) - 1) ||
	    strcmp(name, st->machine.hostname) != 0)
		return;
	w->same_host = 1;
	off = boot - (int64_t)st->machine.boot_ns;
	w->same_boot = st->machine.boot_ns && off < SAME_BOOT_NS && off > -SAME_BOOT_NS;
}

struct sinsp_symbols *symbol_cache_get(struct sinsp *s)
{
	struct sinsp_symbols *sy = s->symbols;

	if (sy)
		return sy;
	sy = calloc(1, sizeof(*sy));
	if (!sy)
		return NULL;
	sy->seed = scap_hash_seed(sy);
	if (sinsp_strings_init(&sy->strings)) {
		free(sy);
		return NULL;
	}
	sy->inspector = s;
	init_where(&sy->where, s);
	s->symbols = sy;
	return sy;
}

static void free_lines(struct sinsp_symbols *sy)
{
	for (uint32_t i = 0; i < sy->cap_places; i++)
		free(sy->places[i].lines);
}

void sinsp_symbols_free(struct sinsp_symbols *sy)
{
	if (!sy)
		return;
	free_lines(sy);
	line_server_free(sy->lines);
	for (uint32_t i = 0; i < sy->n_files; i++)
		symbol_file_free(sy->files[i].f);
	free(sy->files);
	free(sy->places);
	symtab_free(sy->kernel);
	jit_processes_fini(&sy->jit);
	script_names_fini(&sy->scripts);
	sinsp_strings_fini(&sy->strings);
	free(sy);
}

void sinsp_symbols_stats(const struct sinsp *s, struct sinsp_symbols_stats *st)
{
	const struct sinsp_symbols *sy = s->symbols;

	*st = (struct sinsp_symbols_stats){0};
	if (!sy)
		return;
	*st = sy->stats;
	st->n_jit_cut = sy->jit.n_cut;
	st->n_jit_late = sy->jit.n_late;
	st->bytes = sy->bytes + sy->strings.n_bytes + sy->scripts.bytes +
		    sy->cap_places * sizeof(*sy->places) +
		    (sy->kernel ? symtab_bytes(sy->kernel) : 0);
}

/* ---- the hash of places ---- */

static uint32_t place_slot(const struct sinsp_symbols *sy, uint32_t source, uint64_t place)
{
	const uint64_t h = scap_hash_number(sy->seed + source, place);
	uint32_t i = (uint32_t)h & (sy->cap_places - 1);

	while (sy->places[i].source &&
	       (sy->places[i].source != source || sy->places[i].place != place))
		i = (i + 1) & (sy->cap_places - 1);
	return i;
}

struct symbol_place *symbol_cache_find(const struct sinsp_symbols *sy, uint32_t source,
				       uint64_t place)
{
	return &sy->places[place_slot(sy, source, place)];
}

static int empty_cache(struct sinsp_symbols *sy)
{
	struct sinsp_strings strings;
	const int err = sinsp_strings_init(&strings);

	if (err)
		return err;
	free_lines(sy);
	memset(sy->places, 0, sy->cap_places * sizeof(*sy->places));
	sy->n_places = sy->n_imported = 0;
	sinsp_strings_fini(&sy->strings);
	sy->strings = strings;
	return 0;
}

int symbol_cache_reserve(struct sinsp_symbols *sy)
{
	const uint32_t need = (sy->n_places + FRAMES_MAX) * 4 / 3;
	const struct symbol_place *old = sy->places;
	const uint32_t n_old = sy->cap_places;
	uint32_t cap = n_old ? n_old : 4096;
	struct symbol_place *v;

	if (n_old && sy->strings.n_bytes > (sy->max_text ?: TEXT_BYTES_MAX))
		return empty_cache(sy);
	if (need < n_old)
		return 0;
	if (n_old >= (sy->n_imported ? IMPORTED_PLACES_MAX : PLACES_MAX))
		return empty_cache(sy);
	while (cap <= need)
		cap *= 2;
	v = calloc(cap, sizeof(*v));
	if (!v)
		return -ENOMEM;
	sy->places = v;
	sy->cap_places = cap;
	for (uint32_t i = 0; i < n_old; i++)
		if (old[i].source)
			v[place_slot(sy, old[i].source, old[i].place)] = old[i];
	free((void *)old);
	return 0;
}

const char *symbol_cache_text(struct sinsp_symbols *sy, const char *text, size_t len)
{
	return sinsp_str_get(&sy->strings, text, len);
}

const char *symbol_cache_name(struct sinsp_symbols *sy, const char *name)
{
	char text[SYMTAB_MAX_NAME + 1];
	const size_t len = sinsp_demangle(text, sizeof(text), name);

	return len ? symbol_cache_text(sy, text, len) : symbol_cache_text(sy, name, strlen(name));
}

/* ---- the kernel ---- */

static int read_kernel(struct sinsp_symbols *sy)
{
	const uint64_t now = clock_read_ns(CLOCK_MONOTONIC) / 1000000 + 1;
	struct symtab *t = NULL;
	int err;

	if (!sy->where.same_boot || (sy->kernel_ms && now - sy->kernel_ms < KERNEL_AGAIN_MS))
		return 0;
	sy->kernel_ms = now;
	err = sinsp_kernel_symbols_load(&t);
	if (err)
		return err == -ENOMEM ? err : 0;
	symtab_free(sy->kernel);
	sy->kernel = t;
	return 1;
}

/* Splits "name [MODULE]". Replay leaves BPF programs without a name: their addresses are reused. */
static void set_kernel_name(struct sinsp_symbols *sy, struct symbol_place *p, const char *name)
{
	const char *space = strchr(name, ' ');

	p->module = space ? symbol_cache_text(sy, space + 1, strlen(space + 1)) : "[kernel]";
	if (sy->where.live || strcmp(p->module, MODULE_BPF) != 0)
		p->function =
			symbol_cache_text(sy, name, space ? (size_t)(space - name) : strlen(name));
}

static int name_kernel(struct sinsp_symbols *sy, struct symbol_place *p)
{
	struct symtab_sym sym;
	int r = 0;

	p->module = "[kernel]";
	if (!sy->kernel || !symtab_find(sy->kernel, p->place, &sym)) {
		r = read_kernel(sy);
		if (r <= 0 || !symtab_find(sy->kernel, p->place, &sym))
			return r < 0 ? r : 0;
	}
	p->begin = sym.addr;
	set_kernel_name(sy, p, sym.name);
	return 0;
}

/* ---- files ---- */

static struct read_file *file_of(struct sinsp_symbols *sy, const struct sinsp_code_file *code)
{
	struct read_file *r;

	if (code->number >= sy->n_files) {
		const uint32_t n = code->number + 64;
		struct read_file *v = realloc(sy->files, n * sizeof(*v));

		if (!v)
			return NULL;
		memset(v + sy->n_files, 0, (n - sy->n_files) * sizeof(*v));
		sy->files = v;
		sy->n_files = n;
	}
	r = &sy->files[code->number];
	if (!r->f) {
		r->f = symbol_file_new(code);
		sy->stats.n_files += r->f != NULL;
	}
	return r->f ? r : NULL;
}

/* Drops the least recently used symbol tables, but not that of @in_use. */
static void evict_files(struct sinsp_symbols *sy, const struct read_file *in_use)
{
	while (sy->bytes > READ_BYTES_MAX || sy->n_read > READ_FILES_MAX) {
		struct read_file *oldest = NULL;

		for (uint32_t i = 0; i < sy->n_files; i++) {
			struct read_file *r = &sy->files[i];

			if (r->bytes && r != in_use && (!oldest || r->used < oldest->used))
				oldest = r;
		}
		if (!oldest)
			return;
		sy->bytes -= symbol_file_drop(oldest->f);
		sy->n_read--;
		oldest->bytes = 0;
	}
}

void sinsp_symbols_drop_tables(struct sinsp *s)
{
	struct sinsp_symbols *sy = s->symbols;

	if (!sy)
		return;
	for (uint32_t i = 0; i < sy->n_files; i++) {
		if (sy->files[i].bytes)
			symbol_file_drop(sy->files[i].f);
		sy->files[i].bytes = 0;
	}
	sy->bytes = sy->n_read = 0;
	symtab_free(sy->kernel);
	sy->kernel = NULL;
	sy->kernel_ms = 0;
}

static int name_in_file(struct sinsp_symbols *sy, struct symbol_place *p,
			const struct sinsp_code_file *code)
{
	struct read_file *r = file_of(sy, code);
	struct symtab_sym sym;
	size_t bytes = 0;
	int found;

	p->module = *code->path ? code->path : NULL;
	if (!r)
		return -ENOMEM;
	r->used = sy->n_stacks;
	found = symbol_file_find(r->f, &sy->where, p->place, &p->addr, &sym, &bytes);
	if (bytes) {
		sy->stats.n_read += !r->bytes;
		sy->n_read += !r->bytes;
		r->bytes += bytes;
		sy->bytes += bytes;
		sy->stats.n_cut += !r->is_cut && symbol_file_is_cut(r->f);
		r->is_cut |= (uint8_t)symbol_file_is_cut(r->f);
	}
	if (found > 0) {
		p->function = symbol_cache_name(sy, sym.name);
		p->begin = p->place - (p->addr - sym.addr);
		p->is_start = found == SYMBOL_FILE_START;
	}
	evict_files(sy, r);
	return found < 0 ? found : 0;
}

int sinsp_symbols_begin(struct sinsp *s)
{
	struct sinsp_symbols *sy = symbol_cache_get(s);
	const int r = sy ? read_kernel(sy) : -ENOMEM;

	return r < 0 ? r : 0;
}

void sinsp_symbols_add_map(struct sinsp *s, const struct sinsp_evt *evt)
{
	struct sinsp_symbols *sy = s->resync.on ? symbol_cache_get(s) : NULL;
	const struct scap_param *pid = evt->params.n > 1 ? evt->params.v : NULL;
	const struct sinsp_code_map *map = NULL;
	struct read_file *r;

	if (sy && pid && pid->len == 8 && pid[1].len == 8)
		map = sinsp_code_map_find(&s->code_maps, (int64_t)get_u64(pid->p),
					  get_u64(pid[1].p));
	r = map && sy->n_kept < FILES_KEPT_OPEN ? file_of(sy, map->file) : NULL;
	if (r)
		sy->n_kept += (uint32_t)symbol_file_keep(r->f, &sy->where);
}

/* ---- names of places ---- */

int symbol_cache_place(struct sinsp_symbols *sy, struct symbol_place **out, uint32_t source,
		       uint64_t at, const struct sinsp_code_file *code)
{
	struct symbol_place *p = symbol_cache_find(sy, source, at);
	int err;

	*out = p;
	if (p->source)
		return 0;
	*p = (struct symbol_place){
		.place = at, .addr = code ? UINT64_MAX : at, .begin = at, .source = source};
	err = code ? name_in_file(sy, p, code) : name_kernel(sy, p);
	if (err)
		*p = (struct symbol_place){0};
	else
		sy->n_places++;
	return err;
}

int symbol_cache_name_start(struct sinsp_symbols *sy, struct symbol_place *p,
			    const struct sinsp_code_file *code)
{
	struct symbol_place found = {.place = p->place, .addr = UINT64_MAX};
	const int err = name_in_file(sy, &found, code);

	p->is_start = 0;
	if (err || !found.function || found.is_start)
		return err;
	p->function = found.function;
	p->begin = found.begin;
	p->addr = found.addr;
	p->lines_known = 0;
	return 0;
}
