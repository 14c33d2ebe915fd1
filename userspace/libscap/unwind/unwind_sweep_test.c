/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the walker at every instruction: a program that records its own path is single-stepped,
 * through prologues and epilogues, linkage tables, the dynamic linker as it binds, signal handlers
 * and the library. At each step the walked stack is compared with the path; at each new place, with
 * libdw's result.
 */
#include "testing/test_main.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shared/user_walk.h"
#include "testing/dw_judge.h"
#include "unwind/known_path_test.h"
#include "unwind/unwind_procs.h"

#define STEPS_MAX 1000000
#define STACK_SZ 65536
#define PLACES (1u << 16) /* a power of two: addresses that have been judged */
#define SHOWN_MAX 5 /* differences */

struct sweep {
	pid_t pid;
	uint64_t path_at; /* in the program */
	struct unwind_pool *pool;
	struct unwind_files *files;
	struct unwind_procs *procs;
	struct unwind_process entry;
	struct dw_judge *judge;
	uint64_t places[PLACES];
	uint8_t stack[STACK_SZ];
	uint64_t n, n_places, n_judged, n_apart, n_wrong;
	uint64_t kinds[UNWIND_KIND_MAX]; /* steps by the rule that they are at */
};

static struct sweep sweep;

/* Reads the program's memory; the bytes that are there. */
static size_t read_memory(void *to, size_t sz, uint64_t addr)
{
	const struct iovec local = {to, sz}, remote = {(void *)(uintptr_t)addr, sz};
	const ssize_t n = process_vm_readv(sweep.pid, &local, 1, &remote, 1, 0);

	return n < 0 ? 0 : (size_t)n;
}

static int walk_fill(struct user_walk *w, u32 sz, u64 addr)
{
	return read_memory(w->window, sz, addr) == sz ? 0 : -1;
}

static const u64 *walk_chunk(const struct user_walk *w, u32 chunk)
{
	(void)w;
	return unwind_pool_chunk(sweep.pool, chunk);
}

static uint64_t boot_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- the program ---- */

static void wait_stop(int *status)
{
	assert_int_equal(waitpid(sweep.pid, status, __WALL), sweep.pid);
}

