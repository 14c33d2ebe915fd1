/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of a sample's stacks with names: innermost frame first, kernel before user, except in
 * stack.folded, which begins with the outermost. An unknown fact of a frame has no value; where a
 * stack is one text, its module stands for the frame, or [unknown].
 */
#include <errno.h>

#include "field_rows.h"
#include "shared/stack.h"
#include "state/code_maps.h"
#include "symbols/runtime_code.h"
#include "symbols/symbols.h"
#include "text.h"

enum { NAME_MAX_LEN = 4096 };

/* Symbolizes the stacks of the event. Returns 1; 0: it has none; a negative errno. */
static int stack_of(struct sinsp_eval *e, int lines, const struct sinsp_stack **st)
{
	const int err = sinsp_stack_get(e->evt->insp, e->evt, lines, st);

	if (err)
		return err == -ENODATA ? 0 : err;
	return (*st)->n != 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Writes the text of a frame, at most NAME_MAX_LEN + 8 bytes. */
static char *put_name(char *p, const struct sinsp_frame *f)
{
	const char *name = f->function ?: f->module ? base_name(f->module) : "unknown";
	const int in_brackets = !f->function && *name != '[';
	const size_t len = strnlen(name, NAME_MAX_LEN);
	char *begin;

	if (in_brackets)
		*p++ = '[';
	begin = p;
	p = put_utf8(p, name, len);
	/* Separators of frames are replaced within a frame. */
	for (char *c = begin; c < p; c++)
		if (*c == ';')
			*c = ':';
	if (in_brackets)
		*p++ = ']';
	return p;
}

/* Writes the folded stacks of flame graphs. */
static char *put_suffix(char *p, const struct sinsp_frame *f)
{
	if (f->inlined)
		return put_lit(p, "_[i]");
	if (f->kind == SINSP_FRAME_KERNEL)
		return put_lit(p, "_[k]");
	return f->kind == SINSP_FRAME_JIT ? put_lit(p, "_[j]") : p;
}

static int get_folded(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	struct sinsp_text *t = &e->text;
	const struct sinsp_stack *st;
	char *p = NULL;
	int r = stack_of(e, f->row->variant, &st);

	(void)more;
	if (r <= 0)
		return r;
	t->len = 0;
	p = text_begin(t, 1);
	for (size_t i = st->n; i-- && p;) {
		p = text_room(t, p, NAME_MAX_LEN + 16);
		if (!p)
			break;
		if (i + 1 < st->n)
			*p++ = ';';
		p = put_suffix(put_name(p, &st->frames[i]), &st->frames[i]);
	}
	return text_end(t, p) ?: sinsp_eval_keep(e, v);
}

static int get_frames(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	const struct sinsp_stack *st;
	struct sinsp_value *list;
	int r = stack_of(e, 0, &st);

	if (r <= 0)
		return r;
	list = sinsp_eval_alloc(e, st->n * sizeof(*list));
	if (!list)
		return -ENOMEM;
	r = 0;
	for (size_t i = 0; i < st->n; i++) {
		const char *name = st->frames[i].function;

		if (!name)
			continue;
		list[r] = (struct sinsp_value){.type = f->type};
		field_str(&list[r++], name);
	}
	*v = *list;
	*more = list;
	return r;
}

/* ---- rows: all facts of each frame, for chisels that count stacks ---- */

static char *put_text(char *p, const char *text)
{
	return text ? put_utf8(p, text, strnlen(text, NAME_MAX_LEN)) : p;
}

/* Writes what distinguishes functions of one name in a file: the first line, or "#" and the number
 * of the function in the file. */
static char *put_begin(char *p, const struct sinsp_frame *f)
{
	if (f->begin && (f->language == STACK_WALKER_NODE || f->language == STACK_WALKER_BEAM))
		*p++ = '#';
	return put_u64(p, f->begin);
}

static char *put_row(char *p, const struct sinsp_frame *f)
{
	static const char kinds[] = {'u', 'k', 'j', 's', '?'};

	*p++ = f->inlined ? 'i' : kinds[f->kind];
	*p++ = '\t';
	p = put_text(p, f->function);
	*p++ = '\t';
	p = put_text(p, f->module);
	*p++ = '\t';
	p = put_hex(p, f->place);
	*p++ = '\t';
	p = f->kind == SINSP_FRAME_SCRIPT ? put_begin(p, f) : put_hex(p, f->offset);
	*p++ = '\t';
	p = put_text(p, f->file);
	*p++ = '\t';
	return f->line ? put_u64(p, f->line) : p;
}

static int get_rows(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	struct sinsp_text *t = &e->text;
	const struct sinsp_stack *st;
	char *p;
	int r = stack_of(e, f->row->variant, &st);

	(void)more;
	if (r <= 0)
		return r;
	t->len = 0;
	p = text_begin(t, 1);
	for (size_t i = 0; i < st->n && p; i++) {
		p = text_room(t, p, 3 * NAME_MAX_LEN + 4 * TEXT_NUM_MAX);
		if (!p)
			break;
		if (i)
			*p++ = '\n';
		p = put_row(p, &st->frames[i]);
	}
	v->made = 1;
	return text_end(t, p) ?: sinsp_eval_keep(e, v);
}

/* Writes a frame as perf script does: "\t  ADDRESS FUNCTION+0xOFFSET (MODULE)"; an inlined function
 * has the address of the function it is in, and no offset or module. */
static char *put_frame(char *p, const struct sinsp_frame *f)
{
	*p++ = '\t';
	p = put_hex(p, f->addr);
	*p++ = ' ';
	p = put_text(p, f->function ?: "[unknown]");
	if (f->inlined)
		return put_lit(p, " (inlined)\n");
	if (f->function) {
		p = put_lit(p, "+0x");
		p = put_hex(p, f->offset);
	}
	p = put_lit(p, " (");
	p = put_text(p, f->module ?: "[unknown]");
	return put_lit(p, ")\n");
}

static int get_text(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		    const struct sinsp_value **more)
{
	struct sinsp_text *t = &e->text;
	const struct sinsp_stack *st;
	char *p;
	int r = stack_of(e, f->row->variant, &st);

	(void)more;
	if (r <= 0)
		return r;
	t->len = 0;
	p = text_begin(t, 1);
	for (size_t i = 0; i < st->n && p; i++) {
		p = text_room(t, p, 2 * NAME_MAX_LEN + 4 * TEXT_NUM_MAX);
		if (p)
			p = put_frame(p, &st->frames[i]);
	}
	v->made = 1;
	return text_end(t, p) ?: sinsp_eval_keep(e, v);
}

/* ---- single frames: [N] counts from the innermost ---- */

enum { FRAME_FUNCTION, FRAME_MODULE, FRAME_PLACE, FRAME_FILE, FRAME_LINE, FRAME_KIND, FRAME_LANG };

static const char *kind_name(const struct sinsp_frame *f)
{
	static const char *const names[] = {"user", "kernel", "jit", "script", "unknown"};

	return f->inlined ? "inlined" : names[f->kind];
}

/* Returns the language of an interpreted function; NULL: it is native. */
static const char *language_name(const struct sinsp_frame *f)
{
	static const char *const names[STACK_WALKER_ROOM] = {
#define X(sym, number, name, ...) [STACK_WALKER_##sym] = name,
		STACK_WALKERS(X)
#undef X
	};

	return f->kind == SINSP_FRAME_SCRIPT ? names[f->language & (STACK_WALKER_ROOM - 1)] : NULL;
}

static int get_frame(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		     const struct sinsp_value **more)
{
	const unsigned int variant = f->row->variant;
	const struct sinsp_stack *st;
	const struct sinsp_frame *fr;
	int r = stack_of(e, variant == FRAME_FILE || variant == FRAME_LINE, &st);
	int64_t i = f->has_index ? f->index : 0;

	(void)more;
	if (r <= 0)
		return r;
	if (i >= (int64_t)st->n)
		return 0;
	fr = &st->frames[i];
	switch (variant) {
	case FRAME_FUNCTION:
		return field_str(v, fr->function);
	case FRAME_MODULE:
		return field_str(v, fr->module);
	case FRAME_PLACE:
		return field_u(v, fr->place);
	case FRAME_FILE:
		return field_str(v, fr->file);
	case FRAME_KIND:
		return field_str(v, kind_name(fr));
	case FRAME_LANG:
		return field_str(v, language_name(fr));
	default:
		return fr->line ? field_u(v, fr->line) : 0;
	}
}

enum { LANG_TOP, LANG_OWN };

/* Returns the innermost function of an interpreted program, for LANG_OWN of those outside of the
 * runtime's library; NULL: there is none. A function without a name could be either. */
static const struct sinsp_frame *script_frame(const struct sinsp_stack *st, unsigned int variant)
{
	for (size_t i = 0; i < st->n; i++) {
		const struct sinsp_frame *f = &st->frames[i];

		if (f->kind != SINSP_FRAME_SCRIPT)
			continue;
		if (variant == LANG_TOP)
			return f;
		if (!f->function)
			return NULL;
		if (!runtime_code_has(f->language, f->function, f->file))
			return f;
	}
	return NULL;
}

/* Writes FUNCTION (FILE:LINE). */
static int get_script(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
		      const struct sinsp_value **more)
{
	struct sinsp_text *t = &e->text;
	const struct sinsp_frame *fr;
	const struct sinsp_stack *st;
	char *p;
	int r = stack_of(e, 0, &st);

	(void)more;
	if (r <= 0)
		return r;
	fr = script_frame(st, f->row->variant);
	if (!fr)
		return 0;
	t->len = 0;
	p = text_begin(t, 2 * NAME_MAX_LEN + TEXT_NUM_MAX + 16);
	if (p) {
		p = put_name(p, fr);
		if (fr->file) {
			p = put_text(put_lit(p, " ("), fr->file);
			if (fr->line)
				p = put_u64(put_lit(p, ":"), fr->line);
			*p++ = ')';
		}
	}
	return text_end(t, p) ?: sinsp_eval_keep(e, v);
}

/* ---- build IDs ---- */

static char *put_build_id(char *p, const struct sinsp_code_id *id)
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned int i = 0; i < id->build_id_len; i++) {
		*p++ = digits[id->build_id[i] >> 4];
		*p++ = digits[id->build_id[i] & 15];
	}
	return p;
}

