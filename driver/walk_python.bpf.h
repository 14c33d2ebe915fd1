/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Walks the frames of CPython 3.6 to 3.14, and of 3.13 without the GIL.
 *
 * The thread's state is found by the key of PyGILState, which a thread keeps while it waits without
 * the GIL. From 3.11 on an activation of the loop has a structure on the C stack: it must lie in
 * the native frame of the loop, so that a frame that is just being made or removed is never taken
 * for that of another activation.
 *
 * A thread that runs several interpreters has a state in each. PyGILState has the first one of the
 * thread; from 3.12 on that which runs, or ran before the thread gave up the GIL. Where it does not
 * fit the native frame, the others are searched in the lists of all interpreters. Before 3.11
 * nothing shows to which native frame a frame belongs: so exactly one state must have frames.
 */
#ifndef DRIVER_WALK_PYTHON_BPF_H
#define DRIVER_WALK_PYTHON_BPF_H

#include "script_codes.bpf.h"
#include "shared/user_walk.h"

#define PYTHON_STEP 4 /* maximum number of frames per call: a loop that is unrolled */
/* No code object is smaller: bytes behind one may not be mapped. Behind the head it has the number
 * of instructions; before 3.11 of arguments. */
#define PYTHON_CODE_SZ 144
#define PYTHON_FREE_CODE_SZ 168 /* without the GIL, where heads are larger */
#define PYTHON_STATES_MAX 512 /* maximum number of thread states that are searched */
#define PYTHON_STATE_SZ 512 /* at least that of a thread state */
#define PYTHON_STATE_NEXT 8 /* in a thread state */
#define PYTHON_STATE_INTERP 16
#define PYTHON_STATUS_ACTIVE 0x10 /* the thread has the GIL */
#define PYTHON_TAG 3ull /* bits of a reference that are not its address: 3.14 */

/* Returns the innermost activation of the thread: a C frame, or a frame. 0: none. */
static __always_inline u64 python_begin(struct user_walk *w, const struct interp_python *p,
					u64 root)
{
	u64 state;

	if (read_word(w, root) || (!p->root_is_key && !(u32)w->word))
		return 0;
	state = thread_value(w, p->root_is_key ? w->word : w->word >> 32);
	w->python.own = state;
	return !state || read_word(w, state + p->tstate_frame) ? 0 : w->word;
}

/* Returns whether an activation begins with a C frame: current frame, previous C frame. */
static __always_inline bool has_c_frames(const struct interp_python *p)
{
	return p->frames == PYTHON_ENTRY_FLAG || p->frames == PYTHON_ENTRY_FRAME;
}

/* How far the search of other states of the thread is. */
enum python_search { PYTHON_NOT_SEARCHED, PYTHON_SEARCHES, PYTHON_SEARCHED };

/* Begins the search. Returns whether there is more than one interpreter. */
static __always_inline bool python_search_begins(struct user_walk *w, const struct interp_python *p,
						 u64 root)
{
	w->python.search = PYTHON_SEARCHED;
	if (read_word(w, root + (s64)p->interps) || !w->word)
		return false;
	w->python.interp = w->word;
	if (read_word(w, w->python.interp + p->interp_next) || !w->word)
		return false;
	w->python.search = PYTHON_SEARCHES;
	return true;
}

/* Ends it. Without C frames only a single state can be used. */
static __always_inline int python_search_ends(struct user_walk *w, const struct interp_python *p)
{
	w->python.search = PYTHON_SEARCHED;
	if (p->frames != PYTHON_FRAME_OBJECTS)
		return SCRIPT_END;
	w->script[STACK_WALKER_PYTHON] = w->python.n_others == 1 ? w->python.others[0] : 0;
	w->python.n_others = 0;
	return SCRIPT_END;
}

