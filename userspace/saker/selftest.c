/* SPDX-License-Identifier: Apache-2.0 */
#include "selftest.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "capabilities.h"
#include "clock.h"
#include "options.h"
#include "say.h"
#include "signals.h"
#include "spawn.h"
#include "testing/unwind_selftest_run.h"

#ifdef SAKER_LIBDW

#define DEFAULT_HZ 99
#define DEFAULT_S 10

static volatile sig_atomic_t stopping;

static void stop(int sig)
{
	(void)sig;
	stopping = 1;
}

static void log_message(void *ctx, enum scap_log_level level, const char *msg)
{
	(void)ctx;
	if (level == SCAP_LOG_ERROR)
		say("%s", msg);
}

struct settings {
	struct unwind_selftest_opts o;
	double seconds;
	uint64_t enough; /* number of stacks; 0: unlimited */
	char **command;
};

static double now(void)
{
	return (double)clock_now_ns() / 1e9;
}

static double share(uint64_t n, uint64_t of)
{
	return of ? 100.0 * (double)n / (double)of : 0.0;
}

static const char *const verdict_names[] = {
#define X(sym, name, sentence) [VERDICT_##sym] = name,
	UNWIND_VERDICTS(X)
#undef X
};

static const char *const verdict_sentences[] = {
#define X(sym, name, sentence) [VERDICT_##sym] = sentence,
	UNWIND_VERDICTS(X)
#undef X
};

/* Verdicts after VERDICT_DIFFERS are not judged. */
static void put_apart(const struct unwind_selftest_counts *c)
{
	const char *before = "";

	for (int v = VERDICT_DIFFERS + 1; v < VERDICT_MAX; v++) {
		if (!c->by[v])
			continue;
		printf("%s%" PRIu64 " %s", before, c->by[v], verdict_names[v]);
		before = ", ";
	}
	putchar('\n');
}

static void put_program(const struct unwind_selftest_counts *c, const char *name)
{
	const uint64_t judged = unwind_selftest_judged(c);

	printf("%-15s %8" PRIu64 " %8" PRIu64 " %8.2f %9" PRIu64 " %8.2f  ", name, judged,
	       c->by[VERDICT_SAME], share(c->by[VERDICT_SAME], judged), c->frames,
	       share(c->same_frames, c->frames));
	put_apart(c);
}

static int by_stacks(const void *a, const void *b)
{
	const struct unwind_selftest_counts *x = a, *y = b;

	return x->n < y->n ? 1 : -(x->n > y->n);
}

static void put_programs(const struct unwind_selftest_sum *s)
{
	struct unwind_selftest_counts v[SELFTEST_PROGRAMS_MAX];

	memcpy(v, s->programs, sizeof(v));
	qsort(v, s->n_programs, sizeof(*v), by_stacks);
	printf("%-15s %8s %8s %8s %9s %8s  %s\n", "program", "judged", "same", "%", "frames",
	       "same %", "not judged");
	for (size_t i = 0; i < s->n_programs; i++)
		put_program(&v[i], v[i].name);
	put_program(&s->all, "all");
}

static void put_causes(const struct unwind_selftest_sum *s)
{
	static const char *const ends[] = {
#define X(sym, name) [STACK_END_##sym] = name,
		STACK_ENDS(X)
#undef X
	};

	for (size_t i = 0; i < s->n_causes; i++) {
		const struct unwind_selftest_cause *c = &s->causes[i];

		printf("%s%8" PRIu64 " %s, saker's stack ends with %s; the last frame that both "
		       "have is in %s\n",
		       i ? "" : "differences\n", c->n, verdict_sentences[c->verdict],
		       c->end < STACK_END_MAX ? ends[c->end] : "?", *c->file ? c->file : "no file");
	}
}

static int put_sum(const struct unwind_selftest_sum *s)
{
	const uint64_t judged = unwind_selftest_judged(&s->all);

	put_programs(s);
	if (judged != s->all.n)
		puts("not judged");
	for (int v = VERDICT_DIFFERS + 1; v < VERDICT_MAX; v++)
		if (s->all.by[v])
			printf("%8" PRIu64 " %6.2f %% %s: %s\n", s->all.by[v],
			       share(s->all.by[v], s->all.n), verdict_names[v],
			       verdict_sentences[v]);
	put_causes(s);
	if (s->n_lost)
		printf("%8" PRIu64 " samples more found no room\n", s->n_lost);
	if (judged)
		return 0;
	say("no sampled stack could be unwound by both; run a program meanwhile, or use a larger "
	    "-d");
	return STATUS_FAILED;
}

static int run(struct settings *s)
{
	const struct sigaction act = {.sa_handler = stop};
	struct unwind_selftest_run *r;
	const struct unwind_selftest_sum *sum;
	struct spawn child = {.go_fd = -1, .errno_fd = -1};
	double until;
	int status;

	if (!capabilities_allow_bpf()) {
		say("sampling stacks needs root");
		return STATUS_FAILED;
	}
	if (s->o.pid && kill((pid_t)s->o.pid, 0) && errno == ESRCH) {
		say("-p %lld: no such process", (long long)s->o.pid);
		return STATUS_FAILED;
	}
	signals_begin();
	status = s->command ? spawn_start(&child, s->command, 1) : 0;
	if (status)
		return status;
	if (s->command)
		s->o.pid = child.pid;
	if (scap_unwind_selftest_open(&r, &s->o)) {
		spawn_fini(&child);
		return STATUS_FAILED;
	}
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	if (s->command)
		spawn_release(&child);
	until = now() + s->seconds;
	while (!stopping && now() < until) {
		scap_unwind_selftest_step(r, 100);
		if (s->command && spawn_ended(&child, 0))
			break;
		sum = scap_unwind_selftest_sum(r);
		if (s->enough && unwind_selftest_judged(&sum->all) >= s->enough)
			break;
	}
	if (s->command)
		spawn_end(&child);
	status = put_sum(scap_unwind_selftest_sum(r));
	scap_unwind_selftest_close(r);
	return status;
}

int selftest_run(const struct options *o)
{
	struct settings s = {
		.o = {.sz = sizeof(s.o), .hz = DEFAULT_HZ, .log = log_message},
		.seconds = o->max_ns ? (double)o->max_ns / 1e9 : DEFAULT_S,
		.enough = o->selftest.enough,
		.command = o->command,
	};

	if (o->sample.period_ns) /* which is rounded down */
		s.o.hz = (unsigned int)(1000000000 / o->sample.period_ns);
	if (o->pids.n)
		s.o.pid = o->pids.v[0];
	if (o->verbose)
		s.o.details = stdout;
	return run(&s);
}

#else

int selftest_run(const struct options *o)
{
	(void)o;
	say("the self-test needs libdw: install libdw-dev and build saker again");
	return STATUS_FAILED;
}

#endif
