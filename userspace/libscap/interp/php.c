/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects PHP 8. Its loop, execute_ex, and its globals are exported to its modules; the version
 * stands in the text of a header that it sends.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "interp/detect.h"
#include "shared/unwind_table.h"

#define PROLOGUE_SZ 32 /* bytes of the loop that are searched */

static const struct row {
	struct interp_php php;
	uint16_t frame; /* in the globals: the current frame */
} rows[] = {
#define PHP(minor_, current, code_, n, file_, line)                                                \
	{{.minor = (minor_),                                                                       \
	  .code = (code_),                                                                         \
	  .n_code = (n),                                                                           \
	  .file = (file_),                                                                         \
	  .first_line = (line)},                                                                   \
	 (current)},
#include "interp/php.def"
#undef PHP
};

static const struct row *find_row(unsigned int major, unsigned int minor)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (major == 8 && rows[i].php.minor == minor)
			return &rows[i];
	return NULL;
}

/* Puts the rule of the loop's frame: it pushes registers, and reserves room for its own values. It
 * may have a frame pointer, which compiled code keeps. Returns not 0 if the function begins in
 * another way. */
static int put_rule(struct interp_php *p, const struct elf_file *f, uint64_t loop)
{
	uint32_t words = 1, rbx = UNWIND_LOST, rbp = UNWIND_LOST, room;
	uint8_t code[PROLOGUE_SZ];
	int has_fp = 0;
	uint64_t offset;
	size_t i = 0;

	if (elf_file_offset_of(f, &offset, loop) || elf_file_read(f, code, offset, sizeof(code)))
		return -1;
	if (!memcmp(code, "\xf3\x0f\x1e\xfa", 4)) /* endbr64 */
		i = 4;
	while (i + 8 < sizeof(code) &&
	       ((code[i] & 0xf8) == 0x50 || (code[i] == 0x41 && (code[i + 1] & 0xf8) == 0x50))) {
		words++;
		if (code[i] == 0x53)
			rbx = words;
		if (code[i] == 0x55)
			rbp = words;
		i += code[i] == 0x41 ? 2 : 1;
		if (words == 2 && rbp == 2 && !memcmp(code + i, "\x48\x89\xe5", 3)) {
			has_fp = 1; /* mov %rsp, %rbp */
			i += 3;
		}
	}
	if (has_fp) {
		p->rule = (uint64_t)UNWIND_SAVED(rbp, rbx) << 56 | (uint64_t)UNWIND_RBP << 48 |
			  2ull << 32;
		return 0;
	}
	if (code[i] != 0x48 || (code[i + 1] != 0x83 && code[i + 1] != 0x81) || code[i + 2] != 0xec)
		return -1;
	memcpy(&room, code + i + 3, sizeof(room));
	words += (code[i + 1] == 0x83 ? (uint8_t)room : room) / 8;
	if (words >= UNWIND_FAR)
		return -1;
	p->rule = (uint64_t)UNWIND_SAVED(rbp, rbx) << 56 | (uint64_t)UNWIND_RSP << 48 |
		  (uint64_t)words << 32;
	return 0;
}

/* Describes the frames of compiled code, which is on the loop's frame. Without it stacks end there.
 */
static void put_jit(struct interp_process *p, const struct elf_file *f, uint64_t loop)
{
	const struct elf_segment *v;
	const size_t n = elf_file_segments(f, &v);

	if (put_rule(&p->php, f, loop))
		return;
	for (size_t i = 0; i < n; i++) {
		if (loop - v[i].vaddr >= v[i].mem_sz)
			continue;
		p->php.text = (int32_t)(v[i].vaddr - p->root);
		p->php.text_sz = (uint32_t)v[i].mem_sz;
		p->has_jit = INTERP_JIT_SHARED;
	}
}

int interp_detect_php(struct interp_file *out, const struct elf_file *f, const char *path)
{
	unsigned int version[3];
	struct elf_symbol loop, globals;
	const struct row *row;

	(void)path;
	if (!elf_dynamic_symbol_find(f, &loop, "execute_ex") ||
	    !elf_dynamic_symbol_find(f, &globals, "zend_execute_ex") ||
	    !interp_find_version(f, "X-Powered-By: PHP/", version))
		return 0;
	snprintf(out->version, sizeof(out->version), "PHP %u.%u", version[0], version[1]);
	row = find_row(version[0], version[1]);
	/* With thread safety each thread has its own. */
	if (!row || !elf_dynamic_symbol_find(f, &globals, "executor_globals") ||
	    interp_add_loop(out, f, &loop))
		return -ENOTSUP;
	out->process.walker = STACK_WALKER_PHP;
	out->process.root = globals.addr + row->frame;
	out->process.php = row->php;
	put_jit(&out->process, f, loop.addr);
	return 1;
}
