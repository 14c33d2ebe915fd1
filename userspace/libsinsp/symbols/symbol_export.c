/* SPDX-License-Identifier: Apache-2.0 */
/* Exports names and mappings as symbol events of a capture file, and imports them from it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf_lines.h"
#include "state/inspector.h"
#include "symbol_cache.h"
#include "symbol_event.h"

/* ---- export ---- */

struct exporter {
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

static struct scap_param lines_text(struct exporter *t, const struct place_lines *l)
{
	size_t len = 0;

	for (uint32_t i = 0; l && i < l->n; i++)
		len += put_line_row(t->lines + len, sizeof(t->lines) - len, l->v[i].function,
				    l->v[i].file, l->v[i].line);
	return (struct scap_param){(const uint8_t *)t->lines, (uint32_t)len};
}

static int put_row(struct exporter *t, const struct symbol_row *row)
{
	const int err = symbol_event_build(t->event, row);

	return err ? 0 : t->put(t->ctx, (const struct ppm_evt_hdr *)t->event);
}

static int export_place(struct exporter *t, struct symbol_place *p)
{
	struct symbol_row row = {
		.of = p->source == KERNEL_SOURCE ? SYMBOL_OF_KERNEL : SYMBOL_OF_FILE,
		.place = p->place,
		.addr = p->addr,
		.begin = p->begin,
		.module = param_of(p->module),
		.name = param_of(p->function),
	};

	if (p->exported == t->piece + 1)
		return 0;
	p->exported = t->piece + 1;
	row.lines = lines_text(t, symbol_place_lines(t->sy, p));
	if (!p->function && !row.lines.len)
		return 0;
	if (p->source >= JIT_SOURCE) {
		row.of = SYMBOL_OF_JIT;
		row.pid = p->source & ~JIT_SOURCE;
	} else if (p->source >= FILE_SOURCE) {
		const struct sinsp_code_file *code = t->s->code_maps.files[p->source - FILE_SOURCE];

		row.id = code->id;
		row.path = param_of(code->id.ino ? NULL : code->path);
	}
	return put_row(t, &row);
}

/* Returns the source line that the jitdump has for the frame; NULL: none. */
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

/* Exports a JIT frame. Its address may have held another function before. */
static int export_jit(struct exporter *t, const struct sinsp_frame *f, int64_t pid)
{
	const uint32_t source = JIT_SOURCE | (uint32_t)pid;
	struct symbol_place *p = symbol_cache_find(t->sy, source, f->place);

	if (p->source && p->exported == t->piece + 1 && p->function == f->function)
		return 0;
	if (!p->source)
		t->sy->n_places++;
	else
		free(p->lines);
	*p = (struct symbol_place){
		.place = f->place,
		.addr = f->place,
		.begin = f->addr - f->offset,
		.function = f->function,
		.module = f->module,
		.lines = jit_line(f),
		.source = source,
		.lines_known = 1,
	};
	return export_place(t, p);
}

int sinsp_symbols_export(struct sinsp *s, const struct sinsp_evt *evt, uint32_t piece,
			 sinsp_symbol_fn put, void *ctx)
{
	const struct sinsp_stack *st;
	struct sinsp_symbols *sy;
	struct exporter *t;
	int64_t pid;
	int err = sinsp_stack_get(s, evt, 1, &st);

	if (err)
		return err == -ENODATA ? 0 : err;
	t = malloc(sizeof(*t));
	if (!t)
		return -ENOMEM;
	sy = s->symbols;
	*t = (struct exporter){.s = s, .sy = sy, .piece = piece, .put = put, .ctx = ctx};
	pid = symbol_sample_pid(evt);
	/* The sampler's frames, too: the reader drops them by name. */
	for (size_t i = 0; i < sy->n_frames && !err; i++) {
		if (sy->frames[i].cached)
			err = export_place(t, sy->frames[i].cached);
		else if (sy->frames[i].kind == SINSP_FRAME_JIT && pid > 0)
			err = export_jit(t, &sy->frames[i], pid);
	}
	free(t);
	return err;
}

struct map_exporter {
	sinsp_symbol_fn put;
	void *ctx;
	char event[SYMBOL_EVENT_MAX];
};

static int export_map(void *ctx, int64_t pid, const struct sinsp_code_map *map)
{
	struct map_exporter *t = ctx;
	const int err = symbol_map_event_build(t->event, pid, map);

	return err ? 0 : t->put(t->ctx, (const struct ppm_evt_hdr *)t->event);
}

int sinsp_code_maps_export(struct sinsp *s, sinsp_symbol_fn put, void *ctx)
{
	struct map_exporter t = {.put = put, .ctx = ctx};

	return sinsp_code_maps_each(&s->code_maps, export_map, &t);
}

static int export_script(void *ctx, const struct script_code *c)
{
	struct map_exporter *t = ctx;
	const int err = symbol_script_event_build(t->event, c);

	return err ? 0 : t->put(t->ctx, (const struct ppm_evt_hdr *)t->event);
}

int sinsp_scripts_export(struct sinsp *s, sinsp_symbol_fn put, void *ctx)
{
	struct map_exporter t = {.put = put, .ctx = ctx};

	return s->symbols ? script_names_each(&s->symbols->scripts, export_script, &t) : 0;
}

/* ---- import ---- */

void sinsp_scripts_import(struct sinsp *s, const struct sinsp_evt *evt)
{
	struct sinsp_symbols *sy = symbol_cache_get(s);
	struct script_row row;

	if (!sy || symbol_script_event_read(&row, evt))
		return;
	if (!script_names_add(&sy->scripts, &row) && script_names_full(&sy->scripts) && s->log)
		s->log(s->log_ctx, SCAP_LOG_WARN,
		       "too many interpreted functions: those unused for longest lose their names");
}

void sinsp_scripts_drop(struct sinsp *s, const struct sinsp_evt *evt)
{
	if (s->symbols)
		script_names_drop(&s->symbols->scripts, symbol_sample_pid(evt));
}

/* Parses the lines of a symbol event, up to the first malformed one. */
static struct place_lines *import_lines(struct sinsp_symbols *sy, const struct scap_param *text)
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
		l->v[l->n].function = tab > p ? symbol_cache_text(sy, p, (size_t)(tab - p)) : NULL;
		l->v[l->n].file = tab2 > tab + 1
					  ? symbol_cache_text(sy, tab + 1, (size_t)(tab2 - tab - 1))
					  : NULL;
		l->v[l->n++].line = (uint32_t)strtoul(tab2 + 1, NULL, 10);
	}
	if (!l->n) {
		free(l);
		return NULL;
	}
	return l;
}

