/* SPDX-License-Identifier: Apache-2.0 */
#include "selftest.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "privileges.h"
#include "say.h"
#include "spawn.h"
#include "unwind_selftest_run.h"

#ifdef SAKER_LIBDW

static const char usage[] = "Usage: saker selftest --unwind [OPTION...] [-- CMD [ARG...]]\n"
			    "\n"
			    "Samples stacks, and has libdw unwind the same samples from a copy of "
			    "the stack: prints how many\n"
			    "are the same, and of the others why. Needs root.\n"
			    "\n"
			    "  -d SECONDS  sample for so long (10); with CMD: at most\n"
			    "  -F HZ       samples per second and CPU (99)\n"
			    "  -p PID      of this process only\n"
			    "  -v          tell each stack that differs\n";

static volatile sig_atomic_t stopping;

static void stop(int sig)
{
	(void)sig;
	stopping = 1;
}

static void tell(void *ctx, enum scap_log_level level, const char *msg)
{
	(void)ctx;
	if (level == SCAP_LOG_ERROR)
		say("%s", msg);
}

struct settings {
	struct unwind_selftest_opts o;
	double seconds;
	char **command;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void put_share(const char *what, uint64_t n, uint64_t of)
{
	printf("  %-58s %10" PRIu64 "  %6.2f %%\n", what, n,
	       of ? 100.0 * (double)n / (double)of : 0.0);
}

static int put_sum(const struct unwind_selftest_sum *s)
{
	static const char *const sentences[VERDICT_MAX] = {
		[VERDICT_SAME] = "every frame the same, to the root",
		[VERDICT_SHORT] = "shorter than libdw's",
		[VERDICT_DIFFERS] = "another frame",
		[VERDICT_JUDGE_STOPS] = "the same until libdw stops, or has no rule and guesses",
		[VERDICT_COPY_ENDS] = "the same until the copy of the stack ends",
		[VERDICT_NEW] = "too new: the tables of program or library were not there",
		[VERDICT_GONE] = "not judged: the process was gone",
	};
	static const char *const ends[] = {
#define X(sym, name) [STACK_END_##sym] = name,
		STACK_ENDS(X)
#undef X
	};
	const uint64_t judged = s->by[VERDICT_SAME] + s->by[VERDICT_SHORT] + s->by[VERDICT_DIFFERS];

	printf("stacks that libdw unwinds to the root, or further than saker %9" PRIu64 "\n",
	       judged);
	put_share(sentences[VERDICT_SAME], s->by[VERDICT_SAME], judged);
	put_share(sentences[VERDICT_SHORT], s->by[VERDICT_SHORT], judged);
	put_share(sentences[VERDICT_DIFFERS], s->by[VERDICT_DIFFERS], judged);
	for (unsigned int i = 0; i < STACK_END_MAX; i++)
		if (s->ends[i])
			printf("    of these, saker's end: %-35s %10" PRIu64 "\n", ends[i],
			       s->ends[i]);
	printf("others %63" PRIu64 "\n", s->n - judged);
	for (unsigned int v = VERDICT_JUDGE_STOPS; v < VERDICT_MAX; v++)
		if (v != VERDICT_SHORT && v != VERDICT_DIFFERS)
			put_share(sentences[v], s->by[v], s->n);
	printf("frames of libdw %54" PRIu64 "\n", s->frames);
	put_share("that saker has, too", s->same_frames, s->frames);
	if (s->n_lost)
		printf("samples lost %57" PRIu64 "\n", s->n_lost);
	if (!judged) {
		say("no stack was sampled that both can unwind: run something meanwhile, or "
		    "longer");
		return STATUS_FAILED;
	}
	return 0;
}

static int run(struct settings *s)
{
	const struct sigaction act = {.sa_handler = stop};
	struct unwind_selftest_run *r;
	struct unwind_selftest_sum sum;
	struct spawn child = {0};
	double until;
	int status;

	if (!privileges_can_capture()) {
		say("a self-test samples stacks, which needs root");
		return STATUS_FAILED;
	}
	status = s->command ? spawn_start(&child, s->command) : 0;
	if (status)
		return status;
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
	}
	if (s->command && !spawn_ended(&child, 0)) {
		spawn_kill(&child, SIGTERM);
		spawn_ended(&child, 1);
	}
	scap_unwind_selftest_sum(r, &sum);
	scap_unwind_selftest_close(r);
	return put_sum(&sum);
}

static int number(double *to, const char *text, double min, double max, const char *what)
{
	char *end;
	const double v = strtod(text, &end);

	if (end == text || *end || !(v >= min) || !(v <= max)) {
		say("%s: '%s' is no number from %g to %g", what, text, min, max);
		return -EINVAL;
	}
	*to = v;
	return 0;
}

int selftest_run(int argc, char **argv)
{
	static const struct option longs[] = {
		{"unwind", no_argument, NULL, 'u'}, {"help", no_argument, NULL, 'h'}, {0}};
	struct settings s = {.o = {.sz = sizeof(s.o), .hz = 99, .log = tell}, .seconds = 10};
	double v;
	int c, unwind = 0;

	while ((c = getopt_long(argc, argv, "+d:F:p:vh", longs, NULL)) != -1) {
		int err = 0;

		switch (c) {
		case 'u':
			unwind = 1;
			break;
		case 'd':
			err = number(&s.seconds, optarg, 0.1, 1e6, "-d");
			break;
		case 'F':
			err = number(&v, optarg, 1, 4000, "-F");
			s.o.hz = err ? 0 : (unsigned int)v;
			break;
		case 'p':
			err = number(&v, optarg, 1, 1 << 22, "-p");
			s.o.pid = err ? 0 : (int64_t)v;
			break;
		case 'v':
			s.o.details = stdout;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			return STATUS_FAILED;
		}
		if (err)
			return STATUS_FAILED;
	}
	if (!unwind) {
		fputs(usage, stderr);
		return STATUS_FAILED;
	}
	if (optind < argc)
		s.command = argv + optind;
	return run(&s);
}

#else

int selftest_run(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	say("saker was built without libdw, which a self-test compares with: install libdw-dev and "
	    "build");
	return STATUS_FAILED;
}

#endif
