/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nested writers: a sampler at 20 kHz writes records on every CPU, also while a record of a system
 * call is being written. No record may be torn, lost uncounted, or out of order. With the argument
 * "lengths": records of every possible length go through the smallest rings. With "enters": raw
 * enters of all call numbers are expanded, and must equal those that libscap makes of calls under
 * way at the start (raw_call.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "event/event_table.h"
#include "event/expand.h"
#include "event/ia32_table.h"
#include "live/bpf_wait.h"
#include "live/raw_call.h"
#include "ring/ring_impl.h"
#include "shared/ia32.h"

#include "shared/sampler.h"

#include "nest_test.skel.h"

#define RING_SZ (16u << 20)
#define MAX_CPUS 64

struct nest {
	struct nest_test *skel;
	struct ring *rings[MAX_CPUS];
	struct bpf_link *samplers[MAX_CPUS];
	int kind_fds[MAX_CPUS], maps[MAX_CPUS];
	unsigned int n_cpus;
	uint64_t n_calls, n_samples, n_back, n_wrong;
	uint64_t last[MAX_CPUS][2]; /* keys of the last call and of the last sample */
	const struct call_under_way *twin; /* the same call, for raw_call */
	uint64_t n_known; /* pointed-to values that both have */
	struct scap_expand *expand;
	uint64_t n_unlisted; /* enters of a call that syscalls.def lacks */
};

static void set_filler(const struct nest *n, uint32_t nr, const struct bpf_program *p)
{
	int fd = bpf_program__fd(p);

	assert_int_equal(bpf_map_update_elem(bpf_map__fd(n->skel->maps.fillers), &nr, &fd, BPF_ANY),
			 0);
}

/* Settings of a run. */
struct setup {
	int kind;
	size_t ring_sz;
	uint32_t snaplen;
	int self; /* record the test's own calls */
};

static const struct ring_ops *const kinds[RING_KIND_MAX] = {
	[RING_PERF] = &ring_perf_ops,
	[RING_RINGBUF] = &ring_ringbuf_ops,
	[RING_ARRAY] = &ring_array_ops,
};

static void open_ring_of(struct nest *n, const struct setup *setup, uint32_t cpu)
{
	struct nest_test *s = n->skel;
	int fd = n->maps[cpu];
	int map =
		bpf_map__fd(setup->kind == RING_PERF ? s->maps.perf_rings : s->maps.ringbuf_rings);

	if (kinds[setup->kind]->create) {
		fd = n->kind_fds[cpu] = kinds[setup->kind]->create(cpu, setup->ring_sz);
		assert_true(fd >= 0);
		assert_int_equal(bpf_map_update_elem(map, &cpu, &fd, BPF_ANY), 0);
	}
	assert_int_equal(ring_open(&n->rings[cpu], kinds[setup->kind], cpu, setup->ring_sz,
				   n->maps[cpu], fd, s->bss->slots),
			 0);
	assert_int_equal(
		bpf_map_update_elem(bpf_map__fd(s->maps.rings), &cpu, &n->maps[cpu], BPF_ANY), 0);
}

static void load(struct nest *n, const struct setup *setup)
{
	struct nest_test *s = nest_test__open();
	struct drv_config *c;

	assert_non_null(s);
	*n = (struct nest){
		.skel = s,
		.n_cpus = (unsigned int)libbpf_num_possible_cpus(),
		.expand = scap_expand_new(),
	};
	assert_non_null(n->expand);
	assert_true(n->n_cpus <= MAX_CPUS);
	c = (struct drv_config *)&s->rodata->cfg;
	c->self_tgid = setup->self ? 0 : (uint32_t)getpid();
	c->ring_kind = (uint32_t)setup->kind;
	c->ring_sz = (uint32_t)setup->ring_sz;
	c->wake_sz = (uint32_t)setup->ring_sz;
	c->snaplen = setup->snaplen;
	c->task_storage = 0;
	if (setup->self) { /* only one call, which few other processes make */
		memset(&c->want, 0, sizeof(c->want));
		c->want.bits[0][SYS_sendto / 64] = 1ull << SYS_sendto % 64;
	}
	memcpy((void *)s->rodata->ia32_calls, scap_ia32_calls(), sizeof(s->rodata->ia32_calls));
	for (unsigned int cpu = 0; cpu < n->n_cpus; cpu++) {
		n->maps[cpu] = ring_map_create(setup->kind, setup->ring_sz);
		assert_true(n->maps[cpu] >= 0);
	}
	bpf_map__set_inner_map_fd(s->maps.rings, n->maps[0]);
	bpf_map__set_max_entries(s->maps.rings, n->n_cpus);
	bpf_map__set_max_entries(s->maps.perf_rings, n->n_cpus);
	bpf_map__set_max_entries(s->maps.ringbuf_rings, n->n_cpus);
	bpf_map__set_autocreate(s->maps.perf_rings, setup->kind == RING_PERF);
	bpf_map__set_autocreate(s->maps.ringbuf_rings, setup->kind == RING_RINGBUF);
	bpf_map__set_autocreate(s->maps.saved_storage, false);
	bpf_program__set_autoload(s->progs.fill_open, !setup->self);
	bpf_program__set_autoload(s->progs.fill_payload, setup->self);
	bpf_program__set_autoload(s->progs.send_any, true);
	bpf_program__set_autoload(s->progs.task_rows, false);
	assert_int_equal(nest_test__load(s), 0);
	if (setup->self) {
		set_filler(n, SYS_sendto, s->progs.fill_payload);
	} else {
		set_filler(n, SYS_openat, s->progs.fill_open);
	}
	for (unsigned int cpu = 0; cpu < n->n_cpus; cpu++)
		open_ring_of(n, setup, cpu);
}

static void unload(struct nest *n)
{
	for (unsigned int cpu = 0; cpu < n->n_cpus; cpu++) {
		ring_close(n->rings[cpu]);
		if (n->kind_fds[cpu])
			close(n->kind_fds[cpu]);
	}
	scap_expand_free(n->expand);
	nest_test__destroy(n->skel);
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

#define UNLISTED 400 /* a number without a row in syscalls.def */

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
		syscall(UNLISTED);
	}
}

