/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "demangle.h"
#include "jit_process.h"
#include "kernel_symbols.h"
#include "line_server.h"
#include "memory/hash.h"
#include "memory/intern.h"
#include "procfs/state_build.h"
#include "shared/stack.h"
#include "state/inspector.h"
#include "state/thread.h"
#include "symbol_event.h"
#include "symbol_file.h"

enum {
	PLACES_MAX = 1 << 18, /* maximum cached; beyond, all are dropped */
	GIVEN_PLACES_MAX = 1 << 21, /* the same for names from the file: they come only once */
	FRAMES_MAX = STACK_USER_MAX + STACK_KERNEL_MAX,
	EXPANDED_MAX = 2 * FRAMES_MAX, /* with inlined functions */
	FILES_KEPT_OPEN = 256,
	KERNEL_AGAIN_MS = 5000, /* modules and BPF programs come and go */
};
/* Limits for symbols of files, and number of files; the least recently used are dropped. */
#define READ_BYTES_MAX (16u << 20)
#define READ_FILES_MAX 128 /* each has a descriptor or two */
#define SAME_BOOT_NS 2000000000ll
#define MODULE_BPF "[bpf]" /* in kallsyms */
#define KERNEL_SOURCE 1u
#define FILE_SOURCE 2u /* + number of the file */
#define JIT_SOURCE (1u << 31) /* + number of the process */

/* Functions and lines at a place, innermost first: the last one is not inlined. */
struct place_lines {
	uint32_t n;
	struct {
		const char *function, *file; /* NULL: unknown */
		uint32_t line;
	} v[];
};

/* A place that was named, and its name. */
struct place {
	uint64_t place; /* address in the kernel, offset in a file */
	uint64_t addr; /* the file's own address; UINT64_MAX: unknown */
	uint64_t begin; /* start of the function; = place if unknown */
	const char *function, *module;
	struct place_lines *lines; /* NULL: not requested, or unknown */
	uint32_t source; /* 0: free */
	uint32_t told; /* number of the piece that has it, + 1; 0: none */
	uint8_t asked; /* for lines */
	uint8_t given; /* imported from the file */
	uint8_t is_start; /* function has its start: it has no name */
};

struct read_file {
	struct symbol_file *f;
	uint64_t used; /* last use, counted in stacks */
	size_t bytes;
};

struct sinsp_symbols {
	const struct sinsp *inspector;
	struct symbol_where where;
	struct place *places;
	uint64_t seed; /* seed of the hash: captures choose addresses */
	uint32_t n_places, cap_places; /* a power of two */
	uint32_t n_given;
	struct sinsp_strings strings;
	struct read_file *files; /* by number of the file */
	uint32_t n_files;
	uint32_t n_kept; /* files that are kept open */
	uint32_t n_read; /* files that were read, and not freed */
	size_t bytes; /* memory of their symbols */
	struct symtab *kernel;
	uint64_t kernel_ms; /* when it was read; 0: not yet */
	struct jit_processes jit;
	struct line_server *lines; /* NULL: lines were not requested yet */
	uint64_t n_stacks;
	/* The last sample, without lines and with them. */
	struct made_stack {
		uint64_t serial; /* number of the event; 0: none yet */
		struct sinsp_stack stack;
	} plain, lined;
	struct sinsp_frame frames[FRAMES_MAX], expanded[EXPANDED_MAX];
	struct place *at[FRAMES_MAX]; /* the place of each of frames; NULL: not cached */
	size_t n_sampler; /* number of frames that belong to the sampler, not to the stack */
	struct sinsp_symbols_stats stats;
};

/* The process and time of a stack. */
struct owner {
	struct sinsp *s;
	const struct sinsp_evt *evt;
	int64_t pid, vpid;
};

