/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the driver's walker, compiled for user space: on stacks of this program, deep in calls, in
 * signal handlers, on aligned stacks, with the frames of libgcc's unwinder as the judge; then with
 * every read failing in turn, and with garbage in registers, stack and tables. The same for
 * deferred stacks, which are walked from a copy. With -DSAKER_LIBFUZZER and clang's
 * -fsanitize=fuzzer it is a fuzz target.
 */
#include "testing/test_main.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "unwind/copy_walk.h"
#include "unwind/unwind_procs.h"
#define WALK_SCRIPTS
#define WALK_PROBES
#include "shared/user_walk.h"

#define STACK_MAX (256u << 10)

/* The memory of a walk, in place of the kernel's: a copy of the stack, and tables. */
struct world {
	uint64_t sp;
	const uint8_t *stack;
	size_t stack_sz;
	const struct unwind_pool *pool; /* NULL: chunk */
	const uint64_t *chunk;
	struct unwind_cache *cache; /* NULL: none */
	uint64_t script; /* where the frames of a fake interpreter lie */
	uint64_t probed; /* original instruction below a probe; 0: unknown */
	int fail_at; /* this read fails; -1: none */
	int n_reads;
};

static struct world world;

static int walk_fill(struct user_walk *w, u32 sz, u64 addr)
{
	const uint64_t at = addr - world.sp;

	if (!sz || sz > WALK_WINDOW)
		abort();
	if (world.n_reads++ == world.fail_at || at >= world.stack_sz)
		return -1;
	/* Like a page: the memory behind the copy exists, and is zero. */
	memset(w->window, 0, sz);
	memcpy(w->window, world.stack + at, world.stack_sz - at < sz ? world.stack_sz - at : sz);
	return 0;
}

static const u64 *walk_chunk(const struct user_walk *w, u32 chunk)
{
	(void)w;
	if (!world.pool)
		return chunk ? NULL : world.chunk;
	return unwind_pool_chunk(world.pool, chunk);
}

/*
 * A fake interpreter: its frames are words at world.script, one behind the other, innermost first:
 * an instruction, or 0 where what one activation of the loop runs is at its end.
 */
static int walk_script(struct user_walk *w, u32 walker)
{
	u64 *at = &w->script[walker & (STACK_WALKER_ROOM - 1)];
	u64 pc;

	if (walk_script_begins(w, walker))
		*at = world.script;
	for (int i = 0; i < 16; i++) {
		if (walk_word(w, *at, &pc))
			return 1;
		*at += 8;
		if (!pc)
			return 0;
		if (walk_put_script(w, walker, pc, 0))
			return 1;
	}
	return walk_ends(w, STACK_END_LOOP);
}

/* The same as the kernel for a function that returns to a probe. */
static int walk_probe(struct user_walk *w)
{
	if (!world.probed)
		return -1;
	w->ip = world.probed;
	w->exact = 0;
	return 0;
}

static void walk(struct user_walk *w)
{
	world.n_reads = 0;
	if (walk_begin(w, world.cache))
		return;
	for (u32 i = 0; i < STACK_USER_MAX && !walk_step(w, world.cache); i++)
		;
}

/* Whatever it was given, a walk leaves this. */
static int is_sound(const struct user_walk *w)
{
	if (w->n > w->max && w->n > 1)
		return 0;
	for (u32 i = 0; i < w->n; i++)
		if (!user_code(STACK_ADDR(w->frames[i])))
			return 0;
	return w->n <= STACK_USER_MAX && w->end < STACK_END_MAX;
}

/* Walks from @w twice, with an empty cache and with a full one: plain frames take another path
 * through the walker, to the same end. Returns 0 if the results differ. */
static int walks_alike(struct user_walk *w)
{
	static struct unwind_cache cache;
	static struct user_walk from, first;
	static u32 gen;

	from = *w;
	walk(w);
	first = *w;
	from.gen = ++gen;
	for (int i = 0; i < 2; i++) {
		*w = from;
		world.cache = &cache;
		walk(w);
		world.cache = NULL;
		if (w->n != first.n || w->end != first.end || w->fault != first.fault ||
		    w->ip != first.ip || w->sp != first.sp || w->bp != first.bp ||
		    w->known != first.known || memcmp(w->regs, first.regs, sizeof(w->regs)) ||
		    memcmp(w->frames, first.frames, w->n * sizeof(*w->frames)))
			return 0;
	}
	return 1;
}

#ifndef SAKER_LIBFUZZER

static struct unwind_pool *pool;
static struct unwind_files *files;
static struct unwind_procs *procs;

static uint64_t boot_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int open_tables(void **state)
{
	(void)state;
	if (unwind_pool_new(&pool, -1, 64u << 20) || unwind_files_new(&files, pool) ||
	    unwind_procs_new(&procs, pool, files, -1))
		return -1;
	if (unwind_procs_scan(procs, (uint32_t)getpid(), boot_ns()))
		return -1;
	unwind_procs_publish(procs, boot_ns());
	return 0;
}

static int close_tables(void **state)
{
	(void)state;
	unwind_procs_free(procs);
	unwind_files_free(files);
	unwind_pool_free(pool);
	return 0;
}

/* A stack as it was: registers, copy, and the frames that libgcc's unwinder found. */
struct kept {
	uint64_t regs[WALK_REGS], ip;
	uint8_t stack[STACK_MAX] __attribute__((aligned(8)));
	size_t sz;
	uint64_t frames[512];
	size_t n;
};