/* Adds the state at w->python.state if it is one of the thread that runs functions. */
static __always_inline int python_search_state(struct user_walk *w, const struct interp_python *p)
{
	const u64 state = w->python.state;

	if (read_word(w, state + p->tstate_thread))
		return -1;
	if (w->word != w->tls || (state == w->python.own && p->frames != PYTHON_FRAME_OBJECTS))
		return 0;
	if (read_word(w, state + p->tstate_frame))
		return -1;
	if (!w->word || (has_c_frames(p) && w->word - state < PYTHON_STATE_SZ))
		return 0; /* it rests */
	if (w->python.n_others < WALK_PYTHON_STATES)
		w->python.others[w->python.n_others & (WALK_PYTHON_STATES - 1)] = w->word;
	else if (p->frames != PYTHON_FRAME_OBJECTS)
		return -1;
	w->python.n_others++;
	return 0;
}

/* Searches one interpreter or state. Returns whether there are more. */
static __always_inline int python_search_step(struct user_walk *w, const struct interp_python *p)
{
	if (++w->python.n_searched > PYTHON_STATES_MAX) {
		w->python.n_others += p->frames == PYTHON_FRAME_OBJECTS ? 2 : 0; /* unknown */
		return python_search_ends(w, p);
	}
	if (w->python.state) {
		if (python_search_state(w, p) || read_word(w, w->python.state + PYTHON_STATE_NEXT))
			return python_search_ends(w, p);
		w->python.state = w->word;
		return SCRIPT_MORE;
	}
	if (!w->python.interp || read_word(w, w->python.interp + p->interp_states))
		return python_search_ends(w, p);
	w->python.state = w->word;
	if (read_word(w, w->python.interp + p->interp_next))
		return python_search_ends(w, p);
	w->python.interp = w->word;
	return SCRIPT_MORE;
}

/* Continues at another state of the thread, since the frames of the current one are not those of
 * the native frame. Returns 0 if there is none. */
static __always_inline int python_other(struct user_walk *w, const struct interp_python *p,
					u64 root)
{
	const u64 current = w->script[STACK_WALKER_PYTHON];
	u64 *other;

	w->script_frame = 0;
	if (p->frames == PYTHON_FRAME_OBJECTS)
		return 0;
	if (w->python.search == PYTHON_NOT_SEARCHED)
		return python_search_begins(w, p, root) ? WALK_AGAIN : 0;
	if (w->python.n_tried >= w->python.n_others) {
		w->python.n_tried = 0;
		return 0;
	}
	other = &w->python.others[w->python.n_tried++ & (WALK_PYTHON_STATES - 1)];
	w->script[STACK_WALKER_PYTHON] = *other;
	*other = current;
	return WALK_AGAIN;
}

/* Returns whether the thread collects garbage: its interpreter does, and it has the GIL. Verified
 * on its own. */
WALK_FUNC int python_in_gc(struct user_walk *w, const struct interp_process *p)
{
	const struct interp_python *python;
	u64 state;

	if (!w || !p)
		return 0;
	python = &p->python;
	state = w->python.own;
	if (!python->gc_collecting || !state || read_word(w, state + PYTHON_STATE_INTERP) ||
	    read_word(w, w->word + python->gc_collecting) || (u32)w->word != 1)
		return 0;
	if (python->minor >= 12)
		return !read_word(w, state + (s64)python->gil) && w->word & PYTHON_STATUS_ACTIVE;
	return !read_word(w, p->root + (s64)python->gil) && w->word == state;
}

/* Begins with the innermost activation. */
static __always_inline void python_begins(struct user_walk *w, const struct interp_python *p,
					  u64 root)
{
	w->python.search = PYTHON_NOT_SEARCHED;
	w->python.interp = w->python.state = 0;
	w->python.n_others = w->python.n_tried = w->python.n_searched = 0;
	w->script[STACK_WALKER_PYTHON] = python_begin(w, p, root);
	if (p->frames == PYTHON_FRAME_OBJECTS)
		python_search_begins(w, p, root);
}

