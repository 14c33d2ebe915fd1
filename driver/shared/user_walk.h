/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/*
 * Walks a user stack frame by frame: by the rows of unwind tables, and by frame pointers where
 * there are none. Used by the driver, and by user space for deferred stacks; memory is read by the
 * functions that walk_state.h declares.
 *
 * All input may be garbage, tables included: every address is checked before it is read, every
 * place is masked, one failed read ends the walk, and no walk goes in circles.
 */
#ifndef DRIVER_SHARED_USER_WALK_H
#define DRIVER_SHARED_USER_WALK_H

#ifdef __bpf__
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#else
#include <stddef.h>
#endif

#include "shared/walk_state.h"

#define USER_ADDR_MIN 0x1000ull
#define USER_ADDR_END 0x00fffffffffff000ull /* also with five levels of page tables */
#define FP_FRAME_MAX (64ull << 20) /* no frame is larger */

/* A rule: the upper half of a row, and facts about the mapping. */
#define RULE_MAPPED 1u
#define RULE_NO_TABLE 2u
#define RULE_GAP 4u /* the file has rows, but none for this address */
#define RULE_FLAGS(rule) ((u8)(rule))
#define RULE_WALKER(rule) ((u8)((rule) >> 8))
#define RULE_CFA(rule) ((u16)((rule) >> 32))
#define RULE_KIND(rule) ((u8)((rule) >> 48))
#define RULE_SAVED(rule) ((u8)((rule) >> 56))
#define RULE_NONE ((u64)UNWIND_NONE << 48)

#define KNOWN(reg) (1u << (reg))

static inline int user_code(u64 pc)
{
	return pc >= USER_ADDR_MIN && pc < USER_ADDR_END;
}

/* Returns whether eight bytes of stack may be read at @addr. */
static inline int user_word(u64 addr)
{
	return !(addr & 7) && user_code(addr);
}

/* Ends the walk. */
static inline int walk_ends(struct user_walk *w, u32 end)
{
	w->end = end;
	return 1;
}

/* Finds the last of @n entries of @step words that begins at or before @key. */
#define WALK_SEARCH(name, type, step, max_steps)                                                   \
	static inline u32 name(const u64 *words, u32 first, u32 n, type key)                       \
	{                                                                                          \
		u32 at = first;                                                                    \
                                                                                                   \
		for (int i = 0; i < (max_steps) && n > 1; i++) {                                   \
			const u32 half = n >> 1;                                                   \
			const u32 mid = at + half * (step);                                        \
                                                                                                   \
			if ((type)words[mid & (UNWIND_CHUNK_WORDS - 1)] <= key)                    \
				at = mid;                                                          \
			n -= half;                                                                 \
		}                                                                                  \
		return at & (UNWIND_CHUNK_WORDS - 1);                                              \
	}

WALK_SEARCH(search_maps, u64, UNWIND_MAP_WORDS, 15)
WALK_SEARCH(search_rows, u32, 1, 18)

/* Returns how many rows begin before page @i. The index lies at @at. */
static inline u32 rows_before(const u64 *words, u32 at, u32 i)
{
	return words[(at + (i >> 1)) & (UNWIND_CHUNK_WORDS - 1)] >> (i & 1) * 32;
}

/* Returns the rule for offset @off of a file whose @n rows lie at @rows. @pages: the last word of
 * struct unwind_map. */
static inline u64 rule_of_rows(const struct user_walk *w, u32 rows, u32 n, u32 off, u32 walker,
			       u64 pages)
{
	const u64 loop = walker & (STACK_WALKER_ROOM - 1) ? (u64)UNWIND_F_LOOP << 48 : 0;
	const u64 found = RULE_MAPPED | (u64)(walker & 0xff) << 8 | loop;
	const u64 *words = walk_chunk(w, UNWIND_PLACE_CHUNK(rows));
	const u32 at = UNWIND_PLACE_WORD(rows), n_pages = (u16)(pages >> 32);
	const u32 page = (off >> (pages >> 48 & 31)) - (u32)pages;
	u32 from = n, to = n;
	u64 row;

	if (!words || !n)
		return RULE_NONE | found;
	/* An offset after the last page uses the last row; one before the first page, too, whose pc
	 * then lies behind it. */
	if (page < n_pages) {
		from = rows_before(words, at + n, page);
		to = rows_before(words, at + n, page + 1);
	}
	if (from)
		from--; /* the row before may reach into the page */
	row = words[search_rows(words, at + from, to - from, off)];
	if ((u32)row > off || RULE_KIND(row) == UNWIND_NONE)
		return RULE_NONE | RULE_GAP | found;
	return (row >> 32 << 32) | found;
}

