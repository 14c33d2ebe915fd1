/* SPDX-License-Identifier: Apache-2.0 */
#include "tls/tls_go.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "objfile/go_pclntab.h"

#define CODE_MAX (64u << 10) /* bytes of a function */
#define PROLOGUE_SZ 18 /* the longest one below */
#define RET 0xc3

enum go_name { GO_READ, GO_WRITE, GO_CLIENT, GO_SERVER, GO_TCP_READ, GO_NAMES };

static const struct {
	const char *name;
	enum tls_function function;
	int has_return;
} functions[GO_NAMES] = {
	[GO_READ] = {"crypto/tls.(*Conn).Read", TLS_GO_READ, 1},
	[GO_WRITE] = {"crypto/tls.(*Conn).Write", TLS_GO_WRITE, 1},
	[GO_CLIENT] = {"crypto/tls.(*Conn).clientHandshake", TLS_GO_BEGIN, 0},
	[GO_SERVER] = {"crypto/tls.(*Conn).serverHandshake", TLS_GO_BEGIN, 0},
	[GO_TCP_READ] = {"net.(*TCPConn).Read", TLS_FUNCTION_MAX, 0},
};

_Static_assert(GO_TCP_READ + 2 * TLS_GO_RETURNS_MAX <= TLS_GO_PROBES_MAX,
	       "an entry of each function, and returns of two");

struct finding {
	const struct elf_file *f;
	const struct go_pclntab *table;
	struct go_func found[GO_NAMES]; /* end 0: the file does not have it */
	uint8_t *code; /* of the function that is looked at */
	struct tls_probe *v;
	size_t n;
};

static void find_functions(struct finding *g)
{
	const size_t n = go_pclntab_n(g->table);
	struct go_func func;

	for (size_t i = 0; i < n; i++) {
		if (go_pclntab_func(g->table, &func, i))
			continue;
		for (size_t k = 0; k < GO_NAMES; k++)
			if (!g->found[k].end && !strcmp(func.name, functions[k].name))
				g->found[k] = func;
	}
}

/* Reads the code of a function. Returns 0 or a negative errno. */
static int read_code(const struct finding *g, const struct go_func *func, uint64_t *offset)
{
	const uint64_t sz = func->end - func->start;

	if (sz < PROLOGUE_SZ || sz > CODE_MAX || elf_file_offset_of(g->f, offset, func->start) ||
	    !elf_file_is_code(g->f, *offset, sz) || elf_file_read(g->f, g->code, *offset, sz))
		return -EBADMSG;
	return 0;
}

/*
 * Returns the place of the jump that ends the check of the stack's size, where arguments are still
 * in registers: the kernel emulates a jump, and would single-step what stands before it. The end of
 * the stack is that of the goroutine in R14, as of Go 1.17: the ABI with arguments in registers.
 * Functions with small frames compare SP, others R12.
 */
static int find_jump(const uint8_t *code)
{
	static const uint8_t small[] = {0x49, 0x3b, 0x66, 0x10}; /* cmp 16(%r14),%rsp */
	static const uint8_t large[] = {0x4d, 0x3b, 0x66, 0x10}; /* cmp 16(%r14),%r12 */
	static const uint8_t lea8[] = {0x4c, 0x8d, 0x64, 0x24}; /* lea -x(%rsp),%r12 */
	static const uint8_t lea32[] = {0x4c, 0x8d, 0xa4, 0x24};
	static const uint8_t old[] = {0x64, 0x48, 0x8b}; /* mov %fs:-8,%rcx */
	int at;

	if (!memcmp(code, small, sizeof(small)))
		at = 4;
	else if (!memcmp(code, lea8, sizeof(lea8)) && !memcmp(code + 5, large, sizeof(large)))
		at = 9;
	else if (!memcmp(code, lea32, sizeof(lea32)) && !memcmp(code + 8, large, sizeof(large)))
		at = 12;
	else
		return memcmp(code, old, sizeof(old)) ? -EBADMSG : -EOPNOTSUPP;
	/* jbe */
	return code[at] == 0x76 || (code[at] == 0x0f && code[at + 1] == 0x86) ? at : -EBADMSG;
}

/* @at: in the function, whose code is at @offset. */
static void add(struct finding *g, uint64_t offset, enum go_name k, uint64_t at,
		enum tls_program program)
{
	const struct go_func *tcp_read = &g->found[GO_TCP_READ];

	g->v[g->n++] = (struct tls_probe){
		.offset = offset + at,
		.function = functions[k].function,
		.program = program,
		.distance = tcp_read->end ? (int64_t)(tcp_read->start - g->found[k].start - at) : 0,
	};
}

/* Adds the return instructions: each is where the depth becomes 0 again. In the last such place
 * the function may grow its stack and begin anew, right behind a return or without one. */
static int add_returns(struct finding *g, uint64_t offset, enum go_name k)
{
	const struct go_func *func = &g->found[k];
	const size_t first = g->n;
	struct go_pcsp p;
	int is_last = 0;

	go_pcsp_first(&p, g->table, func);
	while (go_pcsp_next(&p)) {
		const uint64_t at = p.from - func->start;

		if (is_last)
			return -EBADMSG;
		if (p.taken || !at)
			continue;
		is_last = g->code[at] != RET || p.to - p.from != 1;
		if (g->code[at] != RET)
			continue;
		if (g->n - first == TLS_GO_RETURNS_MAX)
			return -EBADMSG;
		add(g, offset, k, at, TLS_GO_AT_RETURN);
	}
	return g->n == first ? -EBADMSG : 0;
}

/* Adds the probes of a function. */
static int add_function(struct finding *g, enum go_name k)
{
	uint64_t offset;
	int at = read_code(g, &g->found[k], &offset);

	at = at < 0 ? at : find_jump(g->code);
	if (at < 0)
		return functions[k].has_return ? at : 0;
	add(g, offset, k, (uint64_t)at, TLS_GO_AT_ENTRY);
	return functions[k].has_return ? add_returns(g, offset, k) : 0;
}

int tls_go_probes(const struct elf_file *f, struct tls_probe v[TLS_GO_PROBES_MAX])
{
	struct finding g = {.f = f, .v = v};
	struct go_pclntab *table;
	int err = 0;

	if (go_pclntab_open(&table, f))
		return 0;
	g.table = table;
	g.code = malloc(CODE_MAX);
	if (!g.code)
		err = -ENOMEM;
	else
		find_functions(&g);
	if (g.found[GO_READ].end && g.found[GO_WRITE].end)
		for (enum go_name k = GO_READ; k < GO_TCP_READ && !err; k++)
			err = add_function(&g, k);
	free(g.code);
	go_pclntab_close(table);
	return err ? err : (int)g.n;
}