/* ---- beginning and end ---- */

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Returns whether kernel addresses and inodes are those of the time of the capture. */
static void find_where(struct symbol_where *w, const struct sinsp *s)
{
	const struct scap_state *st = s->machine ? scap_state_build_done(s->machine) : NULL;
	const int64_t boot = (int64_t)(clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME));
	char name[sizeof(st->machine.hostname)] = "";
	int64_t off;

	w->mono_off = (st && st->machine.boot_ns ? (int64_t)st->machine.boot_ns : boot) +
		      (int64_t)(clock_ns(CLOCK_BOOTTIME) - clock_ns(CLOCK_MONOTONIC));
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

static struct sinsp_symbols *symbols_of(struct sinsp *s)
{
	struct sinsp_symbols *sy = s->symbols;

	if (sy)
		return sy;
	sy = calloc(1, sizeof(*sy));
	if (!sy)
		return NULL;
	sy->seed = sinsp_hash_seed(sy);
	if (sinsp_strings_init(&sy->strings)) {
		free(sy);
		return NULL;
	}
	sy->inspector = s;
	find_where(&sy->where, s);
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
	st->bytes = sy->bytes + sy->cap_places * sizeof(*sy->places) +
		    (sy->kernel ? symtab_bytes(sy->kernel) : 0);
}

/* ---- places that are remembered ---- */

static uint32_t place_slot(const struct sinsp_symbols *sy, uint32_t source, uint64_t place)
{
	const uint64_t h = sinsp_hash_number(sy->seed + source, place);
	uint32_t i = (uint32_t)h & (sy->cap_places - 1);

	while (sy->places[i].source &&
	       (sy->places[i].source != source || sy->places[i].place != place))
		i = (i + 1) & (sy->cap_places - 1);
	return i;
}

/* Called before a stack is named, whose frames point into the cache. */
static int make_room(struct sinsp_symbols *sy)
{
	const uint32_t need = (sy->n_places + FRAMES_MAX) * 4 / 3;
	const struct place *old = sy->places;
	const uint32_t n_old = sy->cap_places;
	uint32_t cap = n_old ? n_old : 4096;
	struct place *v;

	if (need < n_old)
		return 0;
	if (n_old >= (sy->n_given ? GIVEN_PLACES_MAX : PLACES_MAX)) {
		free_lines(sy);
		memset(sy->places, 0, n_old * sizeof(*sy->places));
		sy->n_places = sy->n_given = 0;
		sinsp_strings_fini(&sy->strings);
		return sinsp_strings_init(&sy->strings);
	}
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

static const char *keep_text(struct sinsp_symbols *sy, const char *text, size_t len)
{
	return sinsp_str_get(&sy->strings, text, len);
}

static const char *keep_name(struct sinsp_symbols *sy, const char *name)
{
	char text[SYMTAB_MAX_NAME + 1];
	const size_t len = sinsp_demangle(text, sizeof(text), name);

	return len ? keep_text(sy, text, len) : keep_text(sy, name, strlen(name));
}

/* ---- the kernel ---- */

static int read_kernel(struct sinsp_symbols *sy)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC) / 1000000 + 1;
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

/* "name [MODULE]". BPF programs come and go: another one may have been at the address when the file
 * was made. */
static void split_kernel_name(struct sinsp_symbols *sy, struct place *p, const char *name)
{
	const char *space = strchr(name, ' ');

	p->module = space ? keep_text(sy, space + 1, strlen(space + 1)) : "[kernel]";
	if (sy->where.live || strcmp(p->module, MODULE_BPF) != 0)
		p->function = keep_text(sy, name, space ? (size_t)(space - name) : strlen(name));
}

static int name_kernel(struct sinsp_symbols *sy, struct place *p)
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
	split_kernel_name(sy, p, sym.name);
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

/* Drops another one than the current. */
static void drop_oldest(struct sinsp_symbols *sy, const struct read_file *in_use)
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

void sinsp_symbols_give_back(struct sinsp *s)
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