static int get_build_id(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			const struct sinsp_value **more)
{
	const int64_t i = f->has_index ? f->index : 0;
	const struct sinsp_code_file *code;
	const struct sinsp_stack *st;
	char *p;
	int r = stack_of(e, 0, &st);

	(void)more;
	if (r <= 0)
		return r;
	code = i < (int64_t)st->n ? st->frames[i].code : NULL;
	if (!code || !code->id.build_id_len)
		return 0;
	e->text.len = 0;
	p = text_begin(&e->text, 2 * SINSP_BUILD_ID_MAX);
	return text_end(&e->text, p ? put_build_id(p, &code->id) : NULL) ?: sinsp_eval_keep(e, v);
}

/* Returns whether an earlier frame has the same file. */
static int is_listed(const struct sinsp_stack *st, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (st->frames[k].code == st->frames[i].code)
			return 1;
	return 0;
}

static int get_build_ids(struct sinsp_eval *e, const struct sinsp_field *f, struct sinsp_value *v,
			 const struct sinsp_value **more)
{
	struct sinsp_text *t = &e->text;
	const struct sinsp_stack *st;
	char *p;
	int r = stack_of(e, 0, &st);

	(void)f, (void)more;
	if (r <= 0)
		return r;
	t->len = 0;
	p = text_begin(t, 1);
	for (size_t i = 0; i < st->n && p; i++) {
		const struct sinsp_frame *fr = &st->frames[i];

		if (!fr->code || !fr->code->id.build_id_len || is_listed(st, i))
			continue;
		p = text_room(t, p, NAME_MAX_LEN + 2 * SINSP_BUILD_ID_MAX + 8);
		if (!p)
			break;
		p = put_text(p, fr->module);
		*p++ = '\t';
		p = put_build_id(p, &fr->code->id);
		*p++ = '\n';
	}
	v->made = 1;
	return text_end(t, p) ?: t->len ? sinsp_eval_keep(e, v) : 0;
}

