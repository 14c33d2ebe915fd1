/* SPDX-License-Identifier: Apache-2.0 */
/* Compares samples of programs that record their own call path with that path: all must be equal,
 * wherever the clock interrupts. Needs root and BTF. */
#include "testing/test_main.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "testing/dual_sampler.h"
#include "unwind/known_path_test.h"

#define ENOUGH 1000 /* samples of each program */
#define FEW 50 /* that a busy machine allows, too */
#define SECONDS 15
#define HZ 2000
#define SHOWN_MAX 3 /* differences */

struct judged {
	uint32_t pid;
	uint64_t n, wrong, unsure, unseen, signals, others;
};

static void put_wrong(const struct dual_sample *s, const struct known_path *p, const char *what)
{
	fprintf(stderr, "%s; the stack ends with %u\n  found:", what, s->ours->end);
	for (uint32_t i = 0; i < s->ours->n; i++)
		fprintf(stderr, " %#" PRIx64, (uint64_t)STACK_ADDR(s->ours->frames[i]));
	fprintf(stderr, "\n  known:");
	for (uint64_t i = p->n; i && p->n <= KNOWN_MAX; i--)
		fprintf(stderr, " %#" PRIx64, p->ra[i - 1]);
	fprintf(stderr, "\n  functions that keep the path: %#" PRIx64 " to %#" PRIx64 "\n", p->text,
		p->text_end);
}

static void take(void *ctx, const struct dual_sample *s)
{
	struct judged *j = ctx;
	const struct known_path *p;
	const char *wrong;

	if (s->pid != j->pid) {
		j->others++;
		return;
	}
	p = known_path_find(s->stack, s->stack_sz);
	if (!p || p->unsure) {
		j->unseen += !p;
		j->unsure += p != NULL;
		return;
	}
	/* One of the two instants at which the kernel changes the registers cannot be recognized
	 * from the stack. */
	if (s->ours->end == STACK_END_SIGNAL) {
		j->signals++;
		return;
	}
	j->n++;
	wrong = known_path_check(p, s->ours->frames, s->ours->n, s->ours->end);
	if (wrong && j->wrong++ < SHOWN_MAX)
		put_wrong(s, p, wrong);
}

/* The program has begun when it returns. */
static pid_t start(const char *prog)
{
	uint64_t at;
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* it has no end of its own */
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		close(fds[1]);
		execl(prog, prog, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &at, sizeof(at)), sizeof(at));
	close(fds[0]);
	return pid;
}

static void tell(void *ctx, enum scap_log_level level, const char *msg)
{
	(void)ctx;
	if (level == SCAP_LOG_ERROR)
		fprintf(stderr, "%s\n", msg);
}

static void judge(const char *prog)
{
	struct judged j = {.pid = (uint32_t)start(prog)};
	const char *slow = getenv("SAKER_TEST_HZ"); /* an emulated CPU has no time for as many */
	const struct dual_sampler_opts o = {.hz = slow ? (unsigned int)atoi(slow) : HZ,
					    .root = j.pid,
					    .take = take,
					    .ctx = &j,
					    .log = {tell, NULL}};
	const time_t until = time(NULL) + SECONDS;
	struct dual_sampler *d;
	int status, err = dual_sampler_open(&d, &o);

	while (!err && j.n < ENOUGH && time(NULL) < until)
		dual_sampler_step(d, 50);
	if (!err && j.n < FEW)
		fprintf(stderr, "%s: %" PRIu64 " samples of others, %" PRIu64 " lost\n", prog,
			j.others, dual_sampler_lost(d));
	dual_sampler_close(err ? NULL : d);
	kill((pid_t)j.pid, SIGKILL);
	assert_int_equal(waitpid((pid_t)j.pid, &status, 0), j.pid);
	assert_int_equal(err, 0);
	assert_int_equal(WTERMSIG(status), SIGKILL); /* it ran until here */
	printf("%s: %" PRIu64 " samples, %" PRIu64 " wrong; %" PRIu64 " while it jumped, %" PRIu64
	       " at the end of a signal, %" PRIu64 " without the path in the copy\n",
	       strrchr(prog, '/') + 1, j.n, j.wrong, j.unsure, j.signals, j.unseen);
	assert_true(j.n >= FEW);
	assert_int_equal(j.wrong, 0);
	/* A copy that ends early is one that could not be read. */
	assert_true(j.unseen * 100 <= j.n);
	assert_true(j.signals * 100 <= j.n);
}

/* The program as several compilers build it, in this folder. */
static const char *const variants[] = {"O0", "O2", "O3", "Os", "fp", "static", "clang"};

#define N_VARIANTS (sizeof(variants) / sizeof(variants[0]))

static void test_variant(void **state)
{
	char prog[4096];
	ssize_t n = readlink("/proc/self/exe", prog, sizeof(prog) - 64);
	char *slash;

	assert_true(n > 0);
	prog[n] = '\0';
	slash = strrchr(prog, '/');
	sprintf(slash, "/known_path_%s", (const char *)*state);
	if (access(prog, X_OK))
		skip(); /* without that compiler */
	judge(prog);
}

int main(void)
{
	struct CMUnitTest tests[N_VARIANTS];

	if (geteuid() || access("/sys/kernel/btf/vmlinux", R_OK)) {
		printf("skipped: sampling needs root and a kernel with BTF\n");
		return 77;
	}
	for (size_t i = 0; i < N_VARIANTS; i++)
		tests[i] = (struct CMUnitTest){.name = variants[i],
					       .test_func = test_variant,
					       .initial_state = (void *)variants[i]};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
