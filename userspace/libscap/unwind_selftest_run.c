/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind_selftest_run.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>

#include "ia32.h"
#include "live_unwind.h"
#include "sampler.h"
#include "unwind_selftest.h"
#include "unwind_table.h"

#include "unwind_selftest_bpf.skel.h"

#define DATA_PAGES 4096 /* of each CPU's buffer, a power of two */
#define STACK_SZ 65528
#define N_BUCKETS 1024 /* of results that wait for their sample */
#define NEAR_NS 100000ull /* a result and its sample are of one interrupt */
#define TABLES_WAIT_MS 5000

/* ax bx cx dx si di bp sp ip, r8 to r15: bits of perf's numbering. */
#define REGS_MASK 0xff01ffull
#define N_REGS 17

struct cpu_ring {
	int fd;
	struct perf_event_mmap_page *page;
	struct bpf_link *link;
};

struct result {
	struct result *next;
	struct unwind_selftest r;
};

/* A sample as libdw sees it. */
struct subject {
	uint32_t pid, tid;
	uint64_t ns;
	uint64_t regs[N_REGS]; /* as DWARF numbers them, then ip */
	const uint8_t *stack;
	uint64_t stack_sz;
	int failed; /* a read: libdw then takes the frame for the last one */
	int beyond; /* it reached behind the copy */
	uint64_t frames[SELFTEST_FRAMES];
	size_t n;
};

struct process {
	struct process *next;
	uint32_t pid;
	Dwfl *dwfl;
	int attached;
};

struct unwind_selftest_run {
	struct unwind_selftest_opts o;
	struct scap_log log;
	struct unwind_selftest_bpf *skel;
	struct live_unwind *unwind;
	struct ring_buffer *results;
	struct cpu_ring *cpus;
	unsigned int n_cpus;
	size_t page_sz, data_sz;
	struct result *waiting[N_BUCKETS];
	struct process *processes[N_BUCKETS];
	struct subject s;
	uint8_t *record; /* of 64 KiB and more */
	struct unwind_selftest_sum sum;
};

/* ---- libdw ---- */

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	struct unwind_selftest_run *r = arg;

	(void)dwfl;
	if (*thread)
		return 0;
	*thread = r;
	return (pid_t)r->s.tid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
	(void)dwfl;
	(void)tid;
	*thread = arg;
	return true;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr addr, Dwarf_Word *to, void *arg)
{
	struct unwind_selftest_run *r = arg;
	const uint64_t at = addr - r->s.regs[7];

	(void)dwfl;
	if (at >= r->s.stack_sz || r->s.stack_sz - at < sizeof(*to)) {
		r->s.failed = 1;
		r->s.beyond |= addr > r->s.regs[7] && at < (64u << 20);
		return false;
	}
	memcpy(to, r->s.stack + at, sizeof(*to));
	return true;
}

static bool initial_registers(Dwfl_Thread *thread, void *arg)
{
	struct unwind_selftest_run *r = arg;

	return dwfl_thread_state_registers(thread, 0, N_REGS, r->s.regs);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = memory_read,
	.set_initial_registers = initial_registers,
};

static char debug_path[] = "/nowhere"; /* what programs are unwound by is in themselves */
static char *debug_paths = debug_path;

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.debuginfo_path = &debug_paths,
};

static struct process *find_process(struct unwind_selftest_run *r, uint32_t pid)
{
	struct process **at = &r->processes[pid % N_BUCKETS], *p;

	for (p = *at; p; p = p->next)
		if (p->pid == pid)
			return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->pid = pid;
	p->next = *at;
	*at = p;
	return p;
}

/* As /proc has it now. What libdw was told before goes: the state that it unwinds by depends on it.
 */
