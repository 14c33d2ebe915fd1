/* SPDX-License-Identifier: Apache-2.0 */
#include "live/live_progs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "live/kernel_btf.h"
#include "live/kernel_version.h"
#include "live/program_rows.h"
#include "shared/kfuncs.h"

#define N_KFUNCS (KFUNC_END - KFUNC_FIRST)
#define MAX_PROGS 256
#define UPROBE_MULTI 48 /* enum bpf_attach_type, since Linux 6.6 */
#define MAX_THREADS 8

struct job {
	const struct bpf_program *prog;
	struct bpf_insn *insns;
	size_t n_insns;
	struct bpf_prog_load_opts opts;
	int taken;
	int fd; /* when done: the program, or a negative errno */
	int load_err; /* when done: 0, or the kernel's error */
};

struct live_progs {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct job jobs[MAX_PROGS];
	unsigned int n_jobs;
	int complete; /* no more jobs come */
	const char *refuse; /* the program that the kernel is made to refuse; NULL: none */
	pthread_t threads[MAX_THREADS];
	unsigned int n_threads;
	struct kernel_btf *kernel; /* as the rest, once it was read */
	int read; /* the kernel's types were read, with read_err */
	int read_err;
	int types_fd; /* the reduced kernel types of the driver; -1 before it is open */
	char types_path[32];
	int sys_exit_id; /* type number of its tracepoint */
	int is_preemptible; /* the kernel preempts programs */
	int kfunc_ids[N_KFUNCS]; /* a negative errno if the kernel has none */
	int task_type, word_type; /* of struct task_struct, timespec64; the same */
};

/* libbpf's callbacks have no context for this: one load at a time. */
static struct live_progs *collecting;

/* Takes the largest job left; NULL: none is left, and none will come. */
static struct job *take_job(struct live_progs *p)
{
	struct job *job = NULL;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		for (unsigned int i = 0; i < p->n_jobs; i++)
			if (!p->jobs[i].taken && (!job || p->jobs[i].n_insns > job->n_insns))
				job = &p->jobs[i];
		if (job || p->complete)
			break;
		pthread_cond_wait(&p->more, &p->lock);
	}
	if (job)
		job->taken = 1;
	pthread_mutex_unlock(&p->lock);
	return job;
}

static void job_fini(struct job *job)
{
	free(job->insns);
	free((void *)job->opts.func_info);
	job->insns = NULL;
	job->opts.func_info = NULL;
}

static void *work(void *arg)
{
	struct job *job;

	while ((job = take_job(arg))) {
		job->fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, bpf_program__name(job->prog), "GPL",
					job->insns, job->n_insns, &job->opts);
		if (job->fd < 0)
			job->fd = job->load_err = -errno;
		job_fini(job);
	}
	return NULL;
}

static void *copy_of(const void *from, size_t n)
{
	void *to = n ? malloc(n) : NULL;

	if (to)
		memcpy(to, from, n);
	return to;
}

/* Replaces a call of a kernel function. If the kernel lacks it the call stays, and must not be
 * reached. */
static void put_kfunc(const struct live_progs *p, struct bpf_insn *in, enum kfunc which)
{
	const int id = p->kfunc_ids[which - KFUNC_FIRST];

	if (id >= 0) {
		in->src_reg = BPF_PSEUDO_KFUNC_CALL;
		in->imm = id;
	}
}

/* Returns the call of @which, or a no-op if it is not needed or the kernel lacks it. */
static void put_pin(const struct live_progs *p, struct bpf_insn *in, enum kfunc which, int needed)
{
	if (needed && p->kfunc_ids[which - KFUNC_FIRST] >= 0)
		put_kfunc(p, in, which);
	else
		*in = (struct bpf_insn){.code = BPF_JMP | BPF_JA};
}

/* Returns a load of the result of a call. */
static struct bpf_insn constant(int n)
{
	return (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = n};
}

static int can_cast(const struct live_progs *p)
{
	return p->task_type >= 0 && p->word_type >= 0 &&
	       p->kfunc_ids[KFUNC_RDONLY_CAST - KFUNC_FIRST] >= 0;
}

/* Returns the cast, or its first argument. */
static void put_cast(const struct live_progs *p, struct bpf_insn *in)
{
	if (can_cast(p))
		put_kfunc(p, in, KFUNC_RDONLY_CAST);
	else
		*in = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_X,
					.dst_reg = BPF_REG_0,
					.src_reg = BPF_REG_1};
}

