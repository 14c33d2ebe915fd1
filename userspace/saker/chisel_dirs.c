/* SPDX-License-Identifier: Apache-2.0 */
#include "chisel_dirs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int chisel_dirs(char *dirs[CHISEL_DIRS_MAX + 1], int views)
{
	const struct {
		const char *dir, *below;
		int only_views;
	} rows[CHISEL_DIRS_MAX] = {
		{getenv("HOME"), "/.chisels/views", 1},
		{getenv("HOME"), "/.chisels", 0},
		{getenv("SAKER_CHISEL_DIR"), "", 0},
		{getenv("SYSDIG_CHISEL_DIR"), "", 0},
	};
	size_t n = 0;

	for (size_t i = 0; i < CHISEL_DIRS_MAX; i++) {
		if (!rows[i].dir || !*rows[i].dir || (rows[i].only_views && !views))
			continue;
		if (asprintf(&dirs[n], "%s%s", rows[i].dir, rows[i].below) < 0) {
			dirs[n] = NULL;
			return -ENOMEM;
		}
		n++;
	}
	return 0;
}
