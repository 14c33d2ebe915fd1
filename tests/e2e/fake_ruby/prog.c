/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks like Ruby 3.3 to a walker, with frames that no interpreter has: fake_ruby WHAT. It runs
 *what looks like the loop for a while.
 *
 *	circle    thousands of frames, and none is the outermost one
 *	in_c      the same, of methods in C, which are no frames of the stack
 *	unmapped  the frame is not in memory
 *	code      the code of the frame is not in memory
 *	names     the label and the line table claim to have 2^60 bytes
 *	changing  another thread changes the frame, and its code, all the time
 */
#include <string.h>

#include "../fake_interpreter.h"

#define OUTERMOST 0x20
#define IN_C 0x80
#define FRAME_WORDS 7
#define N_FRAMES 16384

/* Offsets as in ruby.def and walk_ruby.bpf.h. */
PUBLIC const char ruby_version[] = "3.3.8";
static volatile uint64_t frames[N_FRAMES * FRAME_WORDS], iseq[4], body[32], label[4];
static uint64_t code[16], flags[1];
static uint64_t context[8];
static __thread uint64_t **ruby_current_ec;

PUBLIC __attribute__((noinline)) uint64_t rb_thread_current(void)
{
	return ((uint64_t *)ruby_current_ec[6])[2];
}

static void *change(void *arg)
{
	uint64_t i = 0;

	while (!stop) {
		set(frames, 32, ++i & 1 ? (uintptr_t)flags : 8);
		set(frames, 16, i & 2 ? (uintptr_t)iseq : i * 0x9e3779b97f4a7c15u);
		set(iseq, 16, i & 4 ? (uintptr_t)body : i * 0x9e3779b97f4a7c15u);
		set(body, 80, i & 8 ? (uintptr_t)label : i * 0x9e3779b97f4a7c15u);
	}
	return arg;
}

PUBLIC __attribute__((noinline)) int rb_vm_exec(const char *what)
{
	context[2] = strcmp(what, "unmapped") ? (uintptr_t)frames : 0x1000;
	return spin();
}

PUBLIC __attribute__((noinline)) int run(const char *what)
{
	return rb_vm_exec(what) + 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int r;

	ruby_current_ec = (uint64_t **)context;
	context[6] = (uintptr_t)body;
	rb_thread_current();
	flags[0] = strcmp(what, "in_c") ? strcmp(what, "circle") ? OUTERMOST : 0 : IN_C;
	for (size_t i = 0; i < N_FRAMES; i++) {
		set(frames, i * FRAME_WORDS * 8, (uintptr_t)(code + 1));
		set(frames, i * FRAME_WORDS * 8 + 16, (uintptr_t)iseq);
		set(frames, i * FRAME_WORDS * 8 + 32, (uintptr_t)flags);
	}
	set(iseq, 16, strcmp(what, "code") ? (uintptr_t)body : 0x1000);
	set(body, 0, 16ull << 32);
	set(body, 8, (uintptr_t)code);
	set(body, 64, (uintptr_t)label);
	set(body, 80, (uintptr_t)label);
	set(body, 112, (uintptr_t)label);
	set(body, 128, 0xffffffff);
	set(body, 136, (uintptr_t)label);
	set(label, 0, 5 | 1 << 13);
	set(label, 16, 1ull << 60);
	set(label, 24, (uintptr_t)label);
	if (begin_changes(what, change))
		return 2;
	r = run(what);
	end_changes();
	return !r;
}
