/* SPDX-License-Identifier: Apache-2.0 */
/* Names the frames of a sample's stack, with source lines and inlined functions. */
#include "symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpreter_frames.h"
#include "line_server.h"
#include "state/inspector.h"
#include "state/thread.h"
#include "symbol_cache.h"

/* The process of a sample. */
struct owner {
	struct sinsp *s;
	const struct sinsp_evt *evt;
	int64_t pid, vpid;
};

/* ---- frames ---- */

static void fill(struct sinsp_frame *f, struct symbol_place *p, uint64_t is_behind)
{
	f->function = p->function;
	f->module = p->module;
	f->place = p->addr != UINT64_MAX ? p->addr : p->place;
	f->offset = p->function ? p->place - p->begin + is_behind : 0;
	f->cached = p;
}

static int kernel_frame(struct sinsp_symbols *sy, struct sinsp_frame *f, uint64_t addr, int exact)
{
	struct symbol_place *p;
	int err = symbol_cache_place(sy, &p, KERNEL_SOURCE, addr - !exact, NULL);

	*f = (struct sinsp_frame){.addr = addr, .kind = SINSP_FRAME_KERNEL};
	if (!err) {
		fill(f, p, !exact);
	}
	return err;
}

/* Names a JIT frame from imported names. Other JIT names are not cached: addresses are reused. */
static int imported_jit_frame(struct sinsp_symbols *sy, struct sinsp_frame *f, int64_t pid,
			      uint64_t at)
{
	struct symbol_place *p = symbol_cache_find(sy, JIT_SOURCE | (uint32_t)pid, at);

	if (!p->source || !p->imported)
		return 0;
	f->kind = SINSP_FRAME_JIT;
	fill(f, p, f->addr - at);
	if (p->lines) {
		f->file = p->lines->v[0].file;
		f->line = p->lines->v[0].line;
	}
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

	if (imported_jit_frame(sy, f, o->pid, at) || !sy->where.same_boot)
		return 0;
	r = jit_process_find(&sy->jit, &key, at, &sym, &file, &f->line);
	if (r <= 0)
		return r;
	f->kind = SINSP_FRAME_JIT;
	f->cached = NULL;
	f->place = at;
	f->module = "[jit]";
	f->function = symbol_cache_name(sy, sym.name);
	f->offset = f->addr - sym.addr;
	f->file = file ? symbol_cache_text(sy, file, strlen(file)) : NULL;
	return 0;
}

/* JIT code is in anonymous memory, or in a file without symbols. */
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
	const struct sinsp_code_map *map = sinsp_code_map_find(&o->s->code_maps, o->pid, at);
	struct symbol_place *p;
	int err;

	*f = (struct sinsp_frame){.addr = addr, .place = at, .kind = SINSP_FRAME_UNKNOWN};
	if (!map)
		return jit_frame(sy, f, o, at);
	err = symbol_cache_place(sy, &p, FILE_SOURCE + map->file->number,
				 at - map->start + map->offset, map->file);
	if (!err && p->imported && p->is_start)
		err = symbol_cache_name_start(sy, p, map->file);
	if (err)
		return err;
	f->kind = SINSP_FRAME_USER;
	f->code = map->file;
	fill(f, p, !exact);
	return f->function || !may_be_jit(map->file) ? 0 : jit_frame(sy, f, o, at);
}

/* Returns what a runtime does for itself; NULL: @code is an address. */
static const char *state_name(unsigned int walker, uint64_t code)
{
	static const struct {
		unsigned int walker;
		enum stack_state state;
		const char *name;
	} states[] = {
#define X(walker, sym, number, name) {STACK_WALKER_##walker, STACK_STATE_##walker##_##sym, name},
		STACK_STATES(X)
#undef X
	};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (states[i].walker == walker && states[i].state == code)
			return states[i].name;
	return NULL;
}