/* Returns the rule of @addr by the tables. */
static inline u64 rule_search(const struct user_walk *w, u64 addr)
{
	const u64 *words = walk_chunk(w, UNWIND_PLACE_CHUNK(w->maps));
	const u32 mask = UNWIND_CHUNK_WORDS - 1;
	u64 place, more, pages;
	u32 at;

	if (!words || !w->n_maps)
		return RULE_NONE;
	at = search_maps(words, UNWIND_PLACE_WORD(w->maps), w->n_maps, addr);
	if (addr < words[at] || addr >= words[(at + 1) & mask])
		return RULE_NONE;
	place = words[(at + 2) & mask]; /* bias, rows */
	more = words[(at + 3) & mask]; /* n_rows, walker, flags */
	pages = words[(at + 4) & mask];
	if (more >> 48 & UNWIND_MAP_F_PROBE)
		return (u64)UNWIND_PROBE << 48 | RULE_MAPPED;
	if (more >> 48 & UNWIND_MAP_F_NO_TABLE)
		return RULE_NONE | RULE_MAPPED | RULE_NO_TABLE;
	return rule_of_rows(w, (u32)(place >> 32), (u32)more, (u32)addr - (u32)place,
			    (u32)(more >> 32), pages);
}

/* A sample in an interrupt may come between the two halves of an entry. */
#define WALK_ONCE(x) (*(volatile typeof(x) *)&(x))

/* Tags differ between states of mappings, so an address matches only its own state. */
static inline u64 cache_tag(const struct user_walk *w, u64 addr)
{
	return addr ^ w->gen * 0x9e3779b97f4a7c15ull;
}

#ifdef __bpf__
#define WALK_FUNC __noinline /* verified on its own */
#else
#define WALK_FUNC static
#endif

WALK_FUNC u64 walk_search(struct user_walk *w, u64 addr)
{
	return w ? rule_search(w, addr) : RULE_NONE;
}

/* Returns the place of @tag in a cache. */
static inline u32 cache_place(u64 tag)
{
	return tag * 0x9e3779b97f4a7c15ull >> (64 - UNWIND_CACHE_BITS);
}

static inline u64 walk_rule(struct user_walk *w, struct unwind_cache *cache, u64 addr)
{
	const u64 tag = cache_tag(w, addr);
	struct unwind_cached *c = cache ? &cache->at[cache_place(tag)] : NULL;
	u64 rule;

	if (!w->n_maps)
		return RULE_NONE | RULE_MAPPED;
	if (c) {
		rule = WALK_ONCE(c->rule);
		if ((WALK_ONCE(c->check) ^ rule) == tag) {
			w->n_cached++;
			return rule;
		}
	}
	w->n_searched++;
	rule = walk_search(w, addr);
	if (c) {
		WALK_ONCE(c->rule) = rule;
		WALK_ONCE(c->check) = tag ^ rule;
	}
	return rule;
}

/* Returns the word @at bytes from the beginning of the window. */
static inline u64 walk_window(const struct user_walk *w, u64 at)
{
	return *(const u64 *)(w->window + (at & (WALK_WINDOW - 8)));
}

/* Reads the word of stack at @addr. Returns not 0 if the walk ends. */
static inline int walk_word(struct user_walk *w, u64 addr, u64 *to)
{
	u64 at = addr - w->window_at;

	if (at >= w->window_sz) {
		/* Only to the end of the page, so that the read succeeds or fails as a whole. */
		u32 sz = 4096 - (addr & 4095);

		if (!user_word(addr))
			return walk_ends(w, STACK_END_BAD_SP);
		if (sz > WALK_WINDOW)
			sz = WALK_WINDOW;
		w->window_sz = 0;
		if (walk_fill(w, sz, addr)) {
			w->fault = addr;
			return walk_ends(w, STACK_END_FAULT);
		}
		w->window_at = addr;
		w->window_sz = sz;
		at = 0;
	}
	*to = walk_window(w, at);
	return 0;
}

