/* SPDX-License-Identifier: Apache-2.0 */
/* A source: an engine, and the numbers of its events. Holds what all engines have in common; an
 * engine delivers finished events in order. */
#include "scap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "redact/redact.h"
#include "shared/config.h"

/* An event injected by the caller. */
struct injected {
	struct injected *next;
	struct ppm_evt_hdr hdr; /* what follows lies behind it */
};

struct scap {
	const struct scap_engine_ops *ops;
	void *engine;
	uint64_t num; /* number of the last event that took one */
	uint64_t n_events;
	int state_dropped;
	uint64_t last_ns; /* time of the last event; 0: none yet */
	struct injected *first, **last; /* injected, not delivered yet */
	struct injected *lent; /* delivered; valid until the next call */
	int has_aside; /* the same as one of first, lent, held */
	/* Result of the engine that was held back while injected events are delivered; its event
	 * stays valid as long as the engine is not called. */
	int held; /* 0: nothing is held back */
	struct scap_evt held_evt;
	struct scap_redact *redact; /* NULL: none */
	uint8_t *copy; /* of the current event, with values overwritten */
	size_t copy_sz;
};

/* Reads options of any version: missing ones are zero, unknown ones must be zero. */
static int read_opts(struct scap_open_opts *out, const struct scap_open_opts *opts)
{
	const char *tail;

	memset(out, 0, sizeof(*out));
	if (!opts)
		return 0;
	if (opts->sz < sizeof(opts->sz))
		return -EINVAL;
	memcpy(out, opts, opts->sz < sizeof(*out) ? opts->sz : sizeof(*out));
	tail = (const char *)opts;
	for (size_t i = sizeof(*out); i < opts->sz; i++)
		if (tail[i])
			return -EINVAL;
	out->sz = sizeof(*out);
	return 0;
}

void scap_redact_beside(const struct scap *s, const struct scap_state *st)
{
	if (s->redact)
		scap_redact_state(s->redact, st);
}

/* Overwrites the state of a section, which is new. */
static void redact_state(struct scap *s)
{
	const struct scap_state *st = s->ops->state(s->engine);

	if (st)
		scap_redact_beside(s, st);
}

int scap_open_engine(struct scap **out, const struct scap_engine_ops *ops, void *engine,
		     struct scap_redact *redact, const struct scap_log *log)
{
	struct scap *s = calloc(1, sizeof(*s));

	if (!s) {
		ops->close(engine);
		return scap_fail(log, -ENOMEM, "no memory for a source of events");
	}
	s->last = &s->first;
	s->ops = ops;
	s->engine = engine;
	s->redact = redact;
	s->num = scap_skipped(s) ? scap_skipped(s)->n_events : 0;
	redact_state(s);
	*out = s;
	return 0;
}

/* Buffers that will be overwritten are not even copied in the kernel, which keeps at least a byte.
 */
static void leave_out_buffers(struct scap_open_opts *opts)
{
	if (!opts->redact || !(scap_redact_kinds(opts->redact) & SCAP_REDACT_BUFFERS))
		return;
	opts->snaplen = 1;
	opts->n_snap_ports = 0;
}

int scap_open(struct scap **out, const struct scap_open_opts *user_opts)
{
	struct scap_open_opts opts;
	struct scap_log log;
	void *engine;
	int err;

	err = read_opts(&opts, user_opts);
	if (err)
		return err; /* options of another version: their log cannot be trusted */
	log = (struct scap_log){opts.log, opts.log_ctx};
	leave_out_buffers(&opts);
	if (opts.paths)
		err = scap_file_open(&engine, &opts, &log);
	else
		err = scap_live_open(&engine, &opts, &log);
	if (err)
		return err;
	return scap_open_engine(out, opts.paths ? &scap_file_ops : &scap_live_ops, engine,
				opts.redact, &log);
}

void scap_close(struct scap *s)
{
	if (!s)
		return;
	s->ops->close(s->engine);
	free(s->lent);
	free(s->copy);
	while (s->first) {
		struct injected *in = s->first;

		s->first = in->next;
		free(in);
	}
	free(s);
}

int scap_inject(struct scap *s, const struct ppm_evt_hdr *hdr)
{
	struct injected *in = malloc(offsetof(struct injected, hdr) + hdr->len);

	if (!in)
		return -ENOMEM;
	memcpy(&in->hdr, hdr, hdr->len);
	in->next = NULL;
	*s->last = in;
	s->last = &in->next;
	s->has_aside = 1;
	return 0;
}

static void lend_injected(struct scap *s, struct scap_evt *evt)
{
	struct injected *in = s->first;

	s->first = in->next;
	if (!s->first)
		s->last = &s->first;
	s->lent = in;
	memset(evt, 0, sizeof(*evt));
	evt->hdr = &in->hdr;
	evt->ts_ns = evt->true_ns = s->held == 1 ? s->held_evt.ts_ns : s->last_ns;
	evt->type = in->hdr.type;
	evt->nr = REC_NR_NONE;
}

/* Works as the engine's next, and delivers injected events in between. A function of its own, so
 * that the common path saves no registers for it. */
static __attribute__((noinline)) int next_or_injected(struct scap *s, struct scap_evt *evt,
						      int timeout_ms)
{
	int ret = s->held;

	free(s->lent);
	s->lent = NULL;
	if (!ret) {
		ret = s->ops->next(s->engine, &s->held_evt, timeout_ms);
		if (ret == 1 || (ret == -ENODATA && s->last_ns))
			s->held = ret;
	}
	if (s->held && s->first) {
		lend_injected(s, evt);
		return 1;
	}
	s->held = 0;
	s->has_aside = s->first != NULL;
	*evt = s->held_evt;
	return ret;
}

