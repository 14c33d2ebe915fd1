/* SPDX-License-Identifier: Apache-2.0 */
/* Edit distance between names, for "did you mean". */
#include "nearest.h"

#include <stddef.h>
#include <string.h>

enum { NAME_MAX_LEN = 63 };

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Counts insertions, deletions, replacements and swaps of neighbours between two names. */
static unsigned int edit_distance(const char *a, const char *b)
{
	unsigned int rows[3][NAME_MAX_LEN + 1];
	const size_t nb = strlen(b);
	size_t i, j;

	for (j = 0; j <= nb; j++)
		rows[0][j] = j;
	for (i = 1; a[i - 1]; i++) {
		const unsigned int *before = rows[(i + 1) % 3], *above = rows[(i - 1) % 3];
		unsigned int *row = rows[i % 3];

		row[0] = i;
		for (j = 1; j <= nb; j++) {
			row[j] = min3(above[j] + 1, row[j - 1] + 1,
				      above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
	}
	return rows[(i - 1) % 3][nb];
}

void nearest_begin(struct nearest *n, const char *name)
{
	*n = (struct nearest){name, NULL, strlen(name) < 5 ? 2 : 3};
}

void nearest_try(struct nearest *n, const char *candidate)
{
	size_t len = strlen(n->name);
	unsigned int d;

	if (len < 2 || len > NAME_MAX_LEN || strlen(candidate) > NAME_MAX_LEN)
		return;
	d = edit_distance(n->name, candidate);
	if ((len >= 3 && strncmp(n->name, candidate, len) == 0) || !strcasecmp(n->name, candidate))
		d = 0;
	if (d < n->best_d) {
		n->best_d = d;
		n->best = candidate;
	}
}