/* Reads the registers, except ip, from the frame that the kernel built for a signal handler. */
static inline int signal_step(struct user_walk *w)
{
	static const u8 order[WALK_REGS] = {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7};
	const u64 at = w->sp + UNWIND_SIGNAL_REGS_AT;
	u64 flags, link;

	/* At the end of sigreturn the kernel restores rsp a moment before ip. */
	if (walk_word(w, w->sp, &flags) || walk_word(w, w->sp + 8, &link))
		return 1;
	if (flags & ~UNWIND_SIGNAL_FLAGS || link)
		return walk_ends(w, STACK_END_SIGNAL);
	for (u32 i = 0; i < WALK_REGS; i++)
		if (walk_word(w, at + i * 8, &w->regs[order[i] & (WALK_REGS - 1)]))
			return 1;
	if (walk_word(w, at + WALK_REGS * 8, &w->ip))
		return 1;
	if (!w->ip)
		return walk_ends(w, STACK_END_SIGNAL);
	if (w->regs[UNWIND_RSP] <= w->sp && ++w->switches > WALK_SWITCHES_MAX)
		return walk_ends(w, STACK_END_LOOP);
	w->known = 0xffff;
	w->bp = w->regs[UNWIND_RBP];
	w->sp = w->regs[UNWIND_RSP];
	w->exact = 1;
	return 0;
}

/* Returns the value of register @reg in *to. Returns not 0 if it is lost. */
static inline int walk_reg(struct user_walk *w, u32 reg, u64 *to)
{
	if (!(w->known & KNOWN(reg)))
		return walk_ends(w, STACK_END_LOST_REG);
	*to = w->regs[reg & (WALK_REGS - 1)];
	return 0;
}

/* Computes the CFA of the frame at w->ip by @rule. */
static inline int walk_cfa(struct user_walk *w, u64 rule, u64 *cfa)
{
	const u32 kind = RULE_KIND(rule) & UNWIND_KIND_MASK;
	const u64 off = RULE_CFA(rule) * 8ull;
	u64 base;

	if (kind < UNWIND_REGS) {
		if (walk_reg(w, kind, &base))
			return 1;
		*cfa = base + off;
		return 0;
	}
	switch (kind) {
	case UNWIND_RSP_FAR:
		*cfa = w->sp + off + UNWIND_FAR * 8ull;
		return 0;
	case UNWIND_PLT:
		*cfa = w->sp + 8 + ((w->ip & 15) >= RULE_CFA(rule) ? 8 : 0);
		return 0;
	case UNWIND_DEREF_RBP:
	case UNWIND_DEREF_RSP:
		if (walk_reg(w, kind == UNWIND_DEREF_RBP ? UNWIND_RBP : UNWIND_RSP, &base) ||
		    walk_word(w, base + (s64)UNWIND_DEREF_AT(RULE_CFA(rule)) * 8, &base))
			return 1;
		*cfa = base + UNWIND_DEREF_ADD(RULE_CFA(rule)) * 8;
		return 0;
	case UNWIND_RA_REG:
		*cfa = w->sp + UNWIND_RA_REG_WORDS(RULE_CFA(rule)) * 8;
		return 0;
	}
	return walk_ends(w, STACK_END_BAD_RULE);
}

/* Restores a register that the frame saved @n words below @from. */
static inline int walk_restore(struct user_walk *w, u32 reg, u32 n, u64 from)
{
	if (n == UNWIND_UNTOUCHED)
		return 0;
	if (n == UNWIND_LOST) {
		w->known &= ~KNOWN(reg);
		return 0;
	}
	w->known |= KNOWN(reg);
	return walk_word(w, from - n * 8, &w->regs[reg]);
}

