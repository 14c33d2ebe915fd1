/* SPDX-License-Identifier: Apache-2.0 */
/* Spends its time where its first argument says: hot, long, lib A.so B.so, jit [SIZE], jitdump DIR,
 * deleted, wait, kernel. Prints what a test needs besides that. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile unsigned long sink;

static unsigned long cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (unsigned long)t.tv_sec * 1000 + (unsigned long)t.tv_nsec / 1000000;
}

static inline __attribute__((always_inline)) void put_in(unsigned long i)
{
	sink = sink * 31 + i;
	sink = sink * 17 + i;
}

NOINLINE void very_hot(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++) {
		put_in(i);
		sink ^= n; /* time of its own */
	}
}

NOINLINE void in_between(unsigned long ms)
{
	const unsigned long end = cpu_ms() + ms;

	while (cpu_ms() < end)
		very_hot(1 << 16);
	sink++;
}

NOINLINE void read_zeros(unsigned long ms)
{
	const unsigned long end = cpu_ms() + ms;
	static char buf[1 << 20];
	FILE *f = fopen("/dev/zero", "r");

	setvbuf(f, NULL, _IONBF, 0);
	while (cpu_ms() < end)
		sink += fread(buf, 1, sizeof(buf), f);
	fclose(f);
}

/* Two libraries, one after the other, at the same address if the system maps them there. */
static void run_library(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW);
	void (*spin)(unsigned long) = lib ? (void (*)(unsigned long))dlsym(lib, "spin") : NULL;
	const unsigned long end = cpu_ms() + 300;

	if (!spin)
		exit(2);
	printf("%p\n", (void *)spin);
	while (cpu_ms() < end)
		spin(1 << 16);
	dlclose(lib);
}

/* push %rbp; mov %rsp,%rbp; 1: dec %rdi; jne 1b; pop %rbp; ret */
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xff,
				     0xcf, 0x75, 0xfb, 0x5d, 0xc3};

/* @size: of the perf map, whose rest is a hole; 0: no hole. */
static void run_jit(off_t size)
{
	char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	const unsigned long end = cpu_ms() + 400;
	char name[64];
	FILE *f;

	memcpy(p, code, sizeof(code));
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
	f = fopen(name, "w");
	fprintf(f, "%lx %zx LFoo;::made_here\n", (unsigned long)p, sizeof(code));
	fclose(f);
	if (size && truncate(name, size))
		exit(2);
	puts(name);
	while (cpu_ms() < end)
		((void (*)(unsigned long))p)(1 << 20);
}

/* A function generated at the place of another one; a jitdump file has the times of both. */
static void tell_code(FILE *f, uint64_t at, const char *name)
{
	struct timespec t;
	struct {
		uint32_t id, total_size;
		uint64_t timestamp;
		uint32_t pid, tid;
		uint64_t vma, code_addr, code_size, code_index;
	} load = {.pid = (uint32_t)getpid(), .vma = at, .code_addr = at, .code_size = sizeof(code)};

	clock_gettime(CLOCK_MONOTONIC, &t);
	load.timestamp = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	load.total_size = (uint32_t)(sizeof(load) + strlen(name) + 1 + sizeof(code));
	fwrite(&load, sizeof(load), 1, f);
	fwrite(name, strlen(name) + 1, 1, f);
	fwrite(code, sizeof(code), 1, f);
	fflush(f);
}

static void run_jitdump(const char *dir)
{
	const uint32_t header[10] = {0x4a695444, 1, sizeof(header), 62, 0, (uint32_t)getpid()};
	char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	char name[4096];
	FILE *f;

	snprintf(name, sizeof(name), "%s/jit-%d.dump", dir, getpid());
	f = fopen(name, "w+");
	fwrite(header, sizeof(header), 1, f);
	fflush(f);
	/* The record that names the file. */
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0);
	memcpy(p, code, sizeof(code));
	for (int i = 0; i < 2; i++) {
		const unsigned long end = cpu_ms() + 500;

		tell_code(f, (uint64_t)(size_t)p, i ? "made_second" : "made_first");
		while (cpu_ms() < end)
			((void (*)(unsigned long))p)(1 << 20);
	}
	fclose(f);
}

NOINLINE void waits_long(void)
{
	const struct timespec nap = {0, 50000000};

	for (int i = 0; i < 10; i++)
		nanosleep(&nap, NULL);
	sink++;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "hot";

	if (strcmp(what, "deleted") == 0)
		unlink(argv[0]);
	if (strcmp(what, "lib") == 0) {
		run_library(argv[2]);
		run_library(argv[3]);
	} else if (strcmp(what, "jit") == 0) {
		run_jit(argc > 2 ? atol(argv[2]) : 0);
	} else if (strcmp(what, "jitdump") == 0) {
		run_jitdump(argv[2]);
	} else if (strcmp(what, "wait") == 0) {
		waits_long();
	} else if (strcmp(what, "kernel") == 0) {
		read_zeros(400);
	} else {
		in_between(strcmp(what, "long") ? 400 : 1600);
	}
	fflush(stdout);
	return 0;
}
