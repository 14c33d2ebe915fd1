/* SPDX-License-Identifier: GPL-2.0 */
/* Sends code objects of interpreters, with what names their frames. */
#ifndef DRIVER_SCRIPT_EVENT_BPF_H
#define DRIVER_SCRIPT_EVENT_BPF_H

#include "enter.bpf.h"
#include "script_codes.bpf.h"

#define SCRIPT_ROOM (EVT_SCRIPT_E_FIXED_SZ + INTERP_NAME_MAX + INTERP_FILE_MAX + INTERP_LINES_MAX)

#define PY_TEXT_STATE 32 /* of a str */
#define PY_SIZE 16 /* of str and bytes: length */
#define PY_BYTES 32 /* of bytes: the content */
#define PY_KIND(state) ((state) >> 2 & 7)
#define PY_IS_COMPACT(state) ((state)&0x20)
#define PY_IS_ASCII(state) ((state)&0x40)

/* A str of Python. */
struct script_text {
	u64 at; /* address of the characters; 0: none */
	u64 len; /* bytes */
	u8 kind; /* enum interp_text */
};

static __always_inline struct script_text python_text(const struct interp_python *p, u64 str)
{
	struct script_text t = {0};
	u64 n, state;
	u32 size;

	if (!str || bpf_probe_read_user(&n, sizeof(n), (void *)(str + PY_SIZE)) ||
	    bpf_probe_read_user(&state, sizeof(state), (void *)(str + PY_TEXT_STATE)) ||
	    !PY_IS_COMPACT(state))
		return t;
	size = PY_KIND(state);
	if (size != 1 && size != 2 && size != 4)
		return t;
	if (n > INTERP_FILE_MAX)
		n = INTERP_FILE_MAX;
	t.at = str + (PY_IS_ASCII(state) ? p->text : p->wide_text);
	t.len = n * size;
	t.kind = PY_IS_ASCII(state) ? INTERP_ASCII
		 : size == 1        ? INTERP_UCS1
		 : size == 2        ? INTERP_UCS2
				    : INTERP_UCS4;
	return t;
}

/* Puts bytes of the process, at most @max, a constant. */
static __always_inline void put_script_bytes(struct rec *r, struct user_walk *w, u64 at, u64 len,
					     u32 max)
{
	u64 n = widen_in(&w->scratch, at ? len : 0, max);

	if (n && bpf_probe_read_user(put_here(r), n, (void *)at))
		n = 0;
	put_done(r, widen_in(&w->scratch, n, max));
	r->off = widen_in(&w->scratch, r->off, REC_OFF_MAX);
}

/* Puts the parameters of the event of code object @c. */
static __always_inline void put_script(struct rec *r, struct user_walk *w,
				       const struct walk_code *c, const struct interp_python *p)
{
	const u64 code = c->code;
	struct script_text name, file;
	u64 at = 0, lines = 0, n_lines = 0;
	u32 first_line = 0;

	bpf_probe_read_user(&first_line, sizeof(first_line), (void *)(code + p->code_first_line));
	bpf_probe_read_user(&at, sizeof(at), (void *)(code + p->code_name));
	name = python_text(p, at);
	at = 0;
	bpf_probe_read_user(&at, sizeof(at), (void *)(code + p->code_file));
	file = python_text(p, at);
	bpf_probe_read_user(&lines, sizeof(lines), (void *)(code + p->code_lines));
	if (lines && bpf_probe_read_user(&n_lines, sizeof(n_lines), (void *)(lines + PY_SIZE)))
		lines = 0;
	put_s64(r, w->pid);
	put_u8(r, c->walker);
	put_u8(r, p->minor);
	put_u64(r, code);
	put_u32(r, c->check);
	put_u32(r, first_line);
	put_u8(r, name.kind | file.kind << 4);
	put_script_bytes(r, w, name.at, name.len, INTERP_NAME_MAX);
	put_script_bytes(r, w, file.at, file.len, INTERP_FILE_MAX);
	put_script_bytes(r, w, lines ? lines + PY_BYTES : 0, n_lines, INTERP_LINES_MAX);
}

/* Returns what is known of the interpreter; NULL: the process has ended, or runs another program.
 */
static __always_inline const struct interp_process *interp_process_of(const struct user_walk *w,
								      const struct walk_code *c)
{
	struct interp_key key = {.pid = w->pid, .walker = c->walker};

	return bpf_map_lookup_elem(&interp_processes, &key);
}

/* Completes the open record @r as the event of code object @c. */
static __always_inline void close_script(struct rec *r, struct user_walk *w,
					 const struct walk_code *c)
{
	const struct interp_process *p = interp_process_of(w, c);
	const u64 tag = c->tag;
	u64 *sent;

	if (p)
		put_script(r, w, c, &p->python);
	for (u32 i = 0; i < EVT_SCRIPT_E_NPARAMS && r->n < EVT_SCRIPT_E_NPARAMS; i++)
		put_empty(r);
	if (!rec_close(r, 0, 0) || !p)
		return;
	sent = script_sent(tag);
	if (sent)
		ONCE(*sent) = tag;
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
