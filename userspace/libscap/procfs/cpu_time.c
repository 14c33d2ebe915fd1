/* SPDX-License-Identifier: Apache-2.0 */
#include "procfs/cpu_time.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "procfs/proc_file.h"

enum { STAT_MAX = 2048, MEMBERS_BEFORE_FAULTS = 6, MEMBERS_BEFORE_START = 6 };

static uint64_t ticks_ns(uint64_t ticks)
{
	const uint64_t per_s = (uint64_t)sysconf(_SC_CLK_TCK);

	return ticks / per_s * CLOCK_S + ticks % per_s * CLOCK_S / per_s;
}

static void skip(const char **p, int n)
{
	while (n--)
		proc_int(p);
}

/* The thread chooses its comm, which may contain ')': the members are behind the last one. */
static int parse(struct scap_cpu_time *out, const char *text)
{
	const char *p = strrchr(text, ')'), *start;
	struct scap_cpu_time t;

	if (!p || strlen(p) < sizeof(") S"))
		return -EINVAL;
	p += sizeof(") S") - 1;
	skip(&p, MEMBERS_BEFORE_FAULTS);
	t.pfminor = proc_dec(&p);
	skip(&p, 1); /* of children */
	t.pfmajor = proc_dec(&p);
	skip(&p, 1);
	t.user_ns = ticks_ns(proc_dec(&p));
	t.system_ns = ticks_ns(proc_dec(&p));
	skip(&p, MEMBERS_BEFORE_START);
	start = p;
	t.start_ns = ticks_ns(proc_dec(&p));
	if (p == start)
		return -EINVAL;
	t.vmsize_kb = proc_kb(proc_dec(&p) / 1024);
	t.vmrss_kb = proc_kb(proc_dec(&p) * ((uint64_t)sysconf(_SC_PAGESIZE) / 1024));
	*out = t;
	return 0;
}

int scap_cpu_time_read(struct scap_cpu_time *out, int proc_fd, int64_t pid, int64_t tid)
{
	char path[64], text[STAT_MAX];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%" PRId64 "/task/%" PRId64 "/stat", pid, tid);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	n = n < 0 ? -errno : n;
	close(fd);
	if (n < 0)
		return (int)n;
	text[n] = 0;
	return parse(out, text);
}
