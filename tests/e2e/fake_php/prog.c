/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks like PHP 8.2 to a walker, with frames that no interpreter has: fake_php WHAT. It runs what
 * looks like the loop for a while.
 *
 *	circle    a frame is its own caller
 *	in_c      the same, of a function in C, which is no frame of the stack
 *	unmapped  the frame is not in memory
 *	function  the function is not in memory
 *	names     the texts of the function claim to have 2^60 characters
 *	changing  another thread changes the frame, and its function, all the time
 */
#include <stdio.h>

#include "../fake_interpreter.h"

#define OUTERMOST (1u << 17)

/* Offsets as in php.def. */
PUBLIC uint64_t executor_globals[225];
PUBLIC void *zend_execute_ex;
static uint64_t code[16], text[8], type[4];
static volatile uint64_t frame[16], function[32];

static void *change(void *arg)
{
	uint64_t i = 0;

	while (!stop) {
		set(frame, 48, ++i & 1 ? (uintptr_t)frame : 0);
		set(frame, 24, i & 2 ? (uintptr_t)function : 8);
		set(function, 8, i & 4 ? (uintptr_t)text : i * 0x9e3779b97f4a7c15u);
		set(function, 80, i * 0x9e3779b97f4a7c15u);
	}
	return arg;
}

PUBLIC __attribute__((noinline)) int execute_ex(const char *what)
{
	set(executor_globals, 488, strcmp(what, "unmapped") ? (uintptr_t)frame : 0x1000);
	return spin();
}

PUBLIC __attribute__((noinline)) int run(const char *what)
{
	return execute_ex(what) + 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int r;

	puts("X-Powered-By: PHP/8.2.0");
	set(frame, 0, (uintptr_t)code);
	set(frame, 24, (uintptr_t)function);
	set(frame, 40, strcmp(what, "circle") && strcmp(what, "in_c") ? OUTERMOST : 0);
	set(frame, 48, (uintptr_t)frame);
	set(function, 0, strcmp(what, "in_c") ? 2 : 1);
	set(function, 8, (uintptr_t)text);
	set(function, 16, (uintptr_t)type);
	set(function, 80, 4);
	set(function, 88, (uintptr_t)code);
	set(function, 152, (uintptr_t)text);
	type[1] = (uintptr_t)text;
	text[2] = 1ull << 60;
	if (!strcmp(what, "function"))
		set(frame, 24, 0x1000);
	if (begin_changes(what, change))
		return 2;
	r = run(what);
	end_changes();
	return !r;
}