/* Names a frame of an interpreter: @frame with the word behind it. */
static void script_frame(struct sinsp_symbols *sy, struct sinsp_frame *f, const struct owner *o,
			 uint64_t frame, uint64_t more)
{
	const uint64_t code = STACK_ADDR(frame);
	const struct script_code *c =
		script_names_find(&sy->scripts, o->pid, code, STACK_MORE_CHECK(more));

	*f = (struct sinsp_frame){
		.addr = code,
		.place = code,
		.kind = SINSP_FRAME_SCRIPT,
		.function = state_name(STACK_WALKER(frame), code),
		.language = STACK_WALKER(frame),
	};
	if (f->function || c)
		f->place = 0; /* its address says nothing outside of the process */
	if (f->function || !c)
		return;
	f->function = c->function;
	f->module = f->file = c->file;
	f->begin = c->first_line;
	f->line = script_code_line(c, STACK_MORE_POSITION(more));
}

/* Returns the number of words of the frame at @i. */
static size_t frame_words(const struct scap_param *user, size_t i, size_t n)
{
	size_t words = 1;

	while (i + words < n && STACK_IS_MORE(get_u64(user->p + (i + words) * 8)))
		words++;
	return words;
}

static int name_user_frame(struct sinsp_symbols *sy, struct sinsp_frame *f, const struct owner *o,
			   const struct scap_param *user, size_t i, size_t words)
{
	const uint64_t frame = get_u64(user->p + i * 8);

	if (!STACK_IS_SCRIPT(frame))
		return user_frame(sy, f, o, frame);
	script_frame(sy, f, o, frame, words > 1 ? get_u64(user->p + (i + 1) * 8) : 0);
	return 0;
}

/* ---- samples ---- */

/* The parameters of a sample, found by name: older files have fewer. */
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

int64_t symbol_sample_pid(const struct sinsp_evt *evt)
{
	return pid_of(param(evt, "pid"));
}

static int is_sampler_frame(const struct sinsp_frame *f)
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

/* Counts the innermost frames that belong to the sampler's BPF program and its tracepoint. The
 * program has no name if the kernel's symbols were read after it was unloaded. */
static size_t count_sampler_frames(const struct sinsp_frame *f, size_t n)
{
	size_t i = n > 1 && !f[0].function && is_sampler_frame(&f[1]);

	while (i < n && is_sampler_frame(&f[i]))
		i++;
	return i < n ? i : 0;
}

static int has_scripts(const struct sinsp_frame *f, size_t n)
{
	while (n && f[n - 1].kind != SINSP_FRAME_SCRIPT)
		n--;
	return n != 0;
}

/* Leaves out the frames of the interpreter itself. */
static void hide_frames(struct sinsp_symbols *sy, struct sinsp_stack *st)
{
	const size_t k = st->n_kernel;

	memcpy(sy->shown, st->frames, k * sizeof(sy->shown[0]));
	st->n = k + hide_interpreter_frames(sy->shown + k, st->frames + k, st->n - k);
	st->frames = sy->shown;
}

static int name_frames(struct sinsp_symbols *sy, const struct owner *o, const struct sample *sa)
{
	const size_t n_kernel = n_addresses(sa->kernel, STACK_KERNEL_MAX);
	const size_t n_user = n_addresses(sa->user, STACK_USER_MAX);
	struct sinsp_frame *f = sy->frames;
	struct sinsp_stack *st = &sy->plain.stack;
	size_t words;
	int err = 0;

	for (size_t i = 0; i < n_kernel && !err; i++)
		err = kernel_frame(sy, f++, get_u64(sa->kernel->p + i * 8), i == 0);
	for (size_t i = 0; i < n_user && !err; i += words) {
		words = frame_words(sa->user, i, n_user);
		err = name_user_frame(sy, f++, o, sa->user, i, words);
	}
	if (err)
		return err;
	sy->n_frames = (size_t)(f - sy->frames);
	sy->n_sampler = count_sampler_frames(sy->frames, n_kernel);
	*st = (struct sinsp_stack){sy->frames + sy->n_sampler, sy->n_frames - sy->n_sampler,
				   n_kernel - sy->n_sampler};
	if (!o->s->interpreter_frames && has_scripts(st->frames, st->n))
		hide_frames(sy, st);
	sy->stats.n_frames += st->n;
	for (size_t i = 0; i < st->n; i++)
		sy->stats.n_named += st->frames[i].function != NULL;
	return 0;
}