static int name_in_file(struct sinsp_symbols *sy, struct place *p,
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
	}
	if (found > 0) {
		p->function = keep_name(sy, sym.name);
		p->begin = p->place - (p->addr - sym.addr);
		p->is_start = found == SYMBOL_FILE_START;
	}
	drop_oldest(sy, r);
	return found < 0 ? found : 0;
}

int sinsp_symbols_begin(struct sinsp *s)
{
	struct sinsp_symbols *sy = symbols_of(s);
	const int r = sy ? read_kernel(sy) : -ENOMEM;

	return r < 0 ? r : 0;
}

void sinsp_symbols_see_map(struct sinsp *s, const struct sinsp_evt *evt)
{
	struct sinsp_symbols *sy = s->resync.on ? symbols_of(s) : NULL;
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

/* ---- frames ---- */

static int name_place(struct sinsp_symbols *sy, struct place **out, uint32_t source, uint64_t at,
		      const struct sinsp_code_file *code)
{
	struct place *p = &sy->places[place_slot(sy, source, at)];
	int err;

	*out = p;
	if (p->source)
		return 0;
	*p = (struct place){
		.place = at, .addr = code ? UINT64_MAX : at, .begin = at, .source = source};
	err = code ? name_in_file(sy, p, code) : name_kernel(sy, p);
	if (err)
		*p = (struct place){0};
	else
		sy->n_places++;
	return err;
}

/* A file written without symbols has only the start of a function: its name may be found here. */
static int name_given_start(struct sinsp_symbols *sy, struct place *p,
			    const struct sinsp_code_file *code)
{
	struct place found = {.place = p->place, .addr = UINT64_MAX};
	const int err = name_in_file(sy, &found, code);

	p->is_start = 0;
	if (err || !found.function || found.is_start)
		return err;
	p->function = found.function;
	p->begin = found.begin;
	p->addr = found.addr;
	p->asked = 0;
	return 0;
}

static void fill(struct sinsp_frame *f, const struct place *p, uint64_t is_behind)
{
	f->function = p->function;
	f->module = p->module;
	f->place = p->addr != UINT64_MAX ? p->addr : p->place;
	f->offset = p->function ? p->place - p->begin + is_behind : 0;
}

static int kernel_frame(struct sinsp_symbols *sy, struct sinsp_frame *f, uint64_t addr, int exact)
{
	struct place *p;
	int err = name_place(sy, &p, KERNEL_SOURCE, addr - !exact, NULL);

	*f = (struct sinsp_frame){.addr = addr, .kind = SINSP_FRAME_KERNEL};
	if (!err) {
		fill(f, p, !exact);
		sy->at[f - sy->frames] = p;
	}
	return err;
}

/* JIT code replaces other code: its names are not cached, except those from a file. */
static int given_jit_frame(struct sinsp_symbols *sy, struct sinsp_frame *f, int64_t pid,
			   uint64_t at)
{
	struct place *p = &sy->places[place_slot(sy, JIT_SOURCE | (uint32_t)pid, at)];

	if (!p->source || !p->given)
		return 0;
	f->kind = SINSP_FRAME_JIT;
	fill(f, p, f->addr - at);
	if (p->lines) {
		f->file = p->lines->v[0].file;
		f->line = p->lines->v[0].line;
	}
	sy->at[f - sy->frames] = p;
	return 1;
}

static int jit_frame(struct sinsp_symbols *sy, struct sinsp_frame *f, const struct owner *o,
		     uint64_t at)
{
	const struct sinsp_thread *t = o->evt->thread;
	const struct jit_process_key key = {
		.pid = o->pid,
		.vpid = o->vpid,
		.owner = t ? t->uid : 0,
		.dump = sinsp_code_maps_dump(&o->s->code_maps, o->pid),
		.mono_ns = o->evt->raw.ts_ns - (uint64_t)sy->where.mono_off,
		.live = sy->where.live,
	};
	struct symtab_sym sym;
	const char *file;
	int r;

	if (given_jit_frame(sy, f, o->pid, at) || !sy->where.same_boot)
		return 0;
	r = jit_process_find(&sy->jit, &key, at, &sym, &file, &f->line);
	if (r <= 0)
		return r;
	f->kind = SINSP_FRAME_JIT;
	sy->at[f - sy->frames] = NULL;
	f->place = at;
	f->module = "[jit]";
	f->function = keep_name(sy, sym.name);
	f->offset = f->addr - sym.addr;
	f->file = file ? keep_text(sy, file, strlen(file)) : NULL;
	return 0;
}

/* Anonymous executable memory, or a file that cannot be read. */
static int may_be_jit(const struct sinsp_code_file *code)
{
	return !*code->path || strncmp(code->path, "/memfd:", 7) == 0 ||
	       strncmp(code->path, "/dev/", 5) == 0 || strncmp(code->path, "//anon", 6) == 0;
}

static int user_frame(struct sinsp_symbols *sy, struct sinsp_frame *f, const struct owner *o,
		      uint64_t frame)
{
	const int exact = !!(frame & STACK_EXACT);
	const uint64_t addr = STACK_ADDR(frame), at = addr - !exact;
	const struct sinsp_code_map *map =
		STACK_IS_SCRIPT(frame) ? NULL : sinsp_code_map_find(&o->s->code_maps, o->pid, at);
	struct place *p;
	int err;

	*f = (struct sinsp_frame){.addr = addr, .place = at, .kind = SINSP_FRAME_UNKNOWN};
	if (!map)
		return jit_frame(sy, f, o, at);
	err = name_place(sy, &p, FILE_SOURCE + map->file->number, at - map->start + map->offset,
			 map->file);
	if (!err && p->given && p->is_start)
		err = name_given_start(sy, p, map->file);
	if (err)
		return err;
	f->kind = SINSP_FRAME_USER;
	f->code = map->file;
	fill(f, p, !exact);
	sy->at[f - sy->frames] = p;
	return f->function || !may_be_jit(map->file) ? 0 : jit_frame(sy, f, o, at);
}

/* ---- samples ---- */

/* The parameters of a sample, found by name: files have those of their time. */
struct sample {
	const struct scap_param *pid, *vpid, *kernel, *user;
};

static const struct scap_param *param(const struct sinsp_evt *evt, const char *name)
{
	const unsigned int n =
		evt->params.n < evt->info->n_params ? evt->params.n : evt->info->n_params;

	for (unsigned int i = 0; i < n; i++)
		if (strcmp(evt->info->params[i].name, name) == 0)
			return &evt->params.v[i];
	return NULL;
}

static size_t n_addresses(const struct scap_param *v, size_t max)
{
	const size_t n = v ? v->len / sizeof(uint64_t) : 0;

	return n < max ? n : max;
}

static int64_t pid_of(const struct scap_param *v)
{
	return v && v->len == sizeof(int64_t) ? (int64_t)get_u64(v->p) : -1;
}

static int is_of_sampler(const struct sinsp_frame *f)
{
	static const char *const names[] = {"bpf_prog_", "bpf_trace_run", "__bpf_trace_",
					    "__traceiter_"};

	if (!f->function)
		return f->module && strcmp(f->module, MODULE_BPF) == 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(f->function, names[i], strlen(names[i])) == 0)
			return 1;
	return 0;
}

