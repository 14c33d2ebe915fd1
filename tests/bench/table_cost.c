/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures what unwind tables cost: table_cost files ROUNDS FILE..., table_cost processes PID...
 *
 * Of files with rows one line each: nanoseconds on a CPU, the least of ROUNDS, from opening it to
 * its rows, then rows and path. Of processes: what all tables of what they have mapped take, in
 * bytes, as the driver has them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "unwind/unwind_procs.h"
#include "unwind/unwind_rows.h"

#define POOL_SZ (1u << 30)

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* How many rows; a negative errno: the file has none that could be read. */
static int64_t make_rows(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct unwind_rows rows;
	struct elf_file *f;
	int64_t n;

	if (fd < 0)
		return -errno;
	n = elf_file_open(&f, fd);
	if (!n) {
		n = unwind_rows_of_file(&rows, f, NULL, NULL);
		if (!n) {
			n = (int64_t)rows.n;
			unwind_rows_fini(&rows);
		}
		elf_file_close(f);
	}
	close(fd);
	return n;
}

static void measure(const char *path, int rounds)
{
	uint64_t least = UINT64_MAX;
	int64_t n = 0;

	for (int i = 0; i < rounds && n >= 0; i++) {
		const uint64_t from = now_ns();
		uint64_t took;

		n = make_rows(path);
		took = now_ns() - from;
		if (took < least)
			least = took;
	}
	if (n > 0)
		printf("%llu %lld %s\n", (unsigned long long)least, (long long)n, path);
}

static int sum_processes(char **pids, int n)
{
	struct unwind_files_stats st;
	struct unwind_procs *procs = NULL;
	struct unwind_files *files = NULL;
	struct unwind_pool *pool = NULL;
	int err = unwind_pool_new(&pool, -1, POOL_SZ);

	err = err ?: unwind_files_new(&files, pool);
	err = err ?: unwind_procs_new(&procs, pool, files, -1);
	for (int i = 0; i < n && !err; i++)
		err = unwind_procs_scan(procs, (uint32_t)atoi(pids[i]), now_ns());
	if (!err) {
		unwind_procs_publish(procs, now_ns());
		unwind_files_stats(files, &st);
		printf("bytes %zu\nfiles %llu\nrows %llu\n", unwind_pool_used(pool),
		       (unsigned long long)st.n_files, (unsigned long long)st.n_rows);
	}
	unwind_procs_free(procs);
	unwind_files_free(files);
	unwind_pool_free(pool);
	return err;
}

int main(int argc, char **argv)
{
	int err = 0;

	if (argc > 3 && !strcmp(argv[1], "files")) {
		for (int i = 3; i < argc; i++)
			measure(argv[i], atoi(argv[2]));
	} else if (argc > 2 && !strcmp(argv[1], "processes")) {
		err = sum_processes(argv + 2, argc - 2);
	} else {
		fprintf(stderr, "usage: table_cost files ROUNDS FILE... | processes PID...\n");
		return 2;
	}
	if (err)
		fprintf(stderr, "table_cost: %s\n", strerror(-err));
	return err != 0;
}
