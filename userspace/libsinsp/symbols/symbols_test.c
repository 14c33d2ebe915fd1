/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the frames of samples, and what a file gets of them, on the fake source. */
#include "symbols.h"

#include <stdio.h>
#include <string.h>

#include "event/event_table.h"
#include "shared/stack.h"
#include "symbol_cache.h"
#include "symbol_event.h"
#include "testing/engine_fake.h"
#include "testing/test_main.h"

enum { PID = 4242, INO = 77, DEV = 0x801 };

#define K(n) (0xffffffff81000000ull + (n)*0x1000ull) /* in the kernel's function @n */
#define U(n) (0x400000ull + (n)*0x100ull) /* in the program's function @n */
#define JIT_AT 0x7f0000001000ull

/* The stack of a thread that leaves the CPU, as a BPF program on sched_switch has it. */
static const char *const names[] = {
	"bpf_prog_1234_sched_switch",
	"bpf_trace_run4",
	"__traceiter_sched_switch",
	"__schedule",
	"schedule",
	"do_nanosleep",
	"do_syscall_64",
	"entry_SYSCALL_64",
	"nap", /* from here on the program's */
	"main",
};

enum { N_SAMPLER = 3, N_KERNEL = 8, N_USER = 2, N_ALL = N_KERNEL + N_USER };

static uint64_t now = 1000000;

static void add_symbol(struct scap_fake *f, const struct symbol_row *t)
{
	char path[64], module[64], name[64];

	snprintf(path, sizeof(path), "%.*s", (int)t->path.len, (const char *)t->path.p);
	snprintf(module, sizeof(module), "%.*s", (int)t->module.len, (const char *)t->module.p);
	snprintf(name, sizeof(name), "%.*s", (int)t->name.len, (const char *)t->name.p);
	assert_int_equal(scap_fake_add(f, now += 1000, 0, -1, EVT_SYMBOL_E, 13, (uint64_t)t->of,
				       t->pid, (uint64_t)t->id.dev, t->id.ino, t->id.ino_gen,
				       (const void *)t->id.build_id, (size_t)t->id.build_id_len,
				       path, t->place, t->addr, t->begin, module, name,
				       (const void *)t->lines.p, (size_t)t->lines.len),
			 0);
}

static struct scap_param text(const char *s)
{
	return (struct scap_param){(const uint8_t *)s, s ? (uint32_t)strlen(s) : 0};
}

static void add_map(struct scap_fake *f)
{
	assert_int_equal(scap_fake_add(f, now += 1000, 0, PID, EVT_MAP_E, 10, (uint64_t)PID, U(0),
				       (uint64_t)0x1000, (uint64_t)0, (uint64_t)5, (uint64_t)DEV,
				       (uint64_t)INO, (uint64_t)0, "/nowhere/prog", "", (size_t)0),
			 0);
}

/* Symbols of the kernel's and of the program's functions from @first on; a line of source for each.
 */
static void add_names_from(struct scap_fake *f, unsigned int first)
{
	char lines[64];

	for (unsigned int i = first; i < N_ALL; i++) {
		const unsigned int u = i - N_KERNEL;
		const int is_user = i >= N_KERNEL;
		const uint64_t exact = i == 0 || u == 0;
		struct symbol_row t = {
			.of = is_user ? SYMBOL_OF_FILE : SYMBOL_OF_KERNEL,
			.place = (is_user ? U(u) - U(0) : K(i)) + 0x10 - !exact,
			.addr = (is_user ? U(u) : K(i)) + 0x10 - !exact,
			.begin = is_user ? U(u) - U(0) : K(i),
			.module = text(is_user ? NULL : "[kernel]"),
			.name = text(names[i]),
		};

		snprintf(lines, sizeof(lines), "%s\t%s.c\t%u\n", names[i], names[i], i + 1);
		t.lines = text(lines);
		if (is_user) {
			t.id.ino = INO;
			t.id.dev = DEV;
		}
		add_symbol(f, &t);
	}
}

static void add_names(struct scap_fake *f)
{
	add_names_from(f, 0);
}

