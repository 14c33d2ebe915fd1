/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of directories: names are found by hash, patterns are tried one after the other. */
#include "pathtree.h"

#include <errno.h>
#include <string.h>

#include "glob.h"
#include "strset.h"

struct sinsp_pathtree_node {
	const char *name;
	uint32_t len;
	uint32_t parent;
	uint32_t globs, next_glob; /* children that are patterns; 0: none */
	uint8_t is_end; /* an added path ends here */
	uint8_t is_glob;
};

int sinsp_pathtree_init(struct sinsp_pathtree *t, struct sinsp_arena *a, size_t n_paths,
			size_t n_bytes)
{
	const size_t max =
		n_bytes / 2 + n_paths + 2; /* "/x": a name takes two bytes, except the first */
	size_t slots = 4;

	while (slots < 2 * max)
		slots *= 2;
	*t = (struct sinsp_pathtree){.n_nodes = 1, .mask = (uint32_t)slots - 1};
	t->nodes = sinsp_arena_alloc(a, max * sizeof(*t->nodes));
	t->slots = sinsp_arena_alloc(a, slots * sizeof(*t->slots));
	t->active = sinsp_arena_alloc(a, 2 * max * sizeof(*t->active));
	return t->nodes && t->slots && t->active ? 0 : -ENOMEM;
}

/* Reads the next name of a path at *p, skipping empty ones; returns its length, 0 at the end. */
static size_t next_name(const char **p, const char *end)
{
	const char *from, *slash;

	while (*p < end && **p == '/')
		++*p;
	from = *p;
	slash = memchr(from, '/', (size_t)(end - from));
	return (size_t)((slash ? slash : end) - from);
}

static uint32_t slot_of(const struct sinsp_pathtree *t, uint32_t parent, const char *name,
			size_t len)
{
	uint32_t i = (sinsp_strset_hash(name, len) + parent * 0x9e3779b1u) & t->mask;

	for (; t->slots[i]; i = (i + 1) & t->mask) {
		const struct sinsp_pathtree_node *n = &t->nodes[t->slots[i]];

		if (n->parent == parent && n->len == len && !memcmp(n->name, name, len))
			break;
	}
	return i;
}

static int is_glob(const char *p, size_t len)
{
	return memchr(p, '*', len) || memchr(p, '?', len) || memchr(p, '[', len);
}

/* Returns the child with this name, created if there is none. */
static uint32_t add_child(struct sinsp_pathtree *t, uint32_t parent, const char *name, size_t len)
{
	const uint32_t slot = slot_of(t, parent, name, len);
	struct sinsp_pathtree_node *n;

	if (t->slots[slot])
		return t->slots[slot];
	n = &t->nodes[t->n_nodes];
	*n = (struct sinsp_pathtree_node){.name = name, .len = (uint32_t)len, .parent = parent};
	t->slots[slot] = t->n_nodes;
	if (is_glob(name, len)) {
		n->is_glob = 1;
		n->next_glob = t->nodes[parent].globs;
		t->nodes[parent].globs = t->n_nodes;
		t->has_globs = 1;
	}
	return t->n_nodes++;
}

void sinsp_pathtree_add(struct sinsp_pathtree *t, const char *p, size_t len)
{
	const char *const end = p + len;
	uint32_t node = 0;
	size_t n;

	for (; (n = next_name(&p, end)); p += n)
		node = add_child(t, node, p, n);
	t->nodes[node].is_end = 1;
}

/* Appends the children of @node that match the name. */
static uint32_t add_matching(const struct sinsp_pathtree *t, uint32_t node, const char *name,
			     size_t len, uint32_t *list, uint32_t n)
{
	const uint32_t exact = t->slots[slot_of(t, node, name, len)];

	if (exact && !t->nodes[exact].is_glob)
		list[n++] = exact;
	for (uint32_t g = t->nodes[node].globs; g; g = t->nodes[g].next_glob)
		if (sinsp_glob_match(t->nodes[g].name, t->nodes[g].len, name, len, 0))
			list[n++] = g;
	return n;
}

int sinsp_pathtree_match(struct sinsp_pathtree *t, const char *p, size_t len)
{
	uint32_t *now = t->active, *then = t->active + t->n_nodes;
	const char *const end = p + len;
	uint32_t n_now = 1, n_then;
	size_t n;

	now[0] = 0;
	if (t->nodes[0].is_end)
		return 1;
	for (; n_now && (n = next_name(&p, end)); p += n) {
		uint32_t *const other = now;

		n_then = 0;
		for (uint32_t i = 0; i < n_now; i++)
			n_then = add_matching(t, now[i], p, n, then, n_then);
		for (uint32_t i = 0; i < n_then; i++)
			if (t->nodes[then[i]].is_end)
				return 1;
		now = then;
		n_now = n_then;
		then = other;
	}
	return 0;
}