/* It has stopped itself with all its libraries loaded, and waits to be stepped. */
static void start(const char *prog)
{
	int fds[2], status;

	assert_int_equal(pipe(fds), 0);
	sweep.pid = fork();
	assert_true(sweep.pid >= 0);
	if (!sweep.pid) {
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		close(fds[1]);
		unsetenv("LD_BIND_NOW");
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(prog, prog, "once", (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	wait_stop(&status);
	assert_true(WIFSTOPPED(status));
	do {
		assert_int_equal(ptrace(PTRACE_CONT, sweep.pid, NULL, NULL), 0);
		wait_stop(&status);
		assert_true(WIFSTOPPED(status));
	} while (WSTOPSIG(status) != SIGSTOP);
	assert_int_equal(read(fds[0], &sweep.path_at, sizeof(sweep.path_at)),
			 sizeof(sweep.path_at));
	close(fds[0]);
}

static void open_tables(void)
{
	assert_int_equal(unwind_pool_new(&sweep.pool, -1, 64u << 20), 0);
	assert_int_equal(unwind_files_new(&sweep.files, sweep.pool), 0);
	assert_int_equal(unwind_procs_new(&sweep.procs, sweep.pool, sweep.files, -1), 0);
	assert_int_equal(unwind_procs_scan(sweep.procs, (uint32_t)sweep.pid, boot_ns()), 0);
	unwind_procs_publish(sweep.procs, boot_ns());
	assert_int_equal(unwind_procs_find(sweep.procs, &sweep.entry, (uint32_t)sweep.pid), 0);
	assert_int_equal(dw_judge_new(&sweep.judge), 0);
}

static int end(void **state)
{
	(void)state;
	if (sweep.pid > 0) {
		kill(sweep.pid, SIGKILL);
		waitpid(sweep.pid, NULL, __WALL);
	}
	dw_judge_free(sweep.judge);
	unwind_procs_free(sweep.procs);
	unwind_files_free(sweep.files);
	unwind_pool_free(sweep.pool);
	memset(&sweep, 0, sizeof(sweep));
	return 0;
}

/* ---- one instruction ---- */

static void walk(struct user_walk *w, const struct user_regs_struct *r)
{
	const uint64_t regs[WALK_REGS] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi,
					  r->rbp, r->rsp, r->r8,  r->r9,  r->r10, r->r11,
					  r->r12, r->r13, r->r14, r->r15};

	memset(w, 0, offsetof(struct user_walk, window));
	memcpy(w->regs, regs, sizeof(regs));
	w->known = 0xffff;
	w->ip = r->rip;
	w->sp = r->rsp;
	w->bp = r->rbp;
	w->max = SELFTEST_FRAMES;
	w->maps = sweep.entry.maps;
	w->n_maps = sweep.entry.n_maps;
	w->gen = sweep.entry.gen;
	if (walk_begin(w, NULL))
		return;
	sweep.kinds[RULE_KIND(w->rule) & UNWIND_KIND_MASK]++;
	for (u32 i = 0; i < SELFTEST_FRAMES && !walk_step(w, NULL); i++)
		;
}

static void put_wrong(const struct user_walk *w, const char *what, const uint64_t *want, size_t n)
{
	if (sweep.n_wrong++ >= SHOWN_MAX)
		return;
	fprintf(stderr, "%s; the stack ends with %u\n  found:", what, w->end);
	for (u32 i = 0; i < w->n; i++)
		fprintf(stderr, " %#" PRIx64, (uint64_t)STACK_ADDR(w->frames[i]));
	fprintf(stderr, "\n  known:");
	for (size_t i = 0; i < n; i++)
		fprintf(stderr, " %#" PRIx64, want[i]);
	fprintf(stderr, "\n");
}

static void check_path(const struct user_walk *w)
{
	struct known_path p;
	const char *wrong;

	assert_int_equal(read_memory(&p, sizeof(p), sweep.path_at), sizeof(p));
	if (p.unsure)
		return;
	wrong = known_path_check(&p, w->frames, w->n, w->end);
	if (wrong)
		put_wrong(w, wrong, p.ra, p.n);
}

/* 1: it has not been here before. */
static int is_new(uint64_t ip)
{
	uint32_t i = (uint32_t)(ip * 0x9e3779b97f4a7c15ull >> 48);

	while (sweep.places[i] && sweep.places[i] != ip)
		i = (i + 1) & (PLACES - 1);
	if (sweep.places[i] || sweep.n_places == PLACES / 2)
		return 0;
	sweep.places[i] = ip;
	sweep.n_places++;
	return 1;
}

static void check_libdw(const struct user_walk *w, const struct user_regs_struct *r)
{
	static struct dw_frames theirs;
	struct dual_sample s = {
		.pid = (uint32_t)sweep.pid,
		.tid = (uint32_t)sweep.pid,
		.regs = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp, r->r8,
			 r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15, r->rip},
		.stack = sweep.stack,
	};
	enum dw_ground ground;
	size_t same = 0;

	s.stack_sz = read_memory(sweep.stack, STACK_SZ, r->rsp);
	assert_int_equal(dw_judge_unwind(sweep.judge, &theirs, &s, 0), 0);
	while (same < w->n && same < theirs.n && STACK_ADDR(w->frames[same]) == theirs.v[same])
		same++;
	if (same == w->n && same == theirs.n && theirs.rooted) {
		sweep.n_judged++;
		return;
	}
	ground = dw_judge_ground(sweep.judge, same > 1 ? theirs.v[same - 1] - 1 : r->rip);
	if (dw_judge_is_late(sweep.judge, &s) || (same == theirs.n && !theirs.rooted) ||
	    (ground != DW_RULE && (ground != DW_REG || same > 1))) {
		sweep.n_apart++;
		return;
	}
	put_wrong(w, "libdw finds other frames", theirs.v, theirs.n);
}

static void step_through(void)
{
	static struct user_walk w;
	struct user_regs_struct r;
	int status, sig = 0;

	while (sweep.n < STEPS_MAX) {
		assert_int_equal(ptrace(PTRACE_SINGLESTEP, sweep.pid, NULL, (void *)(long)sig), 0);
		wait_stop(&status);
		if (WIFEXITED(status)) {
			sweep.pid = 0;
			assert_int_equal(WEXITSTATUS(status), 0);
			return;
		}
		assert_true(WIFSTOPPED(status));
		sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		assert_int_equal(ptrace(PTRACE_GETREGS, sweep.pid, NULL, &r), 0);
		walk(&w, &r);
		sweep.n++;
		check_path(&w);
		if (is_new(r.rip))
			check_libdw(&w, &r);
	}
}

static void judge(const char *name)
{
	char prog[4096];
	const ssize_t n = readlink("/proc/self/exe", prog, sizeof(prog) - 64);

	assert_true(n > 0);
	prog[n] = '\0';
	sprintf(strrchr(prog, '/'), "/known_path_%s", name);
	if (access(prog, X_OK))
		skip(); /* without that compiler */
	start(prog);
	open_tables();
	step_through();
	printf("%s: %" PRIu64 " instructions, %" PRIu64 " places; at %" PRIu64
	       " libdw finds the same, at %" PRIu64 " it is no judge; %" PRIu64 " wrong\n",
	       name, sweep.n, sweep.n_places, sweep.n_judged, sweep.n_apart, sweep.n_wrong);
	assert_int_equal(sweep.n_wrong, 0);
	assert_true(sweep.n < STEPS_MAX);
	assert_true(sweep.n_judged > 1000);
	assert_true(sweep.kinds[UNWIND_SIGNAL] > 0);
}

/* It passed through the linkage table, and the dynamic linker, whose CFA depends on rbx. */
static void expect_binding(void)
{
	assert_true(sweep.kinds[UNWIND_PLT] > 0);
	assert_true(sweep.kinds[UNWIND_RBX] > 0);
}

static void test_gcc(void **state)
{
	(void)state;
	judge("O2");
	expect_binding();
}

static void test_clang(void **state)
{
	(void)state;
	judge("clang");
	expect_binding();
}

static void test_static(void **state)
{
	(void)state;
	judge("static");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_gcc, end),
		cmocka_unit_test_teardown(test_clang, end),
		cmocka_unit_test_teardown(test_static, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
