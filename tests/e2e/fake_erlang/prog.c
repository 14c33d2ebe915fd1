/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks like Erlang/OTP 25 to a walker, with tables and stacks that no runtime has: fake_erlang
 * WHAT. The loop of a scheduler for functions in C uses a CPU for a while.
 *
 *	function   a function on the stack, as it should be
 *	circle     nothing but return addresses on the stack
 *	unmapped   the process is not in memory
 *	modules    there are 2^19 modules, not in memory behind the first one
 *	functions  the module has 2^60 functions
 *	lines      the table of lines is not in memory
 *	files      the name of the file is a list in a circle
 *	changing   another thread changes the stack and all tables all the time
 */
#include <string.h>

#include "../fake_interpreter.h"

#define NAMED(name) __asm__(name) __attribute__((visibility("default"), used))
#define N_WORDS 9000 /* of the stack: more than 64 KiB */

/* Offsets as in beam.def and walk_beam.bpf.h. */
PUBLIC const char etp_otp_release[] = "25";
PUBLIC const uint32_t etp_beamasm = 1;
PUBLIC uint32_t the_active_code_index;
PUBLIC uint64_t erts_atom_table[32];
uint32_t fake_key NAMED("fake_key");
static volatile uint64_t ranges[3][4], modules[2], code[64], function[8], lines[8], location[2];
static volatile uint64_t scheduler[32], process[32], stack[N_WORDS], list[2], names[1];

PUBLIC __attribute__((noinline)) const volatile void *erts_start_staging_ranges(void)
{
	return ranges;
}

__asm__(".text\n"
	".globl erts_get_scheduler_data\n"
	".type erts_get_scheduler_data, @function\n"
	"erts_get_scheduler_data: mov fake_key(%rip), %edi; jmp pthread_getspecific@PLT\n"
	".size erts_get_scheduler_data, . - erts_get_scheduler_data\n");

static int is(const char *what, const char *name)
{
	return !strcmp(what, name);
}

/* Makes a module with a function, which has one line. */
static void make_module(void)
{
	set(ranges[0], 0, (uintptr_t)modules);
	set(ranges[0], 8, 1);
	modules[0] = (uintptr_t)code;
	modules[1] = (uintptr_t)(code + 64);
	set(code, 0, 1);
	set(code, 72, (uintptr_t)lines);
	set(code, 96, (uintptr_t)function);
	set(code, 104, (uintptr_t)(code + 64));
	set(function, 32, 1);
	set(lines, 0, (uintptr_t)names);
	set(lines, 8, 2);
	set(lines, 16, (uintptr_t)location);
	set(lines, 24, (uintptr_t)(lines + 5));
	set(lines, 32, (uintptr_t)(lines + 6));
	set(lines, 40, (uintptr_t)function);
	location[0] = 7; /* line 7 of file 0 */
	names[0] = (uintptr_t)list + 1;
	list[0] = 'f' << 4 | 15;
	list[1] = (uintptr_t)list + 1;
	code[12] = (uintptr_t)(code + 14); /* where the function begins */
	set(code, 14 * 8 + 16, 11); /* module, function, arity */
	set(code, 14 * 8 + 32, 0);
}

static void make_stack(const char *what)
{
	set(scheduler, 168, (uintptr_t)process);
	set(process, 88, (uintptr_t)(stack + 8));
	set(process, 128, (uintptr_t)stack);
	set(process, 136, (uintptr_t)(stack + N_WORDS));
	for (size_t i = 0; i < N_WORDS; i++)
		stack[i] = is(what, "circle") ? (uintptr_t)(code + 20) : 15;
	stack[10] = (uintptr_t)(code + 20);
}

static void *change(void *arg)
{
	uint64_t i = 0;

	while (!stop) {
		const uint64_t any = ++i * 0x9e3779b97f4a7c15u;

		set(process, 88, i & 1 ? (uintptr_t)(stack + 8) : any);
		stack[12] = i & 2 ? (uintptr_t)(code + 20) + (any & 0xf8) : any;
		set(code, 0, i & 4 ? 1 : any);
		set(code, 72, i & 8 ? (uintptr_t)lines : any);
		set(lines, 16, i & 16 ? (uintptr_t)location : any);
		set(ranges[0], 0, i & 32 ? (uintptr_t)modules : any);
		location[0] = any;
	}
	return arg;
}

static void spoil(const char *what)
{
	if (is(what, "unmapped"))
		set(scheduler, 168, 0x1000);
	if (is(what, "modules"))
		set(ranges[0], 8, 1 << 19);
	if (is(what, "functions"))
		set(code, 0, 1ull << 60);
	if (is(what, "lines"))
		set(code, 72, 0x1000);
	if (!is(what, "files"))
		list[1] = 0xfffffffb; /* the end */
}

PUBLIC __attribute__((noinline)) int erts_dirty_process_main(void)
{
	return spin();
}

PUBLIC __attribute__((noinline)) int run(void)
{
	return erts_dirty_process_main() + 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	pthread_key_t key;
	int r;

	make_module();
	make_stack(what);
	spoil(what);
	if (pthread_key_create(&key, NULL) || pthread_setspecific(key, (void *)scheduler) ||
	    begin_changes(what, change))
		return 2;
	fake_key = key;
	r = run();
	end_changes();
	return !r;
}