static void count_event(struct scap *s, struct scap_evt *evt)
{
	s->last_ns = evt->ts_ns;
	evt->num = evt_takes_number(evt->type) ? ++s->num : 0;
	s->n_events++;
}

/* Returns what scap_next returns for @ret, which is no event. */
static int no_event(struct scap *s, int ret)
{
	if (ret == SCAP_NEW_FILE)
		s->num = 0;
	if (ret == SCAP_NEW_FILE || ret == SCAP_NEW_SECTION) {
		s->state_dropped = 0;
		redact_state(s);
		return SCAP_NEW_SECTION;
	}
	return ret;
}

/* Replaces an event by a copy in which values are overwritten: the memory of rings and files is not
 * ours. Returns 1, or -ENOMEM. A function of its own, so that the common path saves no registers
 * for it. */
static __attribute__((noinline)) int redact_event(struct scap *s, struct scap_evt *evt,
						  struct scap_params *params)
{
	const struct ppm_evt_hdr *hdr = evt->hdr;

	if (!scap_redact_wants(s->redact, hdr, params))
		return 1;
	if (s->copy_sz < hdr->len) {
		uint8_t *copy = realloc(s->copy, hdr->len);

		if (!copy)
			return -ENOMEM;
		s->copy = copy;
		s->copy_sz = hdr->len;
	}
	memcpy(s->copy, hdr, hdr->len);
	scap_redact_event(s->redact, s->copy, hdr, params);
	for (unsigned int i = 0; i < params->n; i++)
		params->v[i].p = s->copy + (params->v[i].p - (const uint8_t *)hdr);
	evt->hdr = (const struct ppm_evt_hdr *)s->copy;
	return 1;
}

/* Works as scap_next, with the values of the event as they were captured. */
static int next_event(struct scap *s, struct scap_evt *evt, int timeout_ms)
{
	int ret = s->has_aside ? next_or_injected(s, evt, timeout_ms)
			       : s->ops->next(s->engine, evt, timeout_ms);

	if (ret != 1)
		return no_event(s, ret);
	count_event(s, evt);
	return 1;
}

int scap_next(struct scap *s, struct scap_evt *evt, int timeout_ms)
{
	struct scap_params params;
	int ret = next_event(s, evt, timeout_ms);

	if (ret != 1 || !s->redact)
		return ret;
	scap_evt_params(evt->hdr, &params);
	return redact_event(s, evt, &params);
}

int scap_next_split(struct scap *s, struct scap_evt *evt, struct scap_params *params,
		    int timeout_ms)
{
	int ret;

	if (s->has_aside || !s->ops->next_split) {
		ret = next_event(s, evt, timeout_ms);
		if (ret != 1)
			return ret;
		scap_evt_params(evt->hdr, params);
	} else {
		ret = s->ops->next_split(s->engine, evt, params, timeout_ms);
		if (ret != 1)
			return no_event(s, ret);
		count_event(s, evt);
	}
	return s->redact ? redact_event(s, evt, params) : 1;
}

int scap_stop(struct scap *s)
{
	return s->ops->stop ? s->ops->stop(s->engine) : 0;
}

int scap_is_over(const struct scap *s)
{
	return s->ops->is_over && s->ops->is_over(s->engine);
}

uint64_t scap_begin_ns(const struct scap *s)
{
	return s->ops->begin ? s->ops->begin(s->engine) : 0;
}

uint64_t scap_now_ns(const struct scap *s)
{
	return s->ops->now ? s->ops->now(s->engine) : 0;
}

int scap_in_order(const struct scap *s)
{
	return s->ops->in_order && s->ops->in_order(s->engine);
}

const struct scap_skipped *scap_skipped(const struct scap *s)
{
	return s->ops->skipped ? s->ops->skipped(s->engine) : NULL;
}

int scap_is_damaged(const struct scap *s)
{
	return s->ops->is_damaged && s->ops->is_damaged(s->engine);
}

const struct scap_state *scap_state(const struct scap *s)
{
	static const struct scap_state empty;

	return s->state_dropped ? &empty : s->ops->state(s->engine);
}

void scap_state_drop(struct scap *s)
{
	if (!s->state_dropped && s->ops->state_drop)
		s->ops->state_drop(s->engine);
	s->state_dropped = 1;
}

int scap_running(struct scap *s, const struct scap_running **out)
{
	return s->ops->running ? s->ops->running(s->engine, out) : -ENODATA;
}

double scap_progress(const struct scap *s)
{
	return s->ops->progress ? s->ops->progress(s->engine) : 0;
}

int scap_stats(const struct scap *s, struct scap_stats *st)
{
	memset(st, 0, sizeof(*st));
	st->n_events = s->n_events;
	return s->ops->stats(s->engine, st);
}

int scap_sampler_stats(const struct scap *s, struct scap_sampler_stats *st)
{
	return s->ops->sampler_stats ? s->ops->sampler_stats(s->engine, st) : -ENODATA;
}

int scap_open_code(const struct scap *s, uint32_t dev, uint64_t ino)
{
	return s->ops->open_code ? s->ops->open_code(s->engine, dev, ino) : -ENOENT;
}