/* The innermost frames of a tracepoint sample that belong to the sampler. If kernel names were read
 * after it ended, they lack its program. */
static size_t n_of_sampler(const struct sinsp_frame *f, size_t n)
{
	size_t i = n > 1 && !f[0].function && is_of_sampler(&f[1]);

	while (i < n && is_of_sampler(&f[i]))
		i++;
	return i < n ? i : 0;
}

static int name_frames(struct sinsp_symbols *sy, const struct owner *o, const struct sample *sa)
{
	const size_t n_kernel = n_addresses(sa->kernel, STACK_KERNEL_MAX);
	const size_t n_user = n_addresses(sa->user, STACK_USER_MAX);
	struct sinsp_frame *f = sy->frames;
	struct sinsp_stack *st = &sy->plain.stack;
	int err = 0;

	memset(sy->at, 0, (n_kernel + n_user) * sizeof(sy->at[0]));
	for (size_t i = 0; i < n_kernel && !err; i++)
		err = kernel_frame(sy, f++, get_u64(sa->kernel->p + i * 8), i == 0);
	for (size_t i = 0; i < n_user && !err; i++)
		err = user_frame(sy, f++, o, get_u64(sa->user->p + i * 8));
	if (err)
		return err;
	sy->n_sampler = n_of_sampler(sy->frames, n_kernel);
	*st = (struct sinsp_stack){sy->frames + sy->n_sampler, n_kernel + n_user - sy->n_sampler,
				   n_kernel - sy->n_sampler};
	sy->stats.n_frames += st->n;
	for (size_t i = 0; i < st->n; i++)
		sy->stats.n_named += st->frames[i].function != NULL;
	return 0;
}