static int report(struct unwind_selftest_run *r, struct process *p)
{
	if (p->dwfl)
		dwfl_end(p->dwfl);
	p->attached = 0;
	p->dwfl = dwfl_begin(&callbacks);
	if (!p->dwfl || dwfl_linux_proc_report(p->dwfl, (pid_t)p->pid) ||
	    dwfl_report_end(p->dwfl, NULL, NULL))
		return -ESRCH;
	if (!dwfl_attach_state(p->dwfl, NULL, (pid_t)p->pid, &thread_callbacks, r))
		return -ESRCH;
	p->attached = 1;
	return 0;
}

/* 0: libdw knows the process's files, also those mapped since and those of another program. */
static int prepare(struct unwind_selftest_run *r, struct process *p)
{
	if (p->attached && dwfl_addrmodule(p->dwfl, r->s.regs[16]))
		return 0;
	return report(r, p);
}

static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct unwind_selftest_run *r = arg;
	Dwarf_Addr pc;

	if (r->s.n == SELFTEST_FRAMES || !dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	r->s.frames[r->s.n++] = pc;
	return DWARF_CB_OK;
}

/* 1: to the root. 0: it stopped. */
static int judge(struct unwind_selftest_run *r, struct process *p)
{
	int got;

	r->s.n = 0;
	r->s.beyond = r->s.failed = 0;
	got = dwfl_getthread_frames(p->dwfl, (pid_t)r->s.tid, take_frame, r);
	return got == 0 && !r->s.failed;
}

/* ---- the comparison ---- */

static size_t n_same(const struct unwind_selftest_run *r, const struct unwind_selftest *ours)
{
	size_t n = 0;

	while (n < r->s.n && n < ours->n && STACK_ADDR(ours->frames[n]) == r->s.frames[n])
		n++;
	return n;
}

static enum unwind_verdict verdict_of(const struct unwind_selftest_run *r,
				      const struct unwind_selftest *ours, size_t same, int rooted)
{
	/* What is not known to be mapped was mapped a moment ago. */
	if (ours->end == STACK_END_NEW || ours->end == STACK_END_NO_MAP)
		return VERDICT_NEW;
	if (same == r->s.n) {
		if (rooted && ours->n == r->s.n &&
		    (ours->end == STACK_END_ROOT || ours->n == SELFTEST_FRAMES))
			return VERDICT_SAME;
		if (!rooted)
			return r->s.beyond ? VERDICT_COPY_ENDS : VERDICT_JUDGE_STOPS;
		return VERDICT_DIFFERS;
	}
	return same == ours->n ? VERDICT_SHORT : VERDICT_DIFFERS;
}

/* Has the file a rule for the last frame that both have? Without one libdw guesses, by rbp. */
static int has_rule(const struct unwind_selftest_run *r, const struct process *p, size_t same)
{
	const uint64_t pc = same ? r->s.frames[same - 1] - (same > 1) : r->s.regs[16];
	Dwfl_Module *m = dwfl_addrmodule(p->dwfl, pc);
	Dwarf_Frame *frame = NULL;
	Dwarf_Addr bias;
	Dwarf_CFI *cfi = m ? dwfl_module_eh_cfi(m, &bias) : NULL;
	int found = cfi && !dwarf_cfi_addrframe(cfi, pc - bias, &frame);

	free(frame);
	return found;
}

static const char *end_name(uint32_t end)
{
	static const char *const names[] = {
#define X(sym, name) [STACK_END_##sym] = name,
		STACK_ENDS(X)
#undef X
	};

	return end < STACK_END_MAX ? names[end] : "?";
}