/* Returns what replaces the call with this number of kfuncs.h. */
static void put_call(const struct live_progs *p, struct bpf_insn *in)
{
	switch ((uint32_t)in->imm) {
	case KFUNC_PIN:
		put_pin(p, in, KFUNC_PREEMPT_DISABLE, p->is_preemptible);
		break;
	case KFUNC_UNPIN:
		put_pin(p, in, KFUNC_PREEMPT_ENABLE, p->is_preemptible);
		break;
	case KFUNC_PIN_ITER:
		put_pin(p, in, KFUNC_PREEMPT_DISABLE, scap_kernel_is_at_least(6, 15));
		break;
	case KFUNC_UNPIN_ITER:
		put_pin(p, in, KFUNC_PREEMPT_ENABLE, scap_kernel_is_at_least(6, 15));
		break;
	case KFUNC_UNTRUSTED:
		put_cast(p, in);
		break;
	case KFUNC_CAN_CAST:
		*in = constant(can_cast(p));
		break;
	case KFUNC_TASK_TYPE:
		*in = constant(p->task_type);
		break;
	case KFUNC_WORD_TYPE:
		*in = constant(p->word_type);
		break;
	case KFUNC_IS_PREEMPTIBLE:
		*in = constant(p->is_preemptible);
		break;
	default:
		if ((uint32_t)in->imm - KFUNC_FIRST < N_KFUNCS)
			put_kfunc(p, in, (enum kfunc)in->imm);
	}
}

static void put_kfuncs(const struct live_progs *p, struct bpf_insn *insns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (insns[i].code == (BPF_JMP | BPF_CALL) && !insns[i].src_reg)
			put_call(p, &insns[i]);
}

void live_progs_refuse(struct live_progs *p, const char *name)
{
	p->refuse = name;
}

/* Makes the program to be refused end with an uninitialized register. */
static void break_if_refused(const struct live_progs *p, const struct bpf_program *prog,
			     struct bpf_insn *insns)
{
	if (p->refuse && !strcmp(p->refuse, bpf_program__name(prog)))
		insns[0] = (struct bpf_insn){.code = BPF_JMP | BPF_EXIT};
}

static int add_job(struct live_progs *p, const struct bpf_program *prog,
		   const struct bpf_prog_load_opts *opts)
{
	struct job *job = &p->jobs[p->n_jobs];

	if (p->n_jobs == MAX_PROGS)
		return -E2BIG;
	job->prog = prog;
	job->n_insns = bpf_program__insn_cnt(prog);
	job->insns = copy_of(bpf_program__insns(prog), job->n_insns * sizeof(*job->insns));
	if (job->insns) {
		put_kfuncs(p, job->insns, job->n_insns);
		break_if_refused(p, prog, job->insns);
	}
	job->opts = *opts;
	job->opts.log_level = 0;
	job->opts.log_buf = NULL;
	job->opts.log_size = 0;
	job->opts.func_info =
		copy_of(opts->func_info, opts->func_info_cnt * opts->func_info_rec_size);
	if (!job->insns || (opts->func_info_cnt && !job->opts.func_info)) {
		job_fini(job);
		return -ENOMEM;
	}
	pthread_mutex_lock(&p->lock);
	p->n_jobs++;
	pthread_cond_signal(&p->more);
	pthread_mutex_unlock(&p->lock);
	return 0;
}

/* Returns the kernel's type number of what @prog is attached to. */
static int attach_id(const struct kernel_btf *k, const struct bpf_program *prog)
{
	const char *section = bpf_program__section_name(prog), *target = strchr(section, '/');
	const int is_iter =
		!strncmp(section, "iter", strlen("iter")); /* or iter.s, which may sleep */
	char name[128];

	if (!target)
		return -EINVAL;
	snprintf(name, sizeof(name), "%s%s", is_iter ? "bpf_iter_" : "btf_trace_", target + 1);
	return kernel_btf_id(k, is_iter ? BTF_KIND_FUNC : BTF_KIND_TYPEDEF, name);
}

int live_progs_has_hook(const struct live_progs *p, const struct bpf_program *prog)
{
	return attach_id(p->kernel, prog) >= 0;
}

int live_progs_hook_args(const struct live_progs *p, const char *name)
{
	return kernel_btf_hook_args(p->kernel, name);
}

void live_progs_each_enum(const struct live_progs *p, const char *name,
			  void (*fn)(void *ctx, const char *value_name, uint32_t value), void *ctx)
{
	kernel_btf_each_enum(p->kernel, name, fn, ctx);
}

int live_progs_has_tracepoint(const struct live_progs *p, const char *name)
{
	char type[128];

	snprintf(type, sizeof(type), "btf_trace_%s", name);
	return kernel_btf_id(p->kernel, BTF_KIND_TYPEDEF, type) >= 0;
}

static void find_kfuncs(struct live_progs *p)
{
	static const char *const names[N_KFUNCS][2] = {
#define X(sym, name, older) [KFUNC_##sym - KFUNC_FIRST] = {name, older},
		KFUNCS(X)
#undef X
	};

	for (unsigned int i = 0; i < N_KFUNCS; i++) {
		p->kfunc_ids[i] = kernel_btf_id(p->kernel, BTF_KIND_FUNC, names[i][0]);
		if (p->kfunc_ids[i] < 0)
			p->kfunc_ids[i] = kernel_btf_id(p->kernel, BTF_KIND_FUNC, names[i][1]);
	}
}

