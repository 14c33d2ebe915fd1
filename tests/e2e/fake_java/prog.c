/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks like Java 17 to a walker, with code and tables that no compiler makes: fake_java WHAT. Its
 * compiled code calls a function that uses a CPU for a while.
 *
 *	function  a method, as it should be
 *	unmapped  the blob of the code is not in memory
 *	names     class and method claim to have 65,535 characters, which end before
 *	heaps     there are 2^32 heaps, not in memory behind the first one
 *	segments  each segment of the code belongs to the one before
 *	frame     the frame has 2^31 words
 *	points    the table of calls has 2^32 bytes
 *	scopes    methods inlined in each other without end
 *	loop      the code is the interpreter's, whose frame has anything
 *	changing  another thread changes the blob and the method all the time
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "../fake_interpreter.h"

#define HEAP_SZ 65536
#define SEGMENT_BITS 7
#define BLOB 16 /* behind the header of the block */
#define CODE 512
#define POINTS 1024
#define SCOPES 2048
#define METADATA 4096

struct field {
	const char *type, *name, *kind;
	uint64_t is_static, offset;
	const void *address;
};

struct type {
	const char *name, *super;
	uint64_t flags[2], sz;
};

/* Offsets as in java.def and java_places.bpf.h. */
static int32_t version = 17;
static uint64_t heap[40], *heap_of[1] = {heap}, array[2];
static uint64_t *heaps = array;
static const struct field fields[] = {
	{"Abstract_VM_Version", "_vm_major_version", "int", 1, 0, &version},
	{"CodeCache", "_heaps", "GrowableArray", 1, 0, &heaps},
	{0},
};
static const struct type of_17[] = {
	{"HeapBlock", 0, {0}, 16},   {"CodeBlob", 0, {0}, 104},    {"nmethod", 0, {0}, 352},
	{"ConstMethod", 0, {0}, 48}, {"ConstantPool", 0, {0}, 72}, {0},
};
PUBLIC const struct field *gHotSpotVMStructs = fields;
PUBLIC const struct type *gHotSpotVMTypes = of_17;

static volatile uint64_t method[4], const_method[16], constants[16], class[8], text[2];
static uint8_t segments[HEAP_SZ >> SEGMENT_BITS];
static uint8_t *code;

PUBLIC int JNI_CreateJavaVM(void)
{
	return 0;
}

static void put(size_t at, uint64_t to, size_t sz)
{
	memcpy(code + BLOB + at, &to, sz);
}

static void *change(void *arg)
{
	uint64_t i = 0;

	while (!stop) {
		const uint64_t any = ++i * 0x9e3779b97f4a7c15u;

		put(96, i & 1 ? (uintptr_t) "nmethod" : any, 8);
		put(28, i & 2 ? 2 : any >> 40, 4);
		put(268, i & 4 ? POINTS : any >> 32, 4);
		put(120, i & 8 ? (uintptr_t)code + SCOPES : any, 8);
		put(METADATA, i & 16 ? (uintptr_t)method : any, 8);
		set(method, 8, i & 32 ? (uintptr_t)const_method : any);
		set(const_method, 8, i & 64 ? (uintptr_t)constants : any);
	}
	return arg;
}

/* Makes a heap with a method, which has a point with a scope. */
static void make_heap(void)
{
	/* push rbp; mov rbp, rsp; call rdi; pop rbp; ret */
	static const uint8_t insns[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};

	code = mmap(NULL, HEAP_SZ, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	memset(segments, 1, sizeof(segments));
	segments[0] = 0;
	array[0] = 1 | 1ull << 32;
	array[1] = (uintptr_t)heap_of;
	heap[1] = heap[3] = (uintptr_t)code; /* VirtualSpace */
	heap[2] = heap[4] = (uintptr_t)code + HEAP_SZ;
	heap[136 / 8] = (uintptr_t)segments;
	heap[256 / 8] = SEGMENT_BITS;
	put(96, (uintptr_t) "nmethod", 8);
	put(32, (uintptr_t)code + CODE, 8);
	put(40, (uintptr_t)code + CODE + sizeof(insns), 8);
	put(28, 2, 4);
	put(20, UINT32_MAX, 4);
	put(112, (uintptr_t)method, 8);
	put(120, (uintptr_t)code + SCOPES, 8);
	put(260, METADATA, 4);
	put(268, POINTS, 4);
	put(272, POINTS + 32, 4);
	put(POINTS, 100 | 1ull << 32, 8);
	put(POINTS + 16, 0x7fffffff, 8);
	memcpy(code + CODE, insns, sizeof(insns));
	code[SCOPES + 2] = 1; /* the first of the metadata */
	put(METADATA, (uintptr_t)method, 8);
}

/* Symbols have their length, and then their text. */
static void make_method(void)
{
	set(method, 8, (uintptr_t)const_method);
	set(const_method, 8, (uintptr_t)constants);
	set(const_method, 32, 4 | 1 << 16); /* bytecodes; index of the name */
	set(constants, 24, (uintptr_t) class);
	set(class, 24, (uintptr_t)text);
	set(constants, 72 + 8, (uintptr_t)text);
	memcpy((void *)text, "\0\0\0\0\4\0fake", 10);
}

static int is(const char *what, const char *name)
{
	return !strcmp(what, name);
}

static void spoil(const char *what)
{
	if (is(what, "unmapped"))
		put(96, 0x1000, 8);
	if (is(what, "names"))
		memset((void *)text, 0xff, 6);
	if (is(what, "heaps"))
		array[0] = UINT32_MAX;
	if (is(what, "segments"))
		segments[0] = 1;
	if (is(what, "frame"))
		put(28, 0x7fffffff, 4);
	if (is(what, "points"))
		put(272, POINTS - 16, 4);
	if (is(what, "loop"))
		put(96, (uintptr_t) "Interpreter", 8);
	for (unsigned int i = 0; is(what, "scopes") && i < 150; i++) {
		code[SCOPES + 1 + 3 * i] = i ? (uint8_t)(3 * i - 2) : 0;
		code[SCOPES + 2 + 3 * i] = 1;
	}
	if (is(what, "scopes"))
		put(POINTS + 4, 1 + 3 * 60, 4);
}

PUBLIC __attribute__((noinline)) int work(void)
{
	return spin();
}

PUBLIC __attribute__((noinline)) int run(void)
{
	return ((int (*)(int (*)(void)))(uintptr_t)(code + CODE))(work) + 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int r;

	make_heap();
	make_method();
	spoil(what);
	if (begin_changes(what, change))
		return 2;
	r = run();
	end_changes();
	return !r;
}