static void put_details(const struct unwind_selftest_run *r, struct process *p,
			const struct unwind_selftest *ours, size_t same)
{
	FILE *f = r->o.details;
	Dwfl_Module *m;
	const char *file = "";
	uint64_t pc = same ? r->s.frames[same - 1] : r->s.regs[16];
	GElf_Addr start = 0;

	m = dwfl_addrmodule(p->dwfl, pc);
	if (m)
		file = dwfl_module_info(m, NULL, &start, NULL, NULL, NULL, NULL, NULL);
	fprintf(f,
		"process %u: %zu frames are the same; then libdw has %#llx of %zu, we have %#llx "
		"of %u "
		"and end with %s. The last same one is in %s+%#llx%s\n",
		r->s.pid, same, same < r->s.n ? (unsigned long long)r->s.frames[same] : 0, r->s.n,
		same < ours->n ? (unsigned long long)STACK_ADDR(ours->frames[same]) : 0, ours->n,
		end_name(ours->end), file, (unsigned long long)(pc - start),
		same && same <= ours->n && STACK_HOW(ours->frames[same - 1]) == STACK_HOW_FP
			? " (by frame pointer)"
			: "");
}

static enum unwind_verdict judge_once(struct unwind_selftest_run *r, struct process *p,
				      const struct unwind_selftest *ours, size_t *same)
{
	const int rooted = judge(r, p);

	*same = n_same(r, ours);
	return verdict_of(r, ours, *same, rooted);
}

static void compare(struct unwind_selftest_run *r, const struct unwind_selftest *ours)
{
	struct process *p = find_process(r, r->s.pid);
	enum unwind_verdict v;
	size_t same;

	r->sum.n++;
	if (!p || prepare(r, p)) {
		r->sum.by[VERDICT_GONE]++;
		return;
	}
	v = judge_once(r, p, ours, &same);
	/* What libdw knows of the process may be old. */
	if (v != VERDICT_SAME && v != VERDICT_NEW && !report(r, p))
		v = judge_once(r, p, ours, &same);
	if (!p->attached)
		v = VERDICT_GONE;
	else if ((v == VERDICT_SHORT || v == VERDICT_DIFFERS) && !has_rule(r, p, same))
		v = VERDICT_JUDGE_STOPS;
	r->sum.by[v]++;
	if (v == VERDICT_NEW || v == VERDICT_GONE)
		return;
	r->sum.frames += r->s.n;
	r->sum.same_frames += same;
	if (v != VERDICT_SHORT && v != VERDICT_DIFFERS)
		return;
	r->sum.ends[ours->end % STACK_END_ROOM]++;
	if (r->o.details)
		put_details(r, p, ours, same);
}

/* ---- samples and results ---- */

static int keep_result(void *ctx, void *data, size_t sz)
{
	struct unwind_selftest_run *r = ctx;
	struct result *w;

	if (sz < sizeof(w->r))
		return 0;
	w = malloc(sizeof(*w));
	if (!w)
		return -ENOMEM;
	memcpy(&w->r, data, sizeof(w->r));
	w->next = r->waiting[w->r.tid % N_BUCKETS];
	r->waiting[w->r.tid % N_BUCKETS] = w;
	return 0;
}

/* The result of the interrupt that made the sample; the caller frees it. */
static struct result *take_result(struct unwind_selftest_run *r)
{
	struct result **at = &r->waiting[r->s.tid % N_BUCKETS];

	while (*at) {
		struct result *w = *at;

		/* The event takes its time before the program runs. */
		if (w->r.tid == r->s.tid && w->r.ns - r->s.ns + NEAR_NS < 2 * NEAR_NS) {
			*at = w->next;
			return w;
		}
		if (r->s.ns > w->r.ns + 10000000000ull) { /* its sample was lost */
			*at = w->next;
			free(w);
			continue;
		}
		at = &w->next;
	}
	return NULL;
}