static inline int walk_saved(struct user_walk *w, u64 rule, u64 cfa)
{
	const u32 rbp = UNWIND_SAVED_RBP(RULE_SAVED(rule)),
		  rbx = UNWIND_SAVED_RBX(RULE_SAVED(rule));
	const u64 bp = w->bp;
	const u32 low = rbp > rbx ? rbp : rbx;
	u64 lowest;

	if (RULE_KIND(rule) & UNWIND_F_AT_RBP) {
		if (!(w->known & KNOWN(UNWIND_RBP)))
			return walk_ends(w, STACK_END_LOST_REG);
		/* Compilers do not describe the pop of rbp: outside of its frame, rbp holds the
		 * caller's value again, and so does rbx. */
		if (bp - w->sp >= cfa - w->sp)
			return 0;
		return walk_restore(w, UNWIND_RBX, rbx, bp) ||
		       walk_word(w, bp, &w->regs[UNWIND_RBP]);
	}
	/* A window that begins at the lowest one has the others, too. */
	if (low > UNWIND_LOST && walk_word(w, cfa - low * 8, &lowest))
		return 1;
	return walk_restore(w, UNWIND_RBX, rbx, cfa) || walk_restore(w, UNWIND_RBP, rbp, cfa);
}

/* Finds the return address of the frame. */
static inline int walk_return(struct user_walk *w, u64 rule, u64 cfa, u64 *ip)
{
	if ((RULE_KIND(rule) & UNWIND_KIND_MASK) == UNWIND_RA_REG)
		return walk_reg(w, UNWIND_RA_REG_REG(RULE_CFA(rule)), ip);
	return walk_word(w, cfa - 8, ip);
}

/* Steps to the caller by the row in w->rule. */
static inline int row_step(struct user_walk *w)
{
	const u64 rule = w->rule;
	u64 cfa, ip;

	if (walk_cfa(w, rule, &cfa))
		return 1;
	if (!user_word(cfa - 8))
		return walk_ends(w, STACK_END_BAD_SP);
	/* Code may switch to another stack, but not without end. */
	if (cfa <= w->sp && ++w->switches > WALK_SWITCHES_MAX)
		return walk_ends(w, STACK_END_LOOP);
	if (walk_saved(w, rule, cfa) || walk_return(w, rule, cfa, &ip))
		return 1;
	w->ip = ip;
	w->known &= KNOWN(UNWIND_RBP) | KNOWN(UNWIND_RBX) | KNOWN(UNWIND_RSP);
	w->regs[UNWIND_RSP] = w->sp = cfa;
	w->bp = w->regs[UNWIND_RBP];
	w->exact = 0;
	return 0;
}

/*
 * Steps from Go's system stack to that of the goroutine, found through the thread's memory. For a
 * thread that switches back and forth this is only the last one; for the others rbp leads on, and
 * the caller is missing.
 */
static inline int go_step(struct user_walk *w)
{
	const u64 rule = w->rule;
	u64 at = w->tls - UNWIND_SAVED_RBP(RULE_SAVED(rule)) * 8;
	u64 v = 0;

	w->rule = (u64)UNWIND_RBP << 48 | (u64)UNWIND_SAVED(2, UNWIND_LOST) << 56 | 2ull << 32;
	if (!w->tls || w->go_switches++)
		return row_step(w);
	for (u32 i = 0; i < 4; i++) {
		if (walk_word(w, at, &v))
			return 1;
		at = v + 8 * (i == 0   ? UNWIND_GO_G_M(RULE_CFA(rule))
			      : i == 1 ? UNWIND_GO_CURG(RULE_CFA(rule))
				       : UNWIND_GO_G_SP(RULE_CFA(rule)));
	}
	if (walk_word(w, v, &w->ip))
		return 1;
	w->known &= KNOWN(UNWIND_RBP) | KNOWN(UNWIND_RSP);
	w->regs[UNWIND_RSP] = w->sp = v + 8;
	w->exact = 0;
	return 0;
}

/* Steps from a probe's code to the code that would run without the probe. It replaces the frame of
 * the probe; the innermost frame stays, unless the probe runs an instruction of the program. */
static inline int probe_step(struct user_walk *w, u32 *how)
{
	const u32 was_exact = w->exact;
	const u32 n = w->n;

	if (walk_probe(w))
		return walk_ends(w, STACK_END_PROBE);
	*how = STACK_HOW_ROW;
	if (n && (!was_exact || w->exact)) {
		*how = STACK_HOW(w->frames[(n - 1) & (STACK_USER_MAX - 1)]);
		w->n = n - 1;
	}
	w->regs[UNWIND_RSP] = w->sp;
	return 0;
}