/* Returns where the current frame stands in a C frame. */
static __always_inline u64 c_frame_current(const struct interp_python *p)
{
	return p->frames == PYTHON_ENTRY_FLAG ? 8 : 0;
}

/* Finds where an activation ends that the loop may just begin: its first frame is marked a moment
 * after it is there. */
static __always_inline void python_find_stop(struct user_walk *w, const struct interp_python *p)
{
	w->python.stop = 0;
	if (p->frames != PYTHON_ENTRY_FLAG || !w->exact)
		return;
	if (!read_word(w, w->script[STACK_WALKER_PYTHON] + c_frame_current(p) + 8) &&
	    !read_word(w, w->word + c_frame_current(p)))
		w->python.stop = w->word;
}

/* Finds the first frame of the activation. Returns 0 if it is not that of the native frame. */
static __always_inline u64 python_first(struct user_walk *w, const struct interp_python *p)
{
	const u64 activation = w->script[STACK_WALKER_PYTHON];

	if (!activation || !has_c_frames(p))
		return activation;
	if (!walk_frame_has(w, activation))
		return 0;
	python_find_stop(w, p);
	return read_word(w, activation + c_frame_current(p)) ? 0 : w->word;
}

static __always_inline int python_read_code(struct user_walk *w, const struct interp_python *p,
					    u64 code)
{
	const u32 sz = p->head > PYTHON_HEAD_SZ ? PYTHON_FREE_CODE_SZ : PYTHON_CODE_SZ;

	return walk_read(w, w->object, sz, code);
}

/* Puts the frame that runs @code at @lasti. Returns not 0 if the walk ends. */
static __always_inline int python_put(struct user_walk *w, const struct interp_python *p, u64 code,
				      u64 lasti)
{
	u64 position;
	u32 check;

	if (!code || python_read_code(w, p, code))
		return 0;
	check = script_check(
		object_u64(w, p->code_name) ^ object_u64(w, p->head) * 5 ^
			object_u64(w, p->code_lines) * 3 ^ object_u64(w, p->code_file) * 7,
		object_u32(w, p->code_first_line),
		object_u32(w, p->code_flags) ^ (u64)object_u32(w, p->code_argcount) << 24);
	if (p->frames == PYTHON_FRAME_OBJECTS)
		position = (u64)(u32)lasti * p->lasti_scale;
	else
		position = lasti - code - p->code_bytes;
	if (position > STACK_SCRIPT_MASK) /* it has not begun yet */
		return 0;
	script_used(w, STACK_WALKER_PYTHON, code, check, 0, 0);
	return walk_put_code(w, STACK_WALKER_PYTHON, code, position, check);
}

/* Ends the activation: the next one is @next. */
static __always_inline int python_ends(struct user_walk *w, u64 next)
{
	w->script_frame = 0;
	w->script[STACK_WALKER_PYTHON] = next;
	w->python.n_tried = 0;
	return SCRIPT_END;
}

/* Ends an activation with C frames. */
static __always_inline int python_ends_c(struct user_walk *w, const struct interp_python *p)
{
	if (read_word(w, w->script[STACK_WALKER_PYTHON] + c_frame_current(p) + 8))
		w->word = 0;
	return python_ends(w, w->word);
}

/* Removes the frames of the activation. */
static __always_inline void python_undo(struct user_walk *w)
{
	w->max -= (w->n - w->script_n) / 2;
	w->n = w->script_n & (STACK_USER_MAX - 1);
}

/* Ends an activation at the frame on the C stack. It must lie in the native frame. */
static __always_inline int python_ends_at(struct user_walk *w, const struct interp_python *p,
					  u64 entry, u64 previous)
{
	if (p->frames == PYTHON_ENTRY_FRAME)
		return python_ends_c(w, p);
	if (walk_frame_has(w, entry))
		return python_ends(w, previous);
	python_undo(w);
	return SCRIPT_OTHER;
}

