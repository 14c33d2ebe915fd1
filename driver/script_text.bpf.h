/* SPDX-License-Identifier: GPL-2.0 */
/* Puts texts and tables of a code object into its event. */
#ifndef DRIVER_SCRIPT_TEXT_BPF_H
#define DRIVER_SCRIPT_TEXT_BPF_H

#include "enter.bpf.h"
#include "script_codes.bpf.h"

/* Returns the length of a text up to its NUL, at most INTERP_FILE_MAX; 0: it is not there. Uses the
 * window of @w. Verified on its own. */
WALK_FUNC u64 script_text_len(struct user_walk *w, u64 at)
{
	s64 n;

	if (!w)
		return 0;
	n = w->other ? read_other_text(w, at)
		     : bpf_probe_read_user_str(w->window, INTERP_FILE_MAX, (void *)at);
	return n > 1 ? n - 1 : 0;
}

/* Copies @n bytes at @at of a process that is not the current one to byte @off of a record. Returns
 * their number: @n or 0. Verified on its own. */
WALK_FUNC u64 copy_other(struct rec_bytes *rec, struct user_walk *w, u64 off, u64 n, u64 at)
{
	u64 rest = n;

	if (!rec || !w)
		return 0;
	for (u32 i = 0; i <= INTERP_LINES_MAX / OTHER_PAGE_SZ && rest; i++) {
		const u64 in = at & (OTHER_PAGE_SZ - 1);
		u64 len = bounded(rest, OTHER_PAGE_SZ - in);
		const struct other_page *p = other_page(w, at - in);

		off = bounded(off, REC_OFF_MAX);
		len = bounded(len, OTHER_PAGE_SZ);
		if (!p || bpf_probe_read_kernel(&rec->at[off], len, p->bytes + in))
			return 0;
		at += len;
		off += len;
		rest -= len;
	}
	return rest ? 0 : n;
}

/* Puts bytes of the process, at most @max, a constant. */
static __always_inline void put_script_bytes(struct rec *r, struct user_walk *w, u64 at, u64 len,
					     u32 max)
{
	u64 n = widen_in(&w->scratch, at ? len : 0, max);

	if (n && w->other)
		n = copy_other((void *)r->base, w, r->off, n, at);
	else if (n && bpf_probe_read_user(put_here(r), n, (void *)at))
		n = 0;
	if (!n && at && len)
		w->content.is_part = 1;
	put_done(r, widen_in(&w->scratch, n, max));
	r->off = widen_in(&w->scratch, r->off, REC_OFF_MAX);
}

/* Puts a text, at most @max bytes, a constant; its copy is at @copy. */
static __always_inline void put_script_text(struct rec *r, struct user_walk *w,
					    const struct script_text *t, u32 max, const u8 *copy)
{
	u64 n;

	if (!t->is_copy) {
		put_script_bytes(r, w, t->at, t->len, max);
		return;
	}
	n = widen_in(&w->scratch, t->len, max);
	if (bpf_probe_read_kernel(put_here(r), n, copy))
		n = 0;
	put_done(r, widen_in(&w->scratch, n, max));
	r->off = widen_in(&w->scratch, r->off, REC_OFF_MAX);
}

/* Puts the parameters of the event of code object @c. */
static __always_inline void put_script(struct rec *r, struct user_walk *w,
				       const struct walk_code *c, const struct script_content *s)
{
	put_s64(r, w->pid);
	put_u8(r, c->walker);
	put_u8(r, s->version);
	put_u64(r, c->code);
	put_u32(r, c->check);
	put_u32(r, s->first_line);
	put_u8(r, s->name.kind | s->file.kind << 4);
	put_script_text(r, w, &s->name, INTERP_NAME_MAX, w->node.bytes);
	put_script_text(r, w, &s->file, INTERP_FILE_MAX, w->window);
	put_script_bytes(r, w, s->lines.at, s->lines.len, INTERP_LINES_MAX);
	put_script_bytes(r, w, s->bases.at, s->bases.len, INTERP_LINE_BASES_MAX);
}

#endif /* DRIVER_SCRIPT_TEXT_BPF_H */
