/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds what the walker needs of Lua's loop if the native walk does not restore the register of the
 * CallInfo: the size of its frame, the word in it that has the running closure, and its calls, each
 * with the register that has the lua_State.
 */
#include <stdlib.h>
#include <string.h>

#include "interp/detect.h"
#include "shared/unwind_row.h"

#define BEGINNING_SZ 256 /* bytes of the loop that are searched */
#define NEAR 24 /* bytes between two instructions */
#define TEXT_MAX (16u << 20)
#define CLOSURE_PROTO 0x18 /* offset in a closure */
#define STATE_CALL 0x20 /* offset of the CallInfo in a lua_State */
#define RBX 3 /* numbers of registers in instructions */
#define RBP 5
#define RDI 7

/* Returns the length of an instruction that compilers put between those that build a frame; 0:
 * another one. */
static size_t skipped(const uint8_t *c)
{
	if (c[0] == 0xf3 && c[1] == 0x0f && c[2] == 0x1e && c[3] == 0xfa) /* endbr64 */
		return 4;
	if ((c[0] & 0xfb) == 0x48 && c[1] == 0x8d && (c[2] & 0xc7) == 5) /* lea n(%rip), %reg */
		return 7;
	if ((c[0] & 0xfa) == 0x48 && c[1] == 0x89 && c[2] >> 6 == 3) /* mov %reg, %reg */
		return 3;
	return 0;
}

/* Finds the words of a complete frame. Returns the offset of the instruction behind the last one
 * that builds it; 0: it is built in another way. */
static size_t read_frame(const uint8_t *code, size_t sz, uint32_t *words)
{
	uint32_t room;
	size_t i = 0;

	*words = 1;
	while (i + 7 < sz) {
		const uint8_t *c = code + i;
		const size_t rex = c[0] == 0x41;

		if ((c[rex] & 0xf8) == 0x50) { /* push */
			++*words;
			i += rex + 1;
		} else if (c[0] == 0x48 && (c[1] == 0x83 || c[1] == 0x81) && c[2] == 0xec) {
			memcpy(&room, c + 3, sizeof(room)); /* sub $room, %rsp */
			*words += (c[1] == 0x83 ? c[3] : room) / 8;
			return i + (c[1] == 0x83 ? 4 : 7);
		} else if (!skipped(c)) {
			return 0;
		} else {
			i += skipped(c);
		}
	}
	return 0;
}

/* Returns whether an instruction near byte @at reads the prototype of the closure in @reg. */
static int reads_proto(const uint8_t *code, size_t sz, size_t at, unsigned int reg)
{
	const size_t from = at > NEAR ? at - NEAR : 0;

	for (size_t i = from; i < at + NEAR && i + 4 <= sz; i++) {
		const uint8_t *c = code + i; /* mov 0x18(%reg), %other */

		if ((c[0] & 0xfa) == 0x48 && c[1] == 0x8b && c[2] >> 6 == 1 &&
		    ((c[2] & 7u) | (c[0] & 1u) << 3) == reg && c[3] == CLOSURE_PROTO)
			return 1;
	}
	return 0;
}

/* Finds the word, from rsp on, where the loop keeps the running closure. Returns -1 if it is in a
 * register only. */
static int closure_word(const uint8_t *code, size_t sz, size_t from)
{
	for (size_t i = from; i + 5 <= sz; i++) {
		const uint8_t *c = code + i; /* mov %reg, n(%rsp) */
		const unsigned int reg = (c[2] >> 3 & 7u) | (c[0] & 4u) << 1;

		if ((c[0] & 0xfb) == 0x48 && c[1] == 0x89 && (c[2] & 0xc7) == 0x44 &&
		    c[3] == 0x24 && !(c[4] & 0x87) && reads_proto(code, sz, i, reg))
			return c[4] / 8;
	}
	return -1;
}

/* Returns the register that the instructions before a call pass as the lua_State; 0: none that the
 * loop's unwind rule has. @c: the call, with NEAR bytes before it. */
static unsigned int passed_state(const uint8_t *c)
{
	for (size_t back = 3; back <= NEAR; back++) {
		const uint8_t *at = c - back; /* mov %reg, %rdi */

		if (at[0] == 0x48 && at[1] == 0x89 &&
		    (at[2] == (0xc0 | RBX << 3 | RDI) || at[2] == (0xc0 | RBP << 3 | RDI)))
			return at[2] >> 3 & 7;
	}
	return 0;
}

/* Adds the call at @c, which returns to @ret, relative to the loop. */
static void add_return(struct interp_lua *p, const uint8_t *c, int64_t ret)
{
	const unsigned int reg = passed_state(c);
	struct interp_lua_return *r = &p->returns[p->n_returns];

	if (p->n_returns >= LUA_RETURNS_MAX || ret != (int32_t)ret)
		return;
	r->at = (int32_t)ret;
	r->reg = reg == RBX ? UNWIND_RBX : reg == RBP ? UNWIND_RBP : 0;
	/* Resuming continues as long as the state has CallInfos: mov 0x20(%reg), %other */
	r->resumes = reg && c[5] == 0x48 && c[6] == 0x8b && (c[7] & 0xc7) == (0x40 | reg) &&
		     c[8] == STATE_CALL;
	p->n_returns++;
}

/* Finds the calls of the loop. */
static void find_returns(struct interp_lua *p, const struct elf_file *f, uint64_t loop)
{
	const struct elf_section *text = elf_file_section(f, ".text");
	struct elf_data code;

	if (!text || text->sz > TEXT_MAX || elf_file_section_copy(f, &code, text))
		return;
	for (size_t i = NEAR; i + 9 <= code.sz; i++) {
		const uint8_t *c = code.data + i;
		const int64_t ret = (int64_t)(text->addr + i + 5 - loop);
		int32_t rel;

		memcpy(&rel, c + 1, sizeof(rel));
		if (*c == 0xe8 && ret + rel == 0)
			add_return(p, c, ret);
	}
	free(code.data);
}

int interp_lua_frame(struct interp_lua *p, const struct elf_file *f, uint64_t loop)
{
	uint8_t code[BEGINNING_SZ];
	uint64_t offset;
	uint32_t words;
	size_t built;
	int closure;

	if (elf_file_offset_of(f, &offset, loop) || elf_file_read(f, code, offset, sizeof(code)))
		return 0;
	built = read_frame(code, sizeof(code), &words);
	if (!built || words > UINT8_MAX)
		return 0;
	find_returns(p, f, loop);
	closure = closure_word(code, sizeof(code), built);
	p->frame = (uint8_t)words;
	p->closure = (uint8_t)closure;
	return closure >= 0 && (uint32_t)closure < words && p->n_returns;
}
