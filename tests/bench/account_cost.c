/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures what accounting costs: account_cost [N-PROCESSES]. One line "program runs ns" for each
 * program, by the kernel's own statistics, the first of a program that reads the clock only; then
 * "by_switch ns" for all programs that run by default while tasks are switched, and
 * "read us" for the shortest read with so many processes more, and "idle_read us" for one right
 * after another.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "account_impl.h"

#include "account_bpf.skel.h"
#include "floor.skel.h"

#define SWITCHES 100000
#define FORKS 1000
#define CALLS 300000
#define READS 20
#define PACKETS 50000

static int fail(const char *what, int err)
{
	fprintf(stderr, "account_cost: %s: %s\n", what, strerror(-err));
	return 1;
}

static void stay_on_cpu_0(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Two processes on one CPU that wake each other, by pipes: sockets are counted apart. */
static void switch_tasks(void)
{
	char byte = 0;
	int there[2], back[2];
	pid_t pid;

	if (pipe(there) || pipe(back) || (pid = fork()) < 0)
		return;
	stay_on_cpu_0();
	if (!pid) {
		close(there[1]);
		while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	close(there[0]);
	for (int i = 0; i < SWITCHES / 2; i++)
		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			break;
	close(there[1]);
	waitpid(pid, NULL, 0);
	close(back[0]);
	close(back[1]);
}

/* Packets to itself. */
static void send_packets(void)
{
	struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(addr);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	char byte = 0;

	if (!bind(fd, (struct sockaddr *)&addr, len) &&
	    !getsockname(fd, (struct sockaddr *)&addr, &len) &&
	    !connect(fd, (struct sockaddr *)&addr, len))
		for (int i = 0; i < PACKETS; i++)
			if (send(fd, &byte, 1, 0) != 1 || recv(fd, &byte, 1, 0) != 1)
				break;
	close(fd);
}

static void make_work(void)
{
	char path[] = "/var/tmp/account_cost.XXXXXX", page[4096] = {0};
	int fd = mkstemp(path);

	send_packets();
	for (int i = 0; i < FORKS; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
	for (int i = 0; i < CALLS; i++)
		getppid();
	for (int i = 0; i < 4096 && fd >= 0; i++)
		if (write(fd, page, sizeof(page)) != sizeof(page))
			break;
	fsync(fd);
	for (int i = 0; i < 50000 && fd >= 0; i++)
		if (pread(fd, page, sizeof(page), (off_t)(i % 4096) * (off_t)sizeof(page)) < 0)
			break;
	unlink(path);
	close(fd);
}

static void print(const char *name, int fd)
{
	struct bpf_prog_info info = {0};
	uint32_t sz = sizeof(info);

	if (!bpf_obj_get_info_by_fd(fd, &info, &sz) && info.run_cnt)
		printf("%s %llu %.0f\n", name, (unsigned long long)info.run_cnt,
		       (double)info.run_time_ns / (double)info.run_cnt);
}

/* Prints the times of the shortest reads: after all processes ran, and after none did. */
static int measure_reads(struct scap_account *a, int n)
{
	const struct scap_account_snapshot *s;
	uint64_t best[2] = {UINT64_MAX, UINT64_MAX};
	pid_t *pids = calloc((size_t)n, sizeof(*pids));
	int err = pids ? 0 : -ENOMEM;

	for (int i = 0; i < n && !err; i++) {
		pids[i] = fork();
		if (!pids[i])
			for (;;)
				pause();
	}
	for (int r = 0; r < READS && !err; r++) {
		for (int i = 0; i < n; i++)
			if (pids[i] > 0)
				kill(pids[i], r & 1 ? SIGCONT : SIGSTOP);
		usleep(50000);
		for (int i = 0; i < 2 && !err; i++) {
			err = scap_account_read(a, &s);
			if (!err && s->read_ns < best[i])
				best[i] = s->read_ns;
		}
	}
	for (int i = 0; pids && i < n; i++)
		if (pids[i] > 0) {
			kill(pids[i], SIGKILL);
			waitpid(pids[i], NULL, 0);
		}
	free(pids);
	if (!err)
		printf("read %llu\nidle_read %llu\n", (unsigned long long)best[0] / 1000,
		       (unsigned long long)best[1] / 1000);
	return err;
}

/* Returns the ns that the programs ran of which the exporter loads by default. */
static double run_ns(const struct scap_account *a)
{
	struct bpf_program *p;
	double sum = 0;

	bpf_object__for_each_program(p, a->skel->obj)
	{
		struct bpf_prog_info info = {0};
		uint32_t sz = sizeof(info);

		if (p != a->skel->progs.account_call && p != a->skel->progs.account_counters &&
		    bpf_program__fd(p) >= 0 &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &sz))
			sum += (double)info.run_time_ns;
	}
	return sum;
}

/* Prints what all hooks take by switch, wake-ups and whatever else the machine does included. */
static void measure_switches(const struct scap_account *a)
{
	struct bpf_prog_info info = {0};
	uint32_t sz = sizeof(info);
	double ns;

	switch_tasks();
	ns = run_ns(a);
	if (!bpf_obj_get_info_by_fd(bpf_program__fd(a->skel->progs.account_switch), &info, &sz) &&
	    info.run_cnt)
		printf("by_switch %.1f\n", ns / (double)info.run_cnt);
}

int main(int argc, char **argv)
{
	const struct scap_account_opts o = {.sz = sizeof(o),
					    .parts = SCAP_ACCT_ALL,
					    .counters = "cpu_cycles=software:cpu-clock"};
	struct floor *f = floor__open();
	struct bpf_program *p;
	struct scap_account *a;
	int stats, err;

	/* Before libscap changes how libbpf loads programs of tracepoints. */
	if (!f)
		return fail("the floor program", -errno);
	bpf_object__for_each_program(p, f->obj)
		bpf_program__set_autoload(p, p == f->progs.floor_switch);
	if (floor__load(f) || floor__attach(f))
		return fail("the floor program", -errno);
	err = scap_account_open(&a, &o);
	if (err)
		return fail("accounting", err);
	stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	measure_switches(a);
	make_work();
	close(stats);
	print("clock", bpf_program__fd(f->progs.floor_switch));
	bpf_object__for_each_program(p, a->skel->obj) if (bpf_program__fd(p) >= 0)
		print(bpf_program__name(p), bpf_program__fd(p));
	err = measure_reads(a, argc > 1 ? atoi(argv[1]) : 2000);
	scap_account_close(a);
	floor__destroy(f);
	return err ? fail("reading", err) : 0;
}