/* Expands a raw enter into an event, of the call's type if syscalls.def has the call. */
static void check_enter(struct nest *n, const struct rec_hdr *rec)
{
	const int ia32 = rec->flags & REC_F_IA32;
	struct scap_params p;
	struct scap_evt evt;

	if (scap_expand_enter(n->expand, &evt, NULL, rec))
		fail_msg("the enter of call %u has type %#x", rec->nr, rec->evt.type);
	assert_int_equal(scap_evt_params(evt.hdr, &p), 0);
	assert_int_equal(p.n, scap_event_info(evt.type)->n_params);
	assert_int_equal(evt.nr, rec->nr);
	if (!ia32)
		assert_int_equal(evt.type, scap_syscall_exit_type(rec->nr) & ~1u);
	n->n_unlisted += !scap_syscall_name(rec->nr, ia32);
}

/* Returns whether libscap's parameter equals the driver's. For pointers of 32-bit callers, and for
 * unreadable memory, libscap has no value. */
static int is_like(struct nest *n, const struct scap_param *ours, const struct scap_param *drivers)
{
	uint64_t v = 0;

	if (ours->len == drivers->len && !memcmp(ours->p, drivers->p, ours->len)) {
		n->n_known += ours->len > 2;
		return 1;
	}
	if (drivers->len == sizeof(v))
		memcpy(&v, drivers->p, sizeof(v));
	return !ours->len && (n->twin->flags & UNDER_WAY_F_IA32 || v <= 1);
}

/* Compares the event of raw_call with that of the driver's @rec, for the same call. */
static void check_twin(struct nest *n, const struct rec_hdr *rec)
{
	static uint64_t buf[RAW_CALL_MAX / sizeof(uint64_t)];
	const struct rec_hdr *ours = (const void *)buf;
	struct remote_memory mem = {.pid = getpid(), .pagemap = -1};
	struct scap_params a, b;

	assert_true(scap_raw_call(buf, sizeof(buf), n->twin, &mem) > 0);
	remote_memory_of(&mem, 0);
	assert_int_equal(scap_evt_params(&ours->evt, &a), 0);
	assert_int_equal(scap_evt_params(&rec->evt, &b), 0);
	if (n->twin->flags & UNDER_WAY_F_IA32 && ours->evt.type == EVT_SYSCALL_E)
		return; /* behind socketcall or ipc */
	assert_int_equal(ours->evt.type, rec->evt.type);
	assert_int_equal(a.n, b.n);
	for (uint32_t i = 0; i < a.n; i++)
		if (!is_like(n, &a.v[i], &b.v[i]))
			fail_msg(
				"call %u of args %lx %lx %lx...: parameter %u has %u bytes, not %u",
				rec->nr, (unsigned long)n->twin->args[0],
				(unsigned long)n->twin->args[1], (unsigned long)n->twin->args[2], i,
				a.v[i].len, b.v[i].len);
}

