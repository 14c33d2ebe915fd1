/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks like Lua 5.4 to a walker, with CallInfos that no interpreter has: fake_lua WHAT. It runs
 * what looks like the loop for a while. Built with BY_STATE the loop has the CallInfo in a
 * register that the walk does not restore, and its caller has the lua_State.
 *
 *	circle    a CallInfo is its own caller
 *	in_c      the same, of a function in C
 *	unmapped  the CallInfo is not in memory
 *	code      the prototype is not in memory
 *	names     the texts of the prototype claim to have 2^60 characters
 *	changing  another thread changes the CallInfo, and its function, all the time
 */
#include "../fake_interpreter.h"

#define FUNCTION 0x46
#define C_FUNCTION 0x16
#define PROTO 10
#define THREAD 8
#define LONG_STRING 0x14
#define FRESH 4

/* Offsets as in lua.def and walk_lua.bpf.h. */
PUBLIC const char lua_ident[] = "$LuaVersion: Lua 5.4.6 $";
static volatile uint64_t call[16], value[2], closure[4], proto[16], text[8], state[8];
static uint32_t code[16];

PUBLIC __attribute__((noinline)) int work(void)
{
	return spin();
}

/*
 * The loop: luaV_execute(state, call, closure). It has what a loop is found by: it saves the
 * instruction pointer in the CallInfo often, masks an operation, and is large. Its frame begins
 * with the closure, whose prototype it reads.
 */
#ifdef BY_STATE
#define CALL "%r12"
#else
#define CALL "%rbx"
#endif
__asm__(".text\n"
	".type luaV_execute, @function\n"
	"luaV_execute:\n"
	".cfi_startproc\n"
	"push %r12\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset 12, -16\n"
	"push %rbx\n"
	".cfi_def_cfa_offset 24\n"
	".cfi_offset 3, -24\n"
	"sub $24, %rsp\n"
	".cfi_def_cfa_offset 48\n"
	"mov %rdx, 8(%rsp)\n"
	"mov 0x18(%rdx), %rax\n"
	"mov %rsi, " CALL "\n"
	"call work\n"
	"add $24, %rsp\n"
	".cfi_def_cfa_offset 24\n"
	"pop %rbx\n"
	".cfi_def_cfa_offset 16\n"
	"pop %r12\n"
	".cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_def_cfa_offset 48\n"
	".rept 32\n"
	"mov %r14, 0x20(" CALL ")\n"
	"and $0x7f, %eax\n"
	".endr\n"
	".skip 4096, 0x90\n"
	".cfi_endproc\n"
	".size luaV_execute, . - luaV_execute\n");

/* run(state, call, closure): has the state in rbx when it calls the loop. */
__asm__(".globl run\n"
	".type run, @function\n"
	"run:\n"
	".cfi_startproc\n"
	"push %rbx\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset 3, -16\n"
	"mov %rdi, %rbx\n"
	"mov %rbx, %rdi\n"
	"call luaV_execute\n"
	"pop %rbx\n"
	".cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size run, . - run\n");
int run(const volatile void *state, const volatile void *call, const volatile void *closure);

static void *change(void *arg)
{
	uint64_t i = 0;

	while (!stop) {
		set(call, 16, ++i & 1 ? (uintptr_t)call : i * 0x9e3779b97f4a7c15u);
		set(call, 0, i & 2 ? (uintptr_t)value : 8);
		set(closure, 24, i & 4 ? (uintptr_t)proto : i * 0x9e3779b97f4a7c15u);
		set(proto, 112, i & 8 ? (uintptr_t)text : i * 0x9e3779b97f4a7c15u);
		set(proto, 24, i & 16 ? 16 : i * 0x9e3779b97f4a7c15u);
		set(state, 32, i & 32 ? (uintptr_t)call : i * 0x9e3779b97f4a7c15u);
	}
	return arg;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const int in_c = !strcmp(what, "in_c"), circle = in_c || !strcmp(what, "circle");
	const uint64_t first = strcmp(what, "unmapped") ? (uintptr_t)call : 0x1000;
	int r;

	set(state, 8, THREAD);
	set(state, 32, first);
	set(call, 0, (uintptr_t)value);
	set(call, 16, (uintptr_t)call);
	set(call, 32, (uintptr_t)(code + 1));
	set(call, 56, circle ? 0 : (uint64_t)FRESH << 48);
	set(value, 0, (uintptr_t)closure);
	set(value, 8, in_c ? C_FUNCTION : FUNCTION);
	set(closure, 24, strcmp(what, "code") ? (uintptr_t)proto : 0x1000);
	set(proto, 8, PROTO);
	set(proto, 24, sizeof(code) / sizeof(code[0]) | 1ull << 60);
	set(proto, 64, (uintptr_t)code);
	set(proto, 112, (uintptr_t)text);
	set(text, 8, LONG_STRING);
	set(text, 16, 1ull << 60);
	if (begin_changes(what, change))
		return 2;
	r = run(state, (void *)first, closure);
	end_changes();
	return !r;
}
