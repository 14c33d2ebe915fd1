/* SPDX-License-Identifier: Apache-2.0 */
/* Tests whether a path lies in one of several directories: /etc contains /etc and /etc/x, not
 * /etcetera. A name in a path may be a pattern, as in /home/u?er. */
#ifndef SINSP_FILTER_PATHTREE_H
#define SINSP_FILTER_PATHTREE_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"

struct sinsp_pathtree {
	struct sinsp_pathtree_node *nodes; /* the first is the root directory */
	uint32_t n_nodes, mask;
	uint32_t *slots; /* by directory and name; 0: free */
	uint32_t *active; /* two lists of nodes, used during a look-up */
	int has_globs;
};

/* Makes room for paths of @n_bytes together. Returns 0 or -ENOMEM. */
int sinsp_pathtree_init(struct sinsp_pathtree *t, struct sinsp_arena *a, size_t n_paths,
			size_t n_bytes);
/* Adds a path, which is borrowed. */
void sinsp_pathtree_add(struct sinsp_pathtree *t, const char *p, size_t len);
int sinsp_pathtree_match(struct sinsp_pathtree *t, const char *p, size_t len);

#endif /* SINSP_FILTER_PATHTREE_H */