/* Returns whether @fp can be the frame pointer of a frame with stack pointer @sp. */
static inline int user_fp(u64 fp, u64 sp)
{
	return user_word(fp) && fp >= sp && fp - sp < FP_FRAME_MAX;
}

/* Steps to the caller by the frame pointer. */
static inline int fp_step(struct user_walk *w)
{
	const u64 fp = w->bp;

	if (!(w->known & KNOWN(UNWIND_RBP)))
		return walk_ends(w, STACK_END_LOST_REG);
	if (!fp)
		return walk_ends(w, STACK_END_ROOT);
	if (!user_fp(fp, w->sp))
		return walk_ends(w, RULE_FLAGS(w->rule) & RULE_GAP ? STACK_END_NO_ROW
								   : STACK_END_BAD_FP);
	if (walk_word(w, fp, &w->regs[UNWIND_RBP]) || walk_word(w, fp + 8, &w->ip))
		return 1;
	w->known = KNOWN(UNWIND_RBP) | KNOWN(UNWIND_RSP);
	w->regs[UNWIND_RSP] = w->sp =
		fp + 16; /* the next frame lies above: the walk cannot go in circles */
	w->bp = w->regs[UNWIND_RBP];
	w->exact = 0;
	return 0;
}

/* Goes to the caller of compiled code with a frame pointer, @fp. Returns WALK_STEPPED; 1: the walk
 * ends. */
static __always_inline int walk_to_caller(struct user_walk *w, u64 fp)
{
	w->bp = w->regs[UNWIND_RBP] = fp;
	w->known |= KNOWN(UNWIND_RBP);
	return fp_step(w) ? 1 : WALK_STEPPED;
}

/*
 * Appends a frame of an interpreter: @at is its current instruction, or the one it returns to. A
 * walker calls this for each frame of one activation of its loop, and stores in w->script[] where
 * the next activation continues.
 */
static __always_inline int walk_put_script(struct user_walk *w, u32 walker, u64 at, int exact)
{
	const u32 n = w->n;

	if (n >= w->max || n >= STACK_USER_MAX)
		return walk_ends(w, STACK_END_DEPTH);
	walker &= STACK_WALKER_ROOM - 1;
	w->frames[n & (STACK_USER_MAX - 1)] = STACK_ADDR(at) |
					      (u64)(STACK_HOW_SCRIPT | walker) << STACK_HOW_SHIFT |
					      (exact ? STACK_EXACT : 0);
	w->n = n + 1;
	return 0;
}

/* Returns not 0 if this is the first frame of its loop in the walk. */
static inline int walk_script_begins(struct user_walk *w, u32 walker)
{
	const u32 bit = 1u << (walker & (STACK_WALKER_ROOM - 1)), begun = w->scripts & bit;

	w->scripts |= bit;
	return !begun;
}

/* Appends a frame of an interpreter whose code object lies at @code, and what belongs to it. */
static __always_inline int walk_put_code(struct user_walk *w, u32 walker, u64 code, u32 position,
					 u32 check)
{
	const u32 n = w->n;

	if (n + 1 >= w->max || n + 1 >= STACK_USER_MAX)
		return walk_ends(w, STACK_END_DEPTH);
	if (walk_put_script(w, walker, code, 1))
		return 1;
	w->frames[(n + 1) & (STACK_USER_MAX - 1)] = STACK_MORE(position, check);
	w->n = n + 2;
	w->max++; /* the second word is no frame */
	return 0;
}

/* Returns whether @addr lies in the frame that the walk is at. */
static inline int walk_frame_has(const struct user_walk *w, u64 addr)
{
	const u32 kind = RULE_KIND(w->rule) & UNWIND_KIND_MASK;
	const u64 base = kind == UNWIND_RBP ? w->bp : w->sp;
	const u64 cfa = kind == UNWIND_RBP || kind == UNWIND_RSP ? base + RULE_CFA(w->rule) * 8ull
								 : w->sp + WALK_WINDOW;

	return addr >= w->sp && addr < cfa;
}