static int make_plain(struct sinsp_symbols *sy, struct sinsp *s, const struct sinsp_evt *evt)
{
	const struct sample sa = {param(evt, "pid"), param(evt, "vpid"), param(evt, "kernel"),
				  param(evt, "user")};
	struct owner o = {s, evt, pid_of(sa.pid), pid_of(sa.vpid)};

	if (o.vpid <= 0)
		o.vpid = o.pid;
	sy->n_stacks++;
	return make_room(sy) ?: name_frames(sy, &o, &sa);
}

/* ---- lines ---- */

struct debug_of {
	struct sinsp_symbols *sy;
	struct read_file *r;
};

static void say_no_lines(void *ctx, uint32_t source, const char *reason)
{
	const struct sinsp_symbols *sy = ctx;
	const struct read_file *r = &sy->files[source - FILE_SOURCE];
	char text[1280]; /* with the reason, however long the path is */

	if (!sy->inspector->log)
		return;
	snprintf(text, sizeof(text),
		 "cannot read lines of %.1024s: %s; its functions have no lines",
		 symbol_file_path(r->f), reason);
	sy->inspector->log(sy->inspector->log_ctx, SCAP_LOG_WARN, text);
}

static struct line_server *new_line_server(struct sinsp_symbols *sy)
{
	const struct line_server_opts opts = {.gave_up = say_no_lines, .ctx = sy};

	return line_server_new(&opts);
}

static int open_debug(void *ctx)
{
	const struct debug_of *d = ctx;

	return symbol_file_open_debug(d->r->f, &d->sy->where);
}

static const char *text_or_null(struct sinsp_symbols *sy, const char *text)
{
	return *text ? keep_text(sy, text, strlen(text)) : NULL;
}

static struct place_lines *keep_lines(struct sinsp_symbols *sy, const struct dwarf_frame *v,
				      size_t n)
{
	struct place_lines *l = n ? malloc(sizeof(*l) + n * sizeof(l->v[0])) : NULL;

	if (!l)
		return NULL;
	l->n = (uint32_t)n;
	for (size_t i = 0; i < n; i++) {
		l->v[i].function = text_or_null(sy, v[i].function);
		l->v[i].file = text_or_null(sy, v[i].file);
		l->v[i].line = v[i].line;
	}
	return l;
}