static void add_sample(struct scap_fake *f, unsigned int n_kernel, int with_jit)
{
	uint64_t kernel[N_KERNEL], user[N_USER + 1];
	unsigned int n_user = 0;

	for (unsigned int i = 0; i < n_kernel; i++)
		kernel[i] = K(i) + 0x10;
	for (unsigned int i = 0; i < N_USER; i++)
		user[n_user++] = U(i) + 0x10;
	user[0] |= STACK_EXACT;
	if (with_jit)
		user[n_user++] = JIT_AT + 0x10;
	assert_int_equal(scap_fake_add(f, now += 1000, 0, PID, EVT_SAMPLE_E, 6, (uint64_t)2,
				       (uint64_t)1000, (uint64_t)PID, "prog", (const void *)kernel,
				       (size_t)n_kernel * 8, (const void *)user,
				       (size_t)n_user * 8),
			 0);
}

/* Up to the first sample. */
static struct sinsp *open_at_sample(struct scap_fake *f, struct sinsp_evt *evt)
{
	struct scap *src;
	struct sinsp *s;

	assert_int_equal(scap_fake_open(&src, f), 0);
	assert_int_equal(sinsp_open(&s, src, NULL), 0);
	do
		assert_int_equal(sinsp_next(s, evt, 0), 1);
	while (evt->raw.type != EVT_SAMPLE_E);
	return s;
}

static void assert_whole_stack(struct sinsp *s, const struct sinsp_evt *evt, int lines)
{
	const struct sinsp_stack *st;

	assert_int_equal(sinsp_stack_get(s, evt, lines, &st), 0);
	assert_int_equal(st->n_kernel, N_KERNEL - N_SAMPLER);
	assert_int_equal(st->n, N_ALL - N_SAMPLER);
	for (unsigned int i = 0; i < st->n; i++) {
		const unsigned int k = i + N_SAMPLER;
		char file[64];

		assert_string_equal(st->frames[i].function, names[k]);
		if (!lines)
			continue;
		snprintf(file, sizeof(file), "%s.c", names[k]);
		assert_string_equal(st->frames[i].file, file);
		assert_int_equal(st->frames[i].line, k + 1);
	}
}

/* The frames of the sampler itself are no part of the stack; each other frame has its own lines. */
static void test_sampler_left_out(void **state)
{
	struct scap_fake *f = scap_fake_new();
	struct sinsp_evt evt;
	struct sinsp *s;

	(void)state;
	add_names(f);
	add_map(f);
	add_sample(f, N_KERNEL, 0);
	s = open_at_sample(f, &evt);
	assert_whole_stack(s, &evt, 0);
	assert_whole_stack(s, &evt, 1);
	sinsp_close(s);
}

/* Names of the kernel that were read after the sampler's programs had gone. */
static void test_nameless_sampler_left_out(void **state)
{
	struct scap_fake *f = scap_fake_new();
	struct sinsp_evt evt;
	struct sinsp *s;

	(void)state;
	add_names_from(f, 1);
	add_map(f);
	add_sample(f, N_KERNEL, 0);
	s = open_at_sample(f, &evt);
	assert_whole_stack(s, &evt, 0);
	sinsp_close(s);
}

/* A second source that receives the symbol events of the first one's sample, as a file does. */
struct copy {
	struct scap_fake *to;
	unsigned int n;
};

static int copy_symbol(void *ctx, const struct ppm_evt_hdr *hdr)
{
	struct sinsp_evt evt = {.raw = {.hdr = hdr, .type = hdr->type}};
	struct copy *c = ctx;
	struct symbol_row t;

	assert_int_equal(scap_evt_params(hdr, &evt.params), 0);
	assert_int_equal(symbol_event_read(&t, &evt), 0);
	add_symbol(c->to, &t);
	c->n++;
	return 0;
}

static struct copy copy_of(struct scap_fake *from, uint32_t piece)
{
	struct copy c = {.to = scap_fake_new()};
	struct sinsp_evt evt;
	struct sinsp *s = open_at_sample(from, &evt);

	assert_int_equal(sinsp_symbols_export(s, &evt, piece, copy_symbol, &c), 0);
	/* A place is exported once for each piece. */
	assert_int_equal(sinsp_symbols_export(s, &evt, piece, copy_symbol, &c), 0);
	sinsp_close(s);
	return c;
}

