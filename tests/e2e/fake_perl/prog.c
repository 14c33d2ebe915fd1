/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks like Perl 5.36 to a walker, with contexts that no interpreter has: fake_perl WHAT. It runs
 * what looks like the loop for a while.
 *
 *	circle    thousands of subroutines, and none is the outermost one
 *	in_c      the same, of blocks, which are no frames of the stack
 *	stacks    a stack of contexts is its own caller, and has none
 *	left      each subroutine is the outermost one of an activation, of which there is but one
 *	unmapped  the stack of contexts is not in memory
 *	code      the subroutines are not in memory
 *	names     the name of the subroutine claims to have 2^31 - 1 characters
 *	key       the key of the interpreter is out of range
 *	changing  another thread changes contexts and the subroutine all the time
 */
#include "../fake_interpreter.h"

#define BLOCK 2
#define SUB 9
#define SORT 2
#define NAMED 0x8000
#define CONTEXT_WORDS 13
#define N_CONTEXTS 16384

/* Offsets as in perl.def. */
PUBLIC const unsigned char PL_version = 36;
PUBLIC pthread_key_t PL_thr_key;
static uint64_t perl[226], cop[16], file[4];
static volatile uint64_t info[8], contexts[N_CONTEXTS * CONTEXT_WORDS], cv[4], body[16], name[4];

static void *change(void *arg)
{
	uint64_t i = 0;

	while (!stop) {
		const size_t at = (N_CONTEXTS - 1) * CONTEXT_WORDS * 8;

		set(contexts, at + 72, ++i & 1 ? (uintptr_t)cv : i * 0x9e3779b97f4a7c15u);
		set(contexts, at + 16, i & 2 ? (uintptr_t)cop : 8);
		set(info, 32, i & 4 ? N_CONTEXTS - 1 : i * 0x9e3779b97f4a7c15u);
		set(cv, 0, i & 8 ? (uintptr_t)body : i * 0x9e3779b97f4a7c15u);
		set(body, 56, i & 16 ? (uintptr_t)name : i * 0x9e3779b97f4a7c15u);
	}
	return arg;
}

PUBLIC __attribute__((noinline)) int Perl_runops_standard(const char *what)
{
	set(perl, 224, strcmp(what, "unmapped") ? (uintptr_t)info : 0x1000);
	return spin();
}

PUBLIC __attribute__((noinline)) int run(const char *what)
{
	return Perl_runops_standard(what) + 1;
}

static void make_contexts(const char *what)
{
	const int goes_on = !strcmp(what, "circle") || !strcmp(what, "in_c");

	for (size_t i = 0; i < N_CONTEXTS; i++) {
		const size_t at = i * CONTEXT_WORDS * 8;

		set(contexts, at, strcmp(what, "in_c") ? SUB : BLOCK);
		set(contexts, at + 16, (uintptr_t)cop);
		set(contexts, at + 48, goes_on ? (uintptr_t)cop : 0);
		set(contexts, at + 72, strcmp(what, "code") ? (uintptr_t)cv : 0x1000);
	}
	set(info, 8, (uintptr_t)contexts);
	set(info, 16, (uintptr_t)info);
	set(info, 32, strcmp(what, "stacks") ? N_CONTEXTS - 1 : UINT32_MAX);
	set(info, 40, (uint64_t)SORT << 32);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int r;

	if (pthread_key_create(&PL_thr_key, NULL) || pthread_setspecific(PL_thr_key, perl))
		return 2;
	set(perl, 208, (uintptr_t)cop);
	set(cop, 48, (uintptr_t)file);
	set(cv, 0, (uintptr_t)body);
	set(body, 56, (uintptr_t)name);
	set(body, 88, (uint64_t)NAMED << 32);
	set(name, 0, (strcmp(what, "names") ? 1ull : INT32_MAX) << 32);
	set(name, 8, 'f');
	make_contexts(what);
	if (!strcmp(what, "key"))
		PL_thr_key = UINT32_MAX;
	if (begin_changes(what, change))
		return 2;
	r = run(what);
	end_changes();
	return !r;
}