/* Steps to the caller. */
static inline int walk_up(struct user_walk *w, u32 *how)
{
	switch (RULE_KIND(w->rule) & UNWIND_KIND_MASK) {
	case UNWIND_END:
		return walk_ends(w, STACK_END_ROOT);
	case UNWIND_SIGNAL:
		*how = STACK_HOW_SIGNAL;
		return signal_step(w);
	case UNWIND_NONE:
		if (RULE_FLAGS(w->rule) & RULE_NO_TABLE)
			return walk_ends(w, STACK_END_NO_TABLE);
		if (!(RULE_FLAGS(w->rule) & RULE_MAPPED))
			return walk_ends(w, STACK_END_NO_MAP);
		return fp_step(w);
	case UNWIND_ODD:
		return walk_ends(w, STACK_END_BAD_RULE);
	case UNWIND_PROBE:
		return probe_step(w, how);
	case UNWIND_GO_SWITCH:
		*how = STACK_HOW_ROW;
		return go_step(w);
	}
	*how = STACK_HOW_ROW;
	return row_step(w);
}

static inline int walk_put(struct user_walk *w, u32 how)
{
	const u32 n = w->n;

	if (n >= STACK_USER_MAX)
		return walk_ends(w, STACK_END_DEPTH);
	w->frames[n & (STACK_USER_MAX - 1)] =
		w->ip | (u64)how << STACK_HOW_SHIFT | (w->exact ? STACK_EXACT : 0);
	w->n = n + 1;
	return 0;
}

#define WALK_PLAIN_MAX 8 /* frames per call */

/*
 * Walks while all frames are plain, which is nearly always: a CFA by rsp or rbp, the frame in the
 * window, the caller's rule in the cache. Registers hold the state of the frame meanwhile, and
 * saved registers are restored without branches, since frames differ in what they save. Stops
 * before a frame that is not plain.
 */
static inline void plain_frames(struct user_walk *w, const struct unwind_cache *cache)
{
	const u64 window_at = w->window_at, window_sz = w->window_sz, gen = cache_tag(w, 0);
	u64 sp = w->sp, bp = w->bp, bx = w->regs[UNWIND_RBX], rule = w->rule, ip = w->ip;
	u32 has_bp = w->known >> UNWIND_RBP & 1, has_bx = w->known >> UNWIND_RBX & 1, n = w->n;
	/* The frames of interpreters raise the maximum. */
	const u32 max = w->max < STACK_USER_MAX ? w->max : STACK_USER_MAX;
	u32 i;

	for (i = 0; i < WALK_PLAIN_MAX; i++) {
		const u32 kind = RULE_KIND(rule), by_sp = kind & 1;
		const u64 cfa = (bp ^ ((bp ^ sp) & -(u64)by_sp)) + RULE_CFA(rule) * 8ull;
		const u32 at_bp = UNWIND_SAVED_RBP(RULE_SAVED(rule)),
			  at_bx = UNWIND_SAVED_RBX(RULE_SAVED(rule));
		const u64 got_bp = (at_bp + 14) >> 4, got_bx = (at_bx + 14) >> 4;
		const u64 top = cfa - window_at;
		const struct unwind_cached *c;
		u64 to, next;

		if ((kind | 1) != UNWIND_RSP || !(by_sp | has_bp) || cfa <= sp)
			break;
		if (!top || top > window_sz || top & 7 || top < at_bp * 8 || top < at_bx * 8)
			break;
		to = walk_window(w, top - 8);
		if (!user_code(to) || n >= max)
			break;
		c = &cache->at[cache_place((to - 1) ^ gen)];
		next = WALK_ONCE(c->rule);
		if ((WALK_ONCE(c->check) ^ next) != ((to - 1) ^ gen))
			break;
		bp ^= (bp ^ walk_window(w, top - at_bp * 8)) & -got_bp;
		bx ^= (bx ^ walk_window(w, top - at_bx * 8)) & -got_bx;
		has_bp = (has_bp & ~((at_bp + 15) >> 4)) | got_bp;
		has_bx = (has_bx & ~((at_bx + 15) >> 4)) | got_bx;
		sp = cfa;
		ip = to;
		rule = next;
		w->frames[n++ & (STACK_USER_MAX - 1)] = to | (u64)STACK_HOW_ROW << STACK_HOW_SHIFT;
	}
	if (!i)
		return;
	w->n_cached += i;
	w->n = n;
	w->ip = ip;
	w->rule = rule;
	w->exact = 0;
	w->known = KNOWN(UNWIND_RSP) | has_bp << UNWIND_RBP | has_bx << UNWIND_RBX;
	w->regs[UNWIND_RBX] = bx;
	w->regs[UNWIND_RBP] = w->bp = bp;
	w->regs[UNWIND_RSP] = w->sp = sp;
}