static struct kept kept;

static _Unwind_Reason_Code keep_frame(struct _Unwind_Context *c, void *arg)
{
	struct kept *k = arg;

	if (k->n < 512)
		k->frames[k->n++] = _Unwind_GetIP(c);
	return _URC_NO_REASON;
}

static uint64_t stack_end(void)
{
	unsigned long long from, to;
	uint64_t end = 0;
	char line[512];
	FILE *f = fopen("/proc/self/maps", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx-%llx", &from, &to) == 2 && (uintptr_t)line >= from &&
		    (uintptr_t)line < to)
			end = to;
	if (f)
		fclose(f);
	return end;
}

/* Includes what a sanitizer keeps between variables. */
__attribute__((noinline, no_sanitize("address"))) static void copy_words(void *to, const void *from,
									 size_t sz)
{
	for (size_t i = 0; i < sz / 8; i++)
		((volatile uint64_t *)to)[i] = ((const volatile uint64_t *)from)[i];
}

/* Keeps the stack of who called it, as it is at the return from here. */
__attribute__((noinline)) static void keep(void)
{
	static const int gregs[WALK_REGS] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
					     REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
					     REG_R12, REG_R13, REG_R14, REG_R15};
	static ucontext_t uc;
	uint64_t end = stack_end();

	kept.n = 0;
	getcontext(&uc);
	for (int i = 0; i < WALK_REGS; i++)
		kept.regs[i] = (uint64_t)uc.uc_mcontext.gregs[gregs[i]];
	kept.ip = (uint64_t)uc.uc_mcontext.gregs[REG_RIP];
	kept.sz = end - kept.regs[UNWIND_RSP] < STACK_MAX ? end - kept.regs[UNWIND_RSP] : STACK_MAX;
	copy_words(kept.stack, (void *)kept.regs[UNWIND_RSP], kept.sz);
	_Unwind_Backtrace(keep_frame, &kept);
}

static void begin_walk(struct user_walk *w)
{
	struct unwind_process p;

	memset(w, 0, sizeof(*w));
	world = (struct world){.sp = kept.regs[UNWIND_RSP],
			       .stack = kept.stack,
			       .stack_sz = kept.sz,
			       .pool = pool,
			       .fail_at = -1};
	assert_int_equal(unwind_procs_find(procs, &p, (uint32_t)getpid()), 0);
	memcpy(w->regs, kept.regs, sizeof(w->regs));
	w->known = 0xffff;
	w->ip = kept.ip;
	w->sp = kept.regs[UNWIND_RSP];
	w->bp = kept.regs[UNWIND_RBP];
	w->max = STACK_USER_MAX;
	w->maps = p.maps;
	w->n_maps = p.n_maps;
	w->gen = p.gen;
}

static struct user_walk walker;

/* The frames of both, from the one that called keep() on, to the root. */
static void expect_same_frames(void)
{
	struct user_walk *w = &walker;

	begin_walk(w);
	walk(w);
	assert_int_equal(w->end, STACK_END_ROOT);
	assert_true(is_sound(w));
	assert_true(kept.n > 4);
	/* The first frame of each is inside keep(). libgcc also reports an end of the stack that is
	 * 0. */
	while (kept.n && !kept.frames[kept.n - 1])
		kept.n--;
	assert_int_equal(w->n, kept.n);
	for (u32 i = 1; i < w->n; i++)
		assert_int_equal(STACK_ADDR(w->frames[i]), kept.frames[i]);
}

__attribute__((noinline)) static int recurse(int n, volatile int *p)
{
	volatile char room[64];
	int r;

	room[n & 63] = (char)n;
	if (n) {
		r = recurse(n - 1, p) + room[n & 63];
		__asm__ volatile("" : "+r"(r));
		return r;
	}
	keep();
	*p = 1;
	return room[0];
}

static void test_calls(void **state)
{
	volatile int done;

	(void)state;
	recurse(100, &done);
	expect_same_frames();
}

__attribute__((noinline)) static int aligned(size_t n)
{
	volatile char a[256] __attribute__((aligned(64)));
	volatile char *more = __builtin_alloca(n);
	volatile int done;

	a[n & 255] = more[0] = 1;
	recurse(3, &done);
	return a[0] + more[0];
}

static void test_aligned_stack(void **state)
{
	(void)state;
	aligned(100);
	expect_same_frames();
}

static void on_signal(int sig)
{
	volatile int done;

	(void)sig;
	recurse(3, &done);
}

static void test_signal(void **state)
{
	struct sigaction act = {.sa_handler = on_signal}, was;

	(void)state;
	sigaction(SIGUSR1, &act, &was);
	raise(SIGUSR1);
	sigaction(SIGUSR1, &was, NULL);
	expect_same_frames();
	for (u32 i = 0, n = 0; i <= walker.n; i++) {
		if (i == walker.n) {
			assert_int_equal(n, 1);
			break;
		}
		n += STACK_HOW(walker.frames[i]) == STACK_HOW_SIGNAL &&
		     walker.frames[i] & STACK_EXACT;
	}
}

static int compare(const void *a, const void *b)
{
	volatile int done;

	recurse(1, &done);
	return *(const int *)a - *(const int *)b;
}

static void test_library_between(void **state)
{
	int v[] = {3, 1, 2};

	(void)state;
	qsort(v, 3, sizeof(*v), compare);
	expect_same_frames();
}

