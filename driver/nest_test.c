/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writers that nest: a sampler at 20 kHz writes records on every CPU, also in the midst of those
 * of system calls. Nothing may be torn, lost without account, or out of order.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "event_table.h"
#include "ia32.h"
#include "ring_impl.h"

#include "nest_test.skel.h"

#define RING_SZ (16u << 20)
#define MAX_CPUS 64

struct nest {
	struct nest_test *skel;
	struct ring *rings[MAX_CPUS];
	struct bpf_link *samplers[MAX_CPUS];
	unsigned int n_cpus;
	uint64_t n_calls, n_samples, n_back;
};

static void set_filler(const struct nest *n, uint32_t nr, const struct bpf_program *p)
{
	int fd = bpf_program__fd(p);

	assert_int_equal(bpf_map_update_elem(bpf_map__fd(n->skel->maps.fillers), &nr, &fd, BPF_ANY),
			 0);
}

static void load(struct nest *n)
{
	struct nest_test *s = nest_test__open();
	struct drv_config *c;

	assert_non_null(s);
	n->skel = s;
	n->n_cpus = (unsigned int)libbpf_num_possible_cpus();
	assert_true(n->n_cpus <= MAX_CPUS);
	c = (struct drv_config *)&s->rodata->cfg;
	c->self_tgid = (uint32_t)getpid();
	c->ring_kind = RING_ARRAY;
	c->ring_sz = RING_SZ;
	c->wake_sz = RING_SZ;
	c->snaplen = 200;
	c->task_storage = 0;
	bpf_map__set_value_size(s->maps.rings, (uint32_t)ring_value_sz(RING_ARRAY, RING_SZ));
	bpf_map__set_max_entries(s->maps.rings, n->n_cpus);
	bpf_map__set_autocreate(s->maps.perf_rings, false);
	bpf_map__set_autocreate(s->maps.ringbuf_rings, false);
	bpf_map__set_autocreate(s->maps.saved_storage, false);
	bpf_program__set_autoload(s->progs.fill_openat, true);
	bpf_program__set_autoload(s->progs.fill_write, true);
	bpf_program__set_autoload(s->progs.task_rows, false);
	assert_int_equal(nest_test__load(s), 0);
	set_filler(n, SYS_openat, s->progs.fill_openat);
	set_filler(n, SYS_write, s->progs.fill_write);
	for (unsigned int cpu = 0; cpu < n->n_cpus; cpu++)
		assert_int_equal(ring_open(&n->rings[cpu], &ring_array_ops, cpu, RING_SZ,
					   bpf_map__fd(s->maps.rings), bpf_map__fd(s->maps.rings),
					   s->bss->slots),
				 0);
}

static void attach(struct nest *n)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = 20000,
	};

	n->skel->links.sched_switch = bpf_program__attach(n->skel->progs.sched_switch);
	n->skel->links.sys_exit = bpf_program__attach(n->skel->progs.sys_exit);
	n->skel->links.sys_enter = bpf_program__attach(n->skel->progs.sys_enter);
	assert_non_null(n->skel->links.sched_switch);
	assert_non_null(n->skel->links.sys_exit);
	assert_non_null(n->skel->links.sys_enter);
	for (unsigned int cpu = 0; cpu < n->n_cpus; cpu++) {
		int fd = (int)syscall(SYS_perf_event_open, &a, -1, cpu, -1, 0);

		assert_true(fd >= 0);
		n->samplers[cpu] = bpf_program__attach_perf_event(n->skel->progs.sample, fd);
		assert_non_null(n->samplers[cpu]);
	}
}

static void make_calls(void)
{
	static char buf[4096];
	char path[600];
	int fd = open("/dev/null", O_WRONLY);
	time_t end = time(NULL) + 2;

	memset(path, '/', sizeof(path));
	strcpy(path + sizeof(path) - 16, "dev/null");
	memset(buf, 'x', sizeof(buf));
	while (time(NULL) < end) {
		syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, path, O_RDONLY));
		syscall(SYS_write, fd, buf, sizeof(buf));
	}
}

/* Every parameter of a record adds up, and its text is whole. */
static void check_record(struct nest *n, const struct rec_hdr *rec)
{
	struct scap_params p;

	assert_int_equal(scap_evt_params(&rec->evt, &p), 0);
	if (rec->nr == REC_NR_NONE) {
		assert_int_equal(rec->evt.type, EVT_SYSCALL_E);
		n->n_samples++;
		return;
	}
	n->n_calls++;
	if (rec->evt.type == EVT_OPENAT_X && p.v[2].len > 500)
		for (uint32_t i = 0; i + 10 < p.v[2].len; i++)
			assert_int_equal(p.v[2].p[i], '/');
}

static void drain(struct nest *n)
{
	static uint64_t last[MAX_CPUS];
	struct ring_bound bound;
	const struct rec_hdr *rec;

	for (unsigned int cpu = 0; cpu < n->n_cpus; cpu++) {
		ring_refresh(n->rings[cpu], &bound);
		while ((rec = ring_peek(n->rings[cpu]))) {
			check_record(n, rec);
			n->n_back += rec_key(rec) < last[cpu];
			last[cpu] = rec_key(rec);
			ring_advance(n->rings[cpu]);
		}
		ring_release(n->rings[cpu]);
		assert_int_equal(ring_n_corrupt(n->rings[cpu]), 0);
	}
}

static void test_nest(void **state)
{
	struct nest n = {0};
	struct drv_counters sum = {0};
	uint64_t dropped = 0, nested = 0;
	pid_t pid;

	(void)state;
	load(&n);
	attach(&n);
	pid = fork();
	if (!pid) {
		make_calls();
		_exit(0);
	}
	while (!waitpid(pid, NULL, WNOHANG)) {
		drain(&n);
		usleep(500);
	}
	for (unsigned int cpu = 0; cpu < n.n_cpus; cpu++)
		bpf_link__destroy(n.samplers[cpu]);
	nest_test__detach(n.skel);
	usleep(10000); /* programs that were running */
	drain(&n);
	for (unsigned int cpu = 0; cpu < n.n_cpus; cpu++) {
		ring_counters(n.rings[cpu], &sum);
		for (int l = 1; l < DRV_LEVELS; l++)
			nested += n.rings[cpu]->hdr->counters[l].seen;
	}
	for (int i = 0; i < DRV_DROP_MAX; i++)
		dropped += drv_dropped(&sum, i);
	print_message("%lu calls, %lu samples, %lu of them inside a writer, %lu dropped, %lu of "
		      "older keys\n",
		      (unsigned long)n.n_calls, (unsigned long)n.n_samples, (unsigned long)nested,
		      (unsigned long)dropped, (unsigned long)n.n_back);
	assert_true(n.n_samples > 100 && n.n_calls > 1000);
	assert_true(nested > 0);
	assert_int_equal(sum.n_bad_record, 0);
	assert_int_equal(sum.seen, sum.records + dropped);
	assert_int_equal(sum.records, n.n_calls + n.n_samples);
	for (unsigned int cpu = 0; cpu < n.n_cpus; cpu++)
		ring_close(n.rings[cpu]);
	nest_test__destroy(n.skel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_nest)};

	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK)) {
		fprintf(stderr, "nest_test: skipped: it needs root and /sys/kernel/btf/vmlinux\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