/* Returns whether the sampler wrote the record. Another process may make a call whose number has no
 * row: of that there is an exit. */
static int is_sample(const struct rec_hdr *rec)
{
	return rec->nr == REC_NR_NONE && rec->evt.type == EVT_SYSCALL_E &&
	       !(rec->flags & REC_F_RAW_ENTER);
}

/* Checks that the lengths of a record's parameters add up, and that its text is intact. */
static void check_record(struct nest *n, const struct rec_hdr *rec)
{
	struct scap_params p;

	assert_int_equal(scap_evt_params(&rec->evt, &p), 0);
	if (is_sample(rec)) {
		n->n_samples++;
		return;
	}
	n->n_calls++;
	if (rec->flags & REC_F_RAW_ENTER)
		check_enter(n, rec);
	if (n->twin)
		check_twin(n, rec);
	if (rec->evt.type == EVT_OPENAT_X && p.v[2].len > 500)
		for (uint32_t i = 0; i + 10 < p.v[2].len; i++)
			assert_int_equal(p.v[2].p[i], '/');
}

/*
 * Checks that calls are in the order of their keys, and samples too. A call and a sample may be
 * swapped: if the interrupt came after the writer read the clock and before it reserved its room.
 */
static void check_order(struct nest *n, unsigned int cpu, const struct rec_hdr *rec)
{
	const int kind = is_sample(rec);
	const uint64_t key = rec_key(rec);
	uint64_t *last = n->last[cpu];

	n->n_wrong += key < last[kind];
	n->n_back += key < last[!kind];
	last[kind] = key;
}

static void drain(struct nest *n)
{
	struct ring_bound bound;
	const struct rec_hdr *rec;

	for (unsigned int cpu = 0; cpu < n->n_cpus; cpu++) {
		/* A nested record is published after the one that it interrupted. */
		for (int i = 0; i < 1000; i++) {
			ring_refresh(n->rings[cpu], &bound);
			if (!bound.in_flight)
				break;
			usleep(10);
		}
		while ((rec = ring_peek(n->rings[cpu]))) {
			check_record(n, rec);
			check_order(n, cpu, rec);
			ring_advance(n->rings[cpu]);
		}
		ring_release(n->rings[cpu]);
		assert_int_equal(ring_n_corrupt(n->rings[cpu]), 0);
	}
}

static void detach(struct nest *n)
{
	for (unsigned int cpu = 0; cpu < n->n_cpus; cpu++)
		bpf_link__destroy(n->samplers[cpu]);
	nest_test__detach(n->skel);
	assert_int_equal(bpf_wait(), 0);
}

/* Sums the counters of all CPUs; *nested: those of writers that interrupted others. */
static uint64_t account(const struct nest *n, struct drv_sums *sum, uint64_t *nested)
{
	uint64_t lost = 0;

	*nested = 0;
	for (unsigned int cpu = 0; cpu < n->n_cpus; cpu++) {
		ring_counters(n->rings[cpu], sum);
		for (int l = 1; l < DRV_LEVELS; l++)
			*nested += n->rings[cpu]->slot->ring.counts[l].seen;
	}
	for (int i = 0; i < DRV_DROP_MAX; i++)
		lost += drv_dropped(&sum->other, i);
	assert_int_equal(sum->n.seen, sum->n.records + lost);
	assert_int_equal(sum->n_bad_record, 0);
	return lost;
}

