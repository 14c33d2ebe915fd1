/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of a test that stands for the root of a machine. Fixtures of cmocka make and remove it.
 */
#ifndef SCAP_TESTING_FAKE_ROOT_H
#define SCAP_TESTING_FAKE_ROOT_H

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "testing/test_main.h"

static char root[] = "/tmp/saker_test.XXXXXX";

static inline int make_root(void **state)
{
	(void)state;
	umask(022);
	return mkdtemp(root) ? 0 : -1;
}

static inline int remove_from_root(const char *path, const struct stat *st, int type,
				   struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static inline int remove_root(void **state)
{
	(void)state;
	return nftw(root, remove_from_root, 16, FTW_DEPTH | FTW_PHYS);
}

/* Writes a file, readable by its owner only, after making its folders. @name begins with '/'. */
static inline void put_in_root(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", root, name);
	for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		mkdir(path, 0755);
		*p = '/';
	}
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, 0600), 0);
}

#endif /* SCAP_TESTING_FAKE_ROOT_H */
