/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with Lua in it whose stack is in pages that leave the process before it waits, and that
 * waits as a child of vfork, and for threads of the kernel. Runs the script that is its first
 * argument.
 */
#define _GNU_SOURCE
#include <err.h>
#include <lauxlib.h>
#include <linux/membarrier.h>
#include <lua.h>
#include <lualib.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_SZ (1u << 20)
#define PAGE 4096ul
#define NAP_NS 20000000

static uint8_t *stack; /* shared memory: a page that leaves the process stays in the page cache */
static const char *script;

static void nap(void)
{
	const struct timespec ts = {.tv_nsec = NAP_NS};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

/* through(f): calls f below a frame that fills a page. */
static int through(lua_State *L)
{
	volatile uint8_t room[PAGE];

	room[0] = 1;
	lua_call(L, 0, 0);
	return room[0] - 1;
}

/* Waits after the pages of the outer frames have left. */
static int paged_nap(lua_State *L)
{
	const uintptr_t here = ((uintptr_t)__builtin_frame_address(0) & ~(PAGE - 1)) + PAGE;

	(void)L;
	if (madvise((void *)here, (uintptr_t)stack + STACK_SZ - here, MADV_DONTNEED))
		err(1, "madvise");
	nap();
	return 0;
}

/* child_naps(n): a child of vfork waits n times. */
static int child_naps(lua_State *L)
{
	const lua_Integer n = luaL_checkinteger(L, 1);
	const pid_t pid = vfork();

	if (pid < 0)
		err(1, "vfork");
	if (!pid) {
		for (lua_Integer i = 0; i < n; i++)
			nap();
		_exit(0);
	}
	if (waitpid(pid, NULL, 0) != pid)
		err(1, "waitpid");
	return 0;
}

/* Waits until threads of the kernel, which have no memory of a process, have run. */
static int kernel_nap(lua_State *L)
{
	(void)L;
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		err(1, "membarrier");
	return 0;
}

static int pause_between(lua_State *L)
{
	(void)L;
	nap();
	return 0;
}

static void run(void)
{
	lua_State *L = luaL_newstate();

	luaL_openlibs(L);
	lua_register(L, "through", through);
	lua_register(L, "paged_nap", paged_nap);
	lua_register(L, "child_naps", child_naps);
	lua_register(L, "kernel_nap", kernel_nap);
	lua_register(L, "pause", pause_between);
	if (luaL_dofile(L, script))
		errx(1, "%s", lua_tostring(L, -1));
	lua_close(L);
}

int main(int argc, char **argv)
{
	ucontext_t here, there;

	if (argc != 2)
		errx(1, "usage: lua_paged SCRIPT");
	script = argv[1];
	stack = mmap(NULL, STACK_SZ, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED || getcontext(&there))
		err(1, "no stack");
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = STACK_SZ;
	there.uc_link = &here;
	makecontext(&there, run, 0);
	return swapcontext(&here, &there) ? 1 : 0;
}
