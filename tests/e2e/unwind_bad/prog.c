/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prog HOW MS: burns MS of CPU time in code whose stack can be no stack, or beside files that are
 * no ELF files any more: what unwinds it meets whatever a program may do.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define KERNEL 0xffffffff81000000ull

static volatile uint64_t sink;

static int has_time(double seconds)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9 < seconds;
}

/* Spins with @sp and @bp for stack pointer and frame pointer, here: where there are rows. */
__attribute__((noinline)) static void spin_in_file(uint64_t sp, uint64_t bp)
{
	__asm__ volatile("mov %%rsp, %%r12\n"
			 "mov %%rbp, %%r13\n"
			 "mov %0, %%rsp\n"
			 "mov %1, %%rbp\n"
			 "mov $20000000, %%ecx\n"
			 "1: dec %%ecx\n"
			 "jnz 1b\n"
			 "mov %%r12, %%rsp\n"
			 "mov %%r13, %%rbp\n"
			 :
			 : "r"(sp), "r"(bp)
			 : "rcx", "r12", "r13", "memory");
}

/* push rbp; mov rbp, rdi; mov ecx, 20000000; dec ecx; jnz; pop rbp; ret: code that no file has. */
static const uint8_t code[] = {0x55, 0x48, 0x89, 0xfd, 0xb9, 0x00, 0x2d, 0x31,
			       0x01, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3};

static void (*made)(uint64_t bp);

static void make_code(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	memcpy(p, code, sizeof(code));
	made = (void (*)(uint64_t))p;
}

/* Code of a file that is then changed under the feet of whoever reads it. */
static void map_file(const char *how)
{
	char path[] = "/tmp/saker-bad-XXXXXX";
	int fd = mkstemp(path), from = open("/proc/self/exe", O_RDONLY);
	char page[65536];
	ssize_t n;

	while ((n = read(from, page, sizeof(page))) > 0)
		if (write(fd, page, (size_t)n) != n)
			exit(1);
	if (!strcmp(how, "corrupt"))
		for (off_t at = 64; at < 60000; at += 7)
			if (pwrite(fd, "\xff\x80\x01", 3, at) != 3)
				exit(1);
	if (mmap(NULL, 1 << 20, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0) == MAP_FAILED)
		exit(1);
	if (!strcmp(how, "truncated") && ftruncate(fd, 100))
		exit(1);
	unlink(path);
}

__attribute__((noinline)) static void spin_beside(const char *how)
{
	map_file(how);
	for (int i = 0; i < 20000000; i++)
		sink += (uint64_t)i;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	const double seconds = argc > 2 ? atoi(argv[2]) / 1e3 : 0.1;
	uint64_t loop[2] = {(uintptr_t)loop};

	make_code();
	loop[1] = (uintptr_t)made + 5;
	while (has_time(seconds)) {
		if (!strcmp(how, "rsp"))
			spin_in_file(0x1234567, 0);
		else if (!strcmp(how, "rsp_kernel"))
			spin_in_file(KERNEL, KERNEL);
		else if (!strcmp(how, "rsp_unmapped"))
			spin_in_file(0x10000, 0x10000);
		else if (!strcmp(how, "rbp"))
			made(0x1234567);
		else if (!strcmp(how, "rbp_kernel"))
			made(KERNEL);
		else if (!strcmp(how, "circle"))
			made((uintptr_t)loop);
		else
			spin_beside(how);
	}
	return 0;
}
