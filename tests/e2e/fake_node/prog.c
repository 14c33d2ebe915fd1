/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks like Node.js 18 to a walker, with objects that V8 never makes: fake_node WHAT. What looks
 * like a builtin of V8 calls a function that uses a CPU for a while.
 *
 *	function   a function, as it should be
 *	unmapped   the function is not in memory
 *	shared     its SharedFunctionInfo is not in memory
 *	names      name, file and source claim to have 2^32 characters
 *	strings    each string refers to itself
 *	positions  the table of positions claims to have 2^32 bytes, of numbers that do not end
 *	lines      the table of lines claims to have 2^32 entries
 *	compiled   code that is no file's, with nothing of V8 before it
 *	objects    the same, with objects before it that may have the instructions, but do not
 *	changing   another thread changes all objects all the time
 */
#include <string.h>
#include <sys/mman.h>

#include "../fake_interpreter.h"

#define NAMED(name) __asm__(name) __attribute__((visibility("default"), used))
#define CODE_SZ (256 << 10)
#define STUB_SZ 64
#define HUGE (0xffffffffull << 32) /* as V8 has numbers */

/* What detection compares with node.def. */
int32_t major NAMED("_ZN2v88internal7Version6major_E") = 10;
int32_t minor NAMED("_ZN2v88internal7Version6minor_E") = 2;
int32_t tagged_size NAMED("v8dbg_TaggedSize") = 8;
int32_t function_type NAMED("v8dbg_type_JSFunction__JS_FUNCTION_TYPE") = 2065;
int32_t shared_type NAMED("v8dbg_type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE") = 257;
int32_t exit_type NAMED("v8dbg_frametype_BuiltinExitFrame") = 22;
uint32_t code_sz NAMED("v8_Default_embedded_blob_code_size_") = STUB_SZ;
uint8_t sizes[3][256] NAMED("_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE") = {{1}};

/* A frame with five words, which calls a function. */
int stub(int (*fn)(void), const volatile uint64_t *words)
	NAMED("v8_Default_embedded_blob_code_data_");
__asm__(".text\n"
	".globl v8_Default_embedded_blob_code_data_\n"
	".type v8_Default_embedded_blob_code_data_, @function\n"
	"v8_Default_embedded_blob_code_data_:\n"
	"push %rbp; mov %rsp, %rbp\n"
	"push (%rsi); push 8(%rsi); push 16(%rsi); push 24(%rsi); push 32(%rsi)\n"
	"sub $8, %rsp; call *%rdi; leave; ret\n"
	".size v8_Default_embedded_blob_code_data_, . - v8_Default_embedded_blob_code_data_\n"
	".fill 64, 1, 0x90\n");

enum {
	FUNCTION,
	SHARED,
	SCRIPT,
	STRING,
	SOURCE,
	BYTECODES,
	TABLE,
	LINES,
	MAPS,
	N_OBJECTS = 2 * MAPS
};
static volatile uint64_t objects[N_OBJECTS][16];
static volatile uint64_t words[5];
static uint8_t *code;

static uint64_t tagged(unsigned int object)
{
	return (uintptr_t)objects[object] + 1;
}

static uint64_t number(uint64_t n)
{
	return n << 32;
}

static void make(unsigned int object, uint64_t type)
{
	set(objects[MAPS + object], 8, type << 32);
	set(objects[object], 0, tagged(MAPS + object));
}

/* Types and offsets as in node.def and node_objects.bpf.h. */
static void make_objects(void)
{
	make(FUNCTION, 2065);
	set(objects[FUNCTION], 24, tagged(SHARED));
	make(SHARED, 257);
	set(objects[SHARED], 8, tagged(BYTECODES));
	set(objects[SHARED], 16, tagged(STRING));
	set(objects[SHARED], 32, tagged(SCRIPT));
	make(SCRIPT, 170);
	set(objects[SCRIPT], 8, tagged(SOURCE));
	set(objects[SCRIPT], 16, tagged(STRING));
	set(objects[SCRIPT], 64, number(1));
	make(STRING, 8);
	set(objects[STRING], 8, 4ull << 32);
	memcpy((void *)&objects[STRING][2], "fake", 4);
	make(SOURCE, 8);
	set(objects[SOURCE], 8, 64ull << 32);
	make(BYTECODES, 195);
	set(objects[BYTECODES], 32, tagged(TABLE));
	make(TABLE, 194);
	set(objects[TABLE], 8, number(2));
	make(LINES, 179);
	words[0] = tagged(SCRIPT); /* a context, in V8 */
	words[2] = number(1);
	words[1] = tagged(FUNCTION);
	words[3] = tagged(BYTECODES);
	words[4] = number(60);
}

static void *change(void *arg)
{
	uint64_t i = 0;

	while (!stop) {
		const uint64_t any = ++i * 0x9e3779b97f4a7c15u;

		set(objects[FUNCTION], 24, i & 1 ? tagged(SHARED) : any | 1);
		set(objects[SHARED], 16, i & 2 ? tagged(STRING) : any | 1);
		set(objects[SHARED], 32, i & 4 ? tagged(SCRIPT) : tagged(STRING));
		set(objects[STRING], 8, any);
		set(objects[BYTECODES], 32, i & 8 ? tagged(TABLE) : any | 1);
		set(objects[TABLE], 8, any);
		set(objects[SCRIPT], 0, i & 16 ? tagged(MAPS + SCRIPT) : any);
	}
	return arg;
}

static int is(const char *what, const char *name)
{
	return !strcmp(what, name);
}

static void spoil(const char *what)
{
	if (is(what, "unmapped"))
		words[1] = 0x1001;
	if (is(what, "shared"))
		set(objects[FUNCTION], 24, 0x1001);
	if (is(what, "names")) {
		set(objects[STRING], 8, HUGE);
		set(objects[SOURCE], 8, HUGE);
	}
	if (is(what, "strings")) {
		make(STRING, 5); /* refers to another one */
		make(SOURCE, 5);
		set(objects[STRING], 16, tagged(STRING));
		set(objects[SOURCE], 16, tagged(SOURCE));
	}
	if (is(what, "positions")) {
		set(objects[TABLE], 8, HUGE);
		memset((void *)&objects[TABLE][2], 0x80, 64);
	}
	if (is(what, "lines")) {
		set(objects[LINES], 8, HUGE);
		set(objects[SCRIPT], 56, tagged(LINES));
	}
}

/* Copies the stub to memory without a file. */
static int copy_code(const char *what)
{
	code = mmap(NULL, CODE_SZ, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (code == MAP_FAILED)
		return -1;
	for (size_t i = 0; is(what, "objects") && i < CODE_SZ; i += 8)
		*(uint64_t *)(code + i) = tagged(TABLE);
	memcpy(code + CODE_SZ / 2, (const void *)(uintptr_t)stub, STUB_SZ);
	return 0;
}

PUBLIC __attribute__((noinline)) int work(void)
{
	return spin();
}

PUBLIC __attribute__((noinline)) int run(const char *what)
{
	if (is(what, "compiled") || is(what, "objects"))
		return ((__typeof__(&stub))(uintptr_t)(code + CODE_SZ / 2))(work, words) + 1;
	return stub(work, words) + 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int r;

	make_objects();
	spoil(what);
	if (copy_code(what) || begin_changes(what, change))
		return 2;
	r = run(what);
	end_changes();
	return !r;
}