/* All frames have names in the file, also those of the sampler, which readers recognize by name. */
static void test_names_exported(void **state)
{
	struct scap_fake *f = scap_fake_new();
	struct sinsp_evt evt;
	struct sinsp *s;
	struct copy c;

	(void)state;
	add_names(f);
	add_map(f);
	add_sample(f, N_KERNEL, 0);
	c = copy_of(f, 0);
	assert_int_equal(c.n, N_ALL);
	add_map(c.to);
	add_sample(c.to, N_KERNEL, 0);
	s = open_at_sample(c.to, &evt);
	assert_whole_stack(s, &evt, 0);
	assert_whole_stack(s, &evt, 1);
	sinsp_close(s);
}

/* Only frames of the sampler: they stay, since an empty stack would show less. */
static void test_only_sampler(void **state)
{
	struct scap_fake *f = scap_fake_new();
	const struct sinsp_stack *st;
	struct sinsp_evt evt;
	struct sinsp *s;

	(void)state;
	add_names(f);
	add_sample(f, N_SAMPLER, 0);
	s = open_at_sample(f, &evt);
	assert_int_equal(sinsp_stack_get(s, &evt, 0, &st), 0);
	assert_int_equal(st->n_kernel, N_SAMPLER);
	sinsp_close(s);
}

static const struct sinsp_frame *outermost(struct sinsp *s, const struct sinsp_evt *evt)
{
	const struct sinsp_stack *st;

	assert_int_equal(sinsp_stack_get(s, evt, 0, &st), 0);
	return &st->frames[st->n - 1];
}

/* JIT code keeps its line of source, from one file into the next. */
static void test_jit_line_exported(void **state)
{
	const struct symbol_row jit = {
		.of = SYMBOL_OF_JIT,
		.pid = PID,
		.place = JIT_AT + 0xf,
		.addr = JIT_AT + 0xf,
		.begin = JIT_AT,
		.module = text("[jit]"),
		.name = text("loop"),
		.lines = text("loop\tloop.js\t12\n"),
	};
	struct scap_fake *f = scap_fake_new();
	struct sinsp_evt evt;
	struct sinsp *s;
	struct copy c;

	(void)state;
	add_symbol(f, &jit);
	add_sample(f, 0, 1);
	c = copy_of(f, 3);
	assert_int_equal(c.n, 1);
	add_sample(c.to, 0, 1);
	s = open_at_sample(c.to, &evt);
	assert_string_equal(outermost(s, &evt)->function, "loop");
	assert_string_equal(outermost(s, &evt)->file, "loop.js");
	assert_int_equal(outermost(s, &evt)->line, 12);
	assert_int_equal(outermost(s, &evt)->kind, SINSP_FRAME_JIT);
	sinsp_close(s);
}

/* A place that gets a new name again and again takes no more memory than its limit. */
static void test_text_is_bounded(void **state)
{
	enum { N = 4000, LIMIT = 32 << 10 };
	struct scap_fake *f = scap_fake_new();
	struct sinsp_symbols *sy;
	struct sinsp_evt evt;
	char name[32];
	struct scap *src;
	struct sinsp *s;

	(void)state;
	for (unsigned int i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "function_%u", i);
		add_symbol(f, &(struct symbol_row){.of = SYMBOL_OF_KERNEL,
						   .place = K(0),
						   .addr = K(0),
						   .begin = K(0),
						   .module = text("[kernel]"),
						   .name = text(name)});
	}
	add_names(f);
	add_map(f);
	add_sample(f, N_KERNEL, 0);
	assert_int_equal(scap_fake_open(&src, f), 0);
	assert_int_equal(sinsp_open(&s, src, NULL), 0);
	sy = symbol_cache_get(s);
	assert_non_null(sy);
	sy->max_text = LIMIT;
	do {
		assert_int_equal(sinsp_next(s, &evt, 0), 1);
		assert_true(sy->strings.n_bytes < LIMIT + 4096);
	} while (evt.raw.type != EVT_SAMPLE_E);
	assert_whole_stack(s, &evt, 1);
	sinsp_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sampler_left_out),
		cmocka_unit_test(test_nameless_sampler_left_out),
		cmocka_unit_test(test_names_exported),
		cmocka_unit_test(test_only_sampler),
		cmocka_unit_test(test_jit_line_exported),
		cmocka_unit_test(test_text_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
