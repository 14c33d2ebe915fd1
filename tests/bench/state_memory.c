/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the memory of threads and files, and the time of a lookup, for 1,000 to 1,000,000
 * threads of the fake source. Each thread is a process with 5 files (fewer if there is no room) and
 * its own command line of 200 bytes; every 100 processes share an environment of 1.5 KB. Prints a
 * line for each size. Child processes measure it: without files, with the same file names in all
 * processes, and with two names of its own for each process.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fd.h"
#include "sinsp.h"
#include "testing/engine_fake.h"
#include "thread.h"

#define N_FILES 5
#define N_LOOKUPS 2000000

/* What each process has. */
struct files {
	size_t n;
	int own_names;
};

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static long rss_anon_kb(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kb = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %ld", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

/* A log file and a connection have names that each process has alone, if @tid is its own. */
static void describe_files(struct scap_fd_info fds[N_FILES], char names[N_FILES][64], uint64_t tid)
{
	memset(fds, 0, N_FILES * sizeof(*fds));
	for (int i = 0; i < N_FILES; i++) {
		fds[i].fd = i;
		fds[i].type = SCAP_FD_FILE_V2;
		fds[i].name = names[i];
	}
	strcpy(names[0], "/dev/null");
	strcpy(names[1], "/dev/pts/0");
	fds[2].type = SCAP_FD_FIFO;
	names[2][0] = 0;
	fds[2].ino = tid;
	snprintf(names[3], 64, "/var/log/app/%llu.log", (unsigned long long)tid);
	fds[4].type = SCAP_FD_IPV4_SOCK;
	fds[4].l4proto = SCAP_L4_TCP;
	memcpy(fds[4].sip, &tid, 4);
	memcpy(fds[4].dip, (uint8_t[]){10, 0, 0, 1}, 4);
	fds[4].sport = 40000 + tid % 20000;
	fds[4].dport = 443;
}

static int add(struct scap_state_build *b, uint64_t tid, struct files files)
{
	char names[N_FILES][64], args[200], env[1500];
	struct scap_fd_info fds[N_FILES];
	struct scap_thread_info t = {
		.tid = tid,
		.pid = tid,
		.ptid = 1,
		.vtid = tid,
		.vpid = tid,
		.comm = "worker",
		.exe = "/usr/bin/worker",
		.exepath = "/usr/bin/worker",
		.cwd = "/srv",
		.root = "/",
		.args = {args, sizeof(args)},
		.env = {env, sizeof(env)},
		.cgroups = {"cpu=/system.slice/worker.service", 33},
	};

	memset(args, 'a', sizeof(args));
	memset(env, 'e', sizeof(env));
	memcpy(args, &tid, sizeof(tid));
	memcpy(env, &(uint64_t){tid / 100}, sizeof(tid));
	if (scap_state_build_thread(b, &t))
		return -1;
	describe_files(fds, names, files.own_names ? tid : 0);
	for (size_t i = 0; i < files.n; i++)
		if (scap_state_build_fd(b, tid, &fds[i]))
			return -1;
	return 0;
}

/* NULL: no memory. */
static struct scap *open_source(uint64_t n, struct files files)
{
	struct scap_fake *f = scap_fake_new();
	struct scap *src;

	if (!f)
		return NULL;
	for (uint64_t tid = 1; tid <= n; tid++)
		if (add(scap_fake_state(f), tid, files))
			return NULL;
	return scap_fake_open(&src, f) ? NULL : src;
}

/* Nanoseconds for a thread and a file of it, in an order that no cache foresees. 0: not all are
 * there. */
static double lookup_ns(struct sinsp *s, uint64_t n, size_t n_files)
{
	uint64_t x = 1, found = 0;
	double begin = now_s();

	for (int i = 0; i < N_LOOKUPS; i++) {
		const struct sinsp_thread *t;

		x = x * 6364136223846793005 + 1442695040888963407;
		t = sinsp_thread_find(s, 1 + (x >> 33) % n);
		found += t && sinsp_thread_fd(t, n_files - 1);
	}
	return found == N_LOOKUPS ? (now_s() - begin) / N_LOOKUPS * 1e9 : 0;
}

struct result {
	double kb, lookup_ns;
};

/* Memory that opening adds to the source's own, which keeps its state meanwhile. */
static struct result measure(uint64_t n, struct files files)
{
	struct scap *src = open_source(n, files);
	struct result r = {0};
	struct sinsp *s;
	long before;

	malloc_trim(0); /* what is free would be used unseen */
	before = rss_anon_kb();
	if (!src || sinsp_open(&s, src, NULL))
		return r;
	r.kb = rss_anon_kb() - before;
	if (files.n)
		r.lookup_ns = lookup_ns(s, n, files.n);
	return r;
}

static struct result measure_in_child(uint64_t n, struct files files)
{
	struct result r = {0};
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		return r;
	pid = fork();
	if (pid == 0) {
		r = measure(n, files);
		_exit(write(ends[1], &r, sizeof(r)) != sizeof(r));
	}
	close(ends[1]);
	if (read(ends[0], &r, sizeof(r)) != sizeof(r))
		r = (struct result){0};
	close(ends[0]);
	waitpid(pid, NULL, 0);
	return r;
}

/* 0, or -1 with a message. */
static int print_row(uint64_t n)
{
	size_t room = SINSP_FILES_TOTAL_MAX / n, n_files = room < N_FILES ? room : N_FILES;
	struct result bare = measure_in_child(n, (struct files){0});
	struct result same = measure_in_child(n, (struct files){.n = n_files});
	struct result full = measure_in_child(n, (struct files){.n = n_files, .own_names = 1});
	double to_bytes = 1024.0 / n;

	if (!bare.kb || !same.kb || !full.lookup_ns) {
		fprintf(stderr, "state_memory: no room for %llu threads\n", (unsigned long long)n);
		return -1;
	}
	printf("%10llu%12zu%10.0f%10.0f%12.0f%10.1f%12.0f\n", (unsigned long long)n, n_files,
	       bare.kb * to_bytes, (same.kb - bare.kb) * to_bytes / n_files,
	       (full.kb - bare.kb) * to_bytes / n_files, full.kb / 1024, full.lookup_ns);
	fflush(stdout);
	return 0;
}

int main(void)
{
	printf("%10s%12s%10s%10s%12s%10s%12s\n", "threads", "files each", "B/thread", "B/file",
	       "with names", "MiB", "lookup ns");
	fflush(stdout); /* before a child could inherit it */
	for (uint64_t n = 1000; n <= 1000000; n *= 10)
		if (print_row(n))
			return 1;
	return 0;
}
