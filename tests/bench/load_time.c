/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded before saker (LD_PRELOAD): the time that it spends in the kernel's verifier. A loader that
 * does nothing else, with as many threads, takes at least the sum by their number. Printed to
 * standard error as "load_time: N programs, N threads, N us".
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "clock.h"

enum { MAX_THREADS = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t sum_ns;
static unsigned int n_programs, n_threads;
static pthread_t threads[MAX_THREADS];

static void note(uint64_t ns)
{
	unsigned int i = 0;

	pthread_mutex_lock(&lock);
	sum_ns += ns;
	n_programs++;
	while (i < n_threads && !pthread_equal(threads[i], pthread_self()))
		i++;
	if (i == n_threads && i < MAX_THREADS)
		threads[n_threads++] = pthread_self();
	pthread_mutex_unlock(&lock);
}

/* Programs of more than a few instructions: libbpf loads some to learn what the kernel can. */
__attribute__((visibility("default"))) int
bpf_prog_load(enum bpf_prog_type type, const char *name, const char *license,
	      const struct bpf_insn *insns, size_t n, const struct bpf_prog_load_opts *opts)
{
	typeof(bpf_prog_load) *real = (typeof(real))dlsym(RTLD_NEXT, "bpf_prog_load");
	const uint64_t begin_ns = clock_now_ns();
	const int fd = real(type, name, license, insns, n, opts);

	if (n > 10)
		note(clock_now_ns() - begin_ns);
	return fd;
}

__attribute__((destructor)) static void print(void)
{
	if (n_programs)
		dprintf(STDERR_FILENO, "load_time: %u programs, %u threads, %llu us\n", n_programs,
			n_threads, (unsigned long long)sum_ns / 1000);
}