/* Lets each read fail in turn: the walk is the same up to there, and reports where it ended. */
static void test_every_read_failing(void **state)
{
	struct user_walk *w = &walker;
	volatile int done;
	uint64_t all[STACK_USER_MAX];
	int n_reads;
	u32 n;

	(void)state;
	recurse(400, &done);
	begin_walk(w);
	walk(w);
	assert_int_equal(w->end, STACK_END_ROOT);
	n_reads = world.n_reads;
	n = w->n;
	memcpy(all, w->frames, sizeof(all));
	assert_true(n_reads > 5);
	for (int i = 0; i < n_reads; i++) {
		begin_walk(w);
		world.fail_at = i;
		walk(w);
		assert_int_equal(w->end, STACK_END_FAULT);
		assert_int_equal(world.n_reads, i + 1); /* one that fails ends it */
		assert_true(w->fault >= kept.regs[UNWIND_RSP]);
		assert_true(w->n < n);
		assert_memory_equal(w->frames, all, w->n * sizeof(*all));
	}
}

/* The cache changes nothing, and is not believed when its two halves are of different entries. */
static void test_cache(void **state)
{
	static struct unwind_cache cache;
	struct user_walk *w = &walker;
	volatile int done;
	uint64_t all[STACK_USER_MAX];
	u32 n;

	(void)state;
	recurse(50, &done);
	begin_walk(w);
	walk(w);
	n = w->n;
	memcpy(all, w->frames, sizeof(all));
	for (int i = 0; i < 3; i++) {
		begin_walk(w);
		world.cache = &cache;
		if (i == 2)
			for (size_t k = 0; k < UNWIND_CACHE_SZ; k++)
				cache.at[k].rule ^= 1ull << 48;
		walk(w);
		assert_int_equal(w->n, n);
		assert_memory_equal(w->frames, all, n * sizeof(*all));
		assert_int_equal(w->n_searched == 0, i == 1);
	}
}

/* The one row that holds at @off, looked for from the first on. */
static uint64_t row_at(const uint64_t *rows, u32 n, u32 off)
{
	uint64_t found = 0;

	for (u32 i = 0; i < n && (u32)rows[i] <= off; i++)
		found = rows[i];
	return found;
}

/* Each row of each file that this program has mapped is found from its first byte to its last. */
static void test_each_row(void **state)
{
	struct user_walk *w = &walker;
	const struct unwind_map *m;
	volatile int done;
	size_t n_looked = 0;

	(void)state;
	recurse(1, &done);
	begin_walk(w);
	m = (const struct unwind_map *)unwind_pool_at(pool, w->maps);
	for (u32 k = 0; k < w->n_maps; k++, m++) {
		const uint64_t *rows = unwind_pool_at(pool, m->rows);

		for (u32 i = 0; i + 1 < m->n_rows; i++) {
			const u32 offs[] = {(u32)rows[i], (u32)rows[i + 1] - 1};

			/* A complete large table would take long. */
			if (m->n_rows > 3000 && i % 37 &&
			    (u32)rows[i] >> m->shift == (u32)rows[i + 1] >> m->shift)
				continue;
			for (int j = 0; j < 2; j++) {
				const u32 at = offs[j] - (u32)(m->start - m->bias);
				const uint64_t rule = walk_search(w, m->start + at),
					       row = i % 37 ? rows[i]
							    : row_at(rows, m->n_rows, offs[j]);

				if (at >= m->end - m->start)
					continue;
				if (RULE_KIND(row) == UNWIND_NONE)
					assert_true(RULE_KIND(rule) == UNWIND_NONE);
				else
					assert_int_equal(rule >> 32, row >> 32);
				n_looked++;
			}
		}
	}
	assert_true(n_looked > 1000);
}

static void test_depth(void **state)
{
	struct user_walk *w = &walker;
	volatile int done;

	(void)state;
	recurse(50, &done);
	begin_walk(w);
	w->max = 10;
	walk(w);
	assert_int_equal(w->n, 10);
	assert_int_equal(w->end, STACK_END_DEPTH);
}

/* One mapping at 0x10000 with the rows of the test, and a stack of words. */
struct made {
	uint64_t chunk[UNWIND_CHUNK_WORDS];
	uint64_t stack[64];
};

static struct made made;

#define CODE 0x10000ull
#define STACK 0x7f0000000000ull

static void make(struct user_walk *w, const struct unwind_row *rows, u32 n)
{
	const struct unwind_map m = {.start = CODE,
				     .end = CODE + 0x1000,
				     .bias = CODE,
				     .rows = 64,
				     .n_rows = n,
				     .n_pages = 1,
				     .shift = 12};

	memset(&made, 0, sizeof(made));
	memcpy(made.chunk + 8, &m, sizeof(m));
	if (n)
		memcpy(made.chunk + 64, rows, n * sizeof(*rows));
	made.chunk[64 + n] = (uint64_t)n << 32;
	memset(w, 0, sizeof(*w));
	*w = (struct user_walk){.ip = CODE + 0x10,
				.sp = STACK,
				.max = 100,
				.maps = 8,
				.n_maps = 1,
				.known = 0xffff};
	world = (struct world){.sp = STACK,
			       .stack = (uint8_t *)made.stack,
			       .stack_sz = sizeof(made.stack),
			       .chunk = made.chunk,
			       .fail_at = -1};
}

static void expect_end(struct user_walk *w, u32 end, u32 n)
{
	walk(w);
	assert_int_equal(w->end, end);
	assert_int_equal(w->n, n);
}