/* clang-format off */
#define TEXT(name, lines, get, help)                                                               \
	{name, FIELD_STR, FIELD_FMT_DEC, FIELD_COST_SYSTEM, 0, lines, get, help, NULL,         \
	 .needs = FIELD_NEEDS_NAMES}
#define FRAME(name, type, fmt, variant, help)                                                      \
	{name, FIELD_##type, FIELD_FMT_##fmt, FIELD_COST_SYSTEM,                                   \
	 FIELD_F_ARG_OK | FIELD_F_ARG_INDEX, variant, get_frame, help, NULL,           \
	 .needs = FIELD_NEEDS_NAMES}

static const struct sinsp_field_row rows[] = {
	{"stack.frames", FIELD_STR, FIELD_FMT_DEC, FIELD_COST_SYSTEM, FIELD_F_LIST | FIELD_F_ANY, 0,
	 get_frames, "functions in the stacks of a sample; a filter matches any of them",
	 NULL, .needs = FIELD_NEEDS_NAMES},
	TEXT("stack.folded", 0, get_folded,
	    "functions of the stacks, outermost first, separated by semicolons; kernel functions "
	    "end with _[k], JIT code with _[j]"),
	TEXT("stack.folded.inlined", 1, get_folded,
	    "stack.folded with inlined functions, which end with _[i]"),
	TEXT("stack.rows", 0, get_rows,
	    "one line per frame, innermost first: kind (u, k, j, s, ?, i if inlined), function, "
	    "module, address in the module, offset in the function (of an interpreter: its first "
	    "line, or # and its number in the file), source file, line; separated by tabs"),
	TEXT("stack.rows.source", 1, get_rows,
	    "stack.rows with inlined functions and source lines from debug information"),
	TEXT("stack.text", 0, get_text,
	    "one line per frame, innermost first, as perf script prints it"),
	TEXT("stack.text.inlined", 1, get_text,
	    "stack.text with inlined functions, marked (inlined)"),
	FRAME("stack.function", STR, DEC, FRAME_FUNCTION,
	    "function of one frame, by default [0], the innermost"),
	FRAME("stack.module", PATH, DEC, FRAME_MODULE,
	    "file that contains the code of one frame, or [kernel], [MODULE], [jit]"),
	FRAME("stack.place", UINT, HEX, FRAME_PLACE,
	    "address of one frame's instruction, as in the ELF file"),
	FRAME("stack.file", PATH, DEC, FRAME_FILE, "source file of one frame"),
	FRAME("stack.line", UINT, DEC, FRAME_LINE, "source line of one frame"),
	{"frame.buildid", FIELD_STR, FIELD_FMT_DEC, FIELD_COST_SYSTEM,
	 FIELD_F_ARG_OK | FIELD_F_ARG_INDEX, 0, get_build_id,
	 "build ID, in hex, of the file that contains the code of one frame, for debuggers and "
	 "debuginfod", NULL, .needs = FIELD_NEEDS_NAMES},
	TEXT("frame.buildids", 0, get_build_ids,
	    "one line per file of the stacks that has a build ID: its path, a tab, the build ID"),
	FRAME("stack.kind", STR, DEC, FRAME_KIND,
	    "kind of one frame's code: user, kernel, jit, script, inlined or unknown"),
	FRAME("frame.lang", STR, DEC, FRAME_LANG,
	    "language of one frame's function in an interpreted program, such as python"),
	TEXT("stack.lang.top", LANG_TOP, get_script,
	    "innermost function of an interpreted program, with file and line: "
	    "load (/srv/app.py:12)"),
	TEXT("stack.lang.own", LANG_OWN, get_script,
	    "stack.lang.top of the program's own functions: without builtins and the standard "
	    "library of the language"),
};
/* clang-format on */

const struct sinsp_field_class sinsp_fields_frames = {
	.name = "frames",
	.title = "frames",
	.help = "Stack frames of a sample, with symbols",
	FIELD_ROWS(rows),
};
