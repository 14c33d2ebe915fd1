/* SPDX-License-Identifier: Apache-2.0 */
#include "program_path.h"

#include <errno.h>
#include <paths.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns 0 if @path can be executed; else an errno. */
static int check_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (!S_ISREG(st.st_mode) || access(path, X_OK))
		return EACCES;
	return 0;
}

/* Searches PATH as execvp does, but in the parent: events of the child then begin with the one
 * successful execve. Returns 0 with *out owned by the caller, or a negative errno. */
static int search_path(const char *name, char **out)
{
	const char *path = getenv("PATH") ?: _PATH_DEFPATH;
	int err, last = ENOENT;
	char *file;

	for (;;) {
		int len = strcspn(path, ":");

		if (asprintf(&file, "%.*s%s%s", len, path, len ? "/" : "", name) < 0)
			return -ENOMEM;
		err = check_executable(file);
		if (!err) {
			*out = file;
			return 0;
		}
		free(file);
		if (err == EACCES)
			last = EACCES;
		if (!path[len])
			return -last;
		path += len + 1;
	}
}

int program_path_find(const char *name, char **out)
{
	int err;

	if (!strchr(name, '/'))
		return *name ? search_path(name, out) : -ENOENT;
	err = check_executable(name);
	if (err)
		return -err;
	*out = strdup(name);
	return *out ? 0 : -ENOMEM;
}