static void test_ends(void **state)
{
	static const struct unwind_row rsp = {.kind = UNWIND_RSP, .cfa = 1};
	static const struct unwind_row odd = {.kind = UNWIND_ODD};
	static const struct unwind_row by_rbx = {.kind = UNWIND_RBX, .cfa = 2, .saved = 0x12};
	static const struct unwind_row by_rbp = {.kind = UNWIND_RBP, .cfa = 2};
	static const struct unwind_row signal_row = {.kind = UNWIND_SIGNAL};
	struct user_walk *w = &walker;

	(void)state;
	make(w, &rsp, 1); /* a return to 0 */
	expect_end(w, STACK_END_ROOT, 1);
	make(w, &rsp, 1);
	made.stack[0] = 0xffffffff81000000; /* to the kernel */
	expect_end(w, STACK_END_BAD_PC, 1);
	make(w, &rsp, 1);
	made.stack[0] = 0x555500000000; /* to an unknown place: the frame is reported */
	expect_end(w, STACK_END_NO_MAP, 2);
	make(w, &odd, 1);
	expect_end(w, STACK_END_BAD_RULE, 1);
	make(w, &rsp, 1);
	w->sp = STACK + 4;
	expect_end(w, STACK_END_BAD_SP, 1);
	make(w, &rsp, 1);
	w->sp = 0xffff880000000000;
	expect_end(w, STACK_END_BAD_SP, 1);
	make(w, &by_rbx, 1); /* rbx is known first, then lost */
	w->regs[UNWIND_RBX] = STACK;
	made.stack[1] = CODE + 0x20;
	expect_end(w, STACK_END_LOST_REG, 2);
	make(w, &by_rbp, 1); /* rbp stays: in a circle */
	w->bp = STACK;
	made.stack[1] = CODE + 0x20;
	expect_end(w, STACK_END_LOOP, 6);
	make(w, &signal_row, 1); /* a signal's frame that interrupted itself */
	made.stack[(UNWIND_SIGNAL_REGS_AT + 15 * 8) / 8] = STACK;
	made.stack[(UNWIND_SIGNAL_REGS_AT + 16 * 8) / 8] = CODE + 0x30;
	expect_end(w, STACK_END_LOOP, 5);
	make(w, &signal_row, 1); /* what is there is no signal's frame any more */
	made.stack[0] = 8;
	expect_end(w, STACK_END_SIGNAL, 1);
	make(w, &signal_row, 1);
	expect_end(w, STACK_END_SIGNAL, 1);
}

/* The handler's registers are there, but ip is still what was interrupted. */
static void test_half_a_signal(void **state)
{
	static const struct unwind_row rsp = {.kind = UNWIND_RSP, .cfa = 1};
	struct user_walk *w = &walker;
	uint64_t *frame = made.stack + 1;

	(void)state;
	make(w, &rsp, 1);
	w->regs[UNWIND_RDX] = STACK + 8;
	w->regs[UNWIND_RSI] = STACK + 8 + UNWIND_SIGNAL_INFO_AT;
	frame[UNWIND_SIGNAL_REGS_AT / 8 + 15] = STACK + 60 * 8;
	frame[UNWIND_SIGNAL_REGS_AT / 8 + 16] = w->ip;
	made.stack[60] = CODE + 0x40;
	expect_end(w, STACK_END_ROOT, 2);
	assert_int_equal(STACK_ADDR(w->frames[0]), CODE + 0x10);
	assert_int_equal(STACK_ADDR(w->frames[1]), CODE + 0x40);
	/* The handler itself. */
	w->ip = CODE + 0x20;
	w->sp = STACK;
	made.stack[0] = CODE + 0x50;
	made.stack[1] = 0;
	w->regs[UNWIND_RDX] = STACK + 8;
	w->regs[UNWIND_RSI] = STACK + 8 + UNWIND_SIGNAL_INFO_AT;
	expect_end(w, STACK_END_ROOT, 2);
	assert_int_equal(STACK_ADDR(w->frames[1]), CODE + 0x50);
}

/* Code that aligned its stack has popped rbp, but its rule still has rbp on the stack. */
static void test_late_rule(void **state)
{
	static const struct unwind_row late = {.kind = UNWIND_RSP | UNWIND_F_AT_RBP, .cfa = 1};
	static const struct unwind_row within = {.kind = UNWIND_RSP | UNWIND_F_AT_RBP, .cfa = 8};
	struct user_walk *w = &walker;

	(void)state;
	make(w, &late, 1);
	w->bp = 0x33; /* the caller has something else in it */
	made.stack[0] = CODE + 0x20;
	expect_end(w, STACK_END_ROOT, 2);
	assert_int_equal(w->bp, 0x33);
	make(w, &within, 1);
	w->bp = STACK + 16;
	made.stack[2] = 0x44;
	expect_end(w, STACK_END_ROOT, 1);
	assert_int_equal(w->regs[UNWIND_RBP], 0x44);
}

/*
 * A second mapping, after the first, is an interpreter's loop. Its script frames stand between the
 * native ones, in order, whether the native frame was found in the cache, in a table, by its frame
 * pointer, or is the first frame.
 */
#define LOOP (CODE + 0x1000)
#define RUNS 0x7e5000000000ull /* instructions of what is run */