/* Returns whether programs of tracepoints are preemptible, including those of calls. Only the
 * kernel version shows it. */
static int find_preemptible(const struct live_progs *p)
{
	return scap_kernel_is_at_least(7, 0) &&
	       p->kfunc_ids[KFUNC_PREEMPT_DISABLE - KFUNC_FIRST] >= 0;
}

int live_progs_has_kfuncs(const struct live_progs *p)
{
	for (unsigned int i = 0; i < N_KFUNCS; i++)
		if (p->kfunc_ids[i] < 0)
			return 0;
	return 1;
}

int live_progs_can_pin(const struct live_progs *p)
{
	return scap_kernel_is_at_least(6, 15) &&
	       p->kfunc_ids[KFUNC_PREEMPT_DISABLE - KFUNC_FIRST] >= 0 &&
	       p->kfunc_ids[KFUNC_PREEMPT_ENABLE - KFUNC_FIRST] >= 0;
}

int live_progs_uprobe_multi(void)
{
	return scap_kernel_is_at_least(6, 6);
}

/* Called before libbpf loads a program of another kind, which it does itself. */
static int before_plain_load(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	struct bpf_insn *insns = (struct bpf_insn *)bpf_program__insns(prog);

	(void)cookie;
	if (opts->expected_attach_type == UPROBE_MULTI && !live_progs_uprobe_multi())
		opts->expected_attach_type = 0;
	put_kfuncs(collecting, insns, bpf_program__insn_cnt(prog));
	break_if_refused(collecting, prog, insns);
	return 0;
}

/* Called before libbpf loads a program of a tracepoint or iterator. libbpf has another type for it,
 * so that it does not read all types of the kernel to find the attach point. */
static int before_load(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	static struct bpf_insn empty[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	struct live_progs *p = collecting;
	const int is_filler = !strncmp(bpf_program__name(prog), "fill_", strlen("fill_"));
	int id = is_filler ? p->sys_exit_id : attach_id(p->kernel, prog), err;

	(void)cookie;
	if (id < 0)
		return id;
	opts->attach_btf_id = (uint32_t)id;
	if (!strncmp(bpf_program__section_name(prog), "iter.s/", strlen("iter.s/")))
		opts->prog_flags |= BPF_F_SLEEPABLE;
	err = add_job(p, prog, opts);
	if (err)
		return err;
	opts->prog_flags &= ~(__u32)BPF_F_SLEEPABLE;
	opts->attach_btf_id = 0;
	opts->expected_attach_type = 0;
	opts->func_info_cnt = 0;
	/* libbpf frees the program's code: the job has a copy. */
	return bpf_program__set_insns(prog, empty, sizeof(empty) / sizeof(empty[0]));
}

/* Registered once: libbpf's objects keep pointers to their handlers. */
static int register_handlers(void)
{
	static int tracepoint = -1, iter = -1, sleeping_iter = -1;
	static int perf = -1, raw_tracepoint = -1, uprobe = -1;
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = before_load);
	LIBBPF_OPTS(libbpf_prog_handler_opts, plain, .prog_prepare_load_fn = before_plain_load);

	if (tracepoint < 0)
		tracepoint = libbpf_register_prog_handler("tp_btf+", BPF_PROG_TYPE_RAW_TRACEPOINT,
							  BPF_TRACE_RAW_TP, &opts);
	if (iter < 0)
		iter = libbpf_register_prog_handler("iter+", BPF_PROG_TYPE_RAW_TRACEPOINT,
						    BPF_TRACE_ITER, &opts);
	if (sleeping_iter < 0)
		sleeping_iter = libbpf_register_prog_handler(
			"iter.s+", BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_TRACE_ITER, &opts);
	if (perf < 0)
		perf = libbpf_register_prog_handler("perf_event", BPF_PROG_TYPE_PERF_EVENT, 0,
						    &plain);
	if (raw_tracepoint < 0)
		raw_tracepoint = libbpf_register_prog_handler(
			"raw_tp", BPF_PROG_TYPE_RAW_TRACEPOINT, 0, &plain);
	if (uprobe < 0)
		uprobe = libbpf_register_prog_handler("uprobe", BPF_PROG_TYPE_KPROBE,
						      (enum bpf_attach_type)UPROBE_MULTI, &plain);
	if (perf < 0 || raw_tracepoint < 0 || uprobe < 0)
		return perf < 0 ? perf : raw_tracepoint < 0 ? raw_tracepoint : uprobe;
	if (sleeping_iter < 0)
		return sleeping_iter;
	return tracepoint < 0 ? tracepoint : iter < 0 ? iter : 0;
}

