/* SPDX-License-Identifier: Apache-2.0 */
#include "procfs/online_cpus.h"

#include <errno.h>
#include <stdio.h>

#include <bpf/libbpf.h>

#define ONLINE "/sys/devices/system/cpu/online"

static void add_range(cpu_set_t *out, int from, int to)
{
	for (int cpu = from; cpu <= to && cpu < CPU_SETSIZE; cpu++)
		CPU_SET((size_t)cpu, out);
}

/* Ranges, as "0-3,6". */
static void read_ranges(cpu_set_t *out, FILE *f)
{
	int from, to;

	while (fscanf(f, "%d", &from) == 1 && from >= 0) {
		to = from;
		if (fscanf(f, "-%d", &to) < 0)
			to = from;
		add_range(out, from, to);
		if (fgetc(f) != ',')
			break;
	}
}

int online_cpus(cpu_set_t *out)
{
	FILE *f = fopen(ONLINE, "re");

	CPU_ZERO(out);
	if (f) {
		read_ranges(out, f);
		fclose(f);
	} else {
		add_range(out, 0, libbpf_num_possible_cpus() - 1);
	}
	return CPU_COUNT(out) ? 0 : -EINVAL;
}
