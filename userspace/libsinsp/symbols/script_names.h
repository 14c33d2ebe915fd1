/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of interpreters' frames: code objects by process, address and checksum, as the driver sends
 * them in script events. Bounded: beyond, those go that no frame has had for the longest time, and
 * are counted; the driver may not send them again.
 */
#ifndef SINSP_SYMBOLS_SCRIPT_NAMES_H
#define SINSP_SYMBOLS_SCRIPT_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define SCRIPT_NAMES_SZ_MAX (64u << 20) /* bytes of all code objects */

struct script_code {
	struct script_code *next; /* in the bucket */
	struct script_code *next_of_pid, **link_of_pid; /* link: what points to it */
	struct script_code *older, *newer;
	int64_t pid;
	uint64_t code;
	uint32_t check;
	uint32_t first_line;
	uint32_t sz; /* bytes of memory */
	uint16_t n_lines, n_bases; /* bytes of the line table */
	uint8_t language; /* enum stack_walker */
	uint8_t version;
	uint8_t is_used; /* a frame was named since it was added, or last spared */
	const char *function, *file; /* UTF-8; NULL: unknown. In this allocation */
	const uint8_t *lines, *bases;
};

struct script_names {
	struct script_code **buckets; /* NULL: empty */
	struct script_code **by_pid;
	struct script_code *oldest, *newest;
	uint64_t seed;
	size_t bytes;
	uint64_t n_dropped; /* code objects that went, beyond the bound */
	int is_told; /* script_names_full has returned 1 */
};

/* A code object as an event has it. Texts are converted by their kinds (enum interp_text). */
struct script_row {
	int64_t pid;
	uint64_t code;
	uint32_t check, first_line;
	uint8_t language, version, kinds;
	const uint8_t *name, *file, *lines, *bases;
	uint32_t name_len, file_len, n_lines, n_bases;
};

/* Adds a code object; it replaces the same one. Returns 0 or -ENOMEM. */
int script_names_add(struct script_names *s, const struct script_row *row);
/* Returns 1 once: the bound was reached. */
int script_names_full(struct script_names *s);
/* Removes those of a process, which has ended or runs another program. */
void script_names_drop(struct script_names *s, int64_t pid);
void script_names_fini(struct script_names *s);

/* Calls @fn for each code object until the first result that is not 0, which it returns. */
int script_names_each(const struct script_names *s,
		      int (*fn)(void *ctx, const struct script_code *c), void *ctx);

/* Returns NULL: unknown. Borrowed until the next add or drop. */
const struct script_code *script_names_find(struct script_names *s, int64_t pid, uint64_t code,
					    uint32_t check);
/* Returns the source line at @position, as in the frame: Python: bytes; Lua, Ruby: instructions;
 * Java: bytes of bytecode; Perl, PHP: the line. 0: unknown.
 */
uint32_t script_code_line(const struct script_code *c, uint32_t position);

#endif /* SINSP_SYMBOLS_SCRIPT_NAMES_H */