/* Puts one frame. Returns whether the activation has more. */
static __always_inline int python_step(struct user_walk *w, const struct interp_python *p)
{
	const u64 frame = w->script_frame;
	u64 code, previous, lasti;
	u8 entry;

	if (!frame || walk_read(w, w->object, 128, frame))
		return python_ends(w, 0);
	if (p->frames == PYTHON_ENTRY_FLAG && frame == w->python.stop)
		return python_ends_c(w, p);
	code = object_u64(w, p->frame_code) & ~PYTHON_TAG;
	previous = object_u64(w, p->frame_previous);
	lasti = p->frames == PYTHON_FRAME_OBJECTS ? object_u32(w, p->frame_lasti)
						  : object_u64(w, p->frame_lasti);
	entry = w->object[p->frame_entry & (WALK_SCRIPT_SZ - 1)] == p->entry;
	if (p->frames >= PYTHON_ENTRY_FRAME && entry)
		return python_ends_at(w, p, frame, previous);
	if (python_put(w, p, code, lasti))
		return SCRIPT_FULL;
	if (p->frames == PYTHON_FRAME_OBJECTS)
		return python_ends(w, previous);
	if (p->frames == PYTHON_ENTRY_FLAG && entry)
		return python_ends_c(w, p);
	w->script_frame = previous;
	return SCRIPT_MORE;
}

/* Searches other states of the thread. Verified on its own. */
WALK_FUNC int python_search(struct user_walk *w, const struct interp_process *p)
{
	if (!w || !p)
		return 1;
#pragma unroll
	for (u32 i = 0; i < PYTHON_STEP; i++) {
		OPAQUE(w);
		OPAQUE(p);
		if (python_search_step(w, &p->python) != SCRIPT_MORE)
			break;
	}
	return WALK_AGAIN;
}

/* Finds the first frame of the activation. Returns 0 if there is one, else as walk_script. */
static __always_inline int python_enter(struct user_walk *w, const struct interp_process *p)
{
	if (walk_script_begins(w, STACK_WALKER_PYTHON)) {
		python_begins(w, &p->python, p->root);
		if (!w->exact && w->script[STACK_WALKER_PYTHON] && python_in_gc(w, p) &&
		    walk_put_state(w, STACK_WALKER_PYTHON, STACK_STATE_PYTHON_GC))
			return 1;
	}
	if (w->python.search == PYTHON_SEARCHES)
		return python_search(w, p);
	w->script_n = w->n;
	w->script_frame = python_first(w, &p->python);
	return w->script_frame ? 0 : python_other(w, &p->python, p->root);
}

/* Returns whether the stack is full. Then nothing shows to which native frame the frames of the
 * last activation belong: where there are others they are removed. */
static __always_inline int python_full(struct user_walk *w, const struct interp_python *p, int r)
{
	if (r != SCRIPT_FULL)
		return 0;
	if (p->frames == PYTHON_NO_C_FRAMES && w->python.n_others)
		python_undo(w);
	return 1;
}

/* Verified on its own. */
WALK_FUNC int walk_python(struct user_walk *w, const struct interp_process *p)
{
	int r;

	if (!w || !p)
		return 1;
	if (!w->script_frame) {
		r = python_enter(w, p);
		if (!w->script_frame)
			return r;
	}
#pragma unroll
	for (u32 i = 0; i < PYTHON_STEP; i++) {
		OPAQUE(w); /* else addresses in it are computed before, and fill the stack */
		OPAQUE(p);
		r = python_step(w, &p->python);
		if (r == SCRIPT_OTHER)
			return python_other(w, &p->python, p->root);
		if (r != SCRIPT_MORE)
			return python_full(w, &p->python, r);
	}
	return WALK_AGAIN;
}

#endif /* DRIVER_WALK_PYTHON_BPF_H */