static int name_stack(struct sinsp_symbols *sy, struct sinsp *s, const struct sinsp_evt *evt)
{
	const struct sample sa = {param(evt, "pid"), param(evt, "vpid"), param(evt, "kernel"),
				  param(evt, "user")};
	struct owner o = {s, evt, pid_of(sa.pid), pid_of(sa.vpid)};

	if (o.vpid <= 0)
		o.vpid = o.pid;
	sy->n_stacks++;
	return symbol_cache_reserve(sy) ?: name_frames(sy, &o, &sa);
}

/* ---- lines ---- */

struct debug_ctx {
	struct sinsp_symbols *sy;
	struct read_file *r;
};

static void log_no_lines(void *ctx, uint32_t source, const char *reason)
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

static struct line_server *start_line_server(struct sinsp_symbols *sy)
{
	const struct line_server_opts opts = {.gave_up = log_no_lines, .ctx = sy};

	return line_server_new(&opts);
}

static int open_debug(void *ctx)
{
	const struct debug_ctx *d = ctx;

	return symbol_file_open_debug(d->r->f, &d->sy->where);
}

static const char *text_or_null(struct sinsp_symbols *sy, const char *text)
{
	return *text ? symbol_cache_text(sy, text, strlen(text)) : NULL;
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

const struct place_lines *symbol_place_lines(struct sinsp_symbols *sy, struct symbol_place *p)
{
	struct dwarf_frame v[DWARF_FRAMES_MAX];
	struct debug_ctx d = {.sy = sy};
	int n;

	if (!p || p->lines_known)
		return p ? p->lines : NULL;
	p->lines_known = 1;
	if (p->source < FILE_SOURCE || p->source >= JIT_SOURCE)
		return NULL;
	if (!sy->lines)
		sy->lines = start_line_server(sy);
	d.r = &sy->files[p->source - FILE_SOURCE];
	if (!sy->lines || p->addr == UINT64_MAX)
		return NULL;
	/* A live capture does not wait for lines: late ones are used at the next sample. */
	n = line_server_query(sy->lines, p->source, open_debug, &d, p->addr, v, !sy->where.live);
	if (n == -EAGAIN)
		p->lines_known = 0;
	else
		p->lines = keep_lines(sy, v, n > 0 ? (size_t)n : 0);
	return p->lines;
}

/* Writes the functions that were inlined into the frame, then the frame with its line. */
static size_t expand(struct sinsp_frame *to, size_t room, const struct sinsp_frame *f,
		     const struct place_lines *l)
{
	const uint32_t n = l && l->n < room ? l->n : 0;

	if (!n) {
		*to = *f;
		return 1;
	}
	for (uint32_t i = 0; i < n; i++) {
		const int is_outer = i + 1 == n;

		to[i] = *f;
		to[i].file = l->v[i].file;
		to[i].line = l->v[i].line;
		to[i].inlined = !is_outer;
		if (!is_outer || !f->function)
			to[i].function = l->v[i].function;
		if (!is_outer)
			to[i].offset = 0;
	}
	return n;
}

static void add_lines(struct sinsp_symbols *sy)
{
	const struct sinsp_stack *from = &sy->plain.stack;
	size_t n = 0;

	for (size_t i = 0; i < from->n && n < EXPANDED_MAX; i++) {
		/* Reserves a slot for each frame that follows. */
		const size_t room = EXPANDED_MAX - n - (from->n - i - 1);

		n += expand(sy->expanded + n, room, &from->frames[i],
			    symbol_place_lines(sy, from->frames[i].cached));
	}
	sy->lined.stack = (struct sinsp_stack){sy->expanded, n, from->n_kernel};
}

int sinsp_stack_get(struct sinsp *s, const struct sinsp_evt *evt, int lines,
		    const struct sinsp_stack **out)
{
	struct sinsp_symbols *sy;
	struct sinsp_evt sample;
	int err = 0;

	if (!sinsp_evt_as_sample(evt, &sample))
		return -ENODATA;
	sy = symbol_cache_get(s);
	if (!sy)
		return -ENOMEM;
	if (sy->plain.serial != s->n_events) {
		sy->plain.serial = 0;
		err = name_stack(sy, s, &sample);
		if (err)
			return err;
		sy->plain.serial = s->n_events;
	}
	*out = &sy->plain.stack;
	if (!lines)
		return 0;
	if (sy->lined.serial != s->n_events)
		add_lines(sy);
	sy->lined.serial = s->n_events;
	*out = &sy->lined.stack;
	return 0;
}
