/* SPDX-License-Identifier: Apache-2.0 */
#include "file_guard.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "say.h"

enum {
	LOOK_BYTES = 256 << 10, /* the file system is checked once per this many bytes */
	END_BYTES = 8 << 10, /* room for the end of a file, mostly its counters */
	DEFAULT_PERCENT = 5,
};
#define DEFAULT_BYTES (1ull << 30)

static uint64_t min_free(const struct options *o, const struct statvfs *fs)
{
	const uint64_t part = (uint64_t)fs->f_blocks * fs->f_frsize / 100 * DEFAULT_PERCENT;

	if (o->min_free.given)
		return o->min_free.n;
	return part < DEFAULT_BYTES ? part : DEFAULT_BYTES;
}

/* Formats a number of bytes with a unit. */
static void print_bytes(char to[32], uint64_t n)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double v = (double)n;
	size_t i = 0;

	for (; v >= 1023.95; v /= 1024) /* "1024.0 KiB" is 1 MiB */
		i++;
	snprintf(to, 32, "%.*f %s", v == (double)(uint64_t)v ? 0 : 1, v, units[i]);
}

/* Checks the open file, whatever its path refers to now. */
static enum file_guard_end check_room(const struct options *o, const char *path, int fd,
				      uint64_t bytes)
{
	char has[32], keeps[32], needs[32];
	struct statvfs fs;
	uint64_t left, limit, pending;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || fstatvfs(fd, &fs))
		return FILE_GOES_ON;
	left = (uint64_t)fs.f_bavail * fs.f_frsize;
	limit = min_free(o, &fs);
	pending = bytes > (uint64_t)st.st_size ? bytes - (uint64_t)st.st_size : 0;
	if (!limit || left >= limit + pending + LOOK_BYTES + END_BYTES)
		return FILE_GOES_ON;
	print_bytes(has, left);
	print_bytes(keeps, limit);
	print_bytes(needs, pending + LOOK_BYTES + END_BYTES);
	say("%s: the file ends here: its file system has %s left, too little for %s more beside "
	    "the %s of --min-free; free some, or give another --min-free",
	    path, has, needs, keeps);
	return FILE_LEAVES_NO_ROOM;
}

enum file_guard_end file_guard_look(struct file_guard *g, const struct options *o, const char *path,
				    int fd, uint64_t bytes, uint64_t total, size_t sz)
{
	uint64_t left;

	g->next_bytes = UINT64_MAX;
	if (!strcmp(o->write, "-"))
		return FILE_GOES_ON;
	g->next_bytes = bytes + LOOK_BYTES;
	if (o->max_size) {
		if (total + sz + END_BYTES > o->max_size) {
			say_log(NULL, SCAP_LOG_WARN,
				"the capture file ends here: it has --max-size");
			return FILE_REACHED_SIZE;
		}
		left = o->max_size - END_BYTES - total;
		if (left < LOOK_BYTES)
			g->next_bytes = bytes + left;
	}
	return check_room(o, path, fd, bytes);
}
