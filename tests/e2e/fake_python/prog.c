/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks like CPython 3.11 to a walker, with frames that no interpreter has: fake_python WHAT. It
 * runs what looks like the loop for a while.
 *
 *	circle    a frame is its own caller
 *	unmapped  the frame is not in memory
 *	code      the code object is not in memory
 *	changing  another thread changes the frame, and its code object, all the time
 *	names     the texts of the code object claim to have 2^60 characters
 *	key       the key of the thread's state is out of range
 */
#include "../fake_interpreter.h"

PUBLIC uint32_t Py_Version = 0x030b00f0;
PUBLIC uint64_t _PyRuntime[512];

/* What a type object has of the offsets in python.def: its size, and the members of code objects.
 */
static const struct {
	const char *name;
	uint64_t type, offset, flags, doc;
} members[] = {{"co_argcount", 0, 56, 0, 0},
	       {"co_flags", 0, 48, 0, 0},
	       {"co_firstlineno", 0, 72, 0, 0},
	       {"co_filename", 0, 112, 0, 0},
	       {"co_qualname", 0, 128, 0, 0},
	       {"co_linetable", 0, 136, 0, 0},
	       {0}};
PUBLIC struct {
	uint64_t head[4], size, more[25];
	const void *members;
} PyCode_Type = {.size = 184, .members = members}, PyFrame_Type = {.size = 120};

/* Offsets as in python.def. */
static uint64_t state[64], code[64], text[64];
static volatile uint64_t frame[32];

static void *change(void *arg)
{
	uint64_t i = 0;

	while (!stop) {
		set(frame, 48, ++i & 1 ? (uintptr_t)frame : 0);
		set(frame, 32, i & 2 ? (uintptr_t)code : 8);
		set(code, 128, i & 4 ? (uintptr_t)text : i * 0x9e3779b97f4a7c15u);
	}
	return arg;
}

PUBLIC __attribute__((noinline)) int _PyEval_EvalFrameDefault(const char *what)
{
	volatile uint64_t activation[3] = {0, (uintptr_t)frame, 0};

	set(state, 56, (uintptr_t)activation);
	if (!strcmp(what, "unmapped"))
		activation[1] = 0x1000;
	return spin();
}

PUBLIC __attribute__((noinline)) int run(const char *what)
{
	return _PyEval_EvalFrameDefault(what) + 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pthread_key_t key;
	int r;

	if (pthread_key_create(&key, NULL) || pthread_setspecific(key, state))
		return 2;
	_PyRuntime[592 / 8] = 1 | (uint64_t)key << 32;
	set(frame, 32, (uintptr_t)code);
	set(frame, 48, !strcmp(what, "circle") ? (uintptr_t)frame : 0);
	set(frame, 56, (uintptr_t)code + 184);
	set(code, 112, (uintptr_t)text);
	set(code, 128, (uintptr_t)text);
	set(code, 136, (uintptr_t)text);
	set(text, 16, 1ull << 60);
	set(text, 32, 4 << 2 | 0x20);
	if (!strcmp(what, "code"))
		set(frame, 32, 0x1000);
	if (!strcmp(what, "key"))
		_PyRuntime[592 / 8] = 1 | 0xffffffffull << 32;
	if (begin_changes(what, change))
		return 2;
	r = run(what);
	end_changes();
	return !r;
}
