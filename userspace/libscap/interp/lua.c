/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects PUC Lua, also as a part of a stripped program. Its loop, luaV_execute, is hidden: it is
 * the function that masks operations and uses the saved instruction pointer of a CallInfo most
 * often. The same instructions show the registers of the CallInfo and of the instruction pointer.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/detect.h"
#include "objfile/elf_functions.h"

#define IDENT "$LuaVersion: Lua "
#define IDENT_MAX 128 /* bytes of the text that says the version */
#define RELEASE_MIN 2 /* of 5.3 and 5.4: earlier ones have other structures */
#define ANY_RELEASE 5 /* 5.5 */
#define LOOP_SZ_MIN 3000 /* bytes of the loop's function */
#define LOOP_SZ_MAX (256u << 10)
#define SEARCHED_MAX (128u << 20) /* bytes of functions that are searched for it */
#define USES_MIN 12 /* of the saved instruction pointer */
#define N_REGS 16

static const struct interp_lua rows[] = {
#define LUA(minor_, type, entry_, tail_, pc, status, line, constants, code, upvalues, lines,       \
	    bases, locals, source, sz, mask, move, jump, upvalue, global, field, self, call,       \
	    tail_call, a, b, b_mask_, c, c_mask_, constant, key)                                   \
	{.minor = (minor_),                                                                        \
	 .proto_type = (type),                                                                     \
	 .entry = (entry_),                                                                        \
	 .tail = (tail_),                                                                          \
	 .op_mask = (mask),                                                                        \
	 .op_move = (move),                                                                        \
	 .op_jump = (jump),                                                                        \
	 .op_get_upvalue = (upvalue),                                                              \
	 .op_get_global = (global),                                                                \
	 .op_get_field = (field),                                                                  \
	 .op_self = (self),                                                                        \
	 .op_call = (call),                                                                        \
	 .op_tail_call = (tail_call),                                                              \
	 .a_at = (a),                                                                              \
	 .b_at = (b),                                                                              \
	 .c_at = (c),                                                                              \
	 .key_at = (key),                                                                          \
	 .line_sz = (sz),                                                                          \
	 .b_mask = (b_mask_),                                                                      \
	 .c_mask = (c_mask_),                                                                      \
	 .c_constant = (constant),                                                                 \
	 .call_pc = (pc),                                                                          \
	 .call_status = (status),                                                                  \
	 .proto_line = (line),                                                                     \
	 .proto_constants = (constants),                                                           \
	 .proto_code = (code),                                                                     \
	 .proto_upvalues = (upvalues),                                                             \
	 .proto_lines = (lines),                                                                   \
	 .proto_line_bases = (bases),                                                              \
	 .proto_locals = (locals),                                                                 \
	 .proto_source = (source)},
#include "interp/lua.def"
#undef LUA
};

static const struct interp_lua *find_row(unsigned int major, unsigned int minor)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && major == 5; i++)
		if (rows[i].minor == minor)
			return &rows[i];
	return NULL;
}

/* Reads the version and release from the text that every copy of Lua has. Returns whether it is
 * there. */
static int read_version(const struct elf_file *f, unsigned int version[3])
{
	char text[IDENT_MAX] = "";
	struct elf_symbol ident;
	uint64_t offset;

	if (!elf_dynamic_symbol_find(f, &ident, "lua_ident"))
		return elf_file_section(f, ".interp") &&
		       interp_find_version(f, IDENT, version); /* not exported */
	return ident.sz && !elf_file_offset_of(f, &offset, ident.addr) &&
	       !elf_file_read(f, text, offset, ident.sz < IDENT_MAX ? ident.sz : IDENT_MAX - 1) &&
	       sscanf(text, IDENT "%u.%u.%u", &version[0], &version[1], &version[2]) >= 2;
}

/* How often a function uses the saved instruction pointer: with each register as the CallInfo, and
 * with each as the stored value. */
struct uses {
	unsigned int by_call[N_REGS], by_value[N_REGS];
	unsigned int masks; /* of an operation */
};

/* Counts the moves of 64 bits between a register and the saved instruction pointer, which lies as
 * far behind another register as in a CallInfo of @row. */