static void make_loop(struct user_walk *w, u32 walker, int has_rows)
{
	static const struct unwind_row rsp = {.kind = UNWIND_RSP, .cfa = 2};
	const struct unwind_map loop = {.start = LOOP,
					.end = LOOP + 0x1000,
					.bias = (u32)CODE,
					.rows = 64,
					.n_rows = (u32)has_rows,
					.walker = (u16)walker};
	/* native, loop running a and b, native, loop running c, native */
	const uint64_t returns[] = {LOOP + 0x10, CODE + 0x20, LOOP + 0x20, CODE + 0x30, 0};
	const uint64_t scripts[] = {RUNS + 1, RUNS + 2, 0, RUNS + 3, 0};

	make(w, &rsp, 1);
	memcpy(made.chunk + 8 + UNWIND_MAP_WORDS, &loop, sizeof(loop));
	w->n_maps = 2;
	w->bp = STACK;
	for (int i = 0; i < 5; i++) {
		made.stack[2 * i] = STACK + 16 * ((uint64_t)i + 2); /* rbp, where that counts */
		made.stack[2 * i + 1] = returns[i];
	}
	memcpy(made.stack + 40, scripts, sizeof(scripts));
	world.script = STACK + 40 * 8;
}

static void expect_mixed(struct user_walk *w, const uint64_t *want, u32 n)
{
	walk(w);
	for (u32 i = 0; i < w->n && i < n; i++) {
		const int script = want[i] > RUNS;

		assert_int_equal(STACK_ADDR(w->frames[i]), want[i]);
		assert_int_equal(!!STACK_IS_SCRIPT(w->frames[i]), script);
		if (script)
			assert_int_equal(STACK_WALKER(w->frames[i]), 3);
	}
	assert_int_equal(w->n, n);
}

static void test_interpreter(void **state)
{
	static const uint64_t mixed[] = {CODE + 0x10, LOOP + 0x10, RUNS + 1, RUNS + 2,
					 CODE + 0x20, LOOP + 0x20, RUNS + 3, CODE + 0x30};
	static const uint64_t native[] = {CODE + 0x10, LOOP + 0x10, CODE + 0x20, LOOP + 0x20,
					  CODE + 0x30};
	static const uint64_t inside[] = {LOOP + 0x40, RUNS + 1, RUNS + 2,
					  LOOP + 0x10, RUNS + 3, CODE + 0x20};
	static struct unwind_cache cache;
	struct user_walk *w = &walker;

	(void)state;
	memset(&cache, 0, sizeof(cache));
	for (int i = 0; i < 4; i++) { /* without a cache, with an empty one, with a full one */
		make_loop(w, 3, 1);
		world.cache = i ? &cache : NULL;
		expect_mixed(w, mixed, 8);
		assert_int_equal(w->end, STACK_END_ROOT);
		assert_int_equal(w->n_searched == 0, i > 1);
	}
	make_loop(w, 3, 0); /* a loop that was made as the program ran has no rows */
	w->bp = STACK + 16;
	expect_mixed(w, mixed, 8);
	make_loop(w, 0, 1); /* nobody's loop */
	expect_mixed(w, native, 5);
	make_loop(w, 3, 1); /* where the thread is right now */
	w->ip = LOOP + 0x40;
	walk(w);
	assert_int_equal(w->end, STACK_END_ROOT);
	for (u32 i = 0; i < 5; i++)
		assert_int_equal(STACK_ADDR(w->frames[i]), inside[i]);
	assert_int_equal(w->frames[0] >> STACK_HOW_SHIFT, STACK_HOW_REGS | 0x80);
	make_loop(w, 3, 1); /* at the requested depth, in the middle of a script */
	w->max = 3;
	expect_mixed(w, mixed, 3);
	assert_int_equal(w->end, STACK_END_DEPTH);
	make_loop(w, 3, 1); /* memory of the interpreter that is not there */
	world.script = 0x1000;
	expect_mixed(w, mixed, 2);
	assert_int_equal(w->end, STACK_END_FAULT);
	assert_int_equal(w->fault, 0x1000);
}

/* Frames of an interpreter have two words, and the maximum grows with each. Plain frames behind
 * them end at the end of all room, too. */
static void test_deep_script(void **state)
{
	static const struct unwind_row rsp = {.kind = UNWIND_RSP, .cfa = 1};
	static uint64_t deep[2 * STACK_USER_MAX];
	static struct unwind_cache cache;
	struct user_walk *w = &walker;

	(void)state;
	for (size_t i = 0; i < 2 * STACK_USER_MAX; i++)
		deep[i] = CODE + 0x20;
	for (int i = 0; i < 2; i++) {
		make(w, &rsp, 1);
		w->max = STACK_USER_MAX;
		world.stack = (const uint8_t *)deep;
		world.stack_sz = sizeof(deep);
		world.cache = &cache;
		assert_int_equal(walk_begin(w, &cache), 0);
		for (u32 k = 0; k < 100; k++)
			assert_int_equal(walk_put_code(w, 3, RUNS, 1, 2), 0);
		for (u32 k = 0; k < STACK_USER_MAX && !walk_step(w, &cache); k++)
			;
		assert_int_equal(w->end, STACK_END_DEPTH);
		assert_int_equal(w->n, STACK_USER_MAX);
		assert_int_equal(STACK_ADDR(w->frames[0]), CODE + 0x10);
	}
}

/* What is due stays due until it is replaced; 0 never is. */
static void test_due(void **state)
{
	u32 left = 3, never = 0;

	(void)state;
	assert_false(walk_is_due(&left));
	assert_false(walk_is_due(&left));
	for (int i = 0; i < 3; i++)
		assert_true(walk_is_due(&left));
	assert_false(walk_is_due(&never));
	assert_false(walk_is_due(&never));
}