/* A sample's fields: tid, time, cpu, registers, stack. 0: it is none. */
static int parse_sample(struct subject *s, const uint8_t *rec, size_t sz)
{
	/* ax bx cx dx si di bp sp ip r8.. as DWARF numbers them */
	static const uint8_t dwarf[N_REGS] = {0, 3, 2,  1,  4,  5,  6,  7, 16,
					      8, 9, 10, 11, 12, 13, 14, 15};
	const size_t head = sizeof(struct perf_event_header) + 8 + 8 + 8 + 8;
	size_t at = head;
	uint64_t abi, n;

	if (sz < head)
		return 0;
	memcpy(&s->pid, rec + 8, 4);
	memcpy(&s->tid, rec + 12, 4);
	memcpy(&s->ns, rec + 16, 8);
	memcpy(&abi, rec + 32, 8);
	if (abi != PERF_SAMPLE_REGS_ABI_64 || sz - at < N_REGS * 8 + 8)
		return 0;
	for (int i = 0; i < N_REGS; i++, at += 8)
		memcpy(&s->regs[dwarf[i]], rec + at, 8);
	memcpy(&n, rec + at, 8);
	at += 8;
	if (!n || n > sz - at || sz - at - n < 8)
		return 0;
	s->stack = rec + at;
	memcpy(&s->stack_sz, rec + at + n, 8);
	if (s->stack_sz > n)
		s->stack_sz = n;
	return 1;
}

static void take_sample(struct unwind_selftest_run *r, const uint8_t *rec, size_t sz)
{
	struct result *w;

	if (!parse_sample(&r->s, rec, sz))
		return;
	ring_buffer__consume(r->results);
	w = take_result(r);
	if (!w) {
		r->sum.n_lost++;
		return;
	}
	compare(r, &w->r);
	free(w);
}

static void copy_out(const struct unwind_selftest_run *r, const struct cpu_ring *c, uint64_t pos,
		     void *to, size_t len)
{
	const uint8_t *data = (const uint8_t *)c->page + r->page_sz;
	const size_t at = pos & (r->data_sz - 1), first = r->data_sz - at;

	memcpy(to, data + at, len < first ? len : first);
	if (len > first)
		memcpy((uint8_t *)to + first, data, len - first);
}

static int drain(struct unwind_selftest_run *r, struct cpu_ring *c, uint64_t until_ns)
{
	struct perf_event_header h;
	uint64_t head = __atomic_load_n(&c->page->data_head, __ATOMIC_ACQUIRE), ns;
	struct timespec t;
	int n = 0;

	while (c->page->data_tail != head) {
		copy_out(r, c, c->page->data_tail, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > head - c->page->data_tail)
			break;
		copy_out(r, c, c->page->data_tail, r->record, h.size);
		__atomic_store_n(&c->page->data_tail, c->page->data_tail + h.size,
				 __ATOMIC_RELEASE);
		if (h.type == PERF_RECORD_SAMPLE)
			take_sample(r, r->record, h.size);
		else if (h.type == PERF_RECORD_LOST)
			r->sum.n_lost++;
		n++;
		clock_gettime(CLOCK_MONOTONIC, &t);
		ns = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
		if (ns > until_ns)
			break;
	}
	return n;
}

int scap_unwind_selftest_step(struct unwind_selftest_run *r, int timeout_ms)
{
	const struct timespec nap = {.tv_nsec = 5000000};
	struct timespec t;
	uint64_t until, now;

	clock_gettime(CLOCK_MONOTONIC, &t);
	now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	until = now + (uint64_t)timeout_ms * 1000000;
	while (now < until) {
		int n = 0;

		for (unsigned int i = 0; i < r->n_cpus; i++)
			n += drain(r, &r->cpus[i], until);
		if (!n)
			nanosleep(&nap, NULL);
		clock_gettime(CLOCK_MONOTONIC, &t);
		now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	}
	return 0;
}

/* ---- its beginning and end ---- */

static int open_cpu(struct unwind_selftest_run *r, unsigned int cpu)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = r->o.hz,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = REGS_MASK,
		.sample_stack_user = STACK_SZ,
		.use_clockid = 1,
		.clockid = CLOCK_BOOTTIME,
		.disabled = 1,
	};
	struct cpu_ring *c = &r->cpus[r->n_cpus];

	c->fd = (int)syscall(SYS_perf_event_open, &a, r->o.pid ? (pid_t)r->o.pid : -1, cpu, -1,
			     PERF_FLAG_FD_CLOEXEC);
	if (c->fd < 0)
		return errno == ENODEV ? 0 : -errno;
	r->n_cpus++;
	c->page = mmap(NULL, r->page_sz + r->data_sz, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
	if (c->page == MAP_FAILED) {
		c->page = NULL;
		return -errno;
	}
	c->link = bpf_program__attach_perf_event(r->skel->progs.unwind_selftest, c->fd);
	return c->link ? 0 : -errno;
}