static void count_uses(struct uses *u, const struct elf_data *code, const struct interp_lua *row)
{
	const uint8_t at = (uint8_t)row->call_pc;

	memset(u, 0, sizeof(*u));
	for (size_t i = 0; i + 5 <= code->sz; i++) {
		const uint8_t *c = code->data + i;
		const size_t sib = (c[2] & 7) == 4; /* rsp or r12 as the base */
		const unsigned int base = (c[2] & 7u) | (c[0] & 1u) << 3;
		const unsigned int value = (c[2] >> 3 & 7u) | (c[0] & 4u) << 1;

		/* and $op_mask, %reg */
		u->masks += c[0] == 0x83 && (c[1] & 0xf8) == 0xe0 && c[2] == row->op_mask;
		/* REX.W, mov to or from memory, base with a displacement of 8 bits */
		if ((c[0] & 0xf8) != 0x48 || (c[1] & 0xfd) != 0x89 || c[2] >> 6 != 1 ||
		    (sib && (c[3] != 0x24 || !(c[0] & 1))) || c[3 + sib] != at)
			continue;
		u->by_call[base]++;
		if (c[1] == 0x89)
			u->by_value[value]++;
	}
}

static unsigned int most(const unsigned int n[N_REGS])
{
	unsigned int reg = 0;

	for (unsigned int i = 1; i < N_REGS; i++)
		if (n[i] > n[reg])
			reg = i;
	return reg;
}

/* Returns the DWARF number of a register that instructions number. */
static uint8_t dwarf_reg(unsigned int reg)
{
	static const uint8_t low[8] = {0, 2, 1, 3, 7, 6, 4, 5};

	return reg < 8 ? low[reg] : (uint8_t)reg;
}

/* Counts the uses in one function. Returns 0 if the file does not have its code. */
static int uses_of(const struct elf_file *f, struct uses *u, const struct elf_symbol *function,
		   const struct interp_lua *row)
{
	struct elf_data code;
	uint64_t offset;

	if (elf_file_offset_of(f, &offset, function->addr) ||
	    elf_file_copy(f, &code, offset, function->sz))
		return 0;
	count_uses(u, &code, row);
	free(code.data);
	return 1;
}

/* Finds the loop, and how it uses registers. Returns 0 if no function looks like it. */
static int find_loop(const struct elf_file *f, struct elf_symbol *loop, struct uses *uses,
		     const struct interp_lua *row)
{
	struct elf_functions *functions;
	unsigned int n, best = USES_MIN - 1;
	uint64_t left = SEARCHED_MAX;
	struct elf_symbol s;
	struct uses u;

	if (elf_functions_open(&functions, f))
		return 0;
	for (size_t i = 0; i < elf_functions_count(functions); i++) {
		if (!elf_functions_at(functions, i, &s.addr, &s.sz) || s.sz < LOOP_SZ_MIN ||
		    s.sz > LOOP_SZ_MAX)
			continue;
		if (s.sz > left) { /* no real file has so many */
			best = 0;
			break;
		}
		left -= s.sz;
		if (!uses_of(f, &u, &s, row))
			continue;
		n = u.by_call[most(u.by_call)];
		if (n <= best || !u.masks)
			continue;
		best = n;
		*loop = s;
		*uses = u;
	}
	elf_functions_close(functions);
	return best >= USES_MIN;
}

/* Returns whether the native walk restores the register, whatever functions are called. */
static int is_restored(uint8_t reg)
{
	return reg == 3 || reg == 6; /* rbx, rbp */
}

int interp_detect_lua(struct interp_file *out, const struct elf_file *f, const char *path)
{
	struct interp_lua *p = &out->process.lua;
	const struct interp_lua *row;
	unsigned int version[3] = {0, 0, RELEASE_MIN}, value;
	struct elf_symbol loop;
	struct uses uses;
	int has_frame;

	(void)path;
	if (!read_version(f, version))
		return 0;
	snprintf(out->version, sizeof(out->version), "Lua %u.%u", version[0], version[1]);
	if (version[2] < RELEASE_MIN && version[1] < ANY_RELEASE) {
		snprintf(out->version, sizeof(out->version), "Lua %u.%u.%u", version[0], version[1],
			 version[2]);
		return -ENOTSUP;
	}
	row = find_row(version[0], version[1]);
	if (!row || !find_loop(f, &loop, &uses, row) || interp_add_loop(out, f, &loop))
		return -ENOTSUP;
	*p = *row;
	out->process.root = loop.addr;
	has_frame = interp_lua_frame(p, f, loop.addr);
	p->call_reg = dwarf_reg(most(uses.by_call));
	p->by_state = !is_restored(p->call_reg);
	value = most(uses.by_value);
	p->pc_reg = uses.by_value[value] >= USES_MIN ? dwarf_reg(value) : LUA_NO_REG;
	out->process.walker = STACK_WALKER_LUA;
	return has_frame || !p->by_state ? 1 : -ENOTSUP;
}