/* Behind the mapping, from one byte before on, is the code of probes. */
static void test_probe(void **state)
{
	static const struct unwind_row rsp = {.kind = UNWIND_RSP, .cfa = 1};
	const struct unwind_map probes = {
		.start = CODE + 0x1fff, .end = CODE + 0x3000, .flags = UNWIND_MAP_F_PROBE};
	static struct unwind_cache cache;
	struct user_walk *w = &walker;

	(void)state;
	memset(&cache, 0, sizeof(cache));
	for (int i = 0; i < 4; i++) {
		make(w, &rsp, 1);
		memcpy(made.chunk + 8 + UNWIND_MAP_WORDS, &probes, sizeof(probes));
		w->n_maps = 2;
		world.cache = i ? &cache : NULL;
		made.stack[0] = CODE + 0x20;
		made.stack[1] = CODE + 0x2000;
		made.stack[2] = CODE + 0x30;
		world.probed = CODE + 0x40;
		expect_end(w, STACK_END_ROOT, 4); /* the probe is none of them */
		assert_int_equal(STACK_ADDR(w->frames[2]), CODE + 0x40);
		assert_int_equal(STACK_ADDR(w->frames[3]), CODE + 0x30);
		world.probed = 0;
		w->ip = CODE + 0x10;
		w->sp = STACK;
		expect_end(w, STACK_END_PROBE, 3);
	}
	w->ip = CODE + 0x2000; /* it runs */
	w->sp = STACK;
	world.probed = CODE + 0x40;
	made.stack[0] = 0;
	expect_end(w, STACK_END_ROOT, 2);
}

/* Go's system stack: from the thread's memory by g, m and the g that left to its stack. */
static void test_go_switch(void **state)
{
	static const struct unwind_row rows[] = {
		{.pc = 0, .kind = UNWIND_RSP, .cfa = 1},
		{.pc = 0x80,
		 .kind = UNWIND_GO_SWITCH,
		 .cfa = UNWIND_GO_CFA(6, 7, 24),
		 .saved = UNWIND_SAVED(1, 0)},
		{.pc = 0x90, .kind = UNWIND_RSP, .cfa = 1},
	};
	struct user_walk *w = &walker;

	(void)state;
	for (int i = 0; i < 4; i++) {
		make(w, rows, 3);
		made.stack[0] = CODE + 0x84; /* the function that was run there returns to it */
		made.stack[10] = STACK + 12 * 8; /* g */
		made.stack[12 + 6] = STACK + 20 * 8; /* m */
		made.stack[20 + 24] = STACK + 46 * 8; /* the g that left */
		made.stack[46 + 7] = STACK + 56 * 8; /* its stack */
		made.stack[56] = CODE + 0x30;
		made.stack[57] = CODE + 0x40;
		made.stack[60] = 0; /* what rbp leads to */
		made.stack[61] = CODE + 0x40;
		w->tls = STACK + 11 * 8;
		w->bp = STACK + 60 * 8;
		if (i == 1)
			made.stack[57] =
				CODE + 0x85; /* again: the memory is that of the last one */
		if (i == 2)
			w->tls = 0;
		if (i == 3)
			w->tls = 0x5000;
		walk(w);
		assert_true(is_sound(w));
		if (i == 3) {
			assert_int_equal(w->end, STACK_END_FAULT);
			continue;
		}
		assert_int_equal(w->end, STACK_END_ROOT);
		assert_int_equal(STACK_ADDR(w->frames[2]), i < 2 ? CODE + 0x30 : CODE + 0x40);
		assert_int_equal(w->n, i == 0 ? 4 : i == 1 ? 5 : 3);
		assert_int_equal(STACK_ADDR(w->frames[w->n - 1]), CODE + 0x40);
	}
}

/* Without rows: by frame pointers, if they are plausible. */
static void test_frame_pointers(void **state)
{
	struct user_walk *w = &walker;

	(void)state;
	make(w, NULL, 0);
	w->bp = STACK + 16;
	made.stack[2] = STACK + 64;
	made.stack[3] = CODE + 0x40;
	made.stack[8] = 0;
	made.stack[9] = CODE + 0x50;
	expect_end(w, STACK_END_ROOT, 3);
	assert_int_equal(STACK_HOW(w->frames[1]), STACK_HOW_FP);
	make(w, NULL, 0);
	w->bp = STACK - 8; /* below the stack pointer */
	expect_end(w, STACK_END_BAD_FP, 1);
	make(w, NULL, 0);
	w->bp = STACK + 16;
	made.stack[2] = STACK + 16; /* to itself */
	made.stack[3] = CODE + 0x40;
	expect_end(w, STACK_END_BAD_FP, 2);
	make(w, NULL, 0);
	w->bp = STACK + 16;
	made.stack[3] = 0x777700000000; /* what it leads to is no code: it was none */
	expect_end(w, STACK_END_BAD_PC, 1);
	make(w, NULL, 0);
	w->bp = 0xffffffff81000000;
	expect_end(w, STACK_END_BAD_FP, 1);
	make(w, NULL, 0);
	made.chunk[8 + 3] |= (uint64_t)UNWIND_MAP_F_NO_TABLE << 48;
	w->bp = STACK + 16;
	expect_end(w, STACK_END_NO_TABLE, 1);
}

