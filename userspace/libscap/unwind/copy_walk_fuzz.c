/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzz target: what the driver sends of a stack, then mappings of its process and their rows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "shared/stack.h"
#include "unwind/copy_walk.h"

#define N_MAPS 4

static struct unwind_map maps[N_MAPS];
static uint64_t chunk[UNWIND_CHUNK_WORDS];

/* Replaces the functions that need the driver's maps. */
int unwind_procs_at(struct unwind_map *to, size_t max, const struct unwind_procs *ps, uint32_t pid,
		    uint64_t boot_ns)
{
	(void)ps;
	(void)max;
	(void)boot_ns;
	memcpy(to, maps, sizeof(maps));
	return (int)(pid % (N_MAPS + 1));
}

const uint64_t *unwind_pool_chunk(const struct unwind_pool *p, uint32_t at)
{
	(void)p;
	return at ? NULL : chunk;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	static struct stack_copy s;
	static struct copy_walk *c;
	struct copy_frames f;
	const size_t tables = sz / 2 < 4096 ? sz / 2 : 4096, len = sz - tables;

	if (!c)
		c = copy_walk_new(NULL);
	memset(maps, 0, sizeof(maps));
	memset(chunk, 0, 8192);
	memcpy(maps, data, tables < sizeof(maps) ? tables : sizeof(maps));
	memcpy(chunk, data, tables);
	memset(&s, 0, sizeof(s));
	memcpy(&s, data + tables, len < sizeof(s) ? len : sizeof(s));
	if (!stack_copy_is_valid(&s, len)) /* most have an invalid length */
		s.sz %= sizeof(s.stack) + 1;
	if (!c || copy_walk(c, &f, &s, NULL))
		return 0;
	if (f.n > STACK_USER_MAX || f.end >= STACK_END_MAX)
		abort();
	return 0;
}
