/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls functions with uretprobes, which it sets itself, and an instruction with a uprobe that runs
 * out of line. It uses as many milliseconds of CPU time as its argument says, half of it below the
 * calls, half around the instruction. Where the kernel has no probes it prints that and ends with
 * 77.
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RETURNS 1 /* the bit of the kind's format */

static volatile unsigned long sink;
static double seconds;

/* Address of the instruction. */
extern const uint64_t __start_probed[];

static int is_over(double part)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9 >= seconds * part;
}

__attribute__((noinline)) void busy(void)
{
	do {
		for (int i = 0; i < 100000; i++)
			sink += i;
	} while (!is_over(0.5));
}

/* An instruction that is no jump, call or push: those the kernel emulates. */
__attribute__((noinline)) void stepping(void)
{
	unsigned long n = 0;

	do {
		for (int i = 0; i < 1000; i++)
			__asm__ volatile("1:	leaq 1(%0), %0\n"
					 "	.pushsection probed, \"aw\"\n"
					 "	.quad 1b\n"
					 "	.popsection\n"
					 : "+r"(n));
	} while (!is_over(1));
	sink += n;
}

__attribute__((noinline)) int middle(int n)
{
	volatile char room[48];

	room[n & 31] = (char)n;
	if (n) {
		sink += (unsigned long)middle(n - 1);
	} else {
		busy();
		stepping();
	}
	return room[n & 31];
}

__attribute__((noinline)) int outer(int n)
{
	volatile char room[200];

	room[n] = 1;
	sink += (unsigned long)middle(2);
	return room[n];
}

/* Returns the file offset of an address in this program. */
static uint64_t offset_of(uint64_t addr)
{
	unsigned long long from, to, offset;
	FILE *f = fopen("/proc/self/maps", "re");
	uint64_t found = 0;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx-%llx %*s %llx", &from, &to, &offset) == 3 && addr >= from &&
		    addr < to)
			found = addr - from + offset;
	if (f)
		fclose(f);
	return found;
}

static int probe(uint32_t type, uint64_t addr, uint64_t config)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.uprobe_path = (uintptr_t) "/proc/self/exe",
		.probe_offset = offset_of(addr),
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int main(int argc, char **argv)
{
	FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	unsigned int type;

	if (!f || fscanf(f, "%u", &type) != 1 || probe(type, (uintptr_t)outer, RETURNS) < 0 ||
	    probe(type, (uintptr_t)middle, RETURNS) < 0 || probe(type, *__start_probed, 0) < 0) {
		perror("probes");
		return 77;
	}
	fclose(f);
	seconds = argc > 1 ? atof(argv[1]) / 1000 : 0.1;
	return outer(1) != 1;
}