/* NULL: unknown. */
static const struct place_lines *lines_of(struct sinsp_symbols *sy, struct place *p)
{
	struct dwarf_frame v[DWARF_FRAMES_MAX];
	struct debug_of d = {.sy = sy};
	int n;

	if (!p || p->asked)
		return p ? p->lines : NULL;
	p->asked = 1;
	if (p->source < FILE_SOURCE || p->source >= JIT_SOURCE)
		return NULL;
	if (!sy->lines)
		sy->lines = new_line_server(sy);
	d.r = &sy->files[p->source - FILE_SOURCE];
	if (!sy->lines || p->addr == UINT64_MAX)
		return NULL;
	/* Live, events do not wait for lines: late ones are there the next time. */
	n = line_server_ask(sy->lines, p->source, open_debug, &d, p->addr, v, !sy->where.live);
	if (n == -EAGAIN)
		p->asked = 0;
	else
		p->lines = keep_lines(sy, v, n > 0 ? (size_t)n : 0);
	return p->lines;
}

/* The frame with its line, and before it the functions inlined into it. */
static size_t expand(struct sinsp_frame *to, size_t room, const struct sinsp_frame *f,
		     const struct place_lines *l)
{
	const uint32_t n = l && l->n < room ? l->n : 0;

	if (!n) {
		*to = *f;
		return 1;
	}
	for (uint32_t i = 0; i < n; i++) {
		const int is_own = i + 1 == n;

		to[i] = *f;
		to[i].file = l->v[i].file;
		to[i].line = l->v[i].line;
		to[i].inlined = !is_own;
		if (!is_own || !f->function)
			to[i].function = l->v[i].function;
		if (!is_own)
			to[i].offset = 0;
	}
	return n;
}

static void make_lined(struct sinsp_symbols *sy)
{
	const struct sinsp_stack *from = &sy->plain.stack;
	struct place *const *at = sy->at + sy->n_sampler;
	size_t n = 0;

	for (size_t i = 0; i < from->n && n < EXPANDED_MAX; i++) {
		/* Each following frame has its own place, whatever is inlined into this one. */
		const size_t room = EXPANDED_MAX - n - (from->n - i - 1);

		n += expand(sy->expanded + n, room, &from->frames[i], lines_of(sy, at[i]));
	}
	sy->lined.stack = (struct sinsp_stack){sy->expanded, n, from->n_kernel};
}

int sinsp_stack_get(struct sinsp *s, const struct sinsp_evt *evt, int lines,
		    const struct sinsp_stack **out)
{
	struct sinsp_symbols *sy;
	int err = 0;

	if (evt->raw.type != EVT_SAMPLE_E)
		return -ENODATA;
	sy = symbols_of(s);
	if (!sy)
		return -ENOMEM;
	if (sy->plain.serial != s->n_events) {
		sy->plain.serial = 0;
		err = make_plain(sy, s, evt);
		if (err)
			return err;
		sy->plain.serial = s->n_events;
	}
	*out = &sy->plain.stack;
	if (!lines)
		return 0;
	if (sy->lined.serial != s->n_events)
		make_lined(sy);
	sy->lined.serial = s->n_events;
	*out = &sy->lined.stack;
	return 0;
}

/* ---- names in files ---- */

struct teller {
	struct sinsp *s;
	struct sinsp_symbols *sy;
	uint32_t piece;
	sinsp_symbol_fn put;
	void *ctx;
	char lines[SYMBOL_LINES_MAX], event[SYMBOL_EVENT_MAX];
};

static struct scap_param param_of(const char *text)
{
	return (struct scap_param){(const uint8_t *)text, text ? (uint32_t)strlen(text) : 0};
}

static size_t put_line_row(char *to, size_t room, const char *function, const char *file,
			   uint32_t line)
{
	const int n = snprintf(to, room, "%s\t%s\t%u\n", function ?: "", file ?: "", line);

	return n > 0 && (size_t)n < room ? (size_t)n : 0;
}

static struct scap_param lines_text(struct teller *t, const struct place_lines *l)
{
	size_t len = 0;

	for (uint32_t i = 0; l && i < l->n; i++)
		len += put_line_row(t->lines + len, sizeof(t->lines) - len, l->v[i].function,
				    l->v[i].file, l->v[i].line);
	return (struct scap_param){(const uint8_t *)t->lines, (uint32_t)len};
}