static uint32_t source_of(struct sinsp *s, const struct symbol_row *row)
{
	const struct sinsp_code_file *f;

	switch ((enum symbol_of)row->of) {
	case SYMBOL_OF_KERNEL:
		return KERNEL_SOURCE;
	case SYMBOL_OF_JIT:
		return JIT_SOURCE | (uint32_t)row->pid;
	case SYMBOL_OF_FILE:
		f = sinsp_code_file_get(&s->code_maps, &row->id, (const char *)row->path.p,
					row->path.len);
		return f ? FILE_SOURCE + f->number : 0;
	}
	return 0;
}

/* Returns the module: for a file the path of its mapping. */
static const char *module_of(struct sinsp *s, uint32_t source, const struct symbol_row *row)
{
	if (source >= FILE_SOURCE && source < JIT_SOURCE)
		return s->code_maps.files[source - FILE_SOURCE]->path;
	return row->module.len
		       ? symbol_cache_text(s->symbols, (const char *)row->module.p, row->module.len)
		       : NULL;
}

static int is_start_name(const struct symbol_place *p)
{
	char name[SYMBOL_FILE_START_NAME_MAX];

	if (!p->function || !p->module || p->source < FILE_SOURCE || p->source >= JIT_SOURCE)
		return 0;
	symbol_file_start_name(name, p->module, p->addr - (p->place - p->begin));
	return strcmp(name, p->function) == 0;
}

void sinsp_symbols_import(struct sinsp *s, const struct sinsp_evt *evt)
{
	struct sinsp_symbols *sy = symbol_cache_get(s);
	struct symbol_row row;
	uint32_t source;
	struct symbol_place *p;

	if (!sy || symbol_event_read(&row, evt) || symbol_cache_reserve(sy))
		return;
	source = source_of(s, &row);
	if (!source)
		return;
	p = symbol_cache_find(sy, source, row.place);
	if (p->source)
		free(p->lines);
	else
		sy->n_places++;
	sy->n_imported++;
	*p = (struct symbol_place){
		.place = row.place,
		.addr = row.addr,
		.begin = row.begin,
		.function = row.name.len
				    ? symbol_cache_text(sy, (const char *)row.name.p, row.name.len)
				    : NULL,
		.module = module_of(s, source, &row),
		.lines = import_lines(sy, &row.lines),
		.source = source,
		.lines_known = 1,
		.imported = 1,
	};
	p->is_start = (uint8_t)is_start_name(p);
}