static int load(struct unwind_selftest_run *r)
{
	struct drv_sampler_config *c;
	int err;

	r->skel = unwind_selftest_bpf__open();
	if (!r->skel)
		return -errno;
	c = (struct drv_sampler_config *)&r->skel->rodata->sampler_cfg;
	c->tables = 1;
	bpf_map__set_max_entries(r->skel->maps.unwind_caches, (uint32_t)libbpf_num_possible_cpus());
	err = unwind_selftest_bpf__load(r->skel);
	if (err)
		return err;
	r->results =
		ring_buffer__new(bpf_map__fd(r->skel->maps.selftest_results), keep_result, r, NULL);
	if (!r->results)
		return -errno;
	return live_unwind_open(&r->unwind, bpf_map__fd(r->skel->maps.unwind_chunks),
				bpf_map__fd(r->skel->maps.unwind_processes), 0, &r->log);
}

int scap_unwind_selftest_open(struct unwind_selftest_run **out,
			      const struct unwind_selftest_opts *opts)
{
	const int n = libbpf_num_possible_cpus();
	struct unwind_selftest_run *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return -ENOMEM;
	r->o = *opts;
	r->log = (struct scap_log){opts->log, opts->log_ctx};
	r->page_sz = (size_t)sysconf(_SC_PAGESIZE);
	r->data_sz = DATA_PAGES * r->page_sz;
	r->record = malloc(1 << 16);
	r->cpus = calloc(n > 0 ? (size_t)n : 1, sizeof(*r->cpus));
	err = r->record && r->cpus ? load(r) : -ENOMEM;
	if (!err)
		live_unwind_wait(r->unwind, TABLES_WAIT_MS);
	for (int cpu = 0; cpu < n && !err; cpu++)
		err = open_cpu(r, (unsigned int)cpu);
	for (unsigned int i = 0; i < r->n_cpus && !err; i++) {
		/* Attached, it still waits to be let go. */
		err = syscall(SYS_ioctl, r->cpus[i].fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
	}
	if (err) {
		scap_fail(&r->log, err, "the comparison with libdw cannot begin: %s",
			  strerror(-err));
		scap_unwind_selftest_close(r);
		return err;
	}
	*out = r;
	return 0;
}

void scap_unwind_selftest_sum(const struct unwind_selftest_run *r, struct unwind_selftest_sum *sum)
{
	*sum = r->sum;
	sum->n_lost += r->skel->bss->n_selftest_lost;
}

void scap_unwind_selftest_close(struct unwind_selftest_run *r)
{
	if (!r)
		return;
	for (unsigned int i = 0; r->cpus && i < r->n_cpus; i++) {
		bpf_link__destroy(r->cpus[i].link);
		if (r->cpus[i].page)
			munmap(r->cpus[i].page, r->page_sz + r->data_sz);
		close(r->cpus[i].fd);
	}
	live_unwind_close(r->unwind);
	ring_buffer__free(r->results);
	unwind_selftest_bpf__destroy(r->skel);
	for (unsigned int i = 0; i < N_BUCKETS; i++) {
		while (r->waiting[i]) {
			struct result *w = r->waiting[i];

			r->waiting[i] = w->next;
			free(w);
		}
		while (r->processes[i]) {
			struct process *p = r->processes[i];

			r->processes[i] = p->next;
			if (p->dwfl)
				dwfl_end(p->dwfl);
			free(p);
		}
	}
	free(r->cpus);
	free(r->record);
	free(r);
}