static int put_told(struct teller *t, const struct symbol_told *told)
{
	const int err = symbol_event_build(t->event, told);

	return err ? 0 : t->put(t->ctx, (const struct ppm_evt_hdr *)t->event);
}

static int tell_place(struct teller *t, struct place *p)
{
	struct symbol_told told = {
		.of = p->source == KERNEL_SOURCE ? SYMBOL_OF_KERNEL : SYMBOL_OF_FILE,
		.place = p->place,
		.addr = p->addr,
		.begin = p->begin,
		.module = param_of(p->module),
		.name = param_of(p->function),
	};

	if (p->told == t->piece + 1)
		return 0;
	p->told = t->piece + 1;
	told.lines = lines_text(t, lines_of(t->sy, p));
	if (!p->function && !told.lines.len)
		return 0;
	if (p->source >= JIT_SOURCE) {
		told.of = SYMBOL_OF_JIT;
		told.pid = p->source & ~JIT_SOURCE;
	} else if (p->source >= FILE_SOURCE) {
		const struct sinsp_code_file *code = t->s->code_maps.files[p->source - FILE_SOURCE];

		told.id = code->id;
		told.path = param_of(code->id.ino ? NULL : code->path);
	}
	return put_told(t, &told);
}

/* The line of the frame in a jitdump. */
static struct place_lines *jit_line(const struct sinsp_frame *f)
{
	struct place_lines *l = f->line ? malloc(sizeof(*l) + sizeof(l->v[0])) : NULL;

	if (!l)
		return NULL;
	l->n = 1;
	l->v[0].function = f->function;
	l->v[0].file = f->file;
	l->v[0].line = f->line;
	return l;
}

/* The address of JIT code may belong to another function next time. */
static int tell_jit(struct teller *t, const struct sinsp_frame *f, int64_t pid)
{
	const uint32_t source = JIT_SOURCE | (uint32_t)pid;
	struct place *p = &t->sy->places[place_slot(t->sy, source, f->place)];

	if (p->source && p->told == t->piece + 1 && p->function == f->function)
		return 0;
	if (!p->source)
		t->sy->n_places++;
	else
		free(p->lines);
	*p = (struct place){
		.place = f->place,
		.addr = f->place,
		.begin = f->addr - f->offset,
		.function = f->function,
		.module = f->module,
		.lines = jit_line(f),
		.source = source,
		.asked = 1,
	};
	return tell_place(t, p);
}

int sinsp_symbols_tell(struct sinsp *s, const struct sinsp_evt *evt, uint32_t piece,
		       sinsp_symbol_fn put, void *ctx)
{
	const struct sinsp_stack *st;
	struct sinsp_symbols *sy;
	struct teller *t;
	int64_t pid;
	int err = sinsp_stack_get(s, evt, 1, &st);

	if (err)
		return err == -ENODATA ? 0 : err;
	t = malloc(sizeof(*t));
	if (!t)
		return -ENOMEM;
	sy = s->symbols;
	*t = (struct teller){.s = s, .sy = sy, .piece = piece, .put = put, .ctx = ctx};
	pid = pid_of(param(evt, "pid"));
	/* Also the sampler's frames: readers of the file recognize them by their names. */
	for (size_t i = 0; i < sy->n_sampler + sy->plain.stack.n && !err; i++) {
		if (sy->at[i])
			err = tell_place(t, sy->at[i]);
		else if (sy->frames[i].kind == SINSP_FRAME_JIT && pid > 0)
			err = tell_jit(t, &sy->frames[i], pid);
	}
	free(t);
	return err;
}

struct map_teller {
	sinsp_symbol_fn put;
	void *ctx;
	char event[SYMBOL_EVENT_MAX];
};

static int tell_map(void *ctx, int64_t pid, const struct sinsp_code_map *map)
{
	struct map_teller *t = ctx;
	const int err = symbol_map_event_build(t->event, pid, map);

	return err ? 0 : t->put(t->ctx, (const struct ppm_evt_hdr *)t->event);
}