static void check_nest(int kind)
{
	const struct setup setup = {.kind = kind, .ring_sz = RING_SZ, .snaplen = 200};
	struct drv_sums sum = {0};
	uint64_t lost, nested;
	struct nest n;
	pid_t pid;

	load(&n, &setup);
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
	detach(&n);
	drain(&n);
	lost = account(&n, &sum, &nested);
	print_message("%s: %lu calls, %lu samples, %lu of them inside a writer, %lu lost, %lu of "
		      "older keys\n",
		      kinds[kind]->name, (unsigned long)n.n_calls, (unsigned long)n.n_samples,
		      (unsigned long)nested, (unsigned long)lost, (unsigned long)n.n_back);
	assert_true(n.n_samples > 100 && n.n_calls > 1000);
	assert_true(nested > 0);
	assert_true(n.n_unlisted > 0);
	assert_int_equal(sum.n.records, n.n_calls + n.n_samples);
	/* About one interrupt in 10,000 hits these few instructions; more do when a hypervisor
	 * resumes the CPU. */
	if (!lost) {
		assert_int_equal(n.n_wrong, 0);
		assert_true(n.n_back <= 1 + n.n_samples / 200);
	}
	unload(&n);
}

static void test_nest(void **state)
{
	(void)state;
	for (int kind = 0; kind < RING_KIND_MAX; kind++)
		check_nest(kind);
}

/* ---- every length ---- */

#define RECORD_ROOM(n) ((sizeof(struct rec_hdr) + sizeof(uint16_t) + (n) + 7) & ~7ul)

/* A byte pattern without long repetitions; the length of a payload selects where it starts. */
static uint8_t *make_pattern(size_t n)
{
	uint8_t *p = malloc(n);
	uint32_t x = 1;

	assert_non_null(p);
	for (size_t i = 0; i < n; i++) {
		x = x * 1664525 + 1013904223;
		p[i] = (uint8_t)(x >> 24);
	}
	return p;
}

/* Reads all records. Returns whether the test's own call was among them, with the @len bytes at
 * @want. */
static int take_payload(struct nest *n, const uint8_t *want, uint32_t len)
{
	const uint64_t tid = (uint64_t)syscall(SYS_gettid);
	const struct rec_hdr *rec;
	struct ring_bound bound;
	int found = 0;

	for (unsigned int cpu = 0; cpu < n->n_cpus; cpu++) {
		ring_refresh(n->rings[cpu], &bound);
		while ((rec = ring_peek(n->rings[cpu]))) {
			const uint8_t *lens = (const uint8_t *)(rec + 1);
			uint16_t got;

			if (rec->evt.tid == tid && rec->nr == SYS_sendto &&
			    !(rec->flags & REC_F_RAW_ENTER)) {
				memcpy(&got, lens, sizeof(got));
				assert_int_equal(rec->evt.nparams, 1);
				assert_int_equal(got, len);
				assert_int_equal(rec->evt.len,
						 sizeof(rec->evt) + sizeof(got) + len);
				assert_memory_equal(lens + sizeof(got), want, len);
				found++;
			}
			ring_advance(n->rings[cpu]);
		}
		ring_release(n->rings[cpu]);
		assert_int_equal(ring_n_corrupt(n->rings[cpu]), 0);
	}
	return found;
}

static uint64_t n_too_big(const struct nest *n)
{
	struct drv_sums sum = {0};

	for (unsigned int cpu = 0; cpu < n->n_cpus; cpu++)
		ring_counters(n->rings[cpu], &sum);
	return drv_dropped(&sum.other, DRV_DROP_TOO_BIG);
}

/* Makes a call with @len bytes of payload. Retries, as other processes may fill so small a ring. */
static void pass_payload(struct nest *n, const uint8_t *payload, uint32_t len)
{
	const uint64_t refused = n_too_big(n);

	for (int try = 0; try < 20000; try++) {
		take_payload(n, payload, len);
		assert_int_equal(syscall(SYS_sendto, -1, payload, (size_t)len, 0, NULL, 0), -1);
		if (RECORD_ROOM(len) > DRV_REC_MAX) {
			assert_int_equal(n_too_big(n), refused + 1);
			assert_int_equal(take_payload(n, payload, len), 0);
			return;
		}
		if (take_payload(n, payload, len))
			return;
	}
	fail_msg("no record of %u bytes got through", len);
}

