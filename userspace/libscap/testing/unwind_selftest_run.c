/* SPDX-License-Identifier: Apache-2.0 */
#include "testing/unwind_selftest_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "testing/dw_judge.h"

struct unwind_selftest_run {
	struct unwind_selftest_opts o;
	struct dual_sampler *sampler;
	struct dw_judge *judge;
	struct dw_frames theirs; /* of the last sample */
	struct unwind_selftest_sum sum;
};

static int is_judged(enum unwind_verdict v)
{
	return v == VERDICT_SAME || v == VERDICT_SHORT || v == VERDICT_DIFFERS;
}

uint64_t unwind_selftest_judged(const struct unwind_selftest_counts *c)
{
	return c->by[VERDICT_SAME] + c->by[VERDICT_SHORT] + c->by[VERDICT_DIFFERS];
}

/* ---- one stack ---- */

static size_t n_same(const struct dw_frames *theirs, const struct unwind_selftest *ours)
{
	size_t n = 0;

	while (n < theirs->n && n < ours->n && STACK_ADDR(ours->frames[n]) == theirs->v[n])
		n++;
	return n;
}

/* The instruction of the last common frame. */
static uint64_t last_pc(const struct unwind_selftest_run *r, const struct dual_sample *s,
			size_t same)
{
	if (!same)
		return s->regs[DUAL_IP];
	return r->theirs.v[same - 1] - !(s->ours->frames[same - 1] & STACK_EXACT);
}

/* Where libdw continues or stops without a rule, it is no judge. */
static enum unwind_verdict verdict_by_ground(struct unwind_selftest_run *r,
					     const struct dual_sample *s, size_t same,
					     enum unwind_verdict with_rule)
{
	switch (dw_judge_ground(r->judge, last_pc(r, s, same))) {
	case DW_REG:
		return same > 1 ? VERDICT_STOPS : with_rule;
	case DW_NO_RULE:
		return VERDICT_NO_RULE;
	case DW_GO:
		return VERDICT_GO;
	case DW_NO_FILE:
		return VERDICT_RUN_TIME;
	case DW_RULE:
		break;
	}
	return with_rule;
}