#endif /* !SAKER_LIBFUZZER */

/* ---- anything ---- */

/* Registers, then a stack, then tables, all from @data. */
static void walk_anything(const uint8_t *data, size_t sz)
{
	static struct {
		struct user_walk w;
		uint64_t chunk[UNWIND_CHUNK_WORDS];
	} any;
	struct user_walk *w = &any.w;
	size_t part = sz < 256 ? 0 : (sz - 200) / 2;

	memset(w, 0, offsetof(struct user_walk, window));
	memset(any.chunk, 0, 4096);
	for (size_t i = 0; i < WALK_REGS && (i + 1) * 8 <= sz; i++)
		memcpy(&w->regs[i], data + i * 8, 8);
	if (sz >= 200) {
		memcpy(&w->ip, data + 128, 8);
		memcpy(&w->bp, data + 136, 8);
		memcpy(&w->known, data + 144, 4);
		memcpy(&w->maps, data + 148, 4);
		memcpy(&w->n_maps, data + 152, 4);
		memcpy(any.chunk, data + 200 + part, part < 4096 ? part : 4096);
	}
	/* Most of the time where something is to be found. */
	if (sz && data[0] & 1) {
		w->maps = 0;
		w->n_maps = w->n_maps % 8 + 1;
		w->ip = any.chunk[0] + 5;
	}
	w->sp = 0x7ffc00000000;
	w->max = STACK_USER_MAX;
	world = (struct world){.sp = w->sp,
			       .stack = data + (sz < 256 ? 0 : 200),
			       .stack_sz = part,
			       .chunk = any.chunk,
			       .fail_at = -1};
	if (!walks_alike(w) || !is_sound(w))
		abort();
}

#ifdef SAKER_LIBFUZZER

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	walk_anything(data, sz);
	return 0;
}

#else

static uint64_t seed = 88172645463325252ull;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Places of the stack and of code are more likely than chance has them. */
static void test_anything(void **state)
{
	static uint64_t data[512];

	(void)state;
	for (int n = 0; n < 30000; n++) {
		for (size_t i = 0; i < 512; i++) {
			const uint64_t v = rnd();

			data[i] = v % 4 == 0   ? 0x7ffc00000000 + (v >> 40) % 2048 * 8
				  : v % 4 == 1 ? 0x400000 + (v >> 40) % 4096
					       : v;
		}
		walk_anything((const uint8_t *)data, sizeof(data) - rnd() % 64);
	}
}

/* Random rows of the kinds that compilers make, over a stack with random addresses of code and of
 * the stack. */
static void test_any_plain_rows(void **state)
{
	static const u8 kinds[] = {UNWIND_RSP, UNWIND_RSP, UNWIND_RBP,
				   UNWIND_RBP | UNWIND_F_AT_RBP};
	struct unwind_row rows[16];
	struct user_walk *w = &walker;
	u32 n_frames = 0;

	(void)state;
	for (int n = 0; n < 20000; n++) {
		for (u32 i = 0; i < 16; i++)
			rows[i] = (struct unwind_row){.pc = i * 16,
						      .cfa = (u16)(rnd() % 6 + 1),
						      .kind = kinds[rnd() % 4],
						      .saved = (u8)(rnd() & 0x77)};
		make(w, rows, 16);
		for (u32 i = 0; i < 64; i++)
			made.stack[i] = rnd() % 4 ? CODE + rnd() % 256 : STACK + rnd() % 64 * 8;
		w->sp = STACK + 8 * 8; /* with room for what is saved below */
		w->max = rnd() % 2 ? 100 : rnd() % 4 + 1;
		w->bp = STACK + rnd() % 64 * 8;
		assert_true(walks_alike(w));
		assert_true(is_sound(w));
		n_frames += w->n;
	}
	assert_true(n_frames > 20000);
}

/* A real stack with a few words changed. */
static void test_damaged_stack(void **state)
{
	struct user_walk *w = &walker;
	volatile int done;

	(void)state;
	recurse(30, &done);
	for (int n = 0; n < 5000; n++) {
		uint64_t was[4], at[4];

		for (int i = 0; i < 4; i++) {
			at[i] = rnd() % (4096 / 8) * 8;
			memcpy(&was[i], kept.stack + at[i], 8);
			const uint64_t v = rnd() % 2 ? rnd() : kept.regs[UNWIND_RSP] + rnd() % 8192;

			memcpy(kept.stack + at[i], &v, 8);
		}
		begin_walk(w);
		assert_true(walks_alike(w));
		assert_true(is_sound(w));
		for (int i = 3; i >= 0; i--)
			memcpy(kept.stack + at[i], &was[i], 8);
	}
}

/* ---- stacks that were kept until their tables were there ---- */

static struct stack_copy copy;

/* The part of the stack that the driver copies, to the end of a page. */
static void make_copy(void)
{
	const uint64_t sp = kept.regs[UNWIND_RSP];
	uint64_t sz = kept.sz < STACK_COPY_MAX ? kept.sz : STACK_COPY_MAX;

	sz -= (sp + sz) & 4095;
	memset(&copy, 0, sizeof(copy));
	copy.boot_ns = boot_ns();
	copy.pid = (uint32_t)getpid();
	copy.ip = kept.ip;
	memcpy(copy.regs, kept.regs, sizeof(copy.regs));
	copy.at = sp & ~7ull;
	copy.max = STACK_USER_MAX;
	copy.sz = (uint32_t)sz & ~7u;
	memcpy(copy.stack, kept.stack + (copy.at - sp), copy.sz);
	assert_true(stack_copy_is_valid(&copy, sizeof(copy)));
}