/* Verified on its own. */
WALK_FUNC int walk_plain(struct user_walk *w, struct unwind_cache *cache)
{
	if (w && cache && w->n_maps)
		plain_frames(w, cache);
	return 0;
}

/* Walks one native frame, and the plain ones that follow. @is_there: the walk is at the caller
 * already. Returns not 0 if the walk ends. Verified on its own: a walker of an interpreter needs
 * the stack that this takes. */
WALK_FUNC int walk_native(struct user_walk *w, struct unwind_cache *cache, int is_there)
{
	u32 how = STACK_HOW_FP;

	if (!w || (!is_there && walk_up(w, &how)))
		return 1;
	if (!w->ip) /* a stack made by the program, with nothing below its first function */
		return walk_ends(w, STACK_END_ROOT);
	if (!user_code(w->ip))
		return walk_ends(w, STACK_END_BAD_PC);
	w->rule = walk_rule(w, cache, w->exact ? w->ip : w->ip - 1);
	/* A frame pointer that leads to no code was not a frame pointer. */
	if (how == STACK_HOW_FP && !(RULE_FLAGS(w->rule) & RULE_MAPPED))
		return walk_ends(w, STACK_END_BAD_PC);
	if (w->n >= w->max)
		return walk_ends(w, STACK_END_DEPTH);
	return walk_put(w, how) || walk_plain(w, cache);
}

/* Walks the frames of one function: those of an interpreter first, if it is the loop of one.
 * Returns not 0 if the walk ends. */
static inline int walk_step(struct user_walk *w, struct unwind_cache *cache)
{
	int r = 0;

	if (RULE_KIND(w->rule) & UNWIND_F_LOOP)
		r = walk_script(w, RULE_WALKER(w->rule));
	if (r && r != WALK_STEPPED)
		return r != WALK_AGAIN;
	return walk_native(w, cache, r == WALK_STEPPED);
}

/*
 * When the kernel starts a signal handler it changes the other registers a moment before ip: a
 * sample between the two has the handler's registers with the interrupted ip. The registers of the
 * interrupted code are in the signal frame.
 */
static inline int walk_signal_entry(struct user_walk *w)
{
	const u64 frame = w->sp + 8, ip = w->ip;
	u64 interrupted;

	if (w->regs[UNWIND_RDX] != frame || w->regs[UNWIND_RSI] != frame + UNWIND_SIGNAL_INFO_AT)
		return 0;
	if (walk_word(w, frame + UNWIND_SIGNAL_REGS_AT + WALK_REGS * 8, &interrupted))
		return 1;
	if (interrupted != ip)
		return 0; /* the first instruction of the handler */
	w->sp = frame;
	return signal_step(w);
}

/* Records the first frame. Returns not 0 if it is the only one. */
static inline int walk_begin(struct user_walk *w, struct unwind_cache *cache)
{
	w->n = 0;
	w->fault = 0;
	w->end = STACK_END_DEPTH;
	w->switches = w->go_switches = 0;
	w->scripts = 0;
	w->script_frame = 0;
	w->n_codes = 0;
	w->window_sz = 0;
	w->n_cached = w->n_searched = 0;
	w->exact = 1;
	w->known |= KNOWN(UNWIND_RBP) | KNOWN(UNWIND_RSP);
	w->regs[UNWIND_RBP] = w->bp;
	w->regs[UNWIND_RSP] = w->sp;
	if (!user_code(w->ip))
		return walk_ends(w, STACK_END_BAD_PC);
	walk_put(w, STACK_HOW_REGS);
	w->rule = walk_rule(w, cache, w->ip);
	return walk_signal_entry(w) || walk_plain(w, cache);
}

#endif /* DRIVER_SHARED_USER_WALK_H */
