/* SPDX-License-Identifier: Apache-2.0 */
/* Captures that sysdig wrote: those beside the repository, and one that tests/e2e/saker_e2e.py
 * makes. */
#ifndef SCAP_TESTING_CAPTURES_TESTING_H
#define SCAP_TESTING_CAPTURES_TESTING_H

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns 1 with their paths in @to, which the caller frees by globfree; 0 if there are none, after
 * a message. */
static inline int find_captures(glob_t *to)
{
	const char *source = getenv("SAKER_SOURCE_DIR"), *build = getenv("SAKER_BUILD_DIR");
	char shared[4096], made[4096];

	snprintf(shared, sizeof(shared), "%s/../shared/captures/*.scap", source ? source : ".");
	snprintf(made, sizeof(made), "%s/tests/captures/plain.scap", build ? build : "build");
	*to = (glob_t){0};
	glob(shared, GLOB_APPEND, NULL, to);
	glob(made, GLOB_APPEND, NULL, to);
	if (!to->gl_pathc)
		printf("skipped: no %s, and no %s, which tests/e2e/saker_e2e.py makes with sysdig "
		       "as root\n",
		       shared, made);
	return to->gl_pathc != 0;
}

#endif /* SCAP_TESTING_CAPTURES_TESTING_H */