static struct copy_walk *open_copies(void)
{
	struct copy_walk *c = copy_walk_new(pool);

	assert_non_null(c);
	return c;
}

static int is_sound_copy(const struct copy_frames *f)
{
	for (u32 i = 0; i < f->n; i++)
		if (!user_code(STACK_ADDR(f->v[i])))
			return 0;
	return f->n <= STACK_USER_MAX && f->end < STACK_END_MAX;
}

static void test_stack_copy(void **state)
{
	struct copy_walk *c = open_copies();
	struct copy_frames f;
	volatile int done;

	(void)state;
	recurse(20, &done);
	make_copy();
	assert_int_equal(copy_walk(c, &f, &copy, procs), 0);
	assert_true(is_sound_copy(&f));
	assert_true(f.n > 20);
	begin_walk(&walker);
	walk(&walker);
	/* The same as of the whole stack, as far as the piece goes. */
	assert_true(f.n <= walker.n);
	assert_memory_equal(f.v, walker.frames, f.n * sizeof(*f.v));
	assert_int_equal(f.end, f.n == walker.n ? STACK_END_ROOT : STACK_END_FAULT);
	copy.max = 7;
	assert_int_equal(copy_walk(c, &f, &copy, procs), 0);
	assert_int_equal(f.n, 7);
	assert_int_equal(f.end, STACK_END_DEPTH);
	copy_walk_free(c);
}

/* Every length of the piece: what is not there ends the walk, and is not taken for zeros. */
static void test_stack_copy_cut(void **state)
{
	struct copy_walk *c = open_copies();
	struct copy_frames f;
	u32 sz, last = 0;
	volatile int done;
	uint64_t end;

	(void)state;
	recurse(30, &done);
	make_copy();
	sz = copy.sz;
	assert_int_equal(copy_walk(c, &f, &copy, procs), 0);
	end = f.end;
	memcpy(walker.frames, f.v, f.n * sizeof(*f.v));
	walker.n = f.n;
	for (copy.sz = 0; copy.sz < sz; copy.sz += 8) {
		assert_int_equal(copy_walk(c, &f, &copy, procs), 0);
		assert_true(is_sound_copy(&f) && f.n >= last && f.n <= walker.n);
		assert_true(f.end == STACK_END_FAULT || (f.end == end && f.n == walker.n));
		assert_memory_equal(f.v, walker.frames, f.n * sizeof(*f.v));
		last = f.n;
	}
	copy_walk_free(c);
}

static void test_stack_copy_of_nobody(void **state)
{
	struct copy_walk *c = open_copies();
	struct copy_frames f;
	volatile int done;

	(void)state;
	recurse(3, &done);
	make_copy();
	copy.boot_ns = 1; /* before the process was read */
	assert_int_equal(copy_walk(c, &f, &copy, procs), -ESRCH);
	copy.boot_ns = boot_ns();
	copy.pid = 0x7ffffff0;
	assert_int_equal(copy_walk(c, &f, &copy, procs), -ENOENT);
	/* A driver sends no such thing. */
	assert_false(stack_copy_is_valid(&copy, offsetof(struct stack_copy, stack) - 1));
	assert_false(stack_copy_is_valid(&copy, offsetof(struct stack_copy, stack) + copy.sz - 1));
	copy.sz = UINT32_MAX;
	assert_false(stack_copy_is_valid(&copy, sizeof(copy)));
	copy_walk_free(c);
}

/* Registers and words of the stack that are none. */
static void test_stack_copy_garbage(void **state)
{
	struct copy_walk *c = open_copies();
	struct copy_frames f;
	volatile int done;

	(void)state;
	recurse(20, &done);
	for (int n = 0; n < 5000; n++) {
		make_copy();
		for (int i = 0; i < 4; i++) {
			const uint64_t v = rnd() % 2 ? rnd() : copy.at + rnd() % 8192 * 8;

			if (rnd() % 4 == 0)
				copy.regs[rnd() % STACK_COPY_REGS] = v;
			else
				memcpy(copy.stack + rnd() % 512 * 8, &v, 8);
		}
		if (rnd() % 16 == 0)
			copy.at = rnd();
		if (rnd() % 16 == 0)
			copy.max = (u32)rnd();
		assert_int_equal(copy_walk(c, &f, &copy, procs), 0);
		assert_true(is_sound_copy(&f));
	}
	copy_walk_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_aligned_stack),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_library_between),
		cmocka_unit_test(test_every_read_failing),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_each_row),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_late_rule),
		cmocka_unit_test(test_half_a_signal),
		cmocka_unit_test(test_interpreter),
		cmocka_unit_test(test_deep_script),
		cmocka_unit_test(test_due),
		cmocka_unit_test(test_probe),
		cmocka_unit_test(test_go_switch),
		cmocka_unit_test(test_frame_pointers),
		cmocka_unit_test(test_anything),
		cmocka_unit_test(test_any_plain_rows),
		cmocka_unit_test(test_damaged_stack),
		cmocka_unit_test(test_stack_copy),
		cmocka_unit_test(test_stack_copy_cut),
		cmocka_unit_test(test_stack_copy_of_nobody),
		cmocka_unit_test(test_stack_copy_garbage),
	};

	return cmocka_run_group_tests(tests, open_tables, close_tables);
}

#endif
