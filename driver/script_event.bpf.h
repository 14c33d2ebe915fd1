/* SPDX-License-Identifier: GPL-2.0 */
/* Sends code objects of interpreters, with what names their frames. */
#ifndef DRIVER_SCRIPT_EVENT_BPF_H
#define DRIVER_SCRIPT_EVENT_BPF_H

#include "beam_code.bpf.h"
#include "java_code.bpf.h"
#include "lua_code.bpf.h"
#include "node_code.bpf.h"
#include "perl_code.bpf.h"
#include "php_code.bpf.h"
#include "python_code.bpf.h"
#include "ruby_code.bpf.h"

#define SCRIPT_ROOM                                                                                \
	(EVT_SCRIPT_E_FIXED_SZ + INTERP_NAME_MAX + INTERP_FILE_MAX + INTERP_LINES_MAX +            \
	 INTERP_LINE_BASES_MAX)

/* Returns what is known of the interpreter; NULL: the process has ended, or runs another program.
 */
static __always_inline const struct interp_process *interp_process_of(const struct user_walk *w,
								      const struct walk_code *c)
{
	struct interp_key key = {.pid = w->pid, .walker = c->walker};

	return bpf_map_lookup_elem(&interp_processes, &key);
}

/* Puts the parameters of code object @c. Returns false if they are unknown or not complete: it is
 * sent again. */
static __always_inline bool put_code(struct rec *r, struct user_walk *w, const struct walk_code *c)
{
	const struct interp_process *p = interp_process_of(w, c);
	bool is_known;

	w->content.is_part = 0;
	if (p && c->walker == STACK_WALKER_PYTHON)
		put_python_code(r, w, c, &p->python);
	else if (p && c->walker == STACK_WALKER_LUA)
		put_lua_code(r, w, c, &p->lua);
	else if (p && c->walker == STACK_WALKER_PERL)
		put_perl_code(r, w, c, &p->perl);
	else if (p && c->walker == STACK_WALKER_PHP)
		put_php_code(r, w, c, &p->php);
	else if (p && c->walker == STACK_WALKER_RUBY)
		put_ruby_code(r, w, c, &p->ruby);
	else if (p && c->walker == STACK_WALKER_BEAM)
		put_beam_code(r, w, c, p);
	else if (p && c->walker == STACK_WALKER_NODE)
		put_node_code(r, w, c, &p->node);
	else if (p && c->walker == STACK_WALKER_JAVA)
		put_java_code(r, w, c, &p->java);
	is_known = r->n && !w->content.is_part;
	for (u32 i = 0; i < EVT_SCRIPT_E_NPARAMS && r->n < EVT_SCRIPT_E_NPARAMS; i++)
		put_empty(r);
	return is_known;
}

/* Notes that the code object with this tag was sent. */
static __always_inline void note_sent(u64 tag)
{
	u64 *sent = script_sent(tag);

	if (sent)
		ONCE(*sent) = tag;
}

/* Completes the open record @r as the event of code object @c. */
static __always_inline void close_script(struct rec *r, struct user_walk *w,
					 const struct walk_code *c)
{
	const u64 tag = c->tag;
	const bool is_known = put_code(r, w, c);

	if (rec_close(r, 0, 0) && is_known)
		note_sent(tag);
}

struct scripts_ctx {
	void *ctx; /* of the program */
	struct user_walk *w;
};

/* A callback of bpf_loop: sends one code object of the walk. */
static long send_script(u32 i, void *loop)
{
	const struct scripts_ctx *s = loop;
	struct rec r;

	if (i >= s->w->n_codes)
		return 1;
	if (begin_at(&r, this_ring(), s->ctx, OPEN_NONE, EVT_SCRIPT_E, 0, EVT_SCRIPT_E_NPARAMS,
		     SCRIPT_ROOM))
		close_script(&r, s->w, &s->w->codes[i & (WALK_CODES_MAX - 1)]);
	return 0;
}

/* Sends the new code objects of the walk, before the sample with their frames. @ctx is the
 * program's context. */
static __always_inline void send_scripts(void *ctx, struct user_walk *w)
{
	struct scripts_ctx s = {.ctx = ctx, .w = w};

	if (w->n_codes)
		bpf_loop(WALK_CODES_MAX, send_script, &s, 0);
}

/* Sends them while record @r of a sample is open, which lies before theirs: it becomes an event
 * without content, and the sample begins anew. */
static __always_inline void send_scripts_in(struct rec *r, void *ctx, struct user_walk *w)
{
	rec_retype(r, EVT_SCRIPT_E, EVT_SCRIPT_E_NPARAMS);
	for (u32 i = 0; i < EVT_SCRIPT_E_NPARAMS; i++)
		put_empty(r);
	rec_close(r, 0, 0);
	send_scripts(ctx, w);
}

#endif /* DRIVER_SCRIPT_EVENT_BPF_H */