static enum unwind_verdict verdict_of(struct unwind_selftest_run *r, const struct dual_sample *s,
				      size_t same)
{
	const struct unwind_selftest *ours = s->ours;
	const struct dw_frames *theirs = &r->theirs;

	if (ours->end == STACK_END_NEW)
		return VERDICT_NEW;
	/* Files whose tables are pending, and unknown ones, were just mapped. */
	if ((ours->end == STACK_END_NO_MAP || ours->end == STACK_END_NO_TABLE) && same == ours->n)
		return VERDICT_NEW;
	if (same < theirs->n || theirs->rooted) {
		const int whole = ours->end == STACK_END_ROOT || ours->n == SELFTEST_FRAMES;

		if (same == theirs->n && same == ours->n && whole)
			return VERDICT_SAME;
		if (dw_judge_is_late(r->judge, s))
			return VERDICT_LATE;
		return verdict_by_ground(r, s, same,
					 same == ours->n ? VERDICT_SHORT : VERDICT_DIFFERS);
	}
	return theirs->beyond ? VERDICT_COPY_ENDS : verdict_by_ground(r, s, same, VERDICT_STOPS);
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

static void put_details(struct unwind_selftest_run *r, const struct dual_sample *s, size_t same)
{
	const struct unwind_selftest *ours = s->ours;
	const struct dw_frames *theirs = &r->theirs;
	const uint64_t pc = last_pc(r, s, same);
	uint64_t offset;
	const char *file = dw_judge_file(r->judge, &offset, pc);

	fprintf(r->o.details,
		"%s (%u): %zu frames are the same; then libdw has %#llx of %zu, saker has %#llx "
		"of %u and ends with %s; the last same one is in %s+%#llx%s\n",
		ours->comm, s->pid, same,
		same < theirs->n ? (unsigned long long)theirs->v[same] : 0, theirs->n,
		same < ours->n ? (unsigned long long)STACK_ADDR(ours->frames[same]) : 0, ours->n,
		end_name(ours->end), file, (unsigned long long)offset,
		same < ours->n && STACK_HOW(ours->frames[same]) == STACK_HOW_FP
			? ", left by frame pointer"
			: "");
}

/* ---- sums ---- */

static struct unwind_selftest_counts *counts_of(struct unwind_selftest_sum *sum, const char *name)
{
	struct unwind_selftest_counts *c = sum->programs;

	for (size_t i = 0; i < sum->n_programs; i++, c++)
		if (!strcmp(c->name, name))
			return c;
	if (sum->n_programs == SELFTEST_PROGRAMS_MAX)
		return c - 1;
	sum->n_programs++;
	snprintf(c->name, sizeof(c->name), "%s",
		 sum->n_programs < SELFTEST_PROGRAMS_MAX ? name : "(others)");
	return c;
}

/* @frames are libdw's; those it found by rules count. */
static void add_counts(struct unwind_selftest_counts *c, enum unwind_verdict v, size_t frames,
		       size_t same)
{
	c->n++;
	c->by[v]++;
	if (v == VERDICT_NEW || v == VERDICT_GONE)
		return;
	c->frames += is_judged(v) ? frames : same;
	c->same_frames += same;
}

static void add_cause(struct unwind_selftest_sum *sum, enum unwind_verdict v, uint32_t end,
		      const char *path)
{
	const char *slash = strrchr(path, '/');
	struct unwind_selftest_cause *c = sum->causes;
	char file[sizeof(c->file)];

	snprintf(file, sizeof(file), "%s", slash ? slash + 1 : path);
	for (size_t i = 0; i < sum->n_causes; i++, c++) {
		if (c->verdict == v && c->end == end && !strcmp(c->file, file)) {
			c->n++;
			return;
		}
	}
	if (sum->n_causes == SELFTEST_CAUSES_MAX) {
		c[-1].n++;
		strcpy(c[-1].file, "(others)");
		return;
	}
	sum->n_causes++;
	*c = (struct unwind_selftest_cause){.n = 1, .verdict = v, .end = end};
	memcpy(c->file, file, sizeof(file));
}

static void take(void *ctx, const struct dual_sample *s)
{
	struct unwind_selftest_run *r = ctx;
	enum unwind_verdict v = VERDICT_GONE;
	uint64_t offset;
	size_t same = 0;

	/* libdw's state of the process may be outdated: stacks that differ are judged again. */
	for (int again = 0; again < 2 && v != VERDICT_SAME && v != VERDICT_NEW; again++) {
		if (dw_judge_unwind(r->judge, &r->theirs, s, again)) {
			v = VERDICT_GONE;
			break;
		}
		same = n_same(&r->theirs, s->ours);
		v = verdict_of(r, s, same);
	}
	add_counts(&r->sum.all, v, r->theirs.n, same);
	add_counts(counts_of(&r->sum, s->ours->comm), v, r->theirs.n, same);
	if (v == VERDICT_SAME || !is_judged(v))
		return;
	add_cause(&r->sum, v, s->ours->end, dw_judge_file(r->judge, &offset, last_pc(r, s, same)));
	if (r->o.details)
		put_details(r, s, same);
}

/* ---- its beginning and end ---- */

int scap_unwind_selftest_open(struct unwind_selftest_run **out,
			      const struct unwind_selftest_opts *opts)
{
	struct unwind_selftest_run *r = calloc(1, sizeof(*r));
	struct dual_sampler_opts o = {
		.hz = opts->hz,
		.root = (uint32_t)opts->pid,
		.take = take,
		.ctx = r,
		.log = {opts->log, opts->log_ctx},
	};
	int err;

	if (!r)
		return -ENOMEM;
	r->o = *opts;
	err = dw_judge_new(&r->judge);
	err = err ?: dual_sampler_open(&r->sampler, &o);
	if (err) {
		scap_fail(&o.log, err, "the comparison with libdw cannot begin: %s",
			  strerror(-err));
		scap_unwind_selftest_close(r);
		return err;
	}
	*out = r;
	return 0;
}

void scap_unwind_selftest_close(struct unwind_selftest_run *r)
{
	if (!r)
		return;
	dual_sampler_close(r->sampler);
	dw_judge_free(r->judge);
	free(r);
}

void scap_unwind_selftest_step(struct unwind_selftest_run *r, int timeout_ms)
{
	dual_sampler_step(r->sampler, timeout_ms);
}

const struct unwind_selftest_sum *scap_unwind_selftest_sum(struct unwind_selftest_run *r)
{
	r->sum.n_lost = dual_sampler_lost(r->sampler);
	return &r->sum;
}