/* Creates a file for the types that the driver needs, filled when the driver is open. */
static int open_types(struct live_progs *p)
{
	p->types_fd = memfd_create("saker-types", MFD_CLOEXEC);
	snprintf(p->types_path, sizeof(p->types_path), "/proc/self/fd/%d", p->types_fd);
	return p->types_fd < 0 ? -errno : 0;
}

static unsigned int n_helpers(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 2 ? 1 : n > MAX_THREADS ? MAX_THREADS : (unsigned int)n;
}

static int read_kernel(struct live_progs *p)
{
	int err = kernel_btf_new(&p->kernel);

	if (err)
		return err;
	p->sys_exit_id = kernel_btf_id(p->kernel, BTF_KIND_TYPEDEF, "btf_trace_sys_exit");
	find_kfuncs(p);
	p->task_type = kernel_btf_id(p->kernel, BTF_KIND_STRUCT, "task_struct");
	p->word_type = kernel_btf_id(p->kernel, BTF_KIND_STRUCT, "timespec64");
	p->is_preemptible = find_preemptible(p);
	return p->sys_exit_id < 0 ? p->sys_exit_id : 0;
}

/* The first thread reads the kernel's types, while the object is opened. */
static void *read_and_work(void *arg)
{
	struct live_progs *p = arg;
	const int err = read_kernel(p);

	pthread_mutex_lock(&p->lock);
	p->read = 1;
	p->read_err = err;
	pthread_cond_broadcast(&p->more);
	pthread_mutex_unlock(&p->lock);
	return work(p);
}

int live_progs_new(struct live_progs **out)
{
	struct live_progs *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	p->types_fd = -1;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->more, NULL);
	err = register_handlers() ?: open_types(p);
	for (unsigned int i = 0; i < n_helpers() && !err; i++) {
		err = -pthread_create(&p->threads[i], NULL, i ? work : read_and_work, p);
		p->n_threads += !err;
	}
	if (err) {
		live_progs_free(p);
		return err;
	}
	collecting = p;
	*out = p;
	return 0;
}

const char *live_progs_types(const struct live_progs *p)
{
	return p->types_path;
}

int live_progs_opened(struct live_progs *p, const struct bpf_object *obj)
{
	pthread_mutex_lock(&p->lock);
	while (!p->read)
		pthread_cond_wait(&p->more, &p->lock);
	pthread_mutex_unlock(&p->lock);
	if (p->read_err)
		return p->read_err;
	return kernel_btf_extract(p->kernel, bpf_object__btf(obj), p->types_fd);
}

static void join(struct live_progs *p)
{
	pthread_mutex_lock(&p->lock);
	p->complete = 1;
	pthread_cond_broadcast(&p->more);
	pthread_mutex_unlock(&p->lock);
	for (unsigned int i = 0; i < p->n_threads; i++)
		pthread_join(p->threads[i], NULL);
	p->n_threads = 0;
}

/* Makes libbpf's descriptor of the program refer to the real one. */
static int put_in_place(struct job *job)
{
	int err = dup3(job->fd, bpf_program__fd(job->prog), O_CLOEXEC) < 0 ? -errno : 0;

	close(job->fd);
	job->fd = -1;
	return err;
}

int live_progs_finish(struct live_progs *p, const struct scap_log *log)
{
	int err = 0;

	kernel_btf_free(p->kernel);
	p->kernel = NULL;
	join(p);
	for (unsigned int i = 0; i < p->n_jobs && !err; i++) {
		struct job *job = &p->jobs[i];

		if (job->fd < 0 && !program_row_of(job->prog)->required)
			continue;
		err = job->fd < 0 ? job->fd : put_in_place(job);
		if (err)
			scap_fail(log, err,
				  "cannot load the program %s: the kernel refuses it (%s); "
				  "without it there is no capture of %s",
				  bpf_program__name(job->prog), strerror(-err),
				  program_row_of(job->prog)->what);
	}
	return err;
}

int live_progs_load_error(const struct live_progs *p, const struct bpf_program *prog)
{
	for (unsigned int i = 0; i < p->n_jobs; i++)
		if (p->jobs[i].prog == prog)
			return p->jobs[i].load_err;
	return 0;
}

void live_progs_free(struct live_progs *p)
{
	if (!p)
		return;
	join(p);
	for (unsigned int i = 0; i < p->n_jobs; i++) {
		if (p->jobs[i].taken && p->jobs[i].fd >= 0)
			close(p->jobs[i].fd);
		job_fini(&p->jobs[i]);
	}
	if (p->types_fd >= 0)
		close(p->types_fd);
	kernel_btf_free(p->kernel);
	pthread_cond_destroy(&p->more);
	pthread_mutex_destroy(&p->lock);
	free(p);
}
