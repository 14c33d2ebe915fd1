/* SPDX-License-Identifier: Apache-2.0 */
/* Which cgroup hierarchy counts, from the mounts of this process. */
#include <errno.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>

#include "account_impl.h"

/* Controllers of v1, the preferred one first. */
static const char *const controllers[] = {"cpuacct", "memory",  "cpu",     "pids",
					  "blkio",   "devices", "freezer", "cpuset"};

#define N_CONTROLLERS (sizeof(controllers) / sizeof(controllers[0]))

/* Returns the index of the first controller of a mount of v1; N_CONTROLLERS: it has none of them.
 */
static size_t controller_of(const struct mntent *m)
{
	size_t i = 0;

	while (i < N_CONTROLLERS && !hasmntopt(m, controllers[i]))
		i++;
	return i;
}

/* Returns whether @m is the mount to use: the requested one, or one of v1 with cpuacct. */
static int is_chosen(const struct mntent *m, const char *mount)
{
	if (mount)
		return !strcmp(m->mnt_dir, mount);
	return !strcmp(m->mnt_type, "cgroup") && controller_of(m) == 0;
}

int account_hierarchy(const char **controller, char *buf, size_t sz, const char *mount,
		      const struct scap_log *log)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	const char *found = NULL;
	int is_found = !mount, err = 0;
	struct mntent *m;

	while (f && (m = getmntent(f))) {
		const int v1 = !strcmp(m->mnt_type, "cgroup");

		if ((!v1 && strcmp(m->mnt_type, "cgroup2") != 0) || !is_chosen(m, mount))
			continue;
		is_found = 1;
		if (v1 && controller_of(m) == N_CONTROLLERS)
			err = -EINVAL;
		else if (v1)
			found = controllers[controller_of(m)];
	}
	if (f)
		endmntent(f);
	if (!is_found)
		return scap_fail(
			log, -ENOENT,
			"cannot count by the cgroups of %s: it is no mounted cgroup hierarchy; "
			"name one of /proc/mounts",
			mount);
	if (err)
		return scap_fail(
			log, err,
			"cannot count by the cgroups of %s: it has no controller; name another "
			"hierarchy",
			mount);
	/* The kernel's name. */
	if (found)
		snprintf(buf, sz, "%s_cgrp_id", !strcmp(found, "blkio") ? "io" : found);
	*controller = found ? buf : NULL;
	return 0;
}