int sinsp_code_maps_tell(struct sinsp *s, sinsp_symbol_fn put, void *ctx)
{
	struct map_teller t = {.put = put, .ctx = ctx};

	return sinsp_code_maps_each(&s->code_maps, tell_map, &t);
}

/* Parses the rows of an event's lines, up to an invalid one. */
static struct place_lines *take_lines(struct sinsp_symbols *sy, const struct scap_param *text)
{
	const char *p = (const char *)text->p, *end = p + text->len, *nl, *tab, *tab2;
	struct place_lines *l = malloc(sizeof(*l) + DWARF_FRAMES_MAX * sizeof(l->v[0]));

	if (!l)
		return NULL;
	for (l->n = 0; l->n < DWARF_FRAMES_MAX && p < end; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(end - p));
		tab = nl ? memchr(p, '\t', (size_t)(nl - p)) : NULL;
		tab2 = tab ? memchr(tab + 1, '\t', (size_t)(nl - tab - 1)) : NULL;
		if (!tab2)
			break;
		l->v[l->n].function = tab > p ? keep_text(sy, p, (size_t)(tab - p)) : NULL;
		l->v[l->n].file =
			tab2 > tab + 1 ? keep_text(sy, tab + 1, (size_t)(tab2 - tab - 1)) : NULL;
		l->v[l->n++].line = (uint32_t)strtoul(tab2 + 1, NULL, 10);
	}
	if (!l->n) {
		free(l);
		return NULL;
	}
	return l;
}

static uint32_t source_of(struct sinsp *s, const struct symbol_told *told)
{
	const struct sinsp_code_file *f;

	switch ((enum symbol_of)told->of) {
	case SYMBOL_OF_KERNEL:
		return KERNEL_SOURCE;
	case SYMBOL_OF_JIT:
		return JIT_SOURCE | (uint32_t)told->pid;
	case SYMBOL_OF_FILE:
		f = sinsp_code_file_get(&s->code_maps, &told->id, (const char *)told->path.p,
					told->path.len);
		return f ? FILE_SOURCE + f->number : 0;
	}
	return 0;
}

/* Modules that are files are known by their paths, from map events. */
static const char *module_of(struct sinsp *s, uint32_t source, const struct symbol_told *told)
{
	if (source >= FILE_SOURCE && source < JIT_SOURCE)
		return s->code_maps.files[source - FILE_SOURCE]->path;
	return told->module.len
		       ? keep_text(s->symbols, (const char *)told->module.p, told->module.len)
		       : NULL;
}

static int is_start_name(const struct place *p)
{
	char name[SYMBOL_FILE_START_NAME_MAX];

	if (!p->function || !p->module || p->source < FILE_SOURCE || p->source >= JIT_SOURCE)
		return 0;
	symbol_file_start_name(name, p->module, p->addr - (p->place - p->begin));
	return strcmp(name, p->function) == 0;
}

void sinsp_symbols_take(struct sinsp *s, const struct sinsp_evt *evt)
{
	struct sinsp_symbols *sy = symbols_of(s);
	struct symbol_told told;
	uint32_t source;
	struct place *p;

	if (!sy || symbol_event_read(&told, evt) || make_room(sy))
		return;
	source = source_of(s, &told);
	if (!source)
		return;
	p = &sy->places[place_slot(sy, source, told.place)];
	if (p->source)
		free(p->lines);
	else
		sy->n_places++;
	sy->n_given++;
	*p = (struct place){
		.place = told.place,
		.addr = told.addr,
		.begin = told.begin,
		.function = told.name.len ? keep_text(sy, (const char *)told.name.p, told.name.len)
					  : NULL,
		.module = module_of(s, source, &told),
		.lines = take_lines(sy, &told.lines),
		.source = source,
		.asked = 1,
		.given = 1,
	};
	p->is_start = (uint8_t)is_start_name(p);
}
