/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the name nearest to an unknown one, for "did you mean". */
#ifndef SINSP_FIELDS_NEAREST_H
#define SINSP_FIELDS_NEAREST_H

struct nearest {
	const char *name; /* the unknown name */
	const char *best; /* NULL: none is near. Borrowed from nearest_try */
	unsigned int best_d;
};

void nearest_begin(struct nearest *n, const char *name);
void nearest_try(struct nearest *n, const char *candidate);

#endif /* SINSP_FIELDS_NEAREST_H */