/* Sends each length from 1 to @max through a ring of @ring_sz bytes, while a sampler interrupts. */
static void check_lengths(int kind, size_t ring_sz, uint32_t max)
{
	const struct setup setup = {.kind = kind, .ring_sz = ring_sz, .snaplen = max, .self = 1};
	uint8_t *pattern = make_pattern(max + 4096);
	struct drv_sums sum = {0};
	uint64_t lost, nested;
	struct nest n;

	load(&n, &setup);
	attach(&n);
	for (uint32_t len = 1; len <= max; len++)
		pass_payload(&n, pattern + len % 4096, len);
	detach(&n);
	take_payload(&n, pattern, 0);
	lost = account(&n, &sum, &nested);
	print_message(
		"%s, %zu bytes: payloads 1 to %u, %lu records, %lu inside a writer, %lu lost\n",
		kinds[kind]->name, ring_sz, max, (unsigned long)sum.n.seen, (unsigned long)nested,
		(unsigned long)lost);
	assert_true(nested > 0);
	unload(&n);
	free(pattern);
}

static void test_lengths(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	(void)state;
	for (int kind = 0; kind < RING_KIND_MAX; kind++) {
		check_lengths(kind, 2 * page, 8100);
		check_lengths(kind, 32 * page, 65516);
	}
}

/* ---- every number ---- */

/* Calls whose paths only the driver has, as they were before the exec. */
static int is_exec(uint64_t nr, int ia32)
{
	return ia32 ? nr == 11 || nr == 358 : nr == SYS_execve || nr == SYS_execveat;
}

static void send_enter_of(struct nest *n, uint64_t nr, int ia32, const uint64_t a[6])
{
	uint64_t args[] = {nr, (uint64_t)ia32, a[0], a[1], a[2], a[3], a[4], a[5]};
	const struct call_under_way twin = {
		.tid = (uint32_t)getpid(),
		.nr = (uint16_t)nr,
		.flags = UNDER_WAY_F_SLEEPS | (ia32 ? UNDER_WAY_F_IA32 : 0),
		.args = {a[0], a[1], a[2], a[3], a[4], a[5]},
	};
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = args, .ctx_size_in = sizeof(args));

	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(n->skel->progs.send_any), &o), 0);
	n->twin = is_exec(nr, ia32) ? NULL : &twin;
	drain(n);
	n->twin = NULL;
}

#define N_PATTERNS 64 /* one for each set of arguments that are pointers */

/* Any call can sleep or be preempted, also one of a newer kernel. */
static void test_enters(void **state)
{
	const struct setup setup = {.kind = RING_ARRAY, .ring_sz = RING_SZ, .snaplen = 80};
	const uint64_t n_numbers = DRV_MAX_NR + 100;
	uint64_t *memory = malloc(4096);
	struct nest n;

	(void)state;
	assert_non_null(memory);
	for (unsigned int i = 0; i < 512; i++) /* each element is an address */
		memory[i] = (uintptr_t)memory;
	load(&n, &setup);
	for (int ia32 = 0; ia32 <= 1; ia32++)
		for (uint64_t nr = 0; nr < n_numbers; nr++)
			for (unsigned int pattern = 0; pattern < N_PATTERNS; pattern++) {
				uint64_t args[6];

				for (unsigned int i = 0; i < 6; i++)
					args[i] =
						pattern >> i & 1 ? (uintptr_t)memory : pattern / 8;
				send_enter_of(&n, nr, ia32, args);
			}
	assert_int_equal(n.n_calls, 2 * N_PATTERNS * n_numbers);
	assert_true(n.n_unlisted > 0);
	print_message("%lu enters, in which both found %lu things\n", (unsigned long)n.n_calls,
		      (unsigned long)n.n_known);
	assert_true(n.n_known > n_numbers);
	unload(&n);
	free(memory);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest nest[] = {cmocka_unit_test(test_nest)};
	const struct CMUnitTest lengths[] = {cmocka_unit_test(test_lengths)};
	const struct CMUnitTest enters[] = {cmocka_unit_test(test_enters)};

	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK)) {
		fprintf(stderr, "nest_test: skipped: it needs root and /sys/kernel/btf/vmlinux\n");
		return 77;
	}
	if (argc > 1 && !strcmp(argv[1], "lengths"))
		return cmocka_run_group_tests(lengths, NULL, NULL);
	if (argc > 1 && !strcmp(argv[1], "enters"))
		return cmocka_run_group_tests(enters, NULL, NULL);
	return cmocka_run_group_tests(nest, NULL, NULL);
}
